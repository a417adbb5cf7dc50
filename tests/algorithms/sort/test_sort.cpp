// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sort/sort.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/sort/check_radix_sort.hpp>

// sort, sort_by_key and argsort: by radix, and by any order.

using namespace test;

namespace {

struct greater_half {
  KOKKOS_FUNCTION bool operator()(std::uint32_t a, std::uint32_t b) const { return a / 2 > b / 2; }
};

std::vector<std::size_t> order_by_greater_half(const std::vector<std::uint32_t>& keys) {
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return greater_half{}(keys[a], keys[b]); });
  return order;
}

}  // namespace

TEST_CASE("sort and sort_by_key work in place", "[sort][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{333}, 2 * few_sorted<std::uint32_t>() + 7}) {
    CAPTURE(n);
    auto items = sorting_keys<std::uint32_t>(distribution::uniform, n);
    for (auto& item : items) item %= 5000;
    const array<std::uint32_t> keys(items, 1), values(places(items.size()), 2);
    lanewise::sort(exec, keys.view());
    CHECK(difference_in_bits(keys.items(), items, sorted_order(items, {})) == "");
    keys.assign(items);
    lanewise::sort(exec, keys.view(), greater_half{});
    CHECK(difference_in_bits(keys.items(), items, order_by_greater_half(items)) == "");
    keys.assign(items);
    const lanewise::sort_options down{.order = lanewise::sort_order::descending};
    lanewise::sort_by_key(exec, keys.view(), values.view(), down);
    CHECK(difference_in_bits(keys.items(), items, sorted_order(items, down)) == "");
    CHECK(difference_in_bits(values.items(), values.original(), sorted_order(items, down)) == "");
    keys.assign(items);
    values.assign(values.original());
    lanewise::sort_by_key(exec, keys.view(), values.view(), greater_half{});
    CHECK(difference_in_bits(keys.items(), items, order_by_greater_half(items)) == "");
    CHECK(difference_in_bits(values.items(), values.original(), order_by_greater_half(items)) ==
          "");
    CHECK(keys.guards_intact());
    CHECK(values.guards_intact());
  }
}

TEST_CASE("sort and sort_by_key take strided Views", "[sort]") {
  const auto exec = make_space();
  const std::int64_t n = 777;
  const array<std::uint32_t> table(sorting_keys<std::uint32_t>(distribution::uniform, 3 * n), 1);
  const auto column = [&](std::size_t c) {
    return Kokkos::View<std::uint32_t*, Kokkos::LayoutStride, memory, Kokkos::MemoryUnmanaged>(
        table.data() + c, Kokkos::LayoutStride(static_cast<std::size_t>(n), 3));
  };
  const auto items = [&](const std::vector<std::uint32_t>& all, std::size_t c) {
    std::vector<std::uint32_t> r;
    for (std::size_t i = c; i < all.size(); i += 3) r.push_back(all[i]);
    return r;
  };
  const auto keys = items(table.original(), 0), values = items(table.original(), 1),
             others = items(table.original(), 2);
  const auto order = sorted_order(keys, {});
  lanewise::sort_by_key(exec, column(0), column(1));
  lanewise::sort(exec, column(2), greater_half{});
  const auto sorted = table.items();
  CHECK(difference_in_bits(items(sorted, 0), keys, order) == "");
  CHECK(difference_in_bits(items(sorted, 1), values, order) == "");
  CHECK(difference_in_bits(items(sorted, 2), others, order_by_greater_half(others)) == "");
  lanewise::sort(exec, column(2));
  const array<std::uint32_t> plain(values, 1);
  lanewise::sort_by_key(exec, column(1), plain.view(), greater_half{});
  const auto again = table.items();
  CHECK(difference_in_bits(items(again, 2), others, sorted_order(others, {})) == "");
  const auto by_half = order_by_greater_half(items(sorted, 1));
  CHECK(difference_in_bits(items(again, 1), items(sorted, 1), by_half) == "");
  CHECK(difference_in_bits(plain.items(), values, by_half) == "");
  CHECK(table.guards_intact());
  CHECK(plain.guards_intact());
}

TEST_CASE("argsort says where the keys were", "[sort]") {
  const auto exec = make_space();
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{500}, 2 * few_sorted<std::uint32_t>() + 7}) {
    CAPTURE(n);
    auto items = sorting_keys<std::uint32_t>(distribution::few_distinct, n);
    const array<std::uint32_t> keys(items), indices(n, 7u, 1);
    lanewise::argsort(exec, keys.const_view(), indices.view());
    const auto expected = sorted_order(items, {});
    CHECK(indices.items() == std::vector<std::uint32_t>(expected.begin(), expected.end()));
    CHECK(keys.unchanged());
    CHECK(indices.guards_intact());
  }
  const array<std::uint32_t> keys(10, 1u), indices(9, 0u);
  CHECK_THROWS_WITH(
      lanewise::argsort(exec, keys.view(), indices.view()),
      Catch::Matchers::ContainsSubstring("argsort: indices has 9 places, keys has 10 items"));
}
