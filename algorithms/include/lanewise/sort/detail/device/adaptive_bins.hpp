// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/radix_plan.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Bins for keys that often have the same digit. A digit has bins in proportion to its keys, and
/// the 32 bits below it choose one of them. Bins are in the order of keys.
template <class Bits>
struct adaptive_bins {
  Bits ordering;         ///< the bits that order keys
  int shift;             ///< of the digit
  std::uint32_t* share;  ///< of each digit: its first bin, and from bit 16 on how many it has

  LANEWISE_FUNCTION std::uint32_t digit(Bits x) const {
    return static_cast<std::uint32_t>(static_cast<Bits>(x & ordering) >> shift) &
           (radix_buckets - 1);
  }
  LANEWISE_FUNCTION std::uint32_t operator()(Bits x) const {
    const auto kept = static_cast<Bits>(x & ordering);
    const auto below =
        static_cast<std::uint32_t>(shift > 32 ? static_cast<std::uint64_t>(kept >> (shift - 32))
                                              : static_cast<std::uint64_t>(kept) << (32 - shift));
    const std::uint32_t mine = share[digit(x)];
    return (mine & 0xffff) + static_cast<std::uint32_t>(std::uint64_t{below} * (mine >> 16) >> 32);
  }

  /// Turns counts of digits, of n keys, into shares of `bins` bins. A digit that has keys has a
  /// bin.
  template <class W>
  LANEWISE_FUNCTION void share_out(const W& warp, std::uint32_t n, std::uint32_t bins) const {
    std::uint32_t before = 0;
    for (int b = 0; b < radix_buckets; b += W::width) {
      const auto own = warp.map(
          [=](std::uint32_t count) {
            return count == 0 ? 0u : 1 + count * (bins - radix_buckets) / n;
          },
          warp.load(share + b));
      const auto upto = warp.inclusive_scan(own, plus{});
      warp.store(share + b,
                 warp.map([=](std::uint32_t end,
                              std::uint32_t some) { return some << 16 | (before + end - some); },
                          upto, own));
      before += warp.broadcast(upto, W::width - 1);
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
