// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/league/league_sums.hpp>
#include <lanewise/papers/detail/graphs/row_gathering.hpp>
#include <lanewise/papers/detail/graphs/scatter_relaxed.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

template <class Vertex, class Offset>
struct quadratic_task {
  graph_rows<Vertex, Offset> out;
  Vertex source;
  std::int32_t* levels;
  std::uint64_t* meetings;
  status* errors;
};

/// Breadth-first search without queues. For each level all vertices are looked at. The vertices of
/// the level give the next one to their neighbours without a level (Merrill, listing 6, with the
/// test that it lacks).
template <class Team, class Vertex, class Offset>
class quadratic_search {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using gathering = gathering_by_lanes<Team, no_value>;

 public:
  using task = quadratic_task<Vertex, Offset>;
  struct scratch {
    typename gathering::scratch rows;
    league_sums::scratch<Team> sums;
  };

  LANEWISE_FUNCTION quadratic_search(const Team& team, scratch& shared, const task& t)
      : team_(team), shared_(shared), task_(t) {}

  LANEWISE_FUNCTION void run() {
    const auto warp = team_.warp();
    league_sums::init(team_, shared_.sums);
    league_sums all(task_.meetings);
    for_each_window([&](std::int64_t at, const auto& there) LANEWISE_INLINE_LAMBDA {
      warp.store(there, task_.levels + at,
                 lanewise::select(vertices_at(at) == lanes<Vertex>(task_.source),
                                  lanes<std::int32_t>(std::int32_t{0}),
                                  lanes<std::int32_t>(std::int32_t{-1})));
    });
    all.all_reduce(team_, shared_.sums);
    do {
      found_ = 0;
      for_each_window([&](std::int64_t at, const auto& there)
                          LANEWISE_INLINE_LAMBDA { expand(at, there); });
      league_sums::add(team_, shared_.sums, {{found_, 0}});
      ++depth_;
    } while (all.all_reduce(team_, shared_.sums)[0] != 0);
  }

 private:
  template <class F>
  LANEWISE_FUNCTION void for_each_window(const F& f) const {
    const auto n = static_cast<std::int64_t>(task_.out.vertices);
    const std::int64_t rank = std::int64_t{team_.index()} * Team::warps + team_.warp_index();
    const std::int64_t step = std::int64_t{team_.league()} * Team::warps * width;
    for (std::int64_t at = rank * width; at < n; at += step) f(at, team_.warp().first(n - at));
  }
  LANEWISE_FUNCTION lanes<Vertex> vertices_at(std::int64_t at) const {
    return team_.warp().template cast<Vertex>(team_.warp().lane()) +
           lanes<Vertex>(static_cast<Vertex>(at));
  }

  template <class Mask>
  LANEWISE_FUNCTION void expand(std::int64_t at, const Mask& there) {
    const auto warp = team_.warp();
    const auto vertex = vertices_at(at);
    const auto level = warp.load_relaxed(there, static_cast<const std::int32_t*>(task_.levels),
                                         vertex, std::int32_t{-1});
    const auto mine = level == depth_;
    if (!warp.any(mine)) return;
    const auto row = task_.out.of(warp, mine, vertex);
    gathering::gather(team_, shared_.rows, warp.template cast<std::int64_t>(row.begin),
                      warp.template cast<std::int64_t>(row.length), {}, {}, give_level{*this});
  }
  struct give_level {
    quadratic_search& search;

    template <class Mask, class Places>
    LANEWISE_FUNCTION void operator()(const warp_type& warp, const Mask& mask,
                                      const lanes<no_value>&, const Places& edge,
                                      const Places&) const {
      const auto& task = search.task_;
      // By bits: GCC 12 stored a mask of 64-bit places, and read it back with more bits.
      const auto there = warp.template mask_of<std::uint32_t>(warp.ballot(mask));
      const auto to = warp.gather(there, task.out.columns, edge, Vertex{0});
      const auto valid = task.out.only_vertices(warp, there, to, task.errors);
      const auto before = warp.load_relaxed(valid, static_cast<const std::int32_t*>(task.levels),
                                            to, std::int32_t{0});
      const auto fresh = valid & (before < std::int32_t{0});
      detail::scatter_relaxed(warp, fresh, task.levels, to, lanes<std::int32_t>(search.depth_ + 1));
      search.found_ += static_cast<std::uint64_t>(warp.count(fresh));
    }
  };

  const Team& team_;
  scratch& shared_;
  const task& task_;
  std::int32_t depth_ = 0;
  std::uint64_t found_ = 0;
};

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
