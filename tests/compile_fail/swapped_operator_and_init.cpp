// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: op comes before init

#include <lanewise/sequence/scan.hpp>

void scan(const Kokkos::View<double*, Kokkos::HostSpace>& both) {
  lanewise::exclusive_scan(Kokkos::Serial(), both, both, 0.0, lanewise::plus{});
}
