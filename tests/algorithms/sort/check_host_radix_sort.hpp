// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/host/host_radix_sort.hpp>
#include <support/generators.hpp>
#include <support/items.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <numeric>

// The sort of hosts against std::stable_sort: keys and pairs, in place and not, wherever arrays
// begin.

namespace test {

__extension__ using u128 = unsigned __int128;

/// Descending, with the way back from bits to items.
template <class T>
struct descending_bits {
  KOKKOS_FUNCTION T operator()(const T& x) const { return static_cast<T>(~x); }
  KOKKOS_FUNCTION T item_of(const T& bits) const { return static_cast<T>(~bits); }
};

/// Doubles in their total order.
struct bits_of_double {
  KOKKOS_FUNCTION std::uint64_t operator()(const double& x) const {
    const auto b = std::bit_cast<std::uint64_t>(x);
    return b ^ (b >> 63 != 0 ? ~std::uint64_t{0} : std::uint64_t{1} << 63);
  }
  KOKKOS_FUNCTION double item_of(std::uint64_t b) const {
    return std::bit_cast<double>(b ^ (b >> 63 != 0 ? std::uint64_t{1} << 63 : ~std::uint64_t{0}));
  }
};

/// A member of an item that has others.
struct bits_of_member {
  KOKKOS_FUNCTION std::uint32_t operator()(const affine& x) const { return x.b; }
};

/// Sixteen bytes of one number, a few of them constant.
struct wide_bits {
  KOKKOS_FUNCTION u128 operator()(const std::uint64_t& x) const {
    return u128{x} << 64 | (x & 0xff00ff);
  }
};

struct sort_case {
  int begin_bit = 0;
  int end_bit = 0;  // 0: all bits
  bool in_place = false;
  bool counted = false;  // the number of items is in memory, and smaller than the arrays
  int shift = 0;
};

/// Sorts items, and as values their numbers, unless Value is no_value.
template <class Value, class KeyOf, class Item>
void check_host_sort(const std::vector<Item>& items, const KeyOf& bits_of, const sort_case& with) {
  using namespace lanewise;
  using bits = std::decay_t<decltype(bits_of(items[0]))>;
  constexpr bool has_values = !std::is_same_v<Value, no_value>;
  const int all_bits = static_cast<int>(sizeof(bits) * 8);
  const int end_bit = with.end_bit == 0 ? all_bits : with.end_bit;
  const auto bound = static_cast<std::int64_t>(items.size());
  const std::int64_t n = with.counted ? bound - bound / 3 : bound;
  CAPTURE(n, with.begin_bit, end_bit, with.in_place, with.counted, with.shift);

  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int64_t i) {
    const bits b = bits_of(items[static_cast<std::size_t>(i)]);
    const bits below = end_bit == all_bits ? b : static_cast<bits>(b % (bits{1} << end_bit));
    return with.begin_bit < end_bit ? static_cast<bits>(below >> with.begin_bit) : bits{0};
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return key(a) < key(b); });

  std::vector<Value> numbers(has_values ? items.size() : 0);
  if constexpr (has_values) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Value>(i);
  }
  const array<Item> in(items, with.shift), temporary(bound, Item{}, with.shift + 1);
  const array<Item> elsewhere(bound, Item{}, 2 * with.shift);
  const array<Value> values(numbers, with.shift), values_elsewhere(numbers, with.shift);
  const array<Value> values_temporary(numbers, 2 * with.shift);
  const array<Item>& out = with.in_place ? in : elsewhere;
  const array<Value>& values_out = with.in_place ? values : values_elsewhere;
  const cell<std::int32_t> count(static_cast<std::int32_t>(n));
  const item_count items_of_call =
      with.counted ? item_count{bound, detail::integers(count.data())} : item_count{bound};
  const std::size_t bytes = kernels::host_radix_sort_bytes<KeyOf, Item, Value>(bound);
  const Kokkos::View<unsigned char*, memory> work("test::work", bytes + 64);
  auto* const aligned = work.data() + (64 - reinterpret_cast<std::uintptr_t>(work.data()) % 64);
  Kokkos::deep_copy(work, array<Item>::guard_byte);
  const kernels::host_sort_arrays<Item, Value> arrays{in.data(),         out.data(),
                                                      temporary.data(),  values.data(),
                                                      values_out.data(), values_temporary.data()};
  kernels::host_radix_sort(make_space(), arrays, items_of_call, with.begin_bit, end_bit, bits_of,
                           aligned);
  const auto found = out.items();
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    wrong += std::memcmp(&found[i], &items[static_cast<std::size_t>(order[i])], sizeof(Item)) != 0;
  CHECK(wrong == 0);
  CHECK(out.guards_intact());
  CHECK(temporary.guards_intact());
  if (!with.in_place) CHECK(in.unchanged());
  if constexpr (has_values) {
    const auto found_values = values_out.items();
    wrong = 0;
    for (std::size_t i = 0; i < order.size(); ++i)
      wrong += found_values[i] != static_cast<Value>(order[i]);
    CHECK(wrong == 0);
    CHECK(values_out.guards_intact());
    CHECK(values_temporary.guards_intact());
    if (!with.in_place) CHECK(values.unchanged());
  }
  for (std::size_t i = bytes; i < bytes + 64 - static_cast<std::size_t>(aligned - work.data()); ++i)
    REQUIRE(aligned[i] == array<Item>::guard_byte);
}

