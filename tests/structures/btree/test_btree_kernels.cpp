// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/btree/btree_map.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <structures/ordered/check_ordered.hpp>

// B+ trees that kernels read and change at the same time.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

using tree_u32 = btree_map<std::uint32_t, std::uint32_t, test::memory>;

struct add_given {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t there, std::uint32_t given) const {
    return there + given;
  }
};

/// Key numbers, scattered over a range where every 64th key is a fixed one.
struct key_of_number {
  std::uint32_t n, order;
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t i) const {
    // Ascending, descending, or by a step that is prime to n.
    const std::uint32_t at = order == 0   ? i
                             : order == 1 ? n - 1 - i
                                          : static_cast<std::uint32_t>(i * 2654435761ull % n);
    return at / 63 * 64 + 1 + at % 63;
  }
};

/// A lane has a key of its own. It puts the key into the tree, changes it, takes it away, and, for
/// two of three, puts it there again. All other lanes do the same: whatever they do, it must find
/// what it left. Then it walks from its key to the next fixed one, and back to the one before.
struct live_with_a_key {
  using policy = two_warps;
  template <class Team>
  struct scratch {};

  tree_u32::view_type tree;
  key_of_number key_of;
  std::uint32_t* wrong;  // of each number: what went wrong, as bits

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = typename warp_type::template lanes<std::uint32_t>;
    const auto warp = team.warp();
    each_number(team, key_of.n, [&](auto number, auto active, std::uint32_t) {
      const auto key = warp.map(key_of, number);
      numbers bad(0u), value = number;
      const auto expect = [&](const auto& status, table_status wanted, const auto& mask, int bit) {
        const auto came =
            warp.map([](table_status s) { return static_cast<std::uint32_t>(s); }, status);
        bad = select(mask & !(came == numbers(static_cast<std::uint32_t>(wanted))),
                     bad | numbers(1u << bit), bad);
      };
      expect(tree.find(warp, active, key, value), table_status::absent, active, 0);
      expect(tree.insert(warp, active, key, value), table_status::inserted, active, 1);
      numbers other(7u);
      expect(tree.insert(warp, active, key, other), table_status::present, active, 2);
      bad = select(active & !(other == number), bad | numbers(8u), bad);
      other = numbers(5u);
      expect(tree.upsert(warp, active, key, other, add_given{}), table_status::updated, active, 4);
      other = numbers(0u);
      expect(tree.erase(warp, active, key, other), table_status::erased, active, 5);
      bad = select(active & !(other == number + numbers(5u)), bad | numbers(1u << 6), bad);
      expect(tree.find(warp, active, key, other), table_status::absent, active, 7);
      const auto again = active & !(warp.map([](std::uint32_t i) { return i % 3; }, number) == 0u);
      expect(tree.assign(warp, again, key, value), table_status::inserted, again, 8);
      expect(tree.find(warp, again, key, other), table_status::found, again, 9);
      bad = select(again & !(other == number), bad | numbers(1u << 10), bad);
      numbers at = key, found = key;
      for (auto walks = active; warp.any(walks);) {
        expect(tree.strict_successor(warp, walks, at, found, other), table_status::found, walks,
               11);
        bad = select(walks & !(at < found), bad | numbers(1u << 12), bad);
        // No fixed key is passed by.
        const auto fixed = warp.map([](std::uint32_t k) { return (k + 63) / 64 * 64; }, key);
        bad = select(walks & !(found <= fixed), bad | numbers(1u << 13), bad);
        at = select(walks, found, at);
        walks = walks & (at < fixed);
      }
      for (auto walks = active; warp.any(walks);) {
        expect(tree.strict_predecessor(warp, walks, at, found, other), table_status::found, walks,
               14);
        const auto fixed = warp.map([](std::uint32_t k) { return (k - 1) / 64 * 64; }, key);
        bad = select(walks & !(fixed <= found), bad | numbers(1u << 15), bad);
        bad = select(walks & !(found < at), bad | numbers(1u << 16), bad);
        at = select(walks, found, at);
        walks = walks & (fixed < at);
      }
      // All fixed keys near, in order.
      numbers sum(0u);
      const auto first = warp.map([](std::uint32_t k) { return (k - 1) / 64 * 64; }, key);
      tree.for_each(warp, active, first, first + numbers(64u), sum,
                    [](std::uint32_t k, std::uint32_t, std::uint32_t& s) { s += k % 64 == 0; });
      bad = select(active & !(sum == numbers(2u)), bad | numbers(1u << 17), bad);
      warp.scatter(active, wrong, number, bad);
    });
  }
};

