// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/histogram/map_reduce.hpp>
#include <lanewise/histogram/sparse_histogram.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <bit>
#include <limits>
#include <map>

// Both are calls of the library one after the other, which have tests of their own: here is how
// they are joined.

using namespace test;

namespace {

using number_of_keys = cell<std::int64_t>;

/// Values with their counts, by the order of integers.
template <class T>
std::map<T, std::uint32_t> counted_items(const std::vector<T>& items) {
  std::map<T, std::uint32_t> count;
  for (const T x : items) ++count[x];
  return count;
}

template <class K, class V>
void check_keys_and_results(const array<K>& keys, const array<V>& values,
                            const std::map<K, V>& expected) {
  std::vector<K> key;
  std::vector<V> value;
  for (const auto& [k, v] : expected) {
    key.push_back(k);
    value.push_back(v);
  }
  // What does not fit is missing; what is after is as it was.
  key.resize(std::min(key.size(), keys.original().size()));
  value.resize(std::min(value.size(), values.original().size()));
  CHECK(difference(keys.items(), key, keys.original()) == "");
  CHECK(difference(values.items(), value, values.original()) == "");
  CHECK(keys.guards_intact());
  CHECK(values.guards_intact());
}

void check_sparse_histogram(const std::vector<std::uint32_t>& items, std::int64_t places) {
  const auto expected = counted_items(items);
  const array<std::uint32_t> in(items, 1), keys(places, 77u, 1), counts(places, 88u, 3);
  const number_of_keys number(-1);
  lanewise::sparse_histogram(make_space(), in.const_view(), keys.view(), counts.view(),
                             number.view());
  CHECK(number.get() == static_cast<std::int64_t>(expected.size()));
  check_keys_and_results(keys, counts, expected);
  CHECK(in.unchanged());
}

/// A key of few, and twice what is left.
struct last_digit_and_rest {
  KOKKOS_FUNCTION lanewise::tuple<std::uint32_t, std::uint32_t> operator()(std::uint32_t x) const {
    return {x % 61, x / 61 * 2};
  }
};
/// As a pair of an item and its value.
struct item_and_value {
  KOKKOS_FUNCTION lanewise::tuple<std::uint32_t, std::uint32_t> operator()(std::uint32_t x,
                                                                           std::uint32_t y) const {
    return {x, y};
  }
};
/// The last operand wins: associative, and does not commute.
struct last_of {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t, std::uint32_t b) const { return b; }
};

std::map<std::uint32_t, std::uint32_t> reduced_by_digit(const std::vector<std::uint32_t>& items) {
  std::map<std::uint32_t, std::uint32_t> sum;
  for (const std::uint32_t x : items) sum[x % 61] += x / 61 * 2;
  return sum;
}

}  // namespace

TEST_CASE("sparse_histogram counts items of every distribution", "[sparse_histogram][sanitize]") {
  for (const distribution d : all_distributions) {
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{700},
                                 is_emulated ? std::int64_t{5000} : some_tiles(8192)}) {
      CAPTURE(d, n);
      check_sparse_histogram(items_of<std::uint32_t>(numbers(d, n, 0xffffffffu, 256, 1)), n);
    }
  }
}

TEST_CASE("sparse_histogram counts equal items, and different ones", "[sparse_histogram]") {
  const std::int64_t n = 5000;
  std::vector<std::uint32_t> different;
  for (std::uint32_t i = 0; i < n; ++i) different.push_back(i * 2654435761u);
  check_sparse_histogram(different, n);
  check_sparse_histogram(std::vector<std::uint32_t>(n, 0xffffffffu), n);
  // Outputs that are too short, and one that has no place.
  check_sparse_histogram(different, 100);
  check_sparse_histogram(different, 0);
}

TEST_CASE("sparse_histogram tells floating-point numbers apart by their bits",
          "[sparse_histogram]") {
  using limits = std::numeric_limits<float>;
  const std::vector<float> ascending = {-limits::quiet_NaN(),
                                        -limits::infinity(),
                                        -1.0f,
                                        -0.0f,
                                        0.0f,
                                        1.0f,
                                        limits::infinity(),
                                        limits::quiet_NaN(),
                                        std::bit_cast<float>(0x7fc00001u)};
  std::vector<float> items;
  for (std::size_t i = 0; i < ascending.size(); ++i)
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2), i + 1,
                 ascending[i]);
  const array<float> in(items), keys(20, 0.5f);
  const array<std::uint8_t> counts(20, std::uint8_t{0});
  CHECK(lanewise::sparse_histogram(make_space(), in.const_view(), keys.view(), counts.view()) == 9);
  const auto found = keys.items();
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    CAPTURE(i);
    CHECK(std::bit_cast<std::uint32_t>(found[i]) == std::bit_cast<std::uint32_t>(ascending[i]));
    CHECK(counts.items()[i] == i + 1);
  }
}

