// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/league/league_sums.hpp>
#include <lanewise/league/subleague.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <vector>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace sums_kernels {

/// In every round all teams hand in numbers and compare the sums with what they must be. Each team
/// leaves a plain word for the other teams, in two words by turns: a team that writes one again has
/// met all that read it.
template <int team_warps>
struct compare_sums {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  struct scratch {
    league_sums::scratch<Team> sums;
  };

  std::uint64_t* words;
  const std::uint32_t* large;    // of every round, whether numbers are
  const std::uint64_t* awaited;  // two numbers for each round
  int count;
  std::uint32_t before;  // meetings that there were by these words
  std::uint32_t* left;   // 2 x league
  std::uint32_t* wrong;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    league_sums::init(team, shared.sums);
    std::uint32_t met = before;
    for (int r = 0; r < count; ++r) {
      std::uint32_t* const here = left + static_cast<std::uint32_t>(r % 2) * team.league();
      team.once([&] { here[team.index()] = static_cast<std::uint32_t>(r); });
      hand_in(team, shared, large[r] != 0, r);
      league_sums meeting(words, met);
      const auto sums = meeting.all_reduce(team, shared.sums);
      met = meeting.rounds();
      bool right = sums[0] == awaited[2 * r] && sums[1] == awaited[2 * r + 1];
      // Each warp reads of three others.
      for (std::uint32_t k = 1; k < 4; ++k) {
        const std::uint32_t of =
            (team.index() + k * (static_cast<std::uint32_t>(team.warp_index()) + 1)) %
            team.league();
        right = right && here[of] == static_cast<std::uint32_t>(r);
      }
      if (!right) team.warp().fetch_add(*wrong, 1u);
    }
  }

  /// In two parts; nothing where there is nothing to add.
  template <class Team>
  LANEWISE_FUNCTION static void hand_in(const Team& team, scratch<Team>& shared, bool is_large,
                                        int round) {
    const auto self = static_cast<std::uint32_t>(team.warp_index());
    const auto of = [&](int which) {
      return number(is_large, round, which, team.index(), self, team.league(), Team::warps);
    };
    const std::uint64_t first = of(0), second = of(1);
    if (first + second == 0) return;
    league_sums::add(team, shared.sums, {{first / 3, second}});
    league_sums::add(team, shared.sums, {{first - first / 3, 0}});
  }
  /// What a warp hands in. Where numbers are large, one warp has all, or all have as much, and the
  /// sum is the greatest there is, or nearly.
  LANEWISE_FUNCTION static std::uint64_t number(bool is_large, int round, int which,
                                                std::uint32_t team, std::uint32_t warp,
                                                std::uint32_t teams, std::uint32_t warps) {
    constexpr std::uint64_t most = (std::uint64_t{1} << 48) - 1;
    const auto r = static_cast<std::uint32_t>(round);
    if (!is_large) {
      const std::uint32_t x = (r * 7919 + team * 31 + warp * 7 + static_cast<std::uint32_t>(which));
      return x % 3 == 0 ? 0 : x % 100'000;
    }
    if (r % 2 == 0) return most / (teams * warps);
    return team == (r + static_cast<std::uint32_t>(which)) % teams && warp == r / 2 % warps ? most
                                                                                            : 0;
  }
};

/// Parts of a league meet by themselves, part p in p + 2 rounds, and add up numbers of their own.
struct compare_sums_of_parts {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {
    league_sums::scratch<subleague<Team>> sums;
  };

  std::uint64_t* words;  // of each part
  std::uint32_t teams;   // of a part
  std::uint32_t* right;  // how many sums were
  std::uint32_t* wrong;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const std::uint32_t parts = team.league() / teams;
    const std::uint32_t mine = team.index() % parts;
    const subleague<Team> part(team, team.index() / parts, teams);
    if (part.index() >= teams) return;
    league_sums::init(part, shared.sums);
    league_sums meeting(words + mine * league_sums::words(teams));
    for (std::uint32_t r = 0; r < mine + 2; ++r) {
      league_sums::add(part, shared.sums, {{mine + 1, part.index()}});
      const auto sums = meeting.all_reduce(part, shared.sums);
      const std::uint64_t members = std::uint64_t{teams} * Team::warps;
      const bool is_right = sums[0] == members * (mine + 1) &&
                            sums[1] == std::uint64_t{teams} * (teams - 1) / 2 * Team::warps;
      team.warp().fetch_add(is_right ? *right : *wrong, 1u);
    }
  }
};

}  // namespace sums_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using namespace lanewise::sums_kernels;
using lanewise::league_sums;

/// An instance on which several teams are resident.
space space_of_teams([[maybe_unused]] int teams) {
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  return space(seed(), teams, mode());
#else
  return make_space();
#endif
}

