// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/hash/slab_hash_map.hpp>
#include <lanewise/histogram/histogram.hpp>
#include <lanewise/merge/merge_sort.hpp>
#include <lanewise/merge/set_operations.hpp>
#include <lanewise/search/sorted_search.hpp>
#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <lanewise/sort/radix_sort_by.hpp>
#include <lanewise/sort/top_k.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <vector>

// A namespace of a user's items and functors that has greedy function templates with the names of
// all functions that headers call. Argument-dependent lookup finds them, and they are the better
// match. A call that is not qualified is an error here: deleted functions are chosen, and then
// refused.

namespace app {

#define LANEWISE_CALLED_NAME(name)            \
  template <class... T_, class... A_>         \
  void name(A_&&...) = delete;                \
  template <auto v_, auto... w_, class... A_> \
  void name(A_&&...) = delete;
#include <called_names.inc>
#undef LANEWISE_CALLED_NAME

struct my_item {
  std::uint32_t number = 0, rank = 0;

  friend KOKKOS_FUNCTION bool operator==(const my_item& a, const my_item& b) {
    return a.number == b.number && a.rank == b.rank;
  }
};
struct my_item_of_place {
  KOKKOS_FUNCTION my_item operator()(std::int64_t i) const {
    return {static_cast<std::uint32_t>(i * 7919 % 1009), static_cast<std::uint32_t>(i)};
  }
};
struct my_double_of_place {
  KOKKOS_FUNCTION int operator()(std::int64_t i) const { return static_cast<int>(2 * i); }
};
struct my_number {
  KOKKOS_FUNCTION std::uint32_t operator()(const my_item& x) const { return x.number; }
};
struct my_bucket {
  KOKKOS_FUNCTION std::uint32_t operator()(const my_item& x) const { return x.number % 8; }
};
struct my_bin {
  KOKKOS_FUNCTION std::int64_t operator()(const my_item& x) const { return x.number % 8; }
};
struct my_choice {
  KOKKOS_FUNCTION bool operator()(const my_item& x) const { return x.number % 3 == 0; }
};
struct my_sum {
  KOKKOS_FUNCTION my_item operator()(const my_item& a, const my_item& b) const {
    return {a.number + b.number, a.rank + b.rank};
  }
};
struct my_addition {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};
struct my_order {
  KOKKOS_FUNCTION bool operator()(const my_item& a, const my_item& b) const {
    return a.number != b.number ? a.number < b.number : a.rank < b.rank;
  }
};
struct my_equality {
  KOKKOS_FUNCTION bool operator()(const my_item& a, const my_item& b) const {
    return a.number % 2 == b.number % 2;
  }
};

}  // namespace app

namespace {

using namespace test;

using app::my_item;
constexpr std::int64_t item_total = 1000;
const lanewise::identity as_is;

template <class T>
std::vector<T> host(const Kokkos::View<T*, memory>& view) {
  Kokkos::fence();
  return to_host(view.data(), static_cast<std::int64_t>(view.extent(0)));
}

std::vector<my_item> some_items() {
  std::vector<my_item> items;
  for (std::int64_t i = 0; i < item_total; ++i) items.push_back(app::my_item_of_place{}(i));
  return items;
}

struct arrays {
  space exec = make_space();
  std::vector<my_item> items = some_items();
  Kokkos::View<my_item*, memory> in{"in", item_total}, out{"out", item_total};

  arrays() {
    lanewise::transform(exec, lanewise::generated(item_total, app::my_item_of_place{}), in, as_is);
  }
};

}  // namespace