TEST_CASE("sparse_histogram takes its options", "[sparse_histogram]") {
  const std::int64_t n = 4000;
  const auto items = random_items<std::uint32_t>(n, 99);
  const array<std::uint32_t> in(items), counts(n, 0u);
  const number_of_keys number(-1), first(1500);
  lanewise::workspace work;
  lanewise::reserve(make_space(), work,
                    lanewise::sparse_histogram_workspace<std::uint32_t, space>(n));
  const std::size_t bytes = work.bytes();
  const auto expected = counted_items<std::uint32_t>({items.begin(), items.begin() + 1500});

  // From a source, of the first items alone, and then by a range of bits, descending.
  const array<std::uint32_t> keys(n, 0u);
  lanewise::sparse_histogram(make_space(), lanewise::transformed(in.const_view(), plus_three{}),
                             keys.view(), counts.view(), number.view(),
                             {.work = &work, .count = first.view()});
  REQUIRE(number.get() == static_cast<std::int64_t>(expected.size()));
  std::map<std::uint32_t, std::uint32_t> shifted;
  for (const auto& [k, c] : expected) shifted[k + 3] = c;
  check_keys_and_results(keys, counts, shifted);
  CHECK(work.bytes() == bytes);

  lanewise::sparse_histogram(
      make_space(), in.const_view(), keys.view(), counts.view(), number.view(),
      {.work = &work, .order = lanewise::sort_order::descending, .begin_bit = 4, .end_bit = 6});
  REQUIRE(number.get() == 4);
  for (std::uint32_t j = 0; j < 4; ++j) {
    const auto has = [=](std::uint32_t x) { return (x >> 4 & 3) == 3 - j; };
    CHECK(keys.items()[j] == *std::find_if(items.begin(), items.end(), has));
    CHECK(counts.items()[j] == std::count_if(items.begin(), items.end(), has));
  }
}

TEST_CASE("sparse_histogram writes over its input", "[sparse_histogram]") {
  const std::int64_t n = 3000;
  const auto items = random_items<std::uint32_t>(n, 500);
  const auto expected = counted_items(items);
  const array<std::uint32_t> in(items), other(n, 0u);
  CHECK(lanewise::sparse_histogram(make_space(), in.view(), in.view(), other.view()) ==
        static_cast<std::int64_t>(expected.size()));
  check_keys_and_results(in, other, expected);
}

TEST_CASE("map_reduce combines the values of every key", "[map_reduce][sanitize]") {
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{300},
                               is_emulated ? std::int64_t{5000} : some_tiles(8192)}) {
    CAPTURE(n);
    const auto items = random_items<std::uint32_t>(n);
    const auto expected = reduced_by_digit(items);
    const array<std::uint32_t> in(items, 1), keys(70, 77u, 1), values(70, 88u, 2);
    const number_of_keys number(-1);
    lanewise::map_reduce(make_space(), in.const_view(), last_digit_and_rest{}, keys.view(),
                         values.view(), number.view(), lanewise::plus{});
    CHECK(number.get() == static_cast<std::int64_t>(expected.size()));
    check_keys_and_results(keys, values, expected);
    CHECK(in.unchanged());
  }
}

TEST_CASE("map_reduce takes a workspace, a number of items, and short outputs", "[map_reduce]") {
  const std::int64_t n = 4000;
  const auto items = random_items<std::uint32_t>(n);
  const auto expected = reduced_by_digit({items.begin(), items.begin() + 900});
  const array<std::uint32_t> in(items), keys(40, 77u), values(50, 88u);
  const number_of_keys number(-1), first(900);
  lanewise::workspace work;
  lanewise::reserve(make_space(), work,
                    lanewise::map_reduce_workspace<std::uint32_t, std::uint32_t, space>(n));
  const std::size_t bytes = work.bytes();
  for (int again = 0; again < 2; ++again)
    lanewise::map_reduce(make_space(), in.const_view(), last_digit_and_rest{}, keys.view(),
                         values.view(), number.view(), lanewise::plus{},
                         {.work = &work, .count = first.view()});
  CHECK(number.get() == 61);
  check_keys_and_results(keys, values, expected);
  CHECK(work.bytes() == bytes);
}

TEST_CASE("map_reduce combines values in the order of the input", "[map_reduce]") {
  const std::int64_t n = 5000;
  const auto items = random_items<std::uint32_t>(n, 60);
  std::vector<std::uint32_t> beside;
  std::map<std::uint32_t, std::uint32_t> expected;
  for (std::uint32_t i = 0; i < n; ++i) {
    beside.push_back(i * 3);
    expected[items[i]] = i * 3;
  }
  // From two arrays: one of them receives the keys.
  const array<std::uint32_t> in(items), values(beside), values_out(n, 88u);
  CHECK(lanewise::map_reduce(make_space(), lanewise::zipped(in.view(), values.view()),
                             item_and_value{}, in.view(), values_out.view(), last_of{}) == 61);
  check_keys_and_results(in, values_out, expected);
}

TEST_CASE("sparse_histogram and map_reduce refuse what does not fit", "[map_reduce]") {
  using Catch::Matchers::ContainsSubstring;
  const array<std::uint32_t> in(10, 1u), keys(10, 0u);
  const number_of_keys number(0);
  const auto exec = make_space();
  CHECK_THROWS_WITH(
      lanewise::sparse_histogram(exec, in.view(), keys.view(), keys.view(), number.view()),
      ContainsSubstring("sparse_histogram: keys_out [") && ContainsSubstring("counts_out ["));
  CHECK_THROWS_WITH(lanewise::sparse_histogram(exec, in.view(), keys.view(), in.view(),
                                               number.view(), {.begin_bit = 3, .end_bit = 33}),
                    ContainsSubstring("sparse_histogram: options.end_bit is 33, keys have 32"));
  CHECK_THROWS_WITH(
      lanewise::map_reduce(exec, in.view(), last_digit_and_rest{}, keys.view(), keys.view(),
                           number.view(), lanewise::plus{}),
      ContainsSubstring("map_reduce: keys_out [") && ContainsSubstring("values_out ["));
  CHECK(in.unchanged());
  CHECK(keys.unchanged());
}
