// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/host_tile.hpp>
#include <lanewise/detail/multisplit/buckets.hpp>
#include <lanewise/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Counting into, and distributing over, buckets by one thread: counters and cursors stay in the
/// first-level cache.
///
/// Items are scattered straight to their places while few output streams are open or the output
/// stays in a cache. Otherwise the streams drive each other out of the caches, above all where n is
/// a power of two, as all buckets then begin in the same cache set: the tile is first brought into
/// bucket order in scratch, and its runs are copied. (Zen 5, one core, 2^26 pairs, 32 buckets: 1.0
/// ns per pair instead of 3.5.)
template <class Team, class Key, class Policy, std::int64_t most_items>
class host_split {
  /// Several tables of counts: neighbours of one bucket do not wait for each other.
  static constexpr int tables = 4;
  /// As many streams as any first-level cache keeps lines of one set.
  static constexpr std::uint32_t most_direct_buckets = 8;
  /// Bytes between staged runs: keeps runs of equal length out of each other's cache sets.
  static constexpr int padding = 64;

  template <int item_bytes>
  static constexpr bool has_vectors = item_bytes <= 8 && (item_bytes & (item_bytes - 1)) == 0;

  template <class Values, class ValueSink>
  static constexpr bool values_stored_whole = [] {
    if constexpr (std::is_same_v<Values, std::nullptr_t>) {
      return true;
    } else {
      return stored_whole<ValueSink, typename Values::value_type>;
    }
  }();

 public:
  static constexpr std::int64_t items = most_items;

  /// value_bytes is 0 where there are no values.
  template <int value_bytes>
  struct scratch {
    static constexpr int item_bytes = static_cast<int>(sizeof(Key)) > value_bytes
                                          ? static_cast<int>(sizeof(Key))
                                          : value_bytes;
    /// A tile's keys or values in bucket order; items of odd sizes are never staged.
    static constexpr std::int64_t staged_bytes =
        has_vectors<item_bytes> ? item_bytes * items + padding * (most_buckets + 4) : 1;
    std::int64_t place[most_buckets];   // where the next item of every bucket goes,
    std::int64_t cursor[most_buckets];  // and its slot, while a tile is staged
    alignas(padding) unsigned char keys[staged_bytes];
    alignas(padding) unsigned char values[staged_bytes];
  };
  struct count_scratch {
    std::uint32_t count[tables][most_buckets + 1];
    std::uint32_t total[most_buckets + 1];
  };

  /// A column of counts is a thread's whole share, or part of it if that has more items than the
  /// counters can tell.
  static std::int64_t columns(std::int64_t tiles, std::int64_t league) {
    constexpr std::int64_t most_tiles = (std::int64_t{1} << 31) / items;
    const std::int64_t columns = league * divide_up(tiles, league * most_tiles);
    return columns < tiles ? columns : tiles;
  }
  static std::int64_t most_columns(std::int64_t tiles) { return tiles; }
  static constexpr std::int64_t few_tiles = 0;
  static LANEWISE_FUNCTION index_range column(std::int64_t tiles, std::int64_t c,
                                              std::int64_t columns) {
    return even_share(tiles, c, columns);
  }
  static LANEWISE_FUNCTION std::int64_t pieces(std::int64_t, std::int64_t columns) {
    return columns;
  }
  /// Counters that the tiles of a call need beside the columns: staging asks for them again.
  static std::int64_t tile_counters(std::int64_t tiles, std::uint32_t buckets) {
    return tiles * buckets;
  }

  template <class Source, class BucketOf, class Result, class ReportBad>
  static LANEWISE_FUNCTION void count(const Team&, count_scratch& shared, const Source& source,
                                      std::int64_t tiles, std::int64_t c, std::int64_t columns,
                                      std::int64_t n, BucketOf bucket_of, std::uint32_t buckets,
                                      std::uint32_t* tile_counts, Result result,
                                      ReportBad report_bad) {
    for (std::uint32_t b = 0; b <= buckets; ++b) shared.total[b] = 0;
    const index_range mine = column(tiles, c, columns);
    for (std::int64_t tile = mine.begin; tile < mine.end; ++tile) {
      count_tile(shared.count, source, items_of({tile, tile + 1}, n), bucket_of, buckets);
      for (std::uint32_t b = 0; b <= buckets; ++b) shared.total[b] += shared.count[0][b];
      for (std::uint32_t b = 0; b < buckets; ++b)
        tile_counts[tile * buckets + b] = shared.count[0][b];
    }
    for (std::uint32_t b = 0; b < buckets; ++b) result(b, shared.total[b]);
    if (shared.total[buckets] != 0) report_bad(shared.total[buckets]);
  }

