// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/cuda/signal.hpp>
#include <lanewise/cuda/staging.hpp>
#include <lanewise/cuda/warp.hpp>
#include <lanewise/team/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace backends::cuda {

/// A block of `warps_` warps, and one more that looks back where tiles wait for their turn.
template <int warps_, int parked_tiles_ = 0>
class team {
 public:
  using warp_type = cuda::warp<32>;
  template <int raisers>
  using signal = cuda::signal<raisers>;
  template <class Raw, int n>
  using staging = cuda::staging<Raw, n, warps_>;
  static constexpr int warps = warps_;
  static constexpr int parked_tiles = parked_tiles_;
  static constexpr int threads = 32 * (warps + (parked_tiles > 0 ? 1 : 0));
  static constexpr int windows_in_flight = 1;
  static constexpr bool one_ticket = parked_tiles == 0;
  static constexpr bool is_single_thread = false;

  LANEWISE_CUDA_FUNCTION warp_type warp() const { return {}; }
  LANEWISE_CUDA_FUNCTION int warp_index() const { return static_cast<int>(threadIdx.x / 32); }
  LANEWISE_CUDA_FUNCTION std::uint32_t index() const { return blockIdx.x; }
  LANEWISE_CUDA_FUNCTION std::uint32_t league() const { return gridDim.x; }
  LANEWISE_CUDA_FUNCTION void barrier() const {
    if constexpr (parked_tiles == 0) {
      __syncthreads();
    } else {
      asm volatile("barrier.sync 1, %0;" : : "n"(32 * warps) : "memory");
    }
  }
  LANEWISE_CUDA_FUNCTION void barrier_all() const { __syncthreads(); }
  LANEWISE_CUDA_FUNCTION bool is_look_back_warp() const { return threadIdx.x >= 32 * warps; }
  template <class F>
  LANEWISE_CUDA_FUNCTION void once(F f) const {
    if (threadIdx.x == 0) f();
  }
  LANEWISE_CUDA_FUNCTION index_range share(std::int64_t n) const {
    return even_share(n, index(), league());
  }
};

}  // namespace backends::cuda
LANEWISE_END_NAMESPACE
