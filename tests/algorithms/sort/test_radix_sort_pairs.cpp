// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <algorithms/sort/check_radix_sort.hpp>
#include <string>

// Pairs, ranges of bits, and what calls accept and refuse.

using namespace test;

TEST_CASE("radix_sort of pairs is stable at every size", "[radix_sort]") {
  const std::int64_t few = few_sorted<std::uint32_t>();
  for (std::int64_t n : sizes_around(few)) {
    CAPTURE(n);
    auto keys = sorting_keys<std::uint32_t>(distribution::uniform, n);
    for (auto& key : keys) key &= 0xff0ff0f0u;
    check_sort_pairs(keys, places(keys.size()));
  }
}

TEST_CASE("radix_sort of pairs is stable for every distribution", "[radix_sort][sanitize]") {
  for (const distribution d : all_distributions) {
    for (const std::int64_t n : {std::int64_t{700}, some_tiles(2 * few_sorted<std::uint32_t>())}) {
      CAPTURE(d, n);
      const auto keys = sorting_keys<std::uint32_t>(d, n);
      check_sort_pairs(keys, places(keys.size()));
    }
  }
}

TEST_CASE("radix_sort of pairs is stable where keys gather", "[radix_sort][sanitize]") {
  const std::int64_t n = some_tiles(3 * few_sorted<std::uint32_t>());
  // Two, three and four digits that are not the same in all keys, in this order.
  for (const int end : {16, 19, 32}) {
    CAPTURE(end);
    check_sort_pairs(sparse_keys(n, 3), places(n), {.end_bit = end});
  }
}

TEST_CASE("radix_sort sorts many pairs by launches", "[radix_sort]") {
  const auto keys = sparse_keys(launched_keys, 1);
  // Jobs with few bits go another way than others.
  check_sort_pairs(keys, places(keys.size()), {.begin_bit = 3, .end_bit = 19});
  if (is_emulated && !full()) return;  // 25 s each under AddressSanitizer
  check_sort_pairs(keys, places(keys.size()));
  check_sort_pairs(sparse_keys(launched_keys, 3), places(keys.size()), {.end_bit = 21});
}

TEST_CASE("radix_sort sorts few digits of many keys", "[radix_sort]") {
  // Passes from the start: one, two in part, and one that moves nothing between others.
  const std::int64_t n = (std::int64_t{1} << 16) + 311;
  auto keys = sorting_keys<std::int32_t>(distribution::uniform, n);
  const auto values = places(keys.size());
  for (const auto& [begin, end] : {std::pair{31, 32}, {20, 25}, {24, 32}, {17, 32}}) {
    CAPTURE(begin, end);
    check_sort(keys, {.begin_bit = begin, .end_bit = end});
    check_sort_pairs(keys, values, {.begin_bit = begin, .end_bit = end});
  }
  check_sort_pairs(keys, values,
                   {.order = lanewise::sort_order::descending, .begin_bit = 4, .end_bit = 20});
  for (auto& key : keys) key = (key & 0x1f00ff) | 0x600;
  check_sort_in_place(keys, {.begin_bit = 8, .end_bit = 24});
  // Nothing to move.
  check_sort(keys, {.begin_bit = 8, .end_bit = 12});
  check_sort_pairs(keys, values, {.begin_bit = 9, .end_bit = 16});
  if (is_emulated && !full()) return;
  keys = sorting_keys<std::int32_t>(distribution::uniform, launched_keys);
  check_sort(keys, {.begin_bit = 8});
  for (auto& key : keys) key &= ~0xff0000;
  check_sort_pairs(keys, places(keys.size()), {.begin_bit = 8});
}

TEST_CASE("radix_sort of floats sorts few digits", "[radix_sort]") {
  auto random = make_random(11);
  std::vector<float> keys((std::size_t{1} << 16) + 5);
  for (auto& key : keys)
    key = lanewise::from_bits<float>(static_cast<std::uint32_t>(random()) & 0xfffff0ffu);
  check_sort_pairs(keys, places(keys.size()), {.begin_bit = 20});
  check_sort(keys, {.order = lanewise::sort_order::descending, .begin_bit = 16, .end_bit = 32});
}

