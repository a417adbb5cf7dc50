// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/top_k_sample.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The one reading of all items: notes of every unit, and a first count of digits above the floor.
template <class Selection>
struct filter_kernel {
  using item = typename Selection::item;
  using bits = typename Selection::bits;
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 2;
  };
  /// 64 bytes in flight for every lane.
  static constexpr int rows = sizeof(item) <= 4 ? 16 : (sizeof(item) <= 8 ? 8 : 4);
  using counters = bucket_counters<1, digit_values>;
  template <class Team>
  struct scratch {
    filter_kernel::counters counters;
    digit_scratch<Team> digit;
    selection_totals warp[Team::warps];
    bool last;
  };

  Selection all;
  typename decltype(Selection::key)::key_type* result;

  /// What a warp has seen of a unit, and of all its units.
  template <class W>
  struct seen {
    std::uint32_t above = 0;
    std::uint32_t equal = 0;
    std::uint64_t over = 0;
    lanes_t<W, bits> greatest{bits{0}};
  };

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const typename Selection::plan_type plan = *all.plan;
    if (plan.sampled == 0) return;
    lanewise::clear(team, shared.counters);
    team.barrier();
    const std::int64_t n = all.n();
    const index_range mine = team.share(all.units());
    std::uint64_t above = 0, equal = 0;
    seen<warp_type> now;
    for (std::int64_t u = mine.begin + team.warp_index(); u < mine.end; u += Team::warps) {
      now.above = now.equal = 0;
      std::int64_t i = u * unit_items;
      const std::int64_t end = i + unit_items < n ? i + unit_items : n;
      for (; i + rows * width <= end; i += rows * width) {
        lanes_t<warp_type, item> row[rows];
        LANEWISE_UNROLL
        for (int j = 0; j < rows; ++j) row[j] = kernels::load_once(warp, all.in, i + j * width);
        auto reach = warp.map(all.key, row[0]) >= plan.floor;
        LANEWISE_UNROLL
        for (int j = 1; j < rows; ++j) reach = reach | (warp.map(all.key, row[j]) >= plan.floor);
        if (!warp.any(reach)) continue;
        // Reading them again took 330 us for 2^28 u32 on an H200, and from registers, before digits
        // were counted here, 265.
        LANEWISE_UNROLL
        for (int j = 0; j < rows; ++j)
          note(warp, shared.counters, u, i + j * width, warp.first(static_cast<int>(width)), row[j],
               plan, now);
      }
      kernels::for_each_window_of<1>(
          warp, all.in, i, end,
          [&](std::int64_t at, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
            note(warp, shared.counters, u, at, exists, items, plan, now);
          });
      warp.once([&] { all.notes[u] = now.above | now.equal << 16; });
      above += now.above;
      equal += now.equal;
    }
    const auto greatest = static_cast<std::uint64_t>(warp.reduce(now.greatest, maximum{}));
    warp.once([&] {
      auto& totals = shared.warp[team.warp_index()];
      totals.above = above;
      totals.over = now.over;
      totals.equal = equal;
      totals.greatest = greatest;
    });
    team.barrier();
    std::uint64_t* const histogram = all.histograms;
    lanewise::for_each_window(team, shared.counters, [&](int first, const auto& counts) {
      warp.fetch_add(counts != 0u, histogram + first, warp.lane(),
                     warp.template cast<std::uint64_t>(counts));
    });
    if (team.warp_index() == 0) {
      std::uint64_t most = 0, over = 0;
      above = equal = 0;
      for (int w = 0; w < Team::warps; ++w) {
        above += shared.warp[w].above;
        over += shared.warp[w].over;
        equal += shared.warp[w].equal;
        if (most < shared.warp[w].greatest) most = shared.warp[w].greatest;
      }
      if (above != 0) {
        warp.fetch_add(all.totals->above, above);
        warp.fetch_max(all.totals->greatest, most);
      }
      if (over != 0) warp.fetch_add(all.totals->over, over);
      if (equal != 0) warp.fetch_add(all.totals->equal, equal);
    }
    if (kernels::is_last_team(team, all.totals->finished[0], shared.last))
      decide(team, shared, plan);
  }

 private:
  template <class W, class Mask, class Items>
  LANEWISE_FUNCTION void note(const W& warp, counters& counts, std::int64_t unit, std::int64_t at,
                              const Mask& exists, const Items& items,
                              const typename Selection::plan_type& plan, seen<W>& now) const {
    using numbers = lanes_t<W, std::uint32_t>;
    using values = lanes_t<W, bits>;
    const values x = warp.map(all.key, items);
    const auto reach = exists & (x >= plan.floor);
    const auto reaching = warp.ballot(reach);
    if (reaching == 0) return;
    const auto same = warp.ballot(exists & (x == plan.floor));
    const auto more = reaching & ~same;
    now.equal += static_cast<std::uint32_t>(W::popcount(same));
    if (more == 0) return;
    const auto above = warp.template mask_of<std::uint32_t>(more);
    now.greatest = warp.map(maximum{}, now.greatest, lanewise::select(reach, x, values(bits{0})));
    const int next = plan.open > digit_bits ? plan.open - digit_bits : 0;
    const auto digit = warp.map(
        [base = plan.base, open = plan.open, next](bits b) -> std::uint32_t {
          const auto y = static_cast<bits>(b - base);
          return kernels::without_low(y, open) == 0 ? lanewise::radix_digit(y, next, open - next)
                                                    : static_cast<std::uint32_t>(digit_values);
        },
        x);
    const auto in_range = digit < static_cast<std::uint32_t>(digit_values);
    warp.template fetch_add<order::relaxed, scope::team>(above & in_range, counts.count, digit,
                                                         numbers(1u));
    now.over += static_cast<std::uint64_t>(warp.count(above & !in_range));
    if (now.above < unit_slots) {
      const auto rank = warp.map(
          [more, before = now.above](typename W::bits below) -> std::uint32_t {
            return before + static_cast<std::uint32_t>(W::popcount(more & below));
          },
          warp.lanes_below());
      const auto place = warp.lane() + numbers(static_cast<std::uint32_t>(at - unit * unit_items));
      const auto noted = above & (rank < static_cast<std::uint32_t>(unit_slots));
      warp.scatter(noted, all.places + unit * unit_slots, rank,
                   warp.template cast<std::uint16_t>(place));
      warp.scatter(noted, all.noted + unit * unit_slots, rank, x);
    }
    now.above += static_cast<std::uint32_t>(W::popcount(more));
  }

  /// By the last team.
  template <class Team>
  LANEWISE_FUNCTION void decide(const Team& team, scratch<Team>& shared,
                                typename Selection::plan_type plan) const {
    const auto above = static_cast<std::int64_t>(all.totals->above);
    const auto over = static_cast<std::int64_t>(all.totals->over);
    const auto equal = static_cast<std::int64_t>(all.totals->equal);
    if (above >= plan.wanted) {
      plan.among = candidates::above_floor;
      if (over < plan.wanted) {
        plan.wanted -= over;
        kernels::add_digit(plan,
                           kernels::find_digit(team, shared.digit, all.histograms,
                                               static_cast<std::uint64_t>(plan.wanted)),
                           result != nullptr);
      } else {
        // The sample has not seen how great they get.
        plan.open = sample_kernel<Selection>::digits_of(
            static_cast<bits>(static_cast<bits>(all.totals->greatest) - plan.base));
      }
    } else if (above + equal >= plan.wanted) {
      plan.among = candidates::floor;
      plan.base = 0;
      plan.at = plan.floor;
      plan.open = 0;
      plan.done = 1;
      plan.wanted -= above;
    } else {
      plan = all.first_plan();
    }
    team.once([&] {
      *all.plan = plan;
      if (result != nullptr && plan.done != 0)
        *result = all.key.key(static_cast<bits>(plan.base + plan.at));
    });
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
