// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What CUB has in place of an LSM: the batch is sorted and merged with a sorted array, which is
// written anew as a whole.

#include "cub_call.hpp"
#include "lsm.hpp"

#include <cub/cub.cuh>

#include <utility>

namespace lanewise::perf {
namespace {

struct lsm_less {
  template <class T>
  __host__ __device__ bool operator()(const T& x, const T& y) const {
    return x < y;
  }
};

template <class T>
struct cub_sorted_array {
  using memory = array<Kokkos::Cuda, T>;
  memory keys[2], values[2], batch_keys, batch_values;
  Kokkos::View<char*, Kokkos::CudaSpace> storage;
  int current = 0;

  cub_sorted_array(std::int64_t all, std::int64_t batch)
      : batch_keys("perf::batch_keys", batch), batch_values("perf::batch_values", batch) {
    for (int i = 0; i < 2; ++i) {
      keys[i] = memory("perf::keys", all);
      values[i] = memory("perf::values", all);
    }
    std::size_t sort_bytes = 0, merge_bytes = 0;
    expect_success(cub::DeviceRadixSort::SortPairs(nullptr, sort_bytes, keys[0].data(),
                                                   batch_keys.data(), values[0].data(),
                                                   batch_values.data(), batch));
    expect_success(merge(nullptr, merge_bytes, all - batch, batch, nullptr));
    storage = decltype(storage)("perf::storage", std::max(sort_bytes, merge_bytes));
  }
  cudaError_t merge(void* room, std::size_t& bytes, std::int64_t have, std::int64_t batch,
                    cudaStream_t stream) {
    return cub::DeviceMerge::MergePairs(room, bytes, batch_keys.data(), batch_values.data(), batch,
                                        keys[current].data(), values[current].data(), have,
                                        keys[1 - current].data(), values[1 - current].data(),
                                        lsm_less{}, stream);
  }
  void insert(const Kokkos::Cuda& exec, const T* from, const T* from_values, std::int64_t have,
              std::int64_t batch) {
    std::size_t bytes = storage.size();
    expect_success(cub::DeviceRadixSort::SortPairs(storage.data(), bytes, from, batch_keys.data(),
                                                   from_values, batch_values.data(), batch, 0,
                                                   8 * sizeof(T), exec.cuda_stream()));
    bytes = storage.size();
    expect_success(merge(storage.data(), bytes, have, batch, exec.cuda_stream()));
    current = 1 - current;
  }
};

template <class T>
void add_cub_lsm() {
  using insertion = lsm_insert_problem<Kokkos::Cuda, T>;
  add<insertion>("cub", [](insertion& p, auto time) {
    if (p.batch < 1 << 20) return;  // takes seconds
    p.put_all(p.map);               // what is looked at afterwards
    cub_sorted_array<T> sorted(p.n, p.batch);
    time([&] {
      for (std::int64_t at = 0; at < p.n; at += p.batch)
        sorted.insert(p.exec, p.keys.data() + at, p.values.data() + at, at, p.batch);
    });
  });
}

}  // namespace

void add_lsm_peers() {
  add_cub_lsm<std::uint32_t>();
  add_cub_lsm<std::uint64_t>();
}

}  // namespace lanewise::perf
