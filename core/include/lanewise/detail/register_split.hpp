// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/register_tile.hpp>
#include <lanewise/team.hpp>

LANEWISE_BEGIN_NAMESPACE

/// The most buckets that one multisplit distributes over.
inline constexpr int most_buckets = 256;

namespace detail {

/// What a bucket function returned as a number that is below most_buckets only if the result was:
/// wide results are not cut off.
template <class B>
LANEWISE_FUNCTION constexpr std::uint32_t bucket_number(B b) {
  static_assert(std::is_integral_v<B> || std::is_enum_v<B>,
                "lanewise: a bucket function returns an integer");
  if constexpr (sizeof(B) > sizeof(std::uint32_t)) {
    return static_cast<std::uint64_t>(b) < most_buckets ? static_cast<std::uint32_t>(b)
                                                        : ~std::uint32_t{0};
  } else {
    return static_cast<std::uint32_t>(b);
  }
}

/// A tile that a team of several warps counts into, or distributes over, buckets (block-level
/// multisplit: GPU Multisplit 5.2.2 with the windows of Ashkiani 3.5). Items of a warp's segment
/// lie row by row, one per lane, so that lane order is item order.
template <class Team, class Key, int items_per_lane>
class register_split {
 public:
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int segment = items_per_lane * width;
  static constexpr int items = segment * Team::warps;
  static constexpr int threads = Team::warps * width;

  template <int item_bytes>
  struct scratch {
    std::uint32_t count[Team::warps][most_buckets];
    typename warp_type::bits met[Team::warps][most_buckets];
    std::int64_t base[most_buckets];
    std::uint32_t group_total[most_buckets / width];
    alignas(16) unsigned char items[item_bytes * register_split::items];
  };
  struct count_scratch {
    typename register_tile<Team, Key, items_per_lane>::scratch tile;
    std::uint32_t count[4 * most_buckets];
    std::uint32_t bad;
  };

  /// A column of counts is one tile, and nobody asks for a tile's counts again.
  static std::int64_t columns(std::int64_t tiles, std::int64_t) { return tiles; }
  static LANEWISE_FUNCTION index_range column(std::int64_t, std::int64_t c, std::int64_t) {
    return {c, c + 1};
  }
  static std::int64_t tile_counters(std::int64_t, std::uint32_t) { return 0; }

  /// Counts the items of the one tile among tiles that are below n by bucket and calls
  /// result(b, count) for every bucket b; one warp calls report_bad(count) if there are items
  /// outside the buckets.
  ///
  /// Every bucket has a row of counters for the lanes to choose from: 32 up to 32 buckets, where
  /// lanes then never meet, and fewer for more buckets, so that items of one bucket do not queue up
  /// for one word.
  template <class Source, class BucketOf, class Result, class ReportBad>
  static LANEWISE_FUNCTION void count(const Team& team, count_scratch& shared, const Source& source,
                                      index_range tiles, std::int64_t n, BucketOf bucket_of,
                                      std::uint32_t buckets, std::uint32_t*, Result result,
                                      ReportBad report_bad) {
    const auto warp = team.warp();
    int log_copies = width == 8 ? 3 : 5;
    while ((buckets << log_copies) > 4 * most_buckets) --log_copies;
    const std::uint32_t copies = 1u << log_copies;
    const std::uint32_t counters = buckets << log_copies;
    for_each_index(team, counters, [&](std::uint32_t i) { shared.count[i] = 0; });
    team.once([&] { shared.bad = 0; });
    register_tile<Team, Key, items_per_lane> tile(team, shared.tile, source, tiles.begin * items,
                                                  n);
    team.barrier();
    const lanes<std::uint32_t> one(1u), none(0u);
    const auto copy = warp.lane() & lanes<std::uint32_t>(copies - 1);
    lanes<std::uint32_t> bad(0u);
    tile.for_each_window([&](const auto& exists, const lanes<Key>& key) {
      const auto bucket = warp.map(
          exists, [&](const Key& k) { return bucket_number(bucket_of(k)); }, std::uint32_t{0}, key);
      const auto good = exists & (bucket < buckets);
      warp.template fetch_add<order::relaxed, scope::team>(good, shared.count,
                                                           (bucket << log_copies) + copy, one);
      bad = bad + select(exists & !good, one, none);
    });
    const std::uint32_t all_bad = warp.reduce(bad, plus{});
    if (all_bad != 0) warp.template fetch_add<order::relaxed, scope::team>(shared.bad, all_bad);
    team.barrier();
    for (std::uint32_t i0 = team.warp_index() * width; i0 < counters; i0 += threads) {
      const auto index = warp.lane() + lanes<std::uint32_t>(i0);
      auto sum = warp.gather(index < counters, shared.count, index, 0u);
      for (std::uint32_t k = 1; k < copies; k *= 2)
        sum = sum + warp.shuffle_xor(sum, static_cast<int>(k));
      warp.each((index < counters) & (copy == 0u),
                [&](std::uint32_t i, std::uint32_t c) { result(i >> log_copies, c); }, index, sum);
    }
    if (team.warp_index() == 0 && shared.bad != 0) report_bad(shared.bad);
  }

