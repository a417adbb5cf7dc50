// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/sequence/check_scans.hpp>

// Operators that do not commute, on items of every format of the chain.

using namespace test;

TEST_CASE("Scans keep the order of operands: affine maps of 12 bytes", "[scan]") {
  check_all_sizes(affine{3, 4, 1}, then{});
}

TEST_CASE("Scans keep the order of operands: 2 x 2 matrices of 32 bytes", "[scan]") {
  check_all_sizes(matrix{{{2, 1}, {7, 5}}}, product{});
}

TEST_CASE("Scans keep the order of operands: segmented sums of 8 bytes", "[scan]") {
  check_all_sizes(segment{0, 9}, segmented_plus{});
}

TEMPLATE_TEST_CASE("Scans keep the order of operands: the last nonzero item", "[scan]",
                   std::uint8_t MORE_TYPES(double)) {
  const std::int64_t n = some_tiles(scan_tile<TestType>);
  auto items = random_items<TestType>(n, 100);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i % 97 != 5) items[i] = 0;
  }

  check_scans(items, TestType(101), last_nonzero{});
}

TEST_CASE("Scans of the maximum follow the left fold also at infinity and signed zero", "[scan]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::int64_t n = some_tiles(scan_tile<double>);
  auto items = random_items<double>(n, 1000);
  for (double& x : items) x = -x - 1;
  items[static_cast<std::size_t>(n / 3)] = -infinity;
  items[static_cast<std::size_t>(n / 2)] = 0.0;
  items[static_cast<std::size_t>(n / 2 + 40)] = -0.0;
  items[static_cast<std::size_t>(n - 50)] = infinity;

  check_scans(items, -infinity, lanewise::maximum{});
}

TEST_CASE("Scans of small inputs of every word format", "[scan][sanitize]") {
  check_scans(random_items<std::uint32_t>(2 * scan_tile<std::uint32_t> + 17), 5u, lanewise::plus{});
  check_scans(random_items<segment>(2 * scan_tile<segment> + 17), segment{0, 1}, segmented_plus{});
  check_scans(random_items<affine>(2 * scan_tile<affine> + 17), affine{3, 4, 1}, then{});
  check_scans(random_items<matrix>(scan_tile<matrix> - 1), matrix{{{2, 1}, {7, 5}}}, product{});
}
