// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "check_compact.hpp"
#include "check_multisplit.hpp"
#include "check_scans.hpp"
#include <lanewise/reduce.hpp>
#include <lanewise/reduce_by_key.hpp>
#include <support/functors.hpp>

#include <catch2/catch_template_test_macros.hpp>

// Every algorithm at warps of LANEWISE_TEST_WIDTH lanes. Scans hand values on through the chain.

namespace {

using namespace test;

template <class T, class Op>
void check_lane_reduce(const std::vector<T>& items, const T& init, Op op) {
  const array<T> in(items);
  const cell<T> result;
  lanewise::reduce(make_space(), in.const_view(), result.view(), op, init);
  CHECK(result.get() == oracle::reduce(items, op, init));
  CHECK(in.unchanged());
}

}  // namespace

TEST_CASE("Warps have the width that was asked for", "[width]") {
  CHECK(lanewise::warp_t<space>::width == LANEWISE_TEST_WIDTH);
}

TEMPLATE_TEST_CASE("Reductions and scans do not depend on the width", "[width]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t)) {
  for (const std::int64_t n : sizes_around(scan_tile<TestType>)) {
    CAPTURE(n);
    const auto items = random_items<TestType>(n);
    if constexpr (std::is_same_v<TestType, affine>) {
      check_lane_reduce(items, affine{1, 0, 0}, then{});
      check_scans(items, affine{1, 0, 0}, then{});
    } else {
      check_lane_reduce(items, TestType(5), lanewise::plus{});
      check_scans(items, TestType(5), lanewise::plus{});
    }
  }
}

TEMPLATE_TEST_CASE("Multisplits do not depend on the width", "[width]",
                   std::uint32_t MORE_TYPES(std::uint8_t)) {
  for (const std::uint32_t m : {1u, 2u, 7u, 8u, 9u, 33u, 64u, 256u}) {
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{65}, split_tile<TestType> + 131}) {
      CAPTURE(m, n);
      const auto items = random_items<TestType>(n);
      check_pairs(items, m, m);
      check_keys(items, m, m + m / 2);
    }
  }
}

TEST_CASE("Selections and runs do not depend on the width", "[width]") {
  for (const std::int64_t n : compact_sizes<std::uint32_t>()) {
    CAPTURE(n);
    check_selections(random_items<std::uint32_t>(n), some_of{100});
    check_runs(items_in_runs<std::uint32_t>(n, 5));
  }
}

TEST_CASE("Sums by key do not depend on the width", "[width]") {
  const std::int64_t n =
      some_tiles(tile_items<std::uint32_t, lanewise::kernels::segments_policy<std::uint32_t>>);
  const auto keys = items_in_runs<std::uint32_t>(n, 20);
  const auto items = random_items<std::uint32_t>(n);
  const runs expected = runs_of(keys);
  std::vector<std::uint32_t> sums, scan;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool head = i == 0 || keys[i - 1] != keys[i];
    scan.push_back(head ? items[i] : scan.back() + items[i]);
    if (head) sums.push_back(0);
    sums.back() += items[i];
  }
  const array<std::uint32_t> key(keys), in(items);
  const array<std::uint32_t> keys_out(n, 77u), values_out(n, 77u), scanned(n, 77u);

  CHECK(lanewise::reduce_by_key(make_space(), key.const_view(), in.const_view(), keys_out.view(),
                                values_out.view(),
                                lanewise::plus{}) == static_cast<std::int64_t>(sums.size()));
  lanewise::inclusive_scan_by_key(make_space(), key.const_view(), in.const_view(), scanned.view(),
                                  lanewise::plus{});

  check_front(keys_out, oracle::gather(keys, expected.first));
  check_front(values_out, sums);
  CHECK(difference(scanned.items(), scan) == "");
}
