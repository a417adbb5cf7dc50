// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/batch_memory.hpp>
#include <lanewise/graphs/detail/level_tiles.hpp>
#include <lanewise/graphs/detail/windows_of_items.hpp>
#include <lanewise/league/league_sums.hpp>
#include <lanewise/league/queue.hpp>
#include <lanewise/league/subleague.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// One search of a batch from its source, top down, by a few teams that have no other. These teams
/// have a barrier after each level. Frontiers are small here, so what a warp does besides reading
/// edges costs most: a frontier is a list of vertices. An atomic write of its level visits a
/// vertex.
template <class Team, class Vertex, class Offset>
class independent_bfs {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using words = lanes<std::uint32_t>;
  using places = lanes<std::int64_t>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  static constexpr int at_once = 4;
  static constexpr Offset short_row = 16;  // edges that a lane reads alone
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});
  static constexpr std::uint32_t not_reached = ~std::uint32_t{0};

 public:
  using task = batch_task<Vertex, Offset>;
  struct scratch {
    league_sums::scratch<Team> sums;
  };

  LANEWISE_FUNCTION independent_bfs(const Team& team, scratch& shared, const task& t, int which)
      : team_(team),
        shared_(shared),
        task_(t),
        which_(which),
        room_(static_cast<Offset>(t.memory.room / t.searches)) {
    league_sums::init(team, shared.sums);
  }

  /// Returns whether the search has come to its end. Else there was no room for a frontier, or a
  /// row has more edges than that.
  LANEWISE_FUNCTION bool run() {
    forget_levels();
    all_reduce();
    begin();
    std::uint64_t listed = all_reduce();
    for (depth_ = 0; listed <= room_ && listed != 0 && depth_ < task_.most_depth; ++depth_) {
      const Vertex* const vertices = items(depth_);
      detail::for_each_window_of(
          team_, static_cast<std::int64_t>(listed),
          [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
            visit(there, team_.warp().load(there, vertices + at, Vertex{0}));
          });
      // The counter of the list after the next one. No warp uses it now.
      if (team_.index() == 0 && team_.warp_index() == 0)
        team_.warp().template store<order::relaxed, scope::device>(*counter(depth_ + 2), Offset{0});
      listed = all_reduce();
    }
    return listed <= room_;
  }

 private:
  /// The list of a level: one of two by turns, in the place of pieces.
  LANEWISE_FUNCTION Vertex* items(std::int32_t depth) const {
    void* const all = (depth & 1) != 0 ? task_.memory.pieces[1] : task_.memory.pieces[0];
    return static_cast<Vertex*>(all) + which_ * static_cast<std::int64_t>(room_);
  }
  LANEWISE_FUNCTION Offset* counter(std::int32_t depth) const {
    return task_.memory.counters + (which_ * 3 + (depth + 3) % 3) * counter_stride<Offset>;
  }
  LANEWISE_FUNCTION std::uint32_t* levels() const {
    return reinterpret_cast<std::uint32_t*>(task_.levels);
  }
  LANEWISE_FUNCTION places places_of(const lanes<Vertex>& vertex) const {
    return team_.warp().map(
        [n = static_cast<std::int64_t>(task_.out.vertices), all = task_.searches,
         s = which_](Vertex v) {
          return level_tiles{n, all}.place(static_cast<std::int64_t>(v), s);
        },
        vertex);
  }
  LANEWISE_FUNCTION void forget_levels() const {
    const auto warp = team_.warp();
    detail::for_each_window_of(
        team_, static_cast<std::int64_t>(task_.out.vertices),
        [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto vertex =
              warp.template cast<Vertex>(warp.lane()) + lanes<Vertex>(static_cast<Vertex>(at));
          warp.scatter(there, levels(), places_of(vertex), words(not_reached));
        });
  }
  /// How many vertices have been listed.
  LANEWISE_FUNCTION std::uint64_t all_reduce() {
    league_sums::add(team_, shared_.sums, {{listed_, 0}});
    listed_ = 0;
    league_sums of(task_.memory.meetings + which_ * league_sums::words(team_.league()), meetings_);
    const auto x = of.all_reduce(team_, shared_.sums);
    meetings_ = of.rounds();
    return x[0];
  }

  LANEWISE_FUNCTION void begin() {
    if (team_.index() != 0 || team_.warp_index() != 0) return;
    const auto warp = team_.warp();
    mask_type there[at_once], open[at_once];
    lanes<Vertex> vertex[at_once];
    for (int k = 0; k < at_once; ++k) {
      there[k] = warp.first(k == 0 ? 1 : 0);
      vertex[k] = warp.load(there[k], task_.sources + which_, no_vertex);
    }
    task_.out.only_vertices(warp, there, vertex, task_.errors, open);
    try_visit(open, vertex);
  }
  /// The edges of a vertex in each lane: short rows by their lanes, side by side, then long ones by
  /// the warp, one after the other. Both are lanes that go through places in steps.
  LANEWISE_FUNCTION void visit(const mask_type& there, const lanes<Vertex>& vertex) {
    const auto warp = team_.warp();
    const auto row = task_.out.of(warp, there, vertex);
    auto edge = row.begin;
    auto left = lanewise::select(row.length <= short_row, row.length, lanes<Offset>(Offset{0}));
    Offset step = 1;
    for (auto todo = warp.ballot(row.length > short_row);;) {
      while (warp.any(left != Offset{0}))
        detail::strided_step<at_once>(warp, edge, left, step,
                                      [&](const auto& t, const auto& edges)
                                          LANEWISE_INLINE_LAMBDA { visit_edges(t, edges); });
      if (todo == 0) return;
      const int l = warp_type::lowest(todo);
      todo &= todo - 1;
      const Offset first = warp.broadcast(row.begin, l), count = warp.broadcast(row.length, l);
      if (count > room_) {
        listed_ += std::uint64_t{room_} + 1;
        return;
      }
      step = width;
      const auto lane = warp.template cast<Offset>(warp.lane());
      edge = lanes<Offset>(first) + lane;
      left = warp.map([count](Offset i) -> Offset { return i < count ? count - i : 0; }, lane);
    }
  }
  LANEWISE_FUNCTION void visit_edges(const mask_type (&there)[at_once],
                                     const lanes<Offset> (&edge)[at_once]) {
    const auto warp = team_.warp();
    mask_type open[at_once];
    lanes<Vertex> to[at_once];
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      to[k] = warp.gather(there[k], task_.out.columns, edge[k], no_vertex);
    task_.out.only_vertices(warp, there, to, task_.errors, open);
    try_visit(open, to);
  }
  /// Vertices that are reached first now get their level, and are listed. All reads are on their
  /// way before one is waited for, and then all minimums.
  LANEWISE_FUNCTION void try_visit(const mask_type (&open)[at_once],
                                   const lanes<Vertex> (&vertex)[at_once]) {
    const auto warp = team_.warp();
    mask_type fresh[at_once];
    places place[at_once];
    words before[at_once];
    LANEWISE_UNROLL
    for (int i = 0; i < at_once; ++i) {
      place[i] = places_of(vertex[i]);
      before[i] = warp.load_relaxed(open[i], levels(), place[i], 0u);
    }
    const words next(static_cast<std::uint32_t>(depth_ + 1));
    LANEWISE_UNROLL
    for (int i = 0; i < at_once; ++i) {
      fresh[i] = before[i] == not_reached;
      before[i] = warp.fetch_min(fresh[i], levels(), place[i], next);
    }
    LANEWISE_UNROLL
    for (int i = 0; i < at_once; ++i) {
      fresh[i] = fresh[i] & (before[i] == not_reached);
      listed_ += static_cast<std::uint64_t>(warp.count(fresh[i]));
    }
    const queue<Vertex, Offset> next_list{items(depth_ + 1), room_, counter(depth_ + 1)};
    next_list.push(warp, fresh, vertex);
  }

  const Team& team_;
  scratch& shared_;
  const task& task_;
  int which_;
  Offset room_;               // for vertices of a frontier, and edges of a row
  std::int32_t depth_ = -1;   // of the frontier
  std::uint64_t listed_ = 0;  // by this warp for the next one
  std::uint32_t meetings_ = 0;
};

