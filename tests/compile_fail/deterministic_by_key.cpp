// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: deterministic operators are for reduce, inclusive_scan and exclusive_scan

#include <lanewise/segments/segmented_scan.hpp>

void scan(const Kokkos::View<float*, Kokkos::HostSpace>& both,
          const Kokkos::View<int*, Kokkos::HostSpace>& keys) {
  lanewise::inclusive_scan_by_key(Kokkos::Serial(), keys, both, both,
                                  lanewise::deterministic(lanewise::plus{}));
}
