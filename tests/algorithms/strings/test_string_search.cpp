// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/is_sorted.hpp>
#include <lanewise/strings/string_search.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <string>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using pattern_type = lanewise::pattern<memory>;

/// A step of a warp, and the shortest piece of a team.
constexpr std::int64_t step = 1024, piece = 8 * step;

char folded(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::vector<std::int64_t> places_of(const std::string& text, const std::string& pattern,
                                    const lanewise::pattern_options& with) {
  std::vector<std::int64_t> places;
  const auto stands_for = [&](char p, char c) {
    return (with.wildcard && p == *with.wildcard) || p == c ||
           (with.fold_case && folded(p) == folded(c));
  };
  const bool is_plain = !with.wildcard && !with.fold_case;  // quick even where nothing is optimised
  const auto occurs = [&](std::size_t at) {
    if (is_plain) return text.compare(at, pattern.size(), pattern) == 0;
    return std::equal(pattern.begin(), pattern.end(),
                      text.begin() + static_cast<std::ptrdiff_t>(at), stands_for);
  };
  for (std::size_t at = 0; at + pattern.size() <= text.size(); ++at)
    if (occurs(at)) places.push_back(static_cast<std::int64_t>(at));
  return places;
}

/// All calls, on a text that begins at any byte of a line.
void check_searches(const std::string& text, const std::string& bytes, int shift = 0,
                    const lanewise::pattern_options& with = {}) {
  CAPTURE(text.size(), bytes.size(), bytes.substr(0, 40), shift, with.fold_case);
  const auto expected = places_of(text, bytes, with);
  const auto n = static_cast<std::int64_t>(text.size());
  const auto number = static_cast<std::int64_t>(expected.size());
  const array<char> in({text.begin(), text.end()}, shift);
  const pattern_type pattern(bytes, with);
  const auto exec = make_space();

  lanewise::workspace work;
  lanewise::reserve(exec, work, lanewise::string_search_workspace<space>(n));
  const std::size_t reserved = work.bytes();
  const cell<std::int64_t> counted(-7), first(-7), last(-7), found(-7);
  lanewise::count(exec, in.const_view(), pattern, counted.view(), {.work = &work});
  lanewise::find_first(exec, in.const_view(), pattern, first.view());
  lanewise::find_last(exec, in.const_view(), pattern, last.view());
  CHECK(counted.get() == number);
  CHECK(first.get() == (expected.empty() ? -1 : expected.front()));
  CHECK(last.get() == (expected.empty() ? -1 : expected.back()));

  const array<std::int64_t> places(number + 1, -7);
  lanewise::find_all(exec, in.const_view(), pattern, places.view(), found.view(), {.work = &work});
  CHECK(found.get() == number);
  auto all = places.items();
  CHECK(all.back() == -7);
  all.pop_back();
  CHECK(all == expected);
  CHECK(places.guards_intact());

  std::vector<std::uint32_t> expected_bits(static_cast<std::size_t>((n + 31) / 32));
  for (const auto p : expected) expected_bits[static_cast<std::size_t>(p / 32)] |= 1u << p % 32;
  const array<std::uint32_t> bits((n + 31) / 32, ~0u);
  lanewise::find_bitmap(exec, in.const_view(), pattern, bits.view(), {.work = &work});
  CHECK(bits.items() == expected_bits);
  CHECK(work.bytes() == reserved);
  CHECK(bits.guards_intact());
}

std::string random_text(std::int64_t n, int letters, std::uint64_t salt) {
  auto random = make_random(salt);
  std::string text(static_cast<std::size_t>(n), 'a');
  for (char& c : text) c = static_cast<char>(letters == 256 ? random() : 'a' + random() % letters);
  return text;
}

std::string repeated(const std::string& what, std::int64_t n) {
  std::string text;
  while (static_cast<std::int64_t>(text.size()) < n) text += what;
  text.resize(static_cast<std::size_t>(n));
  return text;
}

std::string fibonacci_word(std::int64_t n) {
  std::string a = "a", b = "ab";
  while (static_cast<std::int64_t>(b.size()) < n) {
    std::string next = b + a;
    a = std::move(b);
    b = std::move(next);
  }
  return b.substr(0, static_cast<std::size_t>(n));
}

std::string thue_morse_word(std::int64_t n) {
  std::string text = "a";
  while (static_cast<std::int64_t>(text.size()) < n)
    for (std::size_t i = 0, size = text.size(); i < size; ++i) text += text[i] == 'a' ? 'b' : 'a';
  return text.substr(0, static_cast<std::size_t>(n));
}

}  // namespace

