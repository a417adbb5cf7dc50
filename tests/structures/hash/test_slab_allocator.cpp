// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/hash/slab_allocator.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <string>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// Every warp, cut into sub-warps, allocates for random masks of lanes. addresses has room for
/// `rounds` times 32 per warp.
template <int width, pool_kind kind>
struct allocate_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {};

  slab_pool<kind> pool;
  const std::uint32_t* masks;  // one per warp and round
  std::uint32_t* addresses;
  int rounds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    const std::int64_t id = std::int64_t{team.index()} * Team::warps + team.warp_index();
    slab_resident<warp_type> mine(warp, id);
    for (std::int64_t r = id * rounds; r < (id + 1) * rounds; ++r) {
      const auto wanted = warp.template mask_of<std::uint32_t>(masks[r]);
      typename warp_type::template lanes<std::uint32_t> got(0u);
      warp.template split<width>([&](const auto& sub) {
        auto part = mine.take(sub);
        sub.put(got, pool.allocate(sub, part, sub.take(wanted)));
        mine.put(sub, part);
      });
      warp.store(wanted, addresses + r * 32, got);
    }
  }
};

template <pool_kind kind>
struct deallocate_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {};

  slab_pool<kind> pool;
  const std::uint32_t* addresses;
  std::int64_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    const auto mine = team.share(divide_up(n, 32));
    for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
      const auto active = warp.first(static_cast<int>(n - w * 32 < 32 ? n - w * 32 : 32));
      const auto address = warp.load(active, addresses + w * 32, no_unit);
      pool.deallocate(warp, active & (address != no_unit), address);
    }
  }
};

/// Warps and scalar callers allocate, mark what they got as theirs, and give it back, again and
/// again. A unit that has an owner when it is allocated was given out twice.
template <pool_kind kind>
struct churn_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {};

  slab_pool<kind> pool;
  int rounds;
  std::uint32_t* twice;
  std::uint32_t* failed;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using lanes = typename warp_type::template lanes<std::uint32_t>;
    using solo = typename warp_type::template part<1>;
    const auto warp = team.warp();
    const std::int64_t id = std::int64_t{team.index()} * Team::warps + team.warp_index();
    slab_resident<warp_type> mine(warp, id);
    for (int r = 0; r < rounds; ++r) {
      const auto all = warp.first(32);
      lanes address(no_unit);
      if ((id + r) % 3 == 0) {
        // Every lane for itself.
        address = warp.map(
            [this, id, r](std::uint32_t lane) {
              const solo one;
              slab_resident<solo> alone(one, static_cast<std::uint64_t>(id * 1000 + r) * 32 + lane);
              return pool.template allocate_one<order::acquire>(one, alone);
            },
            warp.lane());
      } else {
        address = pool.template allocate<order::acquire>(warp, mine, all);
      }
      const auto have = address != no_unit;
      warp.fetch_add(*failed, static_cast<std::uint32_t>(warp.count(!have)));
      auto mark = [this](std::uint32_t a, std::uint32_t from, std::uint32_t to) {
        const solo one;
        if (one.compare_exchange(pool.unit(a)->word[5], from, to) != from)
          one.fetch_add(*twice, 1u);
      };
      auto a = address;
      const auto owner = static_cast<std::uint32_t>(id);
      warp.each(
          have, [&](std::uint32_t& x) { mark(x, ~0u, owner); }, a);
      if (r % 100 == 0) warp.pause();  // not always: on a busy host it takes long
      warp.each(
          have, [&](std::uint32_t& x) { mark(x, owner, ~0u); }, a);
      pool.deallocate(warp, have, address);
    }
  }
};

