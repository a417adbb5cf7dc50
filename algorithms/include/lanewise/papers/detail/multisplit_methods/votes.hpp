// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/names.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/warp/warp.hpp>

#include <bit>
#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// A number for each of up to `most` buckets in the registers of a warp: lane i has those of
/// buckets i, W + i, 2 W + i, ...
template <class Warp, int most>
struct bucket_registers {
  static constexpr int width = Warp::width;
  static constexpr int groups = static_cast<int>(divide_up(most, width));
  static constexpr int lane_digits = std::bit_width(static_cast<unsigned>(width - 1));
  static constexpr int group_digits = std::bit_width(static_cast<unsigned>(groups - 1));
  using u32s = lanes_t<Warp, std::uint32_t>;
  using bits = typename Warp::bits;

  u32s of[groups];

  LANEWISE_FUNCTION bucket_registers() {
    LANEWISE_UNROLL
    for (int q = 0; q < groups; ++q) of[q] = u32s(0u);
  }

  LANEWISE_FUNCTION void add(const bucket_registers& other) {
    LANEWISE_UNROLL
    for (int q = 0; q < groups; ++q) of[q] = of[q] + other.of[q];
  }
  LANEWISE_FUNCTION void subtract(const bucket_registers& other) {
    LANEWISE_UNROLL
    for (int q = 0; q < groups; ++q) of[q] = of[q] - other.of[q];
  }

  /// Calls f(q, bucket, exists) for every register that some bucket has.
  template <class F>
  static LANEWISE_FUNCTION void for_each(const Warp& warp, std::uint32_t buckets, F f) {
    LANEWISE_UNROLL
    for (int q = 0; q < groups; ++q) {
      if (q > 0 && static_cast<std::uint32_t>(q * width) >= buckets) continue;
      const auto bucket = warp.lane() + u32s(static_cast<std::uint32_t>(q * width));
      f(q, bucket, bucket < buckets);
    }
  }

  /// The number of each lane's bucket: one shuffle for a warp's worth of buckets.
  LANEWISE_FUNCTION u32s look_up(const Warp& warp, const u32s& bucket,
                                 std::uint32_t buckets) const {
    u32s found = warp.shuffle(of[0], bucket);
    LANEWISE_UNROLL
    for (int q = 1; q < groups; ++q) {
      if (static_cast<std::uint32_t>(q * width) >= buckets) continue;
      const auto here = bucket >= static_cast<std::uint32_t>(q * width);
      found = lanewise::select(here, warp.shuffle(of[q], bucket), found);
    }
    return found;
  }

  /// The sums of the numbers of all buckets in front.
  LANEWISE_FUNCTION bucket_registers scanned(const Warp& warp, std::uint32_t buckets) const {
    bucket_registers result;
    std::uint32_t before = 0;
    LANEWISE_UNROLL
    for (int q = 0; q < groups; ++q) {
      if (q > 0 && static_cast<std::uint32_t>(q * width) >= buckets) continue;
      const auto upto = warp.inclusive_scan(of[q], plus{});
      result.of[q] = upto - of[q] + u32s(before);
      before += warp.broadcast(upto, width - 1);
    }
    return result;
  }

  /// Becomes the number of items of each bucket in a window. Returns how many of the lanes before a
  /// lane have an item of its bucket. One ballot for each binary digit of the buckets serves both
  /// (GPU Multisplit, algorithms 2 and 3). Algorithm 3 is taken with the exclusive mask that its
  /// text asks for. Buckets with the same leading digits alias; buckets that do not exist count
  /// nothing.
  /// count nothing.
  template <class Mask>
  LANEWISE_FUNCTION u32s vote(const Warp& warp, const Mask& exists, const u32s& bucket,
                              std::uint32_t buckets) {
    using votes = lanes_t<Warp, bits>;
    const auto is_digit = [buckets](int d) LANEWISE_INLINE_LAMBDA { return 1u << d < buckets; };
    const bits all = warp.ballot(exists);
    votes same(all), own(all);
    bits above[group_digits > 0 ? group_digits : 1] = {};
    LANEWISE_UNROLL
    for (int d = 0; d < lane_digits + group_digits; ++d) {
      if (!is_digit(d)) continue;
      const bits vote = warp.ballot((bucket & u32s(1u << d)) != 0u);
      const auto agreeing = [d, vote](bits set, std::uint32_t number)
                                LANEWISE_INLINE_LAMBDA -> bits {
        return set & ((number >> d & 1) != 0 ? vote : ~vote);
      };
      same = warp.map(agreeing, same, bucket);
      if (d < lane_digits) {
        own = warp.map(agreeing, own, warp.lane());
      } else {
        above[d - lane_digits] = vote;
      }
    }
    const auto popcount = [](bits set) LANEWISE_INLINE_LAMBDA {
      return static_cast<std::uint32_t>(Warp::popcount(set));
    };
    for_each(warp, buckets, [&](int q, const u32s&, const auto& is_bucket) LANEWISE_INLINE_LAMBDA {
      bits chosen = ~bits{0};
      LANEWISE_UNROLL
      for (int d = 0; d < group_digits; ++d)
        if (is_digit(lane_digits + d)) chosen &= (q >> d & 1) != 0 ? above[d] : ~above[d];
      of[q] = lanewise::select(is_bucket, warp.map(popcount, own & votes(chosen)), u32s(0u));
    });
    return warp.map(popcount, same & warp.lanes_below());
  }
};

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
