// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/merge/set_operations.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/orders.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <iterator>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
struct with_value {
  T key;
  u64 value;
};
template <class T>
struct by_key_order {
  bool operator()(const with_value<T>& x, const with_value<T>& y) const {
    return order_of<T>{}(x.key, y.key);
  }
};

/// Checks call(a, values_a, b, values_b, out, values_out, count) against what the standard library
/// makes of the pairs.
template <class T, class Call, class Expected>
void check_set_call(const std::vector<T>& a, const std::vector<T>& b, Call call, Expected expected,
                    std::int64_t places) {
  std::vector<with_value<T>> pairs_a, pairs_b, result;
  std::vector<u64> values_a, values_b;
  for (const T& x : a) {
    values_a.push_back(2 * values_a.size());
    pairs_a.push_back({x, values_a.back()});
  }
  for (const T& x : b) {
    values_b.push_back(2 * values_b.size() + 1);
    pairs_b.push_back({x, values_b.back()});
  }
  expected(pairs_a, pairs_b, std::back_inserter(result));
  const array<T> in_a(a, 1), in_b(b), out(places, item_of<T>(77)), keys(places, item_of<T>(77), 1);
  const array<u64> with_a(values_a), with_of_b(values_b), out_values(places, u64{77});
  const cell<std::int64_t> count(-1), key_count(-1);
  call(in_a, in_b, out, count);
  call(in_a, with_a, in_b, with_of_b, keys, out_values, key_count);
  std::vector<T> items = out.original();
  std::vector<u64> values = out_values.original();
  for (std::size_t i = 0; i < result.size() && i < items.size(); ++i) {
    items[i] = result[i].key;
    values[i] = result[i].value;
  }
  CHECK(count.get() == static_cast<std::int64_t>(result.size()));
  CHECK(key_count.get() == static_cast<std::int64_t>(result.size()));
  CHECK(difference(out.items(), items) == "");
  CHECK(difference(keys.items(), items) == "");
  CHECK(difference(out_values.items(), values) == "");
  CHECK((out.guards_intact() && keys.guards_intact() && out_values.guards_intact()));
  CHECK((in_a.unchanged() && in_b.unchanged() && with_a.unchanged()));
}

/// Both forms of a call.
template <class T>
struct intersection_call {
  void operator()(const array<T>& a, const array<T>& b, const array<T>& out,
                  const cell<std::int64_t>& count) const {
    lanewise::set_intersection(make_space(), a.const_view(), b.const_view(), out.view(),
                               count.view(), order_of<T>{});
  }
  void operator()(const array<T>& a, const array<u64>& va, const array<T>& b, const array<u64>&,
                  const array<T>& out, const array<u64>& v_out,
                  const cell<std::int64_t>& count) const {
    lanewise::set_intersection_by_key(make_space(), a.const_view(), va.const_view(), b.const_view(),
                                      out.view(), v_out.view(), count.view(), order_of<T>{});
  }
};
template <class T>
struct difference_call {
  void operator()(const array<T>& a, const array<T>& b, const array<T>& out,
                  const cell<std::int64_t>& count) const {
    lanewise::set_difference(make_space(), a.const_view(), b.const_view(), out.view(), count.view(),
                             order_of<T>{});
  }
  void operator()(const array<T>& a, const array<u64>& va, const array<T>& b, const array<u64>&,
                  const array<T>& out, const array<u64>& v_out,
                  const cell<std::int64_t>& count) const {
    lanewise::set_difference_by_key(make_space(), a.const_view(), va.const_view(), b.const_view(),
                                    out.view(), v_out.view(), count.view(), order_of<T>{});
  }
};
template <class T>
struct union_call {
  void operator()(const array<T>& a, const array<T>& b, const array<T>& out,
                  const cell<std::int64_t>& count) const {
    lanewise::set_union(make_space(), a.const_view(), b.const_view(), out.view(), count.view(),
                        order_of<T>{});
  }
  void operator()(const array<T>& a, const array<u64>& va, const array<T>& b, const array<u64>& vb,
                  const array<T>& out, const array<u64>& v_out,
                  const cell<std::int64_t>& count) const {
    lanewise::set_union_by_key(make_space(), a.const_view(), va.const_view(), b.const_view(),
                               vb.const_view(), out.view(), v_out.view(), count.view(),
                               order_of<T>{});
  }
};

template <class T>
void check_set_operations(const std::vector<T>& a, const std::vector<T>& b, bool is_short = false) {
  const auto n_a = static_cast<std::int64_t>(a.size()), n_b = static_cast<std::int64_t>(b.size());
  CAPTURE(n_a, n_b, is_short);
  const by_key_order<T> less;
  check_set_call(
      a, b, intersection_call<T>{},
      [&](const auto& x, const auto& y, auto out) {
        std::set_intersection(x.begin(), x.end(), y.begin(), y.end(), out, less);
      },
      is_short ? n_a / 3 : n_a);
  check_set_call(
      a, b, difference_call<T>{},
      [&](const auto& x, const auto& y, auto out) {
        std::set_difference(x.begin(), x.end(), y.begin(), y.end(), out, less);
      },
      is_short ? n_a / 3 : n_a);
  check_set_call(
      a, b, union_call<T>{},
      [&](const auto& x, const auto& y, auto out) {
        std::set_union(x.begin(), x.end(), y.begin(), y.end(), out, less);
      },
      is_short ? n_b / 3 : n_a + n_b);
}

