// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/papers/check_lsd_radix_sort.hpp>
#include <cmath>
#include <limits>

// Sorts by passes, of both ways. The oracle is std::stable_sort in radix order.

using namespace test;
using lanewise::sort_order;

TEST_CASE("lsd_radix_sort sorts by every width", "[lsd_radix_sort][sanitize]") {
  const auto keys =
      sorting_keys<std::uint32_t>(distribution::uniform, some_tiles(scanned_tile<std::uint32_t>));
  for (int bits = 1; bits <= 8; ++bits) {
    if (is_emulated && !full() && bits % 3 == 0) continue;
    CAPTURE(bits);
    check_passes(keys, lsd_passes::split_tiles{bits});
    check_pairs_by_passes(sparse_keys(999, 4), lsd_passes::split_tiles{bits});
    if (bits > lsd_passes::multi_scan::most_bits) continue;
    check_passes(keys, lsd_passes::multi_scan{bits});
    check_pairs_by_passes(sparse_keys(some_tiles(scanned_tile<std::uint32_t>), 4),
                          lsd_passes::multi_scan{bits});
  }
  check_pairs_by_passes(keys, lsd_passes::split_tiles{});
  check_pairs_by_passes(keys, lsd_passes::multi_scan{});
}

TEST_CASE("lsd_radix_sort sorts at every size", "[lsd_radix_sort]") {
  check_passes_at_sizes<std::uint32_t>();
}

TEST_CASE("lsd_radix_sort orders floating point, signs and characters as radix_key does",
          "[lsd_radix_sort]") {
  using limits = std::numeric_limits<float>;
  std::vector<float> keys = {0.f,
                             -0.f,
                             1.f,
                             -1.f,
                             2.f,
                             -2.f,
                             limits::infinity(),
                             -limits::infinity(),
                             limits::max(),
                             -3e9f,
                             1e9f,
                             limits::quiet_NaN(),
                             -limits::quiet_NaN()};
  for (int copies = 0; copies < 5; ++copies) keys.insert(keys.end(), keys.begin(), keys.end());
  std::vector<std::int32_t> numbers;
  for (const float x : keys) numbers.push_back(static_cast<std::int32_t>(lanewise::to_bits(x)));
  for (const auto order : {sort_order::ascending, sort_order::descending}) {
    check_pairs_by_passes(keys, lsd_passes::multi_scan{4}, {.order = order});
    check_pairs_by_passes(keys, lsd_passes::split_tiles{8}, {.order = order});
    check_pairs_by_passes(numbers, lsd_passes::multi_scan{3}, {.order = order});
  }
}

TEST_CASE("a multi-scan ranks the dissertation's digits", "[lsd_radix_sort][sanitize]") {
  const std::vector<std::uint32_t> digits = {0, 3, 1, 1, 2, 0, 3, 3};
  const array<std::uint32_t> keys(digits), from(places(8)), out(8, 0), moved(8, 0);
  lanewise::papers::lsd_radix_sort(make_space(), keys.const_view(), from.const_view(), out.view(),
                                   moved.view(), lsd_passes::multi_scan{2}, {.end_bit = 2});
  const std::vector<std::uint32_t> place = {0, 5, 2, 3, 4, 1, 6, 7};
  const auto found = moved.items();
  for (std::uint32_t i = 0; i < 8; ++i) CHECK(found[place[i]] == i);
}

// Eight bits hold 255: the packed counters of a warp's 256 keys have to tell 256 of one digit, and
// must not carry into the next digit's.
TEST_CASE("a multi-scan counts 256 keys of one digit", "[lsd_radix_sort][sanitize]") {
  const std::int64_t tile = scanned_tile<std::uint32_t>;
  for (int bits = 1; bits <= lsd_passes::multi_scan::most_bits; ++bits) {
    const std::uint32_t digits = 1u << bits;
    const lanewise::sort_options low{.end_bit = bits};
    for (const std::uint32_t run : {255u, 256u, 257u}) {
      CAPTURE(bits, run);
      std::vector<std::uint32_t> keys(static_cast<std::size_t>(tile + 2 * run));
      for (std::size_t i = 0; i < keys.size(); ++i)
        keys[i] = static_cast<std::uint32_t>(i) / run * 5 % digits;
      check_pairs_by_passes(keys, lsd_passes::multi_scan{bits}, low);
    }
    for (const std::uint32_t digit : {0u, digits / 2, digits - 1}) {
      CAPTURE(bits, digit);
      // Whole tiles of one digit, and one key that is not, so that the pass has something to do.
      std::vector<std::uint32_t> keys(static_cast<std::size_t>(2 * tile), digit);
      keys.back() = digits - 1 - digit;
      check_pairs_by_passes(keys, lsd_passes::multi_scan{bits}, low);
    }
  }
}

// Which passes have nothing to do decides where keys end.
TEST_CASE("a multi-scan leaves out passes whose digit all keys share",
          "[lsd_radix_sort][sanitize]") {
  auto random = make_random(17);
  for (const int passes : {3, 4}) {
    for (std::uint32_t used = 0; used < 1u << passes; ++used) {
      CAPTURE(passes, used);
      std::uint32_t mask = 0;
      for (int p = 0; p < passes; ++p) mask |= (used >> p & 1) != 0 ? 15u << (4 * p) : 0;
      std::vector<std::uint32_t> keys(300);
      for (auto& key : keys) key = (static_cast<std::uint32_t>(random()) & mask) | 0xabc0000u;
      check_pairs_by_passes(keys, lsd_passes::multi_scan{4}, {.end_bit = 4 * passes});
      check_passes(keys, lsd_passes::multi_scan{4}, {.end_bit = 4 * passes});
    }
  }
}

