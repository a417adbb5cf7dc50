// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: calling a __host__ function\("larger.*needs_KOKKOS_FUNCTION.*is not allowed

#include <lanewise/hash/slab_hash_map.hpp>

struct larger {
  int operator()(int a, int b) const { return a < b ? b : a; }
};

void upsert(lanewise::slab_hash_map<unsigned, int, Kokkos::CudaSpace>& map,
            const Kokkos::View<unsigned*, Kokkos::CudaSpace>& keys,
            const Kokkos::View<int*, Kokkos::CudaSpace>& values) {
  lanewise::upsert(Kokkos::Cuda(), map, keys, values, larger{});
}
