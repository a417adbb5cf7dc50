// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What CUB and Thrust offer in place of an ordered map on CUDA: a sorted array, made by a sort,
// searched by lower_bound for each query, and changed by sorting the batch and merging it in.

#include "cub_call.hpp"
#include "ordered_map.hpp"

#include <cub/cub.cuh>
#include <thrust/binary_search.h>
#include <thrust/execution_policy.h>

namespace lanewise::perf {
namespace {

template <class T>
struct take_found {
  array<Kokkos::Cuda, T> keys, sorted, values, answers;
  array<Kokkos::Cuda, std::uint32_t> places;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const auto place = static_cast<std::int64_t>(places(i));
    if (place < static_cast<std::int64_t>(sorted.extent(0)) && sorted(place) == keys(i))
      answers(i) = values(place);
  }
};

template <class T>
void add_sorted_array() {
  using exec = Kokkos::Cuda;
  add<ordered_build_problem<exec, T, false>>("cub", [](auto& p, auto time) {
    const auto n = static_cast<std::size_t>(p.n);
    const array<exec, T> keys("perf::sorted", n), values("perf::values", n);
    build(p.exec, p.table, p.keys, p.values);
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(storage, bytes, p.keys.data(), keys.data(),
                                             p.values.data(), values.data(), p.n, 0,
                                             static_cast<int>(8 * sizeof(T)), p.exec.cuda_stream());
    });
  });
  add<ordered_find_problem<exec, T, true>>("thrust", [](auto& p, auto time) {
    const auto n = static_cast<std::size_t>(p.n);
    const array<exec, T> sorted("perf::sorted", n);
    const array<exec, std::uint32_t> places("perf::places", n);
    fill(p.exec, sorted, ordered_sorted_key<T>{});
    const T *begin = sorted.data(), *queries = p.keys.data();
    time([&] {
      thrust::lower_bound(thrust::cuda::par_nosync.on(p.exec.cuda_stream()), begin, begin + p.n,
                          queries, queries + p.n, places.data());
      Kokkos::parallel_for("perf::take", range<exec>(p.exec, 0, p.n),
                           take_found<T>{p.keys, sorted, p.values, p.answers, places});
    });
  });
  add<ordered_batch_problem<exec, T, ordered_batch::insert, true>>("cub", [](auto& p, auto time) {
    const auto n = static_cast<std::size_t>(p.elements), batch = static_cast<std::size_t>(p.n);
    const array<exec, T> sorted("perf::sorted", n), keys("perf::keys", batch),
        values("perf::values", batch), all("perf::all", n + batch),
        all_values("perf::all_values", n + batch);
    fill(p.exec, sorted, ordered_sorted_key<T>{});
    p.table = p.full;
    insert(p.exec, p.table, p.batch_keys, p.batch_values);
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      std::size_t merge_bytes = bytes;
      if (const auto error = cub::DeviceRadixSort::SortPairs(
              storage, bytes, p.batch_keys.data(), keys.data(), p.batch_values.data(),
              values.data(), p.n, 0, static_cast<int>(8 * sizeof(T)), p.exec.cuda_stream());
          error != cudaSuccess)
        return error;
      const auto error = cub::DeviceMerge::MergePairs(
          storage, merge_bytes, sorted.data(), p.values.data(), p.elements, keys.data(),
          values.data(), p.n, all.data(), all_values.data(), {}, p.exec.cuda_stream());
      bytes = std::max(bytes, merge_bytes);
      return error;
    });
  });
}

}  // namespace

void add_ordered_map_cuda() {
  add_sorted_array<std::uint32_t>();
  add_sorted_array<std::uint64_t>();
}

}  // namespace lanewise::perf
