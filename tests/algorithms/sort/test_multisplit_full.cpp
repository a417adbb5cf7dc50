// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/sort/check_multisplit.hpp>

// Types of keys that the daily tests of multisplit leave out.

using namespace test;

TEMPLATE_TEST_CASE("multisplit is stable at every size: other types", "[multisplit]", std::uint16_t,
                   std::uint64_t, std::int8_t, std::int32_t, float, double) {
  for (const std::int64_t n : sizes_around(split_tile<TestType>)) {
    CAPTURE(n);
    check_pairs(random_items<TestType>(n), 32, 33);
    check_keys(random_items<TestType>(n), 256, 256);
  }
}
