// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: options.work is a pointer: \{.work = &workspace\}

#include <lanewise/sequence/scan.hpp>

void scan(const Kokkos::View<double*, Kokkos::HostSpace>& both) {
  lanewise::workspace work;
  lanewise::inclusive_scan(Kokkos::Serial(), both, both, lanewise::plus{}, {.work = work});
}
