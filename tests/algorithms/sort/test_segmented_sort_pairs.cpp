// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/sort/check_segmented_sort.hpp>

using namespace test;

TEMPLATE_TEST_CASE("segmented_sort_by_key is stable for segments of any lengths",
                   "[segmented_sort][long]", std::uint32_t MORE_TYPES(std::uint8_t, double)) {
  for (const auto& lengths : sorting_lengths(2 * job_items<TestType>() + 77)) {
    CAPTURE(lengths.size(), lengths.front());
    const auto offsets = offsets_of_lengths(lengths);
    const auto keys = sorting_keys<TestType>(distribution::few_distinct, offsets.back());
    check_segments_sorted_by_key(keys, places(keys.size()), offsets);
  }
}

TEST_CASE("segmented_sort_by_key is stable for every distribution", "[segmented_sort][sanitize]") {
  const std::int64_t n = job_items<std::uint32_t>() + 500;
  for (const distribution d : all_distributions) {
    for (const std::int64_t length : {std::int64_t{70}, n}) {
      CAPTURE(d, length);
      std::vector<std::int64_t> lengths(static_cast<std::size_t>(n / length), length);
      lengths.push_back(n % length);
      const auto keys = sorting_keys<std::uint32_t>(d, n);
      check_segments_sorted_by_key(keys, places(keys.size()), offsets_of_lengths(lengths));
    }
  }
}

TEST_CASE("segmented_sort_by_key is stable for short segments", "[segmented_sort][sanitize]") {
  for (const std::int64_t longest : {1, 3, 8, 17, 32}) {
    for (const std::int64_t other : {1, 33}) {
      CAPTURE(longest, other);
      const auto offsets = offsets_of_lengths(
          short_lengths(20'000 / (longest + 2), static_cast<std::uint64_t>(longest), other), 1);
      const auto keys = sorting_keys<std::uint32_t>(distribution::few_distinct, offsets.back());
      check_segments_sorted_by_key(keys, places(keys.size()), offsets);
      check_segments_sorted_by_key(keys, places(keys.size()), offsets,
                                   {.order = lanewise::sort_order::descending, .end_bit = 3});
    }
  }
}

TEST_CASE("segmented_sort_by_key takes keys in place beside values that are not",
          "[segmented_sort]") {
  const auto offsets = offsets_of_lengths({40, 0, 1, 2 * job_items<std::uint32_t>(), 700});
  for (const distribution d : {distribution::uniform, distribution::sorted}) {
    const auto items = sorting_keys<std::uint32_t>(d, offsets.back());
    const auto beside = places(items.size());
    const auto order = sorted_segments(items, offsets, {});
    const array<std::uint32_t> keys(items), keys_out(offsets.back(), 0u), values(beside),
        values_out(offsets.back(), 0u);
    const array<std::int64_t> offset(offsets);
    lanewise::segmented_sort_by_key(make_space(), keys.const_view(), values.const_view(),
                                    offset.const_view(), keys_out.view(), values.view());
    CHECK(difference_in_bits(keys_out.items(), items, order) == "");
    CHECK(difference_in_bits(values.items(), beside, order) == "");
    values.assign(beside);
    lanewise::segmented_sort_by_key(make_space(), keys.const_view(), values.const_view(),
                                    offset.const_view(), keys.view(), values_out.view());
    CHECK(difference_in_bits(keys.items(), items, order) == "");
    CHECK(difference_in_bits(values_out.items(), beside, order) == "");
  }
}

TEST_CASE("segmented_sort_by_key sorts segments that lie apart, in any order",
          "[segmented_sort][sanitize]") {
  for (const auto& lengths : sorting_lengths(2 * job_items<std::uint32_t>() + 77)) {
    CAPTURE(lengths.size(), lengths.front());
    const segments_apart segments(lengths);
    const auto keys = sorting_keys<std::uint32_t>(distribution::few_distinct, segments.n);
    check_segments_apart_sorted_by_key(keys, places(keys.size()), segments);
    std::vector<affine> values(keys.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i * 7), 1};
    check_segments_apart_sorted_by_key(keys, values, segments, {.begin_bit = 1});
  }
  const segments_apart segments(short_lengths(2'000, 17, 31));
  const auto keys = sorting_keys<std::uint32_t>(distribution::few_distinct, segments.n);
  check_segments_apart_sorted_by_key(keys, places(keys.size()), segments);
}

TEST_CASE("segmented_sort_by_key takes values of any type", "[segmented_sort]") {
  const auto check = [](auto value) {
    using V = decltype(value);
    const auto offsets = offsets_of_lengths({40, 0, 3, 2 * job_items<std::uint32_t>(), 700});
    const auto keys = sorting_keys<std::uint32_t>(distribution::few_distinct, offsets.back());
    std::vector<V> values(keys.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<V, affine>) {
        values[i] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i * 7), 1};
      } else {
        values[i] = static_cast<V>(i);
      }
    }
    check_segments_sorted_by_key(keys, values, offsets,
                                 {.order = lanewise::sort_order::descending, .begin_bit = 1});
  };
  check(std::uint64_t{});
  check(affine{});
  check(std::uint8_t{});
}
