// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp.hpp>

#include <concepts>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

// Binary searches, in scratch or in global memory, with two faces: by a lane on its own, and by a
// warp together, which asks at as many places at once as it has lanes.

/// The first index in [first, last) for which holds(i) is false, or last; holds is true up to some
/// index and false from there on.
template <std::integral Index, class F>
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

/// The same for k ranges at once, by a warp: first[q] becomes the first index in [first[q],
/// last[q]) for which holds(q, i) is false. Log n to the base of the warp's width + 1 rounds of
/// loads instead of log2 n, and no more of them for k ranges than for the longest.
template <int k, class W, class F>
LANEWISE_FUNCTION void partition_points(const W& warp, std::int64_t (&first)[k],
                                        std::int64_t (&last)[k], F holds) {
  using answers = typename W::template lanes<std::uint32_t>;
  const auto open = [&] {
    bool any = false;
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) any = any || first[q] < last[q];
    return any;
  };
  while (open()) {
    std::int64_t step[k];
    answers answer[k];
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) {
      // Lane l asks for the last of the step numbers l, so that a new last is a number that was
      // asked.
      const std::int64_t n = last[q] - first[q];
      step[q] = (n + W::width) / (W::width + 1);
      answer[q] = warp.map(
          [&](std::uint32_t l) {
            const std::int64_t end = (std::int64_t{l} + 1) * step[q];
            return static_cast<std::uint32_t>(end <= n && n > 0 && holds(q, first[q] + end - 1));
          },
          warp.lane());
    }
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) {
      const int held = warp.count(answer[q] != answers(0u));
      first[q] += held * step[q];
      if (held < W::width && first[q] + step[q] - 1 < last[q]) last[q] = first[q] + step[q] - 1;
    }
  }
}

/// The same for one range.
template <class W, class F>
LANEWISE_FUNCTION std::int64_t partition_point(const W& warp, std::int64_t first, std::int64_t last,
                                               F holds) {
  std::int64_t from[1] = {first}, to[1] = {last};
  partition_points(warp, from, to, [&](int, std::int64_t i) { return holds(i); });
  return from[0];
}

/// The first index of a sorted array whose item is not less than x.
template <class T, std::integral Index, class U>
LANEWISE_FUNCTION constexpr Index lower_bound(const T* sorted, Index n, const U& x) {
  return partition_point(Index{0}, n, [&](Index i) { return sorted[i] < x; });
}

/// The first index of a sorted array whose item is greater than x.
template <class T, std::integral Index, class U>
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

/// A piece of a path.
struct path_piece {
  path_point<std::int64_t> begin;
  path_point<std::int64_t> end;

  /// Not so where the ranges' ends are out of order.
  LANEWISE_FUNCTION bool is_ordered() const {
    return begin.ends <= end.ends && begin.items <= end.items;
  }
};

/// The piece from `first` to `last` steps from the beginning of the path, both ends of which are
/// searched at once. An end is as many steps as `weight` items; a cut among them falls in front of
/// the end, or in front of where the path is then.
template <int weight = 1, class W, class Ends>
LANEWISE_FUNCTION path_piece cut_path(const W& warp, const Ends& end_of, std::int64_t ranges,
                                      std::int64_t items, std::int64_t first, std::int64_t last) {
  const std::int64_t distance[2] = {first, last};
  std::int64_t least[2], most[2];
  LANEWISE_UNROLL
  for (int q = 0; q < 2; ++q) {
    least[q] = distance[q] > items ? (distance[q] - items) / weight : 0;
    most[q] = distance[q] / weight < ranges ? distance[q] / weight : ranges;
  }
  partition_points(warp, least, most, [&](int q, std::int64_t r) {
    return end_of(r) + weight * (r + 1) <= distance[q];
  });
  path_point<std::int64_t> point[2];
  LANEWISE_UNROLL
  for (int q = 0; q < 2; ++q) {
    point[q] = {least[q], distance[q] - weight * least[q]};
    if (weight > 1 && least[q] < ranges) {
      // Some steps of the next end may lie in front of the cut.
      const std::int64_t end = end_of(least[q]);
      if (end < point[q].items) point[q].items = end;
    }
  }
  return {point[0], point[1]};
}

LANEWISE_END_NAMESPACE
