// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Kernels without optimisation, for known_stacks.
#include <lanewise/hash/slab_hash_map.hpp>
#include <lanewise/merge/merge_sort.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <lanewise/sort/radix_sort.hpp>

using array = Kokkos::View<unsigned*, Kokkos::CudaSpace>;
using map_type = lanewise::slab_hash_map<unsigned, unsigned, Kokkos::CudaSpace>;

struct is_odd {
  KOKKOS_FUNCTION bool operator()(unsigned x) const { return x % 2 != 0; }
};
struct last_digit {
  KOKKOS_FUNCTION unsigned operator()(unsigned x) const { return x % 10; }
};

void calls(const Kokkos::Cuda& exec, const array& in, const array& out, map_type& map);
void calls(const Kokkos::Cuda& exec, const array& in, const array& out, map_type& map) {
  lanewise::reduce(exec, in, lanewise::plus{}, 0u);
  lanewise::inclusive_scan(exec, in, out, lanewise::plus{});
  lanewise::select_if(exec, in, out, is_odd{});
  lanewise::multisplit(exec, in, out, 10, last_digit{});
  lanewise::radix_sort(exec, in, out);
  lanewise::merge_sort(exec, in, out);
  lanewise::insert(exec, map, in, out);
}
