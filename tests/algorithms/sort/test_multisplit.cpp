// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/sort/check_multisplit.hpp>

// Keys and pairs of every type, number of buckets, size and distribution.

using namespace test;

TEMPLATE_TEST_CASE("multisplit is stable for every number of buckets", "[multisplit]",
                   std::uint32_t MORE_TYPES(std::uint8_t)) {
  const std::int64_t n = std::min(split_tile<TestType> + 131, std::int64_t{30'011});
  for (const std::uint32_t m : {1u, 2u, 3u, 8u, 31u, 32u, 33u, 64u, 100u, 127u, 255u, 256u}) {
    CAPTURE(m);
    check_pairs(random_items<TestType>(n), m, m);
    check_keys(random_items<TestType>(1000), m, m);
  }
  check_pairs(random_items<TestType>(split_tile<TestType> + 131), 256, 256);
}

TEMPLATE_TEST_CASE("multisplit is stable at every size", "[multisplit]", std::uint32_t, affine) {
  for (const std::int64_t n : sizes_around(split_tile<TestType>)) {
    for (const std::uint32_t m : n < 10'000 || full() ? std::vector{5u, 200u} : std::vector{99u}) {
      CAPTURE(n, m);
      check_pairs(random_items<TestType>(n), m, m);
      check_keys(random_items<TestType>(n), m, m);
    }
  }
}

TEMPLATE_TEST_CASE("multisplit is stable at the most items that one team takes", "[multisplit]",
                   std::uint32_t MORE_TYPES(std::uint8_t, affine)) {
  using policy = lanewise::kernels::split_policy<TestType>;
  using split = lanewise::detail::split_t<lanewise::team_t<space, policy>, TestType, policy>;
  const auto few = lanewise::kernels::few_items<split, policy>;
  for (const std::uint32_t m : {2u, 64u, 256u}) {
    for (const int more : {0, 1}) {
      for (const bool alone : {false, true}) {
        CAPTURE(m, more, alone);
        check_pairs(random_items<TestType>(few(m, sizeof(TestType) + 4, alone) + more), m, m + 1);
        check_keys(random_items<TestType>(few(m, sizeof(TestType), alone) + more), m, m + 1);
      }
    }
  }
}

TEMPLATE_TEST_CASE("multisplit is stable for every distribution", "[multisplit]",
                   std::uint32_t MORE_TYPES(double)) {
  for (const distribution d : all_distributions) {
    for (const std::uint32_t m : {7u, 256u}) {
      CAPTURE(d, m);
      const std::int64_t n = some_tiles(split_tile<TestType>);
      check_pairs(items_of<TestType>(numbers(d, n, most_number<TestType>(), m)), m, m);
    }
  }
}

// Runs of any length begin anywhere in a sector of the output, and whole groups of buckets between
// them are empty.
TEMPLATE_TEST_CASE("multisplit is stable where most buckets are empty", "[multisplit][sanitize]",
                   std::uint32_t, affine MORE_TYPES(std::uint8_t, double)) {
  constexpr std::uint32_t used[] = {3, 31, 32, 100, 101, 103, 200, 255};
  for (const std::uint32_t kinds : {1u, 3u, 8u}) {
    CAPTURE(kinds);
    auto number = random_items<std::uint32_t>(some_tiles(split_tile<TestType>));
    std::vector<TestType> items(number.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      // Every 97th item elsewhere, so that there are runs of one item.
      const std::uint32_t bucket = used[i % 97 == 0 ? 7 : number[i] % kinds];
      items[i] = item_of<TestType>(bucket);
    }
    check_pairs(items, 256, 256);
    check_keys(items, 256, 256);
  }
}

TEMPLATE_TEST_CASE("multisplit skips and counts items outside the buckets",
                   "[multisplit][sanitize]", std::uint32_t, affine) {
  for (const std::uint32_t m : {1u, 31u, 32u, 40u, 256u}) {
    CAPTURE(m);
    check_pairs(random_items<TestType>(split_tile<TestType> + 131), m, m + m / 3 + 1);
    check_keys(random_items<TestType>(1000), m, 2 * m);
  }
}
