// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

// The warp of a Kokkos team's thread. The emulated backend has no Kokkos teams.
#if !defined(LANEWISE_TEST_SPACE_EMULATED)

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace warp_of_kernels {

/// sums(r) = sum of the values in row r, each row by one warp.
struct rows_by_warps {
  const std::int64_t* begins;
  const std::uint64_t* values;
  std::uint64_t* sums;
  std::int64_t rows;

  template <class Member>
  LANEWISE_KERNEL_FUNCTION void operator()(const Member& member) const {
    const std::int64_t row =
        std::int64_t{member.league_rank()} * member.team_size() + member.team_rank();
    if (row >= rows) return;
    const auto warp = lanewise::warp_of(member);
    constexpr std::int64_t width = decltype(warp)::width;
    std::uint64_t sum = 0;
    for (std::int64_t i = begins[row]; i < begins[row + 1]; i += width) {
      const std::int64_t left = begins[row + 1] - i;
      const auto exist = warp.first(left);
      sum += warp.reduce(warp.load(exist, values + i, std::uint64_t{0}), lanewise::plus{});
    }
    warp.once([&] { sums[row] += sum; });
  }
};

}  // namespace warp_of_kernels
LANEWISE_END_TARGET_NAMESPACE

TEST_CASE("A thread of a Kokkos team is a warp", "[warp_of]") {
  using namespace test;
  using policy = Kokkos::TeamPolicy<space>;
  const std::int64_t rows = 1003;
  auto random = make_random(1);
  std::vector<std::int64_t> begins = {0};
  for (std::int64_t r = 0; r < rows; ++r)
    begins.push_back(begins.back() + static_cast<std::int64_t>(random_number(random, 100)));
  const auto values = random_items<std::uint64_t>(begins.back());
  std::vector<std::uint64_t> expected(static_cast<std::size_t>(rows), 0);
  for (std::size_t r = 0; r < expected.size(); ++r) {
    for (std::int64_t i = begins[r]; i < begins[r + 1]; ++i)
      expected[r] += values[static_cast<std::size_t>(i)];
  }
  const array<std::int64_t> begins_in(begins);
  const array<std::uint64_t> values_in(values);
  const array<std::uint64_t> sums(rows, 0);
  const lanewise::warp_of_kernels::rows_by_warps kernel{begins_in.data(), values_in.data(),
                                                        sums.data(), rows};

  const int team = policy(1, Kokkos::AUTO, lanewise::warp_lanes)
                       .team_size_recommended(kernel, Kokkos::ParallelForTag());
  const auto league = static_cast<int>(lanewise::divide_up(rows, team));
  Kokkos::parallel_for("test::rows_by_warps",
                       policy(make_space(), league, team, lanewise::warp_lanes), kernel);

  CHECK(difference(sums.items(), expected) == "");
  CHECK(sums.guards_intact());
}

#else

TEST_CASE("The emulated backend has no Kokkos teams") {
  SUCCEED();
}

#endif
