// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/graphs/detail/frontier.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// A batch of searches is four launches. The last three mostly find nothing to do:
//
// shared   all searches go on together, as bits of words (batch_search). They stop where they have
//          little in common.
// apart    each begins anew by itself, beside the others (independent_bfs), as long as its
// frontiers
//          are small.
// order    levels of searches apart go where they belong (order_levels).
// shared   searches whose frontiers are not small, once more.

/// Numbers of a launch of shared searches, all 0 before the launch.
template <class Offset>
struct shared_counts {
  std::uint64_t* meetings;  // league_sums::words
  Offset* pieces;           // of all rounds
  Offset* listed;           // 4, by turns
  std::uint64_t* alive;     // 4, by turns: which searches have reached anything in a level
};

/// Searches apart count on lines of their own.
template <class Offset>
inline constexpr std::int64_t counter_stride = 128 / std::int64_t{sizeof(Offset)};

template <class Vertex, class Offset>
struct batch_memory {
  shared_counts<Offset> counts[2];        // of both launches of shared searches
  std::uint64_t* to_do;                   // 2: searches to be done apart, and once more
  std::uint64_t* meetings;                // of searches apart, each its words
  Offset* counters;                       // of their lists, 3 for each by turns
  edge_piece<Vertex, Offset>* pieces[2];  // by turns; vertices, of searches apart
  std::int64_t room;                      // of pieces, batch_pieces
  std::uint64_t* seen;       // a word for each vertex: a bit for each search that has reached it
  std::uint64_t* fresh;      // 3 by turns: searches that reached it in one level
  Vertex* lists;             // 3 by turns: vertices that have fresh bits
  std::int32_t* own_levels;  // of threads that search apart: a level for each vertex
  Vertex* own_queues;        // and a place for each, and one more
};

template <class Vertex, class Offset>
struct batch_task {
  graph_rows<Vertex, Offset> out;
  graph_rows<Vertex, Offset> into;  // without begins: not known
  const Vertex* sources;
  int searches;
  std::int32_t* levels;  // searches for each vertex
  std::int32_t most_depth;
  batch_memory<Vertex, Offset> memory;
  status* errors;
};

/// How many pieces of edges a batch has room for. Searches apart have an equal share each for a
/// list of vertices: a 64th of all vertices and 1024 more, while a frontier of a square lattice is
/// at most twice the root.
constexpr std::int64_t batch_pieces(std::int64_t vertices, std::int64_t edges) {
  return most_edge_pieces(vertices, edges) + 64 * 1024;
}

}  // namespace detail
LANEWISE_END_NAMESPACE
