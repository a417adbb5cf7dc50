// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/bfs_policy.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

// What drops vertices that others of the warp or the team have, too (Merrill, 6.4.3). Of equal
// vertices one stays at least, if nothing else drops it afterwards.

/// A table of 128 places for each warp (listing 11). A lane stays that finds another vertex than
/// its own in its place. One of the lanes stays that find their vertex there. Fences keep the four
/// steps apart: without them a lane may overwrite what another reads back, and a vertex is lost.
template <class Team, class Vertex>
struct cull_by_hash {
  static constexpr std::uint32_t places = 128;
  struct scratch {
    Vertex table[Team::warps][places];
  };

  template <class Mask, class Vertices>
  static LANEWISE_FUNCTION Mask stay(const Team& team, scratch& shared, const Mask& mask,
                                     const Vertices& vertex) {
    const auto warp = team.warp();
    Vertex* table = shared.table[team.warp_index()];
    const auto place =
        warp.map([](Vertex v) { return static_cast<std::uint32_t>(v % places); }, vertex);
    const auto lane = warp.template cast<Vertex>(warp.lane());
    warp.fence();
    // Lanes may meet in a place. For plain stores racecheck reports that.
    warp.template exchange<order::relaxed, scope::team>(mask, table, place, vertex);
    warp.fence();
    const Mask mine = mask & (warp.gather(mask, table, place, Vertex{0}) == vertex);
    warp.fence();
    warp.template exchange<order::relaxed, scope::team>(mine, table, place, lane);
    warp.fence();
    const auto winner = warp.gather(mine, table, place, Vertex{0});
    return mask & !(mine & (winner != lane));
  }
};

/// Among equal vertices, the one in the lowest lane stays.
template <class Team, class Vertex>
struct cull_by_match {
  struct scratch {};

  template <class Mask, class Vertices>
  static LANEWISE_FUNCTION Mask stay(const Team& team, scratch&, const Mask& mask,
                                     const Vertices& vertex) {
    const auto warp = team.warp();
    const auto equal = warp.match_any(mask, vertex);
    return mask & ((equal & warp.lanes_below()) == typename Team::warp_type::bits{0});
  }
};

struct cull_nothing {
  struct scratch {};

  template <class Team, class Mask, class Vertices>
  static LANEWISE_FUNCTION Mask stay(const Team&, scratch&, const Mask& mask, const Vertices&) {
    return mask;
  }
};

/// A team's cache of vertices, each in the one place that its number says. A lane that finds its
/// vertex there is dropped: a lane that did not find it has put it there, and stays. So nothing may
/// drop a vertex after this. As a place is read and written at once, warps need no order.
template <class Team, class Vertex>
struct cull_by_history {
  static constexpr int places = 1024;
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});
  struct scratch {
    Vertex cache[places];
  };

  /// All warps call it, before a barrier.
  static LANEWISE_FUNCTION void init(const Team& team, scratch& shared) {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    for (int at = team.warp_index() * width; at < places; at += Team::warps * width)
      warp.store(shared.cache + at, typename Team::warp_type::template lanes<Vertex>(no_vertex));
  }
  template <class Mask, class Vertices>
  static LANEWISE_FUNCTION Mask stay(const Team& team, scratch& shared, const Mask& mask,
                                     const Vertices& vertex) {
    const auto warp = team.warp();
    const auto place =
        warp.map([](Vertex v) { return static_cast<std::uint32_t>(v % places); }, vertex);
    const auto before =
        warp.template exchange<order::relaxed, scope::team>(mask, shared.cache, place, vertex);
    return mask & (before != vertex);
  }
};

template <bfs_warp_cull how, class Team, class Vertex>
using warp_cull = std::conditional_t<
    how == bfs_warp_cull::by_hash, cull_by_hash<Team, Vertex>,
    std::conditional_t<how == bfs_warp_cull::by_match, cull_by_match<Team, Vertex>, cull_nothing>>;

struct no_history : cull_nothing {
  template <class Team>
  static LANEWISE_FUNCTION void init(const Team&, scratch&) {}
};
template <bool used, class Team, class Vertex>
using history_cull = std::conditional_t<used, cull_by_history<Team, Vertex>, no_history>;

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
