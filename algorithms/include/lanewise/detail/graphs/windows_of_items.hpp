// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Calls f(at, mask) for windows of so many items, as wide as a warp: those that are this warp's,
/// of all warps of the league by turns.
template <class Team, class F>
LANEWISE_FUNCTION void for_each_window_of(const Team& team, std::int64_t items, const F& f) {
  using warp_type = typename Team::warp_type;
  using mask_type = typename warp_type::template mask_for<std::uint32_t>;
  constexpr int width = warp_type::width;
  const std::int64_t stride = std::int64_t{team.league()} * Team::warps * width;
  const std::int64_t rank = std::int64_t{team.index()} * Team::warps + team.warp_index();
  for (std::int64_t at = rank * width; at < items; at += stride) {
    const std::int64_t left = items - at;
    f(at, mask_type(team.warp().first(static_cast<int>(left < width ? left : width))));
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
