// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <structures/btree_histories.hpp>

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
        trees.change(slab_operation::insert,
                     {given.begin() + static_cast<std::ptrdiff_t>(i),
                      given.begin() + static_cast<std::ptrdiff_t>(std::min(n, 2 * i + 1))});
      trees.check_contents();
      trees.change(slab_operation::find, given);
      trees.change(slab_operation::insert, given);
      trees.change(slab_operation::combine, given);
      trees.check_contents();
      trees.change(slab_operation::erase, given);
      trees.check_contents();
      CHECK(trees.model().empty());
      trees.change(slab_operation::assign, given);
      trees.check_contents();
    }
  }
}

}  // namespace
