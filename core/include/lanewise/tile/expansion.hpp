// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/warp_allocate.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/tile/register/expansion.hpp>
#include <lanewise/tile/stream/expansion.hpp>
#include <lanewise/tile/stream/tile.hpp>
#include <lanewise/warp/search.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// Load-balanced expansion of ranges into their items: whatever the lengths of the ranges are, lanes
// have equal work (Merrill, 6.4.1). All forms call
//
//   body(warp, mask, value, item, rank)
//
// for windows of items whose ranks follow each other. A window has at most one item for each lane.
// The active lane l has item `item` of a range whose value is `value`, and it is the (rank + l)-th
// item of all. value and item are lanes, rank is a scalar. Every item comes once. Windows come in
// no particular order, within a warp and across warps. Short ranges share windows, long ones fill
// their own.
//
// A body of expansion_t may also have:
//
//   whole(warp, value, rank)          called instead where every lane has an item, on devices
//                                     several times in a row.
//   static constexpr bool last_call_wins = true
//                                     needs whole, and says that a call leaves no trace where a
//                                     later one has the same item. It may then be told of an item
//                                     several times, with values of earlier ranges first. On hosts
//                                     short ranges cost less so, as they need no windows of their
//                                     own.
//
//   expansion_t<Team, T, Policy>      consecutive ranges whose ends are known: item == rank + l.
//                                     The ranges may be many, the league shares them.
//   range_expansion_t<Team, T>        ranges anywhere, whose begin and length are in lanes: the
//                                     neighbours of a vertex for each lane, for instance.

namespace detail {

template <class Team, class T>
using expansion_windows =
    std::conditional_t<Team::is_single_thread, host_windows<Team, T>, device_windows<Team, T>>;

template <class Body>
inline constexpr bool last_call_wins = false;
template <class Body>
requires requires {
  Body::last_call_wins;
}
inline constexpr bool last_call_wins<Body> = Body::last_call_wins;

/// body(warp, mask, value, rank) from a body that is told items, too, which are ranks.
template <class Body>
struct ranks_are_items {
  const Body& body;

  template <class W, class Mask, class Values>
  LANEWISE_FUNCTION void operator()(const W& warp, const Mask& mask, const Values& value,
                                    std::int64_t rank) const {
    body(warp, mask, value, items(warp, rank), rank);
  }
  template <class W, class Values>
  LANEWISE_FUNCTION void whole(const W& warp, const Values& value,
                               std::int64_t rank) const requires requires {
    body.whole(warp, value, rank);
  }
  { body.whole(warp, value, rank); }

