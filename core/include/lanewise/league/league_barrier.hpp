// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/policy.hpp>
#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// A barrier of all teams of a league, or of its first few, in a kernel that was started by
/// launch_resident. Under launch() it may wait forever: a team waits for others that get no place
/// until it ends.
///
/// Memory:   words(league) words of 32 bits, which the caller sets to 0 once. Every barrier leaves
///           them 0, so that later launches use them as they are. After a launch that ended with an
///           exception, clear them again.
/// Order:    what any warp of these teams wrote plainly before it is there for plain reads of all
///           of them after it. What they read before it is not overwritten by what other warps
///           write after it. It orders nothing for teams that do not take part.
/// Cost:     two barriers of the team. Each team but the first announces itself by an atomic
///           operation and watches one word. The first team gathers and releases 32 teams by a
///           word. So there are three accesses one after the other to memory that all teams share.
///
/// Every team has a bit of its own, which it sets when it arrives, and which the first team clears.
/// Counting arrivals would not do: a team outside of a barrier of few may be waiting at the next
/// barrier of all already. It would then be counted for the other one.
struct league_barrier {
  std::uint32_t* arrived;

  /// How many words the barrier of a league needs.
  static constexpr std::int64_t words(std::int64_t league) { return divide_up(league, 32); }

  /// All teams of the league wait for each other. All warps of all teams call it.
  template <class Team>
  LANEWISE_FUNCTION void wait(const Team& team) const {
    wait(team, team.league());
  }

  /// The first `teams` teams of the league, at least 1, wait for each other. These call it in the
  /// same order and with the same numbers. Other teams may call it, too, and do not wait.
  template <class Team>
  LANEWISE_FUNCTION void wait(const Team& team, std::uint32_t teams) const {
    if (team.index() >= teams) return;
    team.barrier();
    if (team.warp_index() == 0 && teams > 1) {
      if (team.index() == 0) {
        gather_and_release(team.warp(), teams);
      } else {
        arrive_and_wait(team.warp(), team.index());
      }
    }
    team.barrier();
  }

 private:
  // Who waits looks relaxed, and acquires once there is something to acquire: on devices an
  // acquiring look costs the other teams of its multiprocessor what they have in the closest cache.

  template <class W>
  LANEWISE_FUNCTION void arrive_and_wait(const W& warp, std::uint32_t team) const {
    std::uint32_t& word = arrived[team / 32];
    const std::uint32_t mine = std::uint32_t{1} << (team % 32);
    warp.template fetch_or<order::release, scope::device>(word, mine);
    do {
      while ((warp.template load<order::relaxed, scope::device>(word) & mine) != 0) warp.pause();
    } while ((warp.template load<order::acquire, scope::device>(word) & mine) != 0);
  }

  template <class W>
  LANEWISE_FUNCTION void gather_and_release(const W& warp, std::uint32_t teams) const {
    using lanes = lanes_t<W, std::uint32_t>;
    constexpr auto width = static_cast<std::uint32_t>(W::width);
    const std::uint32_t count = (teams + 31) / 32;
    for (std::uint32_t first = 0; first < count; first += width) {
      const lanes at = warp.lane() + lanes(first);
      const auto there = warp.first(static_cast<int>(count - first));
      const lanes awaited = others(warp, at, teams);
      do {
        while (warp.any((warp.load_relaxed(there, arrived, at, 0u) & awaited) != awaited))
          warp.pause();
      } while (warp.any((warp.load_acquire(there, arrived, at, 0u) & awaited) != awaited));
    }
    // No team goes on before all have come, so that each lane releases what all lanes acquired.
    warp.fence();
    for (std::uint32_t first = 0; first < count; first += width) {
      const lanes at = warp.lane() + lanes(first);
      const auto there = warp.first(static_cast<int>(count - first));
      warp.template fetch_and<order::release, scope::device>(there, arrived, at,
                                                             ~others(warp, at, teams));
    }
  }

  /// The bits of the teams in a word that the first team waits for.
  template <class W, class Lanes>
  LANEWISE_FUNCTION static Lanes others(const W& warp, const Lanes& word, std::uint32_t teams) {
    return warp.map(
        [teams](std::uint32_t w) -> std::uint32_t {
          const std::uint32_t before = w * 32;
          if (before >= teams) return 0;
          const std::uint32_t all =
              teams - before < 32 ? (std::uint32_t{1} << (teams - before)) - 1 : ~std::uint32_t{0};
          return w == 0 ? all & ~std::uint32_t{1} : all;
        },
        word);
  }
};

LANEWISE_END_NAMESPACE