/// Keys alone and pairs, in place and not.
template <class KeyOf, class Item>
void check_host_sorts(const std::vector<Item>& items, const KeyOf& bits_of, sort_case with = {}) {
  for (const bool in_place : {false, true}) {
    with.in_place = in_place;
    check_host_sort<lanewise::no_value>(items, bits_of, with);
    check_host_sort<std::uint32_t>(items, bits_of, with);
  }
}

inline std::int64_t most_alone() {
  using kernel = lanewise::kernels::host_sort_kernel<
      std::uint32_t, lanewise::no_value,
      lanewise::detail::sort_key<lanewise::identity, std::uint32_t, true>>;
  return std::min<std::int64_t>(kernel::few_items(lanewise::resident_teams<kernel>(make_space())),
                                100'000);
}

TEST_CASE("hosts sort any number of keys", "[host_radix_sort][long]") {
  std::vector<std::int64_t> sizes = {159, 160, 161, 255, 256, 257, 1000, 4096, 10'000};
  for (std::int64_t n = 0; n <= 130; n += is_emulated && n > 18 ? 5 : 1) sizes.push_back(n);
  for (const std::int64_t more : {-1, 0, 1, 5000}) sizes.push_back(most_alone() + more);
  for (const std::int64_t n : sizes)
    check_host_sorts(random_items<std::uint32_t>(n), lanewise::identity{});
  // More than one thread takes without cutting them into tiles.
  check_host_sorts(random_items<std::uint64_t>(is_emulated ? 20'000 : 70'000),
                   lanewise::identity{});
}

TEST_CASE("hosts sort keys of every size", "[host_radix_sort][sanitize]") {
  for (const std::int64_t n : {1, 50, 200, 3000}) {
    check_host_sorts(random_items<std::uint8_t>(n), lanewise::identity{});
    check_host_sorts(random_items<std::uint16_t>(n), lanewise::identity{});
    check_host_sorts(random_items<std::uint64_t>(n), lanewise::identity{});
    check_host_sorts(random_items<std::uint64_t>(n), wide_bits{});
    std::vector<u128> wide;
    for (const std::uint64_t x : random_items<std::uint64_t>(n))
      wide.push_back(u128{x} << 64 | (x * 0x9e3779b97f4a7c15u));
    check_host_sort<lanewise::no_value>(wide, lanewise::identity{}, {});
    for (u128& x : wide) x %= u128{1} << 70;  // few bits before the last ones
    check_host_sort<std::uint64_t>(wide, lanewise::identity{}, {.in_place = true});
  }
}

// Parts have 104 keys of 4 bytes and 48 of 8 on average, the network takes 128 and 64, and slots
// have room for 176 and 88. More come early, late, or all along.
TEMPLATE_TEST_CASE("hosts sort keys that lie unevenly", "[host_radix_sort][sanitize][long]",
                   std::uint32_t, std::uint64_t) {
  for (const std::int64_t more : {25, 40, 70, 74, 80, 300}) {
    for (const int where : {0, 1, 2}) {
      CAPTURE(more, where);
      auto items = random_items<TestType>(3000 - more);
      const auto others = random_items<TestType>(more, 1000, 3);
      const auto at = static_cast<TestType>(where * ((~TestType{0} - 1000) / 2));
      const std::size_t step = where == 1 ? items.size() / others.size() : 1;
      for (std::size_t i = 0; i < others.size(); ++i)
        items.insert(where == 0 ? items.begin() : items.end() - static_cast<std::int64_t>(i * step),
                     static_cast<TestType>(at + others[i]));
      check_host_sorts(items, lanewise::identity{});
      check_host_sort<lanewise::no_value>(items, descending_bits<TestType>{}, {});
    }
  }
}

TEST_CASE("hosts sort by any bits of keys", "[host_radix_sort][sanitize]") {
  const auto items = random_items<std::uint32_t>(2500);
  for (const auto& [begin, end] : {std::pair{0, 1},
                                   {31, 32},
                                   {0, 8},
                                   {5, 6},
                                   {3, 20},
                                   {7, 32},
                                   {0, 31},
                                   {24, 32},
                                   {12, 12},
                                   {32, 32}}) {
    check_host_sorts(items, lanewise::identity{}, {.begin_bit = begin, .end_bit = end});
  }
  check_host_sorts(random_items<std::uint64_t>(2500), lanewise::identity{},
                   {.begin_bit = 30, .end_bit = 50});
}

TEST_CASE("hosts sort what bits are made of", "[host_radix_sort][sanitize]") {
  for (const std::int64_t n : {100, 2000}) {
    check_host_sorts(random_items<std::uint32_t>(n), descending_bits<std::uint32_t>{});
    check_host_sorts(random_items<std::uint64_t>(n), descending_bits<std::uint64_t>{});
    check_host_sorts(random_items<affine>(n), bits_of_member{});
    std::vector<double> numbers;
    for (const std::uint64_t x : random_items<std::uint64_t>(n))
      numbers.push_back(std::bit_cast<double>(x));
    numbers[0] = 0.0;
    numbers[1] = -0.0;
    check_host_sorts(numbers, bits_of_double{});
  }
}

TEST_CASE("hosts sort as many items as memory says", "[host_radix_sort][sanitize]") {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{1000}, most_alone() + 100})
    check_host_sorts(random_items<std::uint32_t>(n), lanewise::identity{}, {.counted = true});
}

