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