/// Every lane allocates one unit for itself.
template <pool_kind kind>
struct allocate_alone_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {};

  slab_pool<kind> pool;
  std::uint32_t* addresses;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using solo = typename Team::warp_type::template part<1>;
    const auto warp = team.warp();
    const std::int64_t first = (std::int64_t{team.index()} * Team::warps + team.warp_index()) * 32;
    warp.store(warp.first(32), addresses + first,
               warp.map(
                   [this, first](std::uint32_t lane) {
                     const solo one;
                     slab_resident<solo> mine(one, static_cast<std::uint64_t>(first + lane));
                     return pool.allocate_one(one, mine);
                   },
                   warp.lane()));
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using lanewise::no_unit;
using lanewise::pool_kind;

constexpr std::int64_t league = 4;
constexpr int warps_per_team = 2;

/// What the warps got for their masks, in any order.
template <int width, pool_kind kind>
std::vector<u32> allocate(const space& exec,
                          const lanewise::slab_allocator<memory, kind>& allocator,
                          std::vector<u32> masks, int rounds) {
  const std::int64_t warps =
      league *
      lanewise::team_t<
          space, typename lanewise::test_kernels::allocate_kernel<width, kind>::policy>::warps;
  masks.resize(static_cast<std::size_t>(warps * rounds));
  const array<u32> given(masks);
  const array<u32> addresses(warps * rounds * 32, 0xDEADBEEFu);
  lanewise::launch(exec, "allocate", league,
                   lanewise::test_kernels::allocate_kernel<width, kind>{
                       allocator.view(), given.data(), addresses.data(), rounds});
  const auto items = addresses.items();
  std::vector<u32> got;
  for (std::size_t m = 0; m < masks.size(); ++m) {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if ((masks[m] >> lane & 1) != 0) {
        got.push_back(items[m * 32 + lane]);
      } else {
        REQUIRE(items[m * 32 + lane] == 0xDEADBEEFu);
      }
    }
  }
  return got;
}

template <pool_kind kind>
void deallocate(const space& exec, const lanewise::slab_allocator<memory, kind>& allocator,
                const std::vector<u32>& units) {
  const array<u32> addresses(units);
  lanewise::launch(
      exec, "deallocate", league,
      lanewise::test_kernels::deallocate_kernel<kind>{allocator.view(), addresses.data(),
                                                      static_cast<std::int64_t>(units.size())});
  exec.fence();
}

std::vector<u32> random_masks(int n, u32 salt) {
  auto random = make_random(salt);
  std::vector<u32> masks;
  for (int i = 0; i < n; ++i) {
    const u32 kind = static_cast<u32>(random() % 4);
    masks.push_back(kind == 0 ? ~0u : kind == 1 ? 1u << random() % 32 : static_cast<u32>(random()));
  }
  return masks;
}

bool distinct(std::vector<u32> units) {
  std::sort(units.begin(), units.end());
  return std::adjacent_find(units.begin(), units.end()) == units.end();
}

template <int width, pool_kind kind>
void check_allocation() {
  const auto exec = make_space();
  lanewise::slab_allocator<memory, kind> allocator(exec, 4000);
  REQUIRE(allocator.units() == 4096);
  const int rounds = 9;

  const auto got = allocate<width>(exec, allocator,
                                   random_masks(league * warps_per_team * rounds, width), rounds);

  CHECK(distinct(got));
  CHECK(std::count(got.begin(), got.end(), no_unit) == 0);
  CHECK(std::all_of(got.begin(), got.end(), [](u32 a) { return a < 4096; }));
  CHECK(lanewise::usage(exec, allocator).allocated == static_cast<std::int64_t>(got.size()));

  deallocate(exec, allocator, got);
  CHECK(lanewise::usage(exec, allocator).allocated == 0);
}

