// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/hash/slab_sort.hpp>

#include <map>
#include <structures/hash/check_slab.hpp>

// Items put into a table piece by piece: what becomes of each is what becomes of it one by one.

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using lanewise::slab_order;
using lanewise::slab_sorted;

/// n items with `distinct` keys in random order. Those with i % 3 == 1 are there before, those with
/// i % 3 == 2 have been and are deleted.
template <class Key, class Value>
struct build_batch {
  std::vector<Key> keys, before, deleted;
  std::vector<Value> values, values_before;

  build_batch(random_engine& random, u32 n, u32 distinct) {
    std::vector<u32> numbers(n);
    for (u32 i = 0; i < n; ++i) numbers[i] = i % distinct;
    std::shuffle(numbers.begin(), numbers.end(), random);
    for (u32 i = 0; i < n; ++i) {
      keys.push_back(key_number<Key>(numbers[i]));
      values.push_back(value_number<Value>(7 * u64{i} + 1));
    }
    for (u32 i = 0; i < distinct; ++i) {
      if (i % 3 == 1) {
        before.push_back(key_number<Key>(i));
        values_before.push_back(value_number<Value>(3 * u64{i} + 2));
      } else if (i % 3 == 2) {
        deleted.push_back(key_number<Key>(i));
      }
    }
  }
};

/// The batch, and a table with what it has before.
template <class Table, class Key, class Value>
void prepare_for_build(const space& exec, Table& table, const build_batch<Key, Value>& batch) {
  const array<Key> before(batch.before), deleted(batch.deleted);
  const array<Value> values(batch.values_before);
  if constexpr (Table::layout::has_values) {
    const array<Value> others(static_cast<std::int64_t>(batch.deleted.size()), Value{5});
    lanewise::insert(exec, table, deleted.const_view(), others.const_view());
    lanewise::insert(exec, table, before.const_view(), values.const_view());
  } else {
    lanewise::insert(exec, table, deleted.const_view());
    lanewise::insert(exec, table, before.const_view());
  }
  lanewise::erase(exec, table, deleted.const_view());
  exec.fence();
}

/// Every key once, with a value that was given for it; one status of each key says that it came.
template <class Key, class Value>
void check_unique_build(bool assigns, u32 n, u32 distinct, const lanewise::slab_table_options& with,
                        u64 salt) {
  using table_type = lanewise::slab_hash_map<Key, Value, memory>;
  const auto exec = make_space();
  auto random = make_random(salt);
  const build_batch<Key, Value> batch(random, n, distinct);
  const array<Key> k(batch.keys);
  const array<Value> v(batch.values);
  for (const bool asks_status : {true, false}) {
    table_type table(exec, with);
    prepare_for_build(exec, table, batch);
    const auto call = [&](const slab_sorted& options) {
      if (assigns) {
        lanewise::assign(exec, table, k.const_view(), v.const_view(), options);
      } else {
        lanewise::insert(exec, table, k.const_view(), v.const_view(), options);
      }
    };
    std::map<Key, u32> came;
    const std::size_t there = batch.before.size();
    const auto then = assigns ? table_status::updated : table_status::present;
    if (asks_status) {
      const auto result = reported(n, call, slab_sorted{.order = slab_order::by_region});
      for (u32 i = 0; i < n; ++i) {
        REQUIRE((result.status[i] == table_status::inserted || result.status[i] == then));
        came[batch.keys[i]] += result.status[i] == table_status::inserted;
      }
      for (const Key& key : batch.before) REQUIRE(came[key] == 0);
      CHECK(result.tally[table_status::inserted] == distinct - there);
    } else {
      const cell<lanewise::status_counts> tally;
      call(slab_sorted{.tally = tally.view(), .order = slab_order::by_region});
      exec.fence();
      CHECK(tally.get()[table_status::inserted] == distinct - there);
      CHECK(tally.get()[then] == n - (distinct - there));
    }
    std::map<Key, std::vector<Value>> possible;
    for (std::size_t i = 0; !assigns && i < there; ++i)
      possible[batch.before[i]].push_back(batch.values_before[i]);
    for (u32 i = 0; i < n; ++i) {
      auto& values = possible[batch.keys[i]];
      if (assigns ||
          std::find(batch.before.begin(), batch.before.end(), batch.keys[i]) == batch.before.end())
        values.push_back(batch.values[i]);
    }
    const auto all = contents(exec, table);
    REQUIRE(all.size() == distinct);
    for (const auto& [key, value] : all) {
      const auto& values = possible[key];
      REQUIRE(std::find(values.begin(), values.end(), value) != values.end());
    }
    check_no_leak(exec, table);
  }
}

}  // namespace

