// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/names.hpp>
#include <lanewise/team/policy.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

// The choices of bfs_by_frontiers.hpp, those of Merrill's dissertation (6.4 and 6.5).

/// What a level is made of.
enum class bfs_strategy {
  expand_contract,  ///< from queued vertices to queued vertices: 2 n words of queues
  contract_expand,  ///< from queued edges to queued edges: 2 m words
  two_phase,        ///< from edges to vertices, and from these to edges: n + m words
  /// A level of more edges than there are resident threads goes in two phases, others contract and
  /// expand at once: 2 m words.
  hybrid
};

/// How the rows of a team's vertices are read.
enum class bfs_gathering {
  by_lanes,  ///< a lane reads its own row
  by_warps,  ///< a warp reads the rows of its lanes, one after the other
  by_scan,   ///< a prefix sum gives the edges of a team's rows to its lanes, one each
  by_team    ///< the team's edges are shared evenly; in a share long rows are read whole
};

/// What is looked at before a vertex's level. A bit that is set says that the vertex was
/// reached.
enum class bfs_bitmap {
  none,
  best_effort,  ///< bytes are stored as they are: some bits get lost, and levels tell
  exact         ///< atomic operations: a vertex is found new once
};

/// What drops vertices that a warp has several times at once.
enum class bfs_warp_cull {
  none,
  by_hash,  ///< a table of 128 places for each warp, which misses some
  by_match  ///< the warp's match_any, which misses none
};

/// The fastest on an H200. With as many threads as these have, teams meet a vertex at once in
/// levels that all fit into one wave. Then only exact bits keep the teams apart (docs/graphs.md).
struct bfs_policy : launch_policy {
  static constexpr int warps = 8;
  static constexpr int teams_per_multiprocessor = 4;
  static constexpr bfs_strategy strategy = bfs_strategy::hybrid;
  static constexpr bfs_gathering gathering = bfs_gathering::by_team;
  static constexpr bfs_bitmap bitmap = bfs_bitmap::exact;
  static constexpr bfs_warp_cull warp_cull = bfs_warp_cull::none;
  /// A team remembers vertices that it has had, in a cache in scratch, and drops them.
  static constexpr bool history_cull = false;
  /// Teams take the next tile of a queue when they are done with one, or else even shares.
  static constexpr bool steals_tiles = false;
};

/// The paper's best: hybrid, without atomic operations on bits, and with all culls.
struct bfs_paper_policy : bfs_policy {
  static constexpr bfs_bitmap bitmap = bfs_bitmap::best_effort;
  static constexpr bfs_warp_cull warp_cull = bfs_warp_cull::by_hash;
  static constexpr bool history_cull = true;
};

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
