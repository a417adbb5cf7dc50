// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/bfs_task.hpp>
#include <lanewise/graphs/detail/words_of_vertices.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Finds the parents of vertices that were reached by relaxation, which may lower a level several
/// times: the least of the neighbours whose level is one less.
template <class Team, class Vertex, class Offset>
class relaxation_parents {
  using warp_type = typename Team::warp_type;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using frontier_type = frontier<Team, Vertex, Offset, Vertex>;
  using piece = typename frontier_type::piece;
  static constexpr int at_once = frontier_type::at_once;
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});

 public:
  using task = bfs_task<Vertex, Offset>;

  LANEWISE_KERNEL_FUNCTION relaxation_parents(const Team& team, const task& t)
      : team_(team), task_(t) {}

  /// Reads the rows of what was reached by relaxation, and of the frontier before, at `depth`.
  LANEWISE_KERNEL_FUNCTION void find(std::int32_t depth, const frontier_type& frontier) const {
    detail::for_each_word_batch(
        team_, static_cast<std::int64_t>(task_.out.vertices),
        [&](std::int64_t first, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto warp = team_.warp();
          for (auto todo = warp.ballot(there); todo != 0; todo &= todo - 1) {
            const auto vertex = detail::vertices_of<Vertex>(warp, first + warp_type::lowest(todo));
            const auto level = warp.gather(vertex < task_.out.vertices, task_.depths(), vertex, 0u);
            const mask_type open = (level >= static_cast<std::uint32_t>(depth)) & (level != ~0u);
            if (!warp.any(open)) continue;
            const auto row = task_.out.of(warp, open, vertex);
            frontier.for_each_edge_of(warp.map(
                                          [](Offset b, Offset l, Vertex v) {
                                            return piece{b, l, v};
                                          },
                                          row.begin, row.length, vertex),
                                      *this);
          }
        });
  }
  /// Edges of these.
  LANEWISE_KERNEL_FUNCTION void operator()(const mask_type (&there)[at_once],
                                           const lanes<Vertex>& from,
                                           const lanes<Offset> (&edge)[at_once]) const {
    const auto warp = team_.warp();
    const auto next = warp.gather(there[0], task_.depths(), from, 0u) + lanes<std::uint32_t>(1u);
    for (int k = 0; k < at_once; ++k) {
      const auto to = warp.gather(there[k], task_.out.columns, edge[k], no_vertex);
      const mask_type valid = there[k] & (to < task_.out.vertices);
      const auto level = warp.gather(valid, task_.depths(), to, 0u);
      warp.fetch_min(valid & (level == next), task_.parents, to, from);
    }
  }

 private:
  const Team& team_;
  const task& task_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
