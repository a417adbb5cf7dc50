// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/bfs_task.hpp>
#include <lanewise/graphs/detail/neighbours.hpp>
#include <lanewise/graphs/detail/words_of_vertices.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Returns for each active lane's row a neighbour that is reached, or no_vertex. Lanes read the
/// first few by themselves, which is enough for most where frontiers are wide; then the warp helps.
template <class W, class Vertex, class Offset, class Mask, class Ranges>
LANEWISE_KERNEL_FUNCTION auto find_reached(const W& warp, const graph_rows<Vertex, Offset>& rows,
                                           const std::uint32_t* bits, const Mask& open,
                                           const Ranges& row, Vertex no_vertex) {
  using offsets = lanes_t<W, Offset>;
  using vertices = lanes_t<W, Vertex>;
  constexpr int at_once = 4, rounds = 2;
  vertices found(no_vertex);
  auto next = row.begin;
  const auto end = row.begin + row.length;
  auto looking = open & (next < end);
  for (int round = 0; round < rounds && warp.any(looking); ++round) {
    vertices neighbour[at_once];
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const auto place = next + offsets(static_cast<Offset>(k));
      neighbour[k] = warp.gather(looking & (place < end), rows.columns, place, no_vertex);
    }
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      found = lanewise::select(
          detail::is_reached(warp, bits, neighbour[k] < rows.vertices, neighbour[k]), neighbour[k],
          found);
    next = next + offsets(Offset{at_once});
    looking = looking & (found == no_vertex) & (next < end);
  }
  for (auto todo = warp.ballot(looking); todo != 0; todo &= todo - 1) {
    const int l = W::lowest(todo);
    const Vertex by = detail::find_reached_along(warp, rows, bits, warp.broadcast(next, l),
                                                 warp.broadcast(end, l), no_vertex);
    found = lanewise::select(warp.lane() == static_cast<std::uint32_t>(l), vertices(by), found);
  }
  return found;
}

/// bottom_up for threads of hosts: a word of 32 vertices at a time. Its new bits are stored, where
/// bottom_up sets them by atomic operations, and nothing waits in scratch. (16 threads, kron.22:
/// 8 ms instead of 14.)
template <class Team, class Vertex, class Offset>
class bottom_up_bitmap {
  using warp_type = typename Team::warp_type;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using edge_sums = lanes<std::uint64_t>;
  using bits = typename warp_type::bits;
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});
  static constexpr int words_ahead = 3;  // whose columns are asked for

 public:
  using task = bfs_task<Vertex, Offset>;

  LANEWISE_KERNEL_FUNCTION bottom_up_bitmap(const Team& team, const task& t,
                                            const std::uint32_t* before, std::uint32_t* after)
      : team_(team), task_(t), before_(before), after_(after) {}

  /// As that of bottom_up: the vertices that are found get level `depth`. Returns how many edges
  /// lead from the vertices that this warp has found.
  LANEWISE_FUNCTION std::uint64_t search(std::int32_t depth, edge_piece<Vertex, Offset>*) const {
    edge_sums edges(std::uint64_t{0});
    detail::for_each_word_batch(
        team_, static_cast<std::int64_t>(task_.out.vertices),
        [&](std::int64_t first, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto warp = team_.warp();
          const auto old = warp.load(there, before_ + first, ~0u);
          auto now = old;
          auto ahead = warp.ballot(old != ~0u);
          for (int i = 0; i < words_ahead; ++i) ask_for_next(first, old, ahead);
          for (auto todo = warp.ballot(old != ~0u); todo != 0; todo &= todo - 1) {
            const int l = warp_type::lowest(todo);
            ask_for_next(first, old, ahead);
            const std::uint32_t word = look_around(first + l, warp.broadcast(old, l), depth, edges);
            now = lanewise::select(warp.lane() == static_cast<std::uint32_t>(l),
                                   lanes<std::uint32_t>(word), now);
          }
          warp.store(there, after_ + first, now);
        });
    return team_.warp().reduce(edges, plus{});
  }

 private:
  /// The vertices of a word that have a neighbour with a bit are reached. Returns the word's new
  /// bits. Vertices without edges have one then, too, so that no lane looks at them again.
  LANEWISE_KERNEL_FUNCTION std::uint32_t look_around(std::int64_t at, std::uint32_t word,
                                                     std::int32_t depth, edge_sums& found) const {
    const auto warp = team_.warp();
    const auto vertex = detail::vertices_of<Vertex>(warp, at);
    const auto open = warp.template mask_of<std::uint32_t>(~word) & (vertex < task_.out.vertices);
    const auto row = task_.into.from(warp, open, static_cast<Vertex>(at * 32));
    const auto parent = detail::find_reached(warp, task_.into, before_, open, row, no_vertex);
    const auto reached = open & (parent != no_vertex);
    if (warp.any(reached)) {
      task_.record(warp, reached, vertex, parent, depth);
      const auto edges = are_same() ? row.length : task_.out.of(warp, reached, vertex).length;
      found = found + warp.template cast<std::uint64_t>(
                          lanewise::select(reached, edges, lanes<Offset>(Offset{0})));
    }
    const auto none = open & (row.length == Offset{0});
    return word | warp.ballot(reached) | (warp.any(none) ? without_edges(none, vertex) : 0);
  }
  /// Asks for the first columns of the next of these words' vertices. (One core, 2^20
  /// vertices: bfs kron 30 to 23 ms, urand 57 to 48.)
  LANEWISE_KERNEL_FUNCTION void ask_for_next(std::int64_t first, const lanes<std::uint32_t>& old,
                                             bits& ahead) const {
    if (ahead == 0) return;
    const auto warp = team_.warp();
    const int l = warp_type::lowest(ahead);
    ahead &= ahead - 1;
    const auto open = warp.template mask_of<std::uint32_t>(~warp.broadcast(old, l)) &
                      (detail::vertices_of<Vertex>(warp, first + l) < task_.out.vertices);
    const auto row = task_.into.from(warp, open, static_cast<Vertex>((first + l) * 32));
    warp.prefetch(open & (row.length != Offset{0}), task_.into.columns, row.begin);
  }
  LANEWISE_KERNEL_FUNCTION bool are_same() const { return task_.out.begins == task_.into.begins; }
  /// Which of the active lanes' vertices, into which no edge leads, have none at all.
  LANEWISE_KERNEL_FUNCTION std::uint32_t without_edges(const mask_type& mask,
                                                       const lanes<Vertex>& vertex) const {
    const auto warp = team_.warp();
    const auto none =
        are_same() ? mask : mask & (task_.out.of(warp, mask, vertex).length == Offset{0});
    task_.record(warp, none, vertex, lanes<Vertex>(no_vertex), -1);
    return warp.ballot(none);
  }

  const Team& team_;
  const task& task_;
  const std::uint32_t* before_;
  std::uint32_t* after_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
