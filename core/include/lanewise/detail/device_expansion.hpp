// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/device_rows.hpp>
#include <lanewise/search.hpp>
#include <lanewise/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The piece of the path that warp w of a team has of the team's piece.
template <int weight, class Team, class Ends>
LANEWISE_FUNCTION path_piece piece_of_warp(const Team& team, int w, const Ends& end_of,
                                           std::int64_t ranges, std::int64_t items,
                                           index_range piece) {
  const index_range mine = even_share(piece.end - piece.begin, w, Team::warps);
  return cut_path<weight>(team.warp(), end_of, ranges, items, piece.begin + mine.begin,
                          piece.begin + mine.end);
}

/// Load-balanced expansion by a team of several warps, each of which walks through a piece of the
/// path of its own and waits for no other. It takes as many ranges at a time as it has lanes, one
/// in each. A bit per item says where ranges begin: how many bits lie in front of an item tells
/// its range.
template <class Team, class T>
class device_expansion {
  using warp_type = typename Team::warp_type;
  using bits = typename warp_type::bits;
  static constexpr int width = warp_type::width;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;
  /// An end is as many steps of the path as so many items: a warp waits for the ends of as many
  /// ranges as it has lanes, but not for what it writes, so that one with nothing but empty ranges
  /// would come last. (H200, 2^28 items in 2^16 ranges, of which the first has half and the next
  /// 2^15 have none: 733 us with 1, 384 with 4, 305 with 8, 288 with 32. As many ranges as items
  /// lose 3 % with 32.)
  static constexpr int weight = 16;

 public:
  /// What a team should have at least.
  static constexpr std::int64_t steps = std::int64_t{Team::warps} * 32 * width;

  struct scratch {
    raw_array<T, Team::warps * width> value;
  };

  /// Calls body.put(item, body.value(range)) for the items of the team's piece of the path; value
  /// once for every range and warp that looks at it.
  template <class Ends, class Body>
  static LANEWISE_FUNCTION void expand(const Team& team, scratch& shared, const Ends& end_of,
                                       std::int64_t ranges, std::int64_t items, const Body& body) {
    const auto warp = team.warp();
    const auto lane = warp.lane();
    T* const value = shared.value.data() + team.warp_index() * width;
    const path_piece mine = piece_of_warp<weight>(team, team.warp_index(), end_of, ranges, items,
                                                  team.share(weight * ranges + items));
    const std::int64_t last = mine.end.items;
    std::int64_t at = mine.begin.items;
    for (std::int64_t range = mine.begin.ends; at < last; range += width) {
      some_ranges batch;
      batch.end = warp.map(
          [&](std::uint32_t l) { return range + l < mine.end.ends ? end_of(range + l) : last; },
          lane);
      batch.value = warp.map(
          [&](std::uint32_t l) -> T {
            return range + l <= mine.end.ends && range + l < ranges ? body.value(range + l) : T{};
          },
          lane);
      batch.begin = select(lane == 0u, lanes<std::int64_t>(at), warp.shuffle_up(batch.end, 1));
      expand_batch(warp, value, body, batch);
      at = warp.broadcast(batch.end, width - 1);
    }
  }

 private:
  /// As many ranges as there are lanes, one in each.
  struct some_ranges {
    lanes<std::int64_t> begin;
    lanes<std::int64_t> end;
    lanes<T> value;
  };

  /// Ranges of so many items are written one by one, those between them together.
  static constexpr std::int64_t many = 8 * width;

  template <class Body>
  static LANEWISE_FUNCTION void expand_batch(const warp_type& warp, T* value, const Body& body,
                                             const some_ranges& batch) {
    const bits with_items = warp.ballot(batch.begin < batch.end);
    const bits long_ones =
        warp.ballot(batch.end - batch.begin >= lanes<std::int64_t>(many)) & with_items;
    for (bits todo = with_items; todo != 0;) {
      const int l = warp_type::lowest(todo);
      const bits ahead = long_ones & todo;
      if ((ahead >> l & 1) != 0) {
        fill(warp, body, warp.broadcast(batch.value, l), warp.broadcast(batch.begin, l),
             warp.broadcast(batch.end, l));
        todo &= todo - 1;
      } else {
        // Those up to the next long one.
        const bits here = ahead != 0 ? todo & ((ahead & (~ahead + 1)) - 1) : todo;
        expand_short(warp, value, body, batch, here);
        todo &= ~here;
      }
    }
  }

  /// Items [first, last) have the value.
  template <class Body>
  static LANEWISE_FUNCTION void fill(const warp_type& warp, const Body& body, const T& value,
                                     std::int64_t first, std::int64_t last) {
    const auto lane = warp.lane();
    // In whole lines.
    std::int64_t at = first / width * width;
    const auto put = [&](std::uint32_t l) {
      if (at + l >= first && at + l < last) body.put(at + l, value);
    };
    warp.each(put, lane);
    constexpr int unrolled = 4;
    for (at += width; at + unrolled * width <= last; at += unrolled * width) {
      warp.each(
          [&](std::uint32_t l) {
            LANEWISE_UNROLL
            for (int k = 0; k < unrolled; ++k) body.put(at + k * width + l, value);
          },
          lane);
    }
    for (; at < last; at += width) warp.each(put, lane);
  }

  /// The items of those ranges of the batch, which follow each other and have some each.
  template <class Body>
  static LANEWISE_FUNCTION void expand_short(const warp_type& warp, T* value, const Body& body,
                                             const some_ranges& batch, bits here) {
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
      const auto item = warp.shuffle(values, owner);
      warp.each(
          [&](std::uint32_t l, const T& x) {
            if (row + l >= first && row + l < last) body.put(places + l, x);
          },
          lane, item);
      in_front += warp_type::popcount(starts);
      start = start - lanes<std::uint32_t>(width);
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
