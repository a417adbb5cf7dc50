// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/team/team_scan.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>

// Scans of one value per lane by a team, in three ways: tile after tile, each after the one
// before.

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

template <class Way, class T, class Op, int team_warps>
struct scan_rounds {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  using scratch = typename Way::template scratch<Team, T>;

  const T* in;
  T* out;
  T first;
  T* totals;
  int rounds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    T before = first;
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t at = (std::int64_t{round} * Team::warps + team.warp_index()) * width;
      const auto prefix = Way::scan(team, shared, warp.load(in + at), Op{}, before);
      warp.store(out + at, prefix.before);
      before = prefix.total;
      team.once([&] { totals[round] = prefix.total; });
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;

template <class Way, class T, class Op, int warps>
void check_rounds(const T& first, Op op) {
  using kernel = lanewise::test_kernels::scan_rounds<Way, T, Op, warps>;
  using team = lanewise::team_t<space, typename kernel::policy>;
  constexpr int rounds = 5;
  constexpr std::int64_t tile = std::int64_t{team::warps} * team::warp_type::width;
  const auto items = random_items<T>(rounds * tile, most_summand<T>());
  const array<T> in(items), out(rounds * tile, item_of<T>(77)), totals(rounds, item_of<T>(77));

  lanewise::launch(make_space(), "Lanewise::test::team_scan", 1,
                   kernel{in.data(), out.data(), first, totals.data(), rounds});

  const auto expected = oracle::exclusive_scan(items, first, op);
  std::vector<T> expected_totals;
  for (std::size_t end = tile; end <= items.size(); end += tile)
    expected_totals.push_back(op(expected[end - 1], items[end - 1]));
  CHECK(difference(out.items(), expected) == "");
  CHECK(difference(totals.items(), expected_totals) == "");
  CHECK(out.guards_intact());
}

template <class Way, class T, class Op>
void check_teams(const T& first, Op op) {
  check_rounds<Way, T, Op, 1>(first, op);
  check_rounds<Way, T, Op, 2>(first, op);
  check_rounds<Way, T, Op, 4>(first, op);
  check_rounds<Way, T, Op, 16>(first, op);
}

}  // namespace

TEMPLATE_TEST_CASE("Teams scan a value per lane", "[team_scan][sanitize]",
                   lanewise::scan_by_shuffles, lanewise::scan_by_raking, lanewise::scan_by_tree) {
  check_teams<TestType, std::uint32_t>(5u, lanewise::plus{});
  check_teams<TestType, std::uint8_t>(std::uint8_t{5}, lanewise::plus{});
  check_teams<TestType, double>(5.0, lanewise::plus{});
  check_teams<TestType, affine>({3, 4, 1}, then{});
}

TEMPLATE_TEST_CASE("Teams of three warps scan", "[team_scan][sanitize]", lanewise::scan_by_shuffles,
                   lanewise::scan_by_raking) {
  check_rounds<TestType, affine, then, 3>({3, 4, 1}, then{});
}

TEMPLATE_TEST_CASE("Teams rake Merrill's example", "[team_scan]", lanewise::scan_by_shuffles,
                   lanewise::scan_by_raking, lanewise::scan_by_tree) {
  // Figure 32: lanes have folded 4 of the items 1..64 each; here more lanes have nothing.
  constexpr int warps = lanewise::warp_t<space>::width < 16 ? 2 : 1;
  using kernel =
      lanewise::test_kernels::scan_rounds<TestType, std::uint32_t, lanewise::plus, warps>;
  using team = lanewise::team_t<space, typename kernel::policy>;
  std::vector<std::uint32_t> sums(team::warps * team::warp_type::width, 0u);
  for (std::uint32_t t = 0; t < 16; ++t) sums[t] = 16 * t + 10;
  const array<std::uint32_t> in(sums), out(static_cast<std::int64_t>(sums.size()), 77u),
      total(1, 77u);

  lanewise::launch(make_space(), "Lanewise::test::team_scan", 1,
                   kernel{in.data(), out.data(), 0u, total.data(), 1});

  std::vector<std::uint32_t> expected = {0,   10,  36,  78,  136,  210,  300,  406,
                                         528, 666, 820, 990, 1176, 1378, 1596, 1830};
  expected.resize(sums.size(), 2080);
  CHECK(difference(out.items(), expected) == "");
  CHECK(total.items()[0] == 2080);
}
