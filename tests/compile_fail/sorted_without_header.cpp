// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: slab_sorted

#include <lanewise/hash/slab_hash_map.hpp>

void fill(lanewise::slab_hash_map<unsigned, int, Kokkos::HostSpace>& map,
          const Kokkos::View<unsigned*, Kokkos::HostSpace>& keys,
          const Kokkos::View<int*, Kokkos::HostSpace>& values) {
  lanewise::insert(Kokkos::Serial(), map, keys, values, lanewise::slab_sorted{});
}
