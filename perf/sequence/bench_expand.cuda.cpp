// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The problems of expand.hpp on CUDA, with CUB as peer.

#include "expand.hpp"

#include <cub/cub.cuh>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace lanewise::perf {
namespace {

using u32 = std::uint32_t;

/// Times a CUB call f(storage, bytes), with its temporary storage allocated beforehand.
template <class Time, class F>
void time_cub(const Time& time, const F& f) {
  std::size_t bytes = 0;
  expect_success(f(nullptr, bytes));
  const Kokkos::View<char*, Kokkos::CudaSpace> storage("perf::storage", bytes);
  time([&] { expect_success(f(storage.data(), bytes)); });
}

/// A run's items, and where they go, as iterators.
struct run_items {
  const u32* keys;
  __host__ __device__ auto operator()(std::int64_t run) const {
    return thrust::constant_iterator<u32>(keys[run]);
  }
};
struct run_places {
  u32* out;
  const std::int64_t* offsets;
  __host__ __device__ u32* operator()(std::int64_t run) const { return out + offsets[run]; }
};
struct store_total {
  const std::int64_t* last_offset;
  const u32* last_length;
  std::int64_t* total;
  KOKKOS_FUNCTION void operator()(int) const { *total = *last_offset + *last_length; }
};

/// The exclusive sum of the lengths, then copies of constants in batches, as CUB's manual has it.
void add_decoding() {
  using decode = decode_problem<Kokkos::Cuda, u32>;
  add<decode>("cub", [](decode& p, auto time) {
    const array<Kokkos::Cuda, std::int64_t> offsets("perf::offsets", p.ranges);
    const thrust::counting_iterator<std::int64_t> run(0);
    const auto from = thrust::make_transform_iterator(run, run_items{p.keys.data()});
    const auto to = thrust::make_transform_iterator(run, run_places{p.out.data(), offsets.data()});
    const auto stream = p.exec.cuda_stream();
    const auto scan = [&](void* storage, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveScan(storage, bytes, p.lengths.data(), offsets.data(),
                                            cuda::std::plus<std::int64_t>{}, std::int64_t{0},
                                            p.ranges, stream);
    };
    const auto copy = [&](void* storage, std::size_t& bytes) {
      return cub::DeviceCopy::Batched(storage, bytes, from, to, p.lengths.data(), p.ranges, stream);
    };
    std::size_t scan_bytes = 0, copy_bytes = 0;
    expect_success(scan(nullptr, scan_bytes));
    expect_success(copy(nullptr, copy_bytes));
    const Kokkos::View<char*, Kokkos::CudaSpace> storage("perf::storage",
                                                         std::max(scan_bytes, copy_bytes));
    const store_total total{offsets.data() + p.ranges - 1, p.lengths.data() + p.ranges - 1,
                            p.count.data()};
    time([&] {
      expect_success(scan(storage.data(), scan_bytes));
      expect_success(copy(storage.data(), copy_bytes));
      Kokkos::parallel_for(Kokkos::RangePolicy<Kokkos::Cuda>(p.exec, 0, 1), total);
    });
  });
}

template <class T>
void add_segments() {
  using segments = segments_problem<Kokkos::Cuda, T>;
  add<segments>("cub", [](segments& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceSegmentedReduce::Sum(storage, bytes, p.in.data(), p.out.data(), p.ranges,
                                             p.offsets.data(), p.offsets.data() + 1,
                                             p.exec.cuda_stream());
    });
  });
}

void add_items() {
  using differences = difference_problem<Kokkos::Cuda, u32>;
  add<differences>("cub", [](differences& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceAdjacentDifference::SubtractLeftCopy(
          storage, bytes, p.in.data(), p.out.data(), p.n, lanewise::minus{}, p.exec.cuda_stream());
    });
  });
  using reverse = reverse_scan_problem<Kokkos::Cuda, u32>;
  add<reverse>("cub", [](reverse& p, auto time) {
    const auto in = thrust::make_reverse_iterator(p.in.data() + p.n);
    const auto out = thrust::make_reverse_iterator(p.out.data() + p.n);
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSum(storage, bytes, in, out, p.n, p.exec.cuda_stream());
    });
  });
}

template <class T>
struct to_indexed {
  const T* value;
  const std::int64_t* index;
  indexed<T>* result;
  KOKKOS_FUNCTION void operator()(int) const { *result = {*value, *index}; }
};

template <class T>
void add_minimum() {
  using minimum = minimum_problem<Kokkos::Cuda, T>;
  add<minimum>("cub", [](minimum& p, auto time) {
    const Kokkos::View<T, Kokkos::CudaSpace> value("perf::value");
    const Kokkos::View<std::int64_t, Kokkos::CudaSpace> index("perf::index");
    const auto call = [&](void* storage, std::size_t& bytes) {
      return cub::DeviceReduce::ArgMin(storage, bytes, p.in.data(), value.data(), index.data(), p.n,
                                       p.exec.cuda_stream());
    };
    std::size_t bytes = 0;
    expect_success(call(nullptr, bytes));
    const Kokkos::View<char*, Kokkos::CudaSpace> storage("perf::storage", bytes);
    time([&] {
      expect_success(call(storage.data(), bytes));
      Kokkos::parallel_for(Kokkos::RangePolicy<Kokkos::Cuda>(p.exec, 0, 1),
                           to_indexed<T>{value.data(), index.data(), p.result.data()});
    });
  });
}

}  // namespace

void add_expand_cuda() {
  add_copies<Kokkos::Cuda>();
  add_expand_lanewise<Kokkos::Cuda>();
  add_decoding();
  add_segments<u32>();
  add_segments<double>();
  add_items();
  add_minimum<u32>();
  add_minimum<double>();
}

}  // namespace lanewise::perf