template <int width, pool_kind kind>
void check_exhaustion() {
  const auto exec = make_space();
  lanewise::slab_allocator<memory, kind> allocator(exec, 1000);
  const int rounds = 40;
  const std::vector<u32> all(league * warps_per_team * rounds, ~0u);

  auto got = allocate<width>(exec, allocator, all, rounds);
  const auto failed = std::count(got.begin(), got.end(), no_unit);
  got.erase(std::remove(got.begin(), got.end(), no_unit), got.end());
  CHECK(got.size() == 1024);
  CHECK(failed > 0);
  CHECK(distinct(got));
  CHECK(lanewise::usage(exec, allocator).allocated == 1024);

  // What is given back can be had again, and no more than that.
  const std::vector<u32> some(got.begin(), got.begin() + 100);
  deallocate(exec, allocator, some);
  auto again = allocate<width>(exec, allocator, all, rounds);
  again.erase(std::remove(again.begin(), again.end(), no_unit), again.end());
  CHECK(std::is_permutation(again.begin(), again.end(), some.begin(), some.end()));

  // Growth keeps what is in use.
  allocator.grow(exec, 1025);
  CHECK(allocator.units() == 3072);
  auto more = allocate<width>(exec, allocator, {~0u, 1u, 0x80000001u}, 1);
  CHECK(std::count(more.begin(), more.end(), no_unit) == 0);
  CHECK(lanewise::usage(exec, allocator).allocated == 1024 + 35);
  more.insert(more.end(), got.begin(), got.end());
  CHECK(distinct(more));
}

void check_churn(const space& exec, std::int64_t teams, std::int64_t rounds, std::int64_t units) {
  const lanewise::slab_allocator<memory> allocator(exec, units);
  const cell<u32> twice, failed;
  lanewise::launch(exec, "churn", teams,
                   lanewise::test_kernels::churn_kernel<pool_kind::growing>{
                       allocator.view(), static_cast<int>(rounds), twice.data(), failed.data()});
  CHECK(twice.get() == 0);
  CHECK(failed.get() == 0);
  CHECK(lanewise::usage(exec, allocator).allocated == 0);
}

}  // namespace

TEST_CASE("Warps allocate distinct units", "[slab_allocator][sanitize]") {
  check_allocation<32, pool_kind::growing>();
  check_allocation<32, pool_kind::light>();
}
TEST_CASE("Sub-warps allocate distinct units", "[slab_allocator][sanitize]") {
  check_allocation<16, pool_kind::growing>();
  check_allocation<8, pool_kind::light>();
  check_allocation<1, pool_kind::growing>();
}
TEST_CASE("A pool gives out every unit once, and says when none is left",
          "[slab_allocator][sanitize]") {
  check_exhaustion<32, pool_kind::growing>();
  check_exhaustion<32, pool_kind::light>();
}
TEST_CASE("A pool gives out every unit to sub-warps", "[slab_allocator]") {
  check_exhaustion<8, pool_kind::growing>();
  check_exhaustion<1, pool_kind::light>();
}

TEST_CASE("Warps and scalar callers churn without leak or double allocation",
          "[slab_allocator][sanitize]") {
  for (u32 s = 0; s < (full() ? 100 : 5); ++s) {
#if defined(LANEWISE_TEST_SPACE_EMULATED)
    const auto exec = space(seed() + s, 3, mode());
#else
    const auto exec = make_space();
#endif
    check_churn(exec, league, is_emulated ? 20 : 1000, 1024);
  }
}
TEST_CASE("10^9 allocations and releases leak nothing", "[.large]") {
  constexpr std::int64_t teams = 264, units = teams * warps_per_team * 32;
  check_churn(make_space(), teams, 1 + 500'000'000 / units, 2 * units);
}

TEST_CASE("Single threads allocate a million units", "[slab_allocator]") {
  const auto exec = make_space();
  const std::int64_t teams = is_emulated ? 16 : 16384;
  using kernel = lanewise::test_kernels::allocate_alone_kernel<pool_kind::growing>;
  const std::int64_t n = teams * lanewise::team_t<space, kernel::policy>::warps * 32;
  const lanewise::slab_allocator<memory> allocator(exec, n + n / 8);
  const array<u32> addresses(n, no_unit);

  lanewise::launch(exec, "alone", teams, kernel{allocator.view(), addresses.data()});

  const auto got = addresses.items();
  CHECK(std::count(got.begin(), got.end(), no_unit) == 0);
  CHECK(distinct(got));
  CHECK(lanewise::usage(exec, allocator).allocated == n);
}