TEST_CASE("Building inserts what is not there and leaves what is", "[slab_build][sanitize]") {
  // Lists: fewer than a piece has, one more than it has with that of other names, several pieces.
  check_unique_build<u32, u32>(false, 700, 300, {.buckets = 3}, 1);
  check_unique_build<u32, u32>(false, 3000, 2900, {.buckets = 511}, 2);
  check_unique_build<u64, u64>(false, 2500, 2000, {.buckets = 512}, 3);
#if !defined(LANEWISE_TEST_FEW_TYPES)
  check_unique_build<u32, double>(false, 3000, 1500, {.buckets = 1200, .units = 1}, 4);
  check_unique_build<u64, u32>(false, 300, 280, {.buckets = 1}, 5);
#endif
}

TEST_CASE("Building replaces values", "[slab_build][sanitize]") {
  check_unique_build<u32, u32>(true, 3000, 900, {.buckets = 600}, 6);
  check_unique_build<u64, u64>(true, 3000, 900, {.buckets = 700}, 7);
  check_unique_build<u32, u32>(true, 1000, 5, {.buckets = 2}, 8);
}

TEST_CASE("Building sorts by two digits where a table has many pieces", "[slab_build]") {
#if defined(LANEWISE_TEST_LANES)
  if (!full()) return;  // a minute for what does not depend on lanes
#endif
  check_unique_build<u32, u32>(false, 2000, 1500, {.buckets = 258 * 512, .units = 1}, 9);
}

TEST_CASE("Pieces that most items fall into are shared out", "[slab_build]") {
  // Most are left over by the team that has the piece. Few are left over where values are replaced:
  // those items all change one word.
  const u32 n = is_emulated ? 3300 : 300'000;
  check_unique_build<u32, u32>(false, n, 3, {.buckets = 40'000}, 10);
  check_unique_build<u64, u64>(true, is_emulated ? 2200 : 20'000, 2, {.buckets = 40'000}, 11);
}

TEST_CASE("Sets are built", "[slab_build]") {
  const auto check_set = [](auto key, std::int64_t buckets, u32 n, u32 distinct) {
    using key_type = decltype(key);
    const auto exec = make_space();
    auto random = make_random(12);
    const build_batch<key_type, u32> batch(random, n, distinct);
    lanewise::slab_hash_set<key_type, memory> set(exec, {.buckets = buckets});
    prepare_for_build(exec, set, batch);
    const array<key_type> k(batch.keys);
    const cell<lanewise::status_counts> tally;
    lanewise::insert(exec, set, k.const_view(), std::nullopt,
                     slab_sorted{.tally = tally.view(), .order = slab_order::by_region});
    exec.fence();
    CHECK(tally.get()[table_status::inserted] == distinct - batch.before.size());
    CHECK(contents(exec, set).size() == distinct);
    check_no_leak(exec, set);
  };
  check_set(u32{}, 600, 9000, 8000);
  check_set(u64{}, 600, 5000, 4900);
}

TEST_CASE("A multimap is built with all that is given, behind what is there", "[slab_build]") {
  const auto exec = make_space();
  const u32 n = 4000, distinct = 1000;
  std::vector<u32> keys(n);
  for (u32 i = 0; i < n; ++i) keys[i] = key_number<u32>(i % distinct);
  const array<u32> k(keys);
  for (const std::int64_t buckets : {40, 700}) {
    lanewise::slab_hash_multimap<u32, u32, memory> map(exec, {.buckets = buckets});
    for (u32 round = 0; round < 2; ++round) {
      const array<u32> v(n, round);
      const auto result = reported(
          n,
          [&](const auto& with) {
            lanewise::insert(exec, map, k.const_view(), v.const_view(), with);
          },
          slab_sorted{.order = slab_order::by_region});
      CHECK(result.tally[table_status::inserted] == n);
    }
    const array<std::int64_t> offsets(distinct + 1, std::int64_t{0});
    const array<u32> found(2 * n, ~0u);
    const array<u32> each(std::vector<u32>(keys.begin(), keys.begin() + distinct));
    lanewise::find_all(exec, map, each.const_view(), offsets.view(), found.view());
    exec.fence();
    const auto values = found.items();
    const auto begins = offsets.items();
    for (u32 i = 0; i <= distinct; ++i) REQUIRE(begins[i] == std::int64_t{i} * 8);
    for (u32 i = 0; i < 2 * n; ++i) REQUIRE(values[i] == (i % 8 < 4 ? 0u : 1u));
    check_no_leak(exec, map);
  }
}
