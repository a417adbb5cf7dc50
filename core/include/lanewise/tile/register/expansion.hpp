// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>
#include <lanewise/warp/ranges_in_lanes.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Short ranges together, by a warp whose lanes are cheap to ask and whose scratch is not. A bit
/// per item says where ranges begin: how many bits lie before an item tells its range.
template <class Team, class T>
struct device_windows {
  using warp_type = typename Team::warp_type;
  using bits = typename warp_type::bits;
  static constexpr int width = warp_type::width;
  template <class U>
  using lanes = lanes_t<warp_type, U>;

  struct scratch {
    raw_array<T, Team::warps * width> value;
  };

  /// Those ranges of the batch that are here; they follow each other and have some items each.
  template <class Body>
  static LANEWISE_FUNCTION void take_together(const Team& team, scratch& shared, const Body& body,
                                              const ranges_in_lanes<warp_type, T>& batch,
                                              bits here) {
    const auto warp = team.warp();
    T* const value = shared.value.data() + team.warp_index() * width;
    const auto lane = warp.lane();
    const auto below = warp.lanes_below();
    const auto is_here = warp.template mask_of<T>(here);
    // Their values come together in the first lanes.
    const auto to =
        warp.map([](bits b) { return static_cast<std::uint32_t>(warp_type::popcount(b)); },
                 below & lanes<bits>(here));
    warp.scatter(is_here, value, to, batch.value);
    warp.fence();
    const auto values = warp.load(warp.template first<T>(warp_type::popcount(here)), value, T{});
    warp.fence();
    // In whole lines; items are counted from the first of them on.
    const std::int64_t at = warp.broadcast(batch.begin, warp_type::lowest(here));
    const std::int64_t line = at / width * width;
    const auto first = static_cast<std::uint32_t>(at - line);
    const auto last =
        static_cast<std::uint32_t>(warp.broadcast(batch.end, warp_type::highest(here)) - line);
    auto start = warp.map(
        is_here, [line](std::int64_t b) { return static_cast<std::uint32_t>(b - line); }, ~0u,
        batch.begin);
    std::uint32_t in_front = 0;
    std::int64_t places = line;
    for (std::uint32_t row = 0; row < last; row += width, places += width) {
      const bits starts = warp.reduce(
          warp.map([](std::uint32_t s) -> bits { return s < width ? bits{1} << s : 0; }, start),
          bit_or{});
      const auto owner = warp.map(
          [&](bits in_front_of_lane, std::uint32_t l) {
            const bits upto = starts & (in_front_of_lane | bits{1} << l);
            return in_front + static_cast<std::uint32_t>(warp_type::popcount(upto)) - 1;
          },
          below, lane);
      const auto there = warp.map(
          [&](std::uint32_t l) -> std::uint32_t { return row + l >= first && row + l < last; },
          lane);
      body(warp, there != 0u, warp.shuffle(values, owner), places);
      in_front += static_cast<std::uint32_t>(warp_type::popcount(starts));
      start = start - lanes<std::uint32_t>(width);
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