// Neighbouring buckets differ much, and bins have several keys that occur often.
TEST_CASE("radix_sort sorts keys that occur often", "[radix_sort][sanitize]") {
  const std::int64_t few = few_sorted<std::uint32_t>();
  for (const std::int64_t n : {few, some_tiles(4 * few)}) {
    for (const int values : {3, 40, 700}) {
      CAPTURE(n, values);
      auto random = make_random(values);
      std::vector<std::uint32_t> value(static_cast<std::size_t>(values)),
          keys(static_cast<std::size_t>(n));
      for (auto& x : value) x = static_cast<std::uint32_t>(random());
      // Three in one bin.
      for (int k = 0; k < 3; ++k) value[static_cast<std::size_t>(k)] = value[0] + (k % 2);
      for (auto& key : keys) key = value[random() % value.size()];
      check_sort(keys);
      check_sort_pairs(keys, places(keys.size()));
    }
  }
}

TEST_CASE("radix_sort sorts keys that lie in few runs", "[radix_sort][sanitize]") {
  const std::int64_t few = few_sorted<std::uint32_t>();
  for (const std::int64_t n : {std::int64_t{130}, std::int64_t{700}, few, 2 * few + 77}) {
    // 'a' ascends, 'd' descends: in turn, of unequal lengths.
    for (const std::string runs : {"d", "aa", "da", "ada", "dddd", "aaada"}) {
      for (const std::uint32_t values : {50u, 1u << 31}) {
        CAPTURE(n, runs, values);
        auto random = make_random(static_cast<int>(runs.size()));
        std::vector<std::uint32_t> keys(static_cast<std::size_t>(n));
        for (auto& key : keys) key = static_cast<std::uint32_t>(random()) % values;
        std::size_t begin = 0;
        for (std::size_t r = 1; r <= runs.size(); ++r) {
          const std::size_t end = keys.size() * r * (r + 9) / (runs.size() * (runs.size() + 9));
          const auto first = keys.begin() + static_cast<std::ptrdiff_t>(begin),
                     last = keys.begin() + static_cast<std::ptrdiff_t>(end);
          std::sort(first, last);
          if (runs[r - 1] == 'd') std::reverse(first, last);
          begin = end;
        }
        check_sort(keys);
        check_sort_pairs(keys, places(keys.size()));
        check_sort_in_place(keys, {.order = lanewise::sort_order::descending});
      }
    }
  }
}

TEST_CASE("radix_sort looks at a range of bits alone", "[radix_sort][sanitize]") {
  const std::int64_t few = few_sorted<std::uint32_t>();
  for (const std::int64_t n : {std::int64_t{500}, 2 * few + 77}) {
    const auto keys = sorting_keys<std::uint32_t>(distribution::uniform, n);
    for (const auto& [begin, end] :
         {std::pair{0, 5}, {28, 32}, {3, 14}, {4, 29}, {7, 7}, {31, -1}}) {
      CAPTURE(n, begin, end);
      check_sort_in_place(keys, {.begin_bit = begin, .end_bit = end});
      check_sort_pairs(
          keys, places(keys.size()),
          {.order = lanewise::sort_order::descending, .begin_bit = begin, .end_bit = end});
    }
  }
}

TEST_CASE("radix_sort takes values of any type", "[radix_sort]") {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{40}, std::int64_t{300},
                               2 * few_sorted<std::uint32_t>() + 3}) {
    CAPTURE(n);
    auto keys = sorting_keys<std::uint32_t>(distribution::few_distinct, n);
    std::vector<affine> values(keys.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i * 7), 1};
    check_sort_pairs(keys, values);
  }
}

void check_half_in_place(const std::vector<std::uint32_t>& items,
                         lanewise::sort_options with = {}) {
  const auto n = static_cast<std::int64_t>(items.size());
  const auto beside = places(items.size());
  const auto order = sorted_order(items, with);
  const array<std::uint32_t> keys(items), keys_out(n, 0u), values(beside), values_out(n, 0u);
  lanewise::radix_sort(make_space(), keys.const_view(), values.const_view(), keys_out.view(),
                       values.view(), with);
  CHECK(difference_in_bits(keys_out.items(), items, order) == "");
  CHECK(difference_in_bits(values.items(), beside, order) == "");
  values.assign(beside);
  lanewise::radix_sort(make_space(), keys.const_view(), values.const_view(), keys.view(),
                       values_out.view(), with);
  CHECK(difference_in_bits(keys.items(), items, order) == "");
  CHECK(difference_in_bits(values_out.items(), beside, order) == "");
}

TEST_CASE("radix_sort of pairs takes keys in place beside values that are not, and the reverse",
          "[radix_sort][long]") {
  for (const distribution d : {distribution::uniform, distribution::sorted, distribution::equal}) {
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{50}, std::int64_t{700},
                                 some_tiles(2 * few_sorted<std::uint32_t>())}) {
      CAPTURE(d, n);
      check_half_in_place(sorting_keys<std::uint32_t>(d, n));
    }
  }
  // An odd number of passes.
  check_half_in_place(sparse_keys(launched_keys, 3), {.end_bit = 21});
}

