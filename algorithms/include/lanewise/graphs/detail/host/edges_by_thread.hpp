// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/kept_local.hpp>
#include <lanewise/graphs/detail/edges.hpp>
#include <lanewise/warp/search.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Calls f(from, to, edge) for a team's share of edges, one by one, where a warp is a thread: it
/// has nothing to win by windows, which cost more than most functions do. All that its loop needs
/// is here by value.
template <class V, class Vertex, class Offset, class F, class Next>
struct edges_by_thread {
  kept_local<F> f;
  const Vertex* columns;
  Vertex vertices;
  Next& next;

  /// Returns how many edges lead to no vertex.
  template <class Team, class Ranges>
  static LANEWISE_FUNCTION std::uint64_t take(const Team& team, const Ranges& ranges, const F& f,
                                              const graph_rows<Vertex, Offset>& rows, Next& next) {
    const index_range share = team.share(ranges.count + ranges.items);
    const path_piece mine = lanewise::cut_path(
        team.warp(), [&](std::int64_t r) { return ranges.end(r); }, ranges.count, ranges.items,
        share.begin, share.end);
    if (!mine.is_ordered()) return 0;
    return take_piece(ranges, mine, f, rows, next);
  }

 private:
  /// That a row is in order and in the piece, one comparison tells.
  template <class Ranges>
  static LANEWISE_LOOP_FUNCTION std::uint64_t take_piece(const Ranges& all, path_piece mine,
                                                         const F& f,
                                                         const graph_rows<Vertex, Offset>& rows,
                                                         Next& next) {
    const Ranges ranges = all;
    const edges_by_thread here{f, rows.columns, rows.vertices, next};
    const auto* const ends = ranges.ends();
    const std::int64_t origin = ranges.origin(), limit = mine.end.items + origin;
    std::int64_t at = mine.begin.items + origin;
    std::uint64_t bad = 0;
    for (std::int64_t r = mine.begin.ends; r < mine.end.ends; ++r) {
      auto last = static_cast<std::int64_t>(ends[r]);
      if (static_cast<std::uint64_t>(last - at) > static_cast<std::uint64_t>(limit - at))
        last = last < at ? at : limit;
      here.take_row(ranges.owner(r), origin, at, last, bad);
    }
    if (at < limit) here.take_row(ranges.owner(mine.end.ends), origin, at, limit, bad);
    return bad;
  }
  /// Items [at, last) of a row, counted from the origin on.
  LANEWISE_FUNCTION void take_row(const edge_owner<Vertex>& owner, std::int64_t origin,
                                  std::int64_t& at, std::int64_t last, std::uint64_t& bad) const {
    const std::int64_t shift = owner.shift - origin;
    for (; at < last; ++at) {
      const Vertex to = columns[at + shift];
      if (to >= vertices) [[unlikely]] {
        ++bad;
        continue;
      }
      const bool joins =
          detail::joins_next(f, static_cast<V>(owner.from), static_cast<V>(to), at + shift);
      if constexpr (requires { next.push_one(joins, to); }) next.push_one(joins, to);
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
