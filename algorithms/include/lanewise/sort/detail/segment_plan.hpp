// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/radix_plan.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Segments: segment s has items [offset[s], offset[s + 1]) of those of all segments. They lie
/// there in memory, too, or, where segments lie apart, shift[s] places farther on.
struct segment_list {
  const std::int64_t* offset;  ///< in memory of the call, and in order unless there are bad ones
  const std::int64_t* shift;   ///< nullptr: segments do not lie apart
  item_count count;
  const std::uint32_t* bad;  ///< whether there are segments that are none; then nothing is sorted

  /// The items of segments [s, e).
  LANEWISE_FUNCTION std::int64_t items(std::int64_t s, std::int64_t e) const {
    return offset[e] - offset[s];
  }
  /// The place in memory at which segment s begins.
  LANEWISE_FUNCTION std::int64_t begin(std::int64_t s) const {
    return offset[s] + (shift != nullptr ? shift[s] : 0);
  }
  /// The step at which segment s begins on a path. A segment takes a step on it, and each of its
  /// items one.
  LANEWISE_FUNCTION std::int64_t step(std::int64_t s) const { return items(0, s) + s; }
  /// How many segments there are to sort.
  LANEWISE_FUNCTION std::int64_t size() const { return *bad != 0 ? 0 : count(); }
};

/// Windows of the path on which item i of segment s is step i + s + 1, and the begin of s one step
/// before. A window has the segments that begin in it.
struct segment_windows {
  static constexpr int steps = 4096;
  static constexpr int group = 4;         ///< windows that are long together
  static constexpr int most_length = 64;  ///< of a short segment
  enum kind : std::uint32_t { none = 0, short_ones = 1, long_ones = 2 };

  std::int64_t* first;   ///< of a window: the first segment that begins in it or after it
  std::uint32_t* kinds;  ///< of a group's segments; `first` is set in groups with segments

  static LANEWISE_FUNCTION std::int64_t window(std::int64_t step) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(step) / steps);
  }
  static LANEWISE_FUNCTION std::int64_t group_of(std::int64_t step) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(step) / (steps * group));
  }
  /// Segment s of `all` has items [begin, end). Segments may overlap where others are bad. Several
  /// threads then write the same windows, and no kernel reads the windows.
  template <class Solo>
  LANEWISE_FUNCTION void add(const Solo& solo, std::int64_t s, std::int64_t begin, std::int64_t end,
                             std::int64_t all) const {
    const std::int64_t w = window(begin + s), next = window(end + s + 1);
    const std::int64_t g = w / group * group, next_g = next / group * group;
    if (s == 0) set(solo, g, w + 1, 0);
    set(solo, w + 1, (next < g + group ? next : g + group) + 1, s + 1);
    if (next_g > g) set(solo, next_g, next + 1, s + 1);
    if (s + 1 == all) set(solo, next + 1, next_g + group + 1, all);
  }
  LANEWISE_FUNCTION bool has(std::int64_t g, kind of) const { return (kinds[g] & of) != 0; }

 private:
  template <class Solo>
  LANEWISE_FUNCTION void set(const Solo& solo, std::int64_t from, std::int64_t to,
                             std::int64_t s) const {
    for (std::int64_t w = from; w < to; ++w) solo.template store<order::relaxed>(first[w], s);
  }
};

/// Segments [first, last), which one team sorts together.
struct segment_job {
  std::int64_t first;
  std::int64_t last;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
