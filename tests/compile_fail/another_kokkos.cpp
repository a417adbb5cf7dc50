// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
// expect: Lanewise needs Kokkos 5.0 up to, not including, 5.3
#include <Kokkos_Core.hpp>
#undef KOKKOS_VERSION
#define KOKKOS_VERSION 40701
#include <lanewise/sequence/scan.hpp>
