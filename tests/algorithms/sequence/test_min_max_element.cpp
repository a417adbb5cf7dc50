// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/min_max_element.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <limits>

// Least and greatest items, and where they are.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using lanewise::indexed;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

/// As large as what one team reads at once in any backend here.
const std::int64_t extrema_tile = is_emulated ? 8192 : 40'000;

struct by_number {
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& a, const T& b) const {
    return number_of(a) < number_of(b);
  }
};

template <class T>
bool is_nan(const T& x) {
  return !(x == x);
}

/// The index of the least item, found from left to right; NaN is greater than everything.
template <class T, class Less>
std::int64_t least(const std::vector<T>& items, Less less) {
  std::int64_t best = items.empty() ? -1 : 0;
  for (std::size_t i = 1; i < items.size(); ++i) {
    const T& now = items[static_cast<std::size_t>(best)];
    if (less(items[i], now) || (is_nan(now) && !is_nan(items[i])))
      best = static_cast<std::int64_t>(i);
  }
  return best;
}
template <class T, class Less>
std::int64_t greatest(const std::vector<T>& items, Less less) {
  return least(items, [less](const T& a, const T& b) { return less(b, a); });
}

template <class T, class Less, class... Given>
void check_extrema(const std::vector<T>& items, Less less, const Given&... given) {
  const auto exec = make_space();
  const array<T> in(items, 1);
  const cell<indexed<T>> low({item_of<T>(77), 77}), high({item_of<T>(77), 77});
  lanewise::min_element(exec, in.const_view(), low.view(), given...);
  lanewise::max_element(exec, in.const_view(), high.view(), given...);
  const auto same_bits = [&](const indexed<T>& found, std::int64_t expected) {
    CHECK(found.index == expected);
    const T value = expected < 0 ? T{} : items[static_cast<std::size_t>(expected)];
    CHECK(std::memcmp(&found.value, &value, sizeof(T)) == 0);
  };
  same_bits(low.get(), least(items, less));
  same_bits(high.get(), greatest(items, less));
  CHECK(in.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("Extrema are found with their first position at every size", "[min_max_element]",
                   u32 MORE_TYPES(std::uint8_t, u64, double)) {
  for (const std::int64_t n : sizes_around(extrema_tile)) {
    for (const std::uint64_t most : {std::uint64_t{3}, most_number<TestType>()}) {
      CAPTURE(n, most);
      check_extrema(random_items<TestType>(n, most), std::less<TestType>());
    }
  }
}

TEMPLATE_TEST_CASE("Extrema are found where every team reads several tiles", "[min_max_element]",
                   u32 MORE_TYPES(std::uint8_t, u64, double)) {
  const std::int64_t n = takes_long_inputs() ? 6'500'003 : 5 * extrema_tile + 3;
  for (const std::uint64_t most : {static_cast<std::uint64_t>(n / 3), most_number<TestType>()}) {
    CAPTURE(n, most);
    check_extrema(random_items<TestType>(n, most), std::less<TestType>());
  }
}

TEST_CASE("Numbers beat NaN in tiles of numbers and of NaN", "[min_max_element]") {
  const std::int64_t n = takes_long_inputs() ? 6'500'003 : 5 * extrema_tile + 3;
  std::vector<double> items = random_items<double>(n, 1000);
  // A lane may begin with NaN, and its number come later; some have none at all.
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i % 64 >= 8 || i % 5000 < 1000) items[i] = quiet_nan;
  }
  check_extrema(items, std::less<double>());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i != items.size() / 2 + 7) items[i] = quiet_nan;
  }
  check_extrema(items, std::less<double>());
}

TEMPLATE_TEST_CASE("Extrema are found in every distribution", "[min_max_element]",
                   u32 MORE_TYPES(double)) {
  for (const distribution d : all_distributions) {
    CAPTURE(d);
    check_extrema(items_of<TestType>(numbers(d, extrema_tile + 131, 1'000'000, 4)),
                  std::less<TestType>());
  }
}

TEST_CASE("Extrema by lanewise::less are those of the default", "[min_max_element]") {
  check_extrema(random_items<u32>(extrema_tile + 131, 1000), std::less<u32>(), lanewise::less{});
  check_extrema(random_items<double>(1000, 100), std::less<double>(), lanewise::less{});
}

TEST_CASE("Extrema follow a given order, and keep the first of equivalent items",
          "[min_max_element]") {
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{700}, extrema_tile + 5}) {
    CAPTURE(n);
    check_extrema(random_items<affine>(n), by_number{}, by_number{});
    check_extrema(random_items<affine>(n, 2), by_number{}, by_number{});
  }
}

TEST_CASE("Numbers beat NaN, and zeros are equal", "[min_max_element][sanitize]") {
  const auto less = std::less<double>();
  check_extrema(std::vector<double>{quiet_nan, quiet_nan}, less);
  check_extrema(std::vector<double>{quiet_nan, infinity, quiet_nan, -infinity}, less);
  check_extrema(std::vector<double>{0.0, -0.0, 0.0}, less);
  check_extrema(std::vector<double>{-0.0, 0.0}, less);
  std::vector<double> items(static_cast<std::size_t>(extrema_tile + 77), quiet_nan);
  check_extrema(items, less);
  items[static_cast<std::size_t>(extrema_tile) - 3] = infinity;
  check_extrema(items, less);
  items[5000] = -infinity;
  items[5001] = 7;
  check_extrema(items, less);
  for (double& x : items) x = std::isnan(x) ? infinity : x;
  check_extrema(items, less);
}

TEST_CASE("Extrema of sources are returned, within the count", "[min_max_element][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = extrema_tile + 131;
  const cell<std::int64_t> count(n - 7);
  const array<int> reads(n, 0);
  const auto found =
      lanewise::max_element(exec, lanewise::generated(n, counting_square{reads.data(), n}),
                            lanewise::natural_order{}, {.count = count.view()});
  CHECK(found.index == n - 8);
  CHECK(found.value == static_cast<u64>((n - 8) * (n - 8)));
  const auto read = reads.items();
  CHECK(reads.guards_intact());
  CHECK(std::all_of(read.begin(), read.end() - 7, [](int k) { return k >= 1 && k <= 3; }));
  CHECK(std::all_of(read.end() - 7, read.end(), [](int k) { return k == 0; }));

  const cell<int> trapped;
  const array<u64> in(random_items<u64>(n, 1000), 1);
  const auto low = lanewise::min_element(
      exec, lanewise::transformed(in.const_view(), trap_poison{trapped.data()}));
  CHECK(low.index == least(in.original(), std::less<u64>()));
  CHECK(low.value == in.original()[static_cast<std::size_t>(low.index)] + 3);
  CHECK(trapped.get() == 0);
}

TEST_CASE("Extrema of nothing have no position", "[min_max_element]") {
  const auto found = lanewise::min_element(make_space(), Kokkos::View<const u32*, memory>());
  CHECK(found.index == -1);
  CHECK(found.value == 0);
}

TEST_CASE("Extrema refuse Views without memory", "[min_max_element]") {
  const auto exec = make_space();
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 5);
  const array<u32> some(5, 1u);
  const Kokkos::View<indexed<u32>, memory> no_result;
  CHECK_THAT(refusal([&] { lanewise::min_element(exec, nothing); }),
             ContainsSubstring("lanewise::min_element: in has 5 items and no memory"));
  CHECK_THAT(refusal([&] { lanewise::max_element(exec, some.const_view(), no_result); }),
             ContainsSubstring("lanewise::max_element: result has no memory"));
}
