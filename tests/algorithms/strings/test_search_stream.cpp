// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/strings/search_stream.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using stream_type = lanewise::search_stream<memory>;
using chunk_lengths = std::vector<std::size_t>;

/// The positions at which a pattern begins in a stream whose first byte has position `first`.
std::vector<std::int64_t> positions_of(const std::string& text, const std::string& bytes,
                                       std::int64_t first) {
  std::vector<std::int64_t> all;
  for (auto at = text.find(bytes); at != std::string::npos; at = text.find(bytes, at + 1))
    all.push_back(first + static_cast<std::int64_t>(at));
  return all;
}

/// Calls push(chunk) for chunks of these chunk_lengths and for the rest. The memory of a chunk is
/// overwritten when its call has run.
template <class Push>
void push_chunks(const std::string& text, const chunk_lengths& cut, Push push) {
  std::size_t from = 0;
  const auto push_next = [&](std::size_t n) {
    const array<char> chunk(std::vector<char>(text.begin() + static_cast<std::ptrdiff_t>(from),
                                              text.begin() + static_cast<std::ptrdiff_t>(from + n)),
                            static_cast<int>(from % 16));
    push(chunk.const_view());
    CHECK(chunk.unchanged());
    chunk.assign(std::vector<char>(n, '#'));
    from += n;
  };
  for (const std::size_t n : cut) push_next(n);
  push_next(text.size() - from);
}

/// All kinds of results, chunk by chunk.
void check_stream(const std::string& text, const std::string& bytes, const chunk_lengths& cut,
                  std::int64_t begin = 0) {
  CAPTURE(text.size(), text.substr(0, 60), bytes.size(), bytes.substr(0, 40), cut, begin);
  const auto expected = positions_of(text, bytes, begin);
  const auto number = static_cast<std::int64_t>(expected.size());
  const lanewise::pattern<memory> pattern(bytes);
  const auto exec = make_space();
  stream_type stream(pattern, begin);
  const cell<std::int64_t> counted(-7), first(-7), last(-7), found(-7);

  push_chunks(text, cut, [&](const auto& chunk) { stream.count(exec, chunk, counted.view()); });
  CHECK(counted.get() == number);
  CHECK(stream.end() == begin + static_cast<std::int64_t>(text.size()));
  stream.reset(begin);
  push_chunks(text, cut, [&](const auto& chunk) { stream.find_first(exec, chunk, first.view()); });
  CHECK(first.get() == (expected.empty() ? -1 : expected.front()));
  stream.reset(begin);
  push_chunks(text, cut, [&](const auto& chunk) { stream.find_last(exec, chunk, last.view()); });
  CHECK(last.get() == (expected.empty() ? -1 : expected.back()));

  stream.reset(begin);
  lanewise::workspace work;
  lanewise::reserve(exec, work,
                    lanewise::search_stream_workspace<space>(
                        pattern.size(), static_cast<std::int64_t>(text.size())));
  const std::size_t reserved = work.bytes();
  const array<std::int64_t> places(number + 1, -7);
  push_chunks(text, cut, [&](const auto& chunk) {
    stream.find_all(exec, chunk, places.view(), found.view(), {.work = &work});
  });
  CHECK(work.bytes() == reserved);
  CHECK(found.get() == number);
  auto all = places.items();
  CHECK(all.back() == -7);
  all.pop_back();
  CHECK(all == expected);
  CHECK(places.guards_intact());
}

std::string letters_at_random(std::size_t n, int letters, std::uint64_t salt) {
  auto random = make_random(salt);
  std::string text(n, 'a');
  for (char& c : text) c = static_cast<char>('a' + random() % static_cast<std::uint64_t>(letters));
  return text;
}

/// Lengths of chunks up to one, until they are as many bytes as the text.
chunk_lengths cut_at_random(std::size_t n, std::size_t longest, std::uint64_t salt) {
  auto random = make_random(salt);
  chunk_lengths cut;
  for (std::size_t at = 0;;) {
    const std::size_t next = random() % (longest + 1);
    if (at + next > n) return cut;
    cut.push_back(next);
    at += next;
  }
}

std::string with_period(const std::string& period, std::size_t n) {
  std::string text;
  while (text.size() < n) text += period;
  return text.substr(0, n);
}

}  // namespace

TEST_CASE("Streams that are cut once, anywhere", "[search_stream][sanitize]") {
  const std::string text = "abaababaabaababaababa";
  const std::size_t every = is_emulated ? 3 : 1;
  for (const std::size_t m : {1, 2, 3, 5, 13, 21})
    for (std::size_t at = m % every; at <= text.size(); at += every)
      check_stream(text, text.substr(text.size() - m), {at});
}