TEST_CASE("Functions of a user's namespace take no call of folds, scans and selections",
          "[called_names]") {
  const arrays a;
  CHECK(host(a.in) == a.items);

  my_item sum;
  std::vector<my_item> sums;
  for (const my_item& x : a.items) sums.push_back(sum = app::my_sum{}(sum, x));
  CHECK(lanewise::reduce(a.exec, a.in, app::my_sum{}, my_item{}) == sum);
  lanewise::inclusive_scan(a.exec, a.in, a.out, app::my_sum{});
  CHECK(host(a.out) == sums);

  std::vector<my_item> chosen;
  for (const my_item& x : a.items)
    if (app::my_choice{}(x)) chosen.push_back(x);
  const auto kept = lanewise::select_if(a.exec, a.in, a.out, app::my_choice{});
  std::vector<my_item> found = host(a.out);
  found.resize(static_cast<std::size_t>(kept));
  CHECK(found == chosen);

  const Kokkos::View<my_item*, memory> folded("folded", item_total / 10);
  lanewise::segmented_reduce(a.exec, a.in, 10, folded, app::my_sum{}, my_item{});
  CHECK(host(folded)[1] == my_item{sums[19].number - sums[9].number, sums[19].rank - sums[9].rank});

  // Runs of numbers of one parity.
  std::vector<my_item> totals;
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    const bool begins = i == 0 || !app::my_equality{}(a.items[i - 1], a.items[i]);
    totals.push_back(begins ? a.items[i] : app::my_sum{}(totals.back(), a.items[i]));
    if (!begins) totals.erase(totals.end() - 2);
  }
  const Kokkos::View<my_item*, memory> values("values", item_total);
  const auto runs =
      lanewise::reduce_by_key(a.exec, a.in, a.in, a.out, values, app::my_sum{}, app::my_equality{});
  found = host(values);
  found.resize(static_cast<std::size_t>(runs));
  CHECK(found == totals);
}

TEST_CASE("Functions of a user's namespace take no call of sorts and searches", "[called_names]") {
  const arrays a;
  std::vector<my_item> sorted = a.items;
  std::sort(sorted.begin(), sorted.end(), app::my_order{});
  lanewise::merge_sort(a.exec, a.in, a.out, app::my_order{});
  CHECK(host(a.out) == sorted);
  const Kokkos::View<std::int64_t*, memory> places("places", item_total);
  lanewise::lower_bound(a.exec, a.out, a.in, places, app::my_order{});
  CHECK(sorted[static_cast<std::size_t>(host(places)[17])] == a.items[17]);
  const Kokkos::View<my_item*, memory> both("both", 2 * item_total);
  CHECK(lanewise::set_union(a.exec, a.out, a.out, both, app::my_order{}) == item_total);

  std::vector<my_item> by_number = a.items;
  std::stable_sort(by_number.begin(), by_number.end(),
                   [](const my_item& x, const my_item& y) { return x.number < y.number; });
  lanewise::radix_sort_by(a.exec, a.in, a.out, app::my_number{});
  CHECK(host(a.out) == by_number);

  std::vector<my_item> split = a.items;
  std::stable_sort(split.begin(), split.end(),
                   [](const my_item& x, const my_item& y) { return x.number % 8 < y.number % 8; });
  lanewise::multisplit(a.exec, a.in, a.out, 8, app::my_bucket{});
  CHECK(host(a.out) == split);

  const Kokkos::View<int*, memory> largest("largest", 3);
  lanewise::top_k(a.exec, lanewise::generated(100, app::my_double_of_place{}), 3, largest);
  CHECK(host(largest) == std::vector<int>{194, 196, 198});
  CHECK(lanewise::min_element(a.exec, a.in, app::my_order{}).value == sorted[0]);
}

TEST_CASE("Functions of a user's namespace take no call of counts and tables", "[called_names]") {
  const arrays a;
  const Kokkos::View<std::uint32_t*, memory> counts("counts", 8);
  lanewise::histogram(a.exec, a.in, counts, app::my_bin{});
  std::vector<std::uint32_t> expected(8);
  for (const my_item& x : a.items) ++expected[x.number % 8];
  CHECK(host(counts) == expected);

  const Kokkos::View<std::uint32_t*, memory> keys("keys", item_total), ones("ones", item_total),
      values("values", item_total);
  lanewise::transform(a.exec, a.in, keys, app::my_bucket{});
  Kokkos::deep_copy(ones, 1u);
  lanewise::slab_hash_map<std::uint32_t, std::uint32_t, memory> map(a.exec, {.expected = 100});
  lanewise::upsert(a.exec, map, keys, ones, app::my_addition{});
  lanewise::find(a.exec, map, keys, values);
  CHECK(host(values)[5] == expected[a.items[5].number % 8]);
}
