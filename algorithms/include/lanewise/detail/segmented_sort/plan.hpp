// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/radix_sort/plan.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Segments, one behind the other: segment s has items [offset[s], offset[s + 1]).
struct segment_list {
  const std::int64_t* offset;  ///< in memory of the call, and in order unless there are bad ones
  item_count count;
  const std::uint32_t* bad;  ///< whether there are segments that are none; then nothing is sorted

  /// The items of segments [s, e).
  LANEWISE_FUNCTION std::int64_t items(std::int64_t s, std::int64_t e) const {
    return offset[e] - offset[s];
  }
  /// Where segment s begins on a path on which it takes a step, and each of its items one.
  LANEWISE_FUNCTION std::int64_t step(std::int64_t s) const { return items(0, s) + s; }
  /// How many segments there are to sort.
  LANEWISE_FUNCTION std::int64_t size() const { return *bad != 0 ? 0 : count(); }
};

/// Segments [first, last), which one team sorts together.
struct segment_job {
  std::int64_t first;
  std::int64_t last;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
