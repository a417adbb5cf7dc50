// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/ballot_histogram.hpp>
#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/sequence/adjacent_difference.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan_reverse.hpp>
#include <lanewise/sequence/scan_two_level.hpp>
#include <lanewise/sequence/transform.hpp>
#include <support/functors.hpp>

#include <catch2/catch_template_test_macros.hpp>

#include <algorithm>
#include <algorithms/histogram/check_histogram.hpp>
#include <algorithms/select/check_compact.hpp>
#include <algorithms/sequence/check_scans.hpp>
#include <algorithms/sort/check_multisplit.hpp>
#include <numeric>

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

/// A few tiles of any algorithm here, with an end that is not one of a row.
const std::int64_t several_tiles = some_tiles(scan_tile<std::uint32_t>);

/// What f(in, out) writes for these items.
template <class F>
std::vector<std::uint32_t> written(const std::vector<std::uint32_t>& items, F f) {
  const array<std::uint32_t> in(items, 1);
  const array<std::uint32_t> out(static_cast<std::int64_t>(items.size()), 77u);
  f(in.const_view(), out.view());
  CHECK(in.unchanged());
  CHECK(out.guards_intact());
  return out.items();
}

/// Lengths of ranges, most of them short, some empty, one that fills several tiles.
std::vector<std::uint32_t> lengths_of_ranges() {
  auto lengths = random_items<std::uint32_t>(700, 40);
  for (std::size_t i = 100; i < 180; ++i) lengths[i] = 0;
  lengths[300] = static_cast<std::uint32_t>(several_tiles);
  return lengths;
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
  for (const std::uint32_t m : {1u, 2u, 7u, 8u, 9u, 33u, 64u, 256u, 1000u}) {
    if (!std::is_same_v<TestType, std::uint32_t> && m > 256) continue;  // see tested_count
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
    const auto items = items_in_runs<std::uint32_t>(n, 2);
    const array<std::uint32_t> both(items);
    const auto firsts = oracle::gather(items, runs_of(items).first);
    CHECK(lanewise::unique(make_space(), both.view(), both.view()) ==
          static_cast<std::int64_t>(firsts.size()));
    auto expected = both.items();
    std::copy(firsts.begin(), firsts.end(), expected.begin());
    CHECK(difference(both.items(), expected) == "");
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

TEST_CASE("What tiles compute item by item does not depend on the width", "[width]") {
  const auto items = random_items<std::uint32_t>(several_tiles);
  const auto twice = [](std::uint32_t x) { return 2 * x + 1; };
  std::vector<std::uint32_t> differences = items;
  for (std::size_t i = 1; i < items.size(); ++i) differences[i] = items[i] - items[i - 1];

  CHECK(difference(written(items,
                           [&](const auto& in, const auto& out) {
                             lanewise::transform(make_space(), in, out, twice);
                           }),
                   oracle::transform<std::uint32_t>(items, twice)) == "");
  CHECK(difference(written(items,
                           [](const auto& in, const auto& out) {
                             lanewise::adjacent_difference(make_space(), in, out,
                                                           lanewise::minus{});
                           }),
                   differences) == "");
}

TEST_CASE("Other scans do not depend on the width", "[width]") {
  const auto items = random_items<std::uint32_t>(several_tiles);
  const std::vector<std::uint32_t> reversed(items.rbegin(), items.rend());
  auto from_back = oracle::inclusive_scan(reversed, lanewise::plus{});
  std::reverse(from_back.begin(), from_back.end());

  CHECK(difference(written(items,
                           [](const auto& in, const auto& out) {
                             lanewise::inclusive_scan_reverse(make_space(), in, out,
                                                              lanewise::plus{});
                           }),
                   from_back) == "");
  CHECK(difference(written(items,
                           [](const auto& in, const auto& out) {
                             lanewise::two_level::exclusive_scan(
                                 make_space(), in, out, lanewise::plus{}, std::uint32_t{5});
                           }),
                   oracle::exclusive_scan(items, std::uint32_t{5}, lanewise::plus{})) == "");
}

TEST_CASE("Extrema do not depend on the width", "[width]") {
  // Equal ones are many, and the first counts.
  const auto items = random_items<std::uint32_t>(9000, 500);
  const array<std::uint32_t> in(items);
  const cell<lanewise::indexed<std::uint32_t>> low, high;
  lanewise::min_element(make_space(), in.const_view(), low.view());
  lanewise::max_element(make_space(), in.const_view(), high.view());
  CHECK(low.get().index == std::min_element(items.begin(), items.end()) - items.begin());
  CHECK(high.get().index == std::max_element(items.begin(), items.end()) - items.begin());
}

TEST_CASE("Ranges do not depend on the width", "[width]") {
  const auto lengths = lengths_of_ranges();
  const auto ranges = static_cast<std::int64_t>(lengths.size());
  std::vector<std::int64_t> offsets = {0};
  for (const std::uint32_t length : lengths) offsets.push_back(offsets.back() + length);
  const std::int64_t n = offsets.back();
  const auto items = random_items<std::uint32_t>(n);
  const auto keys = random_items<std::uint32_t>(ranges);
  std::vector<std::uint32_t> sums, decoded;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const auto begin = items.begin() + offsets[r];
    sums.push_back(std::accumulate(begin, begin + lengths[r], std::uint32_t{5}));
    decoded.insert(decoded.end(), lengths[r], keys[r]);
  }
  const array<std::uint32_t> in(items), key(keys), length(lengths);
  const array<std::int64_t> ends(offsets);
  const array<std::uint32_t> summed(ranges, 77u), expanded(n, 77u);
  const array<std::int64_t> places(ranges, std::int64_t{77});

  lanewise::segmented_reduce(make_space(), in.const_view(), ends.const_view(), summed.view(),
                             lanewise::plus{}, std::uint32_t{5});
  lanewise::run_length_decode(make_space(), key.const_view(), length.const_view(), expanded.view());
  CHECK(lanewise::allocate(make_space(), length.const_view(), places.view()) == n);

  CHECK(difference(summed.items(), sums) == "");
  CHECK(difference(expanded.items(), decoded) == "");
  offsets.pop_back();
  CHECK(difference(places.items(), offsets) == "");
}

TEST_CASE("Histograms do not depend on the width", "[width]") {
  const auto items = random_items<std::uint32_t>(several_tiles);
  for (const std::int64_t bins : {1, 9, 97, 256, 30'000})
    check_modulo(items, bins, static_cast<std::uint32_t>(bins + bins / 4));
  check_range(items, std::vector<std::uint32_t>{5, 1 << 20, 1 << 20, 1 << 30, 1u << 31});
  const auto n = static_cast<std::int64_t>(items.size());
  const array<std::uint32_t> in(items), counts(256, 77u), sums(256, 77u);
  lanewise::papers::ballot_histogram(make_space(), in.const_view(), counts.view(), modulo{256});
  lanewise::histogram(make_space(), in.const_view(), in.const_view(), sums.view(), modulo{256});
  std::vector<std::uint32_t> count(256, 0), sum(256, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint32_t x = items[static_cast<std::size_t>(i)];
    ++count[x % 256];
    sum[x % 256] += x;
  }
  CHECK(difference(counts.items(), count) == "");
  CHECK(difference(sums.items(), sum) == "");
}
