// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/ordered/ordered_multimap.hpp>
#include <lanewise/ordered/ordered_set.hpp>

#include <set>
#include <structures/ordered/check_ordered.hpp>

// Ordered multimaps against std::multimap, which keeps equal keys in the order of insertion, and
// sets against std::set.

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class Key, class Value>
void check_multimap_history(u64 universe, u64 salt) {
  auto random = make_random(salt);
  const auto exec = make_space();
  lanewise::ordered_multimap<Key, Value, memory> map;
  std::multimap<Key, Value> model;
  for (int i = 0; i < (is_emulated ? 40 : 120); ++i) {
    const std::size_t n = random() % (i % 3 == 0 ? 300 : 40);
    std::vector<Key> keys(n);
    std::vector<Value> values(n);
    for (std::size_t j = 0; j < n; ++j) {
      keys[j] = key_number<Key>(random() % universe);
      values[j] = value_number<Value>(random());
    }
    const array<Key> k(keys);
    const array<Value> v(values);
    const auto kind = random() % 5;
    const auto result = reported(
        n,
        [&](const auto& with) {
          if (kind < 2) return lanewise::insert(exec, map, k.view(), v.view(), with);
          if (kind < 4) return lanewise::erase(exec, map, k.view(), with);
          lanewise::erase_all(exec, map, k.view(), with);
        },
        lanewise::table_options{});
    for (std::size_t j = 0; j < n; ++j) {
      table_status expected = table_status::inserted;
      if (kind < 2) {
        model.emplace(keys[j], values[j]);
      } else {
        const auto at = model.find(keys[j]);
        expected = at == model.end() ? table_status::absent : table_status::erased;
        if (kind == 4) {
          model.erase(keys[j]);
        } else if (at != model.end()) {
          model.erase(model.lower_bound(keys[j]));
        }
      }
      REQUIRE(result.status[j] == expected);
    }
    if (i % 20 == 19) {
      const Key first = key_number<Key>(random() % universe),
                last = key_number<Key>(random() % universe);
      lanewise::erase_range(exec, map, first, last);
      if (first <= last) model.erase(model.lower_bound(first), model.upper_bound(last));
    }
    check_ordered_contents(exec, map, {model.begin(), model.end()});
    check_ordered_queries(exec, map, model, random);
  }
}

TEST_CASE("ordered_multimap: random histories of batches", "[ordered][sanitize]") {
  check_multimap_history<u32, u32>(6, 11);
  check_multimap_history<u32, u32>(200, 12);
}
TEST_CASE("ordered_multimap: histories of wide pairs", "[ordered]") {
  check_multimap_history<u64, u64>(40, 13);
}

TEST_CASE("ordered_multimap: one key through many leaves", "[ordered]") {
  auto random = make_random(14);
  const auto exec = make_space();
  lanewise::ordered_multimap<u32, u32, memory> map;
  std::multimap<u32, u32> model;
  for (const u32 n : {100u, 1000u}) {
    std::vector<u32> keys(n, 5), values(n);
    keys[0] = 4;
    keys[n - 1] = 6;
    for (u32 i = 0; i < n; ++i) {
      values[i] = n + i;
      model.emplace(keys[i], values[i]);
    }
    lanewise::insert(exec, map, array<u32>(keys).view(), array<u32>(values).view());
    check_ordered_contents(exec, map, {model.begin(), model.end()});
    check_ordered_queries(exec, map, model, random);
  }
  const std::vector<u32> fives(37, 5);
  lanewise::erase(exec, map, array<u32>(fives).view());
  for (int i = 0; i < 37; ++i) model.erase(model.lower_bound(5));
  check_ordered_contents(exec, map, {model.begin(), model.end()});
  std::vector<u32> keys, values;
  for (const auto& [k, v] : model) {
    keys.push_back(k);
    values.push_back(v);
  }
  lanewise::ordered_multimap<u32, u32, memory> sorted;
  lanewise::build_sorted(exec, sorted, array<u32>(keys).view(), array<u32>(values).view());
  check_ordered_contents(exec, sorted, {model.begin(), model.end()});
  lanewise::build(exec, sorted, array<u32>(keys).view(), array<u32>(values).view());
  check_ordered_contents(exec, sorted, {model.begin(), model.end()});
}

struct count_visits {
  u32* sum;
  KOKKOS_FUNCTION void operator()(std::int64_t place, const u32& key) const {
    Kokkos::atomic_add(sum, static_cast<u32>(place + 1) * key);
  }
};

TEST_CASE("ordered_set: histories", "[ordered]") {
  auto random = make_random(15);
  const auto exec = make_space();
  lanewise::ordered_set<u32, memory> set;
  std::set<u32> model;
  for (int i = 0; i < (is_emulated ? 30 : 100); ++i) {
    const std::size_t n = random() % 200;
    std::vector<u32> keys(n);
    for (auto& k : keys) k = key_number<u32>(random() % 500);
    const array<u32> k(keys);
    const bool inserts = random() % 2 == 0;
    const auto result = reported(
        n,
        [&](const auto& with) {
          if (inserts) return lanewise::insert(exec, set, k.view(), std::nullopt, with);
          lanewise::erase(exec, set, k.view(), with);
        },
        lanewise::table_options{});
    for (std::size_t j = 0; j < n; ++j) {
      if (inserts) {
        REQUIRE(result.status[j] ==
                (model.insert(keys[j]).second ? table_status::inserted : table_status::present));
      } else {
        REQUIRE(result.status[j] ==
                (model.erase(keys[j]) > 0 ? table_status::erased : table_status::absent));
      }
    }
    const auto size = static_cast<std::int64_t>(model.size());
    const array<u32> out(size, 0u), next(static_cast<std::int64_t>(n), 3u);
    REQUIRE(lanewise::to_sorted(exec, set, out.view()) == size);
    REQUIRE((out.items() == std::vector<u32>(model.begin(), model.end())));
    const auto found = reported(
        n, [&](const auto& with) { lanewise::find(exec, set, k.view(), std::nullopt, with); },
        lanewise::table_options{});
    lanewise::strict_successor(exec, set, k.view(), next.view());
    const auto above = next.items();
    for (std::size_t j = 0; j < n; ++j) {
      const auto at = model.upper_bound(keys[j]);
      REQUIRE(above[j] == (at == model.end() ? 3u : *at));
      REQUIRE((found.status[j] == table_status::found) == (model.count(keys[j]) > 0));
    }
    const cell<u32> sum;
    lanewise::for_each(exec, set, count_visits{sum.data()});
    u32 expected = 0, place = 0;
    for (const u32 x : model) expected += ++place * x;
    REQUIRE(sum.get() == expected);
  }
  lanewise::ordered_set<u32, memory> built;
  const std::vector<u32> keys = {4, 2, 4, 1};
  lanewise::build(exec, built, array<u32>(keys).view());
  CHECK(built.size() == 3);
  const array<u32> popped(2, 0u);
  CHECK(lanewise::pop_first(exec, built, 2, popped.view()) == 2);
  CHECK((popped.items() == std::vector<u32>{1, 2}));
  CHECK(lanewise::last(exec, built)->key == 4);
}

}  // namespace
