// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <support/space.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace launch_kernels {

/// Every team counts in its own place, and writes how many there are.
struct count_teams {
  struct policy : launch_policy {
    static constexpr int warps = 2;
    static constexpr int host_teams_per_thread = 3;
  };
  template <class Team>
  struct scratch {};

  std::uint32_t* runs;
  std::uint32_t* leagues;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    team.once([&] {
      runs[team.index()] += 1;
      leagues[team.index()] = team.league();
    });
  }
};

/// What the atomics of a team's scope leave in its scratch, and which tickets its lanes got.
struct team_sums {
  std::uint32_t counts[8];
  std::uint32_t tickets, winners, slot, anded;
  std::uint64_t ored;
  std::int32_t wrapped;
  float sum;
};

/// Two thirds of the lanes of every warp change the team's scratch; the warp as one does too.
struct sum_in_teams {
  struct policy : launch_policy {
    static constexpr int warps = 4;
  };
  template <class Team>
  struct scratch {
    team_sums sums;
  };

  team_sums* results;
  std::uint32_t* tickets;  // 4 * 64 for every team

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using lanes = typename Team::warp_type::template lanes<std::uint32_t>;
    using words = typename Team::warp_type::template lanes<std::uint64_t>;
    const auto warp = team.warp();
    team_sums& sums = shared.sums;
    team.once([&] {
      sums = team_sums{};
      sums.anded = ~0u;
      sums.wrapped = 0x7ffffff0;
    });
    team.barrier();
    const auto lane = warp.lane();
    const auto mine = warp.map([](std::uint32_t i) -> std::uint32_t { return i % 3; }, lane) != 0u;
    const lanes zero(0u), one(1u);
    warp.template fetch_add<order::relaxed, scope::team>(mine, sums.counts, lane & lanes(7u), one);
    const auto ticket =
        warp.template fetch_add<order::acq_rel, scope::team>(mine, &sums.tickets, zero, one);
    warp.scatter(mine, tickets + team.index() * 256, ticket, one);
    warp.template fetch_or<order::release, scope::team>(
        mine, &sums.ored, zero,
        warp.map([](std::uint32_t i) { return std::uint64_t{1} << (i + 20); }, lane & lanes(31u)) |
            words(1u));
    warp.template fetch_and<order::relaxed, scope::team>(
        mine, &sums.anded, zero, warp.map([](std::uint32_t i) { return ~(1u << (i & 31)); }, lane));
    const auto before = warp.template compare_exchange<order::acq_rel, scope::team>(
        mine, &sums.slot, zero, zero, lane + one);
    const auto winners = static_cast<std::uint32_t>(warp.count(mine & (before == 0u)));
    warp.template fetch_add<order::relaxed, scope::team>(sums.winners, winners);
    warp.template fetch_add<order::relaxed, scope::team>(sums.wrapped, 16);
    warp.template fetch_add<order::acq_rel, scope::team>(sums.sum, 0.5f);
    warp.template fetch_or<order::relaxed, scope::team>(sums.ored, std::uint64_t{2});
    warp.template fetch_and<order::acquire, scope::team>(sums.anded, ~1u);
    warp.template compare_exchange<order::relaxed, scope::team>(sums.slot, ~0u, 7u);
    team.barrier();
    team.once([&] { results[team.index()] = sums; });
  }
};

}  // namespace launch_kernels
LANEWISE_END_TARGET_NAMESPACE

TEST_CASE("Every team of a league runs once, however many threads there are",
          "[launch][sanitize]") {
  using namespace test;
  using lanewise::launch_kernels::count_teams;
  const space exec = make_space();
  for (const std::int64_t league : {0, 1, 2, 3, 4, 5, 31, 256, 257, 1000}) {
    CAPTURE(league);
    const array<std::uint32_t> runs(1000, 0u), leagues(1000, 77u);
    lanewise::launch(exec, "Lanewise::test::launch", league,
                     count_teams{runs.data(), leagues.data()});
    auto expected = std::vector<std::uint32_t>(1000, 0u);
    std::fill_n(expected.begin(), league, 1u);
    CHECK(runs.items() == expected);
    expected.assign(1000, 77u);
    std::fill_n(expected.begin(), league, static_cast<std::uint32_t>(league));
    CHECK(leagues.items() == expected);
  }
}

TEST_CASE("A league has as many teams as are asked for, or fewer", "[launch]") {
  using namespace test;
  using lanewise::launch_kernels::count_teams;
  using backend = lanewise::backend_of<space>;
  const space exec = make_space();
  std::int64_t before = 0;
  for (const std::int64_t tiles : {1, 2, 3, 7, 100, 1000, 100'000}) {
    CAPTURE(tiles);
    const std::int64_t league = backend::league_for_tiles<count_teams>(exec, tiles);
    CHECK(league >= 1);
    CHECK(league >= before);
    CHECK(league <= tiles);
    before = league;
  }
}

TEST_CASE("Atomics of a team's scope lose nothing", "[launch][sanitize]") {
  using namespace test;
  using namespace lanewise::launch_kernels;
  using team = lanewise::team_t<space, sum_in_teams::policy>;
  constexpr std::uint32_t width = team::warp_type::width, warps = team::warps;
  constexpr int teams = 20;
  const array<team_sums> results(teams, team_sums{});
  const array<std::uint32_t> tickets(teams * 256, 0u);
  lanewise::launch(make_space(), "Lanewise::test::team_sums", teams,
                   sum_in_teams{results.data(), tickets.data()});

  team_sums expected{};
  expected.anded = ~1u;
  expected.ored = 3;
  for (std::uint32_t i = 0; i < width; ++i) {
    if (i % 3 == 0) continue;
    expected.counts[i % 8] += warps;
    expected.tickets += warps;
    expected.ored |= std::uint64_t{1} << (i % 32 + 20);
    expected.anded &= ~(1u << (i % 32));
  }
  expected.wrapped = static_cast<std::int32_t>(0x7ffffff0u + 16 * warps);
  const auto all = results.items();
  const auto taken = tickets.items();
  for (int t = 0; t < teams; ++t) {
    CAPTURE(t);
    const team_sums& got = all[t];
    CHECK(std::equal(got.counts, got.counts + 8, expected.counts));
    CHECK(got.tickets == expected.tickets);
    CHECK(std::count(taken.begin() + t * 256, taken.begin() + (t + 1) * 256, 1u) ==
          expected.tickets);
    CHECK(got.ored == expected.ored);
    CHECK(got.anded == expected.anded);
    CHECK(got.winners == 1);
    CHECK((got.slot != 0 && got.slot <= width && (got.slot - 1) % 3 != 0));
    CHECK(got.wrapped == expected.wrapped);
    CHECK(got.sum == 0.5f * static_cast<float>(warps));
  }
}
