// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/relaxation.hpp>
#include <lanewise/graphs/detail/sssp_task.hpp>
#include <lanewise/graphs/detail/windows_of_items.hpp>
#include <lanewise/graphs/detail/words_of_vertices.hpp>
#include <lanewise/league/queue.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a search has in memory. frontier.listed and far are zero before the launch.
template <class Vertex, class Offset, class Bits>
struct sssp_memory {
  frontier_memory<Vertex, Offset> frontier;
  std::uint32_t* far;  // a bit for each vertex in the far list
  Offset* far_count;   // three, by turns
  Bits* far_least;     // three: no distance in the far list is less; by turns
  Vertex* far_list[2];
};

/// Shortest paths by near and far vertices (Davidson, Baxter, Garland, Owens), by teams that are
/// all resident and have a barrier after each step. The steps:
///
/// init    all distances are the greatest
/// begin   those of the sources are 0
/// relax   the edges of the near rows lower distances; a vertex whose distance is near is listed
///         for the next round, others for later, each once
/// split   nothing is near: the next distances are, by delta, and their vertices leave the far list
template <class Team, class Vertex, class Offset, class Weight>
class sssp_search {
  using warp_type = typename Team::warp_type;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using distance = distances<Weight>;
  using bits = typename distance::bits;
  using frontier_type = frontier<Team, Vertex, Offset, bits>;
  using relaxation_type = relaxation<Team, Vertex, Offset, weighted_edges<Weight>, bits>;
  static constexpr int width = warp_type::width;
  static constexpr int at_once = frontier_type::at_once;
  static constexpr int far_room = at_once * width;

 public:
  using task = sssp_task<Vertex, Offset, Weight, sssp_memory<Vertex, Offset, bits>>;
  struct scratch {
    typename frontier_type::scratch frontier;
    raw_array<Vertex, Team::warps * far_room> far;
  };

  LANEWISE_FUNCTION sssp_search(const Team& team, scratch& shared, const task& t)
      : team_(team),
        shared_(shared),
        task_(t),
        frontier_(team, shared.frontier, t.memory.frontier, t.rows),
        relaxation_(team, t.rows, {t.weights}, t.distance, t.errors) {}

  LANEWISE_FUNCTION void run() {
    for (step s = step::init; s != step::end; s = next(s)) {
      switch (s) {
        case step::init:
          init();
          break;
        case step::begin:
          begin();
          break;
        case step::relax:
          relax();
          break;
        default:
          split();
      }
      end_step(s);
    }
  }

  // What a frontier asks of a search.
  LANEWISE_FUNCTION void filter_edges(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                                      const lanes<Offset> (&edge)[at_once],
                                      mask_type (&open)[at_once], lanes<Vertex> (&to)[at_once],
                                      lanes<bits> (&value)[at_once]) const {
    relaxation_.filter_edges(there, from, edge, open, to, value);
  }
  LANEWISE_FUNCTION mask_type try_visit(const mask_type& active, const lanes<Vertex>& vertex,
                                        const lanes<bits>& sum) {
    const mask_type lowered = relaxation_.lower(active, vertex, sum);
    const mask_type far = lowered & (sum >= near_end_);
    if (team_.warp().any(far)) list_far(far, vertex, sum);
    return lowered & !far;
  }
  LANEWISE_FUNCTION mask_type stays_near(const mask_type& active, const lanes<bits>& sum) const {
    return active & (sum < near_end_);
  }

 private:
  enum class step { init, begin, relax, split, end };

  static constexpr int most_deltas = 4;
  static constexpr int patience = 32;  // splits between which all rounds are small
  // Small rounds before warps go on by themselves. In random graphs the first rounds are small, and
  // each has several times as many edges as the one before. Measured: one warp's part of them took
  // up to 0.2 ms (H200, urand.22), a round with a barrier takes 5 us.
  static constexpr int patience_apart = 32;

