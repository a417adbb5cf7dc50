// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/histogram/check_histogram.hpp>

// Bins of every kind, number of bins, size, type and distribution.

namespace {

using namespace test;

/// More bins than a team's table has room for, and the most of all.
const std::vector<std::int64_t> numbers_of_bins = {1,   2,     3,     31,     32,     33,     100,
                                                   256, 1'000, 8'192, 24'576, 24'577, 300'000};

}  // namespace

TEMPLATE_TEST_CASE("histogram counts every size", "[histogram][sanitize]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t)) {
  for (const std::int64_t n : sizes_around(4096)) {
    CAPTURE(n);
    check_modulo(random_items<TestType>(n), 97, 100);
  }
}

TEST_CASE("histogram counts any number of bins", "[histogram]") {
  const auto items = random_items<std::uint32_t>(20'011);
  for (const std::int64_t bins : numbers_of_bins) {
    CAPTURE(bins);
    check_modulo(items, bins, static_cast<std::uint32_t>(bins + bins / 3 + 1));
    check_even(items, bins, std::int64_t{0}, std::int64_t{1} << 32);
    check_even(items, bins, std::int64_t{1000}, std::int64_t{4'000'000'001});
  }
  check_even(items, std::int64_t{1} << 21, 0, 1 << 30);
}

TEST_CASE("histogram counts many items in many bins", "[histogram]") {
  // The number of items that is worth a team with more scratch; no less, and more than that has
  // room for.
  const auto items = random_items<std::uint32_t>(16 * 24'577);
  check_modulo(items, 24'577, 30'000);
  check_modulo(items, 24'578, 30'000);
  if (!is_emulated) {
    const auto more = random_items<std::uint32_t>(16 * 57'345);
    for (const std::int64_t bins : {32'768, 57'344, 57'345}) check_modulo(more, bins, 60'000);
  }
}

TEST_CASE("histogram counts every distribution", "[histogram]") {
  for (const distribution d : all_distributions) {
    for (const std::int64_t bins : {7, 256, 30'000}) {
      CAPTURE(d, bins);
      const auto groups = static_cast<std::uint64_t>(bins);
      check_modulo(items_of<std::uint32_t>(numbers(d, 30'011, 0xFFFFFFFF, groups)), bins,
                   static_cast<std::uint32_t>(bins));
    }
  }
}

TEST_CASE("histogram counts from anywhere, into 64 bits", "[histogram][sanitize]") {
  const auto items = random_items<std::uint8_t>(10'000);
  for (const int shift : {1, 3, 8}) check_even<std::uint64_t>(items, 256, 0, 256, shift);
  check_even<std::int64_t>(items, 30'000, 5, 250, 1);
  check_even<std::int32_t>(random_items<std::uint32_t>(9'999), 1000, 5u, 4'000'000'000u, 3);
}

TEMPLATE_TEST_CASE("Even bins of integers are exact", "[histogram]", std::int8_t,
                   std::uint64_t MORE_TYPES(std::uint16_t, std::int32_t, std::int64_t)) {
  using limits = std::numeric_limits<TestType>;
  using level = std::conditional_t<sizeof(TestType) == 8, TestType, std::int64_t>;
  auto random = make_random(11);
  for (int round = 0; round < (full() ? 200 : 20); ++round) {
    // Levels near and far, and items around the edges between them.
    const auto any = [&] {
      return static_cast<level>(static_cast<TestType>(random() >> random() % 64));
    };
    level lower = any(), upper = any();
    if (round == 0) lower = limits::min(), upper = limits::max();
    if (lower > upper) std::swap(lower, upper);
    if (lower == upper) continue;
    const auto bins = static_cast<std::int64_t>(1 + random() % (round % 2 == 0 ? 300 : 1 << 15));
    std::vector<TestType> items = {limits::min(), limits::max(), static_cast<TestType>(lower),
                                   static_cast<TestType>(upper)};
    __extension__ using wide = __int128;
    const wide range = wide{upper} - lower;
    for (int i = 0; i < 300; ++i) {
      const auto b = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bins + 1));
      const wide edge = lower + (range * b + bins - 1) / bins;
      for (int d = -1; d <= 1; ++d) items.push_back(static_cast<TestType>(edge + d));
    }
    check_even(items, bins, lower, upper);
  }
}

TEMPLATE_TEST_CASE("Even bins of floating-point numbers have the same edges everywhere",
                   "[histogram]", float, double) {
  using limits = std::numeric_limits<TestType>;
  auto random = make_random(12);
  const auto unit = [&] { return std::generate_canonical<TestType, 60>(random); };
  for (int round = 0; round < (full() ? 200 : 20); ++round) {
    const TestType lower = round == 0 ? 0 : (unit() - TestType(0.5)) * TestType(1000);
    const TestType upper = round == 0 ? 1 : lower + unit() * TestType(100) + TestType(1);
    const auto bins = static_cast<std::int64_t>(1 + random() % 5000);
    std::vector<TestType> items = {limits::quiet_NaN(),
                                   limits::infinity(),
                                   -limits::infinity(),
                                   limits::lowest(),
                                   limits::max(),
                                   lower,
                                   upper,
                                   TestType(-0.0),
                                   limits::denorm_min()};
    for (int i = 0; i < 300; ++i) {
      const auto b = static_cast<TestType>(random() % static_cast<std::uint64_t>(bins + 1));
      const TestType edge = lower + b * (upper - lower) / static_cast<TestType>(bins);
      items.push_back(edge);
      items.push_back(std::nextafter(edge, limits::lowest()));
      items.push_back(std::nextafter(edge, limits::max()));
    }
    check_even(items, bins, lower, upper);
  }
}

TEMPLATE_TEST_CASE("Range bins are found by their edges", "[histogram][sanitize]", std::uint32_t,
                   double MORE_TYPES(std::int8_t, std::int64_t)) {
  for (const std::int64_t bins : {1, 2, 3, 31, 255, 256, 257, 1000}) {
    auto edges = random_items<TestType>(bins + 1, most_number<TestType>(), 5);
    std::sort(edges.begin(), edges.end());
    if (bins > 2) edges[1] = edges[0];
    auto items = random_items<TestType>(3000);
    items.insert(items.end(), edges.begin(), edges.end());
    items.push_back(std::numeric_limits<TestType>::max());
    items.push_back(std::numeric_limits<TestType>::lowest());
    if constexpr (std::is_floating_point_v<TestType>) {
      items.push_back(std::numeric_limits<TestType>::quiet_NaN());
      items.push_back(std::numeric_limits<TestType>::infinity());
    }
    check_range(items, edges);
  }
  if constexpr (sizeof(TestType) >= 4) {
    std::vector<TestType> edges;
    for (int i = 0; i <= 30'000; ++i) edges.push_back(static_cast<TestType>(i));
    check_range(random_items<TestType>(3000, 40'000), edges);
  }
}

TEMPLATE_TEST_CASE("histogram adds up weights", "[histogram][sanitize]", std::uint32_t,
                   double MORE_TYPES(std::int64_t, float)) {
  for (const std::int64_t bins : {1, 40, 256, 30'000}) {
    for (const std::int64_t n : {0, 1, 1000, 9'001}) {
      CAPTURE(bins, n);
      const auto items =
          items_of<std::uint32_t>(numbers(distribution::quarter_uniform, n, 0xFFFFFFFF, 256));
      const auto added = random_items<std::int16_t>(n, 3);
      std::vector<TestType> expected(static_cast<std::size_t>(bins), TestType{});
      std::uint64_t outside = 0;
      for (std::size_t i = 0; i < items.size(); ++i) {
        const auto b = items[i] % static_cast<std::uint32_t>(bins + 3);
        if (b < bins) {
          expected[b] = static_cast<TestType>(expected[b] + static_cast<TestType>(added[i]));
        } else {
          ++outside;
        }
      }
      const array<std::uint32_t> in(items, 1);
      const array<std::int16_t> weights(added, 2);
      const array<TestType> counts(bins, TestType{77});
      const cell<lanewise::status> errors;

      lanewise::histogram(make_space(), in.const_view(), weights.const_view(), counts.view(),
                          modulo{static_cast<std::uint32_t>(bins + 3)}, {.errors = errors.view()});

      CHECK(difference(counts.items(), expected) == "");
      CHECK(errors.get().bad_items == outside);
      CHECK(counts.guards_intact());
    }
  }
}
