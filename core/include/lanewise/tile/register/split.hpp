// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/buckets.hpp>
#include <lanewise/team/bucket_counts.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/tile/register/rows.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Places the items of a tile by bucket, as a team of several warps (block-level multisplit: GPU
/// Multisplit 5.2.2 with the windows of Ashkiani 3.5). Items of a warp's segment of the tile lie
/// row by row, one per lane, so that lane order is item order.
template <class Team, class Key, int items_per_lane, bool aligns_runs = true>
class device_split_tile {
 public:
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int segment = items_per_lane * width;
  static constexpr int items = segment * Team::warps;
  static constexpr int threads = Team::warps * width;

 protected:
  using bits = typename warp_type::bits;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using u32s = lanes<std::uint32_t>;

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
  /// If values are staged beside keys, a slot of the tile and its place in the output agree modulo
  /// this many items. So rows of the tile end where sectors do: a row that cuts a sector makes two
  /// pieces of it for the second-level cache. Before a bucket's run up to alignment - 1 slots
  /// remain empty for it. Keys alone are bound by instructions as much: with empty slots to leave
  /// out, 2^28 u32 on an H200 went into 8 and 32 buckets 3 and 1 % slower, into 256 4 % faster.
  template <int value_bytes>
  static constexpr int alignment = [] {
    if constexpr (!aligns_runs || !stages_values<value_bytes>) {
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
        lanewise::divide_up(items + (most_buckets + groups) * (alignment<value_bytes> - 1), width));
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
  /// What split_all needs.
  template <int value_bytes>
  struct all_scratch {
    bucket_counters<1, most_buckets> counters;
    std::int64_t next[most_buckets];
    std::int64_t kept;
    scratch<value_bytes> tile;
  };

  /// Splits items [0, n), so few that one team takes all, and returns how many are in buckets.
  template <int value_bytes, class Source, class BucketOf, class Begins, class Sink, class Values,
            class ValueSink>
  static LANEWISE_FUNCTION std::int64_t split_all(
      const Team& team, all_scratch<value_bytes>& shared, const Source& source, std::int64_t n,
      BucketOf bucket_of, std::uint32_t buckets, const Begins& begins, const Sink& sink,
      const Values& values, const ValueSink& value_sink) {
    if (n <= items) {
      // All warps have equal parts of a tile, whose slots are the places.
      const std::int64_t part = divide_up(n, threads) * width;
      const std::int64_t at = team.warp_index() * part, left = n - at;
      const segment_range here{
          at, left >= part ? static_cast<int>(part) : (left < 0 ? 0 : static_cast<int>(left)),
          false};
      return place_tile<false>(team, shared.tile, source, here, bucket_of, buckets,
                               places_of_slots<Begins>{begins}, n, sink, values, value_sink);
    }
    lanewise::clear(team, shared.counters);
    team.barrier();
    lanewise::count(team, shared.counters, source, 0, n, [=](const Key& key, int) {
      const std::uint32_t b = detail::bucket_number(bucket_of(key));
      return b < buckets ? b : ~std::uint32_t{0};
    });
    team.barrier();
    if (team.warp_index() == 0) {
      const std::int64_t all =
          detail::scan_buckets(team.warp(), shared.counters.count, buckets, shared.next, begins);
      team.warp().once([&] { shared.kept = all; });
    }
    team.barrier();
    for (std::int64_t first = 0; first < n; first += items) {
      place_tile<false>(team, shared.tile, source, segment_of(team, first, n), bucket_of, buckets,
                        places_in_turn{shared.next}, n, sink, values, value_sink);
      team.barrier();
    }
    return shared.kept;
  }

  /// Sends the items of the source's tile [first, first + items) that are below n to the places of
  /// their buckets. all_good says that every item is in a bucket; all places are below end.
  template <int value_bytes, class Source, class BucketOf, class Places, class Sink, class Values,
            class ValueSink>
  static LANEWISE_FUNCTION void place(const Team& team, scratch<value_bytes>& shared,
                                      const Source& source, std::int64_t first, std::int64_t n,
                                      BucketOf bucket_of, std::uint32_t buckets, bool all_good,
                                      const Places& places, std::int64_t end, const Sink& sink,
                                      const Values& values, const ValueSink& value_sink) {
    const segment_range here = segment_of(team, first, n);
    if (!all_good || n - first < items) {
      place_tile<false>(team, shared, source, here, bucket_of, buckets, places, end, sink, values,
                        value_sink);
    } else {
      place_tile<true>(team, shared, source, here, bucket_of, buckets, places, end, sink, values,
                       value_sink);
    }
  }

 protected:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  /// The segment of a tile that is this warp's.
  struct segment_range {
    std::int64_t begin;
    int count;
    bool whole;
  };

  static LANEWISE_FUNCTION segment_range segment_of(const Team& team, std::int64_t first,
                                                    std::int64_t n) {
    const std::int64_t at = first + team.warp_index() * segment;
    const std::int64_t left = n - at;
    // Whether all is there is asked of unclamped numbers: see register_tile.
    return {at, left >= segment ? segment : (left < 0 ? 0 : static_cast<int>(left)),
            left >= segment};
  }

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

  /// full: all items of the tile are there and in buckets. Returns the number of slots.
  template <bool full, int value_bytes, class Source, class BucketOf, class Places, class Sink,
            class Values, class ValueSink>
  static LANEWISE_FUNCTION std::uint32_t place_tile(const Team& team, scratch<value_bytes>& shared,
                                                    const Source& source, segment_range here,
                                                    BucketOf bucket_of, std::uint32_t buckets,
                                                    const Places& places, std::int64_t end,
                                                    const Sink& sink, const Values& values,
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
    run_starts<Places> runs[groups_per_warp] = {};
    for_each_group(team, buckets, [&](int q, int) LANEWISE_INLINE_LAMBDA {
      runs[q].asked = places.ask(warp, first_of(team, q), buckets);
    });
    for (std::uint32_t group = 0; group < buckets; group += width)
      warp.store(count + group, lanes<std::uint16_t>(std::uint16_t{0}));
    if constexpr (aligns<value_bytes>) {
      for (int row = team.warp_index() * width; row < scratch<value_bytes>::rows; row += threads)
        warp.store(shared.empty + row, lanes<bits>(bits{0}));
    }

    u32s slot[items_per_lane];
    if constexpr (full) {
      slot[0] = buckets_of(warp, key[0], bucket_of);
      if (!warp.anywhere(warp.any(slot[0] != warp.broadcast(slot[0], 0)))) {
        rank_crowded(warp, count, key, bucket_of, buckets, slot);
      } else if (buckets <= 8) {
        rank<3, true, 1>(warp, count, key, segment, bucket_of, buckets, slot);
      } else if (buckets <= 32) {
        rank<5, true, 1>(warp, count, key, segment, bucket_of, buckets, slot);
      } else {
        rank<8, true, 1>(warp, count, key, segment, bucket_of, buckets, slot);
      }
    } else {
      rank<8, false, 0>(warp, count, key, here.count, bucket_of, buckets, slot);
    }
    lanes<value> moved[pairs ? items_per_lane : 1];
    if constexpr (pairs) load_items(warp, values, here, moved);
    team.barrier();
    const std::uint32_t slots = scan_counts(team, shared, buckets, places, runs);
    const auto wait_for_places = [&] {
      if constexpr (late<Places, value_bytes>) {
        for_each_group(team, buckets, [&](int q, int g) LANEWISE_INLINE_LAMBDA {
          store_base(warp, shared, g,
                     places.get(warp, first_of(team, q), buckets, runs[q].asked, runs[q].count),
                     runs[q].slot);
        });
      }
    };
    // Values that are not staged go out at once.
    if constexpr (late<Places, value_bytes> && pairs && !stages_values<value_bytes>) {
      wait_for_places();
      team.barrier();
    }

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
    if constexpr (late<Places, value_bytes> && (!pairs || stages_values<value_bytes>)) {
      wait_for_places();
    }
    team.barrier();
    if (are_few<Places> || end >> 32 == 0) {
      write<full, false, value>(team, shared, slots, bucket_of, sink, value_sink);
    } else if constexpr (!are_few<Places>) {
      write<full, true, value>(team, shared, slots, bucket_of, sink, value_sink);
    }
    return slots;
  }

  /// The place that slot i of the tile goes to, being in bucket b; wide: that may be 2^32 or
  /// beyond.
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
        // These rows exist for certain. Unrolled, loads of rows overtake stores of others: in a
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
        auto slot =
            warp.lane() + u32s(static_cast<std::uint32_t>(j * threads + team.warp_index() * width));
        warp.each(
            full ? warp.first(width) : slot < slots,
            [&](std::uint32_t i) {
              const Key k = staged[i];
              const std::int64_t to =
                  place_of<wide>(shared, detail::bucket_number(bucket_of(k)), i);
              sink(to, k);
              if constexpr (stages_values<value_bytes>) {
                value_sink(to, reinterpret_cast<const Value*>(shared.values)[i]);
              }
            },
            slot);
      }
    }
  }

  /// Writes n rows: `row` is the first of them, and rows of other warps lie in between. All that is
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
            return place_of<wide>(shared, detail::bucket_number(bucket_of(x)), i);
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

  template <class BucketOf>
  static LANEWISE_FUNCTION u32s buckets_of(const warp_type& warp, const lanes<Key>& key,
                                           BucketOf bucket_of) {
    return warp.map([&](const Key& k) { return detail::bucket_number(bucket_of(k)); }, key);
  }

  /// What rank does with all items, where those of the first row are in one bucket, slot[0]. Of
  /// sorted items mostly all of a warp are; then their ranks are known.
  template <class BucketOf>
  static LANEWISE_FUNCTION void rank_crowded(const warp_type& warp, std::uint16_t* count,
                                             const lanes<Key> (&key)[items_per_lane],
                                             BucketOf bucket_of, std::uint32_t buckets,
                                             u32s (&slot)[items_per_lane]) {
    u32s differing(0u);
    LANEWISE_UNROLL
    for (int j = 1; j < items_per_lane; ++j) {
      slot[j] = buckets_of(warp, key[j], bucket_of);
      differing = differing | (slot[j] ^ slot[0]);
    }
    if (warp.anywhere(warp.any(differing != 0u)))
      return rank<8, true, items_per_lane>(warp, count, key, segment, bucket_of, buckets, slot);
    const std::uint32_t bucket = warp.broadcast(slot[0], 0);
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j)
      slot[j] =
          (warp.lane() + u32s(static_cast<std::uint32_t>(j * width))) * u32s(256u) + u32s(bucket);
    warp.fence();
    warp.once([&] { count[bucket] = static_cast<std::uint16_t>(segment); });
  }

  /// slot[j] = rank of row j's item among the warp's items of its bucket, times 256, plus the
  /// bucket; nowhere for no item or no bucket. Leaves the number of the warp's items of every
  /// bucket in count, where there are zeros. 2^planes bounds the bucket numbers. The first `asked`
  /// rows have their buckets in slot already.
  template <int planes, bool full, int asked, class BucketOf>
  static LANEWISE_FUNCTION void rank(const warp_type& warp, std::uint16_t* count,
                                     const lanes<Key> (&key)[items_per_lane], int mine,
                                     BucketOf bucket_of, std::uint32_t buckets,
                                     u32s (&slot)[items_per_lane]) {
    const auto lanes_above = ~(warp.lanes_below() + warp.lanes_below() + lanes<bits>(bits{1}));
    warp.fence();
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      if (!full && mine <= j * width) {
        slot[j] = u32s(nowhere);
        continue;
      }
      const auto exists = full ? warp.first(width) : warp.first(mine - j * width);
      const auto bucket =
          j < asked ? slot[j]
                    : warp.map(
                          exists, [&](const Key& k) { return detail::bucket_number(bucket_of(k)); },
                          nowhere, key[j]);
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
      slot[j] = full ? found : lanewise::select(good, found, u32s(nowhere));
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

  /// The places where the tile's runs of a window of buckets begin, in the tile and in the output.
  template <class Places>
  struct run_starts {
    decltype(std::declval<const Places&>().ask(std::declval<const warp_type&>(), 0u, 0u)) asked;
    lanes<std::int64_t> place;
    u32s slot;
    u32s count;
  };

  /// The first bucket of this warp's q-th group.
  static LANEWISE_FUNCTION std::uint32_t first_of(const Team& team, int q) {
    return static_cast<std::uint32_t>((q * Team::warps + team.warp_index()) * width);
  }

  /// Turns the warps' counts into first slots within the tile: bucket by bucket, within a bucket
  /// warp by warp. Returns the number of slots.
  template <int value_bytes, class Places>
  static LANEWISE_FUNCTION std::uint32_t scan_counts(const Team& team, scratch<value_bytes>& shared,
                                                     std::uint32_t buckets, const Places& places,
                                                     run_starts<Places> (&runs)[groups_per_warp]) {
    constexpr bool own = slots_are_places<Places>;
    constexpr std::uint32_t align = own ? 1 : alignment<value_bytes>;
    const auto warp = team.warp();
    const u32s none(0u);
    u32s before[groups_per_warp][Team::warps], totals[groups_per_warp], upto[groups_per_warp];
    u32s gap[groups_per_warp];
    LANEWISE_UNROLL
    for (int q = 0; q < groups_per_warp; ++q) totals[q] = upto[q] = gap[q] = none;
    for_each_group(team, buckets, [&](int q, int g) LANEWISE_INLINE_LAMBDA {
      u32s& total = totals[q];
      LANEWISE_UNROLL
      for (int w = 0; w < Team::warps; ++w) {
        before[q][w] = total;
        total = total + warp.template cast<std::uint32_t>(warp.load(shared.count[w] + g * width));
      }
      places.tell(warp, first_of(team, q), buckets, total);
      if constexpr (align != 1) {
        const auto begin = places.get(warp, first_of(team, q), buckets, runs[q].asked, total);
        if constexpr (Places::waits) runs[q].place = begin;
        // A run ends, modulo align, where its output ends, and so needs no sum to say how far
        // after it the next may begin. Groups begin at multiples of align. Empty buckets take no
        // room.
        const auto place = warp.template cast<std::uint32_t>(begin);
        const auto used = total != none;
        const auto in_front = lanes<bits>(warp.ballot(used)) & warp.lanes_below();
        const auto after = warp.shuffle(
            place + total,
            warp.map([](bits b) { return static_cast<std::uint32_t>(warp_type::highest(b | 1)); },
                     in_front));
        const auto distance =
            place - lanewise::select(in_front != lanes<bits>(bits{0}), after, none);
        gap[q] = lanewise::select(used, distance & u32s(align - 1), none);
      }
      upto[q] = warp.inclusive_scan(total + gap[q], plus{});
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
      const auto total = totals[q];
      const auto slot0 = upto[q] - total + u32s(groups_before[q]);
      LANEWISE_UNROLL
      for (int w = 0; w < Team::warps; ++w) {
        warp.store(shared.count[w] + g * width,
                   warp.template cast<std::uint16_t>(before[q][w] + slot0));
      }
      if constexpr (own) {
        places.tell_slots(warp, first_of(team, q), buckets, slot0);
        store_base(warp, shared, g, warp.template cast<std::int64_t>(slot0), slot0);
      } else if constexpr (late<Places, value_bytes>) {
        runs[q].slot = slot0;
        runs[q].count = total;
      } else if constexpr (Places::waits) {
        store_base(warp, shared, g, runs[q].place, slot0);
      } else {
        store_base(warp, shared, g,
                   places.get(warp, first_of(team, q), buckets, runs[q].asked, total), slot0);
      }
      if constexpr (align != 1) {
        mark_empty(warp, shared, slot0 - gap[q], gap[q]);
        const auto end = slot0 + total;
        const auto rest = (none - end) & u32s(align - 1);
        mark_empty(warp, shared, end,
                   lanewise::select(warp.lane() == u32s(static_cast<std::uint32_t>(width - 1)),
                                    rest, none));
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

  /// Whether one team takes all items, so that places are small numbers.
  template <class Places>
  static constexpr bool are_few = requires {
    Places::are_few;
  };
  /// Whether the tile's slots are the places.
  template <class Places>
  static constexpr bool slots_are_places = requires {
    Places::slots_are_places;
  };

  /// Whether the places of runs are asked for when all else is done: where they wait for other
  /// teams. Runs that are aligned in scratch need them before.
  template <class Places, int value_bytes>
  static constexpr bool late = Places::waits && !aligns<value_bytes>;

  /// Leaves what to add to a slot.
  template <int value_bytes>
  static LANEWISE_FUNCTION void store_base(const warp_type& warp, scratch<value_bytes>& shared,
                                           int g, const lanes<std::int64_t>& place,
                                           const u32s& slot) {
    const auto base =
        warp.map([](std::int64_t p, std::uint32_t s) { return static_cast<std::uint64_t>(p - s); },
                 place, slot);
    warp.store(shared.base + g * width, warp.template cast<std::uint32_t>(base));
    warp.store(shared.base_high + g * width,
               warp.map([](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }, base));
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