TEST_CASE("passes of signs and of floating point may be left out", "[lsd_radix_sort]") {
  auto random = make_random(18);
  std::vector<std::int32_t> numbers(500);
  std::vector<float> floats(500);
  for (int at = 0; at <= 24; at += 8) {
    CAPTURE(at);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto band = static_cast<std::uint32_t>(random() & 255) << at;
      numbers[i] = static_cast<std::int32_t>(band | (at == 24 ? 0 : 0x80000000u));
      floats[i] = __builtin_bit_cast(float, numbers[i]);
    }
    check_pairs_by_passes(numbers, lsd_passes::multi_scan{4});
    check_pairs_by_passes(floats, lsd_passes::multi_scan{4});
    check_passes(floats, lsd_passes::multi_scan{4}, {.order = sort_order::descending});
  }
  check_pairs_by_passes(std::vector<float>(400, -1.5f), lsd_passes::multi_scan{4});
  check_pairs_by_passes(std::vector<std::int32_t>(400, -7), lsd_passes::split_tiles{4});
}

TEST_CASE("lsd_radix_sort sorts by ranges of bits", "[lsd_radix_sort]") {
  const auto keys = sorting_keys<std::uint32_t>(distribution::uniform, 1500);
  for (const auto& [begin, end] : {std::pair{0, 5}, {7, 16}, {13, 14}, {20, 32}, {9, 9}}) {
    CAPTURE(begin, end);
    const lanewise::sort_options with{.begin_bit = begin, .end_bit = end};
    check_pairs_by_passes(keys, lsd_passes::multi_scan{4}, with);
    check_pairs_by_passes(keys, lsd_passes::split_tiles{5}, with);
    check_passes(keys, lsd_passes::multi_scan{}, with);
  }
}

TEMPLATE_TEST_CASE("lsd_radix_sort reads the number of keys, and uses a workspace",
                   "[lsd_radix_sort]", lsd_passes::multi_scan, lsd_passes::split_tiles) {
  const auto exec = make_space();
  const std::int64_t n = 2 * scanned_tile<std::uint32_t>;
  const auto items = sorting_keys<std::uint32_t>(distribution::uniform, n);
  lanewise::workspace work;
  lanewise::reserve(exec, work,
                    lanewise::papers::lsd_radix_sort_workspace<TestType, std::uint32_t, space>(n));
  const auto bytes = work.bytes();
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, n / 2 + 3, n, n + 7}) {
    CAPTURE(count);
    const cell<std::int64_t> number(count);
    const array<std::uint32_t> keys(items), out(n, 7u);
    lanewise::papers::lsd_radix_sort(exec, keys.const_view(), out.view(), TestType{},
                                     {.work = &work, .count = number.view()});
    auto expected = items;
    const std::int64_t sorted = std::min(count, n);
    std::sort(expected.begin(), expected.begin() + sorted);
    std::fill(expected.begin() + sorted, expected.end(), 7u);
    CHECK(out.items() == expected);
  }
  CHECK(work.bytes() == bytes);
}

TEST_CASE("lsd_radix_sort refuses widths that there are not", "[lsd_radix_sort]") {
  const auto exec = make_space();
  const array<std::uint32_t> keys(places(9)), out(9, 0u), few(8, 0u);
  const auto sort = [&](const auto& how, const auto& to, const lanewise::sort_options& with = {}) {
    lanewise::papers::lsd_radix_sort(exec, keys.const_view(), to.view(), how, with);
  };
  CHECK_THROWS_AS(sort(lsd_passes::multi_scan{6}, out), std::invalid_argument);
  CHECK_THROWS_AS(sort(lsd_passes::multi_scan{-1}, out), std::invalid_argument);
  CHECK_THROWS_AS(sort(lsd_passes::split_tiles{9}, out), std::invalid_argument);
  CHECK_THROWS_AS(sort(lsd_passes::split_tiles{4}, few), std::invalid_argument);
  CHECK_THROWS_AS(sort(lsd_passes::split_tiles{4}, out, {.end_bit = 33}), std::invalid_argument);
  CHECK(out.unchanged());
}

TEST_CASE("the cost model finds the dissertation's width", "[lsd_radix_sort]") {
  using lanewise::papers::best_bits;
  constexpr auto gt200 = lanewise::papers::radix_pass_costs::gt200;
  const double totals[] = {1708.8, 886.4, 653.4, 539.2, 583.8, 692.4, 897.0, 1229.6};
  for (int d = 1; d <= 8; ++d) {
    CAPTURE(d);
    CHECK(std::abs(lanewise::papers::radix_sort_cost(gt200, 32, d, 1) - totals[d - 1]) < 0.05);
  }
  static_assert(best_bits(gt200, 32, 8) == 4);
  static_assert(best_bits(gt200, 32, 3) == 3);  // what there is
  static_assert(best_bits(gt200, 5, 8) == 5);   // whole passes: one, instead of two of three
  static_assert(best_bits({1, 0}, 32, 8) == 8 && best_bits({0, 1}, 32, 8) == 1);
  // What was fastest on the H200, too.
  static_assert(best_bits(lanewise::papers::radix_pass_costs::h200_multi_scan, 32, 5) == 4);
  static_assert(best_bits(lanewise::papers::radix_pass_costs::h200_split_tiles, 32, 8) == 8);
  CHECK(lsd_passes::bits_of_pass(lsd_passes::multi_scan{.cost = gt200}, 32) == 4);
  CHECK(lsd_passes::bits_of_pass(lsd_passes::multi_scan{3, gt200}, 32) == 3);
}
