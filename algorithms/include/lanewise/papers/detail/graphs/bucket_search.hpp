// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/graphs/detail/relaxation.hpp>
#include <lanewise/graphs/detail/windows_of_items.hpp>
#include <lanewise/graphs/detail/words_of_vertices.hpp>
#include <lanewise/league/queue.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// The state of a search between launches.
template <class Bits>
struct bucket_state {
  std::uint64_t begin, end;  // where the list has the vertices that wait
  Bits start;                // no distance of theirs is less, but by rounding
  Bits least;                // of those in the last bucket
};

/// The number of the bucket of a vertex that waits. The last one has all that are further away.
template <class Vertex, class Weight>
struct bucket_of_vertex {
  using distance = distances<Weight>;
  using bits = typename distance::bits;

  const bits* of;
  const bucket_state<bits>* state;
  Weight delta;
  std::uint32_t buckets;

  LANEWISE_FUNCTION std::uint32_t operator()(Vertex v) const {
    const bits d = of[v], start = state->start;
    const std::uint32_t last = buckets - 1;
    if (d <= start) return 0;
    if constexpr (distance::is_floating) {
      const Weight number = (distance::value(d) - distance::value(start)) / delta;
      return number < static_cast<Weight>(last) ? static_cast<std::uint32_t>(number) : last;
    } else {
      const bits number = static_cast<bits>(d - start) / distance::of(delta);
      return number < last ? static_cast<std::uint32_t>(number) : last;
    }
  }
};

template <class Vertex, class Offset, class Weight>
struct bucket_task {
  using bits = typename distances<Weight>::bits;

  graph_rows<Vertex, Offset> rows;
  const Weight* weights;
  search_sources<Vertex> sources;
  bits* distance;
  Weight delta;
  std::int64_t buckets;
  const std::int64_t* offsets;  // where buckets begin in the list; null: the search begins
  Vertex* list;                 // vertices that wait, in buckets; then vertices that are lowered
  std::uint32_t* waiting;       // a bit for each vertex
  bucket_state<bits>* state;
  frontier_memory<Vertex, Offset> memory;  // of a launch, for one round, without `listed`
  status* errors;
};

/// A round of delta-stepping: the edges of the vertices in the first bucket that has some. Vertices
/// whose distances are lowered wait, each once. If only the last bucket has vertices, the buckets
/// begin at the least distance there. By teams that are all resident.
template <class Team, class Vertex, class Offset, class Weight>
class bucket_search {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using frontier_type = frontier<Team, Vertex, Offset, typename distances<Weight>::bits>;
  using distance = distances<Weight>;
  using bits = typename distance::bits;
  using relaxation_type = relaxation<Team, Vertex, Offset, weighted_edges<Weight>, bits>;
  static constexpr int at_once = frontier_type::at_once;

 public:
  using task = bucket_task<Vertex, Offset, Weight>;
  struct scratch {
    typename frontier_type::scratch frontier;
  };

  LANEWISE_FUNCTION bucket_search(const Team& team, scratch& shared, const task& t)
      : team_(team),
        task_(t),
        frontier_(team, shared.frontier, t.memory, t.rows),
        relaxation_(team, t.rows, {t.weights}, t.distance, t.errors) {}

  LANEWISE_FUNCTION void run() {
    if (task_.offsets == nullptr) {
      begin();
    } else {
      const std::int64_t near = first_bucket();
      if (near > 0 && near + 1 == task_.buckets)
        begin_buckets_at_least();
      else
        relax_bucket(near);
    }
  }