template <int warps>
void check_sums(const space& exec, std::uint32_t league, int rounds, std::uint32_t before = 0) {
  CAPTURE(warps, league, rounds, before);
  using kernel = compare_sums<warps>;
  constexpr std::uint32_t team_warps = lanewise::team_t<space, typename kernel::policy>::warps;
  auto random = make_random(league + warps);
  std::vector<std::uint32_t> is_large(static_cast<std::size_t>(rounds));
  for (std::uint32_t& r : is_large) r = static_cast<std::uint32_t>(random_number(random, 1));
  std::vector<std::uint64_t> awaited(2 * is_large.size(), 0);
  for (std::size_t i = 0; i < awaited.size(); ++i)
    for (std::uint32_t t = 0; t < league; ++t)
      for (std::uint32_t w = 0; w < team_warps; ++w)
        awaited[i] += kernel::number(is_large[i / 2] != 0, static_cast<int>(i / 2),
                                     static_cast<int>(i % 2), t, w, league, team_warps);
  const array<std::uint64_t> words(league_sums::words(league), 0u), sums(awaited);
  const array<std::uint32_t> large(is_large), left(2 * std::int64_t{league}, 0xffffffffu);
  const cell<std::uint32_t> wrong(0);
  lanewise::launch_resident(
      exec, "Lanewise::test::league_sums", league,
      kernel{words.data(), large.data(), sums.data(), rounds, before, left.data(), wrong.data()});
  CHECK(wrong.get() == 0);
  CHECK(words.guards_intact());
  CHECK(left.guards_intact());
}

template <int warps>
void check_sums_of_leagues(int rounds, int teams = 5) {
  const space exec = space_of_teams(teams);
  const std::int64_t most = lanewise::resident_teams<compare_sums<warps>>(exec);
  REQUIRE(most >= 1);
  for (const std::int64_t wanted :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{31}, std::int64_t{32},
        std::int64_t{33}, std::int64_t{65}, most / 2, most})
    if (wanted >= 1 && wanted <= most)
      check_sums<warps>(exec, static_cast<std::uint32_t>(wanted), rounds);
}

}  // namespace

TEST_CASE("Sums of a small league", "[league_sums][sanitize]") {
  const space exec = space_of_teams(5);
  const std::int64_t most = lanewise::resident_teams<compare_sums<2>>(exec);
  check_sums<2>(exec, static_cast<std::uint32_t>(std::min(std::int64_t{5}, most)), 12);
}

TEST_CASE("Sums of a league", "[league_sums]") {
  check_sums_of_leagues<1>(is_emulated ? 24 : 200);
  check_sums_of_leagues<3>(is_emulated ? 24 : 200);
}

TEST_CASE("Sums of many warps", "[league_sums]") {
  check_sums_of_leagues<16>(is_emulated ? 6 : 100, 3);
}

TEST_CASE("Sums of more teams than a warp has lanes", "[league_sums]") {
  check_sums_of_leagues<1>(is_emulated ? 6 : 20, 67);
  check_sums_of_leagues<2>(is_emulated ? 6 : 20, 35);
}

TEST_CASE("Sums of parts of a league", "[league_sums]") {
  using kernel = compare_sums_of_parts;
  const space exec = space_of_teams(7);
  const auto league = static_cast<std::uint32_t>(
      std::min(std::int64_t{40}, lanewise::resident_teams<kernel>(exec)));
  constexpr std::uint32_t warps = lanewise::team_t<space, kernel::policy>::warps;
  for (const std::uint32_t teams : {1u, 2u, 3u, league}) {
    if (teams > league) continue;
    const std::uint32_t parts = league / teams;
    const array<std::uint64_t> words(parts * league_sums::words(teams), 0u);
    const cell<std::uint32_t> right(0), wrong(0);
    lanewise::launch_resident(exec, "Lanewise::test::league_sums", league,
                              kernel{words.data(), teams, right.data(), wrong.data()});
    CHECK(wrong.get() == 0);
    CHECK(right.get() == teams * warps * (parts * (parts - 1) / 2 + 2 * parts));
    CHECK(words.guards_intact());
  }
}

TEST_CASE("Sums of more rounds than tags", "[league_sums]") {
  const space exec = space_of_teams(3);
  const auto league = static_cast<std::uint32_t>(
      std::min(std::int64_t{3}, lanewise::resident_teams<compare_sums<2>>(exec)));
  constexpr int tags = 1 << 16;
  // Words that are 0 are of no round before the last two of tag 0.
  check_sums<2>(exec, league, 40, tags - 8);
  check_sums<2>(exec, league, is_emulated ? 300 : 3 * tags);
}
