// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Cuts `items` items into windows as wide as a warp, which go to all warps of the league by turns.
/// Calls f(at, mask) for this warp's windows.
template <class Team, class F>
LANEWISE_FUNCTION void for_each_window_of(const Team& team, std::int64_t items, const F& f) {
  using warp_type = typename Team::warp_type;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  constexpr int width = warp_type::width;
  const std::int64_t stride = std::int64_t{team.league()} * Team::warps * width;
  const std::int64_t rank = std::int64_t{team.index()} * Team::warps + team.warp_index();
  for (std::int64_t at = rank * width; at < items; at += stride) {
    const std::int64_t left = items - at;
    f(at, mask_type(team.warp().first(left)));
  }
}

/// Calls f(at, masks) for k windows at a time. The last few windows may be empty, at 0. So k loads
/// of a warp are on their way before one is waited for. The windows are far apart, so that few
/// items are shared by as many warps as by for_each_window_of.
template <int k, class Team, class F>
LANEWISE_FUNCTION void for_each_batch_of(const Team& team, std::int64_t items, const F& f) {
  using warp_type = typename Team::warp_type;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  constexpr int width = warp_type::width;
  const std::int64_t step = std::int64_t{team.league()} * Team::warps * width;
  const std::int64_t rank = std::int64_t{team.index()} * Team::warps + team.warp_index();
  for (std::int64_t first = rank * width; first < items; first += k * step) {
    std::int64_t at[k];
    mask_type there[k];
    LANEWISE_UNROLL
    for (int i = 0; i < k; ++i) {
      const std::int64_t left = items - first - i * step;
      at[i] = left > 0 ? first + i * step : 0;
      there[i] = team.warp().first(left);
    }
    f(at, there);
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
