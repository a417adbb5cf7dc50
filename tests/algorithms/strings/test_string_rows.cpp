// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/strings/string_rows.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>
#include <support/string_rows.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using row_pattern = lanewise::pattern<memory>;
using lanewise::rows_options;
using lanewise::string_positions;
using lanewise::string_rows;

/// Places of a step of a warp, and how many steps' bits a warp keeps.
constexpr std::int64_t row_step = 1024, row_steps = 8;

/// All calls.
template <class Offset = std::int32_t, class T = std::int32_t>
void check_rows(const rows_on_host& rows, const std::string& bytes, int shift = 0,
                bool characters = false) {
  CAPTURE(rows.size(), rows.text.size(), bytes.size(), bytes.substr(0, 40), shift, characters);
  const row_pattern pattern(bytes);
  std::vector<std::vector<std::int64_t>> places;
  for (std::int64_t r = 0; r < rows.size(); ++r) places.push_back(rows.places(r, bytes));
  const auto number = [&](std::int64_t r) {
    return static_cast<std::int64_t>(places[static_cast<std::size_t>(r)].size());
  };
  const auto place = [&](std::int64_t r, std::int64_t i) {
    if (i < 0 || i >= number(r)) return std::int64_t{-1};
    const std::int64_t at = places[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)];
    return characters ? rows.characters(r, at) : at;
  };
  const rows_options with{.positions =
                              characters ? string_positions::characters : string_positions::bytes};
  using lanewise::rows_contains, lanewise::rows_count;
  check_call<Offset, std::uint8_t>(
      rows, shift, with,
      [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
        const Kokkos::View<bool*, memory, Kokkos::MemoryUnmanaged> flags(
            reinterpret_cast<bool*>(out.data()), out.size());
        rows_contains(exec, all, pattern, flags, options);
      },
      [&](std::int64_t r) { return number(r) > 0 ? 1 : 0; });
  check_call<Offset, T>(
      rows, shift, with,
      [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
        rows_count(exec, all, pattern, out, options);
      },
      number);
  check_call<Offset, T>(
      rows, shift, with,
      [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
        rows_find_first(exec, all, pattern, out, options);
      },
      [&](std::int64_t r) { return place(r, 0); });
  check_call<Offset, T>(
      rows, shift, with,
      [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
        rows_find_last(exec, all, pattern, out, options);
      },
      [&](std::int64_t r) { return place(r, number(r) - 1); });
  for (const std::int64_t i : {1, 700, -1, -3}) {
    if (i < 0 && sizeof(T) < 4) continue;  // numbers of places have to fit
    check_call<Offset, T>(
        rows, shift, with,
        [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
          rows_find_nth(exec, all, pattern, i, out, options);
        },
        [&](std::int64_t r) { return place(r, i < 0 ? number(r) + i : i); });
  }
}

const std::string patterns_of_rows[] = {"a", "abc", "abcdefghijklmnop",
                                        std::string(299, 'a') + "b"};

}  // namespace

TEST_CASE("Rows as long as the pattern, or nearly", "[string_rows]") {
  auto random = make_random(41);
  for (const std::string& bytes : patterns_of_rows) {
    const auto m = static_cast<std::int64_t>(bytes.size());
    std::vector<std::int64_t> lengths;
    std::string text;
    for (int r = 0; r < (is_emulated ? 60 : 400); ++r) {
      constexpr int kinds = 6;
      const std::int64_t all[kinds] = {0, 1, m - 1, m, m + 1, 2 * m};
      lengths.push_back(all[random() % kinds]);
      std::string row = random() % 3 == 0 ? bytes + bytes : bytes.substr(1) + bytes;
      row.resize(static_cast<std::size_t>(lengths.back()), 'a');
      text += row;
    }
    check_rows(rows_of(text, lengths), bytes, 3);
    check_rows<std::int64_t, std::int64_t>(rows_of(text, lengths), bytes, 1);
  }
}

