// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/register_tile.hpp>
#include <lanewise/search.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Finds both ends of a piece of the path, by two warps of the team at once. All warps call it;
/// before the barrier that must follow, nothing else reads or writes cut.
template <class Team, class Ends>
LANEWISE_FUNCTION void cut_path(const Team& team, path_point<std::int64_t> (&cut)[2],
                                const Ends& end_of, std::int64_t ranges, std::int64_t items,
                                std::int64_t first_step, std::int64_t last_step) {
  const auto warp = team.warp();
  for (int side = team.warp_index(); side < 2; side += Team::warps) {
    const std::int64_t all = ranges + items;
    const std::int64_t at = side == 0 ? first_step : (last_step < all ? last_step : all);
    const auto point = split_path(warp, end_of, ranges, items, at);
    warp.once([&] { cut[side] = point; });
  }
}

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
struct register_expansion {
  using owners = register_tile<Team, std::uint32_t, items_per_lane>;
  static constexpr std::int64_t steps = owners::items;

  struct scratch {
    path_point<std::int64_t> cut[2];
    typename owners::scratch tile;
    alignas(16) std::uint32_t owner[steps];
  };

  /// Calls body(item, range) for the items of tile `tile`.
  template <class Ends, class Body>
  static LANEWISE_FUNCTION void expand(const Team& team, scratch& shared, const Ends& end_of,
                                       std::int64_t ranges, std::int64_t items, std::int64_t tile,
                                       const Body& body) {
    cut_path(team, shared.cut, end_of, ranges, items, tile * steps, (tile + 1) * steps);
    for_each_index(team, steps, [&](std::uint32_t k) { shared.owner[k] = 0; });
    team.barrier();
    const auto begin = shared.cut[0];
    const auto end = shared.cut[1];
    const auto count = static_cast<std::uint32_t>(end.items - begin.items);
    if (count == 0) return;

    // The last range may go on in the next tile.
    const auto whole = static_cast<std::uint32_t>(end.ends - begin.ends);
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
