// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/graphs/relaxation.hpp>
#include <lanewise/detail/graphs/sssp_task.hpp>
#include <lanewise/detail/graphs/windows_of_items.hpp>
#include <lanewise/detail/graphs/words_of_vertices.hpp>
#include <lanewise/queue.hpp>

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
/// all resident and meet after each step. The steps:
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
  using lanes = typename warp_type::template lanes<T>;
  using mask_type = typename warp_type::template mask_for<std::uint32_t>;
  using distance = distances<Weight>;
  using bits = typename distance::bits;
  using frontier_type = frontier<Team, Vertex, Offset, bits>;
  using relaxation_type = relaxation<Team, Vertex, Offset, weighted_edges<Weight>, bits>;
  static constexpr int at_once = frontier_type::at_once;

 public:
  using task = sssp_task<Vertex, Offset, Weight, sssp_memory<Vertex, Offset, bits>>;
  struct scratch {
    typename frontier_type::scratch frontier;
  };

  LANEWISE_FUNCTION sssp_search(const Team& team, scratch& shared, const task& t)
      : team_(team),
        task_(t),
        frontier_(team, shared.frontier, t.memory.frontier, t.rows),
        relaxation_(team, t.rows, {t.weights}, t.distance, t.errors) {
    frontier_.list_once();
  }

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
          relaxation_.begin_round(frontier_.edges());
          was_wide_ = was_wide_ || relaxation_.steps() == 1;
          frontier_.visit_edges(relaxation_.steps(), *this);
          break;
        default:
          split();
      }
      meet(s);
    }
  }

  // What a frontier asks of a search.
  LANEWISE_FUNCTION void look(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                              const lanes<Offset> (&edge)[at_once], mask_type (&open)[at_once],
                              lanes<Vertex> (&to)[at_once], lanes<bits> (&value)[at_once]) const {
    relaxation_.look(there, from, edge, open, to, value);
  }
  LANEWISE_FUNCTION mask_type claim(const mask_type& active, const lanes<Vertex>& vertex,
                                    const lanes<bits>& sum) const {
    const mask_type lowered = relaxation_.lower(active, vertex, sum);
    const mask_type far = lowered & (sum >= near_end_);
    if (team_.warp().any(far)) list_far(far, vertex, sum);
    return lowered & !far;
  }

 private:
  enum class step { init, begin, relax, split, end };

  static constexpr int most_deltas = 4;
  static constexpr int patience = 32;  // splits between which all rounds are thin

  /// What comes behind a step. All teams know the same.
  LANEWISE_FUNCTION step next(step s) const {
    if (s == step::init) return step::begin;
    if (frontier_.edges() != 0) return step::relax;
    return far_ == 0 ? step::end : step::split;
  }
  LANEWISE_FUNCTION void meet(step s) {
    frontier_.meet(s == step::relax ? relaxation_.kept() : 0);
    if (s == step::split) ++splits_;
    // Where nothing is near.
    if (frontier_.edges() == 0)
      far_ = team_.warp().template load<order::relaxed, scope::device>(far_count());
  }

  LANEWISE_FUNCTION Offset& far_count() const { return *(task_.memory.far_count + splits_ % 3); }

  LANEWISE_FUNCTION void init() const {
    const auto warp = team_.warp();
    for_each_window_of(team_, static_cast<std::int64_t>(task_.rows.vertices),
                       [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
                         warp.store(there, task_.distance + at, lanes<bits>(distance::most()));
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

  LANEWISE_FUNCTION void list_far(const mask_type& active, const lanes<Vertex>& vertex,
                                  const lanes<bits>& sum) const {
    const auto warp = team_.warp();
    const auto bit = bit_of_vertex(warp, vertex);
    const auto before = warp.fetch_or(active, task_.memory.far, word_of_vertex(warp, vertex), bit);
    const mask_type fresh = active & ((before & bit) == 0u);
    far_queue(splits_).push(warp, fresh, vertex);
    note_least(splits_, select(active, sum, lanes<bits>(distance::most())));
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
    const bits least = warp.reduce(x, minimum{});
    bits& all = task_.memory.far_least[turn % 3];
    if (least < warp.template load<order::relaxed, scope::device>(all)) warp.fetch_min(all, least);
  }

  /// A delta that was chosen is widened where rounds stay thin: they cost the same whether they
  /// have many edges or few, where wide rounds cost by their edges.
  LANEWISE_FUNCTION void choose_deltas() {
    thin_splits_ = was_wide_ ? 0 : thin_splits_ + 1;
    was_wide_ = false;
    deltas_ = task_.delta != nullptr && thin_splits_ > patience ? most_deltas : 1;
  }
  /// Distances that are near now. The far list's vertices are listed, are done already, or stay.
  LANEWISE_FUNCTION void split() {
    const auto warp = team_.warp();
    const bits done = near_end_;
    choose_deltas();
    const bits least =
        warp.template load<order::relaxed, scope::device>(task_.memory.far_least[splits_ % 3]);
    near_end_ = task_.end_of_near(least < done ? done : least, deltas_);
    const std::uint32_t to = splits_ + 1;
    // Read by the split before this one, and added to by the next.
    if (team_.index() == 0 && team_.warp_index() == 0) forget_far(splits_ + 2);
    const Vertex* list = far_list(splits_);
    for_each_window_of(team_, static_cast<std::int64_t>(far_),
                       [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
                         const lanes<Vertex> vertex = warp.load(there, list + at, Vertex{0});
                         const auto d = warp.gather(there, task_.distance, vertex, bits{0});
                         const mask_type stay = there & (d >= near_end_);
                         const mask_type near = there & (d >= done) & !stay;
                         warp.fetch_and(there & !stay, task_.memory.far,
                                        word_of_vertex(warp, vertex), ~bit_of_vertex(warp, vertex));
                         frontier_.push(near, vertex, task_.rows.of(warp, near, vertex));
                         far_queue(to).push(warp, stay, vertex);
                         note_least(to, select(stay, d, lanes<bits>(distance::most())));
                       });
  }

  const Team& team_;
  const task& task_;
  bits near_end_ = 0;         // distances in front of it are near
  Offset far_ = 0;            // vertices in the far list, where nothing is near
  std::uint32_t splits_ = 0;  // of the far list
  int deltas_ = 1;            // of which near distances are
  int thin_splits_ = 0;       // one after the other
  bool was_wide_ = false;     // a round since the last split
  frontier_type frontier_;
  relaxation_type relaxation_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