TEST_CASE("Patterns from random texts of few and of many letters", "[string_search]") {
  auto random = make_random(3);
  for (const int letters : {1, 2, 4, 26, 256}) {
    for (const std::int64_t m :
         {1, 2, 3, 4, 5, 8, 10, 11, 12, 13, 16, 23, 64, 127, 128, 129, 300}) {
      const std::int64_t n =
          m + static_cast<std::int64_t>(random() % (is_emulated ? 3000 : 40'000));
      const std::string text = random_text(n, letters, random());
      const auto from = static_cast<std::size_t>(random() % static_cast<std::uint64_t>(n - m + 1));
      check_searches(text, text.substr(from, static_cast<std::size_t>(m)),
                     static_cast<int>(random() % 16));
    }
  }
}

TEST_CASE("Texts that end around rows, steps and pieces", "[string_search][sanitize]") {
  for (const std::int64_t edge :
       {std::int64_t{16}, std::int64_t{128}, std::int64_t{512}, step, piece}) {
    for (const std::int64_t n : {edge - 1, edge, edge + 1, edge + 17}) {
      std::string text = random_text(n, 3, static_cast<std::uint64_t>(n));
      for (const std::string bytes : {"z", "zy", "zyxw", "zyxwvuts", "zyxwvutsrqponmlk"}) {
        const std::size_t m = bytes.size();
        if (static_cast<std::int64_t>(2 * m) > n) continue;
        std::string with = text;
        with.replace(0, m, bytes);
        with.replace(with.size() - m, m, bytes);
        check_searches(with, bytes, static_cast<int>(n % 5));
      }
    }
  }
}

TEST_CASE("Patterns that lie across rows and steps, at every byte of a line",
          "[string_search][sanitize]") {
  const std::string bytes = "the quick brown fox";
  for (int shift = 0; shift < 16; ++shift) {
    std::string text(static_cast<std::size_t>(3 * step + 40), '.');
    for (const std::int64_t edge : {std::int64_t{128}, std::int64_t{512}, step, 2 * step})
      text.replace(static_cast<std::size_t>(edge + shift - 9), bytes.size(), bytes);
    for (const std::size_t m : {1, 2, 4, 7, 11, 12, 19})
      check_searches(text, bytes.substr(0, m), shift);
  }
}

TEST_CASE("No text, and patterns as long as the text or longer", "[string_search]") {
  check_searches("", "a");
  check_searches("a", "a");
  check_searches("a", "b");
  check_searches("abc", "abcd");
  const std::string text = random_text(3000, 26, 1);
  check_searches(text, text, 3);
  check_searches(text, text + "a");
  check_searches(text, text.substr(1));
}

TEST_CASE("Texts made of one letter, and of periods", "[string_search]") {
  const std::int64_t n = is_emulated ? 1500 : 5000;
  check_searches("aaaa", "aaa");
  for (const std::int64_t m : {1, 3, 4, 12, 13, 40, 200}) {
    check_searches(repeated("a", n), repeated("a", m));
    check_searches(repeated("a", n), repeated("a", m - 1) + "b");
    check_searches(repeated("a", n), "b" + repeated("a", m - 1));
    check_searches(repeated("ab", n), repeated("ab", m));
    check_searches(repeated("qaz", n), repeated("azq", m), 1);
    std::string broken = repeated("abc", n);
    broken[static_cast<std::size_t>(n / 2)] = 'x';
    check_searches(broken, repeated("abc", m));
  }
  // Comparisons that go on where others ended, with a byte that is not of the period somewhere.
  for (const std::size_t m : {20, 133, 260}) {
    std::string text = repeated("abaab", n),
                bytes = repeated("abaab", static_cast<std::int64_t>(m));
    for (std::size_t i = 300; i < text.size(); i += 3 * m + 1) text[i] = 'c';
    check_searches(text, bytes);
    for (const std::size_t at : {m - 1, m / 2, m / 3}) {
      std::string other = bytes;
      other[at] = 'c';
      check_searches(text, other, 3);
      check_searches(text, other, 3, {.fold_case = true});
    }
  }
  for (const std::size_t m : {5, 13, 34, 144}) {
    const std::string fibonacci = fibonacci_word(n), morse = thue_morse_word(n);
    check_searches(fibonacci, fibonacci.substr(n / 3, m));
    check_searches(morse, morse.substr(n / 3, m), 2);
  }
}

TEST_CASE("Patterns with a stretch, in texts of shorter ones and longer ones",
          "[string_search][sanitize]") {
  auto random = make_random(23);
  for (const std::int64_t period : {1, 2, 3, 8}) {
    const std::string unit = random_text(period - 1, 2, random()) + 'd';
    for (const std::int64_t pairs :
         {8, 23, 24, 25, 30, 31, 32, 33, 60, 62, 63, 64, 65, 95, 130, 1023, 1024, 1054, 1100}) {
      if (pairs < 2 * period) continue;
      const std::int64_t m = pairs + period;
      const std::string stretch = repeated(unit, m);
      std::string text;
      while (static_cast<std::int64_t>(text.size()) < 2 * m + 3 * step) {
        // Mostly too short, sometimes of the right length or longer, in any phase.
        const auto phase = static_cast<std::size_t>(random() % static_cast<std::uint64_t>(period));
        const auto n = random() % 4 == 0 ? m + static_cast<std::int64_t>(random() % 3)
                                         : m - 1 - static_cast<std::int64_t>(random() % 7);
        text += repeated(unit, n + period).substr(phase, static_cast<std::size_t>(n));
        text += static_cast<char>("bcd"[random() % 3]);
      }
      const int shift = static_cast<int>(random() % 32);
      check_searches(text, stretch, shift);
      check_searches(text, stretch + "b", shift);
      check_searches(text, "c" + stretch, shift);
      check_searches(text, "bcb" + stretch + "bd", shift);
      if (period == 1) check_searches(text, stretch + "c" + stretch, shift);
      if (pairs < 100) check_searches(text, stretch + "??" + unit, shift, {.wildcard = '?'});
      for (char& c : text)
        if (random() % 3 == 0) c = static_cast<char>(c ^ 0x20);
      if (pairs < 100) check_searches(text, stretch + "B", shift, {.fold_case = true});
      if (pairs < 100) check_searches(text, stretch, shift, {.fold_case = true});
    }
  }
}

TEST_CASE("One byte in runs of any length, in texts of many steps", "[string_search]") {
  auto random = make_random(29);
  for (const std::int64_t m : {10, 32, 33, 64, 65, 66, 97, 500, 1025, 2200}) {
    std::string text;
    while (static_cast<std::int64_t>(text.size()) < (is_emulated ? 20 : 1200) * step) {
      // Some thousand bytes of runs that are mostly too short, or of other bytes.
      const auto longest = static_cast<std::uint64_t>(random() % 8 == 0 ? m + m / 8 + 2 : m);
      const bool has_runs = random() % 8 != 0;
      for (std::int64_t n = 0; n < (is_emulated ? 4 : 40) * m; n = n + 8) {
        if (has_runs) text += std::string(random() % longest, 'a');
        text += has_runs && random() % 2 == 0 ? "b" : "bcdefghi";
      }
    }
    check_searches(text, repeated("a", m), static_cast<int>(random() % 32));
  }
}

TEST_CASE("Runs that end, and begin again in another phase", "[string_search][sanitize]") {
  auto random = make_random(21);
  for (const std::int64_t period : {1, 2, 3, 7, 32, 96, 700, 1500}) {
    const std::string unit = random_text(period - 1, 3, random()) + 'd';
    for (const std::int64_t m : {2 * period + 5, 3 * period + 11}) {
      std::string text;
      for (const std::int64_t part : {m + 5000, m, m + 1, std::int64_t{900}, m + 3072}) {
        const auto phase = static_cast<std::size_t>(random() % static_cast<std::uint64_t>(period));
        text += repeated(unit, part + period).substr(phase, static_cast<std::size_t>(part));
        if (random() % 2 == 0) text += 'e';
      }
      check_searches(text,
                     repeated(unit, m + period)
                         .substr(static_cast<std::size_t>(period / 2), static_cast<std::size_t>(m)),
                     static_cast<int>(random() % 32));
    }
  }
}

TEST_CASE("Steps with one, few and many places, in any order", "[string_search][sanitize]") {
  auto random = make_random(22);
  std::string text;
  while (static_cast<std::int64_t>(text.size()) < 3 * piece) {
    const auto every = std::size_t{1} << random() % 11;
    for (const std::size_t end = text.size() + random() % 3000; text.size() < end;)
      text += std::string(every, '.') + "a";
  }
  for (const std::string bytes : {"a", "a.", ".a", "a.a.a"}) check_searches(text, bytes, 7);
}

TEST_CASE("What the filter passes is compared to the last byte", "[string_search]") {
  // Copies that differ in one byte, wherever it is.
  for (const std::size_t m : {12, 13, 128, 129, 1025, 1500}) {
    const std::string bytes = random_text(static_cast<std::int64_t>(m), 4, m);
    std::string text = random_text(300, 4, m + 1);
    for (std::size_t i = 0; i < m; i = i < 3 ? i + 1 : i + m / 4) {
      std::string copy = bytes;
      copy[i] = 'x';
      text += copy + "..";
    }
    std::string copy = bytes;
    copy.back() = 'x';
    check_searches(text + copy + bytes + copy, bytes, 5);
  }
}

TEST_CASE("Patterns that a team compares together", "[string_search][sanitize]") {
  for (const std::size_t m : {4096, 4097, 9001}) {
    const std::string bytes = random_text(static_cast<std::int64_t>(m), 4, m);
    std::string text = random_text(700, 4, m + 1);
    for (const std::size_t at : {std::size_t{0}, std::size_t{200}, m / 2, m - 1}) {
      std::string copy = bytes;
      copy[at] = 'x';
      text += copy + bytes;
    }
    check_searches(text, bytes, 3);
    const auto period = repeated(bytes.substr(0, 300), static_cast<std::int64_t>(m));
    check_searches(text + period + period + period.substr(7, 2000), period, 1);
  }
}

TEST_CASE("Letters of either case, and only letters", "[string_search]") {
  auto random = make_random(12);
  for (const std::size_t m : {1, 3, 4, 7, 11, 12, 16, 40, 140}) {
    std::string text = random_text(is_emulated ? 1500 : 9000, 3, m);
    for (char& c : text)
      if (random() % 2 == 0) c = static_cast<char>(c ^ 0x20);
    check_searches(text, text.substr(700, m), 0, {.fold_case = true});
    check_searches(text, text.substr(701, m), 3, {.fold_case = false});
  }
  // Bytes that differ from each other as the cases of a letter do.
  const std::string others = repeated("@`[{]}^~_\x7f kK1\x11", 3000);
  for (const std::string bytes :
       {"@", "`[", "{", "]}^", "@`[{]}^~_\x7f k", "^~_\x7f Kk", "k1", "K\x11"})
    check_searches(others, bytes, 1, {.fold_case = true});
  const std::string words = "The Quick bROWN fox. " + repeated(".", 2000) + "THE QUICK BROWN FOX.";
  check_searches(words, "the quick brown fox.", 0, {.fold_case = true});
}

TEST_CASE("Bytes that stand for any", "[string_search]") {
  auto random = make_random(13);
  const lanewise::pattern_options with{.wildcard = '?'};
  for (const std::size_t m : {1, 2, 4, 5, 9, 12, 13, 16, 40, 140}) {
    const std::string text = random_text(is_emulated ? 1500 : 9000, 4, m);
    for (const std::size_t wild : {std::size_t{1}, m / 4, m / 2, m}) {
      std::string bytes = text.substr(600, m);
      for (std::size_t i = 0; i < wild; ++i) bytes[random() % m] = '?';
      check_searches(text, bytes, static_cast<int>(m % 16), with);
    }
    check_searches(text, std::string(m, '?'), 1, with);
  }
  check_searches("what is a ? here", "a ? h", 0, {});
  check_searches("AbcABCaBcabd", "?b?", 0, {.fold_case = true, .wildcard = '?'});
  check_searches(repeated("a", 2100), "aaaa?" + repeated("a", 20) + "b", 0, with);
}

TEST_CASE("Bytes of every value", "[string_search]") {
  std::string text;
  for (int i = 0; i < 4096; ++i) text += static_cast<char>(i * 7);
  check_searches(text, std::string(1, '\0'));
  check_searches(text, std::string(1, '\xff'));
  check_searches(text, text.substr(1000, 13));
  check_searches(std::string(2000, '\0'), std::string(5, '\0'));
  check_searches(std::string(2000, '\xff'), std::string(20, '\xff'));
}

TEST_CASE("A text in memory that ends with it", "[string_search][sanitize]") {
  const pattern_type pattern("abcabcabcabcd"), letter("a");
  for (const std::size_t n : {1, 3, 13, 1023, 1025, 2051}) {
    const Kokkos::View<char*, memory> text("text", n);
    Kokkos::deep_copy(text, 'a');
    CHECK(lanewise::count(make_space(), text, letter) == static_cast<std::int64_t>(n));
    CHECK(lanewise::count(make_space(), text, pattern) == 0);
    CHECK_FALSE(lanewise::contains(make_space(), text, pattern));
    CHECK(lanewise::contains(make_space(), text, letter));
  }
}

TEST_CASE("Outputs that are short, other types, and memory that is given", "[string_search]") {
  const std::string bytes = repeated("ab", 9000);
  const array<char> text({bytes.begin(), bytes.end()});
  const pattern_type pattern("aba");
  lanewise::workspace work;
  for (int again = 0; again < 2; ++again) {
    const array<std::uint32_t> few(5, 77u);
    const cell<std::int64_t> number;
    lanewise::find_all(make_space(), text.const_view(), pattern, few.view(), number.view(),
                       {.work = &work});
    CHECK(number.get() == 4499);
    CHECK(few.items() == std::vector<std::uint32_t>{0, 2, 4, 6, 8});
    CHECK(few.guards_intact());
  }
  const array<unsigned char> same({bytes.begin(), bytes.end()});
  CHECK(lanewise::count(make_space(), same.const_view(), pattern) == 4499);
  CHECK(lanewise::find_last(make_space(), same.const_view(), pattern) == 8996);
  CHECK(lanewise::find_first(make_space(), same.const_view(), pattern) == 0);
  const auto here = pattern_type("aba", {.fold_case = true}).template copy_to<Kokkos::HostSpace>();
  CHECK(here.options().fold_case);
  CHECK(here.bytes() == "aba");
  CHECK(here.template copy_to<memory>().size() == 3);
}

TEST_CASE("Patterns without bytes, and outputs without memory", "[string_search]") {
  const pattern_type pattern("ab");
  const array<char> text(3, 'a');
  CHECK_THROWS_WITH(pattern_type(""), ContainsSubstring("pattern: it has no bytes"));
  const Kokkos::View<std::uint32_t*, memory> none("none", 0);
  CHECK_THROWS_WITH(lanewise::find_bitmap(make_space(), text.const_view(), pattern, none),
                    ContainsSubstring("bits has 0 words, a text of 3 bytes needs 1"));
  CHECK_THROWS_WITH(
      lanewise::count(make_space(), text.const_view(), pattern,
                      Kokkos::View<std::int64_t, memory, Kokkos::MemoryUnmanaged>(nullptr)),
      ContainsSubstring("count: result has no memory"));
}

TEST_CASE("A run as long as a text with a filter of its own", "[.large][string_search]") {
  const std::int64_t n = std::int64_t{1} << 28;
  const Kokkos::View<char*, memory> text("text", static_cast<std::size_t>(n));
  const Kokkos::View<std::int64_t*, memory> places("places", static_cast<std::size_t>(n));
  const std::int64_t number =
      lanewise::find_all(make_space(), text, pattern_type(std::string(5, '\0')), places);
  CHECK(number == n - 4);
  CHECK(lanewise::is_sorted(make_space(),
                            Kokkos::subview(places, std::make_pair(std::int64_t{0}, number))));
  const auto last = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace{}, Kokkos::subview(places, std::make_pair(n - 5, n)));
  CHECK(last(0) == n - 5);
  CHECK(last(1) == 0);
}

TEST_CASE("More places than a warp keeps", "[.large][string_search]") {
  // 5,600 times 'a' and another letter, in the first half of the text: warps of one piece differ in
  // what they keep.
  constexpr std::int64_t n = std::int64_t{1} << 28, line = 5601;
  const Kokkos::View<char*, memory> text("text", static_cast<std::size_t>(n));
  const auto host = Kokkos::create_mirror_view(text);
  for (std::int64_t i = 0; i < n / 2; ++i) host(i) = i % line == line - 1 ? '.' : 'a';
  Kokkos::deep_copy(text, host);
  const Kokkos::View<std::int64_t*, memory> places("places", static_cast<std::size_t>(n));
  for (const std::int64_t m : {100, 5000}) {
    const std::int64_t of_line = line - m, left = n / 2 % line;
    const std::int64_t expected = n / 2 / line * of_line + std::max(left - m + 1, std::int64_t{0});
    const std::int64_t number = lanewise::find_all(
        make_space(), text, pattern_type(std::string(static_cast<std::size_t>(m), 'a')), places);
    REQUIRE(number == expected);
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, places);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < number; ++i)
      wrong += found(i) != i / of_line * line + i % of_line ? 1 : 0;
    CHECK(wrong == 0);
  }
}

