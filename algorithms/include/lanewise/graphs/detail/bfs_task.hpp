// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/graphs/detail/frontier.hpp>
#include <lanewise/graphs/detail/sources.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a search has in memory. bits[0] is zero before the launch.
template <class Vertex, class Offset>
struct bfs_memory {
  frontier_memory<Vertex, Offset> frontier;
  std::uint32_t* bits[2];  // a bit for each vertex that is reached; by turns
  std::uint32_t* depths;   // used where only parents are asked for
};

template <class Vertex, class Offset>
struct bfs_task {
  graph_rows<Vertex, Offset> out;
  graph_rows<Vertex, Offset> into;  // without begins: not known
  search_sources<Vertex> sources;
  std::int32_t* levels;  // null, or for results
  Vertex* parents;
  std::int32_t most_depth;
  bfs_memory<Vertex, Offset> memory;
  status* errors;

  /// Levels are numbers without sign here; the greatest number means not reached.
  LANEWISE_KERNEL_FUNCTION std::uint32_t* depths() const {
    return levels != nullptr ? reinterpret_cast<std::uint32_t*>(levels) : memory.depths;
  }
  /// Records `depth` and the parents of the active lanes' vertices.
  template <class W, class Mask, class Lanes>
  LANEWISE_KERNEL_FUNCTION void record(const W& warp, const Mask& mask, const Lanes& vertex,
                                       const Lanes& parent, std::int32_t depth) const {
    if (levels != nullptr)
      warp.scatter(mask, levels, vertex, typename W::template lanes<std::int32_t>(depth));
    if (parents != nullptr) warp.scatter(mask, parents, vertex, parent);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
