// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/register_tile.hpp>

LANEWISE_BEGIN_NAMESPACE

/// The most buckets that one multisplit distributes over.
inline constexpr int most_buckets = 256;

namespace detail {

/// A tile that a team of several warps counts into, or distributes over, buckets (block-level multisplit: GPU Multisplit 5.2.2 with
/// the windows of Ashkiani 3.5). Items of a warp's segment lie row by row, one per lane, so that lane order is item order.
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
    std::int64_t base[most_buckets];
    std::uint32_t group_total[most_buckets / width];
    alignas(16) unsigned char items[item_bytes * register_split::items];
  };
  struct count_scratch {
    std::uint32_t count[most_buckets];
    std::uint32_t bad;
  };

  /// Counts the items of [first, first + items) below n by bucket and calls result(b, count) for every bucket b; one
  /// warp calls report_bad(count) if there are items outside the buckets.
  template <class Source, class BucketOf, class Result, class ReportBad>
  static LANEWISE_FUNCTION void count(const Team& team, count_scratch& shared, const Source& source, std::int64_t first,
                                      std::int64_t n, BucketOf bucket_of, std::uint32_t buckets, Result result,
                                      ReportBad report_bad) {
    const auto warp = team.warp();
    for_each_bucket(team, buckets, [&](std::uint32_t b) { shared.count[b] = 0; });
    team.once([&] { shared.bad = 0; });
    team.barrier();
    const int mine = items_of_warp(team, first, n);
    const std::int64_t at = first + team.warp_index() * segment;
    lanes<std::uint32_t> bucket[items_per_lane];
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      bucket[j] = warp.map(
          [&](std::uint32_t lane) {
            const int i = j * width + static_cast<int>(lane);
            return i < mine ? static_cast<std::uint32_t>(bucket_of(source(at + i))) : ~std::uint32_t{0};
          },
          warp.lane());
    }
    const lanes<std::uint32_t> one(1u), none(0u);
    lanes<std::uint32_t> sum(0u), bad(0u);
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      const auto exists = warp.first(mine - j * width);
      const auto good = exists & (bucket[j] < buckets);
      if (buckets <= static_cast<std::uint32_t>(width)) {
        sum = sum + warp.template histogram<0>(good, bucket[j], buckets);
      } else {
        warp.template fetch_add<order::relaxed, scope::team>(good, shared.count, bucket[j], one);
      }
      bad = bad + select(exists & !good, one, none);
    }
    if (buckets <= static_cast<std::uint32_t>(width)) {
      warp.template fetch_add<order::relaxed, scope::team>(warp.lane() < buckets, shared.count, warp.lane(), sum);
    }
    const std::uint32_t all_bad = warp.reduce(bad, plus{});
    if (all_bad != 0) warp.template fetch_add<order::relaxed, scope::team>(shared.bad, all_bad);
    team.barrier();
    for_each_bucket(team, buckets, [&](std::uint32_t b) { result(b, shared.count[b]); });
    if (team.warp_index() == 0 && shared.bad != 0) report_bad(shared.bad);
  }

  /// Distributes the items: the i-th item of bucket b within the tile goes to place start(b) + i of the sink; values go the same
  /// way as their keys. Items outside the buckets go nowhere.
  template <int item_bytes, class Source, class BucketOf, class Start, class Sink, class Values, class ValueSink>
  static LANEWISE_FUNCTION void place(const Team& team, scratch<item_bytes>& shared, const Source& source, std::int64_t first,
                                      std::int64_t n, BucketOf bucket_of, std::uint32_t buckets, Start start, const Sink& sink,
                                      const Values& values, const ValueSink& value_sink) {
    const auto warp = team.warp();
    const int mine = items_of_warp(team, first, n);
    const std::int64_t at = first + team.warp_index() * segment;
    std::uint32_t* count = shared.count[team.warp_index()];

    for (std::uint32_t group = 0; group < buckets; group += width) warp.store(count + group, lanes<std::uint32_t>(0u));
    warp.fence();

    lanes<Key> key[items_per_lane];
    lanes<std::uint32_t> slot[items_per_lane];
    load_keys(warp, source, at, mine, key);
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      const auto exists = warp.first(mine - j * width);
      const auto bucket = warp.map(exists, [&](const Key& k) { return static_cast<std::uint32_t>(bucket_of(k)); },
                                   ~std::uint32_t{0}, key[j]);
      const auto good = bucket < buckets;
      const auto peers = warp.peers(good, bucket, buckets);
      const auto earlier = peers & warp.lanes_below();
      const auto before = warp.gather(good, count, bucket, 0u);
      warp.fence();
      // The first lane of each bucket counts for all of them.
      warp.scatter(good & (earlier == bits{0}), count, bucket,
                   warp.map([](std::uint32_t c, bits p) { return c + std::uint32_t(warp_type::popcount(p)); }, before, peers));
      warp.fence();
      // Rank among the warp's items of the bucket, and the bucket; all ones where there is no item.
      slot[j] = warp.map(
          [](std::uint32_t c, bits e, std::uint32_t b) {
            return b == ~std::uint32_t{0} ? b : (c + std::uint32_t(warp_type::popcount(e))) << 8 | b;
          },
          before, earlier, select(good, bucket, lanes<std::uint32_t>(~std::uint32_t{0})));
    }
    team.barrier();
    const std::uint32_t tile_items = scan_counts(team, shared, buckets, start);

    Key* staged = reinterpret_cast<Key*>(shared.items);
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      const auto good = slot[j] != ~std::uint32_t{0};
      slot[j] = warp.map(good, [&](std::uint32_t s) { return count[s & 255] + (s >> 8); }, ~std::uint32_t{0}, slot[j]);
      warp.scatter(good, staged, slot[j], key[j]);
    }
    team.barrier();
    // Neighbouring lanes now hold neighbours of the output, except where a bucket ends.
    lanes<std::int64_t> target[items_per_lane];
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      const int p0 = j * threads + team.warp_index() * width;
      target[j] = warp.map(
          [&](std::uint32_t lane) {
            const std::uint32_t p = p0 + lane;
            if (p >= tile_items) return std::int64_t{-1};
            const Key k = staged[p];
            const std::int64_t to = shared.base[bucket_of(k)] + p;
            sink(to, k);
            return to;
          },
          warp.lane());
    }
    if constexpr (!std::is_same_v<Values, std::nullptr_t>) {
      using value = typename Values::value_type;
      const auto lane = warp.lane();
      value* staged_values = reinterpret_cast<value*>(shared.items);
      lanes<value> moved[items_per_lane];
      load_keys(warp, values, at, mine, moved);
      team.barrier();
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) {
        warp.scatter(slot[j] != ~std::uint32_t{0}, staged_values, slot[j], moved[j]);
      }
      team.barrier();
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) {
        const int p0 = j * threads + team.warp_index() * width;
        warp.each(
            [&](std::int64_t to, std::uint32_t lane) {
              if (to >= 0) value_sink(to, staged_values[p0 + lane]);
            },
            target[j], lane);
      }
    }
  }

 private:
  using bits = typename warp_type::bits;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;

  static LANEWISE_FUNCTION int items_of_warp(const Team& team, std::int64_t first, std::int64_t n) {
    const std::int64_t left = n - first - team.warp_index() * segment;
    return static_cast<int>(left < 0 ? 0 : (left < segment ? left : segment));
  }

  template <class Source, class T>
  static LANEWISE_FUNCTION void load_keys(const warp_type& warp, const Source& source, std::int64_t at, int mine,
                                          lanes<T> (&item)[items_per_lane]) {
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      item[j] = warp.map(
          [&](std::uint32_t lane) {
            T x{};
            const int i = j * width + static_cast<int>(lane);
            if (i < mine) x = source(at + i);
            return x;
          },
          warp.lane());
    }
  }

  template <class F>
  static LANEWISE_FUNCTION void for_each_bucket(const Team& team, std::uint32_t buckets, F f) {
    const auto warp = team.warp();
    for (std::uint32_t b0 = team.warp_index() * width; b0 < buckets; b0 += threads) {
      auto bucket = warp.lane() + lanes<std::uint32_t>(b0);
      warp.each(bucket < buckets, f, bucket);
    }
  }

  /// Turns the warps' counts into first slots within the tile: bucket by bucket, within a bucket warp by warp. Returns the number
  /// of items and leaves in base what has to be added to a slot to get the item's place in the output.
  template <int item_bytes, class Start>
  static LANEWISE_FUNCTION std::uint32_t scan_counts(const Team& team, scratch<item_bytes>& shared, std::uint32_t buckets,
                                                     Start start) {
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
        const auto bucket = warp.lane() + lanes<std::uint32_t>(static_cast<std::uint32_t>(g) * width);
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