/// Single threads meet at a few keys: each key is put there by one, and counts all.
struct meet_at_keys {
  tree_u32::view_type tree;
  std::uint32_t keys;
  std::uint32_t* won;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const table_scalar_face_t<test::space, tree_u32> face(tree);
    const auto key = static_cast<std::uint32_t>(i) % keys;
    std::uint32_t value = 1;
    won[i] = face.upsert(key, value, add_given{}) == table_status::inserted;
    std::uint32_t found = 0, there = 0, sum = 0;
    if (face.find(key, there) != table_status::found || there == 0) won[i] = 99;
    if (face.successor(key, found, there) != table_status::found || found != key) won[i] = 98;
    if (face.predecessor(key, found, there) != table_status::found || found != key) won[i] = 97;
    face.for_each(key, key, [&sum](std::uint32_t k, std::uint32_t) { sum += k + 1; });
    if (sum != key + 1) won[i] = 96;
    std::uint32_t mine = 5;
    const std::uint32_t own = keys + static_cast<std::uint32_t>(i);
    if (face.insert(own, mine) != table_status::inserted) won[i] = 95;
    if (face.assign(own, mine) != table_status::updated) won[i] = 94;
    if (face.erase(own, mine) != table_status::erased || mine != 5) won[i] = 93;
  }
};

