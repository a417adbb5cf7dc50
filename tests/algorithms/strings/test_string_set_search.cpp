// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/strings/string_set_search.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using set_type = lanewise::pattern_set<memory>;

/// The bytes of a warp's step on devices, and of the shortest piece.
constexpr std::int64_t set_step = 512, set_piece = 16 * set_step;

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

struct occurrence {
  std::int64_t place;
  std::uint32_t id;
  std::size_t size;
};
/// In the order of find_all, and the last of the longest of each place.
struct occurrences {
  std::vector<occurrence> all, longest;

  occurrences(const std::string& text, const std::vector<std::string>& patterns) {
    std::vector<std::uint32_t> order(patterns.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return patterns[a].size() < patterns[b].size();
    });
    std::vector<std::vector<std::uint32_t>> by_first(256);
    for (const std::uint32_t id : order)
      by_first[static_cast<unsigned char>(patterns[id][0])].push_back(id);
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::size_t before = all.size();
      for (const std::uint32_t id : by_first[static_cast<unsigned char>(text[at])])
        if (text.compare(at, patterns[id].size(), patterns[id]) == 0)
          all.push_back({static_cast<std::int64_t>(at), id, patterns[id].size()});
      if (all.size() == before) continue;
      std::size_t best = all.size() - 1;
      while (best > before && all[best - 1].size == all[best].size) --best;
      longest.push_back(all[best]);
    }
  }
};

/// Lists in arrays that may be too short.
void check_lists(const std::vector<occurrence>& expected, const array<std::int64_t>& places,
                 const array<std::uint32_t>& ids) {
  const auto found = places.items();
  const auto found_ids = ids.items();
  bool are_places = true, are_ids = true;
  for (std::size_t i = 0; i < found.size(); ++i)
    are_places = are_places && found[i] == (i < expected.size() ? expected[i].place : -7);
  for (std::size_t i = 0; i < found_ids.size(); ++i)
    are_ids = are_ids && found_ids[i] == (i < expected.size() ? expected[i].id : 77u);
  CHECK(are_places);
  CHECK(are_ids);
  CHECK(places.guards_intact());
  CHECK(ids.guards_intact());
}

/// All calls, on a text that begins at any byte of a line.
void check_sets(const std::string& text, const std::vector<std::string>& patterns, int shift = 0,
                bool folds_case = false) {
  CAPTURE(text.size(), patterns.size(), patterns[0].substr(0, 40), shift, folds_case);
  std::vector<std::string> plain = patterns;
  if (folds_case) std::transform(plain.begin(), plain.end(), plain.begin(), lower_case);
  const occurrences expected(folds_case ? lower_case(text) : text, plain);
  const auto n = static_cast<std::int64_t>(text.size());
  const auto number = static_cast<std::int64_t>(expected.all.size());
  const array<char> in({text.begin(), text.end()}, shift);
  const set_type set(patterns, {.fold_case = folds_case});
  const auto exec = make_space();

  const cell<std::int64_t> counted(-7), first(-7), last(-7), found(-7);
  lanewise::count(exec, in.const_view(), set, counted.view());
  lanewise::find_first(exec, in.const_view(), set, first.view());
  lanewise::find_last(exec, in.const_view(), set, last.view());
  CHECK(counted.get() == number);
  CHECK(first.get() == (number == 0 ? -1 : expected.all.front().place));
  CHECK(last.get() == (number == 0 ? -1 : expected.all.back().place));

  std::vector<std::int64_t> expected_counts(patterns.size());
  for (const auto& o : expected.all) ++expected_counts[o.id];
  const array<std::int64_t> counts(static_cast<std::int64_t>(patterns.size()), -7);
  lanewise::count_each(exec, in.const_view(), set, counts.view());
  CHECK(counts.items() == expected_counts);
  CHECK(counts.guards_intact());

  const array<std::int64_t> places(number + 1, -7), few(number / 2, -7);
  const array<std::uint32_t> ids(number + 1, 77u), few_ids(number / 3, 77u);
  lanewise::find_all(exec, in.const_view(), set, places.view(), ids.view(), found.view());
  CHECK(found.get() == number);
  check_lists(expected.all, places, ids);
  found.set(-1);
  lanewise::find_all(exec, in.const_view(), set, few.view(), few_ids.view(), found.view());
  CHECK(found.get() == number);
  check_lists(expected.all, few, few_ids);

  const auto longest = static_cast<std::int64_t>(expected.longest.size());
  const array<std::int64_t> long_places(longest + 1, -7);
  const array<std::uint32_t> long_ids(longest + 1, 77u);
  lanewise::find_longest(exec, in.const_view(), set, long_places.view(), long_ids.view(),
                         found.view());
  CHECK(found.get() == longest);
  check_lists(expected.longest, long_places, long_ids);

  std::vector<std::uint32_t> expected_bits(static_cast<std::size_t>((n + 31) / 32));
  for (const auto& o : expected.longest)
    expected_bits[static_cast<std::size_t>(o.place / 32)] |= 1u << o.place % 32;
  const array<std::uint32_t> bits((n + 31) / 32, ~0u);
  lanewise::find_bitmap(exec, in.const_view(), set, bits.view());
  CHECK(bits.items() == expected_bits);
  CHECK(bits.guards_intact());
}