TEST_CASE("Rows that end around steps, and what a warp keeps", "[string_rows][sanitize]") {
  for (const std::int64_t length :
       {row_step - 1, row_step, row_step + 1, row_steps * row_step - 3}) {
    const std::vector<std::int64_t> lengths(is_emulated ? 5 : 40, length);
    for (const std::string bytes : {"a", "bab", "abcdefghijklm"}) {
      std::string text = text_for_rows(sum_of(lengths) + 50, 2, bytes.size());
      put_often(text, bytes, 30, 5);
      for (std::size_t e = 0; e < lengths.size(); ++e)  // over ends
        text.replace((e + 1) * static_cast<std::size_t>(length) - bytes.size() / 2, bytes.size(),
                     bytes);
      check_rows(rows_of(text, lengths), bytes, static_cast<int>(length % 16));
    }
  }
}

TEST_CASE("Rows of any length, among them long ones and many without bytes", "[string_rows]") {
  auto random = make_random(42);
  for (const std::string& bytes : patterns_of_rows) {
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<std::int64_t> lengths;
      for (int r = 0; r < (is_emulated ? 300 : 3000); ++r) {
        const auto draw = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
        lengths.push_back(kind == 0 ? draw(64)
                          : kind == 1
                              ? (draw(100) == 0 ? draw(is_emulated ? 9000 : 90'000) : draw(9))
                          : kind == 2 ? (draw(20) == 0 ? draw(2000) : 0)
                                      : draw(2));
      }
      std::string text = text_for_rows(sum_of(lengths) + 100, 2 + kind, random());
      put_often(text, bytes, 100, random());
      check_rows(rows_of(text, lengths, 77), bytes, static_cast<int>(random() % 16));
    }
  }
}

TEST_CASE("Rows of a rare pattern, most pieces of which have no place", "[string_rows][sanitize]") {
  auto random = make_random(52);
  const std::string bytes = "a rare pattern";
  for (const int kind : {0, 1, 2}) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t n = 0; n < (is_emulated ? 40'000 : 400'000); n += lengths.back()) {
      const std::uint64_t most = kind == 0   ? 40
                                 : kind == 1 ? (random() % 9 == 0 ? 20'000 : 90)
                                             : 30'000;
      lengths.push_back(static_cast<std::int64_t>(random() % most));
    }
    std::string text = text_for_rows(sum_of(lengths) + 10, 3, random());
    for (const int times : {0, 1, 4}) {
      put_often(text, bytes, times, random());
      rows_on_host rows = rows_of(text, lengths, 7);
      check_rows(rows, bytes, kind);
      rows.valid.assign(lengths.size() / 32 + 1, 0xa5a5f00fu);
      check_rows<std::int64_t, std::int64_t>(rows, bytes, kind + 3);
    }
  }
}

TEST_CASE("One row of all bytes, and a row behind many that are empty", "[string_rows]") {
  const std::int64_t n = is_emulated ? 30'000 : 400'000;
  const std::int64_t empty = is_emulated ? 5000 : (takes_long_inputs() ? 3'000'000 : 300'000);
  for (const std::string bytes : {"a", "abab", "ccccccccccccccccd"}) {
    std::string text = text_for_rows(n, 2, 8);
    put_often(text, bytes, 900, 9);
    check_rows(rows_of(text, {n}), bytes);
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(empty), 0);
    lengths[static_cast<std::size_t>(empty / 3)] = n / 2;
    lengths.push_back(n / 2);
    check_rows(rows_of(text, lengths), bytes, 5);
  }
}

TEST_CASE("Texts and patterns of one letter in rows", "[string_rows]") {
  auto random = make_random(43);
  std::vector<std::int64_t> lengths;
  for (int r = 0; r < (is_emulated ? 40 : 300); ++r)
    lengths.push_back(static_cast<std::int64_t>(random() % (r % 10 == 0 ? 5000 : 50)));
  const std::string text(static_cast<std::size_t>(sum_of(lengths)), 'a');
  for (const std::size_t m : {1, 3, 16, 300})
    check_rows(rows_of(text, lengths), std::string(m, 'a'), static_cast<int>(m % 7));
}

