// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/graphs/frontier_phases.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// Breadth-first search by frontiers, in a resident kernel whose teams meet after each phase.
template <class Team, class Vertex, class Offset, class Policy, bool with_parents, bool counted>
class frontier_search : frontier_phases<Team, Vertex, Offset, Policy, with_parents, counted> {
  using base = frontier_phases<Team, Vertex, Offset, Policy, with_parents, counted>;
  using base::team_, base::shared_, base::task_, base::depth_, base::size_, base::before_,
      base::pushed_, base::now_, base::next_, base::width;
  using queue_type = typename base::queue_type;
  template <class T>
  using lanes = typename base::template lanes<T>;
  static constexpr bfs_strategy strategy = Policy::strategy;

 public:
  using task = typename base::task;
  using scratch = typename base::scratch;

  LANEWISE_FUNCTION frontier_search(const Team& team, scratch& shared, const task& t)
      : base(team, shared, t) {}

  LANEWISE_FUNCTION void run() {
    league_sums::init(team_, shared_.sums);
    base::team_culling::init(team_, shared_.in_team);
    begin();
    while (size_ != 0 && depth_ <= task_.most_depth) {
      level();
      ++depth_;
    }
    if constexpr (counted)
      detail::count_levels(team_, task_.out, task_.reached.levels, task_.counts, task_.count_rows);
  }

 private:
  LANEWISE_FUNCTION void level() {
    const queue_type &in = task_.queues[side_], &out = task_.queues[1 - side_];
    if constexpr (strategy == bfs_strategy::expand_contract) {
      if (depth_ < task_.most_depth) base::expand_contract(in, out);
      end_step(out);
      side_ = 1 - side_;
    } else if (is_in_two_phases()) {
      base::contract_all(in, out);
      end_step(out);
      base::expand_all(out, in);
      end_step(in);
    } else {
      base::contract_expand(in, out);
      end_step(out);
      side_ = 1 - side_;
    }
  }
  LANEWISE_FUNCTION bool is_in_two_phases() const {
    if (strategy != bfs_strategy::hybrid) return strategy == bfs_strategy::two_phase;
    return size_ > std::int64_t{team_.league()} * Team::warps * width;
  }

  /// No vertex is reached but, where vertices are queued, the source.
  LANEWISE_FUNCTION void begin() {
    const auto warp = team_.warp();
    const auto n = static_cast<std::int64_t>(task_.out.vertices);
    constexpr bool reaches = strategy == bfs_strategy::expand_contract;
    const std::int64_t rank = std::int64_t{team_.index()} * Team::warps + team_.warp_index();
    const std::int64_t step = std::int64_t{team_.league()} * Team::warps * width;
    for (std::int64_t at = rank * width; at < n; at += step) {
      const auto there = warp.first(n - at);
      const auto vertex =
          warp.template cast<Vertex>(warp.lane()) + lanes<Vertex>(static_cast<Vertex>(at));
      const auto is_source = there & (vertex == lanes<Vertex>(task_.source));
      warp.store(there, task_.reached.levels + at,
                 lanewise::select(is_source, lanes<std::int32_t>(reaches ? 0 : -1),
                                  lanes<std::int32_t>(std::int32_t{-1})));
      constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});
      if constexpr (with_parents)
        warp.store(there, task_.reached.parents + at,
                   lanewise::select(is_source, vertex, lanes<Vertex>(no_vertex)));
      if (!warp.any(is_source)) continue;
      const queue_type& in = task_.queues[0];
      warp.once([&] {
        in.vertices[0] = task_.source;
        if constexpr (with_parents && !reaches) in.parents[0] = task_.source;
      });
      if constexpr (reaches && Policy::bitmap != bfs_bitmap::none) {
        const Vertex v = task_.source;
        warp.once([&] {
          if constexpr (Policy::bitmap == bfs_bitmap::exact)
            static_cast<std::uint32_t*>(task_.reached.bits)[v / 32] = std::uint32_t{1} << (v % 32);
          else
            static_cast<std::uint8_t*>(task_.reached.bits)[v / 8] =
                static_cast<std::uint8_t>(1u << (v % 8));
        });
      }
      pushed_ = 1;
      if constexpr (reaches) {
        // Nobody looks it up.
        now_.add(&bfs_level_counts::examined, 1);
        now_.add(&bfs_level_counts::after_bitmap, 1);
        now_.add(&bfs_level_counts::after_levels, 1);
      }
    }
    end_step(task_.queues[0]);
    before_ = 0;  // this was no reservation
  }

  /// The teams meet after a phase that has written to a queue, which is read next. If it was too
  /// short, the search is over.
  LANEWISE_FUNCTION void end_step(const queue_type& out) {
    league_sums::add(team_, shared_.sums, {{pushed_, 0}});
    league_sums of(task_.meetings, meetings_);
    size_ = static_cast<std::int64_t>(of.all_reduce(team_, shared_.sums)[0]);
    meetings_ = of.rounds();
    before_ += static_cast<std::uint64_t>(size_);
    pushed_ = 0;
    const auto warp = team_.warp();
    now_.flush(warp, task_.counts, task_.count_rows, depth_);
    next_.flush(warp, task_.counts, task_.count_rows, std::int64_t{depth_} + 1);
    if (size_ <= out.capacity) return;
    if (team_.index() == 0 && team_.warp_index() == 0 && task_.errors != nullptr)
      warp.fetch_add(task_.errors->bad_items, static_cast<std::uint64_t>(size_ - out.capacity));
    size_ = 0;
  }

  std::uint32_t meetings_ = 0;
  int side_ = 0;
};

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
