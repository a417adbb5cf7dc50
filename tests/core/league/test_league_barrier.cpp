// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/league/league_barrier.hpp>
#include <support/generators.hpp>
#include <support/instances.hpp>
#include <support/space.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace barrier_kernels {

/// In every round the first teams leave a line each and wait for each other. Then they read the
/// lines of all of them, or of 40 where they are more. Plain memory, whose `turns` parts serve in
/// turn: a team writes over what others have read some rounds ago, and since then all teams have
/// met once.
template <int team_warps>
struct pass_lines {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  struct scratch {
    std::uint64_t sum[Team::warps];
  };

  league_barrier meeting;
  const std::uint32_t* parts;  // of every round, how many teams take part
  int rounds, turns;
  std::uint32_t* lines;  // turns * league * warps * width
  std::uint64_t* sums;   // rounds * league

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using lanes = typename Team::warp_type::template lanes<std::uint32_t>;
    constexpr std::uint32_t width = Team::warp_type::width;
    constexpr std::uint32_t line = width * Team::warps;
    const auto warp = team.warp();
    const auto self = static_cast<std::uint32_t>(team.warp_index());
    for (int round = 0; round < rounds; ++round) {
      const std::uint32_t part = parts[round];
      if (team.index() >= part) {
        // Nothing, whoever waits, and no way past a barrier of all.
        meeting.wait(team, part);
        continue;
      }
      std::uint32_t* const here = lines + round % turns * std::int64_t{team.league()} * line;
      warp.store(here + team.index() * line + self * width,
                 warp.lane() + lanes(value(round, team.index(), self)));
      if (part == team.league() && round % 3 == 0) {
        meeting.wait(team);
      } else {
        meeting.wait(team, part);
      }
      std::uint64_t sum = 0;
      for (std::uint32_t i = 0; i < readings(part); ++i) {
        // Every warp reads the lines of another one.
        const std::uint32_t of = (self + i + 1) % Team::warps;
        const std::uint32_t t = reading(team.index(), i, part);
        sum += warp.reduce(warp.load(here + t * line + of * width), plus{});
      }
      warp.once([&] { shared.sum[self] = sum; });
      team.barrier();
      team.once([&] {
        std::uint64_t all = 0;
        for (int w = 0; w < Team::warps; ++w) all += shared.sum[w];
        sums[std::int64_t{round} * team.league() + team.index()] = all;
      });
      team.barrier();
    }
  }

  LANEWISE_FUNCTION static std::uint32_t readings(std::uint32_t part) {
    return part < 40 ? part : 40;
  }
  /// Which team's line a team reads as the i-th.
  LANEWISE_FUNCTION static std::uint32_t reading(std::uint32_t team, std::uint32_t i,
                                                 std::uint32_t part) {
    return (team + i * (part / readings(part)) + (i == 39 ? 1 : 0)) % part;
  }
  /// What a warp adds to its lanes' numbers.
  LANEWISE_FUNCTION static std::uint32_t value(int round, std::uint32_t team, std::uint32_t warp) {
    return static_cast<std::uint32_t>(round) * 1009 + team * 31 + warp * 7 + 1;
  }
};

/// Counts the teams that ran.
struct count_runs {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {};

  std::uint32_t* runs;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    if (team.warp_index() == 0) team.warp().fetch_add(*runs, 1u);
  }
};

}  // namespace barrier_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using namespace lanewise::barrier_kernels;
using lanewise::league_barrier;

/// An instance on which several teams are resident.
space make_wide_space([[maybe_unused]] int teams = 5) {
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  return space(seed(), teams, mode());
#else
  return make_space();
#endif
}

/// A launch of pass_lines with its memory, and what it must leave there.
template <int warps>
class meeting {
 public:
  using kernel = pass_lines<warps>;
  using team = lanewise::team_t<space, typename kernel::policy>;

  meeting(const std::vector<std::uint32_t>& parts, int turns, std::int64_t league)
      : parts_(parts),
        lines_(turns * league * std::int64_t{team::warp_type::width} * team::warps, 0xffffffffu),
        sums_(static_cast<std::int64_t>(parts.size()) * league, 77u),
        turns_(turns),
        league_(league) {}

