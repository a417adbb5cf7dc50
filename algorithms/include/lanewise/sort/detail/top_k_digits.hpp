// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/top_k_steps.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// One pass: the next digit of the threshold.
template <class Selection>
struct digit_kernel {
  using item = typename Selection::item;
  using digits = typename Selection::digits;
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 2;
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {
    bucket_counters<1, digit_values> counters;
    digit_scratch<Team> digit;
    bool last;
  };

  Selection all;
  int pass;
  typename decltype(Selection::key)::key_type* result;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    auto plan = all.known(pass);
    if (plan.done != 0) {
      if (pass == 0 && !all.samples) team.once([&] { *all.plan = plan; });  // of no items
      return;
    }
    lanewise::clear(team, shared.counters);
    team.barrier();
    const digits digit(all, plan);
    if (plan.among == candidates::all) {
      const index_range mine = team.share(all.n());
      lanewise::count(team, shared.counters, all.in, mine.begin, mine.end, digit);
    } else {
      count_noted(team, shared.counters, digit);
    }
    team.barrier();
    std::uint64_t* const histogram = all.histograms + (1 + pass) * digit_values;
    lanewise::for_each_window(team, shared.counters, [&](int first, const auto& counts) {
      warp.fetch_add(counts != 0u, histogram + first, warp.lane(),
                     warp.template cast<std::uint64_t>(counts));
    });
    if (!kernels::is_last_team(team, all.totals->finished[1 + pass], shared.last)) return;
    kernels::add_digit(
        plan,
        kernels::find_digit(team, shared.digit, histogram, static_cast<std::uint64_t>(plan.wanted)),
        result != nullptr);
    team.once([&] {
      *all.plan = plan;
      if (result != nullptr && plan.done != 0)
        *result = all.key.key(static_cast<typename Selection::bits>(plan.base + plan.at));
    });
  }

 private:
  template <class Team>
  LANEWISE_FUNCTION void count_noted(const Team& team, bucket_counters<1, digit_values>& counters,
                                     const digits& digit) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    kernels::for_each_units(team, all.units(), [&](const auto& lanes) LANEWISE_INLINE_LAMBDA {
      const auto note = warp.gather(lanes.exist, all.notes, lanes.unit, 0u);
      const auto above = note & typename warp_type::template lanes<std::uint32_t>(0xffffu);
      const auto few = lanes.exist & (above > 0u) & (above <= std::uint32_t{unit_slots});
      if (warp.any(few)) {
        const noted_items<warp_type, Selection> noted(warp, all, few, above, lanes.unit);
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s)
          detail::count_window<false>(warp, counters, few & (above > static_cast<std::uint32_t>(s)),
                                      noted.row[s],
                                      [&](typename Selection::bits x, int)
                                          LANEWISE_INLINE_LAMBDA { return digit.of_bits(x); });
      }
      kernels::for_each_whole_unit(
          warp, lanes.exist & (above > std::uint32_t{unit_slots}), lanes.unit,
          [&](std::int64_t u, int) LANEWISE_INLINE_LAMBDA {
            const std::int64_t n = all.n(), end = (u + 1) * unit_items;
            kernels::for_each_window_of(
                warp, all.in, u * unit_items, end < n ? end : n,
                [&](std::int64_t, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
                  detail::count_window<false>(warp, counters, exists, items, digit);
                });
          });
    });
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
