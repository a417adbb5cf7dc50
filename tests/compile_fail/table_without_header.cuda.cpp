// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect only: call on a host execution space include <lanewise/host.hpp>

#include <lanewise/hash/slab_bulk.hpp>
#include <lanewise/hash/slab_hash_map.hpp>

using map_type = lanewise::slab_hash_map<unsigned, unsigned, Kokkos::HostSpace>;

void put(map_type& map, const Kokkos::View<unsigned*, Kokkos::HostSpace>& keys) {
  lanewise::insert(Kokkos::Serial(), map, keys, keys);
}