  /// Places the items of column c.
  template <int value_bytes, class Source, class BucketOf, class Sink, class Values,
            class ValueSink>
  static LANEWISE_FUNCTION void place(const Team& team, scratch<value_bytes>& shared,
                                      const Source& source, std::int64_t all_tiles, std::int64_t c,
                                      std::int64_t columns, std::int64_t n, BucketOf bucket_of,
                                      std::uint32_t buckets, bool, const std::uint32_t* tile_counts,
                                      const std::int64_t* starts, std::int64_t, const Sink& sink,
                                      const Values& values, const ValueSink& value_sink) {
    constexpr int item_bytes = scratch<value_bytes>::item_bytes;
    const index_range tiles = column(all_tiles, c, columns);
    std::int64_t* const place = shared.place;
    for (std::uint32_t b = 0; b < buckets; ++b)
      place[b] = starts[columns * buckets + b] + starts[c * buckets + b];
    if constexpr (has_vectors<item_bytes> && stored_whole<Sink, Key> &&
                  values_stored_whole<Values, ValueSink>) {
      constexpr int bytes = sizeof(Key) + value_bytes;
      if (buckets > most_direct_buckets && n * bytes >= Policy::host_bytes_past_caches) {
        for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
          const index_range range = items_of({tile, tile + 1}, n);
          const std::uint32_t* const counts = tile_counts + tile * buckets;
          std::uint32_t streams = 0;
          for (std::uint32_t b = 0; b < buckets; ++b) streams += counts[b] != 0;
          if (streams > most_direct_buckets) {
            place_staged(team.warp(), shared, source, range, bucket_of, buckets, counts, sink,
                         values, value_sink);
            for (std::uint32_t b = 0; b < buckets; ++b) place[b] += counts[b];
          } else {  // as in input that is nearly in order
            distribute(source, range, bucket_of, buckets, place, sink, values, value_sink);
          }
        }
        return;
      }
    }
    distribute(source, items_of(tiles, n), bucket_of, buckets, place, sink, values, value_sink);
  }

 private:
  static LANEWISE_FUNCTION index_range items_of(index_range tiles, std::int64_t n) {
    const std::int64_t begin = tiles.begin * items, end = tiles.end * items;
    return {begin < n ? begin : n, end < n ? end : n};
  }

  /// Leaves the counts in count[0], those outside the buckets behind the last one.
  template <class Source, class BucketOf>
  static LANEWISE_FUNCTION void count_tile(std::uint32_t (&count)[tables][most_buckets + 1],
                                           Source source, index_range tile, BucketOf bucket_of,
                                           std::uint32_t buckets) {
    for (auto& table : count) {
      for (std::uint32_t b = 0; b <= buckets; ++b) table[b] = 0;
    }
    std::uint32_t bad = 0;
    const auto one = [&](std::int64_t i, int table) LANEWISE_INLINE_LAMBDA {
      const std::uint32_t b = bucket_number(bucket_of(source(i)));
      if (b < buckets) {
        ++count[table][b];
      } else {
        ++bad;
      }
    };
    std::int64_t i = tile.begin;
    for (; i + tables <= tile.end; i += tables) {
      for (int t = 0; t < tables; ++t) one(i + t, t);
    }
    for (; i < tile.end; ++i) one(i, 0);
    for (std::uint32_t b = 0; b < buckets; ++b) {
      for (int t = 1; t < tables; ++t) count[0][b] += count[t][b];
    }
    count[0][buckets] = bad;
  }

  /// Brings a tile into bucket order in scratch and copies its runs to their places.
  template <int value_bytes, class W, class Source, class BucketOf, class Sink, class Values,
            class ValueSink>
  static LANEWISE_FUNCTION void place_staged(const W& warp, scratch<value_bytes>& shared,
                                             const Source& source, index_range tile,
                                             BucketOf bucket_of, std::uint32_t buckets,
                                             const std::uint32_t* counts, const Sink& sink,
                                             const Values& values, const ValueSink& value_sink) {
    constexpr int item_bytes = scratch<value_bytes>::item_bytes;
    std::int64_t slots = 0;
    for (std::uint32_t b = 0; b < buckets; ++b) {
      shared.cursor[b] = slots;
      slots += counts[b] + padding / item_bytes;
    }
    const auto write_runs = [&](auto* to, const auto* staged) LANEWISE_INLINE_LAMBDA {
      for (std::uint32_t b = 0; b < buckets; ++b) {
        copy_run(warp, to + shared.place[b], staged, counts[b]);
        staged += counts[b] + padding / item_bytes;
      }
    };
    Key* const keys = reinterpret_cast<Key*>(shared.keys);
    const array_sink<Key> keys_to{keys, slots};
    if constexpr (std::is_same_v<Values, std::nullptr_t>) {
      distribute(source, tile, bucket_of, buckets, shared.cursor, keys_to, values, value_sink);
    } else {
      using value = typename Values::value_type;
      value* const staged = reinterpret_cast<value*>(shared.values);
      distribute(source, tile, bucket_of, buckets, shared.cursor, keys_to, values,
                 array_sink<value>{staged, slots});
      write_runs(value_sink.data, staged);
    }
    write_runs(sink.data, keys);
  }

  /// Sends every item to the next place of its bucket. Arrays are taken by value: their addresses
  /// then stay in registers.
  template <class Source, class BucketOf, class Sink, class Values, class ValueSink>
  static LANEWISE_FUNCTION void distribute(Source source, index_range range, BucketOf bucket_of,
                                           std::uint32_t buckets, std::int64_t* cursor, Sink sink,
                                           Values values, ValueSink value_sink) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const Key key = source(i);
      const std::uint32_t b = bucket_number(bucket_of(key));
      if (b >= buckets) continue;
      const std::int64_t to = cursor[b]++;
      sink(to, key);
      if constexpr (!std::is_same_v<Values, std::nullptr_t>) value_sink(to, values(i));
    }
  }

  /// Copies n items, whole lines of the target past the caches.
  template <class W, class T>
  static LANEWISE_FUNCTION void copy_run(const W& warp, T* to, const T* from, std::int64_t n) {
    constexpr std::int64_t width = W::width;
    const auto some = [&](std::int64_t i, std::int64_t k) LANEWISE_INLINE_LAMBDA {
      warp.store(warp.template first<T>(static_cast<int>(k)), to + i, warp.load(from + i));
    };
    std::int64_t i = first_aligned(array_sink<T>{to, n}, 0, n < width ? n : width);
    if (i > 0) some(0, i);
    for (; i + width <= n; i += width) warp.store_streaming(to + i, warp.load(from + i));
    if (i < n) some(i, n - i);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