TEST_CASE("Addresses of super blocks name distinct places, in their order", "[slab_allocator]") {
  const auto exec = make_space();
  lanewise::slab_allocator<memory> allocator(exec, 1024);
  allocator.grow(exec, 2048);
  allocator.grow(exec, 1);
  REQUIRE(allocator.super_blocks().size() == 3);

  // More than there are, however many warps a team has.
  const auto got =
      allocate<32>(exec, allocator, std::vector<u32>(league * warps_per_team * 40, ~0u), 40);
  std::vector<u32> sorted;
  std::copy_if(got.begin(), got.end(), std::back_inserter(sorted),
               [](u32 a) { return a != no_unit; });
  std::sort(sorted.begin(), sorted.end());

  REQUIRE(sorted.size() == 4096);
  std::vector<u32> expected;
  for (const u32 s : {0u, 1u, 2u}) {
    for (u32 u = 0; u < (s == 1 ? 2048u : 1024u); ++u) expected.push_back(s << 24 | u);
  }
  CHECK(sorted == expected);
}

TEST_CASE("Sizes of pools are checked", "[slab_allocator]") {
  // 2^39 bytes, less the block that the address of no unit is in.
  STATIC_REQUIRE(lanewise::slab_allocator<memory>::most_units * 128 ==
                 (std::int64_t{1} << 39) - 1024 * 128);
  const auto exec = make_space();
  using allocator = lanewise::slab_allocator<memory>;
  for (const std::int64_t units : {std::int64_t{-1}, std::int64_t{1} << 32})
    CHECK(refusal([&] { allocator(exec, units); }) ==
          lanewise::detail::message("lanewise::slab_allocator: units is ", units,
                                    ", it must be 0 to 4294966272"));
  allocator a(exec, 0);
  CHECK(a.units() == 1024);
  for (const std::int64_t more : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1} << 32})
    CHECK(
        refusal([&] { a.grow(exec, more); }) ==
        lanewise::detail::message("lanewise::slab_allocator: a pool of 1024 units cannot grow by ",
                                  more, ", the most is 4294966272"));
}

TEST_CASE("Pools without units are refused", "[slab_allocator]") {
  const auto exec = make_space();
  using allocator = lanewise::slab_allocator<memory>;
  allocator had(exec, 1), none;
  const allocator has = std::move(had);
  for (allocator* pool : {&had, &none}) {
    const std::string text =
        "lanewise::slab_allocator: the pool has 0 units: it was made without a size, or moved from";
    CHECK(refusal([&] { (void)pool->view(); }) == text);
    CHECK(refusal([&] { pool->grow(exec, 1); }) == text);
    CHECK(pool->units() == 0);
    CHECK(lanewise::usage(exec, *pool).units == 0);
  }
  CHECK(has.units() == 1024);
}

TEST_CASE("There are 256 super blocks, and no unit has the address of none", "[slab_allocator]") {
  const auto exec = make_space();
  lanewise::slab_allocator<memory> allocator(exec, 1);
  while (allocator.super_blocks().size() < 255) allocator.grow(exec, 1);
  // A last super block of 2^24 units would have that address.
  CHECK_THROWS_WITH(
      allocator.grow(exec, 1 << 24),
      Catch::Matchers::ContainsSubstring("leave room for 16383 blocks, not for 16384"));
  CHECK(allocator.units() == 255 * 1024);
  allocator.grow(exec, 1);
  CHECK_THROWS_AS(allocator.grow(exec, 1), std::invalid_argument);
  CHECK(lanewise::usage(exec, allocator).allocated == 0);
}
