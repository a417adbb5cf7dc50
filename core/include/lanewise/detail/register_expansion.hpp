// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/register_tile.hpp>
#include <lanewise/search.hpp>
#include <lanewise/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// f(i) for i < n by all lanes of the team, neighbouring lanes having neighbouring i.
template <class Team, class F>
LANEWISE_FUNCTION void for_each_index(const Team& team, std::uint32_t n, F f) {
  constexpr std::uint32_t width = Team::warp_type::width;
  const auto warp = team.warp();
  for (std::uint32_t i = team.warp_index() * width; i < n; i += Team::warps * width) {
    const auto index = warp.lane() + i;
    warp.each(index < n, f, index);
  }
}

/// Load-balanced expansion by a team of several warps: a tile is a piece of the path through ends
/// and items. Every range that has items in the tile marks the first of them with its number; a
/// scan with the maximum then tells every item its range.
template <class Team, int items_per_lane>
class register_expansion {
 public:
  using owners = register_tile<Team, std::uint32_t, items_per_lane>;
  static constexpr std::int64_t steps = owners::items;

  struct scratch {
    path_point<std::int64_t> end;
    typename owners::scratch tile;
    alignas(16) std::uint32_t owner[steps];
  };

  /// Calls body(item, range) for the items of a piece of the path, a tile of it after the other.
  template <class Ends, class Body>
  static LANEWISE_FUNCTION void expand(const Team& team, scratch& shared, const Ends& end_of,
                                       std::int64_t ranges, std::int64_t items, index_range piece,
                                       const Body& body) {
    const auto warp = team.warp();
    auto begin = split_path(warp, end_of, ranges, items, piece.begin);
    for (std::int64_t at = piece.begin; at < piece.end; at += steps) {
      if (team.warp_index() == 0) {
        const std::int64_t last = at + steps < piece.end ? at + steps : piece.end;
        const auto end = split_path(warp, end_of, ranges, items, last, begin);
        warp.once([&] { shared.end = end; });
      }
      team.barrier();
      const auto end = shared.end;
      if (end.ends - begin.ends < few) {
        expand_few(team, end_of, begin, end, body);
      } else if (end.items > begin.items) {
        expand_tile(team, shared, end_of, ranges, begin, end, body);
      }
      begin = end;
      team.barrier();
    }
  }

 private:
  /// So few ranges that end in a tile are gone through one after the other.
  static constexpr std::int64_t few = 4;

  template <class Ends, class Body>
  static LANEWISE_FUNCTION void expand_few(const Team& team, const Ends& end_of,
                                           path_point<std::int64_t> begin,
                                           path_point<std::int64_t> end, const Body& body) {
    std::int64_t first = begin.items;
    for (std::int64_t range = begin.ends; first < end.items; ++range) {
      const std::int64_t last = range < end.ends ? end_of(range) : end.items;
      if (last > first)
        for_each_index(team, static_cast<std::uint32_t>(last - first),
                       [&](std::uint32_t k) { body(first + k, range); });
      first = last;
    }
  }

  template <class Ends, class Body>
  static LANEWISE_FUNCTION void expand_tile(const Team& team, scratch& shared, const Ends& end_of,
                                            std::int64_t ranges, path_point<std::int64_t> begin,
                                            path_point<std::int64_t> end, const Body& body) {
    const auto count = static_cast<std::uint32_t>(end.items - begin.items);
    // The last range may go on in the next tile.
    const auto whole = static_cast<std::uint32_t>(end.ends - begin.ends);
    for_each_index(team, steps, [&](std::uint32_t k) { shared.owner[k] = 0; });
    team.barrier();
    for_each_index(team, whole + (end.ends < ranges ? 1 : 0), [&](std::uint32_t k) {
      const std::int64_t first = k == 0 ? begin.items : end_of(begin.ends + k - 1);
      const std::int64_t last = k < whole ? end_of(begin.ends + k) : end.items;
      if (first < last) shared.owner[first - begin.items] = k;
    });
    team.barrier();
    const scratch_array<std::uint32_t> owner{shared.owner, count};
    owners scanned(team, shared.tile, owner, 0, count);
    scanned.scan(maximum{});
    scanned.store_inclusive(owner, maybe<std::uint32_t>{0, false}, maximum{});
    team.barrier();
    for_each_index(team, count,
                   [&](std::uint32_t k) { body(begin.items + k, begin.ends + shared.owner[k]); });
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
