// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/data/zip.hpp>
#include <lanewise/strings/non_overlapping.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using match_numbers = std::vector<std::int64_t>;

/// The scan from left to right.
std::vector<std::uint32_t> taken_from_left(const match_numbers& places,
                                           const match_numbers& lengths) {
  std::vector<std::uint32_t> flags(places.size(), 0);
  bool any = false;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (any && places[i] < end) continue;
    flags[i] = 1;
    any = true;
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    end = lengths[i] > 0 && places[i] > most - lengths[i] ? most : places[i] + lengths[i];
  }
  return flags;
}
match_numbers those_marked(const match_numbers& places, const std::vector<std::uint32_t>& flags) {
  match_numbers kept;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (flags[i] != 0) kept.push_back(places[i]);
  return kept;
}

/// Marks all matches, and the first of them by a count on the device; selects in place.
void check_matches(const match_numbers& places, const match_numbers& lengths) {
  CAPTURE(places.size());
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(places.size());
  const array<std::int64_t> place(places), length(lengths);
  const auto expected = taken_from_left(places, lengths);
  const array<std::uint32_t> flags(n, 7u);
  lanewise::mark_non_overlapping(exec, place.const_view(), length.const_view(), flags.view());
  CHECK(flags.items() == expected);
  CHECK(flags.guards_intact());

  const std::int64_t fewer = n - n / 3;
  const cell<std::int32_t> count(static_cast<std::int32_t>(fewer));
  const array<std::uint32_t> some(n, 7u);
  lanewise::mark_non_overlapping(exec, place.const_view(), length.const_view(), some.view(),
                                 {.count = count.view()});
  auto expected_some = expected;
  std::fill(expected_some.begin() + fewer, expected_some.end(), 7u);
  CHECK(some.items() == expected_some);

  lanewise::workspace work;
  lanewise::reserve(exec, work, lanewise::select_non_overlapping_workspace<std::int64_t, space>(n));
  const std::size_t reserved = work.bytes();
  const auto kept = those_marked(places, expected);
  const cell<std::int64_t> number(-7);
  lanewise::select_non_overlapping(exec, place.view(), length.const_view(), place.view(),
                                   number.view(), {.work = &work});
  CHECK(work.bytes() == reserved);
  CHECK(number.get() == static_cast<std::int64_t>(kept.size()));
  auto front = place.items();
  front.resize(kept.size());
  CHECK(front == kept);
  CHECK(place.guards_intact());
}

/// Places whose distances are up to one, and lengths likewise.
struct random_matches {
  match_numbers places, lengths;
  random_matches(std::int64_t n, std::uint64_t farthest, std::uint64_t longest,
                 std::uint64_t salt) {
    auto random = make_random(salt);
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      places.push_back(at += static_cast<std::int64_t>(random() % (farthest + 1)));
      lengths.push_back(static_cast<std::int64_t>(random() % (longest + 1)));
    }
  }
};

struct times_ten {
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const { return 10 * i; }
};

const std::int64_t many_matches = is_emulated ? 2500 : 40'000;

}  // namespace

TEST_CASE("Matches of random places and lengths", "[non_overlapping][sanitize]") {
  std::uint64_t salt = 0;
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{31}, std::int64_t{32},
        std::int64_t{33}, std::int64_t{127}, std::int64_t{129}, std::int64_t{1000}, many_matches}) {
    for (const std::uint64_t longest : {1, 3, 20, 700}) {
      if (is_emulated && n == many_matches && longest == 3) continue;
      const random_matches few(n, 3, longest, ++salt);
      check_matches(few.places, few.lengths);
    }
  }
}

TEST_CASE("Matches that all overlap their neighbours", "[non_overlapping]") {
  match_numbers places;
  for (std::int64_t i = 0; i < many_matches; ++i) places.push_back(i);
  for (const std::int64_t length : {2, 3, 31, 32, 33, 127, 128, 129, 1000, 5000})
    check_matches(places, match_numbers(places.size(), length));
  for (auto& p : places) p *= 3;
  check_matches(places, match_numbers(places.size(), 100));
}

TEST_CASE("Matches that jump over thousands of others, and such that do not", "[non_overlapping]") {
  random_matches mixed(many_matches, 2, 4, 5);
  for (std::size_t i = 0; i < mixed.places.size(); i += 37) mixed.lengths[i] = many_matches / 3;
  check_matches(mixed.places, mixed.lengths);
  // The path misses the long ones, or takes the first.
  match_numbers places, lengths;
  for (std::int64_t i = 0; i < many_matches; ++i) {
    places.push_back(i);
    lengths.push_back(i % 2 == 0 ? 2 : many_matches);
  }
  check_matches(places, lengths);
  lengths.front() = 1;
  check_matches(places, lengths);
}

TEST_CASE("Matches at one place, without length, and up to the last place", "[non_overlapping]") {
  check_matches(match_numbers(300, 5), match_numbers(300, 1));
  check_matches(match_numbers(300, 5), match_numbers(300, 0));
  check_matches(match_numbers(300, 5), match_numbers(300, -3));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  check_matches({-most, -5, 0, most - 3, most - 2, most - 1}, {2, 5, 1, 2, 9, most});
}

