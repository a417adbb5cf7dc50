// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Segmented sorts on CUDA, with CUB's two as peers: by merging and by radix sorts.

#include "cub_call.hpp"
#include "segmented_sort.hpp"
#include <lanewise/sort/segmented_sort.hpp>

#include <cub/cub.cuh>

namespace lanewise::perf {
namespace {

template <class T, class V = no_value>
void add_segmented_sort() {
  using problem = segments_problem<Kokkos::Cuda, T, V>;
  constexpr bool pairs = problem::has_values;
  add<problem>("lanewise", [](problem& p, auto time) {
    workspace work;
    reserve(p.exec, work, segmented_sort_workspace<T, Kokkos::Cuda, V>(p.n, p.segments));
    time([&] {
      if constexpr (pairs) {
        segmented_sort_by_key(p.exec, p.in, p.values, p.offsets, p.out, p.values_out,
                              {.work = &work});
      } else {
        segmented_sort(p.exec, p.in, p.offsets, p.out, {.work = &work});
      }
    });
  });
  add<problem>("cub", [](problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      const std::int64_t* const begin = p.offsets.data();
      if constexpr (pairs) {
        return cub::DeviceSegmentedSort::StableSortPairs(
            storage, bytes, p.in.data(), p.out.data(), p.values.data(), p.values_out.data(), p.n,
            p.segments, begin, begin + 1, p.exec.cuda_stream());
      } else {
        return cub::DeviceSegmentedSort::SortKeys(storage, bytes, p.in.data(), p.out.data(), p.n,
                                                  p.segments, begin, begin + 1,
                                                  p.exec.cuda_stream());
      }
    });
  });
  add<problem>("cub_radix", [](problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      const std::int64_t* const begin = p.offsets.data();
      constexpr int bits = 8 * sizeof(T);
      if constexpr (pairs) {
        return cub::DeviceSegmentedRadixSort::SortPairs(
            storage, bytes, p.in.data(), p.out.data(), p.values.data(), p.values_out.data(), p.n,
            p.segments, begin, begin + 1, 0, bits, p.exec.cuda_stream());
      } else {
        return cub::DeviceSegmentedRadixSort::SortKeys(storage, bytes, p.in.data(), p.out.data(),
                                                       p.n, p.segments, begin, begin + 1, 0, bits,
                                                       p.exec.cuda_stream());
      }
    });
  });
}

}  // namespace

void add_segmented_sort_cuda() {
  add_segmented_sort<std::uint32_t>();
  add_segmented_sort<std::uint64_t>();
  add_segmented_sort<std::uint32_t, std::uint32_t>();
}

}  // namespace lanewise::perf
