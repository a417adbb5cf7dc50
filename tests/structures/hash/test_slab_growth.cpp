// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/hash/slab_file.hpp>
#include <support/oracle.hpp>

#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <limits>
#include <sstream>
#include <structures/hash/check_slab.hpp>

// Tables that turn out too small: larger pools, more lists, closed gaps.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// Every lane puts its own number into a map, after the back of bulk calls.
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

/// Every lane, for itself, inserts a key if its status is no_room, and says what came of it.
template <class View>
struct put_rest {
  using policy = two_warps;
  template <class Team>
  struct scratch {};

  View table;
  const std::uint32_t* keys;
  table_status* status;
  std::uint32_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using solo = typename Team::warp_type::template part<1>;
    each_number(team, n, [&](auto number, const auto& active, std::uint32_t) {
      team.warp().each(
          active,
          [this](std::uint32_t& i) {
            if (status[i] != table_status::no_room) return;
            slab_scalar_face<View, solo> alone(table, i);
            std::uint32_t value = i;
            status[i] = alone.insert(keys[i], value);
          },
          number);
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

  CHECK(result.tally[table_status::inserted] == n);
  CHECK(out.items() == v.original());
  check_no_leak(exec, map);
}

/// Keys that kernels of single threads put into a table, with their indices as values; keys that
/// find no room are tried again after make_room(how many). Returns how often kernels ran.
template <class Table, class MakeRoom>
int put_with_retries(const space& exec, Table& table, const std::vector<u32>& keys,
                     const MakeRoom& make_room) {
  using kernel = lanewise::test_kernels::put_rest<typename Table::view_type>;
  const auto n = static_cast<u32>(keys.size());
  const array<u32> k(keys);
  const array<table_status> status(n, table_status::no_room);
  for (int rounds = 1;; ++rounds) {
    REQUIRE(rounds < 100);
    lanewise::launch(exec, "put_rest", 4, kernel{table.view(), k.data(), status.data(), n});
    const auto came = status.items();
    const auto left = std::count(came.begin(), came.end(), table_status::no_room);
    if (left == 0) {
      CHECK(std::count(came.begin(), came.end(), table_status::inserted) == n);
      CHECK(status.guards_intact());
      return rounds;
    }
    make_room(left);
  }
}

/// The pairs (0, 0), (1, 1), ... and no others.
template <class Map>
void check_numbers(const space& exec, const Map& map, u32 n) {
  const auto all = contents(exec, map);
  REQUIRE(all.size() == n);
  for (u32 i = 0; i < n; ++i) REQUIRE(all[i] == std::pair(i, i));
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
  // Three times the slots of the first slabs at most: a list of its own has the ten keys under
  // other names.
  CHECK(s.elements <= 3 * map.slots());
  CHECK(s.longest < 10);
  // Not many more lists than needed, either: twice the load is the least.
  CHECK(map.slots() < 4 * std::int64_t{n});
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

TEST_CASE("Different keys are estimated within some percent", "[slab_growth][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{33}, std::int64_t{5000}, std::int64_t{90'000}}) {
    for (const std::int64_t different :
         {std::int64_t{1}, std::int64_t{40}, std::int64_t{3000}, std::int64_t{70'000}}) {
      if (different > n) continue;
      CAPTURE(n, different);
      std::vector<u32> narrow(static_cast<std::size_t>(n));
      std::vector<u64> wide(static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) {
        narrow[static_cast<std::size_t>(i)] = static_cast<u32>(i % different);
        wide[static_cast<std::size_t>(i)] = static_cast<u64>(i % different) << 32;
      }
      const array<u32> n32(narrow);
      const array<u64> n64(wide);
      const auto most_off = static_cast<double>(different) * 0.08 + 1;
      CHECK_THAT(static_cast<double>(
                     lanewise::kernels::different_keys(exec, "test", n32.view().data(), n)),
                 Catch::Matchers::WithinAbs(static_cast<double>(different), most_off));
      CHECK_THAT(static_cast<double>(
                     lanewise::kernels::different_keys(exec, "test", n64.view().data(), n)),
                 Catch::Matchers::WithinAbs(static_cast<double>(different), most_off));
    }
  }
}

TEST_CASE("A call with many keys gives an empty table the lists for them at once",
          "[slab_growth]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 70'000 : 300'000;
  for (const u32 distinct : {n, n / 10}) {
    CAPTURE(distinct);
    std::vector<u32> keys(n);
    for (u32 i = 0; i < n; ++i) keys[i] = i % distinct;
    const array<u32> k(keys);
    lanewise::slab_hash_map<u32, u32, memory> map(exec);
    lanewise::insert(exec, map, k.const_view(), k.const_view());
    CHECK(contents(exec, map).size() == distinct);
    const double slots = static_cast<double>(distinct) / map.load();
    CHECK(static_cast<double>(map.slots()) > 0.9 * slots);
    CHECK(static_cast<double>(map.slots()) < 1.1 * slots + 100);
  }
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
    CHECK(result.tally[table_status::inserted] == distinct);
    CHECK(result.tally[table_status::updated] == n - distinct);
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

TEST_CASE("Kernels fill a table in few rounds, with reserve between them",
          "[slab_growth][sanitize]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 20'000 : full() ? 1'000'000 : 300'000;
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.expected = 1000});

  const int rounds = put_with_retries(exec, map, counted_up<u32>(n), [&](std::int64_t left) {
    const std::int64_t there = lanewise::size(exec, map);
    CHECK(there == n - left);
    lanewise::reserve(exec, map, there + left);
  });

  CHECK(rounds > 1);
  CHECK(rounds <= 3);
  CHECK(lanewise::statistics(exec, map).longest < 10);
  check_numbers(exec, map, n);
}

TEST_CASE("A pool that doubles between kernels keeps the lists short", "[slab_growth]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 50'000 : full() ? 1'000'000 : 300'000;
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.expected = 1000});

  int most_rounds = 1;
  for (std::int64_t room = 1024 * 15; room < n; room *= 2) ++most_rounds;
  const int rounds = put_with_retries(exec, map, counted_up<u32>(n), [&](std::int64_t) {
    const auto units = map.pool().units();
    map.grow(exec, units);
    CHECK(map.pool().units() >= 2 * units);
    const auto s = lanewise::statistics(exec, map);
    CHECK(s.elements <= 3 * map.slots());
    CHECK(s.longest < 12);
  });

  CHECK(rounds > 1);
  CHECK(rounds <= most_rounds);
  CHECK(lanewise::statistics(exec, map).longest < 12);
  check_numbers(exec, map, n);
}

TEST_CASE("grow leaves lists alone whose number was given, or that stay short", "[slab_growth]") {
  const auto exec = make_space();
  lanewise::slab_hash_map<u32, u32, memory> given(exec, {.buckets = 3, .units = 1}),
      chosen(exec, {.expected = 50'000});
  for (auto* map : {&given, &chosen}) {
    put_with_retries(exec, *map, counted_up<u32>(2000), [](std::int64_t) {});
    const auto buckets = map->buckets();
    const auto units = map->pool().units();
    map->grow(exec, 1025);
    CHECK(map->buckets() == buckets);
    CHECK(map->pool().units() == units + 2048);
    check_numbers(exec, *map, 2000);
  }
}

TEST_CASE("reserve makes as many lists as a table made for so many has, and then nothing more",
          "[slab_growth]") {
  const auto exec = make_space();
  lanewise::slab_hash_map<u32, u32, memory> map(exec), made(exec, {.expected = 50'000});
  lanewise::reserve(exec, map, 0);
  CHECK(map.buckets() == 1);
  CHECK(map.pool().units() == 1024);
  put_with_retries(exec, map, counted_up<u32>(500), [](std::int64_t) {});

  lanewise::reserve(exec, map, 50'000);
  CHECK(map.buckets() == made.buckets());
  CHECK(map.pool().units() >= 50'000 / 15);
  check_numbers(exec, map, 500);

  const auto* heads = map.heads().data();
  const auto units = map.pool().units();
  for (const std::int64_t expected : {50'000, 100, 0}) lanewise::reserve(exec, map, expected);
  CHECK(map.heads().data() == heads);
  CHECK(map.pool().units() == units);
}

TEST_CASE("reserve makes room whatever the keys are, also beside deleted ones", "[slab_growth]") {
  const auto exec = make_space();
  const u32 n = 1500 * 15;
  const auto no_retry = [](std::int64_t) { FAIL("there was no room"); };
  lanewise::slab_hash_multimap<u32, u32, memory> map(exec, {.buckets = 100, .units = 1});
  std::vector<u32> keys(n);
  for (u32 i = 0; i < n; ++i) keys[i] = i % 30;
  const array<u32> k(counted_up<u32>(30));

  for (int times = 0; times < 2; ++times) {
    CHECK(lanewise::size(exec, map) == 0);
    lanewise::reserve(exec, map, n);
    CHECK(map.buckets() == 100);
    CHECK(put_with_retries(exec, map, keys, no_retry) == 1);
    CHECK(lanewise::size(exec, map) == n);
    lanewise::erase_all(exec, map, k.const_view());
  }
  check_no_leak(exec, map);
}

TEST_CASE("size counts what is there", "[slab_growth]") {
  const auto exec = make_space();
  const array<u32> k(counted_up<u32>(1000)), few(counted_up<u32>(10));
  lanewise::slab_hash_map<u32, u32, memory> map(exec);
  lanewise::slab_hash_multimap<u32, u32, memory> multimap(exec);
  const auto check = [&](std::int64_t of_map, std::int64_t of_multimap) {
    CHECK(lanewise::size(exec, map) == of_map);
    CHECK(lanewise::size(exec, multimap) == of_multimap);
  };
  check(0, 0);
  for (int times = 0; times < 2; ++times) {
    lanewise::insert(exec, map, k.const_view(), k.const_view());
    lanewise::insert(exec, multimap, k.const_view(), k.const_view());
  }
  check(1000, 2000);
  lanewise::erase(exec, map, few.const_view());
  lanewise::erase_all(exec, multimap, few.const_view());
  check(990, 1980);
  lanewise::flush(exec, map);
  lanewise::flush(exec, multimap);
  check(990, 1980);
  lanewise::clear(exec, map);
  lanewise::clear(exec, multimap);
  check(0, 0);
}

TEST_CASE("reserve and grow refuse what there cannot be", "[slab_growth]") {
  const auto exec = make_space();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.expected = 100});
  CHECK(refusal([&] { lanewise::reserve(exec, map, -1); }) ==
        "lanewise::reserve: expected is -1, it must be 0 to 64424494080");
  CHECK(refusal([&] { lanewise::reserve(exec, map, most); }) ==
        "lanewise::reserve: expected is 9223372036854775807, it must be 0 to 64424494080");
  CHECK(refusal([&] { lanewise::reserve(exec, map, 60'000'000'000); }) ==
        "lanewise::reserve: expected is 60000000000, which takes 6.15385e+09 buckets at load "
        "0.65, the most is 4294967040");
  for (const std::int64_t units : {std::int64_t{0}, most})
    CHECK(
        refusal([&] { map.grow(exec, units); }) ==
        lanewise::detail::message("lanewise::slab_allocator: a pool of 1024 units cannot grow by ",
                                  units, ", the most is 4294966272"));
  CHECK(map.buckets() == 12);
  CHECK(map.pool().units() == 1024);

  const auto moved_to = std::move(map);
  const std::string text = "lanewise::slab_hash_table: the table has no memory: it was moved from";
  CHECK(refusal([&] { lanewise::reserve(exec, map, 10); }) == text);
  CHECK(refusal([&] { (void)lanewise::size(exec, map); }) == text);
  CHECK(refusal([&] { map.grow(exec, 1); }) == text);
  CHECK(refusal([&] { map.grow_pool(exec, 1); }) == text);
}

TEST_CASE("reserve flushes where more was deleted than is there", "[slab_growth]") {
  const auto exec = make_space();
  const std::int64_t n = 1000;
  std::vector<std::uint32_t> numbers(n);
  for (std::int64_t i = 0; i < n; ++i) numbers[i] = static_cast<std::uint32_t>(i);
  const array<std::uint32_t> keys(numbers);
  lanewise::slab_hash_map<std::uint32_t, std::uint32_t, memory> map(exec, {.expected = n});
  std::int64_t units = 0;
  for (int round = 0; round < 10; ++round) {
    lanewise::reserve(exec, map, n);
    if (round == 0) units = map.pool().units();
    lanewise::insert(exec, map, keys.const_view(), keys.const_view(), {.grow = false});
    CHECK(lanewise::size(exec, map) == n);
    lanewise::erase(exec, map, keys.const_view());
  }
  CHECK(map.pool().units() == units);
  CHECK(lanewise::statistics(exec, map).deleted == n);
}