  /// What comes after a step. All teams know the same.
  LANEWISE_FUNCTION step next(step s) const {
    if (s == step::init) return step::begin;
    if (frontier_.edges() != 0) return step::relax;
    return far_ == 0 ? step::end : step::split;
  }
  LANEWISE_FUNCTION void end_step(step s) {
    frontier_.end_round(s == step::relax ? relaxation_.kept() : 0);
    if (s == step::split) ++splits_;
    // Nothing is near.
    if (frontier_.edges() == 0)
      far_ = team_.warp().template load<order::relaxed, scope::device>(far_count());
  }

  LANEWISE_FUNCTION Offset& far_count() const { return task_.memory.far_count[splits_ % 3]; }

  LANEWISE_FUNCTION void init() const {
    const auto warp = team_.warp();
    detail::for_each_window_of(team_, static_cast<std::int64_t>(task_.rows.vertices),
                               [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
                                 warp.store(there, task_.distance + at,
                                            lanes<bits>(distance::most()));
                               });
    if (team_.index() == 0 && team_.warp_index() == 0) {
      for (std::uint32_t turn = 0; turn < 3; ++turn) forget_far(turn);
    }
  }
  LANEWISE_FUNCTION void forget_far(std::uint32_t turn) const {
    const auto warp = team_.warp();
    warp.template store<order::relaxed, scope::device>(task_.memory.far_count[turn % 3], Offset{0});
    warp.template store<order::relaxed, scope::device>(task_.memory.far_least[turn % 3],
                                                       distance::most());
  }

  LANEWISE_FUNCTION void begin() {
    near_end_ = task_.end_of_near(0, deltas_);
    relaxation_.begin(task_.sources, frontier_, *this);
  }

  LANEWISE_FUNCTION void relax() {
    frontier_.list_once(true);
    relaxation_.begin_round(frontier_.edges(), small_rounds_ >= patience_apart);
    small_rounds_ = relaxation_.is_small() ? small_rounds_ + 1 : 0;
    was_wide_ = was_wide_ || !relaxation_.is_small();
    frontier_.visit_edges(relaxation_.steps(), *this);
    list_waiting();
    note_least(splits_, least_);
    least_ = lanes<bits>(distance::most());
  }

