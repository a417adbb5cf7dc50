// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Merge sorts, merges and set operations on CUDA, with CUB and Thrust as peers.

#include "cub_call.hpp"
#include "merging.hpp"

#include <cub/cub.cuh>
#include <thrust/execution_policy.h>
#include <thrust/set_operations.h>

namespace lanewise::perf {
namespace {

struct plain_less {
  template <class T>
  __host__ __device__ bool operator()(const T& x, const T& y) const {
    return x < y;
  }
};

template <class T, class V>
void add_cub_of() {
  using sort = merge_sort_problem<Kokkos::Cuda, T, V>;
  // CUB sorts pairs in place, so that copies come first; the time is without them.
  add<sort>("cub", [](sort& p, auto time) {
    const auto call = [&](void* storage, std::size_t& bytes) {
      if constexpr (sort::paired) {
        return cub::DeviceMergeSort::StableSortPairs(storage, bytes, p.out.data(),
                                                     p.values_out.data(), p.n, plain_less{},
                                                     p.exec.cuda_stream());
      } else {
        return cub::DeviceMergeSort::StableSortKeysCopy(storage, bytes, p.in.data(), p.out.data(),
                                                        p.n, plain_less{}, p.exec.cuda_stream());
      }
    };
    std::size_t bytes = 0;
    expect_success(call(nullptr, bytes));
    const Kokkos::View<char*, Kokkos::CudaSpace> storage("perf::storage", bytes);
    time(
        [&] {
          if constexpr (sort::paired) {
            Kokkos::deep_copy(p.exec, p.out, p.in);
            Kokkos::deep_copy(p.exec, p.values_out, p.values);
          }
        },
        [&] { expect_success(call(storage.data(), bytes)); });
  });
  using merge = merge_problem<Kokkos::Cuda, T, V>;
  add<merge>("cub", [](merge& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      if constexpr (merge::paired) {
        return cub::DeviceMerge::MergePairs(
            storage, bytes, p.a.data(), p.values_a.data(), p.half, p.b.data(), p.values_b.data(),
            p.half, p.out.data(), p.values_out.data(), plain_less{}, p.exec.cuda_stream());
      } else {
        return cub::DeviceMerge::MergeKeys(storage, bytes, p.a.data(), p.half, p.b.data(), p.half,
                                           p.out.data(), plain_less{}, p.exec.cuda_stream());
      }
    });
  });
}

template <set_kind kind>
void add_thrust_of() {
  using problem = set_problem<Kokkos::Cuda, std::uint32_t, kind>;
  add<problem>("thrust", [](problem& p, auto time) {
    const auto on = thrust::cuda::par.on(p.exec.cuda_stream());
    const std::uint32_t *a = p.a.data(), *b = p.b.data();
    auto* const out = p.out.data();
    const auto call = [&] {
      if constexpr (kind == set_kind::unite) {
        return thrust::set_union(on, a, a + p.half, b, b + p.half, out, plain_less{});
      } else if constexpr (kind == set_kind::intersect) {
        return thrust::set_intersection(on, a, a + p.half, b, b + p.half, out, plain_less{});
      } else {
        return thrust::set_difference(on, a, a + p.half, b, b + p.half, out, plain_less{});
      }
    };
    time([&] { Kokkos::deep_copy(p.exec, p.count, static_cast<std::int64_t>(call() - out)); });
  });
}

}  // namespace

void add_merges_cuda() {
  using u32 = std::uint32_t;
  add_lanewise_merges<Kokkos::Cuda>();
  add_cub_of<u32, void>();
  add_cub_of<u32, u32>();
  add_cub_of<std::uint64_t, void>();
  add_thrust_of<set_kind::unite>();
  add_thrust_of<set_kind::intersect>();
  add_thrust_of<set_kind::subtract>();
}

}  // namespace lanewise::perf
