// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/merge/merge_sort.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/orders.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <numeric>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;

template <class T>
constexpr std::int64_t merge_sort_tile =
    lanewise::kernels::merge_sort_layout<T, space>::merging::items;

template <class T>
void check_merge_sort(const std::vector<T>& items, int shift = 0) {
  const auto n = static_cast<std::int64_t>(items.size());
  CAPTURE(n, shift);
  auto expected = items;
  std::stable_sort(expected.begin(), expected.end(), order_of<T>{});
  const array<T> in(items, shift), data(items, 1 - shift);
  const array<T> out(n, item_of<T>(77), shift);
  lanewise::merge_sort(make_space(), in.const_view(), out.view(), order_of<T>{});
  lanewise::merge_sort(make_space(), data.view(), order_of<T>{});
  CHECK(difference(out.items(), expected) == "");
  CHECK(difference(data.items(), expected) == "");
  CHECK(in.unchanged());
  CHECK(out.guards_intact());
  CHECK(data.guards_intact());
}

/// Values tell where their keys were.
template <class V, class T>
void check_merge_sort_by_key(const std::vector<T>& keys) {
  const auto n = static_cast<std::int64_t>(keys.size());
  CAPTURE(n);
  std::vector<std::int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<V> values;
  for (const std::int64_t i : order) values.push_back(item_of<V>(static_cast<std::uint64_t>(i)));
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return order_of<T>{}(keys[static_cast<std::size_t>(i)], keys[static_cast<std::size_t>(j)]);
  });
  const array<T> in(keys), data(keys, 1);
  const array<V> in_values(values, 1), data_values(values);
  const array<T> out(n, item_of<T>(77));
  const array<V> out_values(n, item_of<V>(77));
  lanewise::merge_sort_by_key(make_space(), in.const_view(), in_values.const_view(), out.view(),
                              out_values.view(), order_of<T>{});
  lanewise::merge_sort_by_key(make_space(), data.view(), data_values.view(), order_of<T>{});
  const auto expected = oracle::gather(keys, order);
  const auto expected_values = oracle::gather(values, order);
  CHECK(difference(out.items(), expected) == "");
  CHECK(difference(out_values.items(), expected_values) == "");
  CHECK(difference(data.items(), expected) == "");
  CHECK(difference(data_values.items(), expected_values) == "");
  CHECK((in.unchanged() && in_values.unchanged()));
  CHECK((out.guards_intact() && out_values.guards_intact()));
  CHECK((data.guards_intact() && data_values.guards_intact()));
}

/// Orders that are none: never, always, and by a hash of both.
struct never {
  KOKKOS_FUNCTION bool operator()(u32, u32) const { return false; }
};
struct always {
  KOKKOS_FUNCTION bool operator()(u32, u32) const { return true; }
};
struct by_hash {
  KOKKOS_FUNCTION bool operator()(u32 x, u32 y) const {
    return ((x * 2654435761u) ^ (y * 2246822519u)) >> 31 != 0;
  }
};

