// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/cuda/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace backends::cuda {

LANEWISE_CUDA_FUNCTION std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// A barrier in shared memory at which some warps arrive and others wait: its phases are counted
/// modulo 2.
template <int raisers>
class signal {
 public:
  LANEWISE_CUDA_FUNCTION void init() {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" : : "r"(address()), "n"(raisers) : "memory");
  }
  LANEWISE_CUDA_FUNCTION void raise(const warp<32>& w) {
    w.fence();
    w.once([&] { raise_by_lane(); });
  }
  LANEWISE_CUDA_FUNCTION void raise_by_lane() {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }"
                 :
                 : "r"(address())
                 : "memory");
  }
  /// raise_by_lane(bytes): this raise counts when copies that report here have brought `bytes`
  /// bytes.
  LANEWISE_CUDA_FUNCTION void raise_by_lane(std::uint32_t bytes) {
    asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }"
                 :
                 : "r"(address()), "r"(bytes)
                 : "memory");
  }
  LANEWISE_CUDA_FUNCTION void wait(const warp<32>& w, std::uint32_t times) const {
    while (!has_come(times)) {
    }
    w.fence();
  }

  LANEWISE_CUDA_FUNCTION std::uint32_t address() const { return shared_address(&state_); }

 private:
  LANEWISE_CUDA_FUNCTION bool has_come(std::uint32_t times) const {
    std::uint32_t done;
    // From sm_90 on the hardware waits for a while, and asks no other issue slots for it.
#if __CUDA_ARCH__ >= 900
#define LANEWISE_MBARRIER_WAIT "mbarrier.try_wait.parity.shared.b64"
#else
#define LANEWISE_MBARRIER_WAIT "mbarrier.test_wait.parity.shared.b64"
#endif
    asm volatile("{ .reg .pred p; " LANEWISE_MBARRIER_WAIT " p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address()), "r"((times - 1) & 1)
                 : "memory");
#undef LANEWISE_MBARRIER_WAIT
    return done != 0;
  }

  std::uint64_t state_;
};

}  // namespace backends::cuda
LANEWISE_END_NAMESPACE