  LANEWISE_FUNCTION void list_far(const mask_type& active, const lanes<Vertex>& vertex,
                                  const lanes<bits>& sum) {
    const auto warp = team_.warp();
    const auto bit = detail::bit_of_vertex(warp, vertex);
    const auto before =
        warp.fetch_or(active, task_.memory.far, detail::word_of_vertex(warp, vertex), bit);
    const mask_type fresh = active & ((before & bit) == 0u);
    least_ = lanewise::select(active & (sum < least_), sum, least_);
    waiting_ += static_cast<int>(warp.compress_store(waiting() + waiting_, fresh, vertex));
    if (waiting_ > far_room - width) list_waiting();
  }
  LANEWISE_FUNCTION Vertex* waiting() const {
    return shared_.far.data() + team_.warp_index() * far_room;
  }
  /// All warps have one counter, which takes some 1 ns for each addition. So far vertices wait in
  /// scratch for others of their warp.
  LANEWISE_FUNCTION void list_waiting() {
    if (waiting_ == 0) return;
    const auto warp = team_.warp();
    mask_type there[at_once];
    lanes<Vertex> vertex[at_once];
    warp.fence();
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const int left = waiting_ - k * width;
      there[k] = warp.first(left > 0 ? left : 0);
      vertex[k] = warp.load(there[k], waiting() + k * width, Vertex{0});
    }
    warp.fence();
    far_queue(splits_).push(warp, there, vertex);
    waiting_ = 0;
  }
  LANEWISE_FUNCTION Vertex* far_list(std::uint32_t turn) const {
    return turn % 2 != 0 ? task_.memory.far_list[1] : task_.memory.far_list[0];
  }
  LANEWISE_FUNCTION queue<Vertex, Offset> far_queue(std::uint32_t turn) const {
    return {far_list(turn), static_cast<Offset>(task_.rows.vertices),
            task_.memory.far_count + turn % 3};
  }
  LANEWISE_FUNCTION void note_least(std::uint32_t turn, const lanes<bits>& x) const {
    const auto warp = team_.warp();
    if (!warp.any(x < distance::most())) return;
    const bits least = warp.reduce(x, minimum{});
    bits& all = task_.memory.far_least[turn % 3];
    if (least < warp.template load<order::relaxed, scope::device>(all)) warp.fetch_min(all, least);
  }

  /// Widens a delta that was chosen while rounds stay small. Small rounds cost the same whether
  /// they have many edges or few; large rounds cost by their edges.
  LANEWISE_FUNCTION void choose_deltas() {
    small_splits_ = was_wide_ ? 0 : small_splits_ + 1;
    was_wide_ = false;
    deltas_ = task_.delta != nullptr && small_splits_ > patience ? most_deltas : 1;
  }
  /// Distances that are near now. The far list's vertices are listed, are done already, or stay.
  LANEWISE_FUNCTION void split() {
    const auto warp = team_.warp();
    const bits done = near_end_;
    frontier_.list_once(false);  // the far list has each vertex once
    choose_deltas();
    const bits least =
        warp.template load<order::relaxed, scope::device>(task_.memory.far_least[splits_ % 3]);
    near_end_ = task_.end_of_near(least < done ? done : least, deltas_);
    const std::uint32_t to = splits_ + 1;
    // Read by the split before this one, and added to by the next.
    if (team_.index() == 0 && team_.warp_index() == 0) forget_far(splits_ + 2);
    lanes<bits> left(distance::most());
    detail::for_each_batch_of<at_once>(
        team_, static_cast<std::int64_t>(far_),
        [&](const std::int64_t(&at)[at_once], const mask_type(&there)[at_once])
            LANEWISE_INLINE_LAMBDA { split(at, there, done, left); });
    note_least(to, left);
  }
  /// Splits a few windows of the far list. left: the least distances of vertices that stay.
  LANEWISE_FUNCTION void split(const std::int64_t (&at)[at_once], const mask_type (&there)[at_once],
                               bits done, lanes<bits>& left) {
    const auto warp = team_.warp();
    lanes<Vertex> vertex[at_once];
    lanes<bits> d[at_once];
    mask_type stay[at_once], near[at_once];
    typename graph_rows<Vertex, Offset>::template ranges<warp_type> row[at_once];
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      vertex[k] = warp.load(there[k], far_list(splits_) + at[k], Vertex{0});
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      d[k] = warp.gather(there[k], task_.distance, vertex[k], bits{0});
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      stay[k] = there[k] & (d[k] >= near_end_);
      near[k] = there[k] & (d[k] >= done) & !stay[k];
      row[k] = task_.rows.of(warp, near[k], vertex[k]);
      warp.fetch_and(there[k] & !stay[k], task_.memory.far, detail::word_of_vertex(warp, vertex[k]),
                     ~detail::bit_of_vertex(warp, vertex[k]));
      left = lanewise::select(stay[k] & (d[k] < left), d[k], left);
    }
    far_queue(splits_ + 1).push(warp, stay, vertex);
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      if (warp.any(near[k])) frontier_.push(near[k], vertex[k], row[k]);
  }

  const Team& team_;
  scratch& shared_;
  const task& task_;
  bits near_end_ = 0;                    // distances before it are near
  Offset far_ = 0;                       // vertices in the far list, where nothing is near
  std::uint32_t splits_ = 0;             // of the far list
  int deltas_ = 1;                       // deltas in the near range
  int small_splits_ = 0;                 // one after the other
  bool was_wide_ = false;                // a round since the last split
  int small_rounds_ = 0;                 // one after the other
  int waiting_ = 0;                      // far vertices in scratch
  lanes<bits> least_{distance::most()};  // of vertices that became far in this round
  frontier_type frontier_;
  relaxation_type relaxation_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
