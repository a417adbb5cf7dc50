// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <numeric>
#include <structures/btree/btree_histories.hpp>

// B+ trees that are changed in place, against std::map. Kernels: test_btree_kernels.cpp.

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST_CASE("btree_map: random histories of batches", "[ordered][btree][sanitize]") {
  check_tree_histories<u32, u32>(is_emulated ? 60 : 400, 1);
}

TEST_CASE("btree_map: sizes around nodes, in every order", "[ordered][btree]") {
  auto random = make_random(2);
  for (const std::size_t n :
       {0, 1, 2, 11, 12, 13, 15, 16, 17, 144, 200, is_emulated ? 500 : 5000}) {
    for (int order = 0; order < 3; ++order) {
      tree_and_model<u32, u32> trees(random);
      typename tree_and_model<u32, u32>::items given;
      for (std::size_t i = 0; i < n; ++i) {
        const auto k = order == 0 ? i : order == 1 ? ~u64{0} - i : i * 2654435769u;
        given.emplace_back(static_cast<u32>(k), static_cast<u32>(i));
      }
      // Item by item they are put into subtrees that grow, all together they are merged.
      lanewise::reserve(make_space(), trees.tree(), static_cast<std::int64_t>(n));
      for (std::size_t i = 0; i < n; i += 1 + i / 2)
        trees.change(table_operation::insert,
                     {given.begin() + static_cast<std::ptrdiff_t>(i),
                      given.begin() + static_cast<std::ptrdiff_t>(std::min(n, 2 * i + 1))});
      trees.check_contents();
      trees.change(table_operation::find, given);
      trees.change(table_operation::insert, given);
      trees.change(table_operation::combine, given);
      trees.check_contents();
      trees.change(table_operation::erase, given);
      trees.check_contents();
      CHECK(trees.model().empty());
      trees.change(table_operation::assign, given);
      trees.check_contents();
    }
  }
}

/// Batches that meet in few leaves, which are merged with them at once: where their keys lie, in
/// numbers of the batch's items.
struct crowd_order {
  const char* name;
  u32 (*key)(u32 i, u32 n);
  bool is_merged = true;
};
constexpr u32 first_key = 1u << 30, key_gap = 1u << 11;
constexpr crowd_order crowd_orders[] = {
    {"appended", [](u32 i, u32) { return 3u << 30 | i; }},
    {"in front, descending", [](u32 i, u32) { return first_key - 1 - i; }},
    {"some gaps, shuffled",
     [](u32 i, u32 n) {
       const u32 x = i * 40507u % n;  // a permutation: 40507 is prime to n
       return first_key + x / 1500 * 64 * key_gap + 1 + x % 1500;
     }},
    {"many in every leaf", [](u32 i, u32) { return first_key + i / 8 * key_gap * 5 + 1 + i % 8; }},
    {"some in every leaf", [](u32 i, u32) { return first_key + i / 4 * key_gap * 5 + 1 + i % 4; },
     false},
    {"a few in every leaf", [](u32 i, u32) { return first_key + i * key_gap * 5 + 1; }, false},
    {"appended, between few in every leaf",
     [](u32 i, u32 n) {
       return i / 20 % 2 == 0 ? first_key + i * key_gap * 5 + 1 : 3u << 30 | (n - i);
     },
     false},
};

TEST_CASE("btree_map: batches that meet in few leaves", "[ordered][btree]") {
  auto random = make_random(5);
  using items = tree_and_model<u32, u32>::items;
  constexpr u32 n = 12000, elements = 60000;
  for (const auto& order : crowd_orders) {
    CAPTURE(order.name);
    tree_and_model<u32, u32> trees(random);
    items first, batch;
    for (u32 i = 0; i < elements; ++i) first.emplace_back(first_key + i * key_gap, i);
    for (u32 i = 0; i < n; ++i) batch.emplace_back(order.key(i, n), i);
    trees.change(table_operation::insert, first);
    trees.change(table_operation::insert, batch);
    const auto s = lanewise::statistics(make_space(), trees.tree());
    if (order.is_merged) {
      CHECK(s.nodes - s.roots < 10);
      CHECK(s.fill > 0.75);
    }
    trees.check_contents();
    trees.change(table_operation::find, batch);
    // Half of the keys are there, then all.
    for (std::size_t i = 0; i < batch.size(); i += 2) batch[i].first ^= 1u << 22;
    trees.change(table_operation::combine, batch);
    trees.change(table_operation::find, first);
    trees.apply(batch);
    trees.change(table_operation::erase, batch);
    trees.change(table_operation::assign, batch);
    trees.check_contents();
  }
}

