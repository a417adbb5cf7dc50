// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: items would lose fractions or bytes in the type they are combined in

#include <lanewise/sequence/scan.hpp>

void scan(const Kokkos::View<double*, Kokkos::HostSpace>& both) {
  lanewise::exclusive_scan(Kokkos::Serial(), both, both, lanewise::plus{}, 0);
}
