// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/macros.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

/// What a search has done for the vertices of one level.
struct bfs_level_counts {
  std::uint64_t vertices = 0;         ///< that have this level
  std::uint64_t edges = 0;            ///< that lead from them
  std::uint64_t examined = 0;         ///< edges to vertices that were looked up
  std::uint64_t after_bitmap = 0;     ///< of these, those whose bit was not found set
  std::uint64_t after_levels = 0;     ///< of these, to a vertex that had no level
  std::uint64_t after_warp_cull = 0;  ///< of these, to a vertex that no other lane of the warp had
  std::uint64_t expanded = 0;         ///< of these, to a vertex that the team did not remember
  std::uint64_t expanded_edges = 0;   ///< edges from these: more than `edges` where some came twice
  /// Words of 4 or 8 bytes, as vertices and row begins have, that were read and written: queues,
  /// columns, row begins, levels, and one of the bitmap or the levels for each look-up.
  std::uint64_t words = 0;
};

namespace detail {

/// Counts of a level by a warp.
template <bool wanted>
class frontier_counts {
 public:
  using member = std::uint64_t bfs_level_counts::*;

  template <class W, class Mask>
  LANEWISE_FUNCTION void add(const W& warp, member which, const Mask& mask) {
    here_.*which += static_cast<std::uint64_t>(warp.count(mask));
  }
  LANEWISE_FUNCTION void add(member which, std::int64_t x) {
    here_.*which += static_cast<std::uint64_t>(x);
  }
  /// To the row of a level; the last row has all further levels.
  template <class W>
  LANEWISE_FUNCTION void flush(const W& warp, bfs_level_counts* rows, std::int64_t count,
                               std::int64_t level) {
    bfs_level_counts& row = rows[level < count ? level : count - 1];
    for (const member which :
         {&bfs_level_counts::examined, &bfs_level_counts::after_bitmap,
          &bfs_level_counts::after_levels, &bfs_level_counts::after_warp_cull,
          &bfs_level_counts::expanded, &bfs_level_counts::expanded_edges, &bfs_level_counts::words})
      if (here_.*which != 0) warp.fetch_add(row.*which, here_.*which);
    here_ = {};
  }

 private:
  bfs_level_counts here_;
};

template <>
class frontier_counts<false> {
 public:
  template <class... Args>
  LANEWISE_FUNCTION void add(const Args&...) {}
  template <class... Args>
  LANEWISE_FUNCTION void flush(const Args&...) {}
};

/// Vertices and edges of each level, when a search is done.
template <class Team, class Vertex, class Offset>
LANEWISE_FUNCTION void count_levels(const Team& team, const graph_rows<Vertex, Offset>& graph,
                                    const std::int32_t* levels, bfs_level_counts* rows,
                                    std::int64_t count) {
  using warp_type = typename Team::warp_type;
  constexpr int width = warp_type::width;
  const auto warp = team.warp();
  const auto n = static_cast<std::int64_t>(graph.vertices);
  const std::int64_t step = std::int64_t{team.league()} * Team::warps * width;
  for (std::int64_t at = (std::int64_t{team.index()} * Team::warps + team.warp_index()) * width;
       at < n; at += step) {
    const auto there = warp.first(n - at);
    const auto vertex = warp.template cast<Vertex>(warp.lane()) +
                        typename warp_type::template lanes<Vertex>(static_cast<Vertex>(at));
    const auto level = warp.load(there, levels + at, std::int32_t{-1});
    const auto edges = warp.template cast<std::uint64_t>(graph.of(warp, there, vertex).length);
    for (auto todo = warp.ballot(level >= 0); todo != 0;) {
      const std::int32_t l = warp.broadcast(level, warp_type::lowest(todo));
      const auto same = level == l;
      bfs_level_counts& row = rows[l < count ? l : count - 1];
      warp.fetch_add(row.vertices, static_cast<std::uint64_t>(warp.count(same)));
      using words = lanes_t<warp_type, std::uint64_t>;
      warp.fetch_add(row.edges,
                     warp.reduce(lanewise::select(same, edges, words(std::uint64_t{0})), plus{}));
      todo &= ~warp.ballot(same);
    }
  }
}

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
