// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/ordered/ordered_map.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <structures/ordered/ordered_histories.hpp>

// Ordered maps against std::map.

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST_CASE("ordered_map: random histories of batches", "[ordered][sanitize]") {
  check_histories<u32, u32>(150, 1);
  check_histories<u32, u32>(3000, 2);
}
TEST_CASE("ordered_map: sizes around leaves, in every order", "[ordered]") {
  auto random = make_random(5);
  std::vector<std::size_t> sizes = {0, 1, 2, 15, 16, 17, 31, 32, 33, 256, 257, 273};
  if (!is_emulated) sizes.insert(sizes.end(), {4097, 70'001});
  for (const std::size_t n : sizes) {
    for (int order = 0; order < 4; ++order) {
      ordered_pair_of_maps<u32, u32> maps(random);
      ordered_pair_of_maps<u32, u32>::items given;
      for (std::size_t i = 0; i < n; ++i) {
        const auto k = static_cast<u32>(order == 0   ? 2 * i
                                        : order == 1 ? ~u32{0} - i
                                        : order == 2 ? 77
                                                     : random());
        given.emplace_back(k, static_cast<u32>(i));
      }
      maps.insert(given);
      maps.check();
      maps.upsert(given, add_up{});
      maps.check();
      // All keys in the range of one leaf.
      ordered_pair_of_maps<u32, u32>::items between;
      for (u32 i = 0; i < 100; ++i) between.emplace_back(1'000'000 + 2 * i + 1, i);
      maps.insert(between);
      maps.check();
      maps.erase(given);
      maps.check();
      maps.insert(given);
      maps.check();
      maps.erase_range(0, ~u32{0});
      CHECK(maps.table().size() == 0);
      maps.insert(given);
      maps.check();
    }
  }
}

TEST_CASE("ordered_map: building", "[ordered]") {
  const auto exec = make_space();
  auto random = make_random(6);
  using map = lanewise::ordered_map<u32, u32, memory>;
  using Catch::Matchers::ContainsSubstring;
  for (const std::size_t n : {0, 1, 16, 17, 1000, is_emulated ? 3000 : 50'000}) {
    std::vector<u32> keys, values;
    std::map<u32, u32> first, last;
    for (std::size_t i = 0; i < n; ++i) {
      keys.push_back(static_cast<u32>(random() % (n + 7)));
      values.push_back(static_cast<u32>(random()));
      first.emplace(keys.back(), values.back());
      last[keys.back()] = values.back();
    }
    const array<u32> k(keys), v(values);
    map built;
    lanewise::build(exec, built, k.const_view(), v.const_view());
    check_ordered_contents(exec, built, {first.begin(), first.end()});
    lanewise::build(exec, built, k.view(), v.view(),
                    {.duplicates = lanewise::ordered_duplicates::last});
    check_ordered_contents(exec, built, {last.begin(), last.end()});
    if (first.size() < n) {
      CHECK_THROWS_WITH(lanewise::build(exec, built, k.view(), v.view(),
                                        {.duplicates = lanewise::ordered_duplicates::refused}),
                        ContainsSubstring("build: keys has " + std::to_string(n) +
                                          " items, of which " + std::to_string(first.size())));
      check_ordered_contents(exec, built, {last.begin(), last.end()});
    }
    keys.clear();
    values.clear();
    for (const auto& [x, y] : last) {
      keys.push_back(x);
      values.push_back(y);
    }
    map sorted;
    lanewise::build_sorted(exec, sorted, array<u32>(keys).view(), array<u32>(values).view());
    check_ordered_contents(exec, sorted, {last.begin(), last.end()});
    if (keys.size() > 20) {
      keys[20] = keys[19];
      CHECK_THROWS_WITH(
          lanewise::build_sorted(exec, sorted, array<u32>(keys).view(), array<u32>(values).view()),
          ContainsSubstring("build_sorted: keys(20) is not greater than keys(19)"));
      // Unchecked, nothing but results may suffer.
      std::shuffle(keys.begin(), keys.end(), random);
      lanewise::build_sorted(exec, sorted, array<u32>(keys).view(), array<u32>(values).view(),
                             {.checked = false});
      const array<u32> found(static_cast<std::int64_t>(keys.size()), 0u);
      lanewise::find(exec, sorted, array<u32>(keys).view(), found.view());
      lanewise::erase(exec, sorted, array<u32>(keys).view());
      CHECK(found.guards_intact());
    }
    const auto s = lanewise::statistics(built);
    CHECK(s.elements == static_cast<std::int64_t>(last.size()));
    CHECK(s.leaves == (s.elements + 15) / 16);
    if (s.elements > 1000) CHECK(s.bytes_per_element < 8.4);
  }
}

TEST_CASE("ordered_map: the thesis's tree and the author's vectors", "[ordered]") {
  auto random = make_random(7);
  for (const std::vector<u32>& keys :
       {std::vector<u32>{1, 3, 5, 6, 7, 8, 9, 12}, std::vector<u32>{3, 1, 6, 5},
        std::vector<u32>{6, 3, 1, 5, 7, 4, 0}, std::vector<u32>{7, 0, 3, 5, 7, 4, 0},
        std::vector<u32>{253, 13, 251, 15}, std::vector<u32>{182, 41, 46, 59},
        std::vector<u32>{950, 16311, 16169}, std::vector<u32>{}, std::vector<u32>{2},
        std::vector<u32>{2, 3}, std::vector<u32>{2, 13, 251, 190, 15}, std::vector<u32>{0, 1, 8},
        std::vector<u32>{0, ~u32{0}}, std::vector<u32>{8, 9}}) {
    ordered_pair_of_maps<u32, u32> maps(random);
    for (const u32 k : keys) {
      maps.insert({{k, k + 1}});
      maps.check();
    }
  }
  const auto exec = make_space();
  lanewise::ordered_map<u32, u32, memory> map;
  const array<u32> keys(std::vector<u32>{1, 3, 5, 6, 7, 8, 9, 12});
  lanewise::build_sorted(exec, map, keys.view(), keys.view());
  const array<u32> queries(std::vector<u32>{4, 11, 0, 10, 13});
  const array<u32> found(5, 99u), values(5, 99u);
  lanewise::predecessor(exec, map, queries.view(), found.view(), values.view());
  CHECK((found.items() == std::vector<u32>{3, 9, 99, 9, 12}));
  CHECK(found.items() == values.items());
  const array<u32> above(5, 99u);
  lanewise::successor(exec, map, queries.view(), above.view());
  CHECK((above.items() == std::vector<u32>{5, 12, 1, 12, 99}));
}

TEST_CASE("ordered_map: a copy is a snapshot", "[ordered]") {
  const auto exec = make_space();
  const std::vector<u32> some = {5, 1, 9, 3}, others = {2, 5, 7};
  lanewise::ordered_map<u32, u32, memory> map;
  lanewise::insert(exec, map, array<u32>(some).view(), array<u32>(some).view());
  const auto before = map;
  lanewise::erase(exec, map, array<u32>(others).view());
  lanewise::insert(exec, map, array<u32>(others).view(), array<u32>(others).view());
  check_ordered_contents(exec, before, {{1, 1}, {3, 3}, {5, 5}, {9, 9}});
  check_ordered_contents(exec, map, {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {9, 9}});
  const auto on_host = map.template copy_to<Kokkos::HostSpace>(exec);
  CHECK(on_host.size() == 6);
#if defined(LANEWISE_TEST_SPACE_CUDA)
  const auto back = on_host.template copy_to<memory>(exec);
  check_ordered_contents(exec, back, {{1, 1}, {2, 2}, {3, 3}, {5, 5}, {7, 7}, {9, 9}});
#endif
  lanewise::clear(exec, map);
  check_ordered_contents(exec, map, {});
  CHECK(!lanewise::first(exec, map).has_value());
}

TEST_CASE("ordered_map: errors of callers", "[ordered]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  lanewise::ordered_map<u32, u32, memory> map;
  const array<u32> three(std::vector<u32>{1, 2, 3}), two(std::vector<u32>{1, 2});
  const array<table_status> status(2, table_status::none);
  CHECK_THROWS_WITH(lanewise::insert(exec, map, three.view(), two.view()),
                    ContainsSubstring("insert: values has 2 items, keys has 3"));
  CHECK_THROWS_WITH(
      lanewise::insert(exec, map, three.view(), three.view(), {.status = status.view()}),
      ContainsSubstring("insert: options.status has 2 places, there are 3"));
  CHECK_THROWS_WITH(lanewise::find(exec, map, three.view(), two.view()),
                    ContainsSubstring("find: values has 2 items, keys has 3"));
  CHECK_THROWS_WITH(lanewise::pop_first(exec, map, -1, two.view()),
                    ContainsSubstring("pop_first: k is -1"));
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nowhere(nullptr, 3);
  CHECK_THROWS_WITH(lanewise::erase(exec, map, nowhere), ContainsSubstring("erase: keys"));
  CHECK(map.size() == 0);
}

}  // namespace
