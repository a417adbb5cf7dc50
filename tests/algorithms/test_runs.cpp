// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/check_compact.hpp>
#include <limits>

// Runs of equal neighbours: unique, unique_by_key, run_length_encode.

using namespace test;

TEMPLATE_TEST_CASE("Runs are found at every size and length", "[runs]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  for (const std::int64_t n : compact_sizes<TestType>()) {
    for (const int mean : {1, 4, 100}) {
      CAPTURE(n, mean);
      check_runs(items_in_runs<TestType>(n, mean));
    }
  }
}

TEMPLATE_TEST_CASE("Runs may span tiles", "[runs][sanitize]",
                   std::uint32_t MORE_TYPES(std::uint8_t)) {
  const std::int64_t n = some_tiles(compact_tile<TestType>);
  const auto mean = static_cast<int>(compact_tile<TestType>);
  check_runs(std::vector<TestType>(static_cast<std::size_t>(n), TestType(7)));
  check_runs(items_in_runs<TestType>(n, mean));
  check_runs(items_in_runs<TestType>(n, mean / 40));
}

TEMPLATE_TEST_CASE("Runs are right for every distribution", "[runs]",
                   std::uint32_t MORE_TYPES(std::uint8_t)) {
  for (const distribution d : all_distributions) {
    CAPTURE(d);
    check_runs(items_of<TestType>(numbers(d, some_tiles(compact_tile<TestType>), 7, 4)));
  }
}

TEST_CASE("NaN is a run of its own and both zeros are one", "[runs]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto exec = make_space();
  const array<double> in({0.0, -0.0, nan, nan, 1.0, 1.0});
  const array<double> out(6, 77.0);
  const array<std::int32_t> lengths(6, 77);
  CHECK(lanewise::run_length_encode(exec, in.const_view(), out.view(), lengths.view()) == 4);
  CHECK(lengths.items() == std::vector<std::int32_t>{2, 1, 1, 2, 77, 77});
}
