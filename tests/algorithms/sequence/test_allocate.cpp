// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/allocate.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <numeric>

// Cooperative allocation by a warp, by a team, and for an array.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// Every team allocates for its lanes, and every warp of it for its own.
struct allocate_in_team {
  struct policy : launch_policy {};

  template <class Team>
  struct scratch {
    allocation_scratch<Team, std::uint32_t> places;
  };

  const std::uint32_t* counts;
  std::uint32_t* of_team;
  std::uint32_t* of_warp;
  std::uint32_t* totals;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    for (int round = 0; round < 2; ++round) {
      const int first =
          ((round * static_cast<int>(team.league()) + static_cast<int>(team.index())) *
               Team::warps +
           team.warp_index()) *
          width;
      const auto count = warp.load(counts + first);
      const auto mine = allocate(team, shared.places, count);
      warp.store(of_team + first, mine.offset);
      warp.store(totals + first,
                 typename Team::warp_type::template lanes<std::uint32_t>(mine.total));
      warp.store(of_warp + first, allocate(warp, count).offset);
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

constexpr i64 allocate_tile = tile_items<i64, lanewise::kernels::scan_policy<i64>>;

template <class Count, class Offset>
void check_allocation(const std::vector<Count>& given) {
  const auto n = static_cast<i64>(given.size());
  std::vector<Offset> expected;
  i64 sum = 0;
  std::uint64_t bad = 0;
  for (const Count& c : given) {
    expected.push_back(static_cast<Offset>(sum));
    const auto count = static_cast<i64>(c);
    if (count < 0) ++bad;
    sum += count < 0 ? 0 : count;
  }
  const array<Count> counts(given, 1);
  const array<Offset> offsets(n + 3, item_of<Offset>(77), 1);
  const cell<i64> total(-1);
  const cell<lanewise::status> errors;
  lanewise::allocate(make_space(), counts.const_view(), offsets.view(), total.view(),
                     {.errors = errors.view()});
  CHECK(difference(offsets.items(), expected, offsets.original()) == "");
  CHECK(total.get() == sum);
  CHECK(errors.get().bad_items == bad);
  CHECK(offsets.guards_intact());
  CHECK(counts.unchanged());
}

}  // namespace

TEST_CASE("Teams and warps allocate in lane order", "[allocate][sanitize]") {
  using team = lanewise::team_t<space, lanewise::test_kernels::allocate_in_team::policy>;
  constexpr i64 width = team::warp_type::width;
  constexpr i64 teams = 2, lanes = width * team::warps, n = 2 * teams * lanes;
  const array<u32> counts(random_items<u32>(n, 9));
  const array<u32> of_team(n, 77u), of_warp(n, 77u), totals(n, 77u);
  lanewise::launch(make_space(), "test::allocate", teams,
                   lanewise::test_kernels::allocate_in_team{counts.data(), of_team.data(),
                                                            of_warp.data(), totals.data()});
  const auto check_groups = [&](const array<u32>& found, i64 group) {
    std::vector<u32> expected, sums;
    for (i64 i = 0; i < n; i += group) {
      const auto begin = counts.original().begin() + i;
      const std::vector<u32> part(begin, begin + group);
      const auto offsets = oracle::exclusive_scan(part, 0u, lanewise::plus{});
      expected.insert(expected.end(), offsets.begin(), offsets.end());
      sums.insert(sums.end(), part.size(), std::accumulate(part.begin(), part.end(), 0u));
    }
    CHECK(difference(found.items(), expected) == "");
    return sums;
  };
  CHECK(difference(totals.items(), check_groups(of_team, lanes)) == "");
  check_groups(of_warp, width);
  CHECK(of_team.guards_intact());
}

TEMPLATE_TEST_CASE("Places are allocated at every size", "[allocate]",
                   u32 MORE_TYPES(std::uint8_t, std::int32_t, i64)) {
  for (const i64 n : sizes_around(allocate_tile)) {
    CAPTURE(n);
    check_allocation<TestType, i64>(random_items<TestType>(n, 100));
    check_allocation<TestType, u32>(random_items<TestType>(n, 100));
  }
}

TEST_CASE("Merrill's example of cooperative allocation", "[allocate]") {
  const array<u32> counts({2, 1, 0, 4});
  const array<u32> offsets(4, 77u);
  CHECK(lanewise::allocate(make_space(), counts.const_view(), offsets.view()) == 7);
  CHECK(offsets.items() == std::vector<u32>{0, 2, 3, 3});
}

TEST_CASE("Negative counts take no place and are counted", "[allocate][sanitize]") {
  auto counts = random_items<std::int32_t>(some_tiles(allocate_tile), 50);
  for (std::size_t i = 3; i < counts.size(); i += 37) counts[i] = -counts[i] - 1;
  check_allocation<std::int32_t, i64>(counts);
  check_allocation<i64, i64>(std::vector<i64>(counts.begin(), counts.end()));
  check_allocation<std::int32_t, i64>(std::vector<std::int32_t>(300, -5));
}

TEST_CASE("A total that cannot be expressed is one bad item", "[allocate]") {
  const auto exec = make_space();
  const cell<i64> total(-1);
  const cell<lanewise::status> errors;
  const auto bad_items = [&](const auto& counts, const auto& offsets) {
    errors.set({});
    lanewise::allocate(exec, counts.const_view(), offsets.view(), total.view(),
                       {.errors = errors.view()});
    return errors.get().bad_items;
  };
  const array<u32> half(2, 0x7fffffffu), more(3, 0x7fffffffu);
  const array<u32> narrow(3, 0u);
  const array<i64> wide(3, i64{0});
  CHECK(bad_items(half, narrow) == 0);
  CHECK(bad_items(more, narrow) == 1);
  CHECK(total.get() == i64{3} * 0x7fffffff);
  CHECK(bad_items(more, wide) == 0);

  const i64 most = std::numeric_limits<i64>::max();
  const array<i64> large(std::vector<i64>{most / 2, 5, most / 2 + 1});
  CHECK(bad_items(large, wide) == 1);
  CHECK(total.get() == most);
  CHECK(wide.items() == std::vector<i64>{0, most / 2, most / 2 + 5});
  const array<u64> huge(std::vector<u64>{~u64{0}, 1, 1});
  CHECK(bad_items(huge, wide) == 1);
  CHECK(total.get() == most);
}

TEST_CASE("Allocation in place, of a count known to the device, with the total behind the offsets",
          "[allocate][sanitize]") {
  const auto exec = make_space();
  const i64 n = some_tiles(allocate_tile);
  lanewise::workspace work;
  lanewise::reserve(exec, work, lanewise::allocate_workspace<space>(n));
  const std::size_t reserved = work.bytes();
  for (const i64 given : {i64{-5}, i64{0}, i64{1}, allocate_tile, n, n + 100}) {
    CAPTURE(given);
    const cell<i64> count(given);
    const auto used = static_cast<std::size_t>(std::clamp<i64>(given, 0, n));
    auto items = random_items<i64>(n, 1000);
    const array<i64> both(items);
    const array<i64> total(1, i64{77});
    lanewise::allocate(exec, both.view(), both.view(), Kokkos::subview(total.view(), 0),
                       {.work = &work, .count = count.view()});
    const std::vector<i64> front(items.begin(), items.begin() + static_cast<i64>(used));
    CHECK(difference(both.items(), oracle::exclusive_scan(front, i64{0}, lanewise::plus{}),
                     both.original()) == "");
    CHECK(total.items()[0] == std::accumulate(front.begin(), front.end(), i64{0}));
    CHECK(both.guards_intact());
    CHECK(total.guards_intact());
  }
  CHECK(work.bytes() == reserved);
  lanewise::check(exec, work);
}

TEST_CASE("Bad counts are counted in the workspace when there is no status", "[allocate]") {
  const auto exec = make_space();
  lanewise::workspace work;
  const array<std::int32_t> counts(std::vector<std::int32_t>{1, -1, 2});
  const array<i64> offsets(3, i64{77});
  CHECK(lanewise::allocate(exec, counts.const_view(), offsets.view(), {.work = &work}) == 3);
  CHECK_THROWS_AS(lanewise::check(exec, work), std::runtime_error);
}

TEST_CASE("allocate refuses what it cannot do", "[allocate]") {
  const auto exec = make_space();
  const array<u32> counts(12, 1u);
  const array<u32> offsets(11, 77u);
  CHECK_THAT(refusal([&] { lanewise::allocate(exec, counts.const_view(), offsets.view()); }),
             ContainsSubstring("lanewise::allocate: offsets has 11 places, counts has 12 items"));
  const auto front = Kokkos::subview(counts.view(), Kokkos::pair<int, int>(0, 6));
  const auto back = Kokkos::subview(counts.view(), Kokkos::pair<int, int>(3, 12));
  CHECK_THAT(refusal([&] { lanewise::allocate(exec, front, back); }),
             ContainsSubstring("lanewise::allocate: counts [") && ContainsSubstring("overlap"));
  CHECK_THAT(refusal([&] {
               lanewise::allocate(exec, counts.view(), counts.view(), Kokkos::View<i64, memory>());
             }),
             ContainsSubstring("lanewise::allocate: count has no memory"));
  CHECK(counts.unchanged());
}
