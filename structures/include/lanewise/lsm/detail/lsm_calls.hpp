// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace.hpp>
#include <lanewise/common/detail/array_arguments.hpp>
#include <lanewise/lsm/detail/lsm_cursor.hpp>
#include <lanewise/sequence/reduce.hpp>

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
    f(warp, warp.first(left), begin);
  }
}

/// Starts a kernel of n such items.
template <class Exec, class Kernel>
void lsm_launch(const Exec& exec, const char* label, std::int64_t n, const Kernel& kernel) {
  const std::int64_t windows = lanewise::divide_up(n, warp_t<Exec>::width);
  lanewise::launch(
      exec, label,
      backend_of<Exec>::template resident_league<Kernel>(
          exec, lanewise::divide_up(windows, team_t<Exec, typename Kernel::policy>::warps)),
      kernel);
}

/// How many tombstones there are in word i of those of all levels.
template <class Key, class Value, class Warp>
struct lsm_dead_in_word {
  detail::lsm_levels_of<Key, Value> all;
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    for (int j = 0; j < all.count; ++j) {
      const std::int64_t words = words_of(all.level[j]);
      if (i < words) return Warp::popcount(all.level[j].dead[i]);
      i -= words;
    }
    return 0;
  }
  static LANEWISE_FUNCTION std::int64_t words_of(const detail::lsm_level<Key, Value>& level) {
    return level.dead == nullptr ? 0 : lanewise::divide_up(level.size(), 32);
  }
};

/// How many tombstones all levels have. **Blocks** where bits are counted.
template <class Exec, class Key, class Value>
std::int64_t lsm_tombstones(const Exec& exec, const detail::lsm_levels_of<Key, Value>& all,
                            workspace_ref work) {
  using count = lsm_dead_in_word<Key, Value, warp_t<Exec>>;
  std::int64_t known = 0, words = 0;
  for (int j = 0; j < all.count; ++j) {
    const auto& level = all.level[j];
    words += count::words_of(level);
    if (level.dead == nullptr && level.values == nullptr) known += level.size();
  }
  if (words == 0) return known;
  return known + lanewise::reduce(exec, lanewise::generated(words, count{all}), plus{},
                                  std::int64_t{0}, {.work = work});
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
