// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <structures/ordered/ordered_histories.hpp>

// Ordered maps of pairs of two widths, with keys of 8 bytes, and of other keys than unsigned
// integers. test_ordered_map_wide_full.cpp has further types.

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

TEST_CASE("ordered_map_wide: histories of mixed pairs", "[ordered]") {
  check_histories<u64, u32>(600, 3);
}

TEST_CASE("ordered_map_wide: floating-point and signed keys", "[ordered]") {
  const auto exec = make_space();
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  const array<float> keys(std::vector<float>{1.5f, nan, -0.0f, 0.0f, -infinity, infinity, -2.5f});
  const array<std::int32_t> values(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6});
  lanewise::ordered_map<float, std::int32_t, memory> map;
  lanewise::insert(exec, map, keys.view(), values.view());
  const array<std::int32_t> in_order(7, 0);
  const array<float> keys_out(7, 0.0f);
  CHECK(lanewise::to_sorted(exec, map, keys_out.view(), in_order.view()) == 7);
  CHECK((in_order.items() == std::vector<std::int32_t>{4, 6, 2, 3, 0, 5, 1}));
  CHECK(lanewise::first(exec, map)->key == -infinity);
  CHECK(lanewise::last(exec, map)->value == 1);
}

}  // namespace
