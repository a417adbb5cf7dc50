// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/histogram/detail/histogram_call.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/tile/register/rows.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How a team of several warps counts its share of the items.
///
/// Its table is in scratch, if the bins fit; at the end it is added to the output. Hardware adds
/// ones to counters in scratch faster than items come from memory, whether they meet or not
/// (docs/measurements.md). Weights that meet wait for each other, so lanes have tables of their own
/// where bins are few. More bins are counted in the output, in the second-level cache. Only the
/// most frequent bins are counted in scratch; a sample of the items finds them.
template <class Team, class Call, int scratch_bytes>
class device_histogram {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  using item = typename Call::item;
  using counter = typename Call::counter;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using u32s = lanes<std::uint32_t>;

  /// Up to 64 bytes of items for a lane; items and weights in packs of equally many.
  static constexpr int per_lane =
      sizeof(item) <= 2 ? 32 : (sizeof(item) >= 64 ? 1 : 64 / static_cast<int>(sizeof(item)));
  static constexpr int v = [] {
    constexpr int own = pack_items<item, per_lane>;
    constexpr int weights = pack_items<typename Call::weight, per_lane>;
    return Call::has_weights && weights < own ? weights : own;
  }();
  using rows = register_tile<Team, item, per_lane, v>;
  using weight_rows = register_tile<Team, typename Call::weight, per_lane, v>;

  static constexpr int bytes = scratch_bytes;
  /// Items of so few values that these are counted first, and then put into bins.
  static constexpr int values = few_values<item>;
  static constexpr bool counts_values = !Call::has_weights && values > 0;
  /// Then lanes have tables of their own, in banks of their own. H200, 2^28 bytes: 87 us, by
  /// bins in one table 237.
  static constexpr int value_copies = [] {
    int copies = width;
    while (copies * values * Call::bins_per_item * 4 > bytes) copies /= 2;
    return copies;
  }();

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
  /// Whether teams with this much scratch serve `n` items better than teams with `less`.
  static constexpr bool has_use_for_more = !counts_values;
  static bool needs_more(std::int64_t n, std::int64_t bins, std::int64_t less) {
    return bins <= most_in_scratch && bins * static_cast<std::int64_t>(sizeof(counter)) > less &&
           n / 16 >= bins;
  }
  /// One team stores what it has counted.
  static bool is_alone(std::int64_t league, std::int64_t bins) {
    return league == 1 && bins <= most_in_scratch && !counts_values;
  }

  static LANEWISE_FUNCTION void count(const Team& team, scratch& shared, const Call& call,
                                      std::int64_t n) {
    if constexpr (counts_values) {
      count_values(team, shared, call, n);
    } else if (std::int64_t{call.bins} > most_in_scratch) {
      count_in_output(team, shared, call, n);
    } else {
      with_bins_at_hand(team, shared, call, call.bins_of,
                        [&](const auto& bins_of, std::int64_t room) LANEWISE_INLINE_LAMBDA {
                          count_in_scratch(team, shared, call, bins_of, room, n);
                        });
    }
  }

 private:
  /// Segments of rows, so that shares begin where packs do.
  static LANEWISE_FUNCTION index_range share_of(const Team& team, std::int64_t n) {
    const index_range mine = team.share(lanewise::divide_up(n, rows::segment));
    const std::int64_t begin = mine.begin * rows::segment, end = mine.end * rows::segment;
    return {begin < n ? begin : n, end < n ? end : n};
  }
  static LANEWISE_FUNCTION std::uint32_t first_of(const Team& team) {
    return static_cast<std::uint32_t>(team.warp_index()) * width;
  }

  /// Calls f(bins, room for counters). Edges are searched in scratch, if they fit. A barrier comes
  /// before they are used.
  template <class Bins, class F>
  static LANEWISE_FUNCTION void with_bins_at_hand(const Team&, scratch&, const Call&,
                                                  const Bins& bins_of, F f) {
    f(bins_of, most_in_scratch);
  }
  template <class Item, class Edge, class F>
  static LANEWISE_FUNCTION void with_bins_at_hand(
      const Team& team, scratch& shared, const Call& call,
      const single_bins<searched_edges<Item, Edge>>& bins_of, F f) {
    using tree = edge_tree<Item, Edge>;
    const std::int64_t tree_bytes = tree::bytes_for(call.bins);
    const std::int64_t left = bytes - tree_bytes;
    if (left < call.bins * static_cast<std::int64_t>(sizeof(counter))) {
      f(bins_of, most_in_scratch);
      return;
    }
    const auto warp = team.warp();
    auto* const nodes = reinterpret_cast<typename tree::common*>(shared.memory + left);
    const int levels = tree::levels_for(call.bins);
    const std::uint32_t size = std::uint32_t{1} << levels;
    for (std::uint32_t i = first_of(team); i < size; i += Team::warps * width) {
      const auto node = warp.lane() + u32s(i);
      const auto exists = node < size;
      warp.store(exists, nodes + i,
                 warp.map(
                     exists,
                     [&](std::uint32_t k)
                         LANEWISE_INLINE_LAMBDA { return tree::node(bins_of.bins, levels, k); },
                     typename tree::common{}, node));
    }
    f(single_bins<tree>{{nodes, levels, call.bins}},
      left / static_cast<std::int64_t>(sizeof(counter)));
  }

