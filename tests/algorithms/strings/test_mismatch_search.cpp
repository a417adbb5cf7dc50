// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/strings/mismatch_search.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using near_type = lanewise::mismatch_pattern<memory>;

/// Letters of either case are one where that is asked for.
char as_compared(char c, bool fold) {
  return fold && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}
std::vector<std::int64_t> near_places(const std::string& text, const std::string& pattern, int most,
                                      const lanewise::pattern_options& with) {
  std::vector<std::int64_t> places;
  for (std::size_t at = 0; at + pattern.size() <= text.size(); ++at) {
    int differ = 0;
    for (std::size_t i = 0; i < pattern.size() && differ <= most; ++i) {
      const bool is_any = with.wildcard && pattern[i] == *with.wildcard;
      if (!is_any &&
          as_compared(text[at + i], with.fold_case) != as_compared(pattern[i], with.fold_case))
        ++differ;
    }
    if (differ <= most) places.push_back(static_cast<std::int64_t>(at));
  }
  return places;
}

void check_near(const std::string& text, const std::string& pattern, int most, int shift = 0,
                const lanewise::pattern_options& with = {}) {
  CAPTURE(text.size(), pattern.size(), pattern.substr(0, 40), most, shift, with.fold_case);
  const auto expected = near_places(text, pattern, most, with);
  const auto number = static_cast<std::int64_t>(expected.size());
  const array<char> in({text.begin(), text.end()}, shift);
  const near_type near(pattern, most, with);
  const auto exec = make_space();
  lanewise::workspace work;
  lanewise::reserve(
      exec, work,
      lanewise::mismatches_workspace<space>(static_cast<std::int64_t>(text.size()), most));
  const std::size_t reserved = work.bytes();
  CHECK(lanewise::count_mismatches(exec, in.const_view(), near, {.work = &work}) == number);
  const array<std::int64_t> places(number + 1, -7);
  CHECK(lanewise::find_mismatches(exec, in.const_view(), near, places.view(), {.work = &work}) ==
        number);
  CHECK(work.bytes() == reserved);
  auto all = places.items();
  CHECK(all.back() == -7);
  all.pop_back();
  CHECK(all == expected);
  CHECK(places.guards_intact());
}

/// A text with copies of a pattern, in which bytes are changed: more than may be in some.
std::string text_with_copies(std::size_t n, int letters, const std::string& pattern, int most,
                             std::uint64_t salt) {
  auto random = make_random(salt);
  std::string text(n, 'a');
  for (char& c : text) c = static_cast<char>('a' + random() % letters);
  for (int copy = 0; copy < 20 && !pattern.empty() && n > pattern.size(); ++copy) {
    std::string changed = pattern;
    for (auto e = random() % (most + 3u); e > 0; --e)
      changed[random() % changed.size()] = static_cast<char>('A' + random() % 26);
    text.replace(random() % (n - pattern.size() + 1), pattern.size(), changed);
  }
  return text;
}
std::string random_pattern(std::size_t m, int letters, std::uint64_t salt) {
  return text_with_copies(m, letters, "", 0, salt);
}

}  // namespace

TEST_CASE("Patterns of any length, with up to seven bytes that differ", "[mismatch_search]") {
  auto random = make_random(41);
  for (const int letters : {2, 4, 26}) {
    for (const std::size_t m : {2, 5, 9, 16, 32, 33, 100, 260}) {
      for (const int most : {0, 1, 2, 7}) {
        if (most >= static_cast<int>(m)) continue;
        const std::string pattern = random_pattern(m, letters, random());
        const std::size_t n = (is_emulated ? 600 : 3000) + random() % 2000;
        check_near(text_with_copies(n, letters, pattern, most, random()), pattern, most,
                   static_cast<int>(random() % 33));
      }
    }
  }
}

