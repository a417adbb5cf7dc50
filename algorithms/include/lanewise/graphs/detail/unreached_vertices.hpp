// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/bfs_task.hpp>
#include <lanewise/graphs/detail/relaxation.hpp>
#include <lanewise/graphs/detail/words_of_vertices.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Vertices without a bit: no level has reached them.
template <class Team, class Vertex, class Offset>
class unreached_vertices {
  using warp_type = typename Team::warp_type;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using words = lanes<std::uint32_t>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});

 public:
  using task = bfs_task<Vertex, Offset>;

  LANEWISE_KERNEL_FUNCTION unreached_vertices(const Team& team, const task& t)
      : team_(team), task_(t) {}

  /// Writes that they are not reached. Where the search goes on, from a frontier at `depth`, all
  /// vertices get a depth, and are not in any list.
  LANEWISE_KERNEL_FUNCTION void write(const std::uint32_t* bits, bool goes_on,
                                      std::int32_t depth) const {
    detail::for_each_word_batch(
        team_, static_cast<std::int64_t>(task_.out.vertices),
        [&](std::int64_t first, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto warp = team_.warp();
          const auto open = ~warp.load_relaxed(there, bits + first, warp.lane(), ~0u);
          for (auto todo = warp.ballot(goes_on ? there : there & (open != 0u)); todo != 0;
               todo &= todo - 1) {
            const int l = warp_type::lowest(todo);
            const auto vertex = detail::vertices_of<Vertex>(warp, first + l);
            const mask_type valid = vertex < task_.out.vertices;
            const mask_type others = warp.template mask_of<std::uint32_t>(warp.broadcast(open, l));
            task_.record(warp, others & valid, vertex, lanes<Vertex>(no_vertex), -1);
            if (goes_on) prepare(valid, others, vertex, static_cast<std::uint32_t>(depth));
          }
        });
  }

 private:
  LANEWISE_KERNEL_FUNCTION void prepare(const mask_type& valid, const mask_type& others,
                                        const lanes<Vertex>& vertex, std::uint32_t depth) const {
    const auto warp = team_.warp();
    warp.scatter(valid, task_.memory.frontier.listed, vertex, words(0u));
    // No depth of a vertex that is reached is lowered any more.
    if (task_.levels == nullptr)
      warp.scatter(valid, task_.depths(), vertex,
                   lanewise::select(others, words(unit_edges::none()), words(depth)));
  }

  const Team& team_;
  const task& task_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
