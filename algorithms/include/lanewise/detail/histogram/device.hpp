// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/device_rows.hpp>
#include <lanewise/detail/histogram/call.hpp>
#include <lanewise/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How a team of several warps counts its share of the items.
///
/// Its table is in scratch, if the bins fit; at the end it is added to the output. Hardware adds
/// ones to counters in scratch faster than items come from memory, whether they meet or not
/// (docs/measurements.md). Weights that meet wait for each other, so lanes have tables of their
/// own where bins are few. More bins are counted in the output, in the second-level cache, and only
/// the most frequent of them in scratch: those that a sample of the items finds.
template <class Team, class Call>
class device_histogram {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  using item = typename Call::item;
  using counter = typename Call::counter;
  template <class T>
  using lanes = typename warp_type::template lanes<T>;
  using u32s = lanes<std::uint32_t>;

  /// Up to 64 bytes of items for a lane; items and weights in packs of equally many.
  static constexpr int per_lane =
      sizeof(item) <= 2 ? 32 : (sizeof(item) >= 64 ? 1 : 64 / static_cast<int>(sizeof(item)));
  static constexpr int v = [] {
    constexpr int own = pack_items<item, per_lane>;
    constexpr int weights = pack_items<typename Call::weight, per_lane>;
    return Call::has_weights && weights < own ? weights : own;
  }();
  using rows = device_rows<Team, item, per_lane, v>;
  using weight_rows = device_rows<Team, typename Call::weight, per_lane, v>;

  /// So that a GPU with 100 KB holds one team, and one with 228 two.
  static constexpr int bytes = 96 << 10;
  static constexpr std::int64_t most_in_scratch =
      bytes / static_cast<std::int64_t>(sizeof(counter));
  static constexpr std::uint32_t slots = 8192;

 public:
  struct scratch {
    alignas(16) unsigned char memory[bytes];
  };

  // What the host decides.

  static constexpr bool sums_up = false;
  /// The fewest items that are worth a team.
  static constexpr std::int64_t least_share(std::int64_t) { return 4096; }
  static std::int64_t workspace_bytes(std::int64_t, std::int64_t) { return 0; }
  /// One team stores what it has counted.
  static bool is_alone(std::int64_t league, std::int64_t bins) {
    return league == 1 && bins <= most_in_scratch;
  }

  static LANEWISE_FUNCTION void count(const Team& team, scratch& shared, const Call& call,
                                      std::int64_t n) {
    if (std::int64_t{call.bins} <= most_in_scratch) {
      count_in_scratch(team, shared, call, n);
    } else {
      count_in_output(team, shared, call, n);
    }
  }

 private:
  /// Segments of rows, so that shares begin where packs do.
  static LANEWISE_FUNCTION index_range share_of(const Team& team, std::int64_t n) {
    const index_range mine = team.share(divide_up(n, rows::segment));
    const std::int64_t end = mine.end * rows::segment;
    return {mine.begin * rows::segment, end < n ? end : n};
  }
  static LANEWISE_FUNCTION std::uint32_t first_of(const Team& team) {
    return static_cast<std::uint32_t>(team.warp_index()) * width;
  }