  /// Distributes the same items: the i-th of bucket b goes to place start(b) + i of the sink;
  /// values go the same way as their keys. Items outside the buckets go nowhere.
  template <int item_bytes, class Source, class BucketOf, class Start, class Sink, class Values,
            class ValueSink>
  static LANEWISE_FUNCTION void place(const Team& team, scratch<item_bytes>& shared,
                                      const Source& source, index_range tiles, std::int64_t n,
                                      BucketOf bucket_of, std::uint32_t buckets,
                                      const std::uint32_t*, Start start, const Sink& sink,
                                      const Values& values, const ValueSink& value_sink) {
    const auto warp = team.warp();
    const std::int64_t first = tiles.begin * items;
    const std::int64_t left = n - first - team.warp_index() * segment;
    const bool whole = left >= segment;  // of the unclamped number: see register_tile
    const int mine = whole ? segment : (left < 0 ? 0 : static_cast<int>(left));
    const std::int64_t at = first + team.warp_index() * segment;
    std::uint32_t* count = shared.count[team.warp_index()];
    bits* met = shared.met[team.warp_index()];
    for (std::uint32_t group = 0; group < buckets; group += width) {
      warp.store(count + group, lanes<std::uint32_t>(0u));
      warp.store(met + group, lanes<bits>(bits{0}));
    }

    lanes<Key> key[items_per_lane];
    lanes<std::uint32_t> slot[items_per_lane];
    load_items(warp, source, at, mine, whole, key);
    if (!whole) {
      rank<8, false>(warp, count, met, key, mine, bucket_of, buckets, slot);
    } else if (buckets <= 8) {
      rank<3, true>(warp, count, met, key, mine, bucket_of, buckets, slot);
    } else if (buckets <= 32) {
      rank<5, true>(warp, count, met, key, mine, bucket_of, buckets, slot);
    } else {
      rank<8, true>(warp, count, met, key, mine, bucket_of, buckets, slot);
    }
    team.barrier();
    const std::uint32_t tile_items = scan_counts(team, shared, buckets, start);

    Key* staged = reinterpret_cast<Key*>(shared.items);
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      slot[j] = warp.map(
          [&](std::uint32_t s) { return s == nowhere ? s : count[s & 255] + (s >> 8); }, slot[j]);
      warp.scatter(slot[j] != nowhere, staged, slot[j], key[j]);
    }
    team.barrier();
    // Neighbouring lanes now hold neighbours of the output, except where a bucket ends.
    constexpr bool pairs = !std::is_same_v<Values, std::nullptr_t>;
    lanes<std::int64_t> target[pairs ? items_per_lane : 1];
    const auto lane = warp.lane();
    const bool full = tile_items == items;
    const auto write = [&](int j, const auto& exists) {
      const std::uint32_t p0 = j * threads + team.warp_index() * width;
      const auto to = warp.map(
          exists,
          [&](std::uint32_t l) {
            const Key k = staged[p0 + l];
            const std::int64_t place = shared.base[bucket_number(bucket_of(k))] + (p0 + l);
            sink(place, k);
            return place;
          },
          std::int64_t{-1}, lane);
      if constexpr (pairs) target[j] = to;
    };
    if (full) {
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) write(j, warp.first(width));
    } else {
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) {
        write(j, lane + lanes<std::uint32_t>(j * threads + team.warp_index() * width) < tile_items);
      }
    }
    if constexpr (pairs) {
      using value = typename Values::value_type;
      value* staged_values = reinterpret_cast<value*>(shared.items);
      lanes<value> moved[items_per_lane];
      load_items(warp, values, at, mine, whole, moved);
      team.barrier();
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j)
        warp.scatter(slot[j] != nowhere, staged_values, slot[j], moved[j]);
      team.barrier();
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) {
        const std::uint32_t p0 = j * threads + team.warp_index() * width;
        warp.each(
            [&](std::int64_t to, std::uint32_t l) {
              if (to >= 0) value_sink(to, staged_values[p0 + l]);
            },
            target[j], lane);
      }
    }
  }

 private:
  using bits = typename warp_type::bits;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;

  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  template <class Source, class T>
  static LANEWISE_FUNCTION void load_items(const warp_type& warp, const Source& source,
                                           std::int64_t at, int mine, bool whole,
                                           lanes<T> (&item)[items_per_lane]) {
    const auto lane = warp.lane();
    if (whole) {
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) {
        item[j] = warp.map([&](std::uint32_t l) { return source(at + l + j * width); }, lane);
      }
    } else {
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) {
        item[j] = warp.map(
            warp.first(mine - j * width),
            [&](std::uint32_t l) { return source(at + l + j * width); }, T{}, lane);
      }
    }
  }

  /// slot[j] = rank of row j's item among the warp's items of its bucket, times 256, plus the
  /// bucket; nowhere for no item or no bucket. Leaves the number of the warp's items of every
  /// bucket in count. 2^planes bounds the bucket numbers. Lanes with the same bucket find each
  /// other by votes, one per plane, or, where those are many, in the zeros at met[bucket].
  template <int planes, bool full, class BucketOf>
  static LANEWISE_FUNCTION void rank(const warp_type& warp, std::uint32_t* count, bits* met,
                                     const lanes<Key> (&key)[items_per_lane], int mine,
                                     BucketOf bucket_of, std::uint32_t buckets,
                                     lanes<std::uint32_t> (&slot)[items_per_lane]) {
    warp.fence();
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      const auto exists = full ? warp.first(width) : warp.first(mine - j * width);
      const auto bucket = warp.map(
          exists, [&](const Key& k) { return bucket_number(bucket_of(k)); }, nowhere, key[j]);
      const auto good = bucket < buckets;
      lanes<bits> peers;
      if constexpr (planes > 5) {
        warp.template fetch_or<order::relaxed, scope::team>(
            good, met, bucket, warp.lanes_below() + lanes<bits>(bits{1}));
        warp.fence();
        peers = warp.gather(good, met, bucket, bits{0});
      } else {
        peers = warp.template peers<planes>(good, bucket);
      }
      const auto earlier = peers & warp.lanes_below();
      const auto before = warp.gather(good, count, bucket, 0u);
      warp.fence();
      // The first lane of each bucket counts for all of them.
      const auto leads = good & (earlier == bits{0});
      if constexpr (planes > 5) warp.scatter(leads, met, bucket, lanes<bits>(bits{0}));
      warp.scatter(leads, count, bucket,
                   warp.map([](std::uint32_t c,
                               bits p) { return c + std::uint32_t(warp_type::popcount(p)); },
                            before, peers));
      warp.fence();
      slot[j] = select(good,
                       warp.map(
                           [](std::uint32_t c, bits e, std::uint32_t b) {
                             return (c + std::uint32_t(warp_type::popcount(e))) << 8 | b;
                           },
                           before, earlier, bucket),
                       lanes<std::uint32_t>(nowhere));
    }
  }

  template <class F>
  static LANEWISE_FUNCTION void for_each_index(const Team& team, std::uint32_t n, F f) {
    const auto warp = team.warp();
    for (std::uint32_t i0 = team.warp_index() * width; i0 < n; i0 += threads) {
      const auto index = warp.lane() + lanes<std::uint32_t>(i0);
      warp.each(index < n, f, index);
    }
  }

  /// Turns the warps' counts into first slots within the tile: bucket by bucket, within a bucket
  /// warp by warp. Returns the number of items and leaves in base what has to be added to a slot to
  /// get the item's place in the output.
  template <int item_bytes, class Start>
  static LANEWISE_FUNCTION std::uint32_t scan_counts(const Team& team, scratch<item_bytes>& shared,
                                                     std::uint32_t buckets, Start start) {
    const auto warp = team.warp();
    const int groups = static_cast<int>((buckets + width - 1) / width);
    for (int g = team.warp_index(); g < groups; g += Team::warps) {
      const auto bucket = warp.lane() + lanes<std::uint32_t>(static_cast<std::uint32_t>(g) * width);
      const auto total = warp.map(
          [&](std::uint32_t b) {
            std::uint32_t sum = 0;
            LANEWISE_UNROLL
            for (int w = 0; w < Team::warps; ++w) {
              const std::uint32_t c = shared.count[w][b];
              shared.count[w][b] = sum;
              sum += c;
            }
            return sum;
          },
          bucket);
      const auto upto = warp.inclusive_scan(total, plus{});
      const auto before = upto - total;
      warp.each([&](std::uint32_t b, std::uint32_t x) { shared.base[b] = x; }, bucket, before);
      const std::uint32_t sum = warp.broadcast(upto, width - 1);
      warp.once([&] { shared.group_total[g] = sum; });
    }
    team.barrier();
    std::uint32_t all = 0;
    for (int g = 0; g < groups; ++g) {
      if (g % Team::warps == team.warp_index()) {
        const auto bucket =
            warp.lane() + lanes<std::uint32_t>(static_cast<std::uint32_t>(g) * width);
        warp.each(
            [&](std::uint32_t b) {
              const std::uint32_t slot0 = all + static_cast<std::uint32_t>(shared.base[b]);
              LANEWISE_UNROLL
              for (int w = 0; w < Team::warps; ++w) shared.count[w][b] += slot0;
              shared.base[b] = b < buckets ? start(b) - std::int64_t{slot0} : 0;
            },
            bucket);
      }
      all += shared.group_total[g];
    }
    team.barrier();
    return all;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
