// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#define LANEWISE_TEST_WIDTH 64
#include "check_lsd_radix_sort.hpp"

// A lane of a wider warp has fewer keys, so that packed counters hold what a warp has.

using namespace test;

TEST_CASE("multi-scans of 64 lanes", "[lsd_radix_sort]") {
  const std::int64_t tile = scanned_tile<std::uint32_t>;
  check_pairs_by_passes(sparse_keys(some_tiles(tile), 1), lsd_passes::multi_scan{5});
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(tile), 3u);
  keys.back() = 0;
  check_pairs_by_passes(keys, lsd_passes::multi_scan{3}, {.end_bit = 3});
}
