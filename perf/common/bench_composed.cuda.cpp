// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Algorithms composed of sorts on CUDA; their peers are the same compositions of CUB's.

#include "composed.hpp"
#include "cub_call.hpp"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_segmented_sort.cuh>

namespace lanewise::perf {
namespace {

using exec_space = Kokkos::Cuda;
using words = array<exec_space, std::uint32_t>;
using ids = array<exec_space, std::uint8_t>;

/// Temporary storage for several calls of CUB: each call is asked once.
class storage_of {
 public:
  template <class... Calls>
  explicit storage_of(const Calls&... calls) {
    const auto ask = [&](const auto& call) {
      std::size_t one = 0;
      expect_success(call(nullptr, one));
      bytes_ = std::max(bytes_, one);
    };
    (ask(calls), ...);
    storage_ = Kokkos::View<char*, Kokkos::CudaSpace>("perf::storage", bytes_);
  }
  template <class Call>
  void operator()(const Call& call) {
    expect_success(call(storage_.data(), bytes_));
  }

 private:
  std::size_t bytes_ = 0;
  Kokkos::View<char*, Kokkos::CudaSpace> storage_;
};

struct weigh {
  words in, keys, weights;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    keys(i) = in(i);
    weights(i) = (in(i)&7u) + 1;
  }
};
template <class BucketOf>
struct number_buckets {
  words in;
  ids out;
  BucketOf bucket_of;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    out(i) = static_cast<std::uint8_t>(bucket_of(in(i)));
  }
};

template <class Time>
void sum_by_cub(words_problem<exec_space>& p, const Time& time) {
  const auto size = static_cast<std::size_t>(p.n);
  const words keys("perf::keys", size), weights("perf::weights", size),
      sorted("perf::sorted", size), moved("perf::moved", size);
  const auto sort = [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(storage, bytes, keys.data(), sorted.data(),
                                           weights.data(), moved.data(), p.n, 0, 32,
                                           p.exec.cuda_stream());
  };
  const auto reduce = [&](void* storage, std::size_t& bytes) {
    return cub::DeviceReduce::ReduceByKey(storage, bytes, sorted.data(), p.keys_out.data(),
                                          moved.data(), p.sums_out.data(), p.number.data(),
                                          ::cuda::std::plus<>{}, p.n, p.exec.cuda_stream());
  };
  storage_of call(sort, reduce);
  time([&] {
    Kokkos::parallel_for("perf::weigh", range<exec_space>(p.exec, 0, p.n),
                         weigh{p.in, keys, weights});
    call(sort);
    call(reduce);
  });
}

template <class Time>
void count_by_cub(counts_problem<exec_space>& p, const Time& time) {
  const words sorted("perf::sorted", static_cast<std::size_t>(p.n));
  const auto sort = [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(storage, bytes, p.in.data(), sorted.data(), p.n, 0, 32,
                                          p.exec.cuda_stream());
  };
  const auto encode = [&](void* storage, std::size_t& bytes) {
    return cub::DeviceRunLengthEncode::Encode(storage, bytes, sorted.data(), p.keys_out.data(),
                                              p.sums_out.data(), p.number.data(), p.n,
                                              p.exec.cuda_stream());
  };
  storage_of call(sort, encode);
  time([&] {
    call(sort);
    call(encode);
  });
}

/// The buckets' numbers, and a sort of pairs by their bits.
template <class Problem, class Time, class BucketOf, class Sort>
void split_by_cub(Problem& p, const Time& time, const BucketOf& bucket_of, const Sort& sort) {
  const auto size = static_cast<std::size_t>(p.n);
  const ids from("perf::ids", size), to("perf::sorted_ids", size);
  const auto pairs = [&](void* storage, std::size_t& bytes) {
    return sort(storage, bytes, from, to);
  };
  storage_of call(pairs);
  time([&] {
    Kokkos::parallel_for("perf::number_buckets", range<exec_space>(p.exec, 0, p.n),
                         number_buckets<BucketOf>{p.in, from, bucket_of});
    call(pairs);
  });
}

}  // namespace

void add_cuda() {
  add_composed<exec_space>();
  add<words_problem<exec_space>>("cub", [](auto& p, auto time) { sum_by_cub(p, time); });
  add<counts_problem<exec_space>>("cub", [](auto& p, auto time) { count_by_cub(p, time); });
  add<splitters_problem<exec_space>>("cub", [](auto& p, auto time) {
    split_by_cub(p, time, p.bucket_of,
                 [&](void* storage, std::size_t& bytes, const ids& from, const ids& to) {
                   return cub::DeviceRadixSort::SortPairs(storage, bytes, from.data(), to.data(),
                                                          p.in.data(), p.out.data(), p.n, 0, 7,
                                                          p.exec.cuda_stream());
                 });
  });
  add<segments_problem<exec_space>>("cub", [](auto& p, auto time) {
    split_by_cub(p, time, of_eight{},
                 [&](void* storage, std::size_t& bytes, const ids& from, const ids& to) {
                   return cub::DeviceSegmentedSort::StableSortPairs(
                       storage, bytes, from.data(), to.data(), p.in.data(), p.out.data(), p.n,
                       p.segments, p.offsets.data(), p.offsets.data() + 1, p.exec.cuda_stream());
                 });
  });
}

}  // namespace lanewise::perf
