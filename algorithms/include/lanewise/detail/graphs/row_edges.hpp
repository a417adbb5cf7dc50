// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/by_threads.hpp>
#include <lanewise/detail/graphs/frontier_pieces.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Lanes go through places in steps: each has `left` places in front of it, and goes `step` of them
/// ahead at a time. body(there, places) for its next at_once places.
template <int at_once, class W, class Place, class Body>
LANEWISE_FUNCTION void take_places(const W& warp, typename W::template lanes<Place>& place,
                                   typename W::template lanes<Place>& left, Place step,
                                   const Body& body) {
  using lanes = typename W::template lanes<Place>;
  typename W::template mask_for<std::uint32_t> there[at_once];
  lanes places[at_once];
  LANEWISE_UNROLL
  for (int k = 0; k < at_once; ++k) {
    const auto ahead = static_cast<Place>(k * step);
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
  using lanes = typename warp_type::template lanes<T>;
  using piece = edge_piece<Vertex, Offset>;
  static constexpr std::uint32_t short_row = 16;  // edges that a lane looks at alone
  // Lanes that look at a longer row: 32 of its edges at once on devices, as long as others are
  // left. By the whole warp three of four lanes had nothing where rows have 32 edges.
  static constexpr int group = by_threads<Team> ? width : 8;

 public:
  static constexpr int at_once = 4;  ///< edges that a lane looks at together

  /// body(there, from, edges) for the edges of 32 rows: short rows by their lanes, side by side,
  /// then longer ones by groups of lanes, and the last few by the whole warp. All are lanes that go
  /// through places in steps.
  template <class Body>
  static LANEWISE_FUNCTION void for_each(const warp_type& warp, const lanes<piece>& rows,
                                         const Body& body) {
    const auto length = warp.map([](const piece& p) { return p.length; }, rows);
    auto todo = warp.ballot(length > Offset{short_row});
    auto edge = warp.map([](const piece& p) { return p.begin; }, rows);
    auto from = warp.map([](const piece& p) { return p.from; }, rows);
    auto left = select(length <= Offset{short_row}, length, lanes<Offset>(Offset{0}));
    int step = 1;
    for (;;) {
      while (warp.any(left != Offset{0})) {
        take_places<at_once>(warp, edge, left, static_cast<Offset>(step),
                             [&](const auto& there, const auto& edges)
                                 LANEWISE_INLINE_LAMBDA { body(there, from, edges); });
        if (step == group) next_rows(warp, rows, todo, group, from, edge, left);
      }
      if (todo == 0) break;
      step = warp_type::popcount(todo) >= width / group ? group : width;
      next_rows(warp, rows, todo, step, from, edge, left);
    }
  }

 private:
  /// Groups of so many lanes that have nothing left get a row each, as long as there are any.
  template <class Bits>
  static LANEWISE_FUNCTION void next_rows(const warp_type& warp, const lanes<piece>& rows,
                                          Bits& todo, int lanes_of_group, lanes<Vertex>& from,
                                          lanes<Offset>& edge, lanes<Offset>& left) {
    constexpr std::uint32_t none = width;
    const auto size = static_cast<std::uint32_t>(lanes_of_group);
    const auto first = warp.map([size](std::uint32_t l) { return l & ~(size - 1); }, warp.lane());
    auto idle = warp.ballot((left == Offset{0}) & (first == warp.lane()));
    if (idle == 0 || todo == 0) return;
    lanes<std::uint32_t> row(none);
    for (; idle != 0 && todo != 0; idle &= idle - 1, todo &= todo - 1) {
      const auto at = static_cast<std::uint32_t>(warp_type::lowest(idle));
      const auto next = static_cast<std::uint32_t>(warp_type::lowest(todo));
      row = select(first == at, lanes<std::uint32_t>(next), row);
    }
    const auto fresh = row < none;
    const auto source = row & lanes<std::uint32_t>(none - 1);
    const auto ahead = warp.template cast<Offset>(warp.lane() - first);
    from = select(
        fresh, warp.shuffle(warp.map([](const piece& p) { return p.from; }, rows), source), from);
    edge = select(
        fresh, warp.shuffle(warp.map([](const piece& p) { return p.begin; }, rows), source) + ahead,
        edge);
    const auto length =
        warp.shuffle(warp.map([](const piece& p) { return p.length; }, rows), source);
    left = select(
        fresh,
        warp.map([](Offset n, Offset l) -> Offset { return l < n ? n - l : 0; }, length, ahead),
        left);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