template <class Less>
void check_no_order(std::int64_t n) {
  const array<u32> in(random_items<u32>(n)), out(n, 77u, 1);
  lanewise::merge_sort(make_space(), in.const_view(), out.view(), Less{});
  (void)out.items();
  CHECK(out.guards_intact());
  CHECK(in.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("merge_sort is stable at every size", "[merge_sort]", u32,
                   affine MORE_TYPES(std::uint8_t, double)) {
  const std::int64_t tile = merge_sort_tile<TestType>;
  for (const std::int64_t n : sizes_around(tile))
    check_merge_sort(items_with_equals<TestType>(n, 1000, 1), static_cast<int>(n % 2));
  check_merge_sort(items_with_equals<TestType>((is_emulated ? 5 : 9) * tile + 3, 200, 2));
}

TEST_CASE("merge_sort moves values of any size", "[merge_sort]") {
  for (const std::int64_t n : sizes_around(merge_sort_tile<u32>))
    check_merge_sort_by_key<u32>(items_with_equals<u32>(n, 300, 3));
  for (const std::int64_t n : {std::int64_t{1}, 2 * merge_sort_tile<affine> + 5})
    check_merge_sort_by_key<counters>(items_with_equals<affine>(n, 300, 4));
}

/// Keeps a result that is twice the item, at a place of its own from the end on.
struct store_from_the_end {
  u32* data;
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t i, u32 x) const { data[n - 1 - i] = 2 * x; }
};

TEST_CASE("merge_sort writes to sinks", "[merge_sort][sanitize]") {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{33}, 2 * merge_sort_tile<u32> + 5}) {
    CAPTURE(n);
    const auto items = items_with_equals<u32>(n, 300, 6);
    std::vector<u32> order(items.size());
    std::iota(order.begin(), order.end(), 0u);
    const array<u32> keys(items), values(order), out(n, 77u), beside(n, 77u);
    const auto sink = lanewise::consumed(n, store_from_the_end{out.data(), n});
    lanewise::merge_sort(make_space(), keys.const_view(), sink);
    auto expected = items;
    std::sort(expected.begin(), expected.end());
    std::reverse(expected.begin(), expected.end());
    for (u32& x : expected) x *= 2;
    CHECK(difference(out.items(), expected) == "");

    lanewise::merge_sort_by_key(make_space(), keys.const_view(), values.const_view(), beside.view(),
                                sink);
    std::stable_sort(order.begin(), order.end(), [&](u32 i, u32 j) { return items[i] < items[j]; });
    std::vector<u32> sorted;
    for (const u32 i : order) sorted.push_back(items[i]);
    CHECK(difference(beside.items(), sorted) == "");
    std::reverse(order.begin(), order.end());
    for (u32& x : order) x *= 2;
    CHECK(difference(out.items(), order) == "");
    CHECK((keys.unchanged() && values.unchanged()));
    CHECK((out.guards_intact() && beside.guards_intact()));
  }
}

TEST_CASE("Four runs are merged at a time", "[merge_sort]") {
  const std::int64_t tile = merge_sort_tile<u32>;
  for (const std::int64_t n : {3 * tile, 7 * tile + 11, 16 * tile + 1, 17 * tile}) {
    for (const std::uint64_t distinct : {1, 5, 1'000'000}) {
      CAPTURE(n, distinct);
      const auto items = items_with_equals<u32>(n, distinct, 5);
      std::vector<u32> order(items.size());
      std::iota(order.begin(), order.end(), 0u);
      const array<u32> keys(items), values(order);
      const lanewise::array_source<u32, lanewise::identity> key{keys.data(), n, {}},
          value{values.data(), n, {}};
      const lanewise::array_sink<u32> key_out{keys.data(), n}, value_out{values.data(), n};
      lanewise::kernels::merge_sort(make_space(), "merge_sort", key, key_out, value, value_out,
                                    true, lanewise::less{}, {}, 1);
      std::stable_sort(order.begin(), order.end(),
                       [&](u32 i, u32 j) { return items[i] < items[j]; });
      CHECK(difference(values.items(), order) == "");
      auto expected = items;
      std::stable_sort(expected.begin(), expected.end());
      CHECK(difference(keys.items(), expected) == "");
      CHECK((keys.guards_intact() && values.guards_intact()));
      keys.assign(items);
      lanewise::kernels::merge_sort(make_space(), "merge_sort", key, key_out,
                                    lanewise::kernels::no_values{}, lanewise::kernels::no_values{},
                                    true, lanewise::less{}, {}, 1);
      CHECK(difference(keys.items(), expected) == "");
    }
  }
}

TEST_CASE("Items in runs, of which some are equal, keep their order", "[merge_sort][sanitize]") {
  const char* const shapes[] = {"nearly sorted", "reversed", "swapped halves", "by turns"};
  const std::int64_t tile = merge_sort_tile<u32>;
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{333}, 2 * tile + 77}) {
    const auto random = random_items<u32>(n);
    for (int shape = 0; shape < 4; ++shape) {
      CAPTURE(shapes[shape]);
      std::vector<u32> keys;
      for (std::int64_t i = 0; i < n; ++i) {
        const u32 any = random[static_cast<std::size_t>(i)];
        const bool displaced = any / 65536 % 50 == 0;
        const std::int64_t number[] = {displaced ? any % n : i, n - i, (i + n / 2) % n,
                                       i % 100 * (n / 100) + i / 100};
        keys.push_back(static_cast<u32>(number[shape] / 3));
      }
      check_merge_sort(keys);
      check_merge_sort_by_key<u32>(keys);
    }
  }
}