  static LANEWISE_FUNCTION void count_in_scratch(const Team& team, scratch& shared,
                                                 const Call& call, std::int64_t n) {
    const auto warp = team.warp();
    const auto lane = warp.lane();
    const auto mine = share_of(team, n);
    auto* const count = reinterpret_cast<counter*>(shared.memory);
    std::uint32_t copies = 1;
    if constexpr (Call::has_weights) {
      while (copies < width && std::int64_t{call.bins} * copies * 2 <= most_in_scratch) copies *= 2;
    }
    const std::uint32_t entries = call.bins * copies;
    for (std::uint32_t i = first_of(team); i < entries; i += Team::warps * width)
      warp.store(warp.first(static_cast<int>(entries - i)), count + i, lanes<counter>(counter{}));
    team.barrier();
    u32s bad(0u);
    const auto copy = lane & u32s(copies - 1u);
    for_each_window(
        team, call, mine,
        [&](const auto& exists, const auto& item, const auto& weight) LANEWISE_INLINE_LAMBDA {
          for_each_bin(warp, call, exists, item,
                       [&](const auto& inside, const u32s& bin) LANEWISE_INLINE_LAMBDA {
                         const auto at = Call::has_weights ? bin * u32s(copies) + copy : bin;
                         warp.template fetch_add<order::relaxed, scope::team>(inside, count, at,
                                                                              added(warp, weight));
                         if constexpr (Call::has_weights)
                           bad = bad + select(exists & !inside, u32s(1u), u32s(0u));
                       });
        });
    team.barrier();
    std::uint64_t kept = 0;
    for (std::uint32_t b = first_of(team); b < call.bins; b += Team::warps * width) {
      const auto bin = lane + u32s(b);
      const auto exists = bin < call.bins;
      lanes<counter> sum = warp.gather(exists, count, bin * u32s(copies), counter{});
      // Neighbouring lanes begin with different copies, which lie in different banks.
      for (std::uint32_t c = 1; c < copies; ++c)
        sum = sum + warp.gather(exists, count, bin * u32s(copies) + u32s(c), counter{});
      if constexpr (!Call::has_weights)
        kept += warp.reduce(warp.template cast<std::uint64_t>(sum), plus{});
      add_to_output(team, call, exists, bin, sum);
    }
    if (call.errors == nullptr) return;
    if constexpr (Call::has_weights) {
      report(warp, call, bad);
    } else {
      // What is not in bins was outside; the sum over all warps does not wrap.
      const std::uint64_t all =
          team.warp_index() == 0 ? (mine.end - mine.begin) * Call::bins_per_item : 0;
      warp.fetch_add(call.errors->bad_items, all - kept);
    }
  }

  static LANEWISE_FUNCTION void count_in_output(const Team& team, scratch& shared, const Call& call,
                                                std::int64_t n) {
    constexpr std::uint32_t none = ~std::uint32_t{0};
    const auto warp = team.warp();
    const auto mine = share_of(team, n);
    auto* const count = reinterpret_cast<counter*>(shared.memory);
    auto* const tag = reinterpret_cast<std::uint32_t*>(shared.memory + slots * sizeof(counter));
    static_assert(slots * (sizeof(counter) + sizeof(std::uint32_t)) <= bytes);
    for (std::uint32_t i = first_of(team); i < slots; i += Team::warps * width) {
      warp.store(count + i, lanes<counter>(counter{}));
      warp.store(tag + i, u32s(none));
    }
    team.barrier();
    // A bin with more than one of some thousand items most probably gets its slot.
    const std::int64_t step = (mine.end - mine.begin) / (Team::warps * sampled_rows);
    if (step >= width) {
      for (int k = 0; k < sampled_rows; ++k) {
        const std::int64_t at = mine.begin + (team.warp_index() * sampled_rows + k) * step;
        const auto items = warp.map([&call, at](std::uint32_t l)
                                        LANEWISE_INLINE_LAMBDA { return call.in(at + l); },
                                    warp.lane());
        for_each_bin(warp, call, warp.first(width), items,
                     [&](const auto& inside, const u32s& bin) LANEWISE_INLINE_LAMBDA {
                       warp.template exchange<order::relaxed, scope::team>(
                           inside, tag, bin & u32s(slots - 1), bin);
                     });
      }
    }
    team.barrier();
    u32s bad(0u);
    for_each_window(
        team, call, mine,
        [&](const auto& exists, const auto& item, const auto& weight) LANEWISE_INLINE_LAMBDA {
          for_each_bin(
              warp, call, exists, item,
              [&](const auto& inside, const u32s& bin) LANEWISE_INLINE_LAMBDA {
                const auto slot = bin & u32s(slots - 1);
                const auto is_here = inside & (warp.gather(inside, tag, slot, none) == bin);
                warp.template fetch_add<order::relaxed, scope::team>(is_here, count, slot,
                                                                     added(warp, weight));
                const auto others = inside & !is_here;
                if constexpr (Call::has_weights) {
                  add_to_output(team, call, others, bin, added(warp, weight));
                } else {
                  // Sorted items would wait for each other.
                  const auto same = warp.match_any(others, bin);
                  const auto leads = (same & warp.lanes_below()) == typename warp_type::bits{0};
                  add_to_output(team, call, others & leads, bin,
                                warp.map(
                                    [](typename warp_type::bits b) {
                                      return static_cast<counter>(warp_type::popcount(b));
                                    },
                                    same));
                }
                bad = bad + select(exists & !inside, u32s(1u), u32s(0u));
              });
        });
    team.barrier();
    for (std::uint32_t i = first_of(team); i < slots; i += Team::warps * width) {
      const auto bin = warp.load(tag + i);
      add_to_output(team, call, bin != none, bin, warp.load(count + i));
    }
    if (call.errors != nullptr) report(warp, call, bad);
  }

