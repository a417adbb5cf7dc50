// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/strings/string_set_rows.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>
#include <support/string_rows.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using row_set = lanewise::pattern_set<memory>;
using lanewise::rows_options;
using lanewise::string_positions;
using lanewise::string_rows;

/// Places of a step of a warp, and the most bytes that a warp searches before it takes others.
constexpr std::int64_t set_row_step = 1024, set_row_part = 16 * set_row_step;

/// The places in a row where patterns begin that end in it, and the number of occurrences.
struct found_in_row {
  std::vector<std::int64_t> places;
  std::int64_t occurrences = 0;

  found_in_row(const rows_on_host& rows, std::int64_t r, const std::vector<std::string>& patterns) {
    const std::string_view row = rows.bytes(r);
    for (std::size_t at = 0; at < row.size(); ++at) {
      const std::int64_t before = occurrences;
      for (const std::string& p : patterns)
        occurrences += p[0] == row[at] && row.substr(at).starts_with(p) ? 1 : 0;
      if (occurrences > before) places.push_back(static_cast<std::int64_t>(at));
    }
  }
};

/// All calls.
template <class Offset = std::int32_t, class T = std::int32_t>
void check_set_rows(const rows_on_host& rows, const std::vector<std::string>& patterns,
                    int shift = 0, bool characters = false) {
  CAPTURE(rows.size(), rows.text.size(), patterns.size(), patterns[0].substr(0, 40), shift,
          characters);
  const row_set set(patterns);
  std::vector<found_in_row> found;
  for (std::int64_t r = 0; r < rows.size(); ++r) found.emplace_back(rows, r, patterns);
  const auto of = [&](std::int64_t r) -> const found_in_row& {
    return found[static_cast<std::size_t>(r)];
  };
  const auto number = [&](std::int64_t r) {
    return static_cast<std::int64_t>(of(r).places.size());
  };
  const auto place = [&](std::int64_t r, std::int64_t i) {
    if (i < 0 || i >= number(r)) return std::int64_t{-1};
    const std::int64_t at = of(r).places[static_cast<std::size_t>(i)];
    return characters ? rows.characters(r, at) : at;
  };
  const rows_options with{.positions =
                              characters ? string_positions::characters : string_positions::bytes};
  check_call<Offset, std::uint8_t>(
      rows, shift, with,
      [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
        const Kokkos::View<bool*, memory, Kokkos::MemoryUnmanaged> flags(
            reinterpret_cast<bool*>(out.data()), out.size());
        lanewise::rows_contains(exec, all, set, flags, options);
      },
      [&](std::int64_t r) { return number(r) > 0 ? 1 : 0; });
  check_call<Offset, T>(
      rows, shift, with,
      [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
        lanewise::rows_count(exec, all, set, out, options);
      },
      [&](std::int64_t r) { return of(r).occurrences; });
  check_call<Offset, T>(
      rows, shift, with,
      [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
        lanewise::rows_find_first(exec, all, set, out, options);
      },
      [&](std::int64_t r) { return place(r, 0); });
  check_call<Offset, T>(
      rows, shift, with,
      [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
        lanewise::rows_find_last(exec, all, set, out, options);
      },
      [&](std::int64_t r) { return place(r, number(r) - 1); });
  for (const std::int64_t i : {2, 300, -1, -2}) {
    if (i < 0 && sizeof(T) < 4) continue;  // numbers of places have to fit
    check_call<Offset, T>(
        rows, shift, with,
        [&](const auto& exec, const auto& all, const auto& out, const auto& options) {
          lanewise::rows_find_nth(exec, all, set, i, out, options);
        },
        [&](std::int64_t r) { return place(r, i < 0 ? number(r) + i : i); });
  }
}

/// Parts of a text; some of them begin with others or equal them.
std::vector<std::string> parts_for_rows(const std::string& text, std::size_t number,
                                        std::size_t least, std::size_t most) {
  auto random = make_random(text.size());
  std::vector<std::string> parts;
  while (parts.size() < number) {
    const std::size_t m = least + random() % (most - least + 1);
    parts.push_back(text.substr(random() % (text.size() - m + 1), m));
    if (random() % 3 == 0) parts.push_back(parts.back().substr(0, least));
    if (random() % 5 == 0) parts.push_back(parts.back());
  }
  return parts;
}

}  // namespace

TEST_CASE("Rows that end in the middle of patterns that begin with each other",
          "[string_set_rows][sanitize]") {
  const std::string whole = "abcdefghijklmnopqrstuvwxyz0123456789";
  const std::vector<std::string> chain{whole,
                                       whole.substr(0, 20),
                                       whole.substr(0, 12),
                                       whole.substr(0, 12),
                                       whole.substr(0, 5),
                                       whole.substr(0, 1),
                                       whole.substr(7),
                                       whole.substr(7, 3)};
  std::string text;
  std::vector<std::int64_t> lengths;
  for (std::size_t m = 0; m <= whole.size(); ++m) {  // cut after m bytes, the rest in other rows
    text += whole;
    lengths.push_back(static_cast<std::int64_t>(m));
    lengths.push_back(0);
    lengths.push_back(static_cast<std::int64_t>(whole.size() - m));
  }
  for (const int shift : {0, 5}) {
    check_set_rows(rows_of(text, lengths), chain, shift);
    check_set_rows<std::int64_t, std::int64_t>(rows_of(text, lengths), {whole, whole.substr(2, 9)},
                                               shift);
  }
}

