// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>
#include <lanewise/papers/bfs_policy.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/tile/expansion.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

// The edges of rows. Each lane has one row (Merrill, 6.4.1). All forms call
//
//   body(warp, mask, value, edge, place);
//
// Each active lane has an edge, the value of the lane that has the row, and the edge's place. Rows
// get neighbouring places in the order of warps and lanes. All warps of a team call gather.

/// The places of the edges of a lane's row, and of all rows of the team. Not known unless places
/// are needed.
template <class W>
struct edge_places {
  lanes_t<W, std::int64_t> offset;
  std::int64_t total;
  std::int64_t begin;
};

template <class Team>
using lanes_of_places = lanes_t<typename Team::warp_type, std::int64_t>;
template <class Team, class T>
using lanes_of_values = lanes_t<typename Team::warp_type, T>;

/// A lane reads its own row. Lanes of short rows idle, and neighbours read far from each other.
template <class Team, class T>
struct gathering_by_lanes {
  static constexpr bool needs_places = false;
  struct scratch {};

  template <class Body>
  static LANEWISE_FUNCTION void gather(const Team& team, scratch&,
                                       const lanes_of_places<Team>& begin,
                                       const lanes_of_places<Team>& length,
                                       const edge_places<typename Team::warp_type>& at,
                                       const lanes_of_values<Team, T>& value, const Body& body) {
    using place_lanes = lanes_of_places<Team>;
    const auto warp = team.warp();
    for (std::int64_t i = 0; warp.any(length > i); ++i)
      body(warp, length > i, value, begin + place_lanes(i), at.offset + place_lanes(i));
  }
};

/// The warp reads one row after the other (listing 9, with ballots). Lanes idle in short rows.
template <class Team, class T>
struct gathering_by_warps {
  static constexpr bool needs_places = false;
  struct scratch {};

  template <class Body>
  static LANEWISE_FUNCTION void gather(const Team& team, scratch&,
                                       const lanes_of_places<Team>& begin,
                                       const lanes_of_places<Team>& length,
                                       const edge_places<typename Team::warp_type>& at,
                                       const lanes_of_values<Team, T>& value, const Body& body) {
    using warp_type = typename Team::warp_type;
    using place_lanes = lanes_of_places<Team>;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const auto lane = warp.template cast<std::int64_t>(warp.lane());
    for (auto todo = warp.ballot(length > std::int64_t{0}); todo != 0; todo &= todo - 1) {
      const int l = warp_type::lowest(todo);
      const std::int64_t first = warp.broadcast(begin, l), count = warp.broadcast(length, l);
      const std::int64_t place = warp.broadcast(at.offset, l);
      lanes_of_values<Team, T> of_row;
      if constexpr (!std::is_same_v<T, no_value>) of_row = warp.broadcast(value, l);
      for (std::int64_t i = 0; i < count; i += width)
        body(warp, lane < count - i, of_row, lane + place_lanes(first + i),
             lane + place_lanes(place + i));
    }
  }
};

/// A prefix sum gives every edge a lane (listing 10): edges go through scratch, a team's width at a
/// time. No lane idles but in the last round. A lane with a long row hands out all of it alone.
template <class Team, class T>
struct gathering_by_scan {
  static constexpr bool needs_places = true;
  static constexpr int width = Team::warp_type::width;
  static constexpr std::int64_t lanes = Team::warps * width;
  struct edge_of_row {
    std::int64_t edge;
    T value;
  };
  struct scratch {
    raw_array<edge_of_row, lanes> handed_out;
  };

  template <class Body>
  static LANEWISE_FUNCTION void gather(const Team& team, scratch& shared,
                                       const lanes_of_places<Team>& begin,
                                       const lanes_of_places<Team>& length,
                                       const edge_places<typename Team::warp_type>& at,
                                       const lanes_of_values<Team, T>& value, const Body& body) {
    using place_lanes = lanes_of_places<Team>;
    const auto warp = team.warp();
    const auto first = at.offset - place_lanes(at.begin);
    const std::int64_t mine = team.warp_index() * width;
    const auto lane = warp.template cast<std::int64_t>(warp.lane()) + place_lanes(mine);
    place_lanes handed(std::int64_t{0});
    for (std::int64_t done = 0; done < at.total; done += lanes) {
      for (;;) {
        const auto next = first + handed;
        const auto mask = (handed < length) & (next < done + lanes);
        if (!warp.any(mask)) break;
        warp.scatter(mask, shared.handed_out.data(), next - place_lanes(done),
                     warp.map(
                         [](std::int64_t e, const T& x) {
                           return edge_of_row{e, x};
                         },
                         begin + handed, value));
        handed = lanewise::select(mask, handed + place_lanes(std::int64_t{1}), handed);
      }
      team.barrier();
      const auto there = lane < at.total - done;
      const auto edge = warp.load(there, shared.handed_out.data() + mine, edge_of_row{});
      body(warp, there, warp.map([](const edge_of_row& e) { return e.value; }, edge),
           warp.map([](const edge_of_row& e) { return e.edge; }, edge),
           lane + place_lanes(at.begin + done));
      team.barrier();
    }
  }
};

/// The team's edges are shared evenly by its warps. Long rows of a share are read whole, short ones
/// together (Merrill's scan, warp and team gathering in one).
template <class Team, class T>
struct gathering_by_team {
  static constexpr bool needs_places = false;
  using expansion = range_expansion_t<Team, T>;
  using scratch = typename expansion::scratch;

  template <class Body>
  static LANEWISE_FUNCTION void gather(const Team& team, scratch& shared,
                                       const lanes_of_places<Team>& begin,
                                       const lanes_of_places<Team>& length,
                                       const edge_places<typename Team::warp_type>& at,
                                       const lanes_of_values<Team, T>& value, const Body& body) {
    expansion::by_team(team, shared, begin, length, value, placed<Body>{body, at.begin});
  }

 private:
  template <class Body>
  struct placed {
    const Body& body;
    std::int64_t begin;
    template <class W, class Mask, class Values, class Edges>
    LANEWISE_FUNCTION void operator()(const W& warp, const Mask& mask, const Values& value,
                                      const Edges& edge, std::int64_t rank) const {
      body(warp, mask, value, edge,
           warp.template cast<std::int64_t>(warp.lane()) +
               typename W::template lanes<std::int64_t>(begin + rank));
    }
  };
};

template <bfs_gathering how, class Team, class T>
using row_gathering = std::conditional_t<
    how == bfs_gathering::by_lanes, gathering_by_lanes<Team, T>,
    std::conditional_t<how == bfs_gathering::by_warps, gathering_by_warps<Team, T>,
                       std::conditional_t<how == bfs_gathering::by_scan, gathering_by_scan<Team, T>,
                                          gathering_by_team<Team, T>>>>;

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
