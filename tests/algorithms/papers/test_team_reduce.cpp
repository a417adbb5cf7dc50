// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/papers/team_reduce.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>

// Reductions of one value per lane by a team, in three ways, after a reduction of every lane's own
// items; one after the other in the same scratch.

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

template <class Way, class T, class Op, int team_warps, int own>
struct reduce_rounds {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  using scratch = typename Way::template scratch<Team, T>;

  const T* in;
  T* out;  // one per warp and round
  int rounds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t items = std::int64_t{Team::warps} * warp_type::width * own;
    const auto warp = team.warp();
    for (int round = 0; round < rounds; ++round) {
      typename warp_type::template lanes<T> item[own];
      const T* const first = in + round * items + team.warp_index() * warp_type::width * own;
      for (int j = 0; j < own; ++j) {
        const auto place =
            warp.map([j](std::uint32_t lane) { return lane * own + j; }, warp.lane());
        item[j] = warp.gather(first, place);
      }
      const T total = Way::reduce(team, shared, papers::reduce_own(warp, item, Op{}), Op{});
      warp.once([&] { out[round * Team::warps + team.warp_index()] = total; });
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;

template <class Way, class T, class Op, int warps, int own>
void check_reduce_rounds(Op op) {
  using kernel = lanewise::test_kernels::reduce_rounds<Way, T, Op, warps, own>;
  using team = lanewise::team_t<space, typename kernel::policy>;
  constexpr int rounds = 5;
  constexpr std::int64_t items_of_round = std::int64_t{team::warps} * team::warp_type::width * own;
  const auto items = random_items<T>(rounds * items_of_round, most_summand<T>());
  const array<T> in(items), out(rounds * team::warps, item_of<T>(77));

  lanewise::launch(make_space(), "Lanewise::test::team_reduce", 1,
                   kernel{in.data(), out.data(), rounds});

  std::vector<T> expected;
  for (int round = 0; round < rounds; ++round) {
    const auto first = items.begin() + round * items_of_round;
    const std::vector<T> rest(first + 1, first + items_of_round);
    expected.insert(expected.end(), team::warps, oracle::reduce(rest, op, *first));
  }
  CAPTURE(warps, own);
  CHECK(difference(out.items(), expected) == "");
  CHECK(out.guards_intact());
  CHECK(in.unchanged());
}

template <class Way, class T, class Op>
void check_reducing_teams(Op op) {
  check_reduce_rounds<Way, T, Op, 1, 1>(op);
  check_reduce_rounds<Way, T, Op, 2, 3>(op);
  check_reduce_rounds<Way, T, Op, 4, 8>(op);
  check_reduce_rounds<Way, T, Op, 16, 1>(op);
}

}  // namespace

TEMPLATE_TEST_CASE("Teams reduce a value per lane", "[team_reduce][sanitize]",
                   lanewise::papers::reduce_by_shuffles, lanewise::papers::reduce_by_raking,
                   lanewise::papers::reduce_by_pairs) {
  check_reducing_teams<TestType, std::uint32_t>(lanewise::plus{});
  check_reducing_teams<TestType, std::uint8_t>(lanewise::plus{});
  check_reducing_teams<TestType, double>(lanewise::plus{});
  check_reducing_teams<TestType, affine>(then{});
}

TEMPLATE_TEST_CASE("Teams of three warps reduce", "[team_reduce][sanitize]",
                   lanewise::papers::reduce_by_shuffles, lanewise::papers::reduce_by_raking) {
  check_reduce_rounds<TestType, affine, then, 3, 2>(then{});
}
