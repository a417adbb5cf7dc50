// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/distances.hpp>
#include <lanewise/graphs/detail/frontier.hpp>
#include <lanewise/graphs/detail/sources.hpp>
#include <lanewise/graphs/detail/windows_of_items.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

template <class Vertex, class Offset, class Weight>
struct parent_task {
  using bits = typename distances<Weight>::bits;

  graph_rows<Vertex, Offset> rows;
  const Weight* weights;
  search_sources<Vertex> sources;
  const bits* distance;
  Vertex* parents;
  frontier_memory<Vertex, Offset> memory;  // without `listed`
  std::uint32_t* found_in;                 // for each vertex, the round in which it got a parent
};

/// Parents of vertices whose distances are known. An edge (u, v) of weight w is tight if
/// `distance(u) + w == distance(v)`. The teams are resident, with a barrier after each step:
///
///   list    the rows of all vertices that are reached go to the queue.
///   strict  the tight edges from lesser distances are looked at. The least vertex that they come
///           from is the parent.
///   count   vertices that have none yet: their tight edges are from distances as great as theirs,
///           since weights are 0, or rounded away.
///   equal   in rounds: such an edge from a vertex that had a parent before this round. So there is
///           no cycle: distances fall along parents, or rounds do.
template <class Team, class Vertex, class Offset, class Weight>
class parent_search {
  using warp_type = typename Team::warp_type;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using words = lanes<std::uint32_t>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using frontier_type = frontier<Team, Vertex, Offset, Vertex>;
  using distance = distances<Weight>;
  using bits = typename distance::bits;
  static constexpr int at_once = frontier_type::at_once;
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});
  static constexpr std::uint32_t never = ~std::uint32_t{0};

 public:
  using task = parent_task<Vertex, Offset, Weight>;
  struct scratch {
    typename frontier_type::scratch frontier;
  };

  LANEWISE_FUNCTION parent_search(const Team& team, scratch& shared, const task& t)
      : team_(team), task_(t), frontier_(team, shared.frontier, t.memory, t.rows) {}

  LANEWISE_FUNCTION void run() {
    list();
    frontier_.end_round(0);
    visit<false> strict{*this};
    frontier_.visit_edges(1, strict);
    mark_sources();
    frontier_.all_reduce();
    count();
    if (frontier_.all_reduce()[0] == 0) return;
    do {
      ++round_;
      visit<true> equal{*this};
      frontier_.visit_edges(1, equal);
      frontier_.end_round(0);
    } while (frontier_.edges() != 0);
  }

 private:
  LANEWISE_FUNCTION std::int64_t vertices() const {
    return static_cast<std::int64_t>(task_.rows.vertices);
  }

  LANEWISE_FUNCTION void list() {
    detail::for_each_window_of(
        team_, vertices(), [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto warp = team_.warp();
          const auto d = warp.load(there, task_.distance + at, distance::most());
          const mask_type reached = d < distance::most();
          const auto vertex =
              warp.template cast<Vertex>(warp.lane()) + lanes<Vertex>(static_cast<Vertex>(at));
          warp.store(there, task_.parents + at, lanes<Vertex>(no_vertex));
          frontier_.push(reached, vertex, task_.rows.of(warp, reached, vertex));
        });
  }
  LANEWISE_FUNCTION void mark_sources() const {
    detail::for_each_window_of(team_, task_.sources.count,
                               [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
                                 const auto warp = team_.warp();
                                 const auto vertex = task_.sources.load(warp, there, at);
                                 warp.fetch_min(there & (vertex < task_.rows.vertices),
                                                task_.parents, vertex, vertex);
                               });
  }
  LANEWISE_FUNCTION void count() {
    std::uint64_t left = 0;
    detail::for_each_window_of(
        team_, vertices(), [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto warp = team_.warp();
          const auto without = warp.load(there, task_.parents + at, Vertex{0}) == no_vertex;
          const auto d = warp.load(there, task_.distance + at, distance::most());
          left += static_cast<std::uint64_t>(warp.count(without & (d < distance::most())));
          warp.store(there, task_.found_in + at,
                     lanewise::select(without, words(never), words(0u)));
        });
    frontier_.count(left);
  }

  /// Looks at tight edges, of equal distances or of lesser ones.
  template <bool equal>
  struct visit {
    parent_search& search;

    LANEWISE_FUNCTION void filter_edges(const mask_type (&there)[at_once],
                                        const lanes<Vertex>& from,
                                        const lanes<Offset> (&edge)[at_once],
                                        mask_type (&open)[at_once], lanes<Vertex> (&to)[at_once],
                                        lanes<Vertex> (&value)[at_once]) const {
      search.template find_tight<equal>(there, from, edge, open, to);
      if constexpr (equal)
        search.keep_of_round(from, open, to);
      else
        search.keep_lesser(from, open, to);
      LANEWISE_UNROLL
      for (int k = 0; k < at_once; ++k) value[k] = from;
    }
    /// Which have the first parent that they get in a round.
    LANEWISE_FUNCTION mask_type try_visit(const mask_type& active, const lanes<Vertex>& vertex,
                                          const lanes<Vertex>& from) const {
      const auto warp = search.team_.warp();
      warp.fetch_min(active, search.task_.parents, vertex, from);
      if constexpr (!equal) return warp.first(0);
      const words round(search.round_);
      return active & (warp.fetch_min(active, search.task_.found_in, vertex, round) > round);
    }
  };
  template <bool equal>
  LANEWISE_FUNCTION void find_tight(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                                    const lanes<Offset> (&edge)[at_once],
                                    mask_type (&tight)[at_once],
                                    lanes<Vertex> (&to)[at_once]) const {
    const auto warp = team_.warp();
    const auto before = warp.gather(there[0], task_.distance, from, distance::most());
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      to[k] = warp.gather(there[k], task_.rows.columns, edge[k], no_vertex);
      const auto weight = warp.gather(there[k], task_.weights, edge[k], Weight{0});
      const auto sum =
          warp.map([](bits d, Weight w) { return distance::sum(d, w); }, before, weight);
      const auto good =
          warp.map([](Weight w) -> std::uint32_t { return !distance::is_bad(w); }, weight);
      const mask_type open = there[k] & (to[k] < task_.rows.vertices) & (good != 0u) &
                             (sum < distance::most()) & (equal ? sum == before : before < sum);
      tight[k] = open & (warp.gather(open, task_.distance, to[k], bits{0}) == sum);
    }
  }
  LANEWISE_FUNCTION void keep_lesser(const lanes<Vertex>& from, mask_type (&open)[at_once],
                                     const lanes<Vertex> (&to)[at_once]) const {
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      open[k] =
          open[k] & (team_.warp().load_relaxed(open[k], task_.parents, to[k], Vertex{0}) > from);
  }
  /// In the first round, edges of all vertices come, with parents and without.
  LANEWISE_FUNCTION void keep_of_round(const lanes<Vertex>& from, mask_type (&open)[at_once],
                                       const lanes<Vertex> (&to)[at_once]) const {
    const auto warp = team_.warp();
    mask_type any = warp.first(0);
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) any = any | open[k];
    const mask_type known = warp.load_relaxed(any, task_.found_in, from, never) < round_;
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const mask_type mine = open[k] & known;
      open[k] = mine & (warp.load_relaxed(mine, task_.found_in, to[k], 0u) >= round_);
    }
  }

  const Team& team_;
  const task& task_;
  frontier_type frontier_;
  std::uint32_t round_ = 0;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
