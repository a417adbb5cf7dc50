// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/pack.hpp>
#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// A meeting of all teams of a league, at which each hands in two numbers and gets the sums of all:
/// a league_barrier that also tells how large the next frontier is. In kernels that were started by
/// launch_resident.
///
/// Memory:   words(league) words of 64 bits, which the caller sets to 0 before every launch.
/// Numbers:  sums are below 2^48.
/// Order:    as a league_barrier.
/// Cost:     two barriers of the team and two accesses one after the other to memory that all teams
///           share: each team writes its numbers and watches those of all, a warp those of 32.
///
/// Words are for two rounds by turns. A team that writes for round r + 2 has seen all teams in
/// round r + 1, so that all have read what they needed of round r.
class league_sums {
 public:
  using numbers = pack<std::uint64_t, 2>;

  /// rounds: how many meetings there have been, by these words, since they were 0.
  explicit LANEWISE_FUNCTION league_sums(std::uint64_t* words, std::uint32_t rounds = 0)
      : words_(reinterpret_cast<numbers*>(words)), round_(rounds) {}
  LANEWISE_FUNCTION std::uint32_t rounds() const { return round_; }

  /// How many words the meetings of a league need.
  static LANEWISE_FUNCTION constexpr std::int64_t words(std::int64_t league) {
    return 2 * numbers::size * (divide_up(league, 32) * 32);
  }

  /// In scratch.
  template <class Team>
  struct scratch {
    numbers of_warp[Team::warps];
    numbers of_teams[Team::warps];
  };

  /// What every warp does first, once.
  template <class Team>
  static LANEWISE_FUNCTION void init(const Team& team, scratch<Team>& shared) {
    team.warp().once([&] { shared.of_warp[team.warp_index()] = numbers{}; });
  }
  /// A warp adds to what its team hands in at the next meeting.
  template <class Team>
  static LANEWISE_FUNCTION void add(const Team& team, scratch<Team>& shared, const numbers& x) {
    team.warp().once([&] {
      numbers& mine = shared.of_warp[team.warp_index()];
      mine = mine + x;
    });
  }

  /// All warps of all teams meet, and get the sums.
  template <class Team>
  LANEWISE_FUNCTION numbers all_reduce(const Team& team, scratch<Team>& shared) {
    const auto warp = team.warp();
    const std::uint32_t teams = team.league();
    ++round_;
    team.barrier();
    numbers all{};
    if (team.warp_index() == 0 || teams == 1) all = sum(shared.of_warp, Team::warps);
    if (teams > 1) {
      if (team.warp_index() == 0) hand_in(warp, row(teams)[team.index()], all);
      const auto first = static_cast<std::uint32_t>(team.warp_index()) * 32;
      if (first < teams) {
        const numbers seen = sum_of_teams(warp, first, 32 * Team::warps, teams);
        warp.once([&] { shared.of_teams[team.warp_index()] = seen; });
      }
    }
    team.barrier();
    init(team, shared);
    if (teams == 1) return all;
    const auto parts = static_cast<int>((teams + 31) / 32);
    return sum(shared.of_teams, parts < Team::warps ? parts : Team::warps);
  }

 private:
  static constexpr int number_bits = 48;
  static constexpr std::uint64_t most = (std::uint64_t{1} << number_bits) - 1;

  LANEWISE_FUNCTION std::uint64_t tag() const {
    return static_cast<std::uint64_t>(round_) << number_bits;
  }
  LANEWISE_FUNCTION numbers* row(std::uint32_t teams) const {
    return words_ + ((round_ & 1) != 0 ? (teams + 31) / 32 * 32 : 0);
  }

  static LANEWISE_FUNCTION numbers sum(const numbers* part, int parts) {
    numbers all = part[0];
    for (int i = 1; i < parts; ++i) all = all + part[i];
    return all;
  }
  /// The second number is handed in after everything else.
  template <class W>
  LANEWISE_FUNCTION void hand_in(const W& warp, numbers& here, const numbers& x) const {
    warp.template store<order::relaxed, scope::device>(here[0], tag() | (x[0] & most));
    warp.template store<order::release, scope::device>(here[1], tag() | (x[1] & most));
  }
  /// Waits until the teams from `first` on, 32 of every `step`, have handed in, and sums up their
  /// numbers.
  template <class W>
  LANEWISE_FUNCTION numbers sum_of_teams(const W& warp, std::uint32_t first, std::uint32_t step,
                                         std::uint32_t teams) const {
    using lanes = lanes_t<W, numbers>;
    lanes all(numbers{});
    for (; first < teams; first += step) {
      const numbers* here = row(teams) + first;
      const auto there = warp.first(static_cast<int>(teams - first));
      lanes seen;
      for (;;) {
        seen = warp.load_relaxed(here);
        const auto is_missing = warp.map(
            [awaited = tag()](const numbers& x) -> std::uint32_t {
              return (((x[0] ^ awaited) | (x[1] ^ awaited)) >> number_bits) != 0;
            },
            seen);
        if (!warp.any(there & (is_missing != 0u))) break;
        warp.pause();
      }
      // Once more, to acquire what was released with the second number.
      warp.load_acquire(there, &here->item[1], warp.lane() + warp.lane(), std::uint64_t{0});
      all = all + warp.map(
                      there,
                      [](const numbers& x) {
                        return numbers{{x[0] & most, x[1] & most}};
                      },
                      numbers{}, seen);
    }
    return warp.reduce(all, plus{});
  }

  numbers* words_;
  std::uint32_t round_ = 0;
};

LANEWISE_END_NAMESPACE
