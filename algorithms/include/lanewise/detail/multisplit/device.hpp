// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/device_rows.hpp>
#include <lanewise/detail/multisplit/buckets.hpp>
#include <lanewise/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a team of several warps counts into, or distributes over, buckets (block-level multisplit:
/// GPU Multisplit 5.2.2 with the windows of Ashkiani 3.5). Items of a warp's segment of a tile lie
/// row by row, one per lane, so that lane order is item order.
///
/// A team counts a column, a run of tiles, and says for each tile what precedes it in the column;
/// it places a tile. So few numbers have to be scanned, and tiles that are placed at the same time
/// are neighbours, as are then the lines of the output that they write parts of.
template <class Team, class Key, int items_per_lane>
class device_split {
 public:
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int segment = items_per_lane * width;
  static constexpr int items = segment * Team::warps;
  static constexpr int threads = Team::warps * width;

 private:
  using bits = typename warp_type::bits;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;
  using u32s = lanes<std::uint32_t>;

  /// Counters of a bucket for the lanes to choose from, so that fewer meet.
  static constexpr int copies = 4;
  using counters = pack<std::uint32_t, copies>;
  /// What a lane loads at a time where items are only counted: up to 64 bytes, in whole packs.
  static constexpr int counted_per_lane = [] {
    constexpr int v = pack_items<Key, items_per_lane>;
    int k = v;
    for (int d = v; d <= items_per_lane && d * static_cast<int>(sizeof(Key)) <= 64; d += v) {
      if (items_per_lane % d == 0) k = d;
    }
    return k;
  }();
  /// With more scratch no second team would fit beside a team. Values that large are written from
  /// where they are: nearly whole sectors, wherever they go.
  static constexpr int most_staged_bytes = 80 << 10;
  template <int value_bytes>
  static constexpr bool stages_values = value_bytes > 0 &&
                                        (static_cast<int>(sizeof(Key)) + value_bytes) * items
                                            <= most_staged_bytes;

  /// What values of this size may ask for; 0: there are none.
  static constexpr std::size_t alignment_of_size(int bytes) {
    if (bytes == 0) return 1;
    const auto most = static_cast<std::size_t>(bytes & -bytes);
    return most < most_alignment ? most : most_alignment;
  }

  /// The fewest items of this size that fill whole sectors of memory, of 32 bytes, clipped to 8.
  static constexpr int items_to_sector(int bytes) {
    const int k = 32 / (bytes & -bytes);
    return k > 8 ? 8 : (k < 1 ? 1 : k);
  }
  /// Where values are staged beside keys, a slot of the tile and its place in the output agree
  /// modulo this many items, so that rows of the tile end where sectors do: a row that cuts a
  /// sector makes two pieces of it for the second-level cache. In front of a bucket's run up to
  /// alignment - 1 slots remain empty for it. Keys alone are bound by instructions as much: with
  /// empty slots to leave out, 2^28 u32 on an H200 went into 8 and 32 buckets 3 and 1 % slower,
  /// into 256 4 % faster.
  template <int value_bytes>
  static constexpr int alignment = [] {
    if constexpr (!stages_values<value_bytes>) {
      return 1;
    } else {
      const int of_keys = items_to_sector(static_cast<int>(sizeof(Key)));
      const int of_values = items_to_sector(value_bytes);
      return of_keys > of_values ? of_keys : of_values;
    }
  }();

  template <int value_bytes>
  static constexpr bool aligns = alignment<value_bytes> != 1;

  static constexpr int groups = most_buckets / width;
  static constexpr int groups_per_warp = (groups + Team::warps - 1) / Team::warps;

 public:
  /// value_bytes is 0 where there are no values.
  template <int value_bytes>
  struct scratch {
    static constexpr int rows = static_cast<int>(
        divide_up(items + (most_buckets + groups) * (alignment<value_bytes> - 1), width));
    static constexpr int slots = rows * width;
    static_assert(slots < 1 << 16);
    // Narrow counters share banks with fewer others.
    std::uint16_t count[Team::warps][most_buckets];
    // What to add to a slot of the tile to get the item's place in the output, in two halves.
    std::uint32_t base[most_buckets];
    std::uint32_t base_high[most_buckets];
    std::uint32_t group_total[groups];
    // The empty slots of every row, in whole windows.
    bits empty[aligns<value_bytes> ? divide_up(rows, width) * width : 1];
    alignas(16) alignas(Key) unsigned char keys[sizeof(Key) * slots];
    alignas(16) alignas(alignment_of_size(
        value_bytes)) unsigned char values[stages_values<value_bytes> ? value_bytes * slots : 1];
  };
  struct count_scratch {
    alignas(16) counters count[2][most_buckets];
    std::uint32_t bad;
  };

