// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The places of the levels of searches apart. The levels of one search for a few vertices lie side
/// by side, since frontiers of many graphs go along vertices with neighbouring numbers. (H200,
/// lattice of 4096^2: 161 ms instead of 220.) These levels take the place of the levels of all
/// searches for these vertices, and order_levels puts them in order. The last few vertices are in
/// order from the beginning.
struct level_tiles {
  static constexpr int width = 16;

  std::int64_t vertices;
  int searches;

  LANEWISE_FUNCTION std::int64_t in_tiles() const { return vertices / width * width; }
  LANEWISE_FUNCTION std::int64_t place(std::int64_t vertex, int search) const {
    const std::int64_t in_tile = vertex % width;
    return vertex < in_tiles() ? (vertex - in_tile) * searches + search * width + in_tile
                               : vertex * searches + search;
  }
};

/// Levels from their tiles to rows of vertices, a tile by each warp.
template <class Team>
class order_levels {
  using warp_type = typename Team::warp_type;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  static constexpr int width = warp_type::width;
  static constexpr int tile = level_tiles::width;
  static constexpr int most_searches = 64;
  static constexpr int stride = tile + 1;  // in scratch, where rows and columns use all banks

 public:
  struct scratch {
    std::int32_t level[Team::warps * most_searches * stride];
  };

  static LANEWISE_FUNCTION void run(const Team& team, scratch& shared, std::int32_t* levels,
                                    const level_tiles& tiles) {
    const auto warp = team.warp();
    std::int32_t* const here = shared.level + team.warp_index() * most_searches * stride;
    const std::int64_t step = std::int64_t{team.league()} * Team::warps * tile;
    const std::int64_t rank = std::int64_t{team.index()} * Team::warps + team.warp_index();
    for (std::int64_t first = rank * tile; first < tiles.in_tiles(); first += step) {
      std::int32_t* const there = levels + first * tiles.searches;
      const int levels_here = tile * tiles.searches;
      for (int at = 0; at < levels_here; at += width) {
        const auto places = warp.map(
            [at](std::uint32_t l) {
              const auto i = static_cast<std::uint32_t>(at) + l;
              return i / tile * stride + i % tile;
            },
            warp.lane());
        const auto mask = warp.first(levels_here - at);
        warp.scatter(mask, here, places, warp.load(mask, there + at, std::int32_t{0}));
      }
      warp.fence();
      for (int v = 0; v < tile; ++v)
        for (int s = 0; s < tiles.searches; s += width) {
          const auto mask = warp.first(tiles.searches - s);
          const auto places =
              warp.map([s, v](std::uint32_t l) { return (s + static_cast<int>(l)) * stride + v; },
                       warp.lane());
          warp.store(mask, there + v * tiles.searches + s,
                     warp.gather(mask, here, places, std::int32_t{0}));
        }
      warp.fence();
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
