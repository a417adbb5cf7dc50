// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/multisplit_places.hpp>
#include <lanewise/tile/split_tile.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a team of several warps counts into, or distributes over, buckets.
///
/// A team counts a column, a run of tiles, and says for each tile what precedes it in the column;
/// it places a tile. So few numbers have to be scanned. Tiles that are placed at the same time are
/// neighbours, and so are the lines of the output that they write parts of.
template <class Team, class Key, int items_per_lane>
class device_split : device_split_tile<Team, Key, items_per_lane> {
  using tile_type = device_split_tile<Team, Key, items_per_lane>;

 public:
  using tile_type::items;
  using tile_type::width;
  using typename tile_type::warp_type;
  static std::int64_t tile_items(std::int64_t) { return items; }
  /// The buckets do not matter to few_items.
  static constexpr std::int64_t few_per_bucket = 0;
  template <int value_bytes>
  using scratch = typename tile_type::template scratch<value_bytes>;

 private:
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using u32s = lanes<std::uint32_t>;
  using tile_type::for_each_group;
  using tile_type::groups_per_warp;

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

 public:
  struct count_scratch {
    alignas(16) counters count[2][most_buckets];
    std::uint32_t bad;
  };

  /// If tiles are few, each is a column, whatever is resident.
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
    count_by(
        team, shared, source, tiles, c, columns, n, bucket_of, buckets, buckets,
        [](const auto&, const u32s& bucket) LANEWISE_INLINE_LAMBDA { return bucket; }, tile_counts,
        result, report_bad);
  }

  /// Counts as `count` does, by digit_of(which exist, their buckets): there are `buckets` digits.
  /// The functor has `all` buckets.
  template <class Source, class BucketOf, class DigitOf, class Result, class ReportBad>
  static LANEWISE_FUNCTION void count_by(const Team& team, count_scratch& shared,
                                         const Source& source, std::int64_t tiles, std::int64_t c,
                                         std::int64_t columns, std::int64_t n, BucketOf bucket_of,
                                         std::uint32_t all, std::uint32_t buckets, DigitOf digit_of,
                                         std::uint32_t* tile_counts, Result result,
                                         ReportBad report_bad) {
    using rows = register_tile<Team, Key, counted_per_lane>;
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
                exists, [&](const Key& x) { return detail::bucket_number(bucket_of(x)); },
                std::uint32_t{0}, key);
            const auto good = exists & (bucket < all);
            warp.template fetch_add<order::relaxed, scope::team>(
                good, reinterpret_cast<std::uint32_t*>(shared.count[set]),
                digit_of(good, bucket) * stride + copy, one);
            bad = bad + lanewise::select(exists & !good, one, none);
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

  /// Places a tile, the last one first: what was counted last is still in the second-level cache.
  template <int value_bytes, class Source, class BucketOf, class Sink, class Values,
            class ValueSink>
  static LANEWISE_FUNCTION void place(const Team& team, scratch<value_bytes>& shared,
                                      const Source& source, std::int64_t tiles, std::int64_t piece,
                                      std::int64_t columns, std::int64_t n, BucketOf bucket_of,
                                      std::uint32_t buckets, bool all_good,
                                      const std::uint32_t* tile_counts, const std::int64_t* starts,
                                      std::int64_t end, const Sink& sink, const Values& values,
                                      const ValueSink& value_sink) {
    const std::int64_t tile = tiles - 1 - piece;
    const auto each = static_cast<std::uint32_t>(divide_up(tiles, columns));
    const std::int64_t c = static_cast<std::uint32_t>(tile) / each;
    const scanned_offsets places{starts + columns * buckets, starts + c * buckets,
                                 tile_counts + tile * buckets};
    tile_type::place(team, shared, source, tile * items, n, bucket_of, buckets, all_good, places,
                     end, sink, values, value_sink);
  }

 private:
  // H200, 2^28 keys: four columns for every resident team take as long as 16
  // (docs/measurements.md).
  static constexpr std::int64_t columns_per_team = 4;
  static constexpr std::int64_t column_limit = 4096;
  /// So that counts of a column fit 32 bits.
  static constexpr std::int64_t most_tiles = (std::int64_t{1} << 31) / items;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
