// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/sort/check_radix_sort.hpp>
#include <limits>

// Keys alone, of every type, size and distribution.

using namespace test;

TEMPLATE_TEST_CASE("radix_sort sorts keys at every size", "[radix_sort]",
                   std::uint32_t MORE_TYPES(double)) {
  const std::int64_t few = few_sorted<TestType>();
  for (std::int64_t n : sizes_around(few)) {
    CAPTURE(n);
    check_sort(sorting_keys<TestType>(distribution::uniform, n));
  }
  check_sort_in_place(sorting_keys<TestType>(distribution::uniform, few + 1));
  check_sort_in_place(sorting_keys<TestType>(distribution::uniform, 131));
}

TEST_CASE("radix_sort sorts keys of every distribution", "[radix_sort]") {
  using key = std::uint32_t;
  for (const distribution d : all_distributions) {
    for (const std::int64_t n : {std::int64_t{700}, some_tiles(4 * few_sorted<key>())}) {
      CAPTURE(d, n);
      check_sort_in_place(sorting_keys<key>(d, n));
    }
  }
}

TEST_CASE("radix_sort sorts many keys by launches", "[radix_sort]") {
  check_sort_in_place(sparse_keys(launched_keys, 3));
  if (is_emulated && !full()) return;
  auto keys = sparse_keys(launched_keys, 1);
  std::sort(keys.begin(), keys.end());
  check_sort(keys);
  std::swap(keys[400'000], keys[700'000]);
  check_sort(keys);
  if (!full()) return;
  check_sort(keys, {.order = lanewise::sort_order::descending});
  check_sort_in_place(sparse_keys(launched_keys, 1));
}

TEST_CASE("radix_sort finds keys that are in order", "[radix_sort][sanitize]") {
  const std::int64_t n = some_tiles(2 * few_sorted<std::int32_t>());
  std::vector<std::int32_t> keys(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::int32_t>(i / 3) - static_cast<std::int32_t>(n / 7);
  check_sort_in_place(keys);
  check_sort(keys);
  // One pair is not, wherever it is.
  for (const std::size_t at : {std::size_t{1}, keys.size() / 2, keys.size() - 1}) {
    CAPTURE(at);
    auto almost = keys;
    almost[at] = almost[at - 1] - 1;
    check_sort(almost);
  }
}

// One digit has most of the keys, and other bits are in no order: bins are shared out.
TEMPLATE_TEST_CASE("radix_sort sorts rows of unequal length", "[radix_sort][sanitize]",
                   std::uint32_t, std::uint64_t MORE_TYPES(std::uint16_t, unsigned __int128)) {
  const std::int64_t few = few_sorted<TestType>();
  constexpr int width = 8 * sizeof(TestType), rows = 6, unused = width / 8;
  for (const std::int64_t n : {few / 3, few, some_tiles(3 * few)}) {
    CAPTURE(n);
    auto random = make_random(5);
    std::vector<TestType> keys(static_cast<std::size_t>(n));
    for (auto& key : keys) {
      const auto row = static_cast<TestType>(sparse(random, 5) % (1 << rows));
      const auto column = static_cast<TestType>(static_cast<TestType>(random()) >> rows);
      key = static_cast<TestType>(static_cast<TestType>(row << (width - rows)) | column);
    }
    check_sort(keys);
    check_sort_pairs(keys, places(keys.size()), {.begin_bit = 3, .end_bit = width});
    for (auto& key : keys) key = static_cast<TestType>(key >> unused);
    check_sort_in_place(keys, {.begin_bit = 2, .end_bit = width - unused});
  }
}

TEST_CASE("radix_sort sorts keys that gather in few of its buckets and bins",
          "[radix_sort][sanitize]") {
  const std::int64_t n = some_tiles(2 * few_sorted<std::uint32_t>());
  for (const int kind : {0, 1, 2, 3, 4, 5, 6}) {
    CAPTURE(kind);
    auto random = make_random(kind);
    std::vector<std::uint32_t> keys(static_cast<std::size_t>(n));
    for (auto& key : keys) {
      const auto x = static_cast<std::uint32_t>(random());
      key = kind == 0   ? static_cast<std::uint32_t>(sparse(random, 2))
            : kind == 1 ? static_cast<std::uint32_t>(sparse(random, 5))
            : kind == 2 ? (x % 4 == 0 ? x : 0x55aa0000u)   // most are equal
            : kind == 3 ? 0x12340000u + x % 0x10000        // upper digits are the same
            : kind == 4 ? x << 20                          // lower digits are
            : kind == 5 ? (x % 2 == 0 ? 7u : 0xfffffff7u)  // two keys
                        : 0xffffff00u + x % 3;             // levels down to the last
    }
    check_sort_in_place(keys);
    keys.resize(900);
    check_sort(keys);
  }
}

TEST_CASE("radix_sort sorts many keys that differ in few bits of their first digit",
          "[radix_sort]") {
  if (is_emulated && !full()) SKIP("two minutes under AddressSanitizer: with --full");
  // A number of keys for which two digits are too few, and would not be if the first began where
  // keys differ.
  const std::int64_t n = 600 * few_sorted<std::uint32_t>() + 17;
  auto random = make_random(21);
  std::vector<std::uint32_t> keys(static_cast<std::size_t>(n));
  for (auto& key : keys) key = 0xa8000000u | static_cast<std::uint32_t>(random()) >> 7;
  check_sort(keys);
  // Keys of two digits far apart, which leave buckets of two levels somewhat too large for a team.
  for (auto& key : keys) key = static_cast<std::uint32_t>(random()) & 0x80ffffffu;
  check_sort(keys);
  if (!full()) return;
  // Bits that the sort does not look at make no difference.
  for (auto& key : keys) key ^= static_cast<std::uint32_t>(random()) << 31;
  check_sort(keys, {.begin_bit = 0, .end_bit = 31});
}

TEST_CASE("radix_sort descends", "[radix_sort][sanitize]") {
  const std::int64_t few = few_sorted<std::uint32_t>();
  for (const std::int64_t n : {std::int64_t{900}, 2 * few + 5}) {
    CAPTURE(n);
    check_sort(sorting_keys<std::uint32_t>(distribution::uniform, n),
               {.order = lanewise::sort_order::descending});
    check_sort_in_place(sorting_keys<std::uint32_t>(distribution::few_distinct, n),
                        {.order = lanewise::sort_order::descending});
  }
}

#if !defined(LANEWISE_TEST_FEW_TYPES)
TEST_CASE("radix_sort sorts doubles in IEEE's total order", "[radix_sort]") {
  using limits = std::numeric_limits<double>;
  std::vector<double> keys = {0.0,
                              -0.0,
                              1.0,
                              -1.0,
                              limits::infinity(),
                              -limits::infinity(),
                              limits::quiet_NaN(),
                              -limits::quiet_NaN(),
                              limits::denorm_min(),
                              -limits::denorm_min(),
                              limits::max(),
                              limits::lowest()};
  for (int copies = 0; copies < 6; ++copies) keys.insert(keys.end(), keys.begin(), keys.end());
  check_sort(keys);
  check_sort(keys, {.order = lanewise::sort_order::descending});
  keys.resize(static_cast<std::size_t>(few_sorted<double>()) + 99, -3.5);
  check_sort_in_place(keys);
}
#endif