// Large enough for ranges that several teams cut: twice, where most items have the same high bits.
TEMPLATE_TEST_CASE("hosts sort keys of every distribution", "[host_radix_sort][long]",
                   std::uint32_t MORE_TYPES(std::uint64_t, std::uint8_t)) {
  const std::int64_t n = 3 * most_alone() + 12'345;
  for (const distribution d : all_distributions) {
    CAPTURE(d);
    check_host_sorts(items_of<TestType>(numbers(d, n, most_number<TestType>(), 256)),
                     lanewise::identity{}, {.shift = 3});
  }
}

TEST_CASE("hosts sort skewed keys", "[host_radix_sort][long]") {
  const std::int64_t n =
      std::max<std::int64_t>(is_emulated ? 150'000 : 300'000, most_alone() + 10'000);
  auto items = random_items<std::uint32_t>(n);
  const auto others = random_items<std::uint32_t>(n, most_number<std::uint32_t>(), 2);
  // Three quarters are below 2^16, and half of all are equal.
  auto skewed = items;
  for (std::size_t i = 0; i < skewed.size(); ++i)
    skewed[i] = others[i] % 4 == 0 ? items[i] : others[i] % 4 == 1 ? items[i] % 65536 : 77;
  check_host_sorts(skewed, lanewise::identity{});
  // Fewer and fewer bits.
  for (std::size_t i = 0; i < skewed.size(); ++i) skewed[i] = items[i] >> (others[i] % 32);
  check_host_sorts(skewed, lanewise::identity{}, {.shift = 1});
  // In order but for the last, and with one that no sample meets.
  std::sort(items.begin(), items.end());
  items.back() = 5;
  check_host_sort<std::uint32_t>(items, lanewise::identity{}, {});
  std::vector<std::uint32_t> equal(static_cast<std::size_t>(n), 1000);
  equal[12'345] = 2000;
  equal[23'456] = 3;
  check_host_sorts(equal, lanewise::identity{});
}

TEMPLATE_TEST_CASE("cells follow each other", "[host_radix_sort][sanitize]", std::uint8_t,
                   std::uint64_t) {
  using cells = lanewise::detail::key_cells<TestType>;
  for (TestType x = 0; x < cells::single; ++x) CHECK(cells::cell_of(x) == x);
  std::uint32_t next = cells::single;
  for (int b = 5; b < static_cast<int>(8 * sizeof(TestType)); ++b) {
    const std::uint64_t first = std::uint64_t{1} << b, size = first / 16;
    for (std::uint64_t c = 0; c < 16; ++c, ++next) {
      CHECK(cells::cell_of(static_cast<TestType>(first + c * size)) == next);
      CHECK(cells::cell_of(static_cast<TestType>(first + (c + 1) * size - 1)) == next);
    }
  }
  CHECK(next <= cells::cells);
}

// One team cuts such keys of 8 bytes by cells, and several cut them together.
TEMPLATE_TEST_CASE("hosts sort keys that gather", "[host_radix_sort][sanitize]", std::uint64_t,
                   std::uint32_t) {
  constexpr auto width = static_cast<TestType>(8 * sizeof(TestType));
  for (const std::int64_t n : {std::int64_t{2047}, std::int64_t{2048}, most_alone() + 100}) {
    const auto a = random_items<TestType>(n), b = random_items<TestType>(n, ~TestType{0}, 2);
    const auto c = random_items<TestType>(n, ~TestType{0}, 3);
    const auto made = [&](const auto& f) {
      auto items = a;
      for (std::size_t i = 0; i < items.size(); ++i) items[i] = f(a[i], b[i], c[i]);
      return items;
    };
    CAPTURE(n);
    check_host_sorts(made([](TestType x, TestType y, TestType) {
                       return static_cast<TestType>(x >> (y % width));
                     }),
                     lanewise::identity{});
    // Few samples meet the least keys.
    check_host_sorts(
        made([](TestType x, TestType y, TestType z) { return static_cast<TestType>(x & y & z); }),
        descending_bits<TestType>{});
    check_host_sorts(
        made([](TestType x, TestType y, TestType z) { return static_cast<TestType>(x & y & z); }),
        lanewise::identity{});
    auto above = made([](TestType x, TestType y, TestType) {
      return static_cast<TestType>(~TestType{0} / 3 + (x >> (2 + y % (width - 2))));
    });
    above[1000] = 12;
    above[2000] = 1;
    check_host_sorts(above, lanewise::identity{});
    // A third are equal, others rare.
    check_host_sorts(made([](TestType x, TestType y, TestType z) {
                       return z % 3 == 0 ? TestType{5} : static_cast<TestType>(x >> (y % width));
                     }),
                     lanewise::identity{});
  }
}

}  // namespace test