/// A thread for each of some keys in order, but for the last, walks to the next one and back.
struct walk_to_neighbours {
  tree_u32::view_type tree;
  const std::uint32_t* keys;
  std::uint32_t* wrong;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const table_scalar_face_t<test::space, tree_u32> face(tree);
    const std::uint32_t key = keys[i], next = keys[i + 1];
    std::uint32_t found = 0, value = 0, sum = 0;
    wrong[i] = face.find(key, value) != table_status::found || value != key ||
               face.successor(key, found, value) != table_status::found || found != key ||
               face.strict_successor(key, found, value) != table_status::found || found != next ||
               face.strict_predecessor(next, found, value) != table_status::found || found != key;
    face.for_each(key, next, [&sum](std::uint32_t k, std::uint32_t) { sum += k; });
    if (sum != key + next) wrong[i] += 2;
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using lanewise::test_kernels::tree_u32;

/// f(i) for i below n, by threads of the space.
template <class Exec, class F>
void for_numbers(const Exec& exec, u32 n, const F& f) {
  if constexpr (Kokkos::is_execution_space_v<Exec>) {
    Kokkos::parallel_for("meet", Kokkos::RangePolicy<Exec>(exec, 0, n), f);
  } else {
    for (u32 i = 0; i < n; ++i) f(i);
  }
}

TEST_CASE("btree_map: lanes live with keys of their own", "[ordered][btree][sanitize]") {
  const auto exec = make_space();
  for (const u32 n : {1u, 63u, 64u, 200u, is_emulated ? 400u : 60'000u}) {
    for (u32 order = 0; order < 3; ++order) {
      // Every key at a multiple of 64 stays.
      std::map<u32, u32> model;
      for (u32 k = 0; k <= (n - 1) / 63 * 64 + 64; k += 64) model[k] = k;
      std::vector<u32> fixed;
      for (const auto& [k, v] : model) fixed.push_back(k);
      tree_u32 tree;
      lanewise::insert(exec, tree, array<u32>(fixed).view(), array<u32>(fixed).view());
      lanewise::reserve(exec, tree, 2 * n);
      const array<u32> wrong(n, 0u);
      const lanewise::test_kernels::key_of_number key_of{n, order};
      lanewise::launch(exec, "live_with_a_key", is_emulated ? 2 : 64,
                       lanewise::test_kernels::live_with_a_key{tree.view(), key_of, wrong.data()});
      exec.fence();
      const auto came = wrong.items();
      for (u32 i = 0; i < n; ++i) {
        REQUIRE(came[i] == 0);
        if (i % 3 != 0) model[key_of(i)] = i;
      }
      check_ordered_contents(exec, lanewise::to_ordered(exec, tree), {model.begin(), model.end()});
    }
  }
}

TEST_CASE("btree_map: threads meet at keys", "[ordered][btree][sanitize]") {
  const auto exec = make_space();
  for (const u32 keys : {1u, 5u, 100u}) {
    const u32 n = is_emulated ? 300 : 20'000;
    tree_u32 tree;
    lanewise::reserve(exec, tree, 2 * n);
    const array<u32> won(n, 0u);
    const lanewise::test_kernels::meet_at_keys meet{tree.view(), keys, won.data()};
    for_numbers(exec, n, meet);
    exec.fence();
    u32 winners = 0;
    for (const u32 w : won.items()) {
      REQUIRE(w <= 1);
      winners += w;
    }
    CHECK(winners == keys);
    std::map<u32, u32> model;
    for (u32 i = 0; i < n; ++i) ++model[i % keys];
    check_ordered_contents(exec, lanewise::to_ordered(exec, tree), {model.begin(), model.end()});
  }
}

TEST_CASE("btree_map: threads walk where a batch was merged with few leaves", "[ordered][btree]") {
  const auto exec = make_space();
  constexpr u32 n = 40'000, more = 9000;
  std::vector<u32> keys, batch;
  for (u32 i = 0; i < n; ++i) keys.push_back(i < n / 2 ? 2 * i : 2 * i + n);
  for (u32 i = 0; i < more; ++i) batch.push_back(n + 2 * i);
  tree_u32 tree;
  lanewise::insert(exec, tree, array<u32>(keys).view(), array<u32>(keys).view());
  lanewise::insert(exec, tree, array<u32>(batch).view(), array<u32>(batch).view());
  keys.insert(keys.end(), batch.begin(), batch.end());
  std::sort(keys.begin(), keys.end());
  const array<u32> all(keys), wrong(n + more - 1, 9u);
  const lanewise::test_kernels::walk_to_neighbours walk{tree.view(), all.data(), wrong.data()};
  for_numbers(exec, n + more - 1, walk);
  exec.fence();
  CHECK((wrong.items() == std::vector<u32>(n + more - 1, 0u)));
}

TEST_CASE("btree_map: where there is no room nothing is lost", "[ordered][btree]") {
  const auto exec = make_space();
  auto random = make_random(3);
  for (const std::int64_t n : {300, is_emulated ? 600 : 5000}) {
    tree_u32 tree;
    lanewise::reserve(exec, tree, 10);
    std::vector<u32> keys;
    for (std::int64_t i = 0; i < n; ++i) keys.push_back(static_cast<u32>(i * 7919 % 100'003));
    std::shuffle(keys.begin(), keys.end(), random);
    const array<u32> k(keys);
    const array<table_status> status(n, table_status::none);
    lanewise::insert(exec, tree, k.view(), k.view(), {.status = status.view(), .grow = false});
    exec.fence();
    std::map<u32, u32> model;
    const auto came = status.items();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      REQUIRE((came[i] == table_status::inserted || came[i] == table_status::no_room));
      if (came[i] == table_status::inserted) model[keys[i]] = keys[i];
    }
    CHECK((model.size() >= 10 && model.size() < keys.size()));
    check_ordered_contents(exec, lanewise::to_ordered(exec, tree), {model.begin(), model.end()});
    // Who may grow takes them all.
    lanewise::insert(exec, tree, k.view(), k.view());
    CHECK(lanewise::size(exec, tree) == n);
  }
}

TEST_CASE("btree_map: bad arguments", "[ordered][btree]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  tree_u32 tree;
  const array<u32> three(3, 0u), two(2, 0u);
  CHECK_THROWS_WITH(lanewise::insert(exec, tree, three.view(), two.view()),
                    ContainsSubstring("insert: values has 2 items, keys has 3"));
  CHECK_THROWS_WITH(lanewise::insert(exec, tree, two.view(), two.view(), {.grow = false}),
                    ContainsSubstring("insert: the tree has no memory"));
  CHECK_THROWS_WITH(lanewise::reserve(exec, tree, -1),
                    ContainsSubstring("reserve: insertions is -1"));
  for (const std::int64_t n : {std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()}) {
    CHECK_THROWS_WITH(
        lanewise::reserve(exec, tree, n),
        ContainsSubstring("reserve: insertions is " + std::to_string(n) + ", the most is"));
    CHECK_THROWS_WITH(
        lanewise::compact(exec, tree, n),
        ContainsSubstring("compact: insertions is " + std::to_string(n) + ", the most is"));
  }
  const array<table_status> status(2, table_status::none);
  CHECK_THROWS_WITH(
      lanewise::find(exec, tree, three.view(), three.view(), {.status = status.view()}),
      ContainsSubstring("find: options.status has 2 places, there are 3 items"));
  CHECK(lanewise::size(exec, tree) == 0);
  lanewise::find(exec, tree, two.view(), two.view(), {.status = status.view()});
  lanewise::erase(exec, tree, two.view());
  exec.fence();
  CHECK((status.items() == std::vector<table_status>(2, table_status::absent)));
  CHECK(lanewise::to_ordered(exec, tree).size() == 0);
  lanewise::compact(exec, tree);
  lanewise::clear(exec, tree);
  CHECK(tree.bytes() == 0);
}

}  // namespace
