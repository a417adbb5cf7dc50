// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Selections of the k first items on CUDA. CUB of CUDA 13.0 has none: its peer is a sort. Thrust
// returns to the host whether items are sorted.

#include "cub_call.hpp"
#include "top_k.hpp"

#include <cub/cub.cuh>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

namespace lanewise::perf {
namespace {

template <class T>
void add_cub_of() {
  using top = top_k_problem<Kokkos::Cuda, T>;
  add<top>("cub", [](top& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortKeysDescending(storage, bytes, p.in.data(), p.out.data(),
                                                      p.n, 0, static_cast<int>(8 * sizeof(T)),
                                                      p.exec.cuda_stream());
    });
  });
}

}  // namespace

void add_top_k_cuda() {
  add_lanewise_top_k<Kokkos::Cuda>();
  add_cub_of<std::uint32_t>();
  add_cub_of<float>();
  add_cub_of<std::uint64_t>();
  using sorted = is_sorted_problem<Kokkos::Cuda, std::uint32_t>;
  add<sorted>("thrust", [](sorted& p, auto time) {
    const std::uint32_t *begin = p.in.data(), *end = begin + p.n;
    time([&] {
      const bool is = thrust::is_sorted(thrust::cuda::par.on(p.exec.cuda_stream()), begin, end);
      Kokkos::deep_copy(p.exec, p.result, is ? 1 : 0);
    });
  });
}

}  // namespace lanewise::perf
