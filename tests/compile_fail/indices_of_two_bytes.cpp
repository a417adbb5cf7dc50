// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: indices are stored as integers of 4 or 8 bytes

#include <lanewise/search/sorted_search.hpp>

void search(const Kokkos::View<float*, Kokkos::HostSpace>& keys,
            const Kokkos::View<short*, Kokkos::HostSpace>& out) {
  lanewise::lower_bound(Kokkos::Serial(), keys, keys, out);
}
