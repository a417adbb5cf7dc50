// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/cuda/signal.hpp>
#include <lanewise/data/scratch_items.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace backends::cuda {

/// Items of an array on their way to shared memory. From sm_90 on, the copy engine carries out one
/// bulk copy; before sm_90, every lane copies 16 bytes at a time. Both move aligned 16 bytes, so
/// that items have the same place within 16 bytes as in the array. The ragged ends are copied byte
/// by byte.
template <class Raw, int n, int warps>
class staging {
  static_assert(sizeof(Raw) * n < (1u << 20), "lanewise: a signal counts up to 2^20 - 1 bytes");

 public:
  template <class Team>
  LANEWISE_CUDA_FUNCTION void init(const Team& team) {
    team.once([&] { arrived_.init(); });
  }

  template <class Team, class F>
  LANEWISE_CUDA_FUNCTION void load_async(const Team& team, const array_source<Raw, F>& source,
                                         std::int64_t first, std::int64_t count) {
    const auto warp = team.warp();
    const auto* from = reinterpret_cast<const unsigned char*>(source.data + first);
    const auto bytes = static_cast<std::uint32_t>(count * sizeof(Raw));
    const std::uint32_t shift = shift_of(from);
    const std::uint32_t head = lesser(shift == 0 ? 0 : 16 - shift, bytes);
    const std::uint32_t whole = (bytes - head) / 16 * 16;
    unsigned char* to = room_ + shift;
    if (team.warp_index() == 0) {
      const std::uint32_t lane = threadIdx.x % 32;
      const std::uint32_t tail = head + whole + lane;
      if (lane < head) to[lane] = from[lane];
      if (tail < bytes) to[tail] = from[tail];
      warp.once([&] {
        shift_ = shift;
        count_ = count;
      });
    }
#if __CUDA_ARCH__ >= 900
    if (team.warp_index() > 0) return;
    warp.fence();
    // Every lane says for itself that its bytes of the ends are there.
    if (threadIdx.x % 32 > 0) {
      arrived_.raise_by_lane();
      return;
    }
    // What was read and written here before comes before what the copy engine writes.
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    arrived_.raise_by_lane(whole);
    if (whole == 0) return;
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
        :
        : "r"(shared_address(to + head)), "l"(from + head), "r"(whole), "r"(arrived_.address())
        : "memory");
#else
    for (std::uint32_t i = 16 * (threadIdx.x % (32 * warps)); i < whole; i += 16 * 32 * warps)
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                   :
                   : "r"(shared_address(to + head + i)), "l"(from + head + i)
                   : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];"
                 :
                 : "r"(arrived_.address())
                 : "memory");
#endif
  }

  template <class Team, class F>
  LANEWISE_CUDA_FUNCTION lanewise::detail::staged_source<Raw, F> wait(
      const Team& team, const array_source<Raw, F>& source, std::uint32_t times) const {
    arrived_.wait(team.warp(), times);
    return {{reinterpret_cast<const Raw*>(room_ + shift_), count_, source.f}};
  }

 private:
  static LANEWISE_CUDA_FUNCTION std::uint32_t shift_of(const void* p) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(p) % 16);
  }
  static LANEWISE_CUDA_FUNCTION std::uint32_t lesser(std::uint32_t a, std::uint32_t b) {
    return a < b ? a : b;
  }

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
  static constexpr int raisers = 32;
#else
  static constexpr int raisers = 32 * warps;
#endif
  alignas(16) alignas(Raw) unsigned char room_[(sizeof(Raw) * n + 31) / 16 * 16];
  signal<raisers> arrived_;
  std::int64_t count_;
  std::uint32_t shift_;
};

}  // namespace backends::cuda
LANEWISE_END_NAMESPACE