TEMPLATE_TEST_CASE("merge_sort stays in its arrays whatever less says", "[merge_sort][sanitize]",
                   never, always, by_hash) {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{700}, 3 * merge_sort_tile<u32> + 7})
    check_no_order<TestType>(n);
}

TEST_CASE("Items that are sorted, in either way, and all alike are sorted",
          "[merge_sort][sanitize]") {
  const std::int64_t n = merge_sort_tile<u32> + 100;
  for (const auto d : {distribution::sorted, distribution::reversed, distribution::equal})
    check_merge_sort(items_of<u32>(numbers(d, n, most_number<u32>(), 256)));
}

TEST_CASE("merge_sort reads a source, and as many items as a count says",
          "[merge_sort][sanitize]") {
  const std::int64_t n = merge_sort_tile<u32> + 300;
  const auto items = random_items<u32>(n);
  const array<u32> in(items), out(n, 77u);
  for (const std::int64_t used : {std::int64_t{0}, std::int64_t{5}, n - 1, n + 9}) {
    CAPTURE(used);
    const cell<std::int64_t> count(used);
    out.assign(out.original());
    lanewise::merge_sort(make_space(), lanewise::transformed(in.const_view(), square_plus_one{}),
                         out.view(), lanewise::less{}, {.count = count.view()});
    std::vector<u32> expected;
    for (std::int64_t i = 0; i < std::min(used, n); ++i)
      expected.push_back(square_plus_one{}(items[static_cast<std::size_t>(i)]));
    std::sort(expected.begin(), expected.end());
    CHECK(difference(out.items(), expected, out.original()) == "");
    CHECK(out.guards_intact());
  }
}

TEST_CASE("merge_sort works in a workspace of the size it says", "[merge_sort]") {
  const std::int64_t n = 3 * merge_sort_tile<u32> + 1;
  const auto items = random_items<u32>(n);
  const auto exec = make_space();
  lanewise::workspace work;
  lanewise::reserve(exec, work, lanewise::merge_sort_workspace<u32, space>(n, sizeof(double)));
  const std::size_t bytes = work.bytes();
  const array<u32> keys(items);
  const array<double> values(n, 1.0);
  lanewise::merge_sort_by_key(exec, keys.view(), values.view(), lanewise::less{}, {.work = &work});
  lanewise::merge_sort(exec, keys.view(), lanewise::less{}, {.work = &work});
  auto expected = items;
  std::sort(expected.begin(), expected.end());
  CHECK(difference(keys.items(), expected) == "");
  CHECK(work.bytes() == bytes);
}

TEST_CASE("merge_sort refuses what it cannot do", "[merge_sort]") {
  const auto exec = make_space();
  const array<u32> in(12, 1u), out(11, 77u);
  CHECK_THAT(refusal([&] { lanewise::merge_sort(exec, in.const_view(), out.view()); }),
             ContainsSubstring("lanewise::merge_sort: out has 11 places, in has 12 items"));
  CHECK_THAT(refusal([&] { lanewise::merge_sort_by_key(exec, in.view(), out.view()); }),
             ContainsSubstring("merge_sort_by_key: values has 11 items, keys has 12"));
  CHECK_THAT(refusal([&] { lanewise::merge_sort_by_key(exec, in.view(), in.view()); }),
             ContainsSubstring("overlap"));
  const auto part = Kokkos::subview(in.view(), std::pair<int, int>(0, 6));
  const auto next = Kokkos::subview(in.view(), std::pair<int, int>(3, 12));
  CHECK_THAT(refusal([&] { lanewise::merge_sort(exec, part, next); }),
             ContainsSubstring("overlap"));
  CHECK((in.unchanged() && out.unchanged()));
}
