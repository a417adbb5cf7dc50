// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Histograms on CUDA, with CUB as peer.

#include "cub_call.hpp"
#include "histogram.hpp"

#include <cub/device/device_histogram.cuh>
#include <cuda/std/array>

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
  using pixels = pixels_problem<Kokkos::Cuda>;
  add<pixels>("cub", [](pixels& p, auto time) {
    const auto out = p.outputs();
    using three = ::cuda::std::array<int, 3>;
    const ::cuda::std::array<std::uint32_t*, 3> counts{out[0].data(), out[1].data(), out[2].data()};
    const three levels{257, 257, 257}, lower{0, 0, 0}, upper{256, 256, 256};
    time_cub(time, [&](void* storage, std::size_t& bytes) {
      return cub::DeviceHistogram::MultiHistogramEven<4, 3>(
          storage, bytes, p.in.data(), counts, levels, lower, upper, p.n, p.exec.cuda_stream());
    });
  });
}

}  // namespace lanewise::perf
