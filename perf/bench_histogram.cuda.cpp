// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Histograms on CUDA, with CUB as peer.

#include "cub_call.hpp"
#include "histogram.hpp"

#include <cub/device/device_histogram.cuh>

namespace lanewise::perf {

void add_cuda() {
  add_histograms<Kokkos::Cuda>();
  for_each_histogram<Kokkos::Cuda>([](auto type) {
    using problem = typename decltype(type)::type;
    add<problem>("cub", [](problem& p, auto time) {
      const auto levels = static_cast<int>(p.bins) + 1;
      time_cub(time, [&](void* storage, std::size_t& bytes) {
        const auto stream = p.exec.cuda_stream();
        if constexpr (problem::ranges) {
          return cub::DeviceHistogram::HistogramRange(storage, bytes, p.in.data(), p.counts.data(),
                                                      levels, p.edges.data(), p.n, stream);
        } else {
          return cub::DeviceHistogram::HistogramEven(storage, bytes, p.in.data(), p.counts.data(),
                                                     levels, problem::lower, problem::upper, p.n,
                                                     stream);
        }
      });
    });
  });
}

}  // namespace lanewise::perf
