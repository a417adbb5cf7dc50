// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// CUB's exclusive scan, as in bench_algorithms.

#include "cub_call.hpp"
#include "sequence/algorithms.hpp"

#include <cub/cub.cuh>

namespace lanewise::perf {
namespace {

template <class T>
void add_cub_scan() {
  using problem = scan_problem<Kokkos::Cuda, T, true>;
  add<problem>("cub", [](problem& p, auto time) {
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveSum(storage, bytes, p.in.data(), p.out.data(), p.n,
                                           p.exec.cuda_stream());
    });
  });
}

}  // namespace

void add_cuda() {
  add_cub_scan<std::uint32_t>();
  add_cub_scan<double>();
}

}  // namespace lanewise::perf
