// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/sort/check_segmented_sort.hpp>

// Types that are not tested every day.

using namespace test;

TEST_CASE("segmented_sort sorts keys of two bytes", "[segmented_sort]") {
  for (const auto& lengths : sorting_lengths(2 * job_items<std::int16_t>() + 77)) {
    CAPTURE(lengths.size(), lengths.front());
    const auto offsets = offsets_of_lengths(lengths);
    check_segments_sorted(sorting_keys<std::int16_t>(distribution::uniform, offsets.back()),
                          offsets);
  }
}

TEST_CASE("segmented_sort_by_key is stable for keys of 16 bytes", "[segmented_sort]") {
  for (const auto& lengths : sorting_lengths(2 * job_items<unsigned __int128>() + 77)) {
    CAPTURE(lengths.size(), lengths.front());
    const auto offsets = offsets_of_lengths(lengths);
    const auto keys = sorting_keys<unsigned __int128>(distribution::few_distinct, offsets.back());
    check_segments_sorted_by_key(keys, places(keys.size()), offsets);
  }
}