TEST_CASE("Rows searched for sets that end around steps and parts", "[string_set_rows]") {
  for (const std::int64_t length :
       {set_row_step - 1, set_row_step, set_row_step + 1, set_row_part - 3, set_row_part + 1}) {
    const std::vector<std::int64_t> lengths(is_emulated ? 3 : 20, length);
    std::string text = text_for_rows(sum_of(lengths) + 50, 3, static_cast<std::uint64_t>(length));
    const std::vector<std::string> patterns{"zyxwvutsrqpo", "zyxw", "xw", "vutsrqponmlkjihgfedcb"};
    const std::string all = "zyxwvutsrqponmlkjihgfedcb";
    put_often(text, all, 30, 5);
    for (std::size_t e = 0; e < lengths.size(); ++e)  // over ends
      text.replace((e + 1) * static_cast<std::size_t>(length) - 3 * e % 20, all.size(), all);
    check_set_rows(rows_of(text, lengths), patterns, static_cast<int>(length % 16));
  }
}

TEST_CASE("Rows of any length searched for sets of any patterns", "[string_set_rows]") {
  auto random = make_random(142);
  for (const std::size_t least : {1, 2, 4, 7, 11, 19}) {
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<std::int64_t> lengths;
      for (int r = 0; r < (is_emulated ? 150 : 1500); ++r) {
        const auto draw = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
        lengths.push_back(kind == 0 ? draw(64)
                          : kind == 1
                              ? (draw(100) == 0 ? draw(is_emulated ? 3000 : 40'000) : draw(9))
                          : kind == 2 ? (draw(20) == 0 ? draw(2000) : 0)
                                      : draw(2));
      }
      const std::string text = text_for_rows(sum_of(lengths) + 300, 2 + kind, random());
      check_set_rows(rows_of(text, lengths, 77),
                     parts_for_rows(text, random() % 2 == 0 ? 3 : 40, least, least + 20),
                     static_cast<int>(random() % 16));
    }
  }
}

TEST_CASE("One row of all bytes, and rows of one letter, searched for sets", "[string_set_rows]") {
  const std::int64_t n = is_emulated ? 20'000 : 200'000;
  std::string text = text_for_rows(n, 2, 8);
  put_often(text, "abcabcabd", 900, 9);
  check_set_rows(rows_of(text, {n}), {"abc", "bcabd", "ab"});
  std::vector<std::int64_t> lengths(is_emulated ? 3000 : 100'000, 0);
  lengths[1000] = n / 2;
  lengths.push_back(n / 2);
  check_set_rows(rows_of(text, lengths), {"abcabc", "abd"}, 5);
  auto random = make_random(143);
  lengths.clear();
  for (int r = 0; r < (is_emulated ? 20 : 200); ++r)
    lengths.push_back(static_cast<std::int64_t>(random() % (r % 10 == 0 ? 3000 : 50)));
  const std::string same(static_cast<std::size_t>(sum_of(lengths)), 'a');
  check_set_rows(rows_of(same, lengths),
                 {"a", "aa", std::string(16, 'a'), std::string(17, 'a'), std::string(300, 'a')}, 3);
}

TEST_CASE("Slices of rows, and rows that are null, searched for sets",
          "[string_set_rows][sanitize]") {
  auto random = make_random(144);
  std::vector<std::int64_t> lengths;
  for (int r = 0; r < 200; ++r)
    lengths.push_back(static_cast<std::int64_t>(random() % (r % 50 == 7 ? 3000 : 40)));
  std::string text = text_for_rows(sum_of(lengths) + 3000, 3, 145);
  put_often(text, "abcabc", 60, 146);
  const std::vector<std::string> patterns{"abcabc", "bc", "bcab", "cccccccc"};
  rows_on_host rows = rows_of(text, lengths, 1500);
  for (const std::int64_t bit : {0, 37}) {
    rows.first_bit = bit;
    rows.valid.assign(static_cast<std::size_t>((bit + 200 + 31) / 32), 0);
    for (auto& word : rows.valid) word = static_cast<std::uint32_t>(random() | random());
    check_set_rows(rows, patterns, 2);
  }
  rows.valid.clear();
  for (const std::size_t first : {1, 7, 120}) {  // without rows before and after
    rows_on_host slice = rows;
    slice.offsets = {rows.offsets.begin() + static_cast<std::ptrdiff_t>(first),
                     rows.offsets.end() - static_cast<std::ptrdiff_t>(first / 2)};
    check_set_rows<std::uint32_t>(slice, patterns, 9);
  }
}

TEST_CASE("Positions in characters of rows searched for sets", "[string_set_rows]") {
  auto random = make_random(147);
  const std::string letters[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  for (const std::uint64_t longest : {30, is_emulated ? 3000 : 50'000}) {
    std::string text = "aaa";
    std::vector<std::int64_t> lengths;
    for (int r = 0; r < (longest > 100 ? 7 : 200); ++r) {
      const std::size_t before = text.size();
      const std::uint64_t want = random() % longest;
      while (text.size() - before < want) text += letters[random() % 4];
      lengths.push_back(static_cast<std::int64_t>(text.size() - before));
    }
    check_set_rows(rows_of(text + letters[2], lengths, 3),
                   {letters[1] + letters[2], "aa", letters[3] + "a"},
                   static_cast<int>(longest % 16), true);
  }
}

TEST_CASE("Offsets that fall, or lie outside of the bytes, with sets",
          "[string_set_rows][sanitize]") {
  auto random = make_random(148);
  const std::string text = text_for_rows(5000, 2, 149);
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
    check_set_rows(rows, {"ab", "b"}, again);
    check_set_rows<std::int64_t, std::int64_t>(rows, {"a", "abba", "bbbb"}, again, true);
  }
  check_set_rows(rows_on_host{text, {n, 0}}, {"a", "b"});
  check_set_rows(rows_on_host{text, {-5, -3, -1}}, {"a"});
  check_set_rows(rows_on_host{text, {n + 1, n + 7}}, {"a"});
  check_set_rows<std::int64_t, std::int64_t>(
      rows_on_host{
          text,
          {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 0}},
      {"a", "bb"});
}

TEST_CASE("No rows, no bytes, results of few bits and memory that is given, with sets",
          "[string_set_rows]") {
  check_set_rows(rows_of("abc", {}, 2), {"a"});
  check_set_rows(rows_of("", {0}), {"a"});
  check_set_rows(rows_of("", {0, 0, 0}), {"ab", "a"});
  check_set_rows(rows_of("ab", {2}), {"abc"});
  const std::string text(1000, 'a');
  check_set_rows<std::int64_t, std::int8_t>(rows_of(text, {300, 0, 100, 600}), {"a", "aa"});
  check_set_rows<std::int32_t, std::uint16_t>(rows_of(text, {300, 0, 100, 600}), {"aa"});
  const row_set set({"a", "aa", "b"});
  const array<char> bytes(6, 'a');
  const array<std::int32_t> offsets({0, 1, 3, 6}), out(3, 7);
  const string_rows rows(bytes.const_view(), offsets.const_view());
  const Kokkos::View<std::int32_t*, memory> few("few", 2);
  CHECK_THROWS_WITH(lanewise::rows_count(make_space(), rows, set, few),
                    ContainsSubstring("rows_count: out has 2 places, there are 3 rows"));
  lanewise::workspace work;
  for (int again = 0; again < 2; ++again) {
    lanewise::rows_count(make_space(), rows, set, out.view(), {.work = &work});
    CHECK(out.items() == std::vector<std::int32_t>{1, 3, 5});
    lanewise::rows_find_last(make_space(), rows, set, out.view(), {.work = &work});
    CHECK(out.items() == std::vector<std::int32_t>{0, 1, 2});
  }
  const array<std::int32_t> falling({0, 3, 1, 6});
  lanewise::rows_count(make_space(), string_rows(bytes.const_view(), falling.const_view()), set,
                       out.view(), {.work = &work});
  CHECK_THROWS_WITH(lanewise::check(make_space(), work), ContainsSubstring("1 items"));
}

TEST_CASE("Rows of more than 2^32 bytes, with sets", "[.large][string_set_rows]") {
  const std::int64_t n = (std::int64_t{1} << 32) + 100'003;
  const Kokkos::View<char*, memory> text(Kokkos::view_alloc("text", Kokkos::WithoutInitializing),
                                         static_cast<std::size_t>(n));
  Kokkos::deep_copy(text, '.');
  const std::string bytes = "behind 2^32 bytes";
  const auto m = static_cast<std::int64_t>(bytes.size());
  for (const std::int64_t at : {std::int64_t{12'345}, n - 50'000, n - m}) {
    const Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(bytes.data(),
                                                                                     bytes.size());
    Kokkos::deep_copy(Kokkos::subview(text, Kokkos::make_pair(at, at + m)), from);
  }
  const array<std::int64_t> offsets({5, n - 40'000, n - 3, n - 3, n}), places(4, 7);
  const string_rows rows(text, offsets.const_view());
  const row_set set({bytes, std::string("behind 2^32"), std::string("in front of it")});
  using results = std::vector<std::int64_t>;
  lanewise::rows_count(make_space(), rows, set, places.view());
  CHECK(places.items() == results{4, 1, 0, 0});
  lanewise::rows_find_last(make_space(), rows, set, places.view());
  CHECK(places.items() == results{n - 50'005, 40'000 - m, -1, -1});
}
