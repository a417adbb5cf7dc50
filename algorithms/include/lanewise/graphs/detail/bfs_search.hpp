// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/bottom_up.hpp>
#include <lanewise/graphs/detail/host/bottom_up_bitmap.hpp>
#include <lanewise/graphs/detail/neighbours.hpp>
#include <lanewise/graphs/detail/relaxation.hpp>
#include <lanewise/graphs/detail/relaxation_parents.hpp>
#include <lanewise/graphs/detail/unreached_vertices.hpp>
#include <lanewise/graphs/detail/windows_of_items.hpp>
#include <lanewise/graphs/detail/words_of_vertices.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Breadth-first search from one vertex or several, by teams that are all resident and have a
/// barrier after each step. The steps:
///
/// begin      the sources are the first frontier.
/// top_down   each edge of the frontier leads to a vertex, whose bit is set by an atomic operation.
///            The lane that sets it first lists the vertex's row for the next level.
/// bottom_up  each vertex that is not reached looks for a neighbour that is.
/// list       what was reached bottom up becomes a frontier of rows.
/// unreached  vertices without a bit are marked as not reached. That is the end, unless 64 levels
/// in
///            a row were small; then:
/// relax      the rest is searched by relaxation, as shortest paths are. Levels need no barrier.
/// parents    the vertices that were reached by relaxation get their parents.
///
/// The lane that reaches a vertex writes its level and parent.
template <class Team, class Vertex, class Offset>
class bfs_search {
  using warp_type = typename Team::warp_type;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using bottom_up_type =
      std::conditional_t<Team::is_single_thread, bottom_up_bitmap<Team, Vertex, Offset>,
                         bottom_up<Team, Vertex, Offset>>;
  using frontier_type = frontier<Team, Vertex, Offset, Vertex>;
  using relaxation_type = relaxation<Team, Vertex, Offset, unit_edges, Vertex>;
  static constexpr int at_once = frontier_type::at_once;
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});

 public:
  using task = bfs_task<Vertex, Offset>;
  struct scratch {
    typename frontier_type::scratch frontier;
  };

  LANEWISE_KERNEL_FUNCTION bfs_search(const Team& team, scratch& shared, const task& t)
      : team_(team),
        task_(t),
        edges_left_(t.out.edges),
        frontier_(team, shared.frontier, t.memory.frontier, t.out),
        relaxation_(team, t.out, {}, t.depths(), t.errors) {}

  LANEWISE_KERNEL_FUNCTION void run() {
    for (step s = step::begin; s != step::end; s = next(s)) {
      switch (s) {
        case step::begin:
          begin();
          break;
        case step::top_down:
        case step::relax:
          relaxation_.begin_round(frontier_.edges(), true);
          frontier_.visit_edges(by_relaxation_ ? relaxation_.steps() : 1, *this);
          break;
        case step::bottom_up:
          side_ = 1 - side_;
          frontier_.count(bottom_up_type(team_, task_, bits_of(1 - side_), bits())
                              .search(depth_ + 1, frontier_.spare()));
          break;
        case step::list:
          list_frontier();
          break;
        case step::unreached:
          unreached_vertices<Team, Vertex, Offset>(team_, task_).write(bits(), !is_done(), depth_);
          break;
        default:
          relaxation_parents<Team, Vertex, Offset>(team_, task_).find(depth_, frontier_);
      }
      end_step(s);
    }
  }

  // The functions of a frontier's Visit. The value of an edge is the vertex it comes from; by
  // relaxation, the number of edges from a source.
  LANEWISE_KERNEL_FUNCTION void filter_edges(const mask_type (&there)[at_once],
                                             const lanes<Vertex>& from,
                                             const lanes<Offset> (&edge)[at_once],
                                             mask_type (&open)[at_once],
                                             lanes<Vertex> (&to)[at_once],
                                             lanes<Vertex> (&value)[at_once]) const {
    if (by_relaxation_) return relaxation_.filter_edges(there, from, edge, open, to, value);
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      to[k] = warp.gather(there[k], task_.out.columns, edge[k], no_vertex);
      value[k] = from;
    }
    task_.out.only_vertices(warp, there, to, task_.errors, open);
    // If frontiers are wide, most bits are set, and a read is cheaper.
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      open[k] = open[k] & !detail::is_reached<true>(warp, bits(), open[k], to[k]);
  }
  LANEWISE_KERNEL_FUNCTION mask_type try_visit(const mask_type& active, const lanes<Vertex>& vertex,
                                               const lanes<Vertex>& value) const {
    const auto warp = team_.warp();
    if (by_relaxation_) {
      const auto depth = warp.template cast<std::uint32_t>(value);
      return relaxation_.lower(active, vertex, depth) &
             (depth < static_cast<std::uint32_t>(task_.most_depth));
    }
    const auto bit = detail::bit_of_vertex(warp, vertex);
    const auto before = warp.fetch_or(active, bits(), detail::word_of_vertex(warp, vertex), bit);
    const mask_type fresh = active & ((before & bit) == 0u);
    task_.record(warp, fresh, vertex, value, depth_ + 1);
    return fresh;
  }

 private:
  enum class step { begin, top_down, bottom_up, list, unreached, relax, parents, end };

  static constexpr std::uint32_t alpha = 14;  // of devices
  static constexpr double edges_of_word = 6, edges_of_look = 0.25;
  static constexpr std::uint32_t narrow_edges_of_warp = 4;
  static constexpr int patience = 64;  // small levels before relaxation

  LANEWISE_KERNEL_FUNCTION bool is_small() const {
    return frontier_.edges() <= narrow_edges_of_warp * team_.league() * Team::warps;
  }
  /// Whether warps are faster without barriers. A thread of a host has more to do between them. One
  /// thread needs none. Measured: 16 threads search a lattice of 4096^2 in 187 ms level by level,
  /// by relaxation in 62.
  LANEWISE_KERNEL_FUNCTION bool is_narrow() const {
    if constexpr (!Team::is_single_thread) return is_small();
    return team_.league() > 1 && frontier_.edges() <= relaxation_type::small_edges(team_.league());
  }
  LANEWISE_KERNEL_FUNCTION bool pays_bottom_up() const {
    if (task_.into.begins == nullptr || is_small()) return false;
    if constexpr (Team::is_single_thread) return pays_thread_bottom_up();
    return frontier_.edges() > edges_left_ / alpha;
  }
  /// Bottom up a thread goes through all words of bits. Vertices look at edges until one leads into
  /// the frontier, or at all they have. Costs are in edges top down. (One core, 2^18 vertices, in
  /// times of top down: by alpha a small world 1.89 and a tree 1.58, so 1.00 and 1.01.)
  LANEWISE_KERNEL_FUNCTION bool pays_thread_bottom_up() const {
    const auto n = static_cast<double>(task_.out.vertices);
    const auto here = static_cast<double>(frontier_.edges());
    const auto left = static_cast<double>(edges_left_);
    const double vertices = left * n / static_cast<double>(task_.out.edges);
    const double words = vertices < n / 32 ? vertices : n / 32;
    const double looks = edges_of_look * left * vertices / (here + vertices);
    if (here > edges_of_word * words + looks) return true;
    // If vertices are reached in the order of their numbers, fewer words have some that are left.
    if (team_.league() > 1 || here <= edges_of_word * vertices / 32 + looks) return false;
    return here > edges_of_word * open_words() + looks;
  }
  /// About how many words of bits have vertices that are not reached. For a thread that is alone:
  /// others may set bits meanwhile.
  LANEWISE_KERNEL_FUNCTION double open_words() const {
    constexpr std::int64_t samples = 256;
    const std::int64_t words = divide_up(static_cast<std::int64_t>(task_.out.vertices), 32);
    const std::int64_t step = divide_up(words, samples);
    std::int64_t open = 0;
    for (std::int64_t w = 0; w < words; w += step) open += bits()[w] != ~0u;
    return static_cast<double>(open * step);
  }
  LANEWISE_KERNEL_FUNCTION bool is_done() const {
    return frontier_.edges() == 0 || depth_ >= task_.most_depth;
  }
  LANEWISE_KERNEL_FUNCTION std::uint32_t* bits() const { return bits_of(side_); }
  LANEWISE_KERNEL_FUNCTION std::uint32_t* bits_of(int side) const {
    return side != 0 ? task_.memory.bits[1] : task_.memory.bits[0];
  }

  /// What comes after a step. All teams know the same.
  LANEWISE_KERNEL_FUNCTION step next(step s) const {
    if (s == step::parents) return step::end;
    if (s == step::unreached) return is_done() ? step::end : step::relax;
    if (s == step::relax) {
      if (frontier_.edges() != 0) return step::relax;
      return task_.parents != nullptr ? step::parents : step::end;
    }
    if (is_done()) return step::unreached;
    if (pays_bottom_up()) return step::bottom_up;
    if (s == step::bottom_up) return step::list;
    return small_levels_ >= patience ? step::unreached : step::top_down;
  }

  LANEWISE_KERNEL_FUNCTION void end_step(step s) {
    if (s == step::unreached) {
      if (is_done()) return;
      by_relaxation_ = true;
      frontier_.list_once(true);
      frontier_.all_reduce();
      return;
    }
    // A thread that is alone keeps its rows (one core, lattice of 1024^2: 43 to 34 ms).
    int kept = s == step::relax ? relaxation_.kept() : 0;
    if constexpr (Team::is_single_thread)
      if (s != step::relax && team_.league() == 1) kept = frontier_type::own_rows;
    frontier_.end_round(kept);
    if (s == step::list || s == step::relax) return;
    const Offset edges = frontier_.edges();
    edges_left_ -= edges < edges_left_ ? edges : edges_left_;
    ++depth_;
    small_levels_ = is_narrow() ? small_levels_ + 1 : 0;
  }

  LANEWISE_KERNEL_FUNCTION void begin() {
    const auto warp = team_.warp();
    detail::for_each_window_of(
        team_, task_.sources.count,
        [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const lanes<Vertex> vertex[1] = {task_.sources.load(warp, there, at)};
          const mask_type open[1] = {task_.out.only_vertices(warp, there, vertex[0], task_.errors)};
          frontier_.add(open, vertex, vertex, *this);
        });
    frontier_.visit_all_ends(*this);
  }
  /// What the last level has reached bottom up becomes a frontier of rows.
  LANEWISE_KERNEL_FUNCTION void list_frontier() {
    detail::for_each_word_batch(
        team_, static_cast<std::int64_t>(task_.out.vertices),
        [&](std::int64_t first, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto warp = team_.warp();
          const auto fresh = warp.load(there, bits() + first, 0u) &
                             ~warp.load(there, bits_of(1 - side_) + first, 0u);
          for (auto todo = warp.ballot(fresh != 0u); todo != 0; todo &= todo - 1) {
            const int l = warp_type::lowest(todo);
            const auto vertex = detail::vertices_of<Vertex>(warp, first + l);
            const mask_type mask = warp.template mask_of<std::uint32_t>(warp.broadcast(fresh, l)) &
                                   (vertex < task_.out.vertices);
            frontier_.push(mask, vertex, task_.out.of(warp, mask, vertex));
          }
        });
  }

  const Team& team_;
  const task& task_;
  std::int32_t depth_ = -1;  // of the frontier
  bool by_relaxation_ = false;
  int small_levels_ = 0;  // one after the other
  Offset edges_left_;     // from vertices that are not reached yet
  int side_ = 0;
  frontier_type frontier_;
  relaxation_type relaxation_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