/// The searches of a batch that are to be done apart. An equal part of the league does each; if
/// there are more searches than teams, they are done in turn.
template <class Team, class Vertex, class Offset>
class searches_apart {
  using part = subleague<Team>;
  using search = independent_bfs<part, Vertex, Offset>;

 public:
  using task = batch_task<Vertex, Offset>;
  using scratch = typename search::scratch;

  static LANEWISE_FUNCTION void run(const Team& team, scratch& shared, const task& t) {
    const std::uint64_t to_do = t.memory.to_do[0];
    if (to_do == 0) return;
    const auto searches = static_cast<std::uint32_t>(t.searches);
    // Teams of one multiprocessor, which have neighbouring numbers or some 132 apart, get different
    // searches: while one meets the other goes on.
    const std::uint32_t parts = team.league() < searches ? team.league() : searches;
    const part mine(team, team.index() / parts, team.league() / parts);
    if (mine.index() >= mine.league()) return;
    for (std::uint32_t s = team.index() % parts; s < searches; s += parts) {
      if ((to_do >> s & 1) == 0) continue;
      const bool is_done = search(mine, shared, t, static_cast<int>(s)).run();
      if (!is_done && mine.index() == 0 && mine.warp_index() == 0)
        mine.warp().fetch_or(t.memory.to_do[1], std::uint64_t{1} << s);
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
