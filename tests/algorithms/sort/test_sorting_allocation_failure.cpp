// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// clang-format off: before the library, which allocates by the names that it replaces
#include <algorithms/common/check_allocation_failure.hpp>
// clang-format on

#include <lanewise/histogram/histogram.hpp>
#include <lanewise/merge/merge_runs.hpp>
#include <lanewise/merge/set_operations.hpp>
#include <lanewise/search/sorted_search.hpp>
#include <lanewise/sort/segmented_sort.hpp>
#include <lanewise/sort/sort.hpp>
#include <lanewise/sort/top_k.hpp>
#include <support/generators.hpp>

// Sorts and what is near to them, as test_allocation_failure.cpp.

namespace {

using namespace test;
using u32 = std::uint32_t;

/// More than one team takes at a time. On the emulated backend, which allocates for every warp,
/// calls fail often.
const std::int64_t n = is_emulated ? 9000 : (std::int64_t{1} << 20) + 77;

std::vector<u32> sorted(std::vector<u32> items) {
  std::sort(items.begin(), items.end());
  return items;
}
struct less_in_tens {
  KOKKOS_FUNCTION bool operator()(u32 a, u32 b) const { return a / 10 < b / 10; }
};

}  // namespace

TEST_CASE("Radix sorts of keys survive that an allocation fails", "[allocation][sanitize]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const array<u32> out(n, 0u);

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::radix_sort(make_space(), in.const_view(), out.view(), {.work = work});
      },
      [&] {
        CHECK(difference(out.items(), sorted(items)) == "");
        CHECK(in.unchanged());
        out.assign(out.original());
      });
}

TEST_CASE("Radix sorts of large values survive that an allocation fails", "[allocation]") {
  const std::int64_t few = is_emulated ? 1500 : n;
  const auto items = random_items<u32>(few);
  std::vector<affine> beside, expected_beside;
  for (const u32 x : items) beside.push_back(item_of<affine>(x));
  const auto expected = sorted(items);
  for (const u32 x : expected) expected_beside.push_back(item_of<affine>(x));
  const array<u32> keys(items);
  const array<affine> values(beside);

  // In place, where memory is had three times, and a call that failed may have moved some. Not by
  // sort_by_key: it would have to be compiled for numbers of 8 bytes, too.
  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        without_failures([&] {
          keys.assign(items);
          values.assign(beside);
        });
        lanewise::kernels::sort_by_index<u32>(make_space(), keys.data(), keys.data(), values.data(),
                                              values.data(), {few, {}}, {.work = work},
                                              "sort_by_key");
      },
      [&] {
        CHECK(difference(keys.items(), expected) == "");
        CHECK(difference(values.items(), expected_beside) == "");
      });
}

TEST_CASE("Sorts by a comparator survive that an allocation fails", "[allocation]") {
  const auto items = random_items<u32>(n);
  const array<u32> data(items);
  auto expected = items;
  std::stable_sort(expected.begin(), expected.end(), less_in_tens{});

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        without_failures([&] { data.assign(items); });
        lanewise::sort(make_space(), data.view(), less_in_tens{}, {.work = work});
      },
      [&] { CHECK(difference(data.items(), expected) == ""); });
}

TEST_CASE("Segmented sorts survive that an allocation fails", "[allocation]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const array<std::int64_t> offsets(std::vector<std::int64_t>{0, 40, 40, n / 2, n});
  const array<u32> out(n, 0u);
  auto expected = items;
  std::sort(expected.begin(), expected.begin() + 40);
  std::sort(expected.begin() + 40, expected.begin() + n / 2);
  std::sort(expected.begin() + n / 2, expected.end());

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::segmented_sort(make_space(), in.const_view(), offsets.const_view(), out.view(),
                                 {.work = work});
      },
      [&] {
        CHECK(difference(out.items(), expected) == "");
        out.assign(out.original());
      });
}

TEST_CASE("Merges of runs survive that an allocation fails", "[allocation]") {
  auto items = random_items<u32>(n);
  const array<std::int64_t> offsets(std::vector<std::int64_t>{0, n / 3, n / 3, n / 2, n});
  for (const auto& [from, to] : {std::pair{std::int64_t{0}, n / 3}, {n / 3, n / 2}, {n / 2, n}})
    std::sort(items.begin() + from, items.begin() + to);
  const array<u32> in(items);
  const array<u32> out(n, 0u);

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::merge_runs(make_space(), in.const_view(), offsets.const_view(), out.view(),
                             lanewise::less{}, {.work = work});
      },
      [&] {
        CHECK(difference(out.items(), sorted(items)) == "");
        out.assign(out.original());
      });
}

TEST_CASE("Set operations survive that an allocation fails", "[allocation]") {
  const auto a = sorted(random_items<u32>(n, 5000, 1)), b = sorted(random_items<u32>(n, 5000, 2));
  const array<u32> in_a(a), in_b(b);
  const array<u32> out(2 * n, 77u);
  std::vector<u32> expected;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
  std::int64_t count = -1;

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        count = lanewise::set_union(make_space(), in_a.const_view(), in_b.const_view(), out.view(),
                                    lanewise::less{}, {.work = work});
      },
      [&] {
        CHECK(count == static_cast<std::int64_t>(expected.size()));
        CHECK(difference(out.items(), expected, out.original()) == "");
        out.assign(out.original());
        count = -1;
      });
}

TEST_CASE("Selections of the largest items survive that an allocation fails", "[allocation]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const std::int64_t k = 700;
  const array<u32> out(k, 0u);
  auto expected = sorted(items);
  std::reverse(expected.begin(), expected.end());
  expected.resize(k);

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::top_k(make_space(), in.const_view(), k, out.view(),
                        {.work = work, .sorted = true});
      },
      [&] {
        CHECK(difference(out.items(), expected) == "");
        out.assign(out.original());
      });
}

TEST_CASE("Histograms survive that an allocation fails", "[allocation]") {
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const array<u32> counts(1000, 77u);
  std::vector<u32> expected(1000, 0u);
  for (const u32 x : items) ++expected[x % 1000];

  every_allocation_fails_once(
      [&](lanewise::workspace* work) {
        lanewise::histogram(make_space(), in.const_view(), counts.view(), modulo{1000},
                            {.work = work});
      },
      [&] {
        CHECK(difference(counts.items(), expected) == "");
        counts.assign(counts.original());
      });
}

TEST_CASE("Searches survive that an allocation fails", "[allocation][sanitize]") {
  const auto keys = sorted(random_items<u32>(n));
  auto queries = random_items<u32>(n / 8, ~0u, 5);
  const array<u32> in(keys);
  const array<std::int64_t> out(n / 8, -7);
  for (const bool in_order : {false, true}) {
    if (in_order) queries = sorted(queries);
    const array<u32> asked(queries);
    std::vector<std::int64_t> expected;
    for (const u32 x : queries)
      expected.push_back(std::lower_bound(keys.begin(), keys.end(), x) - keys.begin());
    every_allocation_fails_once(
        [&](lanewise::workspace* work) {
          lanewise::lower_bound(make_space(), in.const_view(), asked.const_view(), out.view(),
                                lanewise::less{}, {.work = work, .sorted_queries = in_order});
        },
        [&] {
          CHECK(difference(out.items(), expected) == "");
          out.assign(out.original());
        });
  }
}
