// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/slab_file.hpp>

#include <sstream>
#include <structures/check_slab.hpp>

// Tables that turn out too small: larger pools, more lists, closed gaps.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// Every lane puts its own number into a map, behind the back of bulk calls.
template <class View>
struct put_numbers {
  using policy = two_warps;
  template <class Team>
  struct scratch {};

  View table;
  std::uint32_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    slab_resident<typename Team::warp_type> mine(warp,
                                                 static_cast<std::uint64_t>(number_of_warp(team)));
    each_number(team, n, [&](const auto& number, const auto& active, std::uint32_t) {
      auto value = number;
      table.insert(warp, mine, active, number, value);
    });
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
std::vector<T> counted_up(std::size_t n, T first = 0) {
  std::vector<T> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<T>(first + i);
  return v;
}

/// n pairs with the keys key_number(0), key_number(1), ... put there by one call.
template <class Key, class Map>
void check_filled(const space& exec, Map& map, u32 n) {
  std::vector<Key> keys(n);
  for (u32 i = 0; i < n; ++i) keys[i] = key_number<Key>(i);
  const array<Key> k(keys);
  const array<u32> v(counted_up<u32>(n)), out(n, ~0u);

  const auto result = reported(n, [&](const auto& with) {
    lanewise::insert(exec, map, k.const_view(), v.const_view(), with);
  });
  lanewise::find(exec, map, k.const_view(), out.view());

  CHECK(result.tally[slab_status::inserted] == n);
  CHECK(out.items() == v.original());
  check_no_leak(exec, map);
}

}  // namespace

TEST_CASE("A table that nothing was expected of gets as many lists as it needs",
          "[slab_growth][sanitize]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 3000 : 400'000;
  lanewise::slab_hash_map<u32, u32, memory> map(exec);
  REQUIRE(map.buckets() == 1);

  check_filled<u32>(exec, map, n);

  const auto s = lanewise::statistics(exec, map);
  CHECK(s.elements == n);
  // Three times the places of the first slabs at most, of which a list of its own has the ten keys
  // under other names.
  CHECK(s.elements <= 3 * map.places());
  CHECK(s.longest < 10);
  // Not many more lists than needed, either: twice the load is the least.
  CHECK(map.places() < 4 * std::int64_t{n});
}

TEST_CASE("Many items with few keys do not make many lists", "[slab_growth]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 3000 : 1'000'000, distinct = 10;
  std::vector<u64> keys(n);
  for (u32 i = 0; i < n; ++i) keys[i] = i % distinct;
  const array<u64> k(keys);
  const array<u32> ones(n, 1u);
  lanewise::slab_hash_map<u64, u32, memory> map(exec);

  lanewise::upsert(exec, map, k.const_view(), ones.const_view(), lanewise::plus{});

  // The first 2^16 might have been different.
  CHECK(map.buckets() <= (std::int64_t{1} << 16) / 4);
  const auto all = contents(exec, map);
  REQUIRE(all.size() == distinct);
  for (const auto& [key, times] : all) CHECK(times == n / distinct);
}