TEST_CASE("Slices of rows, and rows that are null", "[string_rows][sanitize]") {
  auto random = make_random(44);
  std::vector<std::int64_t> lengths;
  for (int r = 0; r < 300; ++r)
    lengths.push_back(static_cast<std::int64_t>(random() % (r % 50 == 7 ? 3000 : 40)));
  std::string text = text_for_rows(sum_of(lengths) + 3000, 3, 45);
  put_often(text, "abcabc", 60, 46);
  rows_on_host rows = rows_of(text, lengths, 1500);
  for (const std::int64_t bit : {0, 3, 37}) {
    rows.first_bit = bit;
    rows.valid.assign(static_cast<std::size_t>((bit + 300 + 31) / 32), 0);
    for (auto& word : rows.valid) word = static_cast<std::uint32_t>(random() | random());
    check_rows(rows, "abcabc", 2);
    check_rows<std::int64_t, std::int64_t>(rows, "a", 1);
  }
  rows.valid.clear();
  for (const std::size_t first : {1, 7, 170}) {  // without rows before and after
    rows_on_host slice = rows;
    slice.offsets = {rows.offsets.begin() + static_cast<std::ptrdiff_t>(first),
                     rows.offsets.end() - static_cast<std::ptrdiff_t>(first / 2)};
    check_rows<std::uint32_t>(slice, "abc", 9);
  }
}

