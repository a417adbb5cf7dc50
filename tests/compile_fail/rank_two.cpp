// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: arrays are Views of rank 1

#include <lanewise/sequence/scan.hpp>

void scan(const Kokkos::View<unsigned**, Kokkos::HostSpace>& both) {
  lanewise::inclusive_scan(Kokkos::Serial(), both, both, lanewise::plus{});
}