TEST_CASE("One length for all, other types, and places that are computed", "[non_overlapping]") {
  const array<std::uint32_t> places(std::vector<std::uint32_t>{1, 2, 3, 4, 9, 11, 12, 30}),
      out(3, 77u);
  const cell<std::int64_t> number;
  lanewise::select_non_overlapping(make_space(), places.const_view(), 3, out.view(), number.view());
  CHECK(number.get() == 5);
  CHECK(out.items() == std::vector<std::uint32_t>{1, 4, 9});
  CHECK(out.guards_intact());
  CHECK(places.unchanged());
  const array<std::uint8_t> flags(7, 9);
  lanewise::mark_non_overlapping(make_space(), lanewise::generated(7, times_ten{}),
                                 lanewise::generated(7, times_ten{}), flags.view());
  CHECK(flags.items() == std::vector<std::uint8_t>{1, 1, 1, 0, 1, 0, 0});
}

TEST_CASE("What comes with matches is selected by their flags", "[non_overlapping]") {
  const auto exec = make_space();
  const array<std::int64_t> places(match_numbers{0, 0, 2, 3, 3, 8});
  const array<std::uint32_t> ids(std::vector<std::uint32_t>{5, 6, 5, 7, 8, 9}), flags(6, 0u);
  const array<std::uint8_t> lengths(std::vector<std::uint8_t>{3, 1, 3, 4, 1, 2});
  const cell<std::int64_t> number;
  lanewise::mark_non_overlapping(exec, places.const_view(), lengths.const_view(), flags.view());
  lanewise::select_flagged(exec, lanewise::zipped(places.view(), ids.view()), flags.const_view(),
                           lanewise::unzipped(places.view(), ids.view()), number.view());
  CHECK(number.get() == 3);
  const auto place = places.items();
  const auto id = ids.items();
  CHECK(match_numbers(place.begin(), place.begin() + 3) == match_numbers{0, 3, 8});
  CHECK(std::vector<std::uint32_t>(id.begin(), id.begin() + 3) ==
        std::vector<std::uint32_t>{5, 7, 9});
}

TEST_CASE("Occurrences of a pattern that do not overlap", "[non_overlapping]") {
  const auto exec = make_space();
  for (const std::string bytes : {"a", "aa", "aaa", "aba", "abaab", "b"}) {
    for (const std::string unit : {"a", "ab", "abaab", "aabaaab"}) {
      std::string text;
      while (text.size() < 3000) text += unit;
      CAPTURE(bytes, unit);
      match_numbers expected;
      std::int64_t all = 0;
      for (auto at = text.find(bytes); at != std::string::npos; at = text.find(bytes, at + 1))
        ++all;
      for (auto at = text.find(bytes); at != std::string::npos;
           at = text.find(bytes, at + bytes.size()))
        expected.push_back(static_cast<std::int64_t>(at));
      const array<char> in(std::vector<char>(text.begin(), text.end()), 3);
      const lanewise::pattern<memory> pattern(bytes);
      lanewise::workspace work;
      lanewise::reserve(exec, work,
                        lanewise::find_non_overlapping_workspace<std::int64_t, space>(
                            static_cast<std::int64_t>(text.size()), all));
      const std::size_t reserved = work.bytes();
      const array<std::int64_t> places(all, -7);
      const auto found = lanewise::find_non_overlapping(exec, in.const_view(), pattern,
                                                        places.view(), {.work = &work});
      CHECK(work.bytes() == reserved);
      CHECK(found.occurrences == all);
      CHECK(found.number == static_cast<std::int64_t>(expected.size()));
      auto front = places.items();
      front.resize(expected.size());
      CHECK(front == expected);
      CHECK(places.guards_intact());

      // Too little room: the first are right.
      const array<std::uint32_t> few(all / 2, 77u);
      const cell<std::int64_t> some, occurrences;
      lanewise::find_non_overlapping(exec, in.const_view(), pattern, few.view(), some.view(),
                                     occurrences.view());
      CHECK(occurrences.get() == all);
      CHECK((all == 0 || some.get() <= all / 2));
      auto first = few.items();
      CHECK(few.guards_intact());
      CHECK(std::equal(first.begin(), first.begin() + some.get(), expected.begin()));
    }
  }
}

TEST_CASE("Places out of order, and arrays that do not fit", "[non_overlapping]") {
  auto random = make_random(9);
  std::vector<std::int32_t> mixed(1000);
  for (auto& p : mixed) p = static_cast<std::int32_t>(random() % 5000) - 2500;
  const array<std::int32_t> places(mixed), out(1000, 7);
  const auto kept =
      lanewise::select_non_overlapping(make_space(), places.const_view(), 9, out.view());
  CHECK((kept >= 1 && kept <= 1000));
  CHECK(out.guards_intact());

  const array<std::uint32_t> few(999, 0u);
  CHECK_THROWS_WITH(
      lanewise::mark_non_overlapping(make_space(), places.const_view(), 9, few.view()),
      ContainsSubstring("mark_non_overlapping: flags has 999 places, places has 1000"));
  CHECK_THROWS_WITH(lanewise::select_non_overlapping(make_space(), places.const_view(),
                                                     few.const_view(), out.view()),
                    ContainsSubstring("lengths has 999 items, places has 1000"));
}
