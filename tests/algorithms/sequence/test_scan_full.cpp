// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/reduce.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/sequence/check_scans.hpp>

// Types that the daily tests of scan and reduce leave out.

using namespace test;

TEMPLATE_TEST_CASE("Scans of sums are exact at every size: other types", "[scan]", std::uint16_t,
                   std::int8_t, std::int16_t, std::int32_t, std::int64_t, float) {
  check_all_sizes<TestType>(TestType(5), lanewise::plus{});
}

TEMPLATE_TEST_CASE("Scans of the maximum find negative items", "[scan]", std::int8_t, std::int16_t,
                   std::int32_t, std::int64_t) {
  check_all_sizes<TestType>(std::numeric_limits<TestType>::min(), lanewise::maximum{},
                            most_number<TestType>());
}

TEMPLATE_TEST_CASE("reduce finds sum, minimum and maximum: other types", "[reduce]", std::uint16_t,
                   std::int8_t, std::int16_t, std::int32_t, std::int64_t, float) {
  const auto exec = make_space();
  for (const std::int64_t n : sizes_around(scan_tile<TestType>)) {
    CAPTURE(n);
    const auto items = random_items<TestType>(n, most_summand<TestType>());
    const array<TestType> in(items, 1);

    CHECK(lanewise::reduce(exec, in.const_view(), lanewise::plus{}, TestType(5)) ==
          oracle::reduce(items, lanewise::plus{}, TestType(5)));
    CHECK(lanewise::reduce(exec, in.const_view(), lanewise::minimum{}, TestType(2)) ==
          oracle::reduce(items, lanewise::minimum{}, TestType(2)));
    CHECK(lanewise::reduce(exec, in.const_view(), lanewise::maximum{}, TestType(2)) ==
          oracle::reduce(items, lanewise::maximum{}, TestType(2)));
  }
}