  /// Where tiles are few, each is a column, whatever is resident.
  static constexpr std::int64_t few_tiles = 1024;
  /// Several columns for every team that is resident, so that all of those end at about the same
  /// time.
  static std::int64_t columns(std::int64_t tiles, std::int64_t resident_teams) {
    if (tiles == 0) return 0;
    const std::int64_t wanted = columns_per_team * resident_teams;
    const std::int64_t most = most_columns(tiles);
    const std::int64_t least = divide_up(tiles, most_tiles);
    const std::int64_t about = wanted > most ? most : (wanted < least ? least : wanted);
    return divide_up(tiles, divide_up(tiles, about));
  }
  /// For any number of teams.
  static std::int64_t most_columns(std::int64_t tiles) {
    const std::int64_t most = column_limit + divide_up(tiles, most_tiles);
    return tiles < most ? tiles : most;
  }
  static LANEWISE_FUNCTION index_range column(std::int64_t tiles, std::int64_t c,
                                              std::int64_t columns) {
    const std::int64_t each = divide_up(tiles, columns);
    const std::int64_t begin = c * each, end = begin + each;
    return {begin, end < tiles ? end : tiles};
  }
  /// What tiles are placed by.
  static LANEWISE_FUNCTION std::int64_t pieces(std::int64_t tiles, std::int64_t) { return tiles; }
  static std::int64_t tile_counters(std::int64_t tiles, std::uint32_t buckets) {
    return tiles * buckets;
  }

  /// Counts the items of column c that are below n by bucket and calls result(b, count) for every
  /// bucket b; one warp calls report_bad(count) if there are items outside the buckets.
  template <class Source, class BucketOf, class Result, class ReportBad>
  static LANEWISE_FUNCTION void count(const Team& team, count_scratch& shared, const Source& source,
                                      std::int64_t tiles, std::int64_t c, std::int64_t columns,
                                      std::int64_t n, BucketOf bucket_of, std::uint32_t buckets,
                                      std::uint32_t* tile_counts, Result result,
                                      ReportBad report_bad) {
    using rows = device_rows<Team, Key, counted_per_lane>;
    const auto warp = team.warp();
    const auto lane = warp.lane();
    const u32s one(1u), none(0u), stride(copies);
    const auto copy = lane & u32s(copies - 1u);
    const auto [begin, end] = column(tiles, c, columns);
    for_each_group(team, buckets, [&](int, int g) LANEWISE_INLINE_LAMBDA {
      warp.store(shared.count[0] + g * width, lanes<counters>(counters{}));
      warp.store(shared.count[1] + g * width, lanes<counters>(counters{}));
    });
    team.once([&] { shared.bad = 0; });
    u32s bad(0u);
    // Tiles take turns with two sets of counters: while one is read, the next tile is counted into
    // the other. Each knows the items of every second tile so far.
    u32s known[2][groups_per_warp];
    LANEWISE_UNROLL
    for (int q = 0; q < groups_per_warp; ++q) known[0][q] = known[1][q] = none;
    for (std::int64_t tile = begin; tile < end; tile += 2) {
      LANEWISE_UNROLL
      for (int set = 0; set < 2; ++set) {
        if (tile + set >= end) continue;
        std::uint32_t* const in_front = tile_counts + (tile + set) * buckets;
        for_each_group(team, buckets, [&](int q, int g) LANEWISE_INLINE_LAMBDA {
          const auto bucket = lane + u32s(static_cast<std::uint32_t>(g) * width);
          warp.store(bucket < buckets, in_front + g * width, known[0][q] + known[1][q]);
        });
        team.barrier();
        const std::int64_t first = (tile + set) * items;
        const std::int64_t last = first + items < n ? first + items : n;
        LANEWISE_UNROLL
        for (int k = 0; k < items_per_lane / counted_per_lane; ++k) {
          rows some(team, source, first + k * rows::items, last);
          some.for_each_window([&](const auto& exists, const lanes<Key>& key) {
            const auto bucket = warp.map(
                exists, [&](const Key& x) { return bucket_number(bucket_of(x)); }, std::uint32_t{0},
                key);
            const auto good = exists & (bucket < buckets);
            warp.template fetch_add<order::relaxed, scope::team>(
                good, reinterpret_cast<std::uint32_t*>(shared.count[set]), bucket * stride + copy,
                one);
            bad = bad + select(exists & !good, one, none);
          });
        }
        team.barrier();
        for_each_group(team, buckets, [&](int q, int g) LANEWISE_INLINE_LAMBDA {
          known[set][q] = warp.map(
              [](const counters& x) {
                std::uint32_t sum = 0;
                LANEWISE_UNROLL
                for (int i = 0; i < copies; ++i) sum += x[i];
                return sum;
              },
              warp.load(shared.count[set] + g * width));
        });
      }
    }
    for_each_group(team, buckets, [&](int q, int g) LANEWISE_INLINE_LAMBDA {
      auto bucket = lane + u32s(static_cast<std::uint32_t>(g) * width);
      auto sum = known[0][q] + known[1][q];
      warp.each(bucket < buckets, result, bucket, sum);
    });
    const std::uint32_t all_bad = warp.reduce(bad, plus{});
    if (all_bad != 0) warp.template fetch_add<order::relaxed, scope::team>(shared.bad, all_bad);
    team.barrier();
    if (team.warp_index() == 0 && shared.bad != 0) report_bad(shared.bad);
  }