  void start(const space& exec, const array<std::uint32_t>& words) const {
    lanewise::launch_resident(exec, "Lanewise::test::league_barrier", league_,
                              kernel{{words.data()},
                                     parts_.data(),
                                     static_cast<int>(parts_.original().size()),
                                     turns_,
                                     lines_.data(),
                                     sums_.data()});
  }
  void check(const array<std::uint32_t>& words) const {
    constexpr std::uint32_t width = team::warp_type::width;
    auto expected = sums_.original();
    std::int64_t first = 0;
    for (std::uint32_t round = 0; round < parts_.original().size(); ++round, first += league_) {
      const std::uint32_t part = parts_.original()[round];
      for (std::uint32_t t = 0; t < part; ++t) {
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < kernel::readings(part); ++i) {
          // The warps of a team read different lines, which makes all.
          for (std::uint32_t w = 0; w < team::warps; ++w)
            sum += width * kernel::value(static_cast<int>(round), kernel::reading(t, i, part), w) +
                   width * (width - 1) / 2;
        }
        expected[static_cast<std::size_t>(first + t)] = sum;
      }
    }
    CHECK(sums_.items() == expected);
    CHECK(sums_.guards_intact());
    CHECK(lines_.guards_intact());
    // As clean as it was.
    CHECK(words.items() == std::vector<std::uint32_t>(words.original().size(), 0u));
    CHECK(words.guards_intact());
  }

 private:
  array<std::uint32_t> parts_, lines_;
  array<std::uint64_t> sums_;
  int turns_;
  std::int64_t league_;
};

template <int warps>
void check_rounds(const space& exec, const std::vector<std::uint32_t>& parts, int turns,
                  std::int64_t league, const array<std::uint32_t>& words) {
  CAPTURE(league, warps, parts);
  const meeting<warps> all(parts, turns, league);
  all.start(exec, words);
  all.check(words);
}

template <int warps>
void check_leagues(int rounds, int teams = 5) {
  const space exec = make_wide_space(teams);
  const std::int64_t most = lanewise::resident_teams<pass_lines<warps>>(exec);
  REQUIRE(most >= 1);
  for (const std::int64_t wanted : {std::int64_t{1}, std::int64_t{2}, std::int64_t{3},
                                    std::int64_t{31}, std::int64_t{33}, most / 2, most}) {
    if (wanted < 1 || wanted > most) continue;
    const auto league = static_cast<std::uint32_t>(wanted);
    // One barrier for all launches, never cleared.
    const array<std::uint32_t> words(league_barrier::words(league), 0u);
    std::vector<std::uint32_t> all, two, some, growing;
    auto random = make_random(wanted);
    const int fewer =
        rounds < 20 ? rounds : std::min(rounds, 20 + 200'000 / static_cast<int>(league));
    for (int r = 0; r < fewer; ++r) {
      all.push_back(league);
      // Teams that have no part wait at the next one of all while the others still meet.
      two.push_back(r % 4 == 3 ? league : std::min(2u, league));
      some.push_back(static_cast<std::uint32_t>(1 + random_number(random, league - 1)));
      growing.push_back(1 + static_cast<std::uint32_t>(r) % league);
    }
    const auto with_all_between = [&](std::vector<std::uint32_t> parts) {
      for (std::size_t r = 1; r < parts.size(); r += 2) parts[r] = league;
      return parts;
    };
    check_rounds<warps>(exec, all, 2, league, words);
    check_rounds<warps>(exec, two, 8, league, words);
    check_rounds<warps>(exec, with_all_between(some), 4, league, words);
    check_rounds<warps>(exec, with_all_between(growing), 4, league, words);
    check_rounds<warps>(exec, {1u, 1u, league}, 4, league, words);
  }
}

}  // namespace

TEST_CASE("Teams see what the others wrote before a league barrier", "[league_barrier][sanitize]") {
  check_leagues<1>(is_emulated ? 12 : 100);
  check_leagues<3>(is_emulated ? 12 : 100);
}

TEST_CASE("More teams meet than a word has bits", "[league_barrier]") {
  check_leagues<1>(4, 35);
}

TEST_CASE("Teams meet many times", "[league_barrier]") {
  check_leagues<2>(is_emulated ? 40 : 500);
}

