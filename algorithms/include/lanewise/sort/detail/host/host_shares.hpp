// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/multisplit_kernels.hpp>
#include <lanewise/tile/stream/tile.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// Many buckets on hosts, in one round. Every thread counts a share of the items by counters of its
// own in memory. One thread turns counts into places, and every thread places its share. That is
// faster than two rounds while the lines that are written stay in a cache: neighbours go to few
// buckets, or there are few.

/// Writes whether neighbours are as scattered as over 2048 equal buckets: a sample of pairs that
/// are less than 64 items apart seldom has the same bucket, or one that is near.
template <class Source, class BucketOf>
struct scattered_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};
  static constexpr std::int64_t windows = 16;
  static constexpr int width = 64;

  Source keys;
  item_count n;
  BucketOf bucket_of;
  std::uint32_t near;
  bool* result;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team&, scratch<Team>&) const {
    const std::int64_t items = n();
    *result =
        items > windows * width && near_pairs(keys, items, bucket_of, near) * 2048 < all_pairs;
  }

 private:
  static constexpr std::uint32_t all_pairs = windows * width * (width - 1) / 2;

  static LANEWISE_LOOP_FUNCTION std::uint32_t near_pairs(Source source, std::int64_t items,
                                                         BucketOf bucket, std::uint32_t near) {
    std::uint32_t found = 0;
    for (std::int64_t w = 0; w < windows; ++w) {
      const std::int64_t begin = even_share(items - width, w, windows).begin;
      std::uint32_t of[width];
      for (int i = 0; i < width; ++i) of[i] = detail::bucket_number(bucket(source(begin + i)));
      for (int i = 1; i < width; ++i) {
        for (int j = 0; j < i; ++j) found += of[i] - of[j] + near <= 2 * near ? 1 : 0;
      }
    }
    return found;
  }
};

/// What a launch of share_kernel does.
struct share_steps {
  bool counts, scans, places;
};

template <class Source, class Sink, class Values, class ValueSink, class BucketOf>
struct share_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  Source keys;
  Sink keys_out;
  Values values;
  ValueSink values_out;
  item_count n;
  BucketOf bucket_of;
  std::uint32_t buckets;
  detail::integers offsets;
  status* errors;
  std::int64_t shares;
  std::uint32_t* counters;  // two tables for each share
  share_steps steps;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const std::int64_t items = n();
    const auto for_each_share = [&](auto f) LANEWISE_INLINE_LAMBDA {
      const auto [begin, end] = team.share(shares);
      for (std::int64_t s = begin; s < end; ++s) f(even_share(items, s, shares), table_of(s));
    };
    if (steps.counts)
      for_each_share([&](const index_range& mine, std::uint32_t* table)
                         LANEWISE_INLINE_LAMBDA { count(keys, mine, bucket_of, buckets, table); });
    if (steps.scans)
      kernels::report_kept(team.warp(), scan(), items, errors,
                           [&](std::int64_t kept) { begins_at(buckets, kept); });
    if (steps.places)
      for_each_share([&](const index_range& mine, std::uint32_t* table) LANEWISE_INLINE_LAMBDA {
        place<typename Team::warp_type>(keys, mine, bucket_of, buckets, table, keys_out, values,
                                        values_out);
      });
  }

 private:
  LANEWISE_FUNCTION std::uint32_t* table_of(std::int64_t share) const {
    return counters + 2 * share * buckets;
  }
  LANEWISE_FUNCTION void begins_at(std::uint32_t bucket, std::int64_t place) const {
    if (offsets.exist()) offsets.put(bucket, place);
  }

  static LANEWISE_LOOP_FUNCTION void count(Source source, index_range range, BucketOf bucket_of,
                                           std::uint32_t buckets, std::uint32_t* table) {
    for (std::uint32_t b = 0; b < 2 * buckets; ++b) table[b] = 0;
    std::uint32_t* const other = table + buckets;
    detail::for_each_by_four(range, [&](std::int64_t i, int t) LANEWISE_INLINE_LAMBDA {
      const std::uint32_t b = detail::bucket_number(bucket_of(source(i)));
      if (b < buckets) ++(t % 2 == 0 ? table : other)[b];
    });
  }

  /// Leaves in every share's table where its items of a bucket begin. Returns how many are in one.
  LANEWISE_FUNCTION std::int64_t scan() const {
    std::uint32_t before = 0;
    for (std::uint32_t b = 0; b < buckets; ++b) {
      begins_at(b, before);
      for (std::int64_t s = 0; s < shares; ++s) {
        std::uint32_t* const count = table_of(s) + b;
        const std::uint32_t here = count[0] + count[buckets];
        count[0] = before;
        before += here;
      }
    }
    return before;
  }

  template <class W>
  static LANEWISE_LOOP_FUNCTION void place(Source source, index_range range, BucketOf bucket_of,
                                           std::uint32_t buckets, std::uint32_t* next, Sink sink,
                                           Values from, ValueSink value_sink) {
    detail::for_each_by_cursors<W>(range, true, [&](std::int64_t i) LANEWISE_INLINE_LAMBDA {
      const auto key = source(i);
      const std::uint32_t b = detail::bucket_number(bucket_of(key));
      if (b >= buckets) return;
      const std::int64_t to = next[b]++;
      sink(to, key);
      if constexpr (!std::is_same_v<Values, std::nullptr_t>) value_sink(to, from(i));
    });
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