  /// Distributes the items of a tile that are below n: those of bucket b and of the tile's column c
  /// go, in order, to the places of the sink from starts[c * buckets + b] on, counted from the
  /// bucket's first, starts[columns * buckets + b]. Values go the same way as their keys. Items
  /// outside the buckets go nowhere; all_good says that there are none. All places are below end.
  template <int value_bytes, class Source, class BucketOf, class Sink, class Values,
            class ValueSink>
  static LANEWISE_FUNCTION void place(const Team& team, scratch<value_bytes>& shared,
                                      const Source& source, std::int64_t tiles, std::int64_t tile,
                                      std::int64_t columns, std::int64_t n, BucketOf bucket_of,
                                      std::uint32_t buckets, bool all_good,
                                      const std::uint32_t* tile_counts, const std::int64_t* starts,
                                      std::int64_t end, const Sink& sink, const Values& values,
                                      const ValueSink& value_sink) {
    const std::int64_t at = tile * items + team.warp_index() * segment;
    const std::int64_t left = n - at;
    // Whether all is there is asked of unclamped numbers: see device_rows.
    const segment_range here{
        at, left >= segment ? segment : (left < 0 ? 0 : static_cast<int>(left)), left >= segment};
    const auto each = static_cast<std::uint32_t>(divide_up(tiles, columns));
    const std::int64_t c = static_cast<std::uint32_t>(tile) / each;
    const origin from{starts + columns * buckets, starts + c * buckets,
                      tile_counts + tile * buckets};
    if (!all_good || n - tile * items < items) {
      place_tile<false>(team, shared, source, here, bucket_of, buckets, from, end, sink, values,
                        value_sink);
    } else {
      place_tile<true>(team, shared, source, here, bucket_of, buckets, from, end, sink, values,
                       value_sink);
    }
  }

 private:
  // H200, 2^28 keys: four columns for every resident team take as long as 16
  // (docs/measurements.md).
  static constexpr std::int64_t columns_per_team = 4;
  static constexpr std::int64_t column_limit = 4096;
  /// So that counts of a column fit 32 bits.
  static constexpr std::int64_t most_tiles = (std::int64_t{1} << 31) / items;

  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  /// The segment of a tile that is this warp's.
  struct segment_range {
    std::int64_t begin;
    int count;
    bool whole;
  };

  /// Where the items of a tile go, by bucket: to the places of the bucket, behind those of the
  /// columns in front, behind those of the column's tiles in front.
  struct origin {
    const std::int64_t* bucket;
    const std::int64_t* column;
    const std::uint32_t* tile;
  };

