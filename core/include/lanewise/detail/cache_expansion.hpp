// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/search.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Load-balanced expansion by one thread: a tile is a piece of the path through ends and items, and
/// is walked range by range.
template <class Team, std::int64_t steps_>
struct cache_expansion {
  static constexpr std::int64_t steps = steps_;
  struct scratch {};

  /// Hands the items of tile `tile` to body.range(warp, range, first, last, limit), a range's part
  /// of them at a time and in order: items [first, last), perhaps none, belong to the range; those
  /// up to limit follow in this tile.
  template <class Ends, class Body>
  static LANEWISE_FUNCTION void expand(const Team& team, scratch&, const Ends& end_of,
                                       std::int64_t ranges, std::int64_t items, std::int64_t tile,
                                       const Body& body) {
    const auto warp = team.warp();
    const std::int64_t all = ranges + items;
    const auto begin = split_path(warp, end_of, ranges, items, tile * steps);
    const auto end = split_path(warp, end_of, ranges, items,
                                (tile + 1) * steps < all ? (tile + 1) * steps : all);
    std::int64_t i = begin.items;
    for (std::int64_t range = begin.ends; i < end.items; ++range) {
      const std::int64_t last = range < end.ends ? end_of(range) : end.items;
      body.range(warp, range, i, last, end.items);
      i = last;
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
