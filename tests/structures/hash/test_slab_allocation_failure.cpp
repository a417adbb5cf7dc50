// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/hash/slab_file.hpp>
#include <support/failing_allocations.hpp>

#include <numeric>
#include <sstream>
#include <structures/hash/check_slab.hpp>

// Every allocation of a call fails once, but for small ones: a View whose label cannot be copied
// loses its memory inside Kokkos, or ends the program where it is destroyed. On CUDA device memory
// of pools is Kokkos' own; there the host's part of a call is tested.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// Every warp takes 32 units, `rounds` times.
template <pool_kind kind>
struct take_units {
  using policy = two_warps;
  template <class Team>
  struct scratch {};

  slab_pool<kind> pool;
  std::uint32_t* addresses;
  int rounds;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    const std::int64_t id = number_of_warp(team);
    slab_resident<typename Team::warp_type> mine(warp, static_cast<std::uint64_t>(id));
    for (std::int64_t r = id * rounds; r < (id + 1) * rounds; ++r) {
      const auto all = warp.first(32);
      warp.store(all, addresses + r * 32, pool.allocate(warp, mine, all));
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using lanewise::pool_kind;

/// What is smaller does not fail.
constexpr std::size_t small = 64;

/// make() makes a structure, change(structure) changes it, check(structure, failed) is told whether
/// it could. Again and again, with the first, the second, ... allocation of change failing, until
/// there are no more. Everything that was allocated is freed.
template <class Make, class Change, class Check>
void every_allocation_fails_once(Make make, Change change, Check check) {
  const auto happened = [&](long failing) {
    auto structure = make();
    make_space().fence();
    bool failed = false;
    std::string surprise;
    least_counted = small;
    fails_for_good = false;
    until_failure = failing;
    try {
      change(structure);
    } catch (const std::exception&) {
      failed = true;
    } catch (...) {
      surprise = "not a std::exception";
    }
    const bool reached = until_failure < 0;
    until_failure = -1;
    make_space().fence();
    CHECK(surprise == "");
    check(structure, failed);
    return reached;
  };
  happened(-1);  // what is allocated once and for all
  long failing = 0;
  for (bool goes_on = true; goes_on; failing = next_failing(failing)) {
    CAPTURE(failing);
    REQUIRE(failing < 1000);
    const long before = outstanding;
    goes_on = happened(failing);
    CHECK(outstanding == before);
  }
  CHECK(failing > 1);
}

/// All units that a pool gives out, asked for more than it has. Sorted.
template <pool_kind kind>
std::vector<u32> take_all(const space& exec, const lanewise::slab_allocator<memory, kind>& pool) {
  using kernel = lanewise::test_kernels::take_units<kind>;
  constexpr std::int64_t league = 2;
  constexpr std::int64_t warps = league * lanewise::team_t<space, typename kernel::policy>::warps;
  // One warp may have to take everything.
  const auto rounds = static_cast<int>(pool.units() / 32 + 32);
  const array<u32> addresses(warps * rounds * 32, 0u);
  lanewise::launch(exec, "take_units", league, kernel{pool.view(), addresses.data(), rounds});
  auto got = addresses.items();
  got.erase(std::remove(got.begin(), got.end(), lanewise::no_unit), got.end());
  std::sort(got.begin(), got.end());
  return got;
}

/// The units that were added to a pool whose super block s had blocks[s] blocks.
template <pool_kind kind>
std::vector<u32> units_after(const lanewise::slab_allocator<memory, kind>& pool,
                             std::vector<u32> blocks) {
  blocks.resize(pool.super_blocks().size());
  std::vector<u32> units;
  for (std::size_t s = 0; s < blocks.size(); ++s) {
    const u32 end = pool.blocks_in(pool.super_blocks()[s]) * 1024;
    for (u32 u = blocks[s] * 1024; u < end; ++u) units.push_back(static_cast<u32>(s) << 24 | u);
  }
  return units;
}

/// Owners have written zeros into their units, which would be free ones in a bitmap.
template <pool_kind kind>
void write_zeros(const lanewise::slab_allocator<memory, kind>& pool) {
  for (const auto& m : pool.super_blocks()) {
    const auto units =
        Kokkos::subview(m, Kokkos::make_pair(std::size_t{pool.blocks_in(m)}, m.extent(0)));
    Kokkos::deep_copy(units, lanewise::slab_unit{});
  }
}
template <pool_kind kind>
bool zeros_there(const lanewise::slab_allocator<memory, kind>& pool, std::size_t super_blocks) {
  for (std::size_t s = 0; s < super_blocks; ++s) {
    const auto& m = pool.super_blocks()[s];
    const auto words = to_host(m.data()[pool.blocks_in(m)].word, 1024 * 32);
    if (std::count(words.begin(), words.end(), 0u) != 1024 * 32) return false;
  }
  return true;
}

/// Pools of `blocks` blocks, all of whose units are in use or none, grow by two blocks.
template <pool_kind kind>
void check_growth(const std::vector<u32>& blocks, bool in_use) {
  using pool_type = lanewise::slab_allocator<memory, kind>;
  const auto exec = make_space();
  const std::int64_t had = 1024 * std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
  every_allocation_fails_once(
      [&] {
        pool_type pool(exec, 1024 * blocks[0]);
        for (std::size_t s = 1; s < blocks.size(); ++s) pool.grow(exec, 1024 * blocks[s]);
        if (in_use) CHECK(take_all(exec, pool) == units_after(pool, {}));
        write_zeros(pool);
        return pool;
      },
      [&](pool_type& pool) { pool.grow(exec, 2048); },
      [&](pool_type& pool, bool failed) {
        if (failed) {
          CHECK(pool.units() == had);
          CHECK(take_all(exec, pool) == units_after(pool, in_use ? blocks : std::vector<u32>()));
          pool.grow(exec, 2048);
        }
        const bool had_left = !in_use && !failed;
        CHECK(pool.units() == had + 2048);
        CHECK(take_all(exec, pool) == units_after(pool, had_left ? std::vector<u32>() : blocks));
        CHECK(zeros_there(pool, blocks.size()));
        CHECK(lanewise::usage(exec, pool).allocated == had + 2048);
      });
}

using map_type = lanewise::slab_hash_map<u64, u32, memory>;

void put(const space& exec, map_type& map, u32 first, u32 n) {
  std::vector<u64> keys(n);
  std::vector<u32> values(n);
  for (u32 i = 0; i < n; ++i) keys[i] = values[i] = first + i;
  lanewise::insert(exec, map, array<u64>(keys).const_view(), array<u32>(values).const_view());
  exec.fence();
}

/// The keys 0, 1, ..., n - 1 are there with their values, and perhaps others below `most`.
void check_contents(const space& exec, const map_type& map, u32 n, u32 most) {
  const auto all = contents(exec, map);
  std::vector<std::pair<u64, u32>> expected;
  for (u32 i = 0; i < most; ++i) expected.emplace_back(i, i);
  REQUIRE(all.size() >= n);
  CHECK(std::equal(all.begin(), all.begin() + n, expected.begin()));
  CHECK(std::includes(expected.begin(), expected.end(), all.begin(), all.end()));
  check_no_leak(exec, map);
}

constexpr u32 there = 300, more = is_emulated ? 900 : 12'000;

/// Maps with keys below `there`. After change, which may put more of them there, all are put there.
template <class Change>
void check_map(const lanewise::slab_table_options& with, u32 most, Change change) {
  const auto exec = make_space();
  every_allocation_fails_once(
      [&] {
        map_type map(exec, with);
        put(exec, map, 0, there);
        return map;
      },
      change,
      [&](map_type& map, bool failed) {
        check_contents(exec, map, failed ? there : most, most);
        put(exec, map, 0, more);
        check_contents(exec, map, more, more);
      });
}

}  // namespace

TEST_CASE("A pool whose growth fails is what it was", "[slab_allocation][sanitize]") {
  for (const bool in_use : {false, true}) {
    check_growth<pool_kind::growing>({1}, in_use);
    check_growth<pool_kind::growing>({2, 1}, in_use);
    check_growth<pool_kind::light>({1}, in_use);
  }
}

TEST_CASE("A pool that cannot be made leaves nothing", "[slab_allocation][sanitize]") {
  const auto exec = make_space();
  every_allocation_fails_once(
      [] { return lanewise::slab_allocator<memory>(); },
      [&](auto& pool) { pool = lanewise::slab_allocator<memory>(exec, 1024); },
      [&](auto& pool, bool failed) { CHECK(pool.units() == (failed ? 0 : 1024)); });
}

#if !defined(LANEWISE_TEST_SPACE_CUDA)  // whose memory is not had from operator new
TEST_CASE("Of several super blocks the last one fails", "[.large]") {
  const auto exec = make_space();
  lanewise::slab_allocator<memory> pool(exec, 1);
  CHECK(take_all(exec, pool) == units_after(pool, {}));
  write_zeros(pool);
  bool failed = false;
  least_counted = std::size_t{1} << 16;
  fails_for_good = false;
  until_failure = 1;
  try {
    pool.grow(exec, (std::int64_t{1} << 24) + 1);
  } catch (const std::exception&) {
    failed = true;
  }
  until_failure = -1;
  least_counted = small;
  CHECK(failed);
  CHECK(pool.units() == 1024);
  CHECK(take_all(exec, pool).empty());
  CHECK(zeros_there(pool, 1));
}
#endif

TEST_CASE("A table whose pool cannot grow is what it was", "[slab_allocation]") {
  const auto exec = make_space();
  check_map({.buckets = 200, .units = 1}, there, [&](map_type& map) { map.grow(exec, 2000); });
}

TEST_CASE("A table that cannot have more lists is what it was", "[slab_allocation]") {
  const auto exec = make_space();
  check_map({.expected = 100}, there, [&](map_type& map) { lanewise::rehash(exec, map, 50); });
}

TEST_CASE("A table whose room cannot be had is what it was", "[slab_allocation]") {
  const auto exec = make_space();
  const auto reserve = [&](map_type& map) { lanewise::reserve(exec, map, 40'000); };
  const auto grow = [&](map_type& map) { map.grow(exec, 2000); };
  check_map({.expected = 100}, there, reserve);             // more lists
  check_map({.buckets = 200, .units = 1}, there, reserve);  // a larger pool
  check_map({.expected = 100}, there, grow);
}

TEST_CASE("Insertions that cannot grow a table lose nothing that was there", "[slab_allocation]") {
  const auto exec = make_space();
  const auto put_more = [&](map_type& map) { put(exec, map, there, more - there); };
  check_map({.expected = 1, .units = 1}, more, put_more);                     // more lists
  if (!is_emulated) check_map({.buckets = 200, .units = 1}, more, put_more);  // a larger pool
}

TEST_CASE("Copies and files that fail leave tables as they were", "[slab_allocation]") {
  const auto exec = make_space();
  check_map({.expected = 100}, there, [&](map_type& map) { map = map.copy_to<memory>(exec); });
  check_map({.expected = 100}, there, [&](map_type& map) {
    std::stringstream file;
    lanewise::save(exec, map, file);
    map = lanewise::load<map_type>(exec, file);
  });
}
