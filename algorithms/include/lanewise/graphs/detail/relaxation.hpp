// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/graphs/detail/distances.hpp>
#include <lanewise/graphs/detail/frontier.hpp>
#include <lanewise/graphs/detail/sources.hpp>
#include <lanewise/graphs/detail/windows_of_items.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Edges that are as long as their weights.
template <class Weight>
struct weighted_edges {
  using bits = typename distances<Weight>::bits;

  const Weight* weights;

  /// So far from a source, and along an edge. `good` becomes false for weights that are none, and
  /// for sums that are not less than the greatest number.
  template <class W, class Mask, class Edges, class Bits>
  LANEWISE_FUNCTION Bits add(const W& warp, const Mask& there, const Edges& edge,
                             const Bits& before, Mask& good) const {
    const auto weight = warp.gather(there, weights, edge, Weight{0});
    const Bits sum =
        warp.map([](bits d, Weight w) { return distances<Weight>::sum(d, w); }, before, weight);
    good = good & (sum < distances<Weight>::most()) &
           (warp.map([](Weight w) -> std::uint32_t { return !distances<Weight>::is_bad(w); },
                     weight) != 0u);
    return sum;
  }
  static LANEWISE_FUNCTION bits none() { return distances<Weight>::most(); }
};

/// Edges that are 1 long.
struct unit_edges {
  using bits = std::uint32_t;

  template <class W, class Mask, class Edges, class Bits>
  LANEWISE_FUNCTION Bits add(const W&, const Mask&, const Edges&, const Bits& before,
                             const Mask&) const {
    return before + Bits(1u);
  }
  static LANEWISE_FUNCTION bits none() { return ~bits{0}; }
};

/// Rounds in which the edges of a frontier lower distances, by atomic minimums: a vertex whose
/// distance is lowered, and near, is in the next frontier. Whatever the order is, distances are
/// right when nothing is lowered any more. So in small rounds a warp goes on with what it has found
/// for several steps before the next barrier. Warps are about equally fast, so few distances are
/// lowered twice, and most within these steps are right at the barrier.
template <class Team, class Vertex, class Offset, class Edges, class Value>
class relaxation {
  using warp_type = typename Team::warp_type;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using frontier_type = frontier<Team, Vertex, Offset, Value>;
  using bits = typename Edges::bits;
  static constexpr int at_once = frontier_type::at_once;

  // H200, lattice of 4096^2, bfs: 73 ms with 1 step, 32 with 4, 23 with 8, 17 with 16, 13 with 64.
  static constexpr int steps_apart = 64;
  static constexpr int most_kept = 8;
  // A thread of a host takes the 2048 rows of a frontier of 8192 edges or so in 50 us, a barrier 2.
  static constexpr std::uint32_t small_edges_of_warp = Team::is_single_thread ? 8192 : 64;

 public:
  LANEWISE_FUNCTION relaxation(const Team& team, const graph_rows<Vertex, Offset>& rows,
                               const Edges& edges, bits* distance, status* errors)
      : team_(team), rows_(rows), edges_(edges), distance_(distance), errors_(errors) {}

  /// Visits the sources with the distance 0.
  template <class Visit>
  LANEWISE_FUNCTION void begin(const search_sources<Vertex>& sources, frontier_type& frontier,
                               Visit& visit) const {
    const auto warp = team_.warp();
    detail::for_each_window_of(
        team_, sources.count, [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const lanes<Vertex> vertex[1] = {sources.load(warp, there, at)};
          const mask_type open[1] = {rows_.only_vertices(warp, there, vertex[0], errors_)};
          const lanes<Value> zero[1] = {lanes<Value>(Value{0})};
          frontier.add(open, vertex, zero, visit);
        });
    frontier.visit_all_ends(visit);
  }

  /// The most edges of a round in which warps go on by themselves.
  static LANEWISE_FUNCTION Offset small_edges(std::uint32_t teams) {
    return static_cast<Offset>(Offset{small_edges_of_warp} * teams * Team::warps);
  }
  /// Begins a round of `edges` edges. may_part: warps may go on by themselves if it is small.
  LANEWISE_FUNCTION void begin_round(Offset edges, bool may_part) {
    is_small_ = edges <= small_edges(team_.league());
    is_apart_ = is_small_ && may_part;
    if constexpr (Team::is_single_thread) {
      const std::uint64_t degree = std::uint64_t{rows_.edges} / rows_.vertices + 1;
      share_ = is_apart_ ? static_cast<int>(edges / (degree * team_.league())) : 0;
    }
  }
  LANEWISE_FUNCTION bool is_small() const { return is_small_; }
  /// How many rounds a warp goes on for by itself, and how many rows it keeps after them.
  LANEWISE_FUNCTION int steps() const { return is_apart_ ? steps_apart : 1; }
  /// A thread of a host keeps its share, as what others go on with is not in its caches (16
  /// threads, a lattice of 4096^2: 98 ms if all rows are shared out, 62 so).
  LANEWISE_FUNCTION int kept() const {
    if constexpr (Team::is_single_thread) return share_;
    return is_apart_ ? most_kept : 0;
  }

  /// Says in `open` which of these edges may lower a distance, in `to` the vertex's number, and in
  /// `value` to what.
  LANEWISE_FUNCTION void filter_edges(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                                      const lanes<Offset> (&edge)[at_once],
                                      mask_type (&open)[at_once], lanes<Vertex> (&to)[at_once],
                                      lanes<Value> (&value)[at_once]) const {
    const auto warp = team_.warp();
    const auto before = warp.load_relaxed(there[0], distance_, from, Edges::none());
    lanes<bits> sum[at_once];
    mask_type bad = warp.first(0);
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      to[k] = warp.gather(there[k], rows_.columns, edge[k], Vertex{0});
      open[k] = there[k] & (to[k] < rows_.vertices);
      sum[k] = edges_.add(warp, there[k], edge[k], before, open[k]);
      value[k] = warp.template cast<Value>(sum[k]);
      bad = bad | (there[k] & !open[k]);
    }
    if (warp.any(bad)) {
      int number = 0;
      for (int k = 0; k < at_once; ++k) number += warp.count(there[k] & !open[k]);
      if (number != 0 && errors_ != nullptr)
        warp.fetch_add(errors_->bad_items, static_cast<std::uint64_t>(number));
    }
    // If many edges are relaxed, most lower nothing, and a read is cheaper. Otherwise warps of
    // devices do not wait for it.
    if (!Team::is_single_thread && is_small_) return;
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      open[k] = open[k] & (sum[k] < warp.load_relaxed(open[k], distance_, to[k], bits{0}));
  }
  /// The active lanes' vertices have these distances, or shorter ones. Returns whose is lowered.
  LANEWISE_FUNCTION mask_type lower(const mask_type& active, const lanes<Vertex>& vertex,
                                    const lanes<bits>& sum) const {
    return active & (sum < team_.warp().fetch_min(active, distance_, vertex, sum));
  }

 private:
  const Team& team_;
  graph_rows<Vertex, Offset> rows_;
  Edges edges_;
  bits* distance_;
  status* errors_;
  bool is_small_ = false;  // this round
  bool is_apart_ = false;  // warps go on by themselves
  int share_ = 0;          // of rows, on hosts
};

}  // namespace detail
LANEWISE_END_NAMESPACE
