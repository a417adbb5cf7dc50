// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/top_k_write.hpp>
#include <lanewise/team/team.hpp>

#include <algorithm>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// All of it for few items, by one team.
template <class Selection, class Put>
struct small_selection_kernel {
  using item = typename Selection::item;
  struct policy : launch_policy {
    static constexpr int warps = 16;
  };
  template <class Team>
  struct scratch {
    bucket_counters<1, digit_values> counters;
    digit_scratch<Team> digit;
    selection_offset warp[Team::warps];
    typename Selection::bits bits[Team::is_single_thread ? selection_limits{}.one_team : 1];
  };

  Selection all;
  typename decltype(Selection::key)::key_type* result;
  Put put;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    const std::int64_t n = all.n();
    auto plan = all.first_plan();
    if constexpr (Team::is_single_thread) {
      if (plan.done == 0) find_threshold(plan, shared.bits, n);
    }
    while (plan.done == 0) {
      lanewise::clear(team, shared.counters);
      team.barrier();
      lanewise::count(team, shared.counters, all.in, 0, n, typename Selection::digits(all, plan));
      team.barrier();
      kernels::add_digit(plan,
                         kernels::find_digit(team, shared.digit, shared.counters.count,
                                             static_cast<std::uint64_t>(plan.wanted)),
                         result != nullptr);
    }
    if (n == 0) return;
    if (result != nullptr) {
      team.once([&] { *result = all.key.key(plan.at); });
      return;
    }
    const typename Selection::classes class_of(all, plan);
    const index_range windows = lanewise::even_share(lanewise::divide_up(n, warp_type::width),
                                                     team.warp_index(), Team::warps);
    const std::int64_t first = windows.begin * warp_type::width,
                       end = windows.end * warp_type::width;
    const std::int64_t last = end < n ? end : n;
    selection_offset mine{0, 0};
    kernels::for_each_window_of(
        warp, all.in, first, last,
        [&](std::int64_t, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
          const auto is = warp.map(class_of, items);
          mine.beyond += warp_type::popcount(warp.ballot(exists & (is == 2u)));
          mine.equal += warp_type::popcount(warp.ballot(exists & (is == 1u)));
        });
    warp.once([&] { shared.warp[team.warp_index()] = mine; });
    team.barrier();
    selection_offset before{0, 0};
    for (int w = 0; w < team.warp_index(); ++w)
      before = {before.beyond + shared.warp[w].beyond, before.equal + shared.warp[w].equal};
    selected_kernel<Selection, Put>::write_items(warp, all.in, first, last, class_of, plan.wanted,
                                                 before, put);
  }

 private:
  /// By one thread of a host, for keys that have no bounds: comparisons take less than counters.
  LANEWISE_LOOP_FUNCTION void find_threshold(typename Selection::plan_type& plan,
                                             typename Selection::bits* bits, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i) bits[i] = all.key(all.in(i));
    auto* const last = bits + (plan.wanted - 1);
    std::nth_element(bits, last, bits + n, greater_bits{});
    plan.at = *last;
    plan.open = 0;
    plan.done = 1;
    for (const auto* b = bits; b < last; ++b) plan.wanted -= *b != plan.at ? 1 : 0;
  }
  struct greater_bits {
    template <class B>
    bool operator()(const B& a, const B& b) const {
      return b < a;
    }
  };
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
