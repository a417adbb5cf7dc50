// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/select/check_compact.hpp>

// Selection of every type of item, size, share and distribution.

using namespace test;

TEMPLATE_TEST_CASE("Selections keep what the predicate says, at every size", "[select]",
                   std::uint32_t, affine MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  for (const std::int64_t n : compact_sizes<TestType>()) {
    for (const std::uint32_t share : {0u, 3u, 128u, 256u}) {
      CAPTURE(n, share);
      check_selections(random_items<TestType>(n), some_of{share});
    }
  }
}

TEMPLATE_TEST_CASE("Selections are right for every distribution", "[select][sanitize]",
                   std::uint32_t MORE_TYPES(std::uint8_t)) {
  for (const distribution d : all_distributions) {
    CAPTURE(d);
    check_selections(items_of<TestType>(numbers(d, some_tiles(compact_tile<TestType>),
                                                most_number<TestType>(), 256)),
                     some_of{128});
  }
}
