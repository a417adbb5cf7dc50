// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: f is a function object that is called with a key and its value

#include <lanewise/hash/slab_hash_map.hpp>

struct visit {
  KOKKOS_FUNCTION void operator()(unsigned) const {}
};

void each(const lanewise::slab_hash_map<unsigned, int, Kokkos::HostSpace>& map) {
  lanewise::for_each(Kokkos::Serial(), map, visit{});
}