 private:
  template <class W>
  static LANEWISE_FUNCTION auto items(const W& warp, std::int64_t rank) {
    return warp.template cast<std::int64_t>(warp.lane()) +
           typename W::template lanes<std::int64_t>(rank);
  }
};

/// The piece of the path that warp w of a team has of the team's piece.
template <int weight, class Team, class Ends>
LANEWISE_FUNCTION path_piece piece_of_warp(const Team& team, int w, const Ends& end_of,
                                           std::int64_t ranges, std::int64_t items,
                                           index_range piece) {
  const index_range mine = lanewise::even_share(piece.end - piece.begin, w, Team::warps);
  return lanewise::cut_path<weight>(team.warp(), end_of, ranges, items, piece.begin + mine.begin,
                                    piece.begin + mine.end);
}

/// Items [first, last) of one range.
template <class W, class T, class Body>
LANEWISE_FUNCTION void take_whole(const W& warp, const Body& body, const T& value,
                                  std::int64_t first, std::int64_t last) {
  constexpr int width = W::width;
  const lanes_t<W, T> values(value);
  const auto lane = warp.lane();
  // In whole lines.
  std::int64_t at = first / width * width;
  const auto some = [&] {
    const auto there = warp.map(
        [&](std::uint32_t l) -> std::uint32_t { return at + l >= first && at + l < last; }, lane);
    body(warp, there != 0u, values, at);
  };
  if constexpr (requires { body.whole(warp, values, at); }) {
    some();
    constexpr int unrolled = 4;
    for (at += width; at + unrolled * width <= last; at += unrolled * width) {
      LANEWISE_UNROLL
      for (int k = 0; k < unrolled; ++k) body.whole(warp, values, at + k * width);
    }
  }
  for (; at < last; at += width) some();
}

/// body(warp, mask, value, rank) for the items of a batch of ranges, by a warp.
template <class Team, class T, class Body>
LANEWISE_FUNCTION void expand_batch(const Team& team,
                                    typename expansion_windows<Team, T>::scratch& shared,
                                    const ranges_in_lanes<typename Team::warp_type, T>& batch,
                                    const Body& body) {
  using warp_type = typename Team::warp_type;
  using bits = typename warp_type::bits;
  const auto warp = team.warp();
  const bits with_items = warp.ballot(batch.begin < batch.end);
  const bits long_ones =
      warp.ballot(batch.end - batch.begin >= std::int64_t{batch.many}) & with_items;
  for (bits todo = with_items; todo != 0;) {
    const int l = warp_type::lowest(todo);
    const bits ahead = long_ones & todo;
    if ((ahead >> l & 1) != 0) {
      detail::take_whole(warp, body, warp.broadcast(batch.value, l), warp.broadcast(batch.begin, l),
                         warp.broadcast(batch.end, l));
      todo &= todo - 1;
    } else {
      // Those up to the next long one.
      const bits here = ahead != 0 ? todo & ((ahead & (~ahead + 1)) - 1) : todo;
      expansion_windows<Team, T>::take_together(team, shared, body, batch, here);
      todo &= ~here;
    }
  }
}

/// The items of a piece by a warp, which takes as many ranges at a time as it has lanes, one in
/// each.
template <class T, class Team, class Ends, class Value, class Body>
LANEWISE_FUNCTION void expand_piece(const Team& team,
                                    typename expansion_windows<Team, T>::scratch& shared,
                                    const path_piece& mine, const Ends& end_of, std::int64_t ranges,
                                    const Value& value, const Body& body) {
  using warp_type = typename Team::warp_type;
  constexpr int width = warp_type::width;
  const auto warp = team.warp();
  const auto lane = warp.lane();
  const std::int64_t last = mine.end.items;
  std::int64_t at = mine.begin.items;
  for (std::int64_t range = mine.begin.ends; at < last; range += width) {
    ranges_in_lanes<warp_type, T> batch;
    batch.end = warp.map(
        [&](std::uint32_t l) { return range + l < mine.end.ends ? end_of(range + l) : last; },
        lane);
    batch.value = warp.map(
        [&](std::uint32_t l) -> T {
          return range + l <= mine.end.ends && range + l < ranges ? value(range + l) : T{};
        },
        lane);
    batch.begin = lanewise::select(lane == 0u, typename warp_type::template lanes<std::int64_t>(at),
                                   warp.shuffle_up(batch.end, 1));
    detail::expand_batch<Team, T>(team, shared, batch, body);
    at = warp.broadcast(batch.end, width - 1);
  }
}

}  // namespace detail

/// Expansion of consecutive ranges: range r ends before item end_of(r), and the ends do not
/// decrease. The path that merges the ends with the items (search.hpp) is cut into equal pieces,
/// one for every warp of the league. So empty ranges count, too.
///
///   steps      the number of ends and items, taken together, that is worth a team.
///   expand(team, scratch, end_of, ranges, items, value, body)
///              the team's share. value(r), a T, is called once for every range and warp that
///              looks at it. So is end_of, and for some ranges more for the cuts. No barrier: warps
///              do not wait for each other, and may have unequal numbers of windows.
///
/// Memory: ends and values once. Scratch: a warp of T for each warp, on hosts 17 warps of T.
template <class Team, class T, class Policy>
struct expansion_t {
  using windows = detail::expansion_windows<Team, T>;
  using scratch = typename windows::scratch;
  static constexpr std::int64_t steps =
      Team::is_single_thread ? detail::host_tile_items<std::int64_t, Policy>
                             : std::int64_t{Team::warps} * 32 * Team::warp_type::width;

  template <class Ends, class Value, class Body>
  static LANEWISE_FUNCTION void expand(const Team& team, scratch& shared, const Ends& end_of,
                                       std::int64_t ranges, std::int64_t items, const Value& value,
                                       const Body& body) {
    // The end of a range is `weight` steps of the path; an item is one. On devices a warp waits for
    // the ends of one range per lane, but not for what it writes. So a warp with nothing but empty
    // ranges would come last. (H200, 2^28 items in 2^16 ranges, where the first has half and the
    // next 2^15 have none: 733 us with 1, 384 with 4, 305 with 8, 288 with 32. With equal numbers
    // of ranges and items, 3 % are lost with 32.)
    constexpr int weight = Team::is_single_thread ? 1 : 16;
    const path_piece mine = detail::piece_of_warp<weight>(
        team, team.warp_index(), end_of, ranges, items, team.share(weight * ranges + items));
    const detail::ranks_are_items<Body> by_rank{body};
    if constexpr (Team::is_single_thread && detail::last_call_wins<Body>) {
      detail::expand_over<Team, T>(team, mine, end_of, value, by_rank);
    } else {
      detail::expand_piece<T>(team, shared, mine, end_of, ranges, value, by_rank);
    }
  }
};

/// What a range hands to its items if there is nothing to hand.
struct no_value {};

