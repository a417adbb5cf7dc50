// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/chain.hpp>
#include <lanewise/detail/register_split.hpp>
#include <lanewise/policy.hpp>
#include <lanewise/source.hpp>
#include <lanewise/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A processor alone looks ahead less far than this over what is computed with the items.
inline constexpr std::int64_t page_bytes = 4096;

/// One warp's worth of items of a source, from index i on. Where prefetched, the items `ahead` of
/// them are asked for, or those a page ahead.
template <bool prefetched = false, class W, class Source>
LANEWISE_FUNCTION auto load_window(const W& warp, const Source& source, std::int64_t i,
                                   [[maybe_unused]] std::int64_t ahead = 0) {
  if constexpr (Source::contiguous) {
    const auto raw = [&]() LANEWISE_INLINE_LAMBDA {
      if constexpr (prefetched) {
        constexpr auto bytes = static_cast<std::int64_t>(sizeof(*source.data));
        return warp.load_streaming(source.data + i, ahead != 0 ? ahead * bytes : page_bytes);
      }
      if constexpr (!prefetched) return warp.load(source.data + i);
    }();
    if constexpr (requires { source.f.is_identity; }) {
      return raw;
    } else {
      return apply_by_lanes(warp, source.f, raw);
    }
  } else if constexpr (is_reversed_array<Source>) {
    return warp.shuffle_xor(load_window(warp, source.forward, source.extent - i - W::width),
                            W::width - 1);
  } else if constexpr (requires { source.f; }) {
    return apply_by_lanes(
        warp, source.f,
        warp.map([=](std::uint32_t lane) LANEWISE_INLINE_LAMBDA { return i + std::int64_t{lane}; },
                 warp.lane()));
  } else {
    return warp.map([&](std::uint32_t lane) LANEWISE_INLINE_LAMBDA { return source(i + lane); },
                    warp.lane());
  }
}

/// Whether windows can be written as they are: an array of what the lanes hold.
template <class Sink, class T>
inline constexpr bool stored_whole =
    Sink::contiguous&& std::is_same_v<T, typename sink_value<Sink>::type>;

/// Writes a window, past the caches if so asked; its place is then aligned (see first_aligned).
template <class W, class Sink, class Lanes>
LANEWISE_FUNCTION void store_window(const W& warp, const Sink& sink, std::int64_t i, const Lanes& x,
                                    bool past_caches = false) {
  if constexpr (stored_whole<Sink, typename Lanes::value_type>) {
    if (past_caches) {
      warp.store_streaming(sink.data + i, x);
    } else {
      warp.store(sink.data + i, x);
    }
  } else if constexpr (is_reversed_array<Sink>) {
    store_window(warp, sink.forward, sink.extent - i - W::width, warp.shuffle_xor(x, W::width - 1),
                 past_caches);
  } else {
    const auto lane = warp.lane();
    warp.each([&](const auto& value, std::uint32_t l)
                  LANEWISE_INLINE_LAMBDA { sink(i + l, value); },
              x, lane);
  }
}

/// Asks for the lines a page behind this place, to write to them, as many as `places` need.
template <int places, class Sink>
LANEWISE_FUNCTION void prefetch_places(const Sink& sink, std::int64_t to) {
  if constexpr (Sink::contiguous) {
    constexpr int line = 64;
    constexpr int bytes = places * static_cast<int>(sizeof(*sink.data));
    const char* const behind = reinterpret_cast<const char*>(sink.data + to) + page_bytes;
    for (int offset = 0; offset < bytes; offset += line) __builtin_prefetch(behind + offset, 1);
  }
}

/// Whether n results of type T are worth writing past the caches; policy.hpp says why. Results that
/// overwrite their input are in a cache already.
template <class T, class Policy, class Source, class Sink>
LANEWISE_FUNCTION bool pays_past_caches(const Source& source, const Sink& sink, std::int64_t n) {
  if constexpr (!stored_whole<Sink, T>) {
    return false;
  } else {
    bool in_place = false;
    if constexpr (Source::contiguous) {
      in_place = static_cast<const void*>(source.data) == static_cast<const void*>(sink.data);
    }
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
    return !in_place && bytes >= Policy::host_bytes_past_caches;
  }
}

/// The first index from i on whose place is the beginning of a line, or last.
template <class Sink>
LANEWISE_FUNCTION std::int64_t first_aligned(const Sink& sink, std::int64_t i, std::int64_t last) {
  if constexpr (Sink::contiguous) {
    constexpr std::uintptr_t line = 64;
    const auto into_line = reinterpret_cast<std::uintptr_t>(sink.data + i) % line;
    const auto aligned =
        i + static_cast<std::int64_t>((line - into_line) % line / sizeof(*sink.data));
    return aligned < last ? aligned : last;
  }
  return i;
}

/// Reduces items [first, last) of a source, streaming. Present when the range is not empty.
template <class T, class W, class Source, class Op>
LANEWISE_FUNCTION maybe<T> reduce_stream(const W& warp, const Source& source, std::int64_t first,
                                         std::int64_t last, Op op) {
  if (first >= last) return {{}, false};
  std::int64_t i = first;
  maybe<T> sum{{}, false};
  // Independent partial results hide the latency of op; only operators that commute allow them.
  constexpr int streams = 4;
  if constexpr (is_commutative<Op, T>) {
    if (last - first >= streams * W::width) {
      typename W::template lanes<T> partial[streams];
      for (int s = 0; s < streams; ++s) partial[s] = load_window(warp, source, i + s * W::width);
      for (i += streams * W::width; i + streams * W::width <= last; i += streams * W::width) {
        LANEWISE_UNROLL
        for (int s = 0; s < streams; ++s) {
          partial[s] = warp.map(op, partial[s], load_window(warp, source, i + s * W::width));
        }
      }
      sum.value = warp.reduce(
          warp.map(op, warp.map(op, partial[0], partial[1]), warp.map(op, partial[2], partial[3])),
          op);
      sum.present = true;
    }
  }
  for (; i < last; ++i) {
    const T x = source(i);
    sum.value = sum.present ? op(sum.value, x) : x;
    sum.present = true;
  }
  return sum;
}

