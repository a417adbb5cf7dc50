// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/detail/array_arguments.hpp>
#include <lanewise/detail/lsm_runs.hpp>
#include <lanewise/reduce.hpp>
#include <lanewise/workspace.hpp>

#include <cstdint>
#include <type_traits>

// What the calls on LSMs have in common: their arguments, and kernels with an item for each lane.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class Exec, class Map>
void lsm_expects_reachable() {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space,
                                           typename Map::memory_space>::accessible,
                "lanewise: this execution space cannot reach the memory of a dictionary");
}

template <class T, class Exec>
using lsm_items = Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;

/// Calls f(warp, exists, begin) for windows of n items: lane l has item begin + l.
template <class Team, class F>
LANEWISE_FUNCTION void lsm_for_windows(const Team& team, std::int64_t n, const F& f) {
  constexpr std::int64_t width = Team::warp_type::width;
  const auto warp = team.warp();
  const auto mine = team.share(divide_up(n, width));
  for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
    const std::int64_t begin = w * width, left = n - begin;
    f(warp, warp.first(static_cast<int>(left < width ? left : width)), begin);
  }
}

/// Starts a kernel of n such items.
template <class Exec, class Kernel>
void lsm_launch(const Exec& exec, const char* label, std::int64_t n, const Kernel& kernel) {
  const std::int64_t windows = divide_up(n, warp_t<Exec>::width);
  launch(exec, label,
         backend_of<Exec>::template resident_league<Kernel>(
             exec, divide_up(windows, team_t<Exec, typename Kernel::policy>::warps)),
         kernel);
}

template <class Warp>
struct lsm_ones {
  const std::uint32_t* words;
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return Warp::popcount(words[i]);
  }
};

/// How many tombstones a level has. **Blocks** where bits are counted.
template <class Exec, class Key, class Value>
std::int64_t lsm_tombstones(const Exec& exec, const detail::lsm_level<Key, Value>& level,
                            workspace_ref work) {
  if (level.dead == nullptr) return level.values == nullptr ? level.size() : 0;
  return lanewise::reduce(
      exec, generated(divide_up(level.size(), 32), lsm_ones<warp_t<Exec>>{level.dead}), plus{},
      std::int64_t{0}, {.work = work});
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
