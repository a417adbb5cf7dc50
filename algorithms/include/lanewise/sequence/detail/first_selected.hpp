// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/options.hpp>
#include <lanewise/tile/stream/selection.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Teams that read what they look at once, many loads at a time.
struct first_selected_policy : launch_policy {
  static constexpr int warps = 16;
  static constexpr int teams_per_multiprocessor = 2;
  static constexpr int host_teams_per_thread = 16;
};

/// How many teams look for an item.
template <class Kernel, class Exec>
std::int64_t first_selected_league(const Exec& exec, std::int64_t n) {
  constexpr std::int64_t most_teams = 4096;
  const std::int64_t tiles = divide_up(n > 0 ? n : 1, 1 << 13);
  return backend_of<Exec>::template resident_league<Kernel>(
      exec, tiles < most_teams ? tiles : most_teams);
}

/// The first item of [first, last) in this warp's strips that is selected, or `none`; the
/// neighbours that the selector asks for exist. stops(i) says that items from i on do not matter.
template <class Team, class Source, class Selector, class Stops>
LANEWISE_FUNCTION std::int64_t first_selected(const Team& team, const Source& in,
                                              const Selector& marks, std::int64_t first,
                                              std::int64_t last, std::int64_t none, Stops stops) {
  using warp_type = typename Team::warp_type;
  using item = typename Source::value_type;
  using items = lanes_t<warp_type, item>;
  constexpr int rows = sizeof(item) <= 4 ? 8 : (sizeof(item) <= 8 ? 4 : 2);
  constexpr bool alone = Selector::side == 0;
  constexpr std::int64_t width = warp_type::width, strip = rows * width;
  const auto warp = team.warp();
  std::int64_t i = first + team.warp_index() * strip;
  for (; i + strip <= last; i += Team::warps * strip) {
    items x[rows], beside[alone ? 1 : rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      x[j] = detail::load_window(warp, in, i + j * width);
      if constexpr (!alone)
        beside[j] = detail::load_window(warp, in, i + j * width + Selector::side);
    }
    // Asked while the items are on their way.
    if (stops(i)) return none;
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const auto chosen = [&] {
        if constexpr (alone) return warp.ballot(detail::lanes_where(warp, marks, x[j]));
        if constexpr (!alone) return warp.ballot(detail::lanes_where(warp, marks, x[j], beside[j]));
      }();
      if (chosen != 0) return i + j * width + warp_type::lowest(chosen);
    }
  }
  for (const std::int64_t end = i + strip < last ? i + strip : last; i < end; i += width) {
    const auto exist = warp.first(end - i);
    const auto chosen =
        warp.ballot(exist & (warp.map(
                                 exist,
                                 [&](std::uint32_t l) LANEWISE_INLINE_LAMBDA {
                                   return detail::is_selected(marks, in, i + l, last) ? 1u : 0u;
                                 },
                                 0u, warp.lane()) != 0u));
    if (chosen != 0) return i + warp_type::lowest(chosen);
  }
  return none;
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
