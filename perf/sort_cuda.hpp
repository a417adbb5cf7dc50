// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A radix sort on CUDA, with CUB as peer.

#include "cub_call.hpp"
#include "sort.hpp"
#include <lanewise/radix_sort.hpp>

#include <cub/cub.cuh>

namespace lanewise::perf {

template <class T, class V = no_value>
void add_sort() {
  using problem = sort_problem<Kokkos::Cuda, T, V>;
  constexpr bool pairs = problem::has_values;
  add<problem>("lanewise", [](problem& p, auto time) {
    workspace work;
    reserve(p.exec, work, radix_sort_workspace<T, Kokkos::Cuda, V>(p.n));
    time([&] {
      if constexpr (pairs) {
        radix_sort(p.exec, p.in, p.values, p.out, p.values_out, {.work = &work});
      } else {
        radix_sort(p.exec, p.in, p.out, {.work = &work});
      }
    });
  });
  add<problem>("cub", [](problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      constexpr int bits = 8 * sizeof(T);
      if constexpr (pairs) {
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

}  // namespace lanewise::perf
