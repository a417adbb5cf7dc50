// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What differs by lane in a histogram: whole and ragged rows, tables in scratch and in the output.
#define LANEWISE_TEST_LANES
#include <lanewise/papers/ballot_histogram.hpp>

#include <algorithms/histogram/check_histogram.hpp>

using namespace test;

TEST_CASE("Histograms are made by lanes that run for themselves", "[histogram]") {
  const auto items = random_items<std::uint32_t>(5'003);
  check_modulo(items, 97, 100);
  check_modulo(items, 30'000, 31'000);
  check_range(items, std::vector<std::uint32_t>{0, 5, 1 << 20, 1 << 30, 1u << 31});
  const array<std::uint32_t> in(items), counts(30, 77u), sums(30, 77u);

  lanewise::papers::ballot_histogram(make_space(), in.const_view(), counts.view(), modulo{30});
  lanewise::histogram(make_space(), in.const_view(), in.const_view(), sums.view(), modulo{30});

  std::vector<std::uint32_t> count(30, 0), sum(30, 0);
  for (const std::uint32_t x : items) {
    ++count[x % 30];
    sum[x % 30] += x;
  }
  CHECK(difference(counts.items(), count) == "");
  CHECK(difference(sums.items(), sum) == "");
}
