// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/split_tile.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Counting into, and distributing over, buckets by one thread.
template <class Team, class Key, class Policy, std::int64_t most_items>
class host_split : host_split_tile<Team, Key, Policy, most_items> {
  using tile_type = host_split_tile<Team, Key, Policy, most_items>;

 public:
  using tile_type::items;
  using tile_type::tile_items;
  /// Items of each bucket up to which one team takes all of them: see few_items.
  static constexpr std::int64_t few_per_bucket = 128;
  template <int value_bytes>
  using scratch = typename tile_type::template scratch<value_bytes>;
  struct count_scratch {
    typename tile_type::counters count;
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
    const index_range mine = even_share(tiles, c, columns);
    for_each_group(mine, source.extent, [&](std::int64_t tile, const index_range& group) {
      tile_type::count_items(shared.count, source, tile_type::items_of(group, source.extent, n),
                             bucket_of, buckets);
      for (std::uint32_t b = 0; b <= buckets; ++b) shared.total[b] += shared.count[0][b];
      for (std::uint32_t b = 0; b < buckets; ++b)
        tile_counts[tile * buckets + b] = shared.count[0][b];
    });
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
    const index_range tiles = even_share(all_tiles, c, columns);
    for (std::uint32_t b = 0; b < buckets; ++b)
      shared.place[b] = starts[columns * buckets + b] + starts[c * buckets + b];
    tile_type::begin(shared, buckets);
    for_each_group(tiles, source.extent, [&](std::int64_t tile, const index_range& group) {
      tile_type::place_items(team.warp(), shared, source,
                             tile_type::items_of(group, source.extent, n), n, bucket_of, buckets,
                             tile_counts + tile * buckets, sink, values, value_sink);
    });
    tile_type::flush(shared, buckets, sink, values, value_sink);
  }

 private:
  /// f(first, group) for groups of a column's tiles that fit a tile's scratch together: few items
  /// are cut into small tiles for as many threads as there may be, and one may get several.
  template <class F>
  static LANEWISE_FUNCTION void for_each_group(const index_range& tiles, std::int64_t most, F f) {
    const std::int64_t size = items / tile_items(most);
    for (std::int64_t tile = tiles.begin; tile < tiles.end; tile += size)
      f(tile, index_range{tile, tile + size < tiles.end ? tile + size : tiles.end});
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
