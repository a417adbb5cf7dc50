// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/string_rows.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace test {

/// Rows of a text on the host: slices of it, some of them null.
struct rows_on_host {
  std::string text;
  std::vector<std::int64_t> offsets;
  std::vector<std::uint32_t> valid = {};  // no words: all rows are
  std::int64_t first_bit = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t begin(std::int64_t r) const { return offsets[static_cast<std::size_t>(r)]; }
  std::int64_t end(std::int64_t r) const { return offsets[static_cast<std::size_t>(r) + 1]; }
  bool is_bad(std::int64_t r) const {
    return begin(r) < 0 || begin(r) > end(r) || end(r) > static_cast<std::int64_t>(text.size());
  }
  bool is_null(std::int64_t r) const {
    const auto bit = static_cast<std::size_t>(first_bit + r);
    return !valid.empty() && (valid[bit / 32] >> bit % 32 & 1) == 0;
  }
  /// The bytes of a row; none where it is bad or null.
  std::string_view bytes(std::int64_t r) const {
    if (is_bad(r) || is_null(r)) return {};
    return std::string_view(text).substr(static_cast<std::size_t>(begin(r)),
                                         static_cast<std::size_t>(end(r) - begin(r)));
  }
  /// The places in a row where the pattern begins.
  std::vector<std::int64_t> places(std::int64_t r, const std::string& pattern) const {
    std::vector<std::int64_t> all;
    const std::string_view row = bytes(r);
    for (auto at = row.find(pattern); at != std::string_view::npos; at = row.find(pattern, at + 1))
      all.push_back(static_cast<std::int64_t>(at));
    return all;
  }
  std::int64_t characters(std::int64_t r, std::int64_t place) const {
    const auto from = text.begin() + begin(r);
    return std::count_if(from, from + place, [](char c) { return (c & 0xc0) != 0x80; });
  }
};

inline rows_on_host rows_of(std::string text, const std::vector<std::int64_t>& lengths,
                            std::int64_t first = 0) {
  rows_on_host rows{std::move(text), {first}};
  for (const auto length : lengths) rows.offsets.push_back(rows.offsets.back() + length);
  return rows;
}

template <class T>
T result_of(std::int64_t x) {
  return static_cast<T>(std::min<std::int64_t>(
      x, sizeof(T) == 8 ? x : static_cast<std::int64_t>(std::numeric_limits<T>::max())));
}

/// One call, whose results lie between guards. Rows that are bad are counted; where there are some,
/// nothing is said of the results of others.
template <class Offset, class T, class Call, class Expected>
void check_call(const rows_on_host& rows, int shift, const lanewise::rows_options& with, Call call,
                Expected expected) {
  std::vector<Offset> narrow;
  for (const auto o : rows.offsets) narrow.push_back(static_cast<Offset>(o));
  const array<char> text({rows.text.begin(), rows.text.end()}, shift);
  const array<Offset> offsets(narrow, shift % 3);
  const array<T> out(rows.size(), result_of<T>(77), shift);
  const Kokkos::View<lanewise::status, memory> errors("errors");
  lanewise::rows_options options = with;
  options.errors = errors;
  if (rows.valid.empty()) {
    call(make_space(), lanewise::string_rows(text.const_view(), offsets.const_view()), out.view(),
         options);
  } else {
    const array<std::uint32_t> valid(rows.valid);
    call(make_space(),
         lanewise::string_rows(text.const_view(), offsets.const_view(), valid.const_view(),
                               rows.first_bit),
         out.view(), options);
  }
  const auto results = out.items();
  CHECK(out.guards_intact());
  std::uint64_t bad = 0;
  for (std::int64_t r = 0; r < rows.size(); ++r) bad += rows.is_bad(r) ? 1 : 0;
  lanewise::status seen;
  lanewise::detail::copy_to_host<lanewise::status>(make_space(), &seen, errors.data());
  CHECK(seen.bad_items == bad);
  std::int64_t wrong = -1;
  for (std::int64_t r = 0; r < rows.size() && wrong < 0; ++r)
    if ((bad == 0 || rows.is_bad(r)) &&
        results[static_cast<std::size_t>(r)] != result_of<T>(expected(r)))
      wrong = r;
  CAPTURE(wrong);
  REQUIRE(wrong == -1);
}

inline std::string text_for_rows(std::int64_t n, int letters, std::uint64_t salt) {
  auto random = make_random(salt);
  std::string text(static_cast<std::size_t>(n), 'a');
  for (char& c : text) c = static_cast<char>('a' + random() % static_cast<std::uint64_t>(letters));
  return text;
}
/// The pattern in many places of a text, over ends of rows, too.
inline void put_often(std::string& text, const std::string& pattern, int times,
                      std::uint64_t salt) {
  auto random = make_random(salt);
  if (pattern.size() > text.size()) return;
  for (int i = 0; i < times; ++i)
    text.replace(random() % (text.size() - pattern.size() + 1), pattern.size(), pattern);
}
inline std::int64_t sum_of(const std::vector<std::int64_t>& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
}
}  // namespace test
