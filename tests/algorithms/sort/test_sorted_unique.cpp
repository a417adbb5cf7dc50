// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sort/sorted_unique.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/sort/check_radix_sort.hpp>
#include <limits>

using namespace test;

namespace {

/// The keys that come first among those of the same bits, in their order.
template <class T>
std::vector<T> set_of(const std::vector<T>& keys, const lanewise::sort_options& with) {
  const int end = with.end_bit < 0 ? lanewise::radix_key<T>::width : with.end_bit;
  std::vector<T> set;
  const auto part = [&](T x) {
    auto bits = lanewise::radix_key<T>::to_bits(x);
    decltype(bits) mask = 0;
    for (int b = with.begin_bit; b < end; ++b)
      mask = static_cast<decltype(bits)>(mask | static_cast<decltype(bits)>(1) << b);
    return static_cast<decltype(bits)>(bits & mask);
  };
  for (const std::size_t i : sorted_order(keys, with))
    if (set.empty() || part(set.back()) != part(keys[i])) set.push_back(keys[i]);
  return set;
}

template <class T>
void check_set(const std::vector<T>& items, lanewise::sort_options with = {}) {
  const auto exec = make_space();
  const auto expected = set_of(items, with);
  std::vector<std::size_t> order(expected.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const array<T> keys(items, 1), out(static_cast<std::int64_t>(items.size()), T{}, 2);
  const cell<std::int64_t> count(-1);
  lanewise::sorted_unique(exec, keys.const_view(), out.view(), count.view(), with);
  CHECK(count.get() == static_cast<std::int64_t>(expected.size()));
  CHECK(difference_in_bits(out.items(), expected, order) == "");
  CHECK(keys.unchanged());
  CHECK(out.guards_intact());
  lanewise::sorted_unique(exec, keys.const_view(), keys.view(), count.view(), with);
  CHECK(count.get() == static_cast<std::int64_t>(expected.size()));
  CHECK(difference_in_bits(keys.items(), expected, order) == "");
  CHECK(keys.guards_intact());
}

struct by_last_digit {
  KOKKOS_FUNCTION bool operator()(std::uint32_t a, std::uint32_t b) const {
    return a % 10 < b % 10;
  }
};

}  // namespace

TEST_CASE("sorted_unique makes sets of keys of every distribution", "[sorted_unique][sanitize]") {
  for (const distribution d : all_distributions) {
    for (const std::int64_t n :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{700}, some_tiles(4608)}) {
      CAPTURE(d, n);
      check_set(sorting_keys<std::uint32_t>(d, n));
    }
  }
}

TEST_CASE("sorted_unique looks at a range of bits, and descends", "[sorted_unique]") {
  const auto keys = sorting_keys<std::uint32_t>(distribution::uniform, 6000);
  check_set(keys, {.order = lanewise::sort_order::descending});
  check_set(keys, {.begin_bit = 3, .end_bit = 12});
  check_set(keys, {.begin_bit = 5, .end_bit = 5});
}

TEST_CASE("sorted_unique tells floating-point numbers apart by their bits", "[sorted_unique]") {
  using limits = std::numeric_limits<float>;
  std::vector<float> keys = {0.0f,  -0.0f, limits::quiet_NaN(), -limits::quiet_NaN(),
                             -1.0f, 1.0f,  limits::infinity(),  -limits::infinity()};
  for (int copies = 0; copies < 5; ++copies) keys.insert(keys.end(), keys.begin(), keys.end());
  check_set(keys);
}

TEST_CASE("sorted_unique takes an order, and a number of keys on the device", "[sorted_unique]") {
  const std::int64_t n = 9000;
  const auto items = sorting_keys<std::uint32_t>(distribution::uniform, n);
  const array<std::uint32_t> keys(items), out(n, 0u);
  const cell<std::int64_t> count(0), number(5000);
  lanewise::sorted_unique(make_space(), keys.const_view(), out.view(), count.view(),
                          by_last_digit{}, {.count = number.view()});
  REQUIRE(count.get() == 10);
  for (std::uint32_t digit = 0; digit < 10; ++digit) {
    const auto first = std::find_if(items.begin(), items.begin() + 5000,
                                    [=](std::uint32_t x) { return x % 10 == digit; });
    CHECK(out.items()[digit] == *first);
  }
  lanewise::workspace work;
  lanewise::reserve(make_space(), work, lanewise::sorted_unique_workspace<std::uint32_t, space>(n));
  lanewise::sorted_unique(make_space(), keys.const_view(), out.view(), count.view(),
                          {.work = &work, .count = number.view()});
  CHECK(count.get() ==
        static_cast<std::int64_t>(
            set_of<std::uint32_t>({items.begin(), items.begin() + 5000}, {}).size()));
}

TEST_CASE("sorted_unique refuses what does not fit", "[sorted_unique]") {
  using Catch::Matchers::ContainsSubstring;
  const array<std::uint32_t> keys(10, 1u), few(9, 0u);
  const cell<std::int64_t> count(0);
  CHECK_THROWS_WITH(lanewise::sorted_unique(make_space(), keys.view(), few.view(), count.view()),
                    ContainsSubstring("sorted_unique: keys_out has 9 places, keys has 10 items"));
}
