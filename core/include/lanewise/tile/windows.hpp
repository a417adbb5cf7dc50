// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/team.hpp>
#include <lanewise/tile/register/neighbours.hpp>
#include <lanewise/tile/stream/neighbours.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

// Windows of lanes with their neighbours: for heads of runs, differences, stencils of radius 1, and
// whatever else asks what lies beside an item. `bordered` has the items:
//
//   bordered<Source>{items, n, front, after}
//
// n items of a source, the value before item 0, and the one after item n - 1.

/// Calls f(at, exists, item, before, after) for windows of items [first, last), which lie in [0,
/// n), from the first to the last. Lane l of a window has item at + l, where the mask `exists`
/// holds; `before` and `behind` are the items at + l - 1 and at + l + 1, or in.front and
/// in.after; other lanes are unspecified. Every window but the last is full. By one warp of the
/// team, which may walk through other items than the team's other warps.
///
/// On devices every item is loaded once, with one more at either end, and neighbours come by
/// shuffles; four windows are in flight. On hosts neighbours are loaded, from the nearest cache, if
/// f uses them; the source's function is called up to three times per item. f does not write to the
/// items: they are read ahead, and again. No barrier.
template <class Team, class Source, class F>
LANEWISE_FUNCTION void windows_of_warp(const Team& team, const bordered<Source>& in,
                                       std::int64_t first, std::int64_t last, F f) {
  if constexpr (!Team::is_single_thread) {
    detail::device_neighbours(team.warp(), in, first, last, f);
  } else {
    detail::host_neighbours(team.warp(), in, first, last, f);
  }
}

/// As windows_of_warp, by all warps of a team: every warp takes an even share of the windows. No
/// barrier.
template <class Team, class Source, class F>
LANEWISE_FUNCTION void windows_of_team(const Team& team, const bordered<Source>& in,
                                       std::int64_t first, std::int64_t last, F f) {
  constexpr std::int64_t width = Team::warp_type::width;
  if (first >= last) return;
  const index_range mine =
      lanewise::even_share(divide_up(last - first, width), team.warp_index(), Team::warps);
  const std::int64_t end = first + mine.end * width;
  lanewise::windows_of_warp(team, in, first + mine.begin * width, end < last ? end : last, f);
}

LANEWISE_END_NAMESPACE