TEST_CASE("radix_sort reads its number of items on the device", "[radix_sort]") {
  const std::int64_t few = few_sorted<std::uint32_t>();
  for (const std::int64_t bound : {std::int64_t{400}, 2 * few + 9}) {
    const auto items = sorting_keys<std::uint32_t>(distribution::uniform, bound);
    for (const std::int64_t count :
         {std::int64_t{-3}, std::int64_t{0}, std::int64_t{1}, bound - 7, bound + 5}) {
      CAPTURE(bound, count);
      const std::int64_t n = std::clamp(count, std::int64_t{0}, bound);
      const array<std::uint32_t> keys(items), out(bound, 77u);
      const cell<std::int64_t> number(count);
      lanewise::radix_sort(make_space(), keys.const_view(), out.view(), {.count = number.view()});
      std::vector<std::uint32_t> expected(items.begin(), items.begin() + n);
      std::sort(expected.begin(), expected.end());
      expected.resize(static_cast<std::size_t>(bound), 77u);
      CHECK(out.items() == expected);
    }
  }
}

struct scrambled {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i) * 2654435761u;
  }
};

TEST_CASE("radix_sort takes keys from a source, and calls share a workspace", "[radix_sort]") {
  const std::int64_t n = 2 * few_sorted<std::uint32_t>() + 5;
  const auto exec = make_space();
  lanewise::workspace work;
  lanewise::reserve(exec, work,
                    lanewise::radix_sort_workspace<std::uint32_t, space, std::uint32_t>(n));
  std::vector<std::uint32_t> expected;
  for (std::int64_t i = 0; i < n; ++i) expected.push_back(scrambled{}(i));
  std::sort(expected.begin(), expected.end());
  const array<std::uint32_t> out(n, 0u), values(n, 0u);
  for (int again = 0; again < 2; ++again) {
    lanewise::radix_sort(exec, lanewise::generated(n, scrambled{}), out.view(), {.work = &work});
    CHECK(out.items() == expected);
    lanewise::radix_sort(exec, lanewise::generated(n, scrambled{}),
                         lanewise::generated(n, scrambled{}), out.view(), values.view(),
                         {.work = &work});
    CHECK(out.items() == expected);
    CHECK(values.items() == expected);
  }
}

TEST_CASE("radix_sort refuses what does not fit", "[radix_sort]") {
  const auto exec = make_space();
  const array<std::uint32_t> keys(10, 1u), few(9, 0u), values(11, 0u), out(10, 0u), beside(10, 0u);
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(lanewise::radix_sort(exec, keys.view(), few.view()),
                    ContainsSubstring("radix_sort: keys_out has 9 places, keys has 10 items"));
  CHECK_THROWS_WITH(
      lanewise::radix_sort(exec, keys.view(), values.view(), out.view(), values.view()),
      ContainsSubstring("radix_sort: values has 11 items, keys has 10"));
  CHECK_THROWS_WITH(lanewise::radix_sort(exec, keys.view(), out.view(), {.end_bit = 33}),
                    ContainsSubstring("radix_sort: options.end_bit is 33, keys have 32 bits"));
  CHECK_THROWS_WITH(
      lanewise::radix_sort(exec, keys.view(), out.view(), {.begin_bit = 9, .end_bit = 8}),
      ContainsSubstring("radix_sort: options.begin_bit is 9, options.end_bit is 8"));
  CHECK_THROWS_WITH(
      lanewise::radix_sort(exec, keys.const_view(), out.view(), {.overwrite_input = true}),
      ContainsSubstring("radix_sort: options.overwrite_input is set, but keys is not a View of "
                        "items that are not const"));
  CHECK_THROWS_WITH(lanewise::radix_sort(exec, keys.view(), keys.view(), {.overwrite_input = true}),
                    ContainsSubstring("overwrite_input is set, but keys_out is keys"));
  CHECK_THROWS_WITH(lanewise::radix_sort(exec, keys.view(), lanewise::generated(10, scrambled{}),
                                         out.view(), beside.view(), {.overwrite_input = true}),
                    ContainsSubstring("overwrite_input is set, but values is not a View"));
  const auto part = Kokkos::subview(keys.view(), std::pair{1, 6});
  CHECK_THROWS_WITH(lanewise::radix_sort(exec, Kokkos::subview(keys.view(), std::pair{0, 5}), part),
                    ContainsSubstring("overlap"));
  CHECK(keys.unchanged());
}