  template <class Bins>
  static LANEWISE_FUNCTION void count_in_scratch(const Team& team, scratch& shared,
                                                 const Call& call, const Bins& bins_of,
                                                 std::int64_t room, std::int64_t n) {
    const auto warp = team.warp();
    const auto lane = warp.lane();
    const auto mine = share_of(team, n);
    auto* const count = reinterpret_cast<counter*>(shared.memory);
    std::uint32_t copies = 1;
    if constexpr (Call::has_weights) {
      while (copies < width && std::int64_t{call.bins} * copies * 2 <= room) copies *= 2;
    }
    const std::uint32_t entries = call.bins * copies;
    for (std::uint32_t i = first_of(team); i < entries; i += Team::warps * width)
      warp.store(warp.first(static_cast<int>(entries - i)), count + i, lanes<counter>(counter{}));
    team.barrier();
    u32s bad(0u);
    const auto copy = lane & u32s(copies - 1u);
    for_each_window(team, call, bins_of, mine,
                    [&](const auto& exists, const auto& inside, const u32s& bin, const auto& weight)
                        LANEWISE_INLINE_LAMBDA {
                          const auto at = Call::has_weights ? bin * u32s(copies) + copy : bin;
                          warp.template fetch_add<order::relaxed, scope::team>(inside, count, at,
                                                                               added(warp, weight));
                          if constexpr (Call::has_weights)
                            bad = bad + lanewise::select(exists & !inside, u32s(1u), u32s(0u));
                        });
    team.barrier();
    std::uint64_t kept = 0;
    for (std::uint32_t b = first_of(team); b < call.bins; b += Team::warps * width) {
      const auto bin = lane + u32s(b);
      const auto exists = bin < call.bins;
      lanes<counter> sum(counter{});
      // Neighbouring lanes begin with different copies, which lie in different banks.
      for (std::uint32_t c = 0; c < copies; ++c) {
        const auto own = (lane + u32s(c)) & u32s(copies - 1u);
        sum = sum + warp.gather(exists, count, bin * u32s(copies) + own, counter{});
      }
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
          team.warp_index() == 0
              ? static_cast<std::uint64_t>((mine.end - mine.begin) * Call::bins_per_item)
              : 0;
      warp.fetch_add(call.errors->bad_items, all - kept);
    }
  }

