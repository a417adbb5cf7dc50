// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/queue.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// A frontier in memory: vertices, or edges. An edge is the vertex that it leads to and, if parents
/// are wanted, the vertex that it comes from.
template <class Vertex>
struct frontier_queue {
  Vertex* vertices;
  Vertex* parents;  // null: not wanted
  std::int64_t capacity;
};

/// What all teams count together. Neither is ever set back: each reader knows what they were
/// when the phase began.
struct frontier_counters {
  std::uint64_t pushed;
  std::uint64_t tickets;
};

/// Tiles of a queue, a team's width each, to the teams of a league: evenly, or to the team that
/// asks.
template <class Team, bool steals>
class frontier_tiles {
 public:
  static constexpr int width = Team::warp_type::width;
  static constexpr std::int64_t items = Team::warps * width;
  struct scratch {
    std::int64_t ticket;
  };

  /// f(first) for the tiles of this team, by all its warps. All teams call it.
  template <class F>
  LANEWISE_FUNCTION void for_each(const Team& team, [[maybe_unused]] scratch& shared,
                                  [[maybe_unused]] frontier_counters& counters, std::int64_t size,
                                  const F& f) {
    const std::int64_t tiles = divide_up(size, items);
    if constexpr (steals) {
      for (;;) {
        const std::int64_t tile = draw(team, shared, counters) - drawn_;
        if (tile >= tiles) break;
        f(tile * items);
      }
      // Each team has drawn one ticket too many.
      drawn_ += tiles + team.league();
    } else {
      for (std::int64_t tile = team.index(); tile < tiles; tile += team.league()) f(tile * items);
    }
  }

  /// Which items of a tile there are in this warp's lanes, and where the first of them is.
  struct share {
    std::int64_t at;
    int count;
  };
  static LANEWISE_FUNCTION share of_warp(const Team& team, std::int64_t first, std::int64_t size) {
    const std::int64_t at = first + std::int64_t{team.warp_index()} * width;
    const std::int64_t left = size - at;
    return {at, static_cast<int>(left < 0 ? 0 : left < width ? left : width)};
  }

 private:
  static LANEWISE_FUNCTION std::int64_t draw(const Team& team, scratch& shared,
                                             frontier_counters& counters) {
    const auto warp = team.warp();
    if (team.warp_index() == 0) {
      const auto mine =
          static_cast<std::int64_t>(warp.fetch_add(counters.tickets, std::uint64_t{1}));
      warp.once([&] { shared.ticket = mine; });
    }
    team.barrier();
    const std::int64_t ticket = shared.ticket;
    team.barrier();
    return ticket;
  }

  std::int64_t drawn_ = 0;
};

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
