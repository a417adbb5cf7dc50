// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge/merge_runs.hpp>
#include <lanewise/merge/set_operations.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/orders.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>

// The merge family on other mappings and widths: each call once or twice.

namespace {

using namespace test;

struct few_merge_calls {
  using u32 = std::uint32_t;

  static void sorts(std::int64_t n) {
    CAPTURE(n);
    const auto keys = items_with_equals<u32>(n, 300, 1);
    std::vector<u32> order(keys.size());
    std::iota(order.begin(), order.end(), 0u);
    const array<u32> in(keys), out(n, 77u), sorted(n, 77u), values(order), moved(n, 77u);
    lanewise::merge_sort(make_space(), in.const_view(), out.view());
    lanewise::merge_sort_by_key(make_space(), in.const_view(), values.const_view(), sorted.view(),
                                moved.view());
    std::stable_sort(order.begin(), order.end(), [&](u32 i, u32 j) { return keys[i] < keys[j]; });
    auto expected = keys;
    std::stable_sort(expected.begin(), expected.end());
    CHECK(difference(out.items(), expected) == "");
    CHECK(difference(sorted.items(), expected) == "");
    CHECK(difference(moved.items(), order) == "");
  }

  static void merges(std::int64_t n_a, std::int64_t n_b) {
    CAPTURE(n_a, n_b);
    const auto a = sorted_items<u32>(n_a, 200, 1), b = sorted_items<u32>(n_b, 200, 2);
    std::vector<u32> merged, both, expected = a;
    expected.insert(expected.end(), b.begin(), b.end());
    const array<u32> in_a(a), in_b(b), out(n_a + n_b, 77u), all(expected),
        offsets(std::vector<u32>{0, static_cast<u32>(n_a), static_cast<u32>(n_a + n_b)});
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged));
    lanewise::merge(make_space(), in_a.const_view(), in_b.const_view(), out.view());
    CHECK(difference(out.items(), merged) == "");
    out.assign(out.original());
    lanewise::merge_runs(make_space(), all.const_view(), offsets.const_view(), out.view());
    CHECK(difference(out.items(), merged) == "");
    out.assign(out.original());
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    CHECK(lanewise::set_union(make_space(), in_a.const_view(), in_b.const_view(), out.view()) ==
          static_cast<std::int64_t>(both.size()));
    CHECK(difference(out.items(), both, out.original()) == "");
  }
};

}  // namespace

TEST_CASE("Merge sorts of any mapping", "[merges][sanitize]") {
  const std::int64_t tile =
      lanewise::kernels::merge_sort_layout<std::uint32_t, space>::merging::items;
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{70}, tile + 5, 3 * tile - 1})
    few_merge_calls::sorts(n);
}

TEST_CASE("Merges and unions of any mapping", "[merges][sanitize]") {
  const std::int64_t tile = lanewise::kernels::merge_tile_items<std::uint32_t, space>;
  few_merge_calls::merges(0, 40);
  few_merge_calls::merges(tile - 30, tile + 77);
}
