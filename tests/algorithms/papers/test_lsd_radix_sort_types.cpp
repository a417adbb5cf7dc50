// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/papers/check_lsd_radix_sort.hpp>

// Sorts by passes of keys of other sizes than 4 bytes: all that differs is the size of keys and
// values.

using namespace test;

TEMPLATE_TEST_CASE("lsd_radix_sort sorts keys of other sizes", "[lsd_radix_sort]",
                   std::int64_t MORE_TYPES(std::int8_t, std::uint16_t)) {
  check_passes_at_sizes<TestType>();
}

#if !defined(LANEWISE_TEST_FEW_TYPES)
TEST_CASE("lsd_radix_sort moves values of 8 bytes", "[lsd_radix_sort]") {
  const std::int64_t n = some_tiles(scanned_tile<double>);
  const auto keys = sorting_keys<double>(distribution::zipf, n);
  check_pairs_by_passes<double, std::uint64_t>(keys, lsd_passes::multi_scan{5});
  check_pairs_by_passes<double, std::uint64_t>(keys, lsd_passes::split_tiles{6});
}
#endif
