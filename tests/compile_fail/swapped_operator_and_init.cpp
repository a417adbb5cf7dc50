// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: init comes before op

#include <lanewise/scan.hpp>

void scan(const Kokkos::View<double*, Kokkos::HostSpace>& both) {
  lanewise::exclusive_scan(Kokkos::Serial(), both, both, lanewise::plus{}, 0.0);
}