TEST_CASE("A text of more than 2^32 bytes", "[.large][string_search]") {
  const std::size_t n = (std::size_t{1} << 32) + 100'003;
  const Kokkos::View<char*, memory> text(Kokkos::view_alloc("text", Kokkos::WithoutInitializing),
                                         n);
  Kokkos::deep_copy(text, '.');
  const std::string bytes = "behind 2^32 bytes";
  const auto put = [&](std::size_t at) {
    const Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(bytes.data(),
                                                                                     bytes.size());
    Kokkos::deep_copy(Kokkos::subview(text, Kokkos::make_pair(at, at + bytes.size())), from);
  };
  put(12'345);
  put(n - 50'000);
  const pattern_type pattern(bytes);
  const auto end = static_cast<std::int64_t>(n - 50'000);
  CHECK(lanewise::count(make_space(), text, pattern) == 2);
  CHECK(lanewise::find_first(make_space(), text, pattern) == 12'345);
  CHECK(lanewise::find_last(make_space(), text, pattern) == end);
  const array<std::int64_t> places(2, -1);
  CHECK(lanewise::find_all(make_space(), text, pattern, places.view()) == 2);
  CHECK(places.items() == std::vector<std::int64_t>{12'345, end});
  CHECK(lanewise::count(make_space(), text, pattern_type(".")) ==
        static_cast<std::int64_t>(n - 2 * bytes.size()));
}
