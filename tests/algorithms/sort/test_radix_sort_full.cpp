// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/sort/check_radix_sort.hpp>

// Keys of the types that are not tested every day, with values and without.

using namespace test;

TEMPLATE_TEST_CASE("radix_sort sorts keys of any type", "[radix_sort]", std::int8_t, std::int16_t,
                   std::int32_t, std::int64_t, float, lanewise::uint128) {
  const std::int64_t few = few_sorted<TestType>();
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{300}, few, few + 1, 5 * few + 7}) {
    for (const auto d : {distribution::uniform, distribution::few_distinct, distribution::zipf}) {
      CAPTURE(n, d);
      const auto keys = sorting_keys<TestType>(d, n);
      check_sort(keys);
      check_sort_in_place(keys, {.order = lanewise::sort_order::descending});
    }
  }
}

TEMPLATE_TEST_CASE("radix_sort takes pairs of any two sizes", "[radix_sort]",
                   (std::pair<std::uint64_t, std::uint8_t>),
                   (std::pair<std::uint8_t, std::uint64_t>),
                   (std::pair<std::uint16_t, std::uint32_t>)) {
  using key = typename TestType::first_type;
  using value = typename TestType::second_type;
  const std::int64_t few = few_sorted<key>();
  for (const std::int64_t n : {std::int64_t{300}, few + 1, 5 * few + 7}) {
    CAPTURE(n);
    const auto keys = sorting_keys<key>(distribution::zipf, n);
    std::vector<value> values(keys.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<value>(i);
    check_sort_pairs(keys, values);
  }
}
