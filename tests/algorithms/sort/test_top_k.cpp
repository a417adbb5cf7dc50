// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "check_top_k.hpp"

namespace {

using namespace top_k_checks;

std::vector<std::uint64_t> numbers_of_clusters(std::int64_t n) {
  auto items = random_items<std::uint64_t>(n, 99'999);
  for (auto& x : items) x += (x % 4) << 56;
  return items;
}

}  // namespace

TEMPLATE_TEST_CASE("The k first of few items", "[top_k]", std::uint32_t,
                   double MORE_TYPES(std::uint8_t)) {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 513, 1000, 3001}) {
    const auto items = any_keys<TestType>(n);
    for (const std::int64_t k : counts_up_to(n)) check_top_k(items, k, k % 2 == 0, k % 3 == 0, {});
  }
}

TEMPLATE_TEST_CASE("The k first of many items", "[top_k][long]", std::uint32_t,
                   double MORE_TYPES(std::uint8_t)) {
  // Around the ends of units.
  for (const std::int64_t n : {101, 1023, 1024, 1025, 5000, 40'000}) {
    const auto items = any_keys<TestType>(n);
    for (const std::int64_t k : counts_up_to(n)) {
      check_top_k(items, k, k % 2 == 0, k % 3 == 0, without_sample);
      check_top_k(items, k, k % 2 == 1, k % 3 == 1, with_sample);
    }
  }
}

TEST_CASE("The k first of every distribution", "[top_k][long]") {
  const std::int64_t n = 20'000;
  for (const distribution d : all_distributions) {
    CAPTURE(d);
    for (const std::uint64_t most : {~std::uint32_t{0}, 255u, 1u}) {
      const auto items = items_of<std::uint32_t>(numbers(d, n, most, 256));
      for (const std::int64_t k : {1, 50, 400, 9000}) {
        check_top_k(items, k, false, false, with_sample);
        check_top_k(items, k, true, k <= 400, with_sample);
      }
      check_top_k(items, 400, true, true, without_sample);
    }
  }
}

TEST_CASE("The k first of items in clusters", "[top_k]") {
  // What lies between two bounds is in two clusters, so that digits between say little at first.
  auto items = numbers_of_clusters(20'000);
  for (const std::int64_t k : {5000, 5003, 10'000, 15'000, 19'000}) {
    check_top_k(items, k, false, false, with_sample);
    check_top_k(items, k, true, false, without_sample);
  }
}

TEST_CASE("The k first of few items of which a sample misleads", "[top_k]") {
  for (const std::uint32_t seen : {0u, ~0u}) {
    const auto items = misleading_items(4096, seen, 1000, 256);
    for (const std::int64_t k : {1, 16, 256, 2048, 4000}) {
      check_top_k(items, k, false, false, {});
      check_top_k(items, k, true, true, {});
    }
  }
}

TEST_CASE("The k first of a few items, small", "[top_k][sanitize]") {
  const auto items = items_of<std::uint32_t>(numbers(distribution::few_distinct, 2500, 999, 256));
  check_top_k(items, 70, false, true, {});
  check_top_k(items, 70, false, true, without_sample);
  check_top_k(items, 5, true, false, with_sample);
  check_nth_element(items, 1200, with_sample);
}
