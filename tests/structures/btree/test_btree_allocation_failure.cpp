// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// clang-format off: before the library, which allocates by the names that it replaces
#include <support/failing_allocations.hpp>
// clang-format on

#include <lanewise/btree/btree_map.hpp>

#include <numeric>
#include <structures/ordered/check_ordered.hpp>

// Every allocation of a call that makes or changes a B+ tree fails once: nothing is lost, and the
// tree serves the next call. Small ones do not fail, as in test_slab_allocation_failure.cpp.

namespace {

using namespace test;
using u32 = std::uint32_t;
using tree_type = lanewise::btree_map<u32, u32, memory>;

/// Calls change(tree) on a tree of the map with its first, second, ... allocation failing until
/// none does, and then check(tree, whether it failed). Returns how many did.
template <class Map, class Change, class Check>
long failing_tree_allocations(const Map& map, const Change& change, const Check& check) {
  const auto exec = make_space();
  {  // what is allocated once and for all
    tree_type tree;
    lanewise::build(exec, tree, map);
    change(exec, tree);
    check(tree, false);
  }
  for (long failing = 0;; failing = next_failing(failing)) {
    REQUIRE(failing < 1000);
    const long there = outstanding;
    {
      tree_type tree;
      lanewise::build(exec, tree, map);
      bool failed = false;
      least_counted = 64;
      fails_for_good = false;
      until_failure = failing;
      try {
        change(exec, tree);
      } catch (const std::exception&) {
        failed = true;
      }
      const bool reached = until_failure < 0;
      until_failure = -1;
      exec.fence();
      CHECK((reached || !failed));
      check(tree, failed);
      if (!reached) return failing;
    }
    CHECK(outstanding == there);
  }
}

TEST_CASE("btree_map: each allocation fails once", "[ordered][btree]") {
  const auto exec = make_space();
  std::vector<u32> keys(3000), few(400), many(2000);
  std::iota(keys.begin(), keys.end(), 5u);
  std::iota(few.begin(), few.end(), 9000u);
  std::iota(many.begin(), many.end(), 9000u);
  const array<u32> k(keys), f(few), m(many);
  lanewise::ordered_map<u32, u32, memory> map;
  lanewise::insert(exec, map, k.view(), k.view());
  // Ascending keys use up the nodes to spare, so that the tree is rebuilt with some items in it.
  for (const auto* const more : {&f, &m}) {
    const auto insert = [&](const auto& e, auto& t) {
      lanewise::insert(e, t, more->view(), more->view());
    };
    const std::int64_t n = map.size() + more->view().extent_int(0);
    CHECK(failing_tree_allocations(map, insert, [&](auto& tree, bool failed) {
            const std::int64_t there = lanewise::size(exec, tree);
            CHECK((there >= map.size() && there <= n && (failed || there == n)));
            insert(exec, tree);
            CHECK(lanewise::size(exec, tree) == n);
          }) > 0);
  }
  // The items of `crowd`, after the last leaf, are merged with it at once.
  std::vector<u32> first(33'000), crowd(8200);
  std::iota(first.begin(), first.end(), 5u);
  std::iota(crowd.begin(), crowd.end(), 90'000u);
  const array<u32> b(first), c(crowd);
  lanewise::ordered_map<u32, u32, memory> large;
  lanewise::insert(exec, large, b.view(), b.view());
  const auto insert = [&](const auto& e, auto& t) { lanewise::insert(e, t, c.view(), c.view()); };
  const std::int64_t n = large.size() + c.view().extent_int(0);
  CHECK(failing_tree_allocations(large, insert, [&](auto& tree, bool failed) {
          const std::int64_t there = lanewise::size(exec, tree);
          CHECK((there >= large.size() && there <= n && (failed || there == n)));
          insert(exec, tree);
          CHECK(lanewise::size(exec, tree) == n);
        }) > 5);
  const auto is_as_before = [&](auto& tree, bool) {
    CHECK(lanewise::size(exec, tree) == map.size());
  };
  CHECK(failing_tree_allocations(
            map, [](const auto& e, auto& t) { lanewise::compact(e, t, 100); }, is_as_before) > 1);
  CHECK(failing_tree_allocations(
            map, [](const auto& e, auto& t) { (void)lanewise::to_ordered(e, t); }, is_as_before) >
        1);
}

}  // namespace
