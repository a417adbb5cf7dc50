// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

// Counts items by bucket in a team's scratch. It serves one or several ways to assign buckets at
// once, so that items are read once. (The warp-private counters of GPU Multisplit, 5.2.2, as
// counters of a team, which hardware adds to.)

/// `tables` tables of `buckets` counters each, one after the other.
template <int tables, int buckets>
struct bucket_counters {
  static constexpr int size = tables * buckets;
  std::uint32_t count[size];
};

/// Clears the counters. All warps of the team call it; a barrier() before anybody counts.
template <class Team, int tables, int buckets>
LANEWISE_FUNCTION void clear(const Team& team, bucket_counters<tables, buckets>& counters) {
  constexpr int width = Team::warp_type::width;
  static_assert(tables * buckets % width == 0, "lanewise: whole windows of buckets");
  const lanes_t<typename Team::warp_type, std::uint32_t> none(0u);
  for (int i = team.warp_index() * width; i < tables * buckets; i += Team::warps * width)
    team.warp().store(counters.count + i, none);
}

namespace detail {

/// Adds one item per lane; full: they all exist.
template <bool full, int tables, int buckets, class W, class Mask, class Items, class BucketOf>
LANEWISE_FUNCTION void count_window(const W& warp, bucket_counters<tables, buckets>& counters,
                                    const Mask& exists, const Items& items, BucketOf bucket_of) {
  using item = typename Items::value_type;
  const lanes_t<W, std::uint32_t> one(1u);
  LANEWISE_UNROLL
  for (int t = 0; t < tables; ++t) {
    const auto of = [&](const item& x) LANEWISE_INLINE_LAMBDA {
      return static_cast<std::uint32_t>(bucket_of(x, t));
    };
    const auto bucket = [&]() LANEWISE_INLINE_LAMBDA {
      if constexpr (full) return warp.map(of, items);
      if constexpr (!full) return warp.map(exists, of, ~std::uint32_t{0}, items);
    }();
    warp.template fetch_add<order::relaxed, scope::team>(
        exists & (bucket < static_cast<std::uint32_t>(buckets)), counters.count + t * buckets,
        bucket, one);
  }
}

/// Adds items [first, last) one by one. A team's, as units for different targets may meet in one
/// program.
template <class Team, int tables, int buckets, class Source, class BucketOf>
LANEWISE_LOOP_FUNCTION void count_one_by_one(bucket_counters<tables, buckets>& counters,
                                             Source source, std::int64_t first, std::int64_t last,
                                             BucketOf bucket_of) {
  const auto add = [&](std::int64_t i, std::uint32_t* count) LANEWISE_INLINE_LAMBDA {
    const auto item = source(i);
    for (int t = 0; t < tables; ++t) {
      const auto b = static_cast<std::uint32_t>(bucket_of(item, t));
      if (b < static_cast<std::uint32_t>(buckets))
        ++count[static_cast<std::uint32_t>(t * buckets) + b];
    }
  };
  std::int64_t i = first;
  // Neighbours of one bucket do not wait for each other. (One core of a Xeon, 4096 keys: 0.35 ns a
  // key instead of 0.48.)
  if (constexpr int size = tables * buckets; last - first >= 4 * size) {
    std::uint32_t other[size] = {};
    for (; i + 2 <= last; i += 2) {
      add(i, counters.count);
      add(i + 1, other);
    }
    for (int b = 0; b < size; ++b) counters.count[b] += other[b];
  }
  for (; i < last; ++i) add(i, counters.count);
}

}  // namespace detail

/// Adds items [first, last) of the source: item x to bucket bucket_of(x, t) of every table t.
/// Buckets outside of the table are skipped. All warps of the team call it; a barrier() before
/// anybody reads. A source is called once per item. On devices items of one bucket that are counted
/// at the same time wait for each other: at worst 32 times as long as where none meet.
template <class Team, int tables, int buckets, class Source, class BucketOf>
LANEWISE_FUNCTION void count(const Team& team, bucket_counters<tables, buckets>& counters,
                             const Source& source, std::int64_t first, std::int64_t last,
                             BucketOf bucket_of) {
  using warp_type = typename Team::warp_type;
  constexpr std::int64_t width = warp_type::width;
  if constexpr (Team::is_single_thread) {
    detail::count_one_by_one<Team>(counters, source, first, last, bucket_of);
    return;
  }
  constexpr int rows = 8;  // in flight together
  constexpr std::int64_t step = Team::warps * rows * width;
  const auto warp = team.warp();
  const auto item = [&](std::int64_t i) LANEWISE_INLINE_LAMBDA {
    return [&source, i](std::uint32_t l) LANEWISE_INLINE_LAMBDA { return source(i + l); };
  };
  std::int64_t i = first + team.warp_index() * rows * width;
  for (; i + rows * width <= last; i += step) {
    lanes_t<warp_type, typename Source::value_type> row[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) row[j] = warp.map(item(i + j * width), warp.lane());
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j)
      detail::count_window<true>(warp, counters, warp.first(static_cast<int>(width)), row[j],
                                 bucket_of);
  }
  for (const std::int64_t end = i + rows * width < last ? i + rows * width : last; i < end;
       i += width) {
    const std::int64_t left = end - i;
    const auto exists = warp.first(left);
    const auto items = warp.map(exists, item(i), typename Source::value_type{}, warp.lane());
    detail::count_window<false>(warp, counters, exists, items, bucket_of);
  }
}

/// Calls f(index of the first counter, counters, one per lane) for windows of all tables, every
/// window by one warp.
template <class Team, int tables, int buckets, class F>
LANEWISE_FUNCTION void for_each_window(const Team& team,
                                       const bucket_counters<tables, buckets>& counters, F f) {
  constexpr int width = Team::warp_type::width;
  for (int i = team.warp_index() * width; i < tables * buckets; i += Team::warps * width)
    f(i, team.warp().load(counters.count + i));
}

LANEWISE_END_NAMESPACE
