// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/hash/slab_hash_map.hpp>

using space = Kokkos::DefaultExecutionSpace;
using map_type = lanewise::slab_hash_map<unsigned, unsigned, space::memory_space>;
void fill(const space& exec, map_type& map, const Kokkos::View<unsigned*, space>& keys,
          const Kokkos::View<unsigned*, space>& values) {
  lanewise::insert(exec, map, keys, values);
  lanewise::find(exec, map, keys, values);
}