/// Expansion of ranges that lie anywhere, a range per lane. Items begin, begin + 1, ..., begin +
/// length - 1 all get the lane's value. begin and length are lanes of std::int64_t, length >= 0;
/// value is a lanes<T>. Ranks go by warp, by lane, and by place in the range.
///
///   by_warp(team, scratch, begin, length, value, body)
///              the ranges of this warp by this warp; returns how many items they have. No barrier,
///              so control need not be team-uniform.
///   by_team(team, scratch, begin, length, value, body)
///              the ranges of all warps of the team by all of them: warps have equal numbers of
///              windows, one more or less, even where one range has all items. Returns how many
///              items the team has. All warps call it; four barriers. The scratch is free again
///              when it returns.
///
/// This is Merrill's hybrid of the serial, the warp's and the team's gathering. An allocation scan
/// gives every range its ranks, and warps get equal pieces of the ranks. In a piece long ranges are
/// taken whole, and short ones together. Ranges that are much longer than others of the league are
/// better cut before, as nothing here moves work to another team.
template <class Team, class T = no_value>
class range_expansion_t {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using places = lanes<std::int64_t>;
  static constexpr bool plain = std::is_same_v<T, no_value>;

  /// What an item of rank r needs of its range: it is item r + shift.
  struct shift_and_value {
    std::int64_t shift;
    T value;
  };
  using state = std::conditional_t<plain, std::int64_t, shift_and_value>;
  struct team_scratch {
    allocation_scratch<Team, std::int64_t> allocation;
    std::int64_t end[Team::warps * width];
    detail::raw_array<state, Team::warps * width> of;
  };
  struct nothing {};

 public:
  struct scratch {
    typename detail::expansion_windows<Team, state>::scratch windows;
    [[no_unique_address]] std::conditional_t<(Team::warps > 1), team_scratch, nothing> all;
  };

  template <class Body>
  static LANEWISE_FUNCTION std::int64_t by_warp(const Team& team, scratch& shared,
                                                const places& begin, const places& length,
                                                const lanes<T>& value, const Body& body) {
    const auto warp = team.warp();
    const auto at = lanewise::allocate(warp, length);
    const detail::ranges_in_lanes<warp_type, state> batch{at.offset, at.offset + length,
                                                          states(warp, begin - at.offset, value)};
    detail::expand_batch<Team, state>(team, shared.windows, batch, items_of(body));
    return at.total;
  }

  template <class Body>
  static LANEWISE_FUNCTION std::int64_t by_team(const Team& team, scratch& shared,
                                                const places& begin, const places& length,
                                                const lanes<T>& value, const Body& body) {
    if constexpr (Team::warps == 1) {
      return by_warp(team, shared, begin, length, value, body);
    } else {
      const auto warp = team.warp();
      auto& all = shared.all;
      const auto at = lanewise::allocate(team, all.allocation, length);
      const int mine = team.warp_index() * width;
      warp.store(all.end + mine, at.offset + length);
      warp.store(all.of.data() + mine, states(warp, begin - at.offset, value));
      team.barrier();
      // Whole windows.
      const index_range share = lanewise::even_share(lanewise::divide_up(at.total, width),
                                                     team.warp_index(), Team::warps);
      const std::int64_t first = share.begin * width;
      const std::int64_t last = share.end * width < at.total ? share.end * width : at.total;
      if (first < last) {
        std::int64_t from[2] = {0, 0}, to[2] = {Team::warps * width, Team::warps * width};
        lanewise::partition_points(warp, from, to, [&](int q, std::int64_t r) {
          return all.end[r] <= (q == 0 ? first : last);
        });
        detail::expand_piece<state>(
            team, shared.windows, {{from[0], first}, {from[1], last}},
            [&](std::int64_t r) { return all.end[r]; }, Team::warps * width,
            [&](std::int64_t r) { return all.of.data()[r]; }, items_of(body));
      }
      team.barrier();
      return at.total;
    }
  }

 private:
  static LANEWISE_FUNCTION lanes<state> states(const warp_type& warp, const places& shift,
                                               [[maybe_unused]] const lanes<T>& value) {
    if constexpr (plain) {
      return shift;
    } else {
      return warp.map([](std::int64_t s, const T& x) { return state{s, x}; }, shift, value);
    }
  }

  template <class Body>
  static LANEWISE_FUNCTION auto items_of(const Body& body) {
    return [&body](const warp_type& warp, const auto& mask, const lanes<state>& of,
                   std::int64_t rank) {
      const auto ranks = warp.template cast<std::int64_t>(warp.lane()) + places(rank);
      if constexpr (plain) {
        body(warp, mask, lanes<T>(), of + ranks, rank);
      } else {
        const auto shift = warp.map([](const state& s) { return s.shift; }, of);
        body(warp, mask, warp.map([](const state& s) { return s.value; }, of), shift + ranks, rank);
      }
    };
  }
};

LANEWISE_END_NAMESPACE
