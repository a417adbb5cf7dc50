// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The algorithms on CUDA, with CUB and Thrust as peers.

#include "algorithms.hpp"
#include "cub_call.hpp"

#include <cub/cub.cuh>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

namespace lanewise::perf {
namespace {

/// Memory for Thrust's temporaries, allocated beforehand as for the others.
class thrust_memory {
 public:
  using value_type = char;
  explicit thrust_memory(std::size_t bytes) : block_("perf::storage", bytes) {}
  char* allocate(std::ptrdiff_t bytes) {
    used_ += (bytes + 255) / 256 * 256;
    if (used_ > block_.size()) throw std::bad_alloc();
    return block_.data() + used_ - (bytes + 255) / 256 * 256;
  }
  void deallocate(char* memory, std::size_t) { used_ = memory - block_.data(); }

 private:
  Kokkos::View<char*, Kokkos::CudaSpace> block_;
  std::size_t used_ = 0;
};

/// Times a Thrust call f(policy).
template <class Problem, class Time, class F>
void time_thrust(const Problem& p, const Time& time, const F& f) {
  thrust_memory memory((std::size_t{64} << 20) + p.n / 8);
  time([&] { f(thrust::cuda::par_nosync(memory).on(p.exec.cuda_stream())); });
}

void add_transform() {
  using T = std::uint32_t;
  using problem = transform_problem<Kokkos::Cuda, T>;
  add<problem>("cub", [](problem& p, auto time) {
    time([&] {
      expect_success(cub::DeviceTransform::Transform(p.in.data(), p.out.data(), p.n, affine<T>{},
                                                     p.exec.cuda_stream()));
    });
  });
  add<problem>("thrust", [](problem& p, auto time) {
    time_thrust(p, time, [&](const auto& policy) {
      thrust::transform(policy, p.in.data(), p.in.data() + p.n, p.out.data(), affine<T>{});
    });
  });
}

template <class T>
void add_reduce() {
  using problem = reduce_problem<Kokkos::Cuda, T>;
  add<problem>("cub", [](problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceReduce::Sum(storage, bytes, p.in.data(), p.result.data(), p.n,
                                    p.exec.cuda_stream());
    });
  });
  // Thrust returns the sum to the host.
  add<problem>("thrust", [](problem& p, auto time) {
    time_thrust(p, time, [&](const auto& policy) {
      const T* in = p.in.data();
      const T sum = thrust::reduce(policy, in, in + p.n, T{}, thrust::plus<T>{});
      Kokkos::deep_copy(p.exec, p.result, sum);
    });
  });
}

template <class T, bool exclusive>
void add_scan() {
  using problem = scan_problem<Kokkos::Cuda, T, exclusive>;
  add<problem>("cub", [](problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      const auto stream = p.exec.cuda_stream();
      if constexpr (exclusive) {
        return cub::DeviceScan::ExclusiveSum(storage, bytes, p.in.data(), p.out.data(), p.n,
                                             stream);
      } else {
        return cub::DeviceScan::InclusiveSum(storage, bytes, p.in.data(), p.out.data(), p.n,
                                             stream);
      }
    });
  });
  add<problem>("thrust", [](problem& p, auto time) {
    time_thrust(p, time, [&](const auto& policy) {
      const T* in = p.in.data();
      if constexpr (exclusive) {
        thrust::exclusive_scan(policy, in, in + p.n, p.out.data(), T{}, thrust::plus<T>{});
      } else {
        thrust::inclusive_scan(policy, in, in + p.n, p.out.data(), thrust::plus<T>{});
      }
    });
  });
}

/// Radix sort on the bits that make the bucket: as many passes as multisplit does the work of.
template <class problem>
void add_multisplit() {
  add<problem>("cub", [](problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      const auto stream = p.exec.cuda_stream();
      constexpr int end = 8 * sizeof(typename problem::item);
      if constexpr (problem::pairs) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, p.keys.data(), p.keys_out.data(),
                                               p.values.data(), p.values_out.data(), p.n,
                                               p.bucket_of.shift, end, stream);
      } else {
        return cub::DeviceRadixSort::SortKeys(storage, bytes, p.keys.data(), p.keys_out.data(), p.n,
                                              p.bucket_of.shift, end, stream);
      }
    });
  });
}

}  // namespace

void add_cuda() {
  add_common<Kokkos::Cuda>();
  add_transform();
  for_each_type([](auto type) {
    using T = typename decltype(type)::type;
    add_reduce<T>();
    add_scan<T, true>();
    add_scan<T, false>();
  });
  for_each_multisplit<Kokkos::Cuda>(
      []<class Problem>(std::type_identity<Problem>) { add_multisplit<Problem>(); });
}

}  // namespace lanewise::perf
