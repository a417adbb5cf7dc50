// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/search/sorted_search.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>

// Sorted searches, for mappings and widths other than the usual ones.

namespace {

using namespace test;

template <class T>
void check_search_of(std::int64_t n, std::int64_t q, int shift) {
  CAPTURE(n, q, shift);
  auto keys = random_items<T>(n, static_cast<std::uint64_t>(2 * n + 5));
  std::sort(keys.begin(), keys.end());
  auto queries = random_items<T>(q, static_cast<std::uint64_t>(2 * n + 9), 3);
  const array<std::int64_t> out(q, -7);
  const auto check_lower = [&] {
    std::vector<std::int64_t> expected;
    for (const T& x : queries)
      expected.push_back(std::lower_bound(keys.begin(), keys.end(), x) - keys.begin());
    CHECK(out.items() == expected);
    CHECK(out.guards_intact());
    out.assign(out.original());
  };
  const array<T> in(keys, shift);
  const lanewise::search_index<T, memory> index(make_space(), in.const_view());
  {
    const array<T> asked(queries);
    lanewise::lower_bound(make_space(), in.const_view(), asked.const_view(), out.view());
    check_lower();
    lanewise::lower_bound(make_space(), index, asked.const_view(), out.view());
    check_lower();
  }
  std::sort(queries.begin(), queries.end());
  const array<T> asked(queries);
  lanewise::lower_bound(make_space(), index, asked.const_view(), out.view(), lanewise::less{},
                        {.sorted_queries = true});
  check_lower();
}

}  // namespace

TEST_CASE("Bounds by any mapping and width", "[search][sanitize]") {
  check_search_of<std::uint32_t>(300, 77, 1);
  check_search_of<std::uint32_t>(20'000, 200, 3);
  check_search_of<std::uint32_t>(20'000, 900, 0);
  check_search_of<std::uint64_t>(9000, 300, 5);
}
