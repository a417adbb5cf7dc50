// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "check_top_k.hpp"
#include <lanewise/sequence/is_sorted.hpp>

// Selections and is_sorted on a space that the macros before this header choose.

TEST_CASE("Selections on every mapping", "[top_k]") {
  using namespace top_k_checks;
  for (const std::uint64_t most : {~std::uint32_t{0}, 9u}) {
    const auto items = random_items<std::uint32_t>(3000, most);
    for (const std::int64_t k : {7, 60, 1500}) {
      check_top_k(items, k, false, true, {});
      check_top_k(items, k, true, k == 60, with_sample);
      check_top_k(items, k, false, k == 7, without_sample);
    }
    check_nth_element(items, 70, with_sample);
    // More than one run is sorted.
    check_top_k(random_items<std::uint32_t>(6000, most), 5000, false, true, {});
  }
}

TEST_CASE("is_sorted on every mapping", "[is_sorted]") {
  using namespace test;
  auto items = random_items<std::uint32_t>(5000);
  std::sort(items.begin(), items.end());
  const array<std::uint32_t> in(items);
  CHECK(lanewise::is_sorted(make_space(), in.const_view()));
  std::swap(items[3100], items[3101]);
  in.assign(items);
  const auto first = std::is_sorted_until(items.begin(), items.end()) - items.begin();
  CHECK(lanewise::is_sorted_until(make_space(), in.const_view()) == first);
}