  // What a frontier asks of a search.
  LANEWISE_FUNCTION void filter_edges(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                                      const lanes<Offset> (&edge)[at_once],
                                      mask_type (&open)[at_once], lanes<Vertex> (&to)[at_once],
                                      lanes<bits> (&value)[at_once]) const {
    relaxation_.filter_edges(there, from, edge, open, to, value);
  }
  /// Vertices whose distances are lowered wait, each once, for another launch.
  LANEWISE_FUNCTION mask_type try_visit(const mask_type& active, const lanes<Vertex>& vertex,
                                        const lanes<bits>& sum) const {
    const auto warp = team_.warp();
    const mask_type lowered = relaxation_.lower(active, vertex, sum);
    const auto bit = detail::bit_of_vertex(warp, vertex);
    const auto before =
        warp.fetch_or(lowered, task_.waiting, detail::word_of_vertex(warp, vertex), bit);
    const mask_type fresh = lowered & ((before & bit) == 0u);
    const queue<Vertex, std::uint64_t> list{task_.list, 2 * std::uint64_t{task_.rows.vertices},
                                            &task_.state->end};
    list.push(warp, fresh, vertex);
    return warp.first(0);
  }
  LANEWISE_FUNCTION mask_type stays_near(const mask_type&, const lanes<bits>&) const {
    return team_.warp().first(0);
  }

 private:
  /// One warp of all says how the search stands.
  template <class F>
  LANEWISE_FUNCTION void once(const F& f) const {
    if (team_.index() == 0) team_.once(f);
  }

  LANEWISE_FUNCTION void begin() {
    const auto warp = team_.warp();
    detail::for_each_window_of(team_, static_cast<std::int64_t>(task_.rows.vertices),
                               [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
                                 warp.store(there, task_.distance + at,
                                            lanes<bits>(distance::most()));
                               });
    once([&] { task_.state->least = distance::most(); });
    frontier_.all_reduce();
    relaxation_.begin(task_.sources, frontier_, *this);
  }

  /// The first bucket that has vertices; some bucket has.
  LANEWISE_FUNCTION std::int64_t first_bucket() const {
    const auto warp = team_.warp();
    for (std::int64_t first = 0;; first += width) {
      const std::int64_t left = task_.buckets - first;
      const auto there = warp.first(left);
      const auto has_some = warp.ballot(
          warp.load(there, task_.offsets + 1 + first, std::int64_t{0}) > std::int64_t{0});
      if (has_some != 0) return first + warp_type::lowest(has_some);
      if (left <= width) return 0;
    }
  }
  LANEWISE_FUNCTION void begin_buckets_at_least() {
    const auto warp = team_.warp();
    const std::int64_t all = task_.offsets[task_.buckets];
    lanes<bits> least(distance::most());
    detail::for_each_window_of(
        team_, all, [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto d =
              warp.gather(there, task_.distance, warp.load(there, task_.list + at, Vertex{0}),
                          distance::most());
          least = lanewise::select(d < least, d, least);
        });
    warp.fetch_min(task_.state->least, warp.reduce(least, minimum{}));
    frontier_.all_reduce();
    once([&] {
      auto& state = *task_.state;
      state = {0, static_cast<std::uint64_t>(all), state.least, distance::most()};
    });
  }

  LANEWISE_FUNCTION void relax_bucket(std::int64_t near) {
    const std::int64_t count = task_.offsets[near + 1];
    detail::for_each_window_of(
        team_, count, [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto warp = team_.warp();
          const auto vertex = warp.load(there, task_.list + at, Vertex{0});
          warp.fetch_and(there, task_.waiting, detail::word_of_vertex(warp, vertex),
                         ~detail::bit_of_vertex(warp, vertex));
          frontier_.push(there, vertex, task_.rows.of(warp, there, vertex));
        });
    once([&] {
      auto& state = *task_.state;
      state.begin = static_cast<std::uint64_t>(count);
      state.end = static_cast<std::uint64_t>(task_.offsets[task_.buckets]);
      state.start = distance::of(static_cast<Weight>(distance::value(state.start) +
                                                     static_cast<Weight>(near) * task_.delta));
    });
    frontier_.end_round(0);
    relaxation_.begin_round(frontier_.edges(), true);
    frontier_.visit_edges(1, *this);
  }

  const Team& team_;
  const task& task_;
  frontier_type frontier_;
  relaxation_type relaxation_;
};

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
