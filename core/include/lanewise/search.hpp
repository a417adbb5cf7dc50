// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

// Binary searches, in scratch or in global memory, with two faces: by a lane on its own, and by a
// warp together, which asks at as many places at once as it has lanes.

/// The first index in [first, last) for which holds(i) is false, or last; holds is true up to some
/// index and false from there on.
template <class Index, class F>
LANEWISE_FUNCTION constexpr Index partition_point(Index first, Index last, F holds) {
  while (first < last) {
    const Index middle = first + (last - first) / 2;
    if (holds(middle)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

/// The same by a warp: log n to the base of its width + 1 rounds of loads instead of log2 n.
template <class W, class F>
LANEWISE_FUNCTION std::int64_t partition_point(const W& warp, std::int64_t first, std::int64_t last,
                                               F holds) {
  using answers = typename W::template lanes<std::uint32_t>;
  while (first < last) {
    // Lane l asks for the last of the step numbers l, so that a new last is a number that was
    // asked.
    const std::int64_t step = (last - first + W::width) / (W::width + 1);
    const auto exists = warp.lane() < static_cast<std::uint32_t>((last - first) / step < W::width
                                                                     ? (last - first) / step
                                                                     : W::width);
    const auto answer = warp.map(
        exists,
        [&](std::uint32_t l) {
          return static_cast<std::uint32_t>(holds(first + (std::int64_t{l} + 1) * step - 1));
        },
        std::uint32_t{0}, warp.lane());
    const int held = warp.count(answer != answers(0u));
    first += held * step;
    if (held < W::width && first + step - 1 < last) last = first + step - 1;
  }
  return first;
}

/// The first index of a sorted array whose item is not less than x.
template <class T, class Index, class U>
LANEWISE_FUNCTION constexpr Index lower_bound(const T* sorted, Index n, const U& x) {
  return partition_point(Index{0}, n, [&](Index i) { return sorted[i] < x; });
}

/// The first index of a sorted array whose item is greater than x.
template <class T, class Index, class U>
LANEWISE_FUNCTION constexpr Index upper_bound(const T* sorted, Index n, const U& x) {
  return partition_point(Index{0}, n, [&](Index i) { return !(x < sorted[i]); });
}

/// A place on the path that merges the ends of consecutive ranges with the numbers of the items in
/// them: so many ends and so many items lie in front of it. Cutting the path into equal pieces
/// shares out both, whatever the ranges' lengths are.
template <class Index>
struct path_point {
  Index ends;
  Index items;
};

/// The place `distance` steps from the beginning of the path of ranges that end in front of items
/// end_of(0) <= end_of(1) <= ...: a range's end comes before the item that it ends in front of.
/// distance <= ranges + items; the place is known not to lie in front of `from`. (Merge path, with
/// the natural numbers as the second sequence.)
template <class Index, class Ends>
LANEWISE_FUNCTION constexpr path_point<Index> split_path(const Ends& end_of, Index ranges,
                                                         Index items, Index distance,
                                                         path_point<Index> from = {0, 0}) {
  const Index least = distance > items + from.ends ? distance - items : from.ends;
  const Index most = distance - from.items < ranges ? distance - from.items : ranges;
  const Index ends =
      partition_point(least, most, [&](Index r) { return end_of(r) + r < distance; });
  return {ends, distance - ends};
}

/// The same by a warp.
template <class W, class Ends>
LANEWISE_FUNCTION path_point<std::int64_t> split_path(const W& warp, const Ends& end_of,
                                                      std::int64_t ranges, std::int64_t items,
                                                      std::int64_t distance,
                                                      path_point<std::int64_t> from = {0, 0}) {
  const std::int64_t least = distance > items + from.ends ? distance - items : from.ends;
  const std::int64_t most = distance - from.items < ranges ? distance - from.items : ranges;
  const std::int64_t ends =
      partition_point(warp, least, most, [&](std::int64_t r) { return end_of(r) + r < distance; });
  return {ends, distance - ends};
}

LANEWISE_END_NAMESPACE
