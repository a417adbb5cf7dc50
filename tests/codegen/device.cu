// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The operations on a GPU, beside versions written with CUDA's intrinsics by hand. A block is one
// warp.

#include "operations.hpp"
#include <lanewise/cuda/warp.hpp>

namespace intrinsics {

using lanewise::codegen::u32;
constexpr u32 barrier_all = ~0u;

__device__ u32 lane() {
  return threadIdx.x & 31;
}
__device__ u32 lanes_below() {
  return (1u << lane()) - 1;
}

__device__ void ballot(const u32* a, const u32* b, u32* out) {
  const u32 votes = __ballot_sync(barrier_all, a[lane()] == b[lane()]);
  if (lane() == 0) *out = votes;
}
__device__ void select_store(const u32* a, const u32* b, u32* out) {
  const u32 x = a[lane()], y = b[lane()];
  out[lane()] = x == y ? x : x + y;
}
__device__ void reduce(const u32* a, const u32*, u32* out) {
  const u32 sum = __reduce_add_sync(barrier_all, a[lane()]);
  if (lane() == 0) *out = sum;
}
__device__ u32 scanned(u32 x) {
#pragma unroll
  for (u32 step = 1; step < 32; step *= 2) {
    const u32 other = __shfl_up_sync(barrier_all, x, step);
    if (lane() >= step) x += other;
  }
  return x;
}
__device__ void inclusive_scan(const u32* a, const u32*, u32* out) {
  out[lane()] = scanned(a[lane()]);
}
__device__ void exclusive_scan(const u32* a, const u32*, u32* out) {
  const u32 before = __shfl_up_sync(barrier_all, scanned(a[lane()]), 1);
  out[lane()] = lane() == 0 ? 0 : before;
}
__device__ void shuffle(const u32* a, const u32* b, u32* out) {
  out[lane()] = __shfl_sync(barrier_all, a[lane()], static_cast<int>(b[lane()]));
}
__device__ void shuffle_xor(const u32* a, const u32*, u32* out) {
  out[lane()] = __shfl_xor_sync(barrier_all, a[lane()], 1);
}
__device__ void shuffle_up(const u32* a, const u32*, u32* out) {
  out[lane()] = __shfl_up_sync(barrier_all, a[lane()], 1);
}
/// The lanes whose bucket is the number named here.
template <int planes>
__device__ u32 agreeing(u32 bucket, u32 named) {
  u32 same = barrier_all;
#pragma unroll
  for (int p = 0; p < planes; ++p) {
    const u32 vote = __ballot_sync(barrier_all, (bucket >> p) & 1);
    same &= (named >> p) & 1 ? vote : ~vote;
  }
  return same;
}
template <int planes>
__device__ u32 peers(u32 bucket) {
  return agreeing<planes>(bucket, bucket);
}
__device__ void peers_8(const u32*, const u32* b, u32* out) {
  out[lane()] = peers<3>(b[lane()]);
}
__device__ void peers_256(const u32*, const u32* b, u32* out) {
  out[lane()] = peers<8>(b[lane()]);
}
__device__ void rank_8(const u32*, const u32* b, u32* out) {
  out[lane()] = static_cast<u32>(__popc(peers<3>(b[lane()]) & lanes_below()));
}
__device__ void rank_256(const u32*, const u32* b, u32* out) {
  out[lane()] = static_cast<u32>(__popc(peers<8>(b[lane()]) & lanes_below()));
}
__device__ void histogram_8(const u32*, const u32* b, u32* out) {
  const u32 same = agreeing<3>(b[lane()], lane());
  out[lane()] = lane() < 8 ? static_cast<u32>(__popc(same)) : 0;
}
__device__ void histogram_256(const u32*, const u32* b, u32* out) {
  out[lane()] = static_cast<u32>(__popc(agreeing<8>(b[lane()], lane())));
}
__device__ void gather(const u32* a, const u32* b, u32* out) {
  out[lane()] = a[b[lane()]];
}
__device__ void scatter(const u32* a, const u32* b, u32* out) {
  out[b[lane()]] = a[lane()];
}
__device__ void compress_store(const u32* a, const u32* b, u32* out) {
  const u32 x = a[lane()];
  const u32 chosen = __ballot_sync(barrier_all, x == b[lane()]);
  if (chosen >> lane() & 1) out[__popc(chosen & lanes_below())] = x;
}
__device__ void match_any(const u32*, const u32* b, u32* out) {
  out[lane()] = __match_any_sync(barrier_all, b[lane()]);
}

}  // namespace intrinsics

using lanewise::codegen::u32;

#define CODEGEN_LANEWISE(op)                                                             \
  extern "C" __global__ void lanewise_sm_90_##op(const u32* a, const u32* b, u32* out) { \
    lanewise::codegen::op{}(lanewise::backends::cuda::warp<32>(), a, b, out);            \
  }
#define CODEGEN_INTRINSICS(op)                                                             \
  extern "C" __global__ void intrinsics_sm_90_##op(const u32* a, const u32* b, u32* out) { \
    intrinsics::op(a, b, out);                                                             \
  }

LANEWISE_CODEGEN_OPERATIONS(CODEGEN_LANEWISE)
LANEWISE_CODEGEN_WRITTEN(CODEGEN_INTRINSICS)