TEST_CASE("Positions in characters", "[string_rows]") {
  auto random = make_random(47);
  const std::string letters[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  for (const std::string& bytes : {letters[1], std::string("aa"), letters[3] + "a" + letters[2]}) {
    for (const std::uint64_t longest : {30, 3000, is_emulated ? 9000 : 200'000}) {
      std::string text = "aaa";
      std::vector<std::int64_t> lengths;
      for (int r = 0; r < (longest > 100 ? 7 : 200); ++r) {
        const std::size_t before = text.size();
        const std::uint64_t want = random() % longest;
        while (text.size() - before < want) text += letters[random() % 4];
        if (random() % 2 == 0) text += bytes;
        lengths.push_back(static_cast<std::int64_t>(text.size() - before));
      }
      check_rows(rows_of(text + letters[2], lengths, 3), bytes, static_cast<int>(longest % 16),
                 true);
    }
  }
  const std::string cut = "\x82\xac" + letters[2] + "x" + std::string(40, '\x80') + "x";
  check_rows(rows_of(cut, {2, static_cast<std::int64_t>(cut.size()) - 2}), "x", 0, true);
}

TEST_CASE("Offsets that fall, or lie outside of the bytes", "[string_rows][sanitize]") {
  auto random = make_random(48);
  const std::string text = text_for_rows(5000, 2, 49);
  const auto n = static_cast<std::int64_t>(text.size());
  for (int again = 0; again < 8; ++again) {
    rows_on_host rows{text, {}};
    for (std::int64_t r = 0; r <= 200; ++r) rows.offsets.push_back(r * 25);
    for (int i = 0; i < 1 << again; ++i) {
      constexpr int kinds = 4;
      const std::int64_t all[kinds] = {-1, n + 1, static_cast<std::int64_t>(random() % 5001),
                                       std::numeric_limits<std::int32_t>::max()};
      rows.offsets[random() % 201] = all[random() % kinds];
    }
    check_rows(rows, "ab", again);
    check_rows(rows, "abbabaabb", again);
    check_rows(rows, "no such bytes", again);
    check_rows<std::int64_t, std::int64_t>(rows, "a", again, true);
  }
  check_rows(rows_on_host{text, {n, 0}}, "a");
  check_rows(rows_on_host{text, {-5, -3, -1}}, "a");
  check_rows(rows_on_host{text, {n + 1, n + 7}}, "a");
  check_rows<std::int64_t, std::int64_t>(
      rows_on_host{
          text,
          {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 0}},
      "a");
}

TEST_CASE("No rows, no bytes, and results of few bits", "[string_rows]") {
  check_rows(rows_of("abc", {}, 2), "a");
  check_rows(rows_of("", {0}), "a");
  check_rows(rows_of("", {0, 0, 0}), "ab");
  check_rows(rows_of("ab", {2}), "abc");
  const std::string text(1000, 'a');
  check_rows<std::int64_t, std::int8_t>(rows_of(text, {300, 0, 100, 600}), "a");
  check_rows<std::int32_t, std::uint16_t>(rows_of(text, {300, 0, 100, 600}), "aa");
  const row_pattern pattern("a");
  const Kokkos::View<std::int32_t*, memory> none("none", 0);
  const array<char> bytes(3, 'a');
  const array<std::int32_t> out(1, 7);
  lanewise::rows_count(make_space(), string_rows(bytes.const_view(), none), pattern, out.view());
  CHECK(out.items().front() == 7);
}

TEST_CASE("Extents of rows and results, and memory that is given", "[string_rows]") {
  const row_pattern pattern("a");
  const array<char> bytes(6, 'a');
  const array<std::int32_t> offsets({0, 1, 3, 6}), out(3, 7);
  const string_rows rows(bytes.const_view(), offsets.const_view());
  const Kokkos::View<std::int32_t*, memory> few("few", 2);
  CHECK_THROWS_WITH(lanewise::rows_count(make_space(), rows, pattern, few),
                    ContainsSubstring("rows_count: out has 2 places, there are 3 rows"));
  const array<std::uint8_t> valid(1, std::uint8_t{5});
  CHECK_THROWS_WITH(lanewise::rows_count(make_space(),
                                         string_rows(bytes.const_view(), offsets.const_view(),
                                                     valid.const_view(), 6),
                                         pattern, out.view()),
                    ContainsSubstring("rows.valid has 8 bits, 3 rows from bit 6 on need more"));
  lanewise::rows_count(make_space(),
                       string_rows(bytes.const_view(), offsets.const_view(), valid.const_view()),
                       pattern, out.view());
  CHECK(out.items() == std::vector<std::int32_t>{1, 0, 3});
  lanewise::workspace work;
  for (int again = 0; again < 2; ++again)
    lanewise::rows_count(make_space(), rows, pattern, out.view(), {.work = &work});
  CHECK(out.items() == std::vector<std::int32_t>{1, 2, 3});
  const array<std::int32_t> falling({0, 3, 1, 6});
  lanewise::rows_count(make_space(), string_rows(bytes.const_view(), falling.const_view()), pattern,
                       out.view(), {.work = &work});
  CHECK_THROWS_WITH(lanewise::check(make_space(), work), ContainsSubstring("1 items"));
}

TEST_CASE("Rows of more than 2^32 bytes", "[.large][string_rows]") {
  const std::int64_t n = (std::int64_t{1} << 32) + 100'003;
  const Kokkos::View<char*, memory> text(Kokkos::view_alloc("text", Kokkos::WithoutInitializing),
                                         static_cast<std::size_t>(n));
  Kokkos::deep_copy(text, '.');
  const std::string bytes = "behind 2^32 bytes";
  const auto m = static_cast<std::int64_t>(bytes.size());
  const auto put = [&](std::int64_t at) {
    const Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(bytes.data(),
                                                                                     bytes.size());
    Kokkos::deep_copy(Kokkos::subview(text, Kokkos::make_pair(at, at + m)), from);
  };
  put(12'345);
  put(n - 50'000);
  put(n - m);
  const array<std::int64_t> offsets({5, n - 40'000, n - 3, n - 3, n}), places(4, 7);
  const string_rows rows(text, offsets.const_view());
  const row_pattern pattern(bytes);
  using results = std::vector<std::int64_t>;
  lanewise::rows_count(make_space(), rows, pattern, places.view());
  CHECK(places.items() == results{2, 0, 0, 0});
  lanewise::rows_find_last(make_space(), rows, pattern, places.view());
  CHECK(places.items() == results{n - 50'005, -1, -1, -1});
  lanewise::rows_find_nth(make_space(), rows, pattern, -1, places.view(),
                          {.positions = string_positions::characters});
  CHECK(places.items() == results{n - 50'005, -1, -1, -1});
  lanewise::rows_count(make_space(), rows, row_pattern("."), places.view());
  CHECK(places.items() == results{n - 40'005 - 2 * m, 40'000 - m, 0, 0});
}
