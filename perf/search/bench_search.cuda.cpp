// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Searches in sorted keys on CUDA, with Thrust as a peer.

#include "search.hpp"

#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>

namespace lanewise::perf {
namespace {

template <class T, class Tag>
void add_thrust_of() {
  add<search_problem<Kokkos::Cuda, T, Tag>>("thrust", [](auto& p, auto time) {
    const auto on = thrust::cuda::par_nosync.on(p.exec.cuda_stream());
    const T *keys = p.keys.data(), *queries = p.queries.data();
    time([&] {
      thrust::lower_bound(on, keys, keys + p.count, queries, queries + p.n, p.out.data());
    });
  });
}
template <class T>
void add_thrust() {
  add_thrust_of<T, random_search>();
  add_thrust_of<T, plain_search>();
  add_thrust_of<T, few_searches>();
  add_thrust_of<T, sorted_search>();
}

}  // namespace

void add_searches_cuda() {
  add_lanewise_searches<Kokkos::Cuda>();
  add_thrust<std::uint32_t>();
  add_thrust<std::uint64_t>();
}

}  // namespace lanewise::perf