TEST_CASE("A league that does not fit is refused, and no team starts",
          "[league_barrier][sanitize]") {
  const space exec = make_wide_space();
  const std::int64_t most = lanewise::resident_teams<count_runs>(exec);
  const cell<std::uint32_t> runs(0);
  for (const std::int64_t league : {most + 1, 2 * most, most + 1'000'000}) {
    CAPTURE(league, most);
    const auto launch = [&] {
      lanewise::launch_resident(exec, "Lanewise::test::refused", league, count_runs{runs.data()});
    };
    CHECK_THROWS_AS(launch(), std::invalid_argument);
    CHECK_THROWS_WITH(
        launch(), Catch::Matchers::ContainsSubstring("Lanewise::test::refused") &&
                      Catch::Matchers::ContainsSubstring(" " + std::to_string(league) + " teams") &&
                      Catch::Matchers::ContainsSubstring(" " + std::to_string(most) + " can"));
    CHECK(runs.get() == 0);
  }
  for (const std::int64_t league : {std::int64_t{0}, std::int64_t{1}, most}) {
    runs.set(0);
    lanewise::launch_resident(exec, "Lanewise::test::granted", league, count_runs{runs.data()});
    CHECK(runs.get() == static_cast<std::uint32_t>(league));
  }
}

TEST_CASE("Leagues on two instances, and of two threads on one, do not wait for each other",
          "[league_barrier]") {
  const auto instances = two_instances();
  for (const bool same : {false, true}) {
    CAPTURE(same);
    const space one = instances.first, other = same ? instances.first : instances.second;
    const std::int64_t most_one = lanewise::resident_teams<pass_lines<2>>(one),
                       most_other = lanewise::resident_teams<pass_lines<2>>(other);
    const auto parts = [](std::int64_t league) {
      return std::vector<std::uint32_t>(20, static_cast<std::uint32_t>(league));
    };
    const array<std::uint32_t> words_one(league_barrier::words(most_one), 0u),
        words_other(league_barrier::words(most_other), 0u);
    const meeting<2> first(parts(most_one), 2, most_one);
    const meeting<2> second(parts(most_other), 2, most_other);

    std::thread beside([&] {
      for (int k = 0; k < 5; ++k) second.start(other, words_other);
    });
    for (int k = 0; k < 5; ++k) first.start(one, words_one);
    beside.join();

    first.check(words_one);
    second.check(words_other);
  }
}

#if defined(LANEWISE_TEST_SPACE_OPENMP)
TEST_CASE("A thread of a parallel region has one resident team", "[league_barrier]") {
  const space exec = make_space();
  std::vector<std::int64_t> residents(2, -1);
  std::vector<int> refused(2, 0);
  std::size_t threads = 0;  // OpenMP may give one
  const cell<std::uint32_t> runs(0);
#pragma omp parallel num_threads(2)
  {
    const auto me = static_cast<std::size_t>(omp_get_thread_num());
    if (me == 0) threads = static_cast<std::size_t>(omp_get_num_threads());
    residents[me] = lanewise::resident_teams<count_runs>(exec);
    lanewise::launch_resident(exec, "Lanewise::test::inside", 1, count_runs{runs.data()});
    try {
      lanewise::launch_resident(exec, "Lanewise::test::inside", 2, count_runs{runs.data()});
    } catch (const std::invalid_argument&) {
      refused[me] = 1;
    }
  }
  residents.resize(threads);
  refused.resize(threads);
  CHECK(residents == std::vector<std::int64_t>(threads, 1));
  CHECK(refused == std::vector<int>(threads, 1));
  CHECK(runs.get() == threads);
}

TEST_CASE("Where OpenMP gives fewer threads than it has, a league is refused or runs",
          "[league_barrier]") {
  const space exec = make_space();
  const std::int64_t most = lanewise::resident_teams<count_runs>(exec);
  const int before = omp_get_dynamic();
  omp_set_dynamic(1);
  int given = 0;
#pragma omp parallel num_threads(static_cast <int>(most))
  {
#pragma omp single
    given = omp_get_num_threads();
  }
  CAPTURE(most, given);
  const array<std::uint32_t> words(league_barrier::words(most), 0u);
  const std::vector<std::uint32_t> parts(10, static_cast<std::uint32_t>(most));
  // The runtime may change its mind from one region to the next.
  try {
    check_rounds<1>(exec, parts, 2, most, words);
  } catch (const std::invalid_argument& refusal) {
    CHECK_THAT(refusal.what(), Catch::Matchers::ContainsSubstring("league_barrier"));
    CHECK(words.items() == words.original());
  }
  omp_set_dynamic(before);
  check_rounds<1>(exec, parts, 2, most, words);
}
#endif