/// A tile that a team of one warp leaves where it is: operations stream over it, and the second one
/// finds it in cache.
template <class Team, class T, class Policy, class Source, std::int64_t most_items>
class cache_tile {
 public:
  LANEWISE_FUNCTION cache_tile(const Team& team, const Source& source, std::int64_t first,
                               std::int64_t n)
      : team_(team),
        source_(source),
        first_(first),
        last_(first + most_items < n ? first + most_items : n),
        n_(n) {}

  LANEWISE_FUNCTION std::int64_t count() const { return last_ > first_ ? last_ - first_ : 0; }

  template <class Op>
  LANEWISE_FUNCTION void scan(Op op) {
    total_ = reduce_stream<T>(team_.warp(), source_, first_, last_, op).value;
    ahead_ = most_items * team_.league();
  }
  LANEWISE_FUNCTION const T& total() const { return total_; }

  template <class Sink>
  LANEWISE_FUNCTION void store(const Sink& sink) {
    const bool past_caches = pays_past_caches<T, Policy>(source_, sink, n_);
    const auto warp = team_.warp();
    std::int64_t i = first_;
    const auto up_to = [&](std::int64_t end) LANEWISE_INLINE_LAMBDA {
      for (; i < end; ++i) sink(i, source_(i));
    };
    if (past_caches) up_to(first_aligned(sink, i, last_));
    for (; i + width <= last_; i += width) {
      store_window(warp, sink, i, load_window(warp, source_, i), past_caches);
    }
    up_to(last_);
  }

  /// Writes op(item, the item before it); item 0 of the source as it is.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_adjacent(const Source&, const Sink& sink, Op op) {
    using result = decltype(op(source_(0), source_(0)));
    const auto warp = team_.warp();
    const bool past_caches = pays_past_caches<result, Policy>(source_, sink, n_);
    std::int64_t i = first_;
    if (i == 0 && i < last_) sink(i++, static_cast<result>(source_(0)));
    const auto up_to = [&](std::int64_t end) LANEWISE_INLINE_LAMBDA {
      for (; i < end; ++i) sink(i, op(source_(i), source_(i - 1)));
    };
    if (past_caches) up_to(first_aligned(sink, i, last_));
    for (; i + width <= last_; i += width) {
      const auto left = load_window(warp, source_, i - 1);
      store_window(warp, sink, i, warp.map(op, load_window(warp, source_, i), left), past_caches);
    }
    up_to(last_);
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) {
    std::int64_t i = first_;
    carry_ = before.value;
    if (!before.present && i < last_) {
      carry_ = source_(i);
      sink(i, carry_);
      ++i;
    }
    store_scan<false>(sink, i, op);
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const maybe<T>& before, Op op) {
    carry_ = before.value;
    store_scan<true>(sink, first_, op);
  }

  /// After store_inclusive or store_exclusive: the combination of everything before the tile and
  /// the tile. So a team that knows what comes before needs no scan().
  LANEWISE_FUNCTION const T& carry() const { return carry_; }

 private:
  using lanes = typename Team::warp_type::template lanes<T>;
  static constexpr int width = Team::warp_type::width;

  /// Scans items [i, last), behind carry_.
  template <bool exclusive, class Sink, class Op>
  LANEWISE_FUNCTION void store_scan(const Sink& sink, std::int64_t i, Op op) {
    T sum = carry_;
    const auto up_to = [&](std::int64_t end) LANEWISE_INLINE_LAMBDA {
      for (; i < end; ++i) {
        const T with = op(sum, source_(i));
        sink(i, exclusive ? sum : with);
        sum = with;
      }
    };
    if constexpr (is_commutative<Op, T>) {
      const bool past_caches = pays_past_caches<T, Policy>(source_, sink, n_);
      const auto warp = team_.warp();
      if (past_caches) up_to(first_aligned(sink, i, last_));
      for (; i + width <= last_; i += width) {
        const auto here = warp.inclusive_scan(load_window<true>(warp, source_, i, ahead_), op);
        auto result = warp.map(op, lanes(sum), here);
        if constexpr (exclusive) {
          result = select(warp.template first<T>(1), lanes(sum), warp.shuffle_up(result, 1));
        }
        sum = op(sum, warp.broadcast(here, width - 1));
        store_window(warp, sink, i, result, past_caches);
      }
    }
    up_to(last_);
    carry_ = sum;
  }

  const Team& team_;
  const Source& source_;
  std::int64_t first_;
  std::int64_t last_;
  std::int64_t n_;
  T total_{};
  T carry_{};
  /// How far ahead of a scan its items are asked for: a page, or where the tile has been read
  /// before, the tile that this team will probably draw next, because reads alone do not fill the
  /// bus.
  std::int64_t ahead_ = 0;
};

/// Counting into, and distributing over, buckets by one thread: counters and cursors stay in the
/// first-level cache.
///
/// Items are scattered straight to their places while few output streams are open or the output
/// stays in a cache. Otherwise the streams drive each other out of the caches, above all where n is
/// a power of two, as all buckets then begin in the same cache set: the tile is first brought into
/// bucket order in scratch, and its runs are copied. (Zen 5, one core, 2^26 pairs, 32 buckets: 1.0
/// ns per pair instead of 3.5.)
template <class Team, class Key, class Policy, std::int64_t most_items>
class cache_split {
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