struct numbers_from {
  u32 first;
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const { return first + static_cast<u32>(i); }
};

// No orders.
struct never_less {
  KOKKOS_FUNCTION bool operator()(u32, u32) const { return false; }
};
struct always_less {
  KOKKOS_FUNCTION bool operator()(u32, u32) const { return true; }
};
struct mixed_less {
  KOKKOS_FUNCTION bool operator()(u32 x, u32 y) const {
    return (((x * 2654435761u) ^ y) & 1u) != 0;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("Set operations are those of the standard library", "[set_operations]", u32,
                   affine MORE_TYPES(std::uint8_t)) {
  const std::int64_t tile = lanewise::kernels::merge_tile_items<TestType, space>;
  for (const std::int64_t n_a : {std::int64_t{0}, std::int64_t{1}, std::int64_t{40}, tile + 17}) {
    for (const std::int64_t n_b :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{37}, 2 * tile - 3}) {
      for (const u64 distinct : {u64{1}, u64{4}, u64{200}})
        check_set_operations(sorted_items<TestType>(n_a, distinct, 1),
                             sorted_items<TestType>(n_b, distinct, 2));
    }
  }
  check_set_operations(sorted_items<TestType>(500, 200, 3), sorted_items<TestType>(900, 200, 4),
                       true);
}

TEST_CASE("Sets of many different items", "[set_operations]") {
  const std::int64_t n = is_emulated ? 9000 : 300'000;
  const auto m = static_cast<u64>(n);
  check_set_operations(sorted_items<u32>(n, m, 1), sorted_items<u32>(n + 5, m, 2));
  check_set_operations(sorted_items<u32>(n, 100 * m, 1), sorted_items<u32>(100, 100 * m, 2));
}

TEST_CASE("Sets of runs that are longer than tiles", "[set_operations]") {
  const std::int64_t tile = lanewise::kernels::merge_tile_items<u32, space>;
  const std::int64_t n = is_emulated ? 4 * tile : std::min<std::int64_t>(4 * tile, 100'000);
  const auto runs = [](std::initializer_list<std::pair<u32, std::int64_t>> lengths) {
    std::vector<u32> items;
    for (const auto& [key, length] : lengths)
      items.insert(items.end(), static_cast<std::size_t>(length), key);
    return items;
  };
  const auto both = [](const std::vector<u32>& a, const std::vector<u32>& b) {
    check_set_operations(a, b);
    check_set_operations(b, a);
  };
  // One run, which begins and ends among others, and whose partners lie tiles apart.
  both(runs({{7, n}}), runs({{7, n / 3}}));
  both(runs({{7, n}}), runs({{7, n}}));
  both(runs({{3, 5}, {7, n}, {9, 4}}), runs({{2, 3}, {7, n - 1}, {9, 7}}));
  both(runs({{3, 5}, {7, n / 2 + 1}, {9, n / 3}}), runs({{7, n / 2}, {9, n / 3 + 1}, {11, 1}}));
  both(runs({{3, n}}), runs({{4, n}}));
  // An item before a tile's edge, at it and after it has its partner on either side.
  for (const std::int64_t shift : {-2, -1, 0, 1, 2}) {
    std::vector<u32> a(static_cast<std::size_t>(tile + shift), 1u), b{2, 2, 2, 5};
    a.insert(a.end(), {2, 2, 5, 5, 6});
    both(a, b);
    both(a, {1, 1, 5, 5, 5});
  }
}

TEST_CASE("Sets of regular items, and of such beside others", "[set_operations]") {
  const std::int64_t n = is_emulated ? 3000 : 40'000;
  const auto made_of = [](std::int64_t count, auto item) {
    std::vector<u32> items;
    for (std::int64_t i = 0; i < count; ++i) items.push_back(static_cast<u32>(item(i)));
    return items;
  };
  const auto twice = made_of(n, [](std::int64_t i) { return 2 * i; });
  check_set_operations(twice, made_of(n, [](std::int64_t i) { return 2 * i + 1; }));
  check_set_operations(twice, made_of(n, [](std::int64_t i) { return 3 * i; }));
  check_set_operations(twice, made_of(9, [&](std::int64_t i) { return i * n / 6; }));
  // Ranges that follow each other, and have some items in common.
  const auto ranges = [&](std::int64_t first) {
    return made_of(n, [&](std::int64_t i) { return i + i / 500 * 450 + first; });
  };
  check_set_operations(ranges(0), ranges(480));
  // Regular in front, random after, and the other way around; few are equal to their neighbours.
  const auto random = sorted_items<u32>(n, 3 * static_cast<u64>(n), 1);
  for (const bool regular_first : {false, true}) {
    const std::int64_t end = 3 * n;
    const auto mixed = [&](const std::vector<u32>& x) {
      std::vector<u32> items(regular_first ? x : random);
      for (const u32 y : regular_first ? random : x) items.push_back(static_cast<u32>(end + y));
      return items;
    };
    check_set_operations(mixed(twice),
                         mixed(made_of(n, [](std::int64_t i) { return 2 * i + i % 2; })));
  }
}

TEST_CASE("Sets with values of a source", "[set_operations]") {
  const auto a = sorted_items<u32>(300, 150, 1), b = sorted_items<u32>(400, 150, 2);
  const array<u32> in_a(a), in_b(b), keys(700, 77u), values(700, 77u);
  const cell<std::int64_t> count;
  lanewise::set_union_by_key(
      make_space(), in_a.const_view(), lanewise::generated(300, numbers_from{0}), in_b.const_view(),
      lanewise::generated(400, numbers_from{1000}), keys.view(), values.view(), count.view());
  std::vector<with_value<u32>> pairs_a, pairs_b, result;
  for (const u32 x : a) pairs_a.push_back({x, pairs_a.size()});
  for (const u32 x : b) pairs_b.push_back({x, 1000 + pairs_b.size()});
  std::set_union(pairs_a.begin(), pairs_a.end(), pairs_b.begin(), pairs_b.end(),
                 std::back_inserter(result), by_key_order<u32>{});
  std::vector<u32> expected;
  for (const auto& x : result) expected.push_back(static_cast<u32>(x.value));
  CHECK(count.get() == static_cast<std::int64_t>(result.size()));
  CHECK(difference(values.items(), expected, values.original()) == "");
}

TEST_CASE("Set operations stay inside where nothing is in order", "[set_operations][sanitize]") {
  const std::int64_t n = is_emulated ? 5000 : 20'000;
  std::vector<u32> a, b;
  for (std::int64_t i = 0; i < n; ++i) {
    a.push_back(static_cast<u32>(i * 7919 % 1013));
    b.push_back(static_cast<u32>(i * 104729 % 997));
  }
  const array<u32> in_a(a, 1), in_b(b), out(2 * n, 77u);
  const auto check = [&](auto less) {
    const auto exec = make_space();
    const auto most = [&](std::int64_t found, std::int64_t bound) {
      CHECK(found >= 0);
      CHECK(found <= bound);
    };
    most(lanewise::set_union(exec, in_a.const_view(), in_b.const_view(), out.view(), less), 2 * n);
    most(lanewise::set_intersection(exec, in_a.const_view(), in_b.const_view(), out.view(), less),
         n);
    most(lanewise::set_difference(exec, in_a.const_view(), in_b.const_view(), out.view(), less), n);
    CHECK((out.guards_intact() && in_a.unchanged() && in_b.unchanged()));
  };
  check(lanewise::less{});
  check(never_less{});
  check(always_less{});
  check(mixed_less{});
}

TEST_CASE("Set operations return their counts and refuse what they cannot do", "[set_operations]") {
  const auto exec = make_space();
  const array<u32> a(std::vector<u32>{1, 2, 2, 5}), b(std::vector<u32>{2, 5, 6}), out(7, 77u);
  CHECK(lanewise::set_union(exec, a.const_view(), b.const_view(), out.view()) == 5);
  CHECK(lanewise::set_intersection(exec, a.const_view(), b.const_view(), out.view()) == 2);
  CHECK(lanewise::set_difference(exec, a.const_view(), b.const_view(), out.view()) == 2);
  const cell<std::int64_t> count;
  CHECK_THAT(refusal([&] {
               lanewise::set_union(exec, a.const_view(), b.const_view(), a.view(), count.view());
             }),
             ContainsSubstring("lanewise::set_union: a [") && ContainsSubstring("overlap"));
  CHECK_THAT(refusal([&] {
               lanewise::set_difference_by_key(exec, a.const_view(), b.const_view(), b.const_view(),
                                               out.view(), out.view(), count.view());
             }),
             ContainsSubstring("values_a has 3 items, keys_a has 4"));
}

TEST_CASE("Set operations take counts from the device", "[set_operations][sanitize]") {
  const auto a = sorted_items<u32>(300, 150, 1), b = sorted_items<u32>(400, 150, 2);
  const array<u32> in_a(a), in_b(b), out(700, 77u);
  const cell<std::int64_t> count_a(200), count_b(250), count;
  std::vector<u32> expected;
  std::set_union(a.begin(), a.begin() + 200, b.begin(), b.begin() + 250,
                 std::back_inserter(expected));
  lanewise::set_union(make_space(), in_a.const_view(), in_b.const_view(), out.view(), count.view(),
                      lanewise::less{}, {.count_a = count_a.view(), .count_b = count_b.view()});
  CHECK(count.get() == static_cast<std::int64_t>(expected.size()));
  CHECK(difference(out.items(), expected, out.original()) == "");
}