  static LANEWISE_FUNCTION void count_values(const Team& team, scratch& shared, const Call& call,
                                             std::int64_t n) {
    constexpr std::uint32_t copies = value_copies;
    constexpr std::uint32_t entries = values * Call::bins_per_item;
    const auto warp = team.warp();
    const auto lane = warp.lane();
    const auto mine = share_of(team, n);
    auto* const count = reinterpret_cast<std::uint32_t*>(shared.memory);
    for (std::uint32_t i = first_of(team); i < entries * copies; i += Team::warps * width)
      warp.store(count + i, u32s(0u));
    team.barrier();
    const auto copy = lane & u32s(copies - 1u);
    for_each_window(team, call, value_of_item{}, mine,
                    [&](const auto&, const auto& inside, const u32s& value, const auto&)
                        LANEWISE_INLINE_LAMBDA {
                          warp.template fetch_add<order::relaxed, scope::team>(
                              inside, count, value * u32s(copies) + copy, u32s(1u));
                        });
    team.barrier();
    std::uint64_t bad = 0;
    for (std::uint32_t e = first_of(team); e < entries; e += Team::warps * width) {
      const auto entry = lane + u32s(e);
      u32s sum(0u);
      for (std::uint32_t c = 0; c < copies; ++c) {
        const auto own = (lane + u32s(c)) & u32s(copies - 1u);
        sum = sum + warp.gather(count, entry * u32s(copies) + own);
      }
      // What does not occur may be no item at all: no function is called for it.
      const auto occurs = sum != 0u;
      const auto at = warp.map(
          occurs,
          [&](std::uint32_t x) LANEWISE_INLINE_LAMBDA {
            return detail::place_value<item>(call.bins_of, x % values,
                                             static_cast<int>(x / values));
          },
          placed{0, false}, entry);
      const auto inside = is_inside(warp, at);
      add_to_output(team, call, inside, bin_in(warp, at), sum);
      bad += warp.reduce(
          warp.template cast<std::uint64_t>(lanewise::select(occurs & !inside, sum, u32s(0u))),
          plus{});
    }
    if (call.errors != nullptr && bad != 0) warp.fetch_add(call.errors->bad_items, bad);
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
        for (int t = 0; t < Call::bins_per_item; ++t) {
          const auto here =
              warp.map([&call, t](const item& x)
                           LANEWISE_INLINE_LAMBDA { return detail::place(call.bins_of, x, t); },
                       items);
          const auto bin = bin_in(warp, here);
          warp.template exchange<order::relaxed, scope::team>(is_inside(warp, here), tag,
                                                              bin & u32s(slots - 1), bin);
        }
      }
    }
    team.barrier();
    u32s bad(0u);
    for_each_window(team, call, call.bins_of, mine,
                    [&](const auto& exists, const auto& inside, const u32s& bin,
                        const auto& weight) LANEWISE_INLINE_LAMBDA {
                      const auto slot = bin & u32s(slots - 1);
                      const auto is_here = inside & (warp.gather(inside, tag, slot, none) == bin);
                      warp.template fetch_add<order::relaxed, scope::team>(is_here, count, slot,
                                                                           added(warp, weight));
                      const auto others = inside & !is_here;
                      if constexpr (Call::has_weights) {
                        add_to_output(team, call, others, bin, added(warp, weight));
                      } else {
                        // Sorted items would wait for each other.
                        using bits = typename warp_type::bits;
                        const auto same = warp.match_any(others, bin);
                        const auto leads = (same & warp.lanes_below()) == bits{0};
                        const auto together = [](bits b) {
                          return static_cast<counter>(warp_type::popcount(b));
                        };
                        add_to_output(team, call, others & leads, bin, warp.map(together, same));
                      }
                      bad = bad + lanewise::select(exists & !inside, u32s(1u), u32s(0u));
                    });
    team.barrier();
    for (std::uint32_t i = first_of(team); i < slots; i += Team::warps * width) {
      const auto bin = warp.load(tag + i);
      add_to_output(team, call, bin != none, bin, warp.load(count + i));
    }
    if (call.errors != nullptr) report(warp, call, bad);
  }

  /// Calls f(exists, inside, bins, weights) for the bins of the share's items, a lane's worth at a
  /// time. A loop beside this one for what is less than a segment compiles faster, but then even
  /// bins of u32 take 289 us instead of 268 (H200, 2^28).
  template <class Bins, class F>
  static LANEWISE_FUNCTION void for_each_window(const Team& team, const Call& call,
                                                const Bins& bins_of, const index_range& mine, F f) {
    for (std::int64_t first = mine.begin; first < mine.end; first += rows::items) {
      const rows items(team, call.in, first, mine.end);
      const auto windows_of = [&](const auto& weights) LANEWISE_INLINE_LAMBDA {
        if (items.whole_segment()) {
          windows<true>(team, bins_of, items, weights, f);
        } else {
          windows<false>(team, bins_of, items, weights, f);
        }
      };
      if constexpr (Call::has_weights) {
        windows_of(weight_rows(team, call.weights, first, mine.end));
      } else {
        windows_of(items);
      }
    }
  }
  template <bool full, class Bins, class Weights, class F>
  static LANEWISE_FUNCTION void windows(const Team& team, const Bins& bins_of, const rows& items,
                                        const Weights& weights, F f) {
    const auto warp = team.warp();
    LANEWISE_UNROLL
    for (int j = 0; j < rows::rows; ++j) {
      const int n = items.row_count(j);
      if (!full && n == 0) return;
      LANEWISE_UNROLL
      for (int t = 0; t < Call::bins_per_item; ++t) {
        const auto at = warp.map(
            [&](const pack<item, v>& p, std::uint32_t lane) LANEWISE_INLINE_LAMBDA {
              pack<placed, v> r;
              if constexpr (full) {
                detail::place_all(bins_of, p, t, r.item);
              } else {
                const int left = n - static_cast<int>(lane) * v;
                LANEWISE_UNROLL
                for (int c = 0; c < v; ++c)
                  r[c] = c < left ? detail::place(bins_of, p[c], t) : placed{0, false};
              }
              return r;
            },
            items.row(j), warp.lane());
        LANEWISE_UNROLL
        for (int c = 0; c < v; ++c) {
          const auto own = [c](const auto& p) LANEWISE_INLINE_LAMBDA { return p[c]; };
          const auto here = warp.map(own, at);
          f(warp.first(full ? width : (n <= c ? 0 : (n - c + v - 1) / v)), is_inside(warp, here),
            bin_in(warp, here), warp.map(own, weights.row(j)));
        }
      }
    }
  }
  template <class W>
  static LANEWISE_FUNCTION u32s bin_in(const W& warp, const lanes<placed>& at) {
    return warp.map([](const placed& p) { return p.bin; }, at);
  }
  template <class W>
  static LANEWISE_FUNCTION auto is_inside(const W& warp, const lanes<placed>& at) {
    return warp.map([](const placed& p) { return std::uint32_t{p.inside ? 1u : 0u}; }, at) != 0u;
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
