// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts on CUDA: CUB, the peer.

#include "cub_call.hpp"
#include "sort.hpp"

#include <cub/cub.cuh>

namespace lanewise::perf {
namespace {

template <class T, class V = no_value>
void add_cub() {
  using problem = sort_problem<Kokkos::Cuda, T, V>;
  add<problem>("cub", [](problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      if constexpr (problem::has_values) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, p.in.data(), p.out.data(),
                                               p.values.data(), p.values_out.data(), p.n, p.low,
                                               p.high, p.exec.cuda_stream());
      } else {
        return cub::DeviceRadixSort::SortKeys(storage, bytes, p.in.data(), p.out.data(), p.n, p.low,
                                              p.high, p.exec.cuda_stream());
      }
    });
  });
}

}  // namespace

void add_sort_cuda() {
  add_sort_u32();
  add_sort_u64();
  add_sort_u32_u32();
  add_sort_u64_u32();
  add_sort_u64_u64();
  add_cub<std::uint32_t>();
  add_cub<float>();
  add_cub<std::uint64_t>();
  add_cub<std::uint32_t, std::uint32_t>();
  add_cub<std::uint64_t, std::uint32_t>();
  add_cub<std::uint64_t, std::uint64_t>();
}

}  // namespace lanewise::perf
