// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_call.hpp>
#include <lanewise/hash/slab_hash_table.hpp>

// What calls on whole slab tables are made of. Sub-warps take lists, each for itself.

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Calls action(sub, walk, bucket) for every list, by sub-warps that have it for themselves.
template <class View, class Action>
struct slab_lists_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  View table;
  Action action;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::line_width;
    constexpr int parts = warp_type::width / width;
    const auto warp = team.warp();
    const std::int64_t id = std::int64_t{team.index()} * Team::warps + team.warp_index();
    const std::int64_t lists = std::int64_t{table.buckets()} + 1;
    const index_range mine =
        lanewise::even_share(lists, id, std::int64_t{team.league()} * Team::warps);
    const auto lane = warp.lane();
    warp.template split<width>([&](const auto& sub) {
      using sub_type = std::decay_t<decltype(sub)>;
      const std::int64_t part = sub.broadcast(sub.take(lane), 0) / width;
      const detail::slab_walk<typename View::layout, sub_type> walk(sub);
      auto local = action.begin(sub, static_cast<std::uint64_t>(id * parts + part));
      for (std::int64_t b = mine.begin + part; b < mine.end; b += parts)
        action(sub, walk, local, table, static_cast<std::uint32_t>(b));
      action.end(sub, local);
    });
  }
};

/// Actions have a state for each sub-warp, made by begin and handed to end.
struct stateless_action {
  struct nothing {};
  template <class Sub>
  LANEWISE_FUNCTION nothing begin(const Sub&, std::uint64_t) const {
    return {};
  }
  template <class Sub>
  LANEWISE_FUNCTION void end(const Sub&, const nothing&) const {}
};

template <class Exec, class Table, class Action>
void for_lists(const Exec& exec, const char* label, const Table& table, const Action& action) {
  kernels::expects_reachable_table<Exec, Table>();
  using kernel = slab_lists_kernel<typename Table::view_type, Action>;
  using team = team_t<Exec, typename kernel::policy>;
  const std::int64_t lists = std::int64_t{table.buckets()} + 1;
  const auto league = backend_of<Exec>::template resident_league<kernel>(
      exec,
      lanewise::divide_up(lists, team::warps * (warp_t<Exec>::width / warp_t<Exec>::line_width)));
  lanewise::launch(exec, label, league, kernel{table.view(), action});
}

}  // namespace kernels

LANEWISE_END_TARGET_NAMESPACE
