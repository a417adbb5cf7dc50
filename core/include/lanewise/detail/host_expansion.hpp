// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/search.hpp>
#include <lanewise/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Load-balanced expansion by one thread, which walks its piece of the path range by range.
template <class Team, std::int64_t steps_>
struct host_expansion {
  /// What a thread should have at least.
  static constexpr std::int64_t steps = steps_;
  struct scratch {};

  /// Hands the items of the team's piece of the path to body.range(warp, range, first, last,
  /// limit), a range's part of them at a time and in order: items [first, last), perhaps none,
  /// belong to the range; those up to limit follow here.
  template <class Ends, class Body>
  static LANEWISE_FUNCTION void expand(const Team& team, scratch&, const Ends& end_of,
                                       std::int64_t ranges, std::int64_t items, const Body& body) {
    const auto warp = team.warp();
    const index_range piece = team.share(ranges + items);
    const auto begin = split_path(warp, end_of, ranges, items, piece.begin);
    const auto end = split_path(warp, end_of, ranges, items, piece.end, begin);
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