  /// Calls f(exists, items, weights) with a lane's worth of items of the share at a time.
  template <class F>
  static LANEWISE_FUNCTION void for_each_window(const Team& team, const Call& call,
                                                const index_range& mine, F f) {
    for (std::int64_t first = mine.begin; first < mine.end; first += rows::items) {
      const rows items(team, call.in, first, mine.end);
      if constexpr (Call::has_weights) {
        const weight_rows weights(team, call.weights, first, mine.end);
        windows(team, items, weights, f);
      } else {
        windows(team, items, items, f);
      }
    }
  }
  template <class Weights, class F>
  static LANEWISE_FUNCTION void windows(const Team& team, const rows& items, const Weights& weights,
                                        F f) {
    if (items.whole_segment()) {
      windows<true>(team, items, weights, f);
    } else {
      windows<false>(team, items, weights, f);
    }
  }
  template <bool full, class Weights, class F>
  static LANEWISE_FUNCTION void windows(const Team& team, const rows& items, const Weights& weights,
                                        F f) {
    const auto warp = team.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows::rows; ++j) {
      const int n = items.row_count(j);
      if (!full && n == 0) return;
      LANEWISE_UNROLL
      for (int c = 0; c < v; ++c) {
        const auto own = [c](const auto& p) LANEWISE_INLINE_LAMBDA { return p[c]; };
        f(warp.first(full ? width : (n <= c ? 0 : (n - c + v - 1) / v)),
          warp.map(own, items.row(j)), warp.map(own, weights.row(j)));
      }
    }
  }
  /// Calls f(inside, bins) for each of the bins of an item.
  template <class W, class Mask, class Items, class F>
  static LANEWISE_FUNCTION void for_each_bin(const W& warp, const Call& call, const Mask& exists,
                                             const Items& items, F f) {
    LANEWISE_UNROLL
    for (int t = 0; t < Call::bins_per_item; ++t) {
      const auto at = warp.map(
          exists, [&call, t](const item& x) LANEWISE_INLINE_LAMBDA { return call.bin_of(x, t); },
          placed{0, false}, items);
      const auto inside =
          warp.map([](const placed& p) { return std::uint32_t{p.inside ? 1u : 0u}; }, at) != 0u;
      f(inside, warp.map([](const placed& p) { return p.bin; }, at));
    }
  }
  /// What an item adds to its counter.
  template <class W, class Weights>
  static LANEWISE_FUNCTION lanes<counter> added(const W& warp, const Weights& weights) {
    if constexpr (Call::has_weights) {
      return warp.template cast<counter>(weights);
    } else {
      return lanes<counter>(counter{1});
    }
  }
  template <class Mask, class Counts>
  static LANEWISE_FUNCTION void add_to_output(const Team& team, const Call& call, const Mask& mask,
                                              const u32s& bin, const Counts& counts) {
    using result = typename Call::result;
    const auto warp = team.warp();
    const auto sums = warp.template cast<result>(counts);
    LANEWISE_UNROLL
    for (int t = 0; t < Call::bins_per_item; ++t) {
      const auto own = Call::bins_per_item == 1
                           ? mask & mask
                           : mask & (bin >= call.first[t]) & (bin < call.first[t + 1]);
      const auto at = Call::bins_per_item == 1 ? bin : bin - u32s(call.first[t]);
      if (call.is_alone) {
        warp.scatter(own, call.out[t], at, sums);
      } else {
        warp.fetch_add(own & (sums != result{}), call.out[t], at, sums);
      }
    }
  }
  template <class W, class Bad>
  static LANEWISE_FUNCTION void report(const W& warp, const Call& call, const Bad& bad) {
    const std::uint64_t all = warp.reduce(warp.template cast<std::uint64_t>(bad), plus{});
    if (all != 0) warp.fetch_add(call.errors->bad_items, all);
  }

  static constexpr int sampled_rows = 16;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
