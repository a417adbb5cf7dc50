// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/cuda/signal.hpp>
#include <lanewise/cuda/staging.hpp>
#include <lanewise/cuda/warp.hpp>
#include <lanewise/detail/fixed_tree.hpp>
#include <lanewise/detail/register_compaction.hpp>
#include <lanewise/detail/register_expansion.hpp>
#include <lanewise/detail/register_segments.hpp>
#include <lanewise/detail/register_split.hpp>
#include <lanewise/detail/register_sums.hpp>
#include <lanewise/detail/register_tile.hpp>
#include <lanewise/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace backends::cuda {

/// A block of `warps_` warps, and one more that looks back where tiles wait for their turn.
template <int warps_, int tiles_behind_ = 0>
class team {
 public:
  using warp_type = cuda::warp<32>;
  template <int raisers>
  using signal = cuda::signal<raisers>;
  template <class Raw, int n>
  using staging = cuda::staging<Raw, n, warps_>;
  static constexpr int warps = warps_;
  static constexpr int tiles_behind = tiles_behind_;
  static constexpr int threads = 32 * (warps + (tiles_behind > 0 ? 1 : 0));
  static constexpr int windows_in_flight = 1;
  static constexpr bool one_ticket = tiles_behind == 0;

  LANEWISE_CUDA_FUNCTION warp_type warp() const { return {}; }
  LANEWISE_CUDA_FUNCTION int warp_index() const { return static_cast<int>(threadIdx.x / 32); }
  LANEWISE_CUDA_FUNCTION std::uint32_t index() const { return blockIdx.x; }
  LANEWISE_CUDA_FUNCTION std::uint32_t league() const { return gridDim.x; }
  LANEWISE_CUDA_FUNCTION void barrier() const {
    if constexpr (tiles_behind == 0) {
      __syncthreads();
    } else {
      asm volatile("barrier.sync 1, %0;" : : "n"(32 * warps) : "memory");
    }
  }
  LANEWISE_CUDA_FUNCTION void everybody() const { __syncthreads(); }
  LANEWISE_CUDA_FUNCTION bool looks_back() const { return threadIdx.x >= 32 * warps; }
  template <class F>
  LANEWISE_CUDA_FUNCTION void once(F f) const {
    if (threadIdx.x == 0) f();
  }
  LANEWISE_CUDA_FUNCTION index_range share(std::int64_t n) const {
    return even_share(n, index(), league());
  }

  template <class T, class Policy>
  using tile = lanewise::detail::register_tile<team, T, Policy::items_per_lane>;
  template <class T, class Policy, class Source>
  LANEWISE_CUDA_FUNCTION tile<T, Policy> load(typename tile<T, Policy>::scratch& shared,
                                              const Source& source, std::int64_t first,
                                              std::int64_t n) const {
    if constexpr (Policy::deterministic) {
      return {*this, shared, lanewise::detail::rounded_source<Source>{source}, first, n};
    } else {
      return {*this, shared, source, first, n};
    }
  }
  template <class T, class Source, class Op>
  LANEWISE_CUDA_FUNCTION T block_total(const Source& source, std::int64_t first, std::int64_t n,
                                       Op op) const {
    return lanewise::detail::block_total_in_registers<T>(warp(), source, first, n, op);
  }
  template <class Key, class Policy>
  using split = lanewise::detail::register_split<team, Key, Policy::items_per_lane>;

  template <class T, class Policy, class Marks, class First, class Second, class Source>
  using compaction =
      lanewise::detail::register_compaction<team, T, Policy::items_per_lane, First, Second, Marks>;

  template <class T, class Policy, class Source, class Heads, class AtHead, bool ends>
  using segments =
      lanewise::detail::register_segments<team, T, Policy::items_per_lane, Heads, AtHead, ends>;

  template <class T, class Policy>
  using expansion = lanewise::detail::register_expansion<team, T>;
  template <class T, class Policy>
  using sums = lanewise::detail::register_sums<team, T, Policy::items_per_lane>;

  template <class T>
  struct reduce_scratch {
    lanewise::detail::raw_array<T, warps> per_warp;
  };
  template <class T, class Policy, class Source, class Op>
  LANEWISE_CUDA_FUNCTION maybe<T> reduce_range(reduce_scratch<T>& shared, const Source& source,
                                               std::int64_t first, std::int64_t last, Op op) const {
    return lanewise::detail::reduce_range_in_registers<T, Policy::items_per_lane>(
        *this, shared.per_warp.data(), source, first, last, op);
  }
};

}  // namespace backends::cuda
LANEWISE_END_NAMESPACE