  template <class Source, class T>
  static LANEWISE_FUNCTION void load_items(const warp_type& warp, const Source& source,
                                           segment_range from, lanes<T> (&item)[items_per_lane]) {
    const auto lane = warp.lane();
    if (from.whole) {
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) {
        item[j] =
            warp.map([&](std::uint32_t l) { return source(from.begin + l + j * width); }, lane);
      }
    } else {
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) {
        item[j] = warp.map(
            warp.first(from.count - j * width),
            [&](std::uint32_t l) { return source(from.begin + l + j * width); }, T{}, lane);
      }
    }
  }

  /// full: all items of the tile are there and in buckets.
  template <bool full, int value_bytes, class Source, class BucketOf, class Sink, class Values,
            class ValueSink>
  static LANEWISE_FUNCTION void place_tile(const Team& team, scratch<value_bytes>& shared,
                                           const Source& source, segment_range here,
                                           BucketOf bucket_of, std::uint32_t buckets, origin from,
                                           std::int64_t end, const Sink& sink, const Values& values,
                                           const ValueSink& value_sink) {
    constexpr bool pairs = value_bytes > 0;
    using value = typename value_of<Values>::type;
    const auto warp = team.warp();
    std::uint16_t* const count = shared.count[team.warp_index()];
    Key* const staged = reinterpret_cast<Key*>(shared.keys);
    value* const staged_values = reinterpret_cast<value*>(shared.values);

    lanes<Key> key[items_per_lane];
    load_items(warp, source, here, key);
    // Used only after the ranking, but asked for now. (H200, 2^28 keys into 256 buckets: 1.27 ms;
    // added up and left in scratch meanwhile 1.33 to 1.36, asked for after the ranking 1.33.)
    lanes<std::int64_t> bucket_start[groups_per_warp], column_start[groups_per_warp];
    u32s tile_start[groups_per_warp];
    if constexpr (aligns<value_bytes>) {
      // For compilers that do not see that groups are the same each time.
      LANEWISE_UNROLL
      for (int q = 0; q < groups_per_warp; ++q) {
        bucket_start[q] = column_start[q] = lanes<std::int64_t>(std::int64_t{0});
        tile_start[q] = u32s(0u);
      }
    }
    for_each_group(team, buckets, [&](int q, int g) LANEWISE_INLINE_LAMBDA {
      const auto exists = warp.lane() + u32s(static_cast<std::uint32_t>(g) * width) < buckets;
      bucket_start[q] = warp.load(exists, from.bucket + g * width, std::int64_t{0});
      column_start[q] = warp.load(exists, from.column + g * width, std::int64_t{0});
      tile_start[q] = warp.load(exists, from.tile + g * width, 0u);
    });
    for (std::uint32_t group = 0; group < buckets; group += width)
      warp.store(count + group, lanes<std::uint16_t>(std::uint16_t{0}));
    if constexpr (aligns<value_bytes>) {
      for (int row = team.warp_index() * width; row < scratch<value_bytes>::rows; row += threads)
        warp.store(shared.empty + row, lanes<bits>(bits{0}));
    }

    u32s slot[items_per_lane];
    if constexpr (full) {
      if (buckets <= 8) {
        rank<3, true>(warp, count, key, segment, bucket_of, buckets, slot);
      } else if (buckets <= 32) {
        rank<5, true>(warp, count, key, segment, bucket_of, buckets, slot);
      } else {
        rank<8, true>(warp, count, key, segment, bucket_of, buckets, slot);
      }
    } else {
      rank<8, false>(warp, count, key, here.count, bucket_of, buckets, slot);
    }
    lanes<value> moved[pairs ? items_per_lane : 1];
    if constexpr (pairs) load_items(warp, values, here, moved);
    team.barrier();
    const std::uint32_t slots =
        scan_counts(team, shared, buckets, bucket_start, column_start, tile_start);

    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      const auto exists = full ? warp.first(width) : slot[j] != nowhere;
      const auto to = warp.map(
          exists, [&](std::uint32_t s) { return count[s & 255] + (s >> 8); }, nowhere, slot[j]);
      warp.scatter(exists, staged, to, key[j]);
      if constexpr (stages_values<value_bytes>) {
        warp.scatter(exists, staged_values, to, moved[j]);
      } else if constexpr (pairs) {
        auto s = slot[j], t = to;
        warp.each(
            exists,
            [&](std::uint32_t b, std::uint32_t i, const value& x) {
              value_sink(place_of<true>(shared, b & 255, i), x);
            },
            s, t, moved[j]);
      }
    }
    team.barrier();
    if (end >> 32 == 0) {
      write<full, false, value>(team, shared, slots, bucket_of, sink, value_sink);
    } else {
      write<full, true, value>(team, shared, slots, bucket_of, sink, value_sink);
    }
  }

  /// Where slot i of the tile goes, being in bucket b; wide: that may be 2^32 or beyond.
  template <bool wide, int value_bytes>
  static LANEWISE_FUNCTION std::int64_t place_of(const scratch<value_bytes>& shared,
                                                 std::uint32_t b, std::uint32_t i) {
    if constexpr (wide) {
      return static_cast<std::int64_t>((std::uint64_t{shared.base_high[b]} << 32 | shared.base[b]) +
                                       i);
    } else {
      return static_cast<std::uint32_t>(shared.base[b] + i);
    }
  }

  /// Writes the slots below `slots` that are not empty. Neighbouring lanes hold neighbours of the
  /// output, except where a bucket ends.
  template <bool full, bool wide, class Value, int value_bytes, class BucketOf, class Sink,
            class ValueSink>
  static LANEWISE_FUNCTION void write(const Team& team, scratch<value_bytes>& shared,
                                      std::uint32_t slots, BucketOf bucket_of, const Sink& sink,
                                      const ValueSink& value_sink) {
    if constexpr (aligns<value_bytes>) {
      constexpr int together = items_per_lane % 4 == 0 ? 4 : 1;
      const int rows = static_cast<int>((slots + (width - 1)) / width);
      int row = team.warp_index();
      if constexpr (full) {
        // So many there are for certain. Unrolled, loads of rows overtake stores of others: in a
        // loop of four rows at a time, pairs went into 8 buckets 10 % slower.
        LANEWISE_UNROLL
        for (int j = 0; j < items_per_lane; j += together) {
          write_rows<together, wide, Value>(team, shared, row + j * Team::warps, bucket_of, sink,
                                            value_sink);
        }
        row += items_per_lane * Team::warps;
      }
      for (; row < rows; row += Team::warps)
        write_rows<1, wide, Value>(team, shared, row, bucket_of, sink, value_sink);
    } else {
      const auto warp = team.warp();
      const Key* const staged = reinterpret_cast<const Key*>(shared.keys);
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) {
        auto slot = warp.lane() + u32s(j * threads + team.warp_index() * width);
        warp.each(
            full ? warp.first(width) : slot < slots,
            [&](std::uint32_t i) {
              const Key k = staged[i];
              const std::int64_t to = place_of<wide>(shared, bucket_number(bucket_of(k)), i);
              sink(to, k);
              if constexpr (stages_values<value_bytes>) {
                value_sink(to, reinterpret_cast<const Value*>(shared.values)[i]);
              }
            },
            slot);
      }
    }
  }

  /// Writes n rows, the first of which is `row`, with those of other warps in between. All that is
  /// read comes first.
  template <int n, bool wide, class Value, int value_bytes, class BucketOf, class Sink,
            class ValueSink>
  static LANEWISE_FUNCTION void write_rows(const Team& team, scratch<value_bytes>& shared, int row,
                                           BucketOf bucket_of, const Sink& sink,
                                           const ValueSink& value_sink) {
    constexpr bool with_values = stages_values<value_bytes>;
    const auto warp = team.warp();
    const Key* const staged = reinterpret_cast<const Key*>(shared.keys);
    const Value* const staged_values = reinterpret_cast<const Value*>(shared.values);
    const auto first = warp.lane() + u32s(static_cast<std::uint32_t>(row) * width);
    u32s slot[n];
    bits there[n];
    lanes<Key> key[n];
    lanes<Value> value[with_values ? n : 1];
    lanes<std::int64_t> to[n];
    LANEWISE_UNROLL
    for (int k = 0; k < n; ++k) {
      slot[k] = first + u32s(static_cast<std::uint32_t>(k) * threads);
      there[k] = ~shared.empty[row + k * Team::warps];
    }
    LANEWISE_UNROLL
    for (int k = 0; k < n; ++k) {
      const auto exists = warp.template mask_of<std::uint32_t>(there[k]);
      key[k] = warp.map(
          exists, [&](std::uint32_t i) { return staged[i]; }, Key{}, slot[k]);
      if constexpr (with_values) {
        value[k] = warp.map(
            exists, [&](std::uint32_t i) { return staged_values[i]; }, Value{}, slot[k]);
      }
    }
    LANEWISE_UNROLL
    for (int k = 0; k < n; ++k) {
      to[k] = warp.map(
          warp.template mask_of<std::uint32_t>(there[k]),
          [&](const Key& x, std::uint32_t i) {
            return place_of<wide>(shared, bucket_number(bucket_of(x)), i);
          },
          std::int64_t{0}, key[k], slot[k]);
    }
    LANEWISE_UNROLL
    for (int k = 0; k < n; ++k) {
      const auto exists = warp.template mask_of<std::uint32_t>(there[k]);
      warp.each(
          exists, [&](std::int64_t at, const Key& x) { sink(at, x); }, to[k], key[k]);
      if constexpr (with_values) {
        warp.each(
            exists, [&](std::int64_t at, const Value& x) { value_sink(at, x); }, to[k], value[k]);
      }
    }
  }

  /// slot[j] = rank of row j's item among the warp's items of its bucket, times 256, plus the
  /// bucket; nowhere for no item or no bucket. Leaves the number of the warp's items of every
  /// bucket in count, where there are zeros. 2^planes bounds the bucket numbers.
  template <int planes, bool full, class BucketOf>
  static LANEWISE_FUNCTION void rank(const warp_type& warp, std::uint16_t* count,
                                     const lanes<Key> (&key)[items_per_lane], int mine,
                                     BucketOf bucket_of, std::uint32_t buckets,
                                     u32s (&slot)[items_per_lane]) {
    const auto lanes_above = ~(warp.lanes_below() + warp.lanes_below() + lanes<bits>(bits{1}));
    warp.fence();
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      const auto exists = full ? warp.first(width) : warp.first(mine - j * width);
      const auto bucket = warp.map(
          exists, [&](const Key& k) { return bucket_number(bucket_of(k)); }, nowhere, key[j]);
      const auto good = full ? warp.first(width) : bucket < buckets;
      const auto peers = warp.template peers<planes>(good, bucket);
      const auto before = warp.gather(good, count, bucket, std::uint16_t{0});
      warp.fence();
      const auto rank = warp.map(
          [](std::uint16_t c, bits e) { return c + std::uint32_t(warp_type::popcount(e)); }, before,
          peers & warp.lanes_below());
      // The last lane of each bucket counts for all of them.
      warp.scatter(good & ((peers & lanes_above) == bits{0}), count, bucket,
                   warp.template cast<std::uint16_t>(rank + u32s(1u)));
      warp.fence();
      const auto found = rank * u32s(256u) + bucket;
      slot[j] = full ? found : select(good, found, u32s(nowhere));
    }
  }

  /// Calls f(q, g) for this warp's groups of buckets, one bucket per lane; g is its q-th.
  template <class F>
  static LANEWISE_FUNCTION void for_each_group(const Team& team, std::uint32_t buckets, F f) {
    LANEWISE_UNROLL
    for (int q = 0; q < groups_per_warp; ++q) {
      const int g = q * Team::warps + team.warp_index();
      if (g * width < static_cast<int>(buckets)) f(q, g);
    }
  }

  /// Notes that the length slots from first on are empty, length < width.
  template <int value_bytes>
  static LANEWISE_FUNCTION void mark_empty(const warp_type& warp, scratch<value_bytes>& shared,
                                           const u32s& first, const u32s& length) {
    const u32s w(static_cast<std::uint32_t>(width));
    const auto row = warp.map([](std::uint32_t i) { return i / width; }, first);
    const auto at = first - row * w;
    const auto ones = [](std::uint32_t n) { return static_cast<bits>((bits{1} << n) - 1); };
    warp.template fetch_or<order::relaxed, scope::team>(
        length != u32s(0u), shared.empty, row,
        warp.map([ones](std::uint32_t i, std::uint32_t n) { return ones(n) << i; }, at, length));
    const auto goes_on = at + length > w;
    warp.template fetch_or<order::relaxed, scope::team>(
        goes_on, shared.empty, row + u32s(1u),
        warp.map(
            goes_on, [ones](std::uint32_t i, std::uint32_t n) { return ones(i + n - width); },
            bits{0}, at, length));
  }

  /// Turns the warps' counts into first slots within the tile: bucket by bucket, within a bucket
  /// warp by warp. Returns the number of slots and leaves the bases.
  template <int value_bytes>
  static LANEWISE_FUNCTION std::uint32_t scan_counts(
      const Team& team, scratch<value_bytes>& shared, std::uint32_t buckets,
      const lanes<std::int64_t> (&bucket_start)[groups_per_warp],
      const lanes<std::int64_t> (&column_start)[groups_per_warp],
      const u32s (&tile_start)[groups_per_warp]) {
    constexpr std::uint32_t align = alignment<value_bytes>;
    const auto warp = team.warp();
    const u32s none(0u);
    u32s before[groups_per_warp][Team::warps], total[groups_per_warp], upto[groups_per_warp];
    u32s gap[groups_per_warp];
    LANEWISE_UNROLL
    for (int q = 0; q < groups_per_warp; ++q) total[q] = upto[q] = gap[q] = none;
    for_each_group(team, buckets, [&](int q, int g) LANEWISE_INLINE_LAMBDA {
      LANEWISE_UNROLL
      for (int w = 0; w < Team::warps; ++w) {
        before[q][w] = total[q];
        total[q] =
            total[q] + warp.template cast<std::uint32_t>(warp.load(shared.count[w] + g * width));
      }
      if constexpr (aligns<value_bytes>) {
        // A run ends, modulo align, where its output ends, and so needs no sum to say how far
        // behind it the next may begin. Groups begin at multiples of align. Empty buckets take no
        // room.
        const auto place = warp.template cast<std::uint32_t>(bucket_start[q]) +
                           warp.template cast<std::uint32_t>(column_start[q]) + tile_start[q];
        const auto used = total[q] != none;
        const auto in_front = lanes<bits>(warp.ballot(used)) & warp.lanes_below();
        const auto behind = warp.shuffle(
            place + total[q],
            warp.map([](bits b) { return static_cast<std::uint32_t>(warp_type::highest(b | 1)); },
                     in_front));
        const auto distance = place - select(in_front != lanes<bits>(bits{0}), behind, none);
        gap[q] = select(used, distance & u32s(align - 1), none);
      }
      upto[q] = warp.inclusive_scan(total[q] + gap[q], plus{});
      const std::uint32_t sum = warp.broadcast(upto[q], width - 1);
      warp.once([&] { shared.group_total[g] = sum; });
    });
    team.barrier();
    std::uint32_t all = 0;
    std::uint32_t groups_before[groups_per_warp] = {};
    LANEWISE_UNROLL
    for (int g = 0; g < groups; ++g) {
      if (g * width >= static_cast<int>(buckets)) continue;
      if (g % Team::warps == team.warp_index()) groups_before[g / Team::warps] = all;
      all += (shared.group_total[g] + (align - 1)) / align * align;
    }
    for_each_group(team, buckets, [&](int q, int g) LANEWISE_INLINE_LAMBDA {
      const auto slot0 = upto[q] - total[q] + u32s(groups_before[q]);
      LANEWISE_UNROLL
      for (int w = 0; w < Team::warps; ++w) {
        warp.store(shared.count[w] + g * width,
                   warp.template cast<std::uint16_t>(before[q][w] + slot0));
      }
      const auto base =
          warp.map([](std::int64_t b, std::int64_t c, std::uint32_t t,
                      std::uint32_t slot) { return static_cast<std::uint64_t>(b + c + t - slot); },
                   bucket_start[q], column_start[q], tile_start[q], slot0);
      warp.store(shared.base + g * width, warp.template cast<std::uint32_t>(base));
      warp.store(
          shared.base_high + g * width,
          warp.map([](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }, base));
      if constexpr (aligns<value_bytes>) {
        mark_empty(warp, shared, slot0 - gap[q], gap[q]);
        const auto end = slot0 + total[q];
        const auto rest = (none - end) & u32s(align - 1);
        mark_empty(warp, shared, end,
                   select(warp.lane() == u32s(static_cast<std::uint32_t>(width - 1)), rest, none));
      }
    });
    if constexpr (aligns<value_bytes>) {
      if (team.warp_index() == 0 && all % width != 0) {
        warp.template fetch_or<order::relaxed, scope::team>(
            shared.empty[all / width], static_cast<bits>(~bits{0} << (all % width)));
      }
    }
    team.barrier();
    return all;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