TEST_CASE("Lists whose number was given stay so many", "[slab_growth]") {
  const auto exec = make_space();
  lanewise::slab_hash_map<u64, u32, memory> map(exec, {.buckets = 7, .units = 1});
  check_filled<u64>(exec, map, is_emulated ? 1500 : 30'000);
  CHECK(map.buckets() == 7);
}

TEST_CASE("Equal keys of a multimap keep their order while it gets more lists", "[slab_growth]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 40 : 2000, rounds = 20;
  const array<u32> k(counted_up<u32>(n));
  lanewise::slab_hash_multimap<u32, u32, memory> map(exec);
  std::vector<u32> expected;
  for (u32 r = 0; r < rounds; ++r) {
    const array<u32> v(n, r);
    lanewise::insert(exec, map, k.const_view(), v.const_view());
    exec.fence();
  }
  CHECK(map.buckets() > 1);
  for (u32 i = 0; i < n * rounds; ++i) expected.push_back(i % rounds);
  const array<std::int64_t> offsets(n + 1, std::int64_t{0});
  const array<u32> found(n * rounds, ~0u);
  lanewise::find_all(exec, map, k.const_view(), offsets.view(), found.view());
  CHECK(found.items() == expected);
}

TEST_CASE("Counts are exact while the pool grows under them", "[slab_growth][sanitize]") {
  for (const auto& exec : concurrent_spaces(3, 100)) {
    const u32 n = is_emulated ? 40'000 : 600'000, distinct = n / 2;
    std::vector<u32> keys(n);
    for (u32 i = 0; i < n; ++i) keys[i] = i % distinct;
    const array<u32> k(keys), ones(n, 1u);
    lanewise::slab_hash_map<u32, u32, memory> map(exec, {.buckets = distinct / 40, .units = 1});
    const auto units = map.pool().units();

    const auto result = reported(n, [&](const auto& with) {
      lanewise::upsert(exec, map, k.const_view(), ones.const_view(), lanewise::plus{}, with);
    });

    REQUIRE(map.pool().units() > units);
    CHECK(result.tally[slab_status::inserted] == distinct);
    CHECK(result.tally[slab_status::updated] == n - distinct);
    const auto all = contents(exec, map);
    REQUIRE(all.size() == distinct);
    CHECK(std::all_of(all.begin(), all.end(), [](const auto& pair) { return pair.second == 2; }));
    check_no_leak(exec, map);
  }
}

TEST_CASE("Insertions and deletions by turns need no more room than what is there",
          "[slab_growth]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 300 : 3000, cycles = is_emulated ? 100 : 60;
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.expected = 2 * n, .units = 1});
  const auto units = map.pool().units();
  for (u32 c = 0; c < cycles; ++c) {
    const array<u32> k(counted_up<u32>(n, c * n));
    lanewise::insert(exec, map, k.const_view(), k.const_view());
    if (c > 0) {
      const array<u32> old(counted_up<u32>(n, (c - 1) * n));
      lanewise::erase(exec, map, old.const_view());
    }
    exec.fence();
  }
  CHECK(lanewise::statistics(exec, map).elements == n);
  // All that was ever inserted would need more slabs than there are.
  REQUIRE(std::int64_t{n} * cycles > (units + map.buckets()) * 15);
  CHECK(map.pool().units() == units);
  check_no_leak(exec, map);
}

TEST_CASE("What kernels have put there counts when the pool is full", "[slab_growth]") {
  const auto exec = make_space();
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.expected = 1000, .units = 1});
  const auto lists = map.buckets();
  const u32 there = static_cast<u32>(14 * (map.pool().units() + lists));
  lanewise::launch(exec, "put_numbers", 4,
                   lanewise::test_kernels::put_numbers<decltype(map.view())>{map.view(), there});

  const array<u32> k(counted_up<u32>(4000, there));
  lanewise::insert(exec, map, k.const_view(), k.const_view());

  CHECK(map.buckets() > 4 * lists);
  const auto all = contents(exec, map);
  REQUIRE(all.size() == there + 4000);
  for (u32 i = 0; i < all.size(); ++i) REQUIRE(all[i] == std::pair(i, i));
  check_no_leak(exec, map);
}

TEST_CASE("Copies, and tables from files, get more lists too", "[slab_growth]") {
  const auto exec = make_space();
  using map_type = lanewise::slab_hash_map<u64, u32, memory>;
  const map_type map(exec, {.expected = 10, .load = 0.5});
  std::stringstream file;
  lanewise::save(exec, map, file);
  auto loaded = lanewise::load<map_type>(exec, file);
  auto copied = map.copy_to<memory>(exec);
  CHECK(loaded.load() == 0.5);
  for (auto* table : {&loaded, &copied}) {
    check_filled<u64>(exec, *table, 2000);
    CHECK(table->buckets() >= 2000 / 3.5);
  }
}
