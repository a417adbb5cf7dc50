// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Selections and calls on runs on CUDA, with CUB as peer.

#include "compact.hpp"
#include "cub_call.hpp"

#include <cub/cub.cuh>

namespace lanewise::perf {
namespace {

template <class T>
void add_cub_of() {
  using select = select_problem<Kokkos::Cuda, T>;
  add<select>("cub", [](select& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceSelect::If(storage, bytes, p.in.data(), p.out.data(), p.count.data(), p.n,
                                   p.keep, p.exec.cuda_stream());
    });
  });
  using unique = unique_problem<Kokkos::Cuda, T>;
  add<unique>("cub", [](unique& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceSelect::Unique(storage, bytes, p.keys.data(), p.keys_out.data(),
                                       p.count.data(), p.n, p.exec.cuda_stream());
    });
  });
}

void add_cub() {
  using u32 = std::uint32_t;
  add_cub_of<std::uint8_t>();
  add_cub_of<u32>();
  add_cub_of<std::uint64_t>();
  // CUB writes the rejected items after the kept ones, in reverse order.
  using partition = partition_problem<Kokkos::Cuda, u32>;
  add<partition>("cub", [](partition& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DevicePartition::If(storage, bytes, p.in.data(), p.out.data(), p.count.data(),
                                      p.n, p.keep, p.exec.cuda_stream());
    });
  });
  using encode = run_length_problem<Kokkos::Cuda, u32>;
  add<encode>("cub", [](encode& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceRunLengthEncode::Encode(storage, bytes, p.keys.data(), p.keys_out.data(),
                                                p.results.data(), p.count.data(), p.n,
                                                p.exec.cuda_stream());
    });
  });
  using reduce = reduce_by_key_problem<Kokkos::Cuda, u32>;
  add<reduce>("cub", [](reduce& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceReduce::ReduceByKey(storage, bytes, p.keys.data(), p.keys_out.data(),
                                            p.values.data(), p.results.data(), p.count.data(),
                                            ::cuda::std::plus<u32>{}, p.n, p.exec.cuda_stream());
    });
  });
  using scan = scan_by_key_problem<Kokkos::Cuda, u32>;
  add<scan>("cub", [](scan& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveSumByKey(storage, bytes, p.keys.data(), p.values.data(),
                                                p.results.data(), p.n, ::cuda::std::equal_to<u32>{},
                                                p.exec.cuda_stream());
    });
  });
}

}  // namespace

void add_compact_cuda() {
  add_copies<Kokkos::Cuda>();
  add_lanewise_compact<Kokkos::Cuda>();
  add_cub();
}

}  // namespace lanewise::perf
