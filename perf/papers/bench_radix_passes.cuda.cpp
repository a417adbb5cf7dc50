// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts by passes on CUDA, with CUB as peer.

#include "cub_call.hpp"
#include "lsd_radix_sort.hpp"

#include <cub/cub.cuh>

namespace lanewise::perf {
namespace {

template <class Problem>
void add_cub() {
  add<Problem>("cub", [](Problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      constexpr int bits = 8 * sizeof(typename Problem::item);
      if constexpr (Problem::has_values) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, p.in.data(), p.out.data(),
                                               p.values.data(), p.values_out.data(), p.n, 0, bits,
                                               p.exec.cuda_stream());
      } else {
        return cub::DeviceRadixSort::SortKeys(storage, bytes, p.in.data(), p.out.data(), p.n, 0,
                                              bits, p.exec.cuda_stream());
      }
    });
  });
}

template <class T, class V>
void add_all() {
  add_radix_passes<Kokkos::Cuda, T, V>();
  add_cub<widths_problem<Kokkos::Cuda, T, V>>();
  add_cub<diversity_problem<Kokkos::Cuda, T, V>>();
}

}  // namespace

void add_radix_passes_cuda() {
  add_all<std::uint32_t, no_value>();
  add_all<std::uint32_t, std::uint32_t>();
}

}  // namespace lanewise::perf
