// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/league/league_sums.hpp>
#include <lanewise/papers/detail/graphs/frontier_tiles.hpp>
#include <lanewise/papers/detail/graphs/reached_vertices.hpp>
#include <lanewise/papers/detail/graphs/row_gathering.hpp>
#include <lanewise/papers/detail/graphs/vertex_culls.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

template <class Vertex, class Offset>
struct frontier_task {
  graph_rows<Vertex, Offset> out;
  Vertex source;
  std::int32_t most_depth;
  reached_vertices<Vertex> reached;
  frontier_queue<Vertex> queues[2];
  frontier_counters* counters;
  std::uint64_t* meetings;
  bfs_level_counts* counts;  // null: not wanted
  std::int64_t count_rows;
  status* errors;
};

/// The phases of searches by frontiers (Merrill, 6.5), each by all teams: from one queue to
/// another. What is pushed is counted; a queue that is too short keeps what it has room for.
template <class Team, class Vertex, class Offset, class Policy, bool with_parents, bool counted>
class frontier_phases {
 protected:
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using places = lanes<std::int64_t>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using value_type = std::conditional_t<with_parents, Vertex, no_value>;
  using queue_type = frontier_queue<Vertex>;
  using gathering = row_gathering<Policy::gathering, Team, value_type>;
  using warp_culling = warp_cull<Policy::warp_cull, Team, Vertex>;
  using team_culling = history_cull<Policy::history_cull, Team, Vertex>;
  using tiling = frontier_tiles<Team, Policy::steals_tiles>;
  using counts = bfs_level_counts;

 public:
  using task = frontier_task<Vertex, Offset>;
  struct scratch {
    typename gathering::scratch rows;
    typename warp_culling::scratch in_warp;
    typename team_culling::scratch in_team;
    typename tiling::scratch tiles;
    reservation_scratch<Team, std::uint64_t> reservation;
    allocation_scratch<Team, std::int64_t> allocation;
    league_sums::scratch<Team> sums;
  };

 protected:
  LANEWISE_FUNCTION frontier_phases(const Team& team, scratch& shared, const task& t)
      : team_(team), shared_(shared), task_(t) {}

  /// Vertices of the level before that are queued lead to vertices that are queued.
  LANEWISE_FUNCTION void expand_contract(const queue_type& in, const queue_type& out) {
    for_each_tile([&](std::int64_t first) LANEWISE_INLINE_LAMBDA {
      auto vertex = lanes<Vertex>(Vertex{0});
      const auto mine = tiling::of_warp(team_, first, size_);
      const auto there = take(in, mine, vertex);
      expand<gathering::needs_places>(cull(there, vertex), vertex, look_up_edges{*this, out});
    });
  }
  /// Edges lead to vertices, and these to edges.
  LANEWISE_FUNCTION void contract_expand(const queue_type& in, const queue_type& out) {
    for_each_tile([&](std::int64_t first) LANEWISE_INLINE_LAMBDA {
      lanes<Vertex> vertex(Vertex{0});
      const auto fresh = contract(in, first, vertex);
      expand<true>(fresh, vertex, write_edges{*this, out});
    });
  }
  LANEWISE_FUNCTION void contract_all(const queue_type& in, const queue_type& out) {
    for_each_tile([&](std::int64_t first) LANEWISE_INLINE_LAMBDA {
      lanes<Vertex> vertex(Vertex{0});
      const auto fresh = contract(in, first, vertex);
      const auto count = static_cast<std::uint64_t>(team_.warp().count(fresh));
      const auto at =
          detail::reserve_for_warps(team_, shared_.reservation, task_.counters->pushed, count);
      write(out, static_cast<std::int64_t>(at.mine - before_), count, fresh, vertex);
      pushed_ += count;
    });
  }
  LANEWISE_FUNCTION void expand_all(const queue_type& in, const queue_type& out) {
    for_each_tile([&](std::int64_t first) LANEWISE_INLINE_LAMBDA {
      lanes<Vertex> vertex(Vertex{0});
      const auto there = take(in, tiling::of_warp(team_, first, size_), vertex);
      expand<true>(there, vertex, write_edges{*this, out});
    });
  }

  const Team& team_;
  scratch& shared_;
  const task& task_;
  std::int32_t depth_ = 0;               // of the vertices that are expanded
  std::int64_t size_ = 0;                // of the queue that is read
  std::uint64_t before_ = 0;             // what was pushed before this phase
  std::uint64_t pushed_ = 0;             // by this warp in this phase
  frontier_counts<counted> now_, next_;  // of this level, and of vertices that its edges lead to

