// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: combine is a function object with Value operator\(\)\(Value there, Value given\) const

#include <lanewise/hash/slab_hash_map.hpp>

struct negated {
  KOKKOS_FUNCTION int operator()(int x) const { return -x; }
};

void upsert(lanewise::slab_hash_map<unsigned, int, Kokkos::HostSpace>& map,
            const Kokkos::View<unsigned*, Kokkos::HostSpace>& keys,
            const Kokkos::View<int*, Kokkos::HostSpace>& values) {
  lanewise::upsert(Kokkos::Serial(), map, keys, values, negated{});
}
