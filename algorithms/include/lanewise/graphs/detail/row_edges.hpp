// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/frontier_pieces.hpp>
#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Lanes go through places in steps: each has `left` places before it, and goes `step` of them
/// ahead at a time. body(there, places) for its next at_once places.
template <int at_once, class W, class Place, class Body>
LANEWISE_FUNCTION void strided_step(const W& warp, lanes_t<W, Place>& place,
                                    lanes_t<W, Place>& left, Place step, const Body& body) {
  using lanes = lanes_t<W, Place>;
  mask_t<W, std::uint32_t> there[at_once];
  lanes places[at_once];
  LANEWISE_UNROLL
  for (int k = 0; k < at_once; ++k) {
    const auto ahead = static_cast<Place>(static_cast<Place>(k) * step);
    there[k] = left > ahead;
    places[k] = place + lanes(ahead);
  }
  const auto taken = static_cast<Place>(at_once * step);
  place = place + lanes(taken);
  left = warp.map(
      [taken](Place l) -> Place { return l > taken ? static_cast<Place>(l - taken) : 0; }, left);
  body(there, places);
}

/// The edges of a row in each lane.
template <class Team, class Vertex, class Offset>
class row_edges {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using piece = edge_piece<Vertex, Offset>;
  static constexpr std::uint32_t short_row = 16;  // edges that a lane looks at alone
  // On devices, rows of up to middle_row edges are looked at by groups of lanes, 32 edges of a row
  // at once: by the whole warp three of four lanes had nothing where rows have 32 edges. To hand
  // out longer rows to groups cost more than it gained (H200, bfs top down: kron.22 1.61 ms for all
  // rows, 1.22 so).
  static constexpr std::uint32_t middle_row = Team::is_single_thread ? short_row : 64;
  static constexpr bool has_middle_rows = middle_row > short_row;
  static constexpr std::uint32_t group = Team::is_single_thread ? width : 8;

 public:
  static constexpr int at_once = 4;  ///< edges that a lane looks at together

  /// body(there, from, edges) for the edges of 32 rows: short rows by their lanes, side by side,
  /// then middle ones by groups of lanes, and long ones by the warp. All are lanes that go through
  /// places in steps.
  template <class Body>
  static LANEWISE_FUNCTION void for_each(const warp_type& warp, const lanes<piece>& rows,
                                         const Body& body) {
    const auto length = warp.map([](const piece& p) { return p.length; }, rows);
    auto long_rows = warp.ballot(length > Offset{middle_row});
    auto middle_rows = warp.ballot(length > Offset{short_row}) & ~long_rows;
    auto edge = warp.map([](const piece& p) { return p.begin; }, rows);
    auto from = warp.map([](const piece& p) { return p.from; }, rows);
    auto left = lanewise::select(length <= Offset{short_row}, length, lanes<Offset>(Offset{0}));
    Offset step = 1;
    for (;;) {
      while (warp.any(left != Offset{0})) {
        detail::strided_step<at_once>(warp, edge, left, step,
                                      [&](const auto& there, const auto& edges)
                                          LANEWISE_INLINE_LAMBDA { body(there, from, edges); });
        if (has_middle_rows && step == group)
          next_middle_rows(warp, rows, middle_rows, from, edge, left);
      }
      if (has_middle_rows && middle_rows != 0) {
        step = group;
        next_middle_rows(warp, rows, middle_rows, from, edge, left);
      } else if (long_rows != 0) {
        step = width;
        next_long_row(warp, rows, long_rows, from, edge, left);
      } else {
        return;
      }
    }
  }

 private:
  /// The warp gets one row.
  template <class Bits>
  static LANEWISE_FUNCTION void next_long_row(const warp_type& warp, const lanes<piece>& rows,
                                              Bits& todo, lanes<Vertex>& from, lanes<Offset>& edge,
                                              lanes<Offset>& left) {
    const piece row = warp.broadcast(rows, warp_type::lowest(todo));
    todo &= todo - 1;
    const auto lane = warp.template cast<Offset>(warp.lane());
    from = lanes<Vertex>(row.from);
    edge = lanes<Offset>(row.begin) + lane;
    left = warp.map([n = row.length](Offset l) -> Offset { return l < n ? n - l : 0; }, lane);
  }
  /// Groups of lanes that have nothing left get a row each, as long as there are any.
  template <class Bits>
  static LANEWISE_FUNCTION void next_middle_rows(const warp_type& warp, const lanes<piece>& rows,
                                                 Bits& todo, lanes<Vertex>& from,
                                                 lanes<Offset>& edge, lanes<Offset>& left) {
    constexpr std::uint32_t none = width;
    const auto first = warp.map([](std::uint32_t l) { return l & ~(group - 1); }, warp.lane());
    auto idle = warp.ballot((left == Offset{0}) & (first == warp.lane()));
    if (idle == 0 || todo == 0) return;
    lanes<std::uint32_t> row(none);
    for (; idle != 0 && todo != 0; idle &= idle - 1, todo &= todo - 1) {
      const auto at = static_cast<std::uint32_t>(warp_type::lowest(idle));
      const auto next = static_cast<std::uint32_t>(warp_type::lowest(todo));
      row = lanewise::select(first == at, lanes<std::uint32_t>(next), row);
    }
    const auto fresh = row < none;
    const auto source = row & lanes<std::uint32_t>(none - 1);
    const auto ahead = warp.template cast<Offset>(warp.lane() - first);
    from = lanewise::select(
        fresh, warp.shuffle(warp.map([](const piece& p) { return p.from; }, rows), source), from);
    edge = lanewise::select(
        fresh, warp.shuffle(warp.map([](const piece& p) { return p.begin; }, rows), source) + ahead,
        edge);
    const auto length =
        warp.shuffle(warp.map([](const piece& p) { return p.length; }, rows), source);
    left = lanewise::select(
        fresh,
        warp.map([](Offset n, Offset l) -> Offset { return l < n ? n - l : 0; }, length, ahead),
        left);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