TEST_CASE("Streams of single bytes", "[search_stream]") {
  const std::string text = with_period("aab", is_emulated ? 20 : 50);
  for (const std::string bytes : {"a", "aa", "abaa", "aabaabaab", "aabaabaabaabaabaabc"})
    check_stream(text, bytes, chunk_lengths(text.size(), 1));
}

TEST_CASE("Streams that are cut at random, into long and short chunks and none",
          "[search_stream]") {
  auto random = make_random(5);
  const std::size_t n = is_emulated ? 3000 : 40'000;
  for (const std::size_t m : {1, 2, 4, 11, 16, 64, 500}) {
    for (const std::size_t longest : {std::size_t{300}, n / 3}) {
      if (is_emulated && longest == 300 && m > 4) continue;
      const std::uint64_t salt = random();
      const std::string text = letters_at_random(n, 2, salt);
      check_stream(text, text.substr(random() % (n - m + 1), m), cut_at_random(n, longest, salt));
      check_stream(with_period("abc", n), with_period("bca", m), cut_at_random(n, longest, salt));
    }
  }
}

TEST_CASE("Patterns that are longer than chunks, and than what one team looks at",
          "[search_stream]") {
  const std::size_t n = is_emulated ? 10'000 : 250'000;
  for (const std::size_t m : {2048, 2049, 2050, is_emulated ? 3000 : 65'536}) {
    std::string text = letters_at_random(n, 4, m);
    const std::string bytes = text.substr(n / 3, m);
    text.replace(n - m, m, bytes);
    text.replace(0, m, bytes);
    check_stream(text, bytes, cut_at_random(n, m / 2, m));
    check_stream(text, bytes, {n / 3 + m / 2});
    check_stream(with_period("ab", n), with_period("ba", m), {m - 1, 1, 1, m, n / 3});
  }
}

TEST_CASE("Positions behind 2^32", "[search_stream]") {
  const std::string text = letters_at_random(2000, 3, 8);
  check_stream(text, "abc", {1, 2, 997}, (std::int64_t{1} << 40) - 1003);
}

TEST_CASE("Streams with less room than there are places", "[search_stream]") {
  const lanewise::pattern<memory> pattern("aba");
  const auto exec = make_space();
  stream_type stream(pattern);
  const array<std::uint32_t> few(5, 77u);
  const cell<std::int32_t> number(-1);
  push_chunks(with_period("ab", 4000), {3, 2, 1, 2000},
              [&](const auto& chunk) { stream.find_all(exec, chunk, few.view(), number.view()); });
  CHECK(number.get() == 1999);
  CHECK(few.items() == std::vector<std::uint32_t>{0, 2, 4, 6, 8});
  CHECK(few.guards_intact());
}

TEST_CASE("Letters of either case, over the end of a chunk", "[search_stream]") {
  const lanewise::pattern<memory> pattern("s?am", {.fold_case = true, .wildcard = '?'});
  stream_type stream(pattern);
  const cell<std::int64_t> counted;
  for (const std::string part : {"the S", "tAm and ", "se", "am of streaM"}) {
    const array<char> chunk({part.begin(), part.end()});
    stream.count(make_space(), chunk.const_view(), counted.view());
  }
  CHECK(counted.get() == 2);
}

TEST_CASE("Streams used for two kinds of results, and outputs without memory", "[search_stream]") {
  const lanewise::pattern<memory> pattern("ab");
  const array<char> chunk(std::vector<char>{'a', 'b', 'a'});
  const cell<std::int64_t> result;
  const auto exec = make_space();
  stream_type stream(pattern);
  CHECK_THROWS_WITH(
      stream.count(exec, chunk.const_view(),
                   Kokkos::View<std::int64_t, memory, Kokkos::MemoryUnmanaged>(nullptr)),
      ContainsSubstring("search_stream::count: result has no memory"));
  CHECK(stream.end() == 0);
  stream.count(exec, chunk.const_view(), result.view());
  CHECK_THROWS_WITH(stream.find_last(exec, chunk.const_view(), result.view()),
                    ContainsSubstring("search_stream::find_last: the stream is one of "
                                      "search_stream::count; reset() begins another"));
  stream_type moved(std::move(stream));
  const array<char> rest(std::vector<char>{'b', 'b', 'a'});
  moved.count(exec, rest.const_view(), result.view());
  CHECK(result.get() == 2);
  CHECK_THROWS_WITH(stream_type(pattern, -5), ContainsSubstring("first is -5, less than 0"));
}