 private:
  template <class F>
  LANEWISE_FUNCTION void for_each_tile(const F& f) {
    tiles_.for_each(team_, shared_.tiles, *task_.counters, size_, f);
  }
  LANEWISE_FUNCTION mask_type take(const queue_type& in, const typename tiling::share& mine,
                                   lanes<Vertex>& vertex) {
    const auto warp = team_.warp();
    const mask_type there = warp.first(mine.count);
    vertex = warp.load(there, in.vertices + mine.at, Vertex{0});
    now_.add(&counts::words, mine.count);
    return there;
  }
  /// The edges of a tile whose vertices are new. They are reached now.
  LANEWISE_FUNCTION mask_type contract(const queue_type& in, std::int64_t first,
                                       lanes<Vertex>& vertex) {
    const auto warp = team_.warp();
    const auto mine = tiling::of_warp(team_, first, size_);
    const auto there = task_.out.only_vertices(warp, take(in, mine, vertex), vertex, task_.errors);
    now_.add(&counts::words, warp.count(there));
    const auto fresh =
        cull(detail::look_up<Policy::bitmap>(warp, task_.reached, there, vertex, now_), vertex);
    lanes<value_type> parent;
    if constexpr (with_parents) parent = warp.load(fresh, in.parents + mine.at, Vertex{0});
    detail::record_reached(warp, task_.reached, fresh, vertex, parent, depth_);
    now_.add(&counts::words, warp.count(fresh));
    return fresh;
  }
  LANEWISE_FUNCTION mask_type cull(const mask_type& open, const lanes<Vertex>& vertex) {
    const auto warp = team_.warp();
    const auto mine = warp_culling::stay(team_, shared_.in_warp, open, vertex);
    now_.add(warp, &counts::after_warp_cull, mine);
    const auto stays = team_culling::stay(team_, shared_.in_team, mine, vertex);
    now_.add(warp, &counts::expanded, stays);
    return stays;
  }

  /// body for the edges of the active lanes' vertices, by the team. placed: their places in the
  /// queue are reserved, or else, if they are only shared, begin with 0.
  template <bool numbered, class Body>
  LANEWISE_FUNCTION void expand(const mask_type& mask, const lanes<Vertex>& vertex,
                                const Body& body) {
    const auto warp = team_.warp();
    const auto row = task_.out.of(warp, mask, vertex);
    const auto length = warp.template cast<std::int64_t>(row.length);
    if constexpr (counted) now_.add(&counts::expanded_edges, warp.reduce(length, plus{}));
    now_.add(&counts::words, 2 * warp.count(mask));
    edge_places<warp_type> at{places(std::int64_t{0}), 0, 0};
    if constexpr (Body::writes) {
      const auto got =
          lanewise::reserve(team_, shared_.reservation, task_.counters->pushed, length);
      const places before(static_cast<std::int64_t>(before_));
      at = {warp.template cast<std::int64_t>(got.offset) - before,
            static_cast<std::int64_t>(got.total), static_cast<std::int64_t>(got.begin - before_)};
      if (team_.warp_index() == 0) pushed_ += got.total;
    } else if constexpr (numbered) {
      const auto got = lanewise::allocate(team_, shared_.allocation, length);
      at = {got.offset, got.total, 0};
    }
    lanes<value_type> value;
    if constexpr (with_parents) value = vertex;
    gathering::gather(team_, shared_.rows, warp.template cast<std::int64_t>(row.begin), length, at,
                      value, body);
  }
  /// Edges to their places in a queue.
  struct write_edges {
    static constexpr bool writes = true;
    frontier_phases& search;
    const queue_type& out;

    template <class Mask>
    LANEWISE_FUNCTION void operator()(const warp_type& warp, const Mask& mask,
                                      const lanes<value_type>& from, const places& edge,
                                      const places& place) const {
      const auto there = mask & (place < out.capacity);
      warp.scatter(there, out.vertices, place,
                   warp.gather(there, search.task_.out.columns, edge, Vertex{0}));
      if constexpr (with_parents) warp.scatter(there, out.parents, place, from);
      search.now_.add(&counts::words, 2 * warp.count(mask));
    }
  };
  /// Edges whose vertices are new to a queue of vertices.
  struct look_up_edges {
    static constexpr bool writes = false;
    frontier_phases& search;
    const queue_type& out;

    template <class Mask>
    LANEWISE_FUNCTION void operator()(const warp_type& warp, const Mask& mask,
                                      const lanes<value_type>& from, const places& edge,
                                      const places&) const {
      auto& s = search;
      const auto to = warp.gather(mask, s.task_.out.columns, edge, Vertex{0});
      const auto valid = s.task_.out.only_vertices(warp, mask_type(mask), to, s.task_.errors);
      const auto fresh = detail::look_up<Policy::bitmap>(warp, s.task_.reached, valid, to, s.next_);
      s.now_.add(&counts::words, 2 * warp.count(mask));
      if (!warp.any(fresh)) return;
      detail::record_reached(warp, s.task_.reached, fresh, to, from, s.depth_ + 1);
      const auto count = static_cast<std::uint64_t>(warp.count(fresh));
      const auto at = warp.fetch_add(s.task_.counters->pushed, count) - s.before_;
      s.write(out, static_cast<std::int64_t>(at), count, fresh, to);
      s.pushed_ += count;
      s.next_.add(&counts::words, static_cast<std::int64_t>(count));
    }
  };
  LANEWISE_FUNCTION void write(const queue_type& out, std::int64_t at, std::uint64_t count,
                               const mask_type& mask, const lanes<Vertex>& vertex) {
    const queue<Vertex, std::uint64_t> to{out.vertices, static_cast<std::uint64_t>(out.capacity),
                                          nullptr};
    to.write(team_.warp(), static_cast<std::uint64_t>(at), mask, vertex);
    now_.add(&counts::words, static_cast<std::int64_t>(count));
  }

  tiling tiles_;
};

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