std::string text_for_sets(std::int64_t n, int letters, std::uint64_t salt) {
  auto random = make_random(salt);
  std::string text(static_cast<std::size_t>(n), 'a');
  for (char& c : text)
    c = static_cast<char>(letters == 256 ? random()
                                         : 'a' + random() % static_cast<std::uint64_t>(letters));
  return text;
}
std::string over_and_over(const std::string& what, std::size_t n) {
  std::string text;
  while (text.size() < n) text += what;
  text.resize(n);
  return text;
}
/// Patterns of least to most bytes from a text, some of them with another byte at the end.
std::vector<std::string> parts_of(const std::string& text, std::size_t number, std::size_t least,
                                  std::size_t most, std::uint64_t salt) {
  auto random = make_random(salt);
  std::vector<std::string> parts;
  while (parts.size() < number) {
    const std::size_t m = least + random() % (most - least + 1);
    parts.push_back(text.substr(random() % (text.size() - m + 1), m));
    if (random() % 4 == 0) parts.back().back() = 'z';
  }
  return parts;
}

}  // namespace

TEST_CASE("Sets of random parts of texts", "[string_set_search]") {
  auto random = make_random(3);
  for (const int letters : {2, 4, 26, 256}) {
    for (const std::size_t least : {1, 2, 3, 4, 7, 11, 19}) {
      const std::int64_t n =
          600 + static_cast<std::int64_t>(random() % (is_emulated ? 2000 : 30'000));
      const std::string text = text_for_sets(n, letters, random());
      const std::size_t number = random() % 2 == 0 ? 5 : is_emulated ? 60 : 700;
      check_sets(text, parts_of(text, number, least, least + random() % 20, random()),
                 static_cast<int>(random() % 16), random() % 3 == 0);
    }
  }
}

TEST_CASE("Texts for sets that end around rows, steps and pieces",
          "[string_set_search][sanitize]") {
  const std::vector<std::string> patterns{
      "z", "zyxw", "zyxwvuts", "zyxwvutsrqpo", "yxw", "vutsrqponmlkjihgfedcb"};
  for (const std::int64_t edge : {std::int64_t{32}, std::int64_t{128}, set_step, set_piece}) {
    for (const std::int64_t n : {edge - 1, edge, edge + 1, edge + 17, edge + 65}) {
      std::string text = text_for_sets(n, 3, static_cast<std::uint64_t>(n));
      const std::string whole = "zyxwvutsrqponmlkjihgfedcb";
      if (n > 60) {
        text.replace(0, whole.size(), whole);
        text.replace(text.size() - whole.size(), whole.size(), whole);
      }
      check_sets(text, patterns, static_cast<int>(n % 5));
      check_sets(text, {whole, whole.substr(3)}, static_cast<int>(n % 7));
    }
  }
}

TEST_CASE("Sets with patterns of 1 to 3 bytes, in texts that end around rows and steps",
          "[string_set_search][sanitize]") {
  const std::vector<std::string> shorts{"a", "ab", "ba", "abc", "cab", "bb", "ccc"};
  std::vector<std::string> all = shorts;
  all.insert(all.end(), {"abca", "bcab", "abcabca", "cabbacbabca", "ab"});
  int shift = 0;
  for (const std::int64_t edge :
       {std::int64_t{0}, std::int64_t{32}, std::int64_t{128}, set_step, 2 * set_step, set_piece}) {
    for (const std::int64_t more : {-1, 1, 2, 3, 30}) {
      if (edge + more < 1) continue;
      const std::string text = text_for_sets(edge + more, 3, static_cast<std::uint64_t>(edge));
      check_sets(text, shorts, shift % 17);
      check_sets(text, all, shift % 19);
      // Few of these are there.
      check_sets(text_for_sets(edge + more, 26, 7), {"xy", "q", "xyz", "jkl", "xyzxy"}, shift % 23);
      ++shift;
    }
  }
  // After the text there are no zeros.
  const std::string zeros(3, '\0');
  for (std::size_t n = 1; n <= 40; ++n)
    check_sets(over_and_over("ab", n),
               {"a" + zeros.substr(1), "b" + zeros.substr(1), "b" + zeros.substr(2),
                "ab" + zeros.substr(2), "ab" + zeros, zeros, zeros.substr(1)});
}

TEST_CASE("Sets with all bytes, pairs and triples, and patterns of 1 to 40 bytes",
          "[string_set_search]") {
  auto random = make_random(31);
  const std::int64_t n = is_emulated ? 1100 : 20'000;
  const std::string text = text_for_sets(n, 256, random()), letters = text_for_sets(n, 4, random());
  std::vector<std::string> all;
  for (int c = 0; c < 256; ++c) all.emplace_back(1, static_cast<char>(c));
  check_sets(text, all, 1);
  for (const std::size_t m : {2, 3})
    for (const std::string& p : parts_of(text, 300, m, m, random())) all.push_back(p);
  check_sets(text, all, 2);
  check_sets(letters, all, 3, true);
  // Bytes whose last five bits are the same.
  std::vector<std::string> alike;
  for (const char a : {'a', 'A', '\x01', '\x81', '!'})
    for (const char b : {'b', 'B', '\x02', '\xe2'}) alike.push_back({a, b, a});
  std::string of_these;
  while (of_these.size() < static_cast<std::size_t>(n))
    of_these += "aA\x01\x81!"[random() % 5] + std::string(1, "bB\x02\xe2"[random() % 4]);
  check_sets(of_these, alike, 4);
  check_sets(of_these, alike, 5, true);
  // Some of each length; most of these begin with others.
  std::vector<std::string> of_each;
  for (std::size_t m = 1; m <= 40; ++m)
    for (std::size_t i = 0; i < (m < 4 ? 2 : 8); ++i)
      of_each.push_back(letters.substr(60 * (i / 2) + i % 2, m));
  check_sets(letters, of_each, 6);
  std::string few = text_for_sets(n, 26, random());
  for (std::size_t at = 0; at + 80 < few.size(); at += 300)
    few.replace(at, 60, letters.substr(60 * (at / 300 % 4), 60));
  check_sets(few, of_each, 7);
  check_sets(few, parts_of(few, 90, 4, 12, random()), 8);
}

TEST_CASE("Patterns of sets that lie across steps, at every byte of a line",
          "[string_set_search][sanitize]") {
  const std::string bytes = "the quick brown fox jumps over the lazy dog";
  for (int shift = 0; shift < 16; ++shift) {
    std::string text(static_cast<std::size_t>(4 * set_step + 40), '.');
    for (std::int64_t edge = 128; edge <= 4 * set_step; edge += 128)
      text.replace(static_cast<std::size_t>(edge + shift - 23), bytes.size(), bytes);
    check_sets(text, {bytes, bytes.substr(20), bytes.substr(3, 12), bytes.substr(9, 7)}, shift);
    check_sets(text, {bytes, bytes.substr(4, 19), bytes.substr(9, 24)}, 15 - shift);
  }
}

TEST_CASE("Sets with equal patterns, and patterns in each other", "[string_set_search]") {
  check_sets("", {"a"});
  check_sets("a", {"a", "b", "a", "ab"});
  check_sets("ushers she sells, he hears hers", {"he", "she", "his", "hers", "s", "sh", "he", "e"});
  check_sets(over_and_over("abcab", 3000),
             {"abc", "bcab", "abcababcab", "b", "abc", "cab", "abcababcababcab"});
  std::vector<std::string> nested;
  for (std::size_t m = 1; m <= 40; ++m) nested.push_back(over_and_over("a", 41 - m));
  check_sets(over_and_over("a", is_emulated ? 700 : 3000), nested, 3);
  const std::string text = text_for_sets(2000, 26, 5);
  check_sets(text, {text, text.substr(1), text + "a", text.substr(0, 1500), text});
}

TEST_CASE("Sets for which nearly every place fits", "[string_set_search]") {
  const std::size_t n = is_emulated ? 1500 : 20'000;
  std::vector<std::string> one_x, ends_in_b, pairs;
  for (std::size_t i = 0; i < 60; ++i) {
    one_x.push_back(over_and_over("a", 60));
    one_x.back()[i] = 'x';
    ends_in_b.push_back(over_and_over("a", i + 1) + "b");
  }
  for (char a = 'a'; a < 'e'; ++a)
    for (char b = 'a'; b < 'e'; ++b) pairs.push_back({a, b});
  std::string text = over_and_over("a", n);
  check_sets(text, one_x);
  check_sets(text, ends_in_b, 1);
  for (std::size_t i = 50; i < n; i += 73) text[i] = 'x';
  check_sets(text, one_x, 2);
  for (std::size_t i = 10; i < n; i += 97) text[i] = 'b';
  check_sets(text, ends_in_b, 5);
  check_sets(text_for_sets(static_cast<std::int64_t>(n), 4, 9), pairs);
  // What all patterns have in common is in most of the text.
  std::vector<std::string> alike;
  for (std::size_t i = 0; i < 100; ++i)
    alike.push_back(over_and_over("abcd", 20 + i) + std::to_string(i) + over_and_over("abcd", 70));
  std::string periodic = over_and_over("abcd", n);
  for (std::size_t i = 0; i < 20; ++i)
    periodic.replace(i * n / 20, alike[i].size() * 9 / 10,
                     alike[i].substr(0, alike[i].size() * 9 / 10));
  periodic.replace(n / 2, alike[7].size(), alike[7]);
  check_sets(periodic, alike, 4);
}

TEST_CASE("Long patterns in sets", "[string_set_search]") {
  const std::string text = text_for_sets(is_emulated ? 6000 : 40'000, 4, 8);
  for (const std::size_t m : {127, 129, 255, 256, 257, 700, 1024, 1025, 3000}) {
    std::vector<std::string> patterns;
    for (std::size_t i = 0; i < 4; ++i) {
      patterns.push_back(text.substr(900 + 61 * i, m + i));
      patterns.push_back(patterns.back());
      patterns.back()[m - 1 - i] = 'x';
      patterns.push_back(text.substr(900 + 61 * i, m / 2));
    }
    check_sets(text, patterns, static_cast<int>(m % 16));
  }
  std::vector<std::string> periodic;
  for (const std::size_t m : {100, 129, 300, 513, 1024, 1025, 1100})
    for (const char* end : {"", "b", "ab"}) periodic.push_back(over_and_over("a", m) + end);
  std::string letters = over_and_over("a", is_emulated ? 2400 : 4000);
  letters[700] = letters[1100] = 'b';
  check_sets(letters, periodic, 3);
}

TEST_CASE("Many patterns", "[string_set_search]") {
  const std::string text = text_for_sets(is_emulated ? 3000 : 60'000, 8, 21);
  const std::size_t many = is_emulated ? 1500 : 6000;
  check_sets(text, parts_of(text, many, 12, 24, 1), 7);
  check_sets(text, parts_of(text, many, 4, 9, 2), 8, true);
}

TEST_CASE("Larger sets, of which devices mark windows first", "[string_set_search][sanitize]") {
  auto random = make_random(17);
  int shift = 0;
  for (const std::size_t least : {7, 8, 11, 12, 15}) {
    for (const std::int64_t n :
         {std::int64_t{33}, set_step - 3, 2 * set_step + 31, set_piece + 5}) {
      std::string text = text_for_sets(n, 3, random());
      std::vector<std::string> patterns = parts_of(text, 70, least, least + 9, random());
      text.replace(0, patterns[0].size(), patterns[0]);
      text.replace(text.size() - patterns[1].size(), patterns[1].size(), patterns[1]);
      check_sets(text, patterns, shift % 32, least == 8);
      shift += 5;
    }
  }
}

TEST_CASE("Very many patterns, and where nearly all places have some",
          "[string_set_search][long]") {
  const std::size_t n = is_emulated ? 1200 : 30'000;
  const std::string text = text_for_sets(static_cast<std::int64_t>(n), 26, 21);
  const std::string other = text_for_sets(500'000, 26, 22);
  std::vector<std::string> patterns = parts_of(other, 33'000, 12, 20, 23);
  check_sets(text, patterns, 3);
  for (std::size_t i = 0; i + 12 <= n; i += 29) patterns[i] = text.substr(i, 12);
  check_sets(text, patterns, 29);
  // All words of 12 letters.
  std::vector<std::string> words(1 << 12, std::string(12, 'a'));
  for (std::size_t w = 0; w < words.size(); ++w)
    for (std::size_t i = 0; i < 12; ++i)
      if ((w >> i & 1) != 0) words[w][i] = 'b';
  check_sets(text_for_sets(static_cast<std::int64_t>(n), 2, 24), words, 7);
}

TEST_CASE("Sets for which there is a table of the automaton, and sets beyond its limits",
          "[string_set_search]") {
  const auto has_table = [](const std::vector<std::string>& patterns) {
    return set_type(patterns).view().has_transitions();
  };
  const std::string text = text_for_sets(is_emulated ? 1100 : 9000, 4, 41);
  std::vector<std::string> words = parts_of(text, 150, 1, 9, 42);
  CHECK(has_table(words));
  check_sets(text, words, 3);
  words.push_back(text.substr(100, 64));
  words.push_back(text.substr(500, 63));
  CHECK(has_table(words));
  check_sets(text, words, 9, true);
  words.push_back(text.substr(100, 65));
  CHECK(!has_table(words));
  check_sets(text, words, 10);
  // Equal patterns, and some that begin with each other.
  std::vector<std::string> equal(254, "ab");
  equal.emplace_back("a");
  for (const char* word : {"ba", "bba", "c", "cc", "ccc"}) equal.emplace_back(word);
  CHECK(has_table(equal));
  check_sets(text, equal, 11);
  equal.emplace_back("ab");
  CHECK(!has_table(equal));
  check_sets(text, equal, 12);
  // One byte is in no pattern, and then none is.
  std::string bytes = text_for_sets(is_emulated ? 1100 : 3000, 256, 43);
  for (std::size_t at = 1; at + 20 < bytes.size(); at += 20) bytes.replace(at, 11, "fghijfghijb");
  std::vector<std::string> all{"b"};
  for (int c = 0; c < 256; ++c)
    if (c != 'q') all.push_back(std::string(1, static_cast<char>(c)).append("fghijfghij"));
  CHECK(has_table(all));
  check_sets(bytes, all, 13);
  all.emplace_back("qfghijfghij");
  CHECK(!has_table(all));
  check_sets(bytes, all, 14);
  // A table with many bytes for each of the patterns'.
  std::vector<std::string> large = parts_of(text_for_sets(9000, 256, 44), 300, 30, 30, 45);
  large.emplace_back("q");
  CHECK(!has_table(large));
  // Longer words have one if they are many.
  const std::string letters = text_for_sets(60'000, 26, 46);
  CHECK(!has_table(parts_of(letters, 190, 7, 9, 47)));
  CHECK(has_table(parts_of(letters, 240, 7, 9, 47)));
  CHECK(!has_table(parts_of(letters, 1100, 11, 12, 47)));
}

TEST_CASE("Tables of the automaton: texts that end around blocks, steps and pieces",
          "[string_set_search][sanitize]") {
  const std::string letters = text_for_sets(3000, 20, 51);
  // In scratch, and too large for it.
  const std::vector<std::string> few = parts_of(letters, 130, 1, 12, 52),
                                 many = parts_of(letters, 900, 1, 12, 53);
  CHECK(set_type(few).view().transitions.number <= 1u << 15);
  CHECK(set_type(many).view().transitions.number > 1u << 15);
  int shift = 0;
  for (const std::int64_t edge :
       {std::int64_t{0}, std::int64_t{16}, std::int64_t{64}, set_step, 2 * set_step, set_piece}) {
    for (const std::int64_t more : {-1, 1, 2, 12, 17}) {
      if (edge + more < 1) continue;
      std::string text = text_for_sets(edge + more, 20, static_cast<std::uint64_t>(edge + more));
      for (std::size_t at = 0; at < text.size(); at += 29)
        text.replace(at, 15, letters.substr(at % 2900, 15));
      check_sets(text, shift % 2 == 0 ? few : many, shift % 33, shift % 3 == 0);
      shift += 5;
    }
  }
  // After the text there are no zeros, and bytes in no pattern are there.
  const std::string zeros(3, '\0');
  std::vector<std::string> with_zeros = few;
  for (const std::string& p : few) with_zeros.push_back(p + zeros);
  for (std::size_t n = 1; n <= 40; n += 3)
    check_sets(few[n].substr(0, 1) + letters.substr(n, n) + "." + few[n], with_zeros, 5);
}

TEST_CASE("Bytes of every value in sets, and letters of either case", "[string_set_search]") {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += static_cast<char>(i * 7);
  const std::string zeros(6, '\0'), ones(13, '\xff');
  text += std::string(40, '\0') + std::string(40, '\xff');
  check_sets(text, {zeros, ones, zeros.substr(0, 1), ones.substr(0, 2), text.substr(1000, 13)});
  const std::string others = over_and_over("@`[{]}^~_\x7f kK1\x11", 1500);
  check_sets(others, {"@", "`[", "{", "]}^", "@`[{]}^~_\x7f k", "^~_\x7f Kk", "k1", "K\x11"}, 1,
             true);
  check_sets("The Quick bROWN fox. " + over_and_over(".", 900) + "THE QUICK BROWN FOX.",
             {"the quick brown fox.", "Quick", "quIck", "BROWN FOX", "fox"}, 0, true);
}

TEST_CASE("A text for sets in memory that ends with it", "[string_set_search][sanitize]") {
  const set_type set(
      {std::string("aaaaaaaaaaaaaaaaaaaab"), std::string("abcabcabcabcd"), std::string("aa")});
  for (const std::size_t n : {1, 3, 13, 511, 513, 2051}) {
    const Kokkos::View<char*, memory> text("text", n);
    Kokkos::deep_copy(text, 'a');
    CHECK(lanewise::count(make_space(), text, set) == static_cast<std::int64_t>(n - 1));
    CHECK(lanewise::contains(make_space(), text, set) == (n > 1));
  }
}

TEST_CASE("Sets: other types, memory that is given, and copies", "[string_set_search]") {
  const std::string bytes = over_and_over("ab", 9000);
  const array<unsigned char> text({bytes.begin(), bytes.end()});
  const std::vector<std::string_view> patterns{"aba", "b", "aba"};
  const set_type set{std::span<const std::string_view>(patterns)};
  lanewise::workspace work;
  for (int again = 0; again < 2; ++again) {
    const array<std::uint32_t> few(5, 77u);
    const array<std::int16_t> ids(4, std::int16_t{9});
    const cell<std::int64_t> number;
    lanewise::find_all(make_space(), text.const_view(), set, few.view(), ids.view(), number.view(),
                       {.work = &work});
    CHECK(number.get() == 4500 + 2 * 4499);
    CHECK(few.items() == std::vector<std::uint32_t>{0, 0, 1, 2, 2});
    CHECK(ids.items() == std::vector<std::int16_t>{0, 2, 1, 0});
    const array<unsigned char> counts(3, static_cast<unsigned char>(7));
    lanewise::count_each(make_space(), text.const_view(), set, counts.view(), {.work = &work});
    CHECK(counts.items() == std::vector<unsigned char>{255, 255, 255});
  }
  const auto here = set.template copy_to<Kokkos::HostSpace>();
  CHECK(here.size() == 3);
  CHECK(here.memory_bytes() == set.memory_bytes());
  CHECK(lanewise::find_last(make_space(), text.const_view(), here.template copy_to<memory>()) ==
        8999);
}

TEST_CASE("Memory of sets", "[string_set_search]") {
  CHECK(set_type({std::string("abcdefg")}).memory_bytes() <= std::size_t{100} << 10);
  CHECK(set_type({std::string("abcdef"), std::string("a")}).memory_bytes() <= std::size_t{500}
                                                                                  << 10);
  for (const std::size_t m : {1, 2, 3, 4, 6, 7, 10, 11, 12, 19, 24, 100}) {
    std::vector<std::string> patterns;
    for (std::size_t i = 0; i < (m == 1 ? 256 : 3000); ++i) {
      std::string p = text_for_sets(static_cast<std::int64_t>(m), 256, 7 * i);
      for (std::size_t b = 0; b < 2 && b < m; ++b) p[b] = static_cast<char>(i >> 8 * b);
      patterns.push_back(p);
    }
    CAPTURE(m);
    const std::size_t tables = m < 7 ? 500 : 100;
    CHECK(set_type(patterns).memory_bytes() <= 64 * m * patterns.size() + (tables << 10));
  }
  const std::string letters = text_for_sets(30'000, 26, 5);
  for (const std::size_t least : {2, 5, 7}) {
    const std::vector<std::string> words = parts_of(letters, 3000, least, least + 3, least);
    std::size_t bytes = 0;
    for (const std::string& word : words) bytes += word.size();
    CHECK(set_type(words).memory_bytes() <= 192 * bytes + (std::size_t{650} << 10));
  }
}

TEST_CASE("Sets that are refused", "[string_set_search]") {
  const std::vector<std::string> none, hollow{"a", "b", "", "c"}, some{"a", "b"};
  CHECK_THROWS_WITH(set_type(none), ContainsSubstring("pattern_set: there are no patterns"));
  CHECK_THROWS_WITH(set_type(hollow), ContainsSubstring("pattern_set: pattern 2 has no bytes"));
  CHECK_THROWS_WITH(set_type(some, {.wildcard = '?'}), ContainsSubstring("sets have no wildcards"));
  CHECK_THROWS_WITH(set_type(std::vector<std::string_view>((1 << 20) + 1, "a")),
                    ContainsSubstring("there are 1048577 patterns, the most is 1048576"));
  const set_type set(some);
  const array<char> text(3, 'a');
  const array<std::int64_t> counts(1, std::int64_t{0});
  CHECK_THROWS_WITH(lanewise::count_each(make_space(), text.const_view(), set, counts.view()),
                    ContainsSubstring("counts has 1 places, there are 2 patterns"));
  const Kokkos::View<std::uint32_t*, memory> no_words("none", 0);
  CHECK_THROWS_WITH(lanewise::find_bitmap(make_space(), text.const_view(), set, no_words),
                    ContainsSubstring("bits has 0 words, a text of 3 bytes needs 1"));
}

TEST_CASE("A set in a text of more than 2^32 bytes", "[.large][string_set_search]") {
  const std::size_t n = (std::size_t{1} << 32) + 100'003;
  const Kokkos::View<char*, memory> text(Kokkos::view_alloc("text", Kokkos::WithoutInitializing),
                                         n);
  Kokkos::deep_copy(text, '.');
  const std::string bytes = "behind 2^32 bytes";
  for (const std::size_t at : {std::size_t{12'345}, n - 50'000}) {
    const Kokkos::View<const char*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> from(bytes.data(),
                                                                                     bytes.size());
    Kokkos::deep_copy(Kokkos::subview(text, Kokkos::make_pair(at, at + bytes.size())), from);
  }
  const set_type set({bytes, std::string("behind 2^32"), std::string("in front of it")});
  const auto end = static_cast<std::int64_t>(n - 50'000);
  CHECK(lanewise::count(make_space(), text, set) == 4);
  CHECK(lanewise::find_first(make_space(), text, set) == 12'345);
  CHECK(lanewise::find_last(make_space(), text, set) == end);
  const array<std::int64_t> places(4, -1);
  const array<std::int32_t> ids(4, -1);
  CHECK(lanewise::find_all(make_space(), text, set, places.view(), ids.view()) == 4);
  CHECK(places.items() == std::vector<std::int64_t>{12'345, 12'345, end, end});
  CHECK(ids.items() == std::vector<std::int32_t>{1, 0, 1, 0});
}