TEST_CASE("Copies around steps and pieces, and at both ends", "[mismatch_search][sanitize]") {
  const std::string pattern = "the quick brown fox jumps over it";
  std::string changed = pattern;
  changed[3] = changed[20] = '_';
  for (const int shift : {0, 3, 17}) {
    std::string text(static_cast<std::size_t>(258 * 1024 + 77), '.');
    text.replace(0, pattern.size(), changed);
    text.replace(text.size() - pattern.size(), pattern.size(), changed);
    for (const std::size_t edge : {1024, 32 * 1024, 256 * 1024})
      text.replace(edge - 16 + static_cast<std::size_t>(shift), pattern.size(), changed);
    check_near(text, pattern, 2, shift);
    if (!is_emulated) check_near(text, pattern, 1, shift);
  }
}

TEST_CASE("Long patterns that differ in the bytes behind the first ones", "[mismatch_search]") {
  for (const std::size_t m : {129, 300, 3000}) {
    const std::string pattern = random_pattern(m, 26, m);
    std::string text = random_pattern(20'000, 26, m + 1);
    for (std::size_t copy = 0; copy < 4; ++copy) {  // 1 to 4 bytes differ
      const std::size_t at = copy * 5000 + 37 * copy;
      text.replace(at, m, pattern);
      for (std::size_t e = 0; e <= copy; ++e) text[at + m - 1 - 7 * e] = '_';
    }
    check_near(text, pattern, 2, static_cast<int>(m % 32));
    check_near(text, pattern, 3);
  }
}

TEST_CASE("Texts whose every place is near, by all parts or by one", "[mismatch_search]") {
  check_near(std::string(3000, 'a'), std::string(40, 'a'), 2, 5);
  check_near(std::string(3000, 'a'), std::string(20, 'a') + std::string(3, 'b'), 3);
  std::string text;
  while (text.size() < 3000) text += "abcdefghijklm";
  check_near(text, text.substr(4, 60), 7, 31);
}

TEST_CASE("Mismatches where letters have two cases, and some bytes stand for any",
          "[mismatch_search]") {
  const std::string text = text_with_copies(3000, 3, "abcABCcabCABcabacbcabca", 2, 5);
  check_near(text, "ABCabccabcabcabacbcabca", 2, 1, {.fold_case = true});
  check_near(text, "abc?BCcabC?Bcabacbcab?a", 1, 0, {.wildcard = '?'});
  check_near(text, "?????", 2, 0, {.wildcard = '?'});
  check_near(std::string(2000, 'a'), std::string(40, 'a') + "b", 1);
  check_near(std::string(2000, 'a'), std::string(40, 'a') + "bb", 1);
}

TEST_CASE("No text, patterns that are longer, outputs that are short", "[mismatch_search]") {
  check_near("", "ab", 1);
  check_near("a", "ab", 1);
  check_near("xb", "ab", 1);
  const array<char> text(std::vector<char>(3000, 'a'));
  const array<std::uint32_t> few(3, 77u);
  lanewise::workspace work;
  for (int again = 0; again < 2; ++again) {
    const cell<std::int64_t> number;
    lanewise::find_mismatches(make_space(), text.const_view(), near_type("aab", 1), few.view(),
                              number.view(), {.work = &work});
    CHECK(number.get() == 2998);
  }
  CHECK(few.items() == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(few.guards_intact());
  CHECK(near_type("abc", 2).template copy_to<Kokkos::HostSpace>().most() == 2);
}

TEST_CASE("Numbers of mismatches that cannot be", "[mismatch_search]") {
  CHECK_THROWS_WITH(near_type("abc", -1), ContainsSubstring("most is -1, it may be 0 to 7"));
  CHECK_THROWS_WITH(near_type(std::string(50, 'a'), 8), ContainsSubstring("most is 8"));
  CHECK_THROWS_WITH(near_type("abc", 3), ContainsSubstring("most is 3, the pattern has 3 bytes"));
  CHECK_THROWS_WITH(near_type("", 0), ContainsSubstring("it has no bytes"));
}
