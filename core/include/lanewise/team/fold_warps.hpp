// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/look_back_chain.hpp>
#include <lanewise/warp/warp.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Ordered fold of the warps' values by the team: what lies before this warp, and the whole. Every
/// warp calls it.
template <class T, class Team, class Op>
LANEWISE_FUNCTION void fold_warps(const Team& team, const T* per_warp, int warps, Op op,
                                  maybe<T>& before, T& total) {
  const auto warp = team.warp();
  const auto values = warp.load(warp.template first<T>(warps), per_warp, T{});
  const auto sums = warp.scan_by_doubling(values, op, warps);
  total = warp.broadcast(sums, warps - 1);
  before.present = team.warp_index() > 0;
  if (before.present)
    before.value =
        warp.broadcast(sums, (team.warp_index() < warps ? team.warp_index() : warps) - 1);
}

}  // namespace detail
LANEWISE_END_NAMESPACE