TEST_CASE("btree_map: equal keys of a batch that meet in few leaves", "[ordered][btree]") {
  const auto exec = make_space();
  constexpr u32 n = 40000, more = 9000, each = 30;
  std::vector<u32> keys(n), equal(more);
  std::iota(keys.begin(), keys.end(), 1u);
  for (u32 i = 0; i < more; ++i) equal[i] = 1'000'000 + i / each;
  const array<u32> k(keys), e(equal), ones(more, 1u), out(more, 0u);
  tree_and_model<u32, u32>::tree_type tree;
  lanewise::insert(exec, tree, k.view(), k.view());
  const Kokkos::View<lanewise::status_counts, memory> tally("tally");
  lanewise::upsert(exec, tree, e.view(), ones.view(), sum_up{}, {.tally = tally});
  lanewise::find(exec, tree, e.view(), out.view());
  exec.fence();
  CHECK(lanewise::size(exec, tree) == n + more / each);
  CHECK((out.items() == std::vector<u32>(more, each)));
  lanewise::status_counts counted;
  Kokkos::deep_copy(Kokkos::View<lanewise::status_counts, Kokkos::HostSpace>(&counted), tally);
  CHECK(counted.count[static_cast<int>(table_status::inserted)] == more / each);
  CHECK(counted.count[static_cast<int>(table_status::updated)] == more - more / each);
  CHECK(counted.count[static_cast<int>(table_status::no_room)] == 0);
}

TEST_CASE("btree_map: merged batches without statuses", "[ordered][btree]") {
  const auto exec = make_space();
  constexpr u32 n = 40000, more = 9000, each = 3;
  std::vector<u32> keys(n), again(more), values(more);
  std::iota(keys.begin(), keys.end(), 1u);
  for (u32 i = 0; i < more; ++i) {
    again[i] = 1'000'000 + i / each;
    values[i] = 7 * i + 1;
  }
  const array<u32> k(keys), a(again), v(values), out(more, 0u);
  tree_and_model<u32, u32>::tree_type tree;
  lanewise::insert(exec, tree, k.view(), k.view());
  lanewise::assign(exec, tree, a.view(), v.view());
  lanewise::find(exec, tree, a.view(), out.view());
  exec.fence();
  CHECK(lanewise::size(exec, tree) == n + more / each);
  // The value of any item with the key.
  const auto found = out.items();
  std::size_t wrong = 0;
  for (u32 i = 0; i < more; ++i) wrong += found[i] % 7 != 1 || found[i] / 7 / each != i / each;
  CHECK(wrong == 0);
}

/// Ascending numbers with gaps: numbers that leave 2 by division by 3 are not there.
struct number_with_gaps {
  std::int64_t first;
  u32 missing;
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const {
    const std::int64_t at = first + i;
    return static_cast<u32>(missing != 0 ? 3 * at + 2 : at + at / 2);
  }
};
struct is_not_its_key {
  const u32* values;
  number_with_gaps key;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const { return values[i] != key(i); }
};

TEST_CASE("Ordered maps and B+ trees of more than 2^31 elements", "[.large]") {
  using view = Kokkos::View<u32*, memory>;
  const auto exec = make_space();
  constexpr std::int64_t n = (std::int64_t{1} << 31) + 1000, some = 1 << 20;
  const auto part = [&](std::int64_t first, std::int64_t many, u32 missing) {
    const view keys(Kokkos::view_alloc("keys", Kokkos::WithoutInitializing), many);
    lanewise::transform(exec, lanewise::generated(many, number_with_gaps{first, missing}), keys,
                        lanewise::identity{});
    return keys;
  };
  lanewise::ordered_map<u32, u32, memory> map;
  {
    const view keys = part(0, n, 0);
    lanewise::build_sorted(exec, map, keys, keys);
  }
  const auto check = [&](const auto& table) {
    for (const u32 missing : {0u, 1u}) {
      const std::int64_t first = missing != 0 ? n / 2 - some : n - some;
      const view keys = part(first, some, missing), found("found", some);
      lanewise::find(exec, table, keys, found);
      exec.fence();
      CHECK(lanewise::reduce(
                exec, lanewise::generated(some, is_not_its_key{found.data(), {first, missing}}),
                lanewise::plus{}, std::int64_t{0}) == 0);
    }
  };
  const view more = part(n / 2 - some, some, 1);
  lanewise::insert(exec, map, more, more);
  CHECK(map.size() == n + some);
  check(map);
  lanewise::erase(exec, map, more);
  tree_and_model<u32, u32>::tree_type tree;
  lanewise::build(exec, tree, map, some);
  lanewise::clear(exec, map);
  lanewise::insert(exec, tree, more, more);
  check(tree);
  CHECK(lanewise::size(exec, tree) == n + some);
  CHECK(lanewise::to_ordered(exec, tree).size() == n + some);
}

}  // namespace
