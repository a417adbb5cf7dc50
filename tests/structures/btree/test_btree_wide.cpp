// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <structures/btree/btree_histories.hpp>

// B+ trees with words of 8 bytes, and, with --full, of two lines for a node.

namespace {

using namespace test;

TEST_CASE("btree_map: wide keys", "[ordered][btree]") {
  check_tree_histories<std::uint64_t, std::uint32_t>(is_emulated ? 40 : 300, 3);
}

TEST_CASE("btree_set: signed and floating-point keys in order", "[ordered][btree]") {
  const auto exec = make_space();
  lanewise::btree_set<double, memory> tree;
  const double infinity = std::numeric_limits<double>::infinity();
  const array<double> keys(std::vector<double>{1.5, -0.0, 0.0, infinity, -infinity, -2.5, 1.5});
  lanewise::insert(exec, tree, keys.view());
  lanewise::erase(exec, tree, array<double>(std::vector<double>{-2.5, 7.0}).view());
  const array<double> out(5, 7.0);
  CHECK(lanewise::to_sorted(exec, lanewise::to_ordered(exec, tree), out.view()) == 5);
  exec.fence();
  CHECK((out.items() == std::vector<double>{-infinity, -0.0, 0.0, 1.5, infinity}));
}

#if !defined(LANEWISE_TEST_FEW_TYPES)
TEST_CASE("btree_map: nodes of two lines", "[ordered][btree]") {
  check_tree_histories<std::uint32_t, std::uint32_t, 256>(300, 4);
  check_tree_histories<std::int64_t, std::uint64_t, 256>(300, 5);
}
#endif

}  // namespace
