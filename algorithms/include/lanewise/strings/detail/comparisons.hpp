// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/text_scan.hpp>

// Comparisons of a text's bytes by a warp: with other bytes of the text, and with a pattern.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Rows of words that are compared at once.
inline constexpr int rows_at_once = 8;

/// Returns how many bytes of `number` rows of words are 0 before the first one that is not.
template <int number, class Warp, class F>
LANEWISE_FUNCTION int first_difference(const Warp& warp, F row) {
  constexpr int width = Warp::width;
  lanes_t<Warp, std::uint32_t> different[number], any(0u);
  LANEWISE_UNROLL
  for (int t = 0; t < number; ++t) {
    different[t] = row(t);
    any = any | different[t];
  }
  int at = number * 4 * width;
  if (!warp.any(any != 0u)) return at;
  LANEWISE_UNROLL
  for (int t = number - 1; t >= 0; --t) {
    const auto here = warp.ballot(different[t] != 0u);
    if (here == 0) continue;
    const int lane = Warp::lowest(here);
    at = t * 4 * width + 4 * lane + Warp::lowest(warp.broadcast(different[t], lane)) / 8;
  }
  return at;
}
/// Loads a row of words of the text from any byte on. The four bytes before and after it can be
/// read.
template <class Warp>
LANEWISE_FUNCTION auto text_row(const Warp& warp, const text_bytes& text, std::int64_t from) {
  const unsigned char* const at = text.data + from;
  const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % 4);
  const auto* const low = reinterpret_cast<const std::uint32_t*>(at - past);
  return warp.map(
      [past](std::uint32_t a, std::uint32_t b) {
        return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> 8 * past);
      },
      warp.load(low), warp.load(low + 1));
}
/// Loads words of the text from any byte on: `left` bytes of it or a row.
template <class Warp>
LANEWISE_RARE_FUNCTION auto text_words(const Warp& warp, const text_bytes& text, std::int64_t from,
                                       std::int64_t left) {
  using words = lanes_t<Warp, std::uint32_t>;
  if (left <= 0) return words(0u);
  if (from >= 4 && from + 4 * Warp::width + 4 <= text.n)
    return words(detail::text_row(warp, text, from));
  words word(0u);
  for (int c = 0; c < 4; ++c) {
    const auto at = warp.map([=](std::uint32_t lane) { return from + 4 * std::int64_t{lane} + c; },
                             warp.lane());
    const auto there = warp.map([n = text.n](std::int64_t p) { return p < n ? 1u : 0u; }, at) == 1u;
    word = word | warp.map([c](unsigned char byte) { return std::uint32_t{byte} << 8 * c; },
                           warp.gather(there, text.data, at, static_cast<unsigned char>(0)));
  }
  return word;
}

/// Whether two steps of bytes repeat the bytes that lie `periods` before them in a run. `periods`
/// is a number of whole packs, so packs are compared as they are aligned in memory.
template <class Warp>
LANEWISE_FUNCTION bool goes_on_in_grid(const Warp& warp, const text_bytes& text, std::int64_t begin,
                                       std::int64_t at, std::int64_t periods) {
  using steps = text_steps<Warp>;
  using text_pack = pack<std::uint32_t, steps::k>;
  using words = typename steps::words;
  if (at - periods < begin || at + 2 * steps::positions > text.n) return false;
  const auto* const own = reinterpret_cast<const text_pack*>(text.data + at);
  const auto* const before = reinterpret_cast<const text_pack*>(text.data + at - periods);
  words different(0u);
  LANEWISE_UNROLL
  for (int r = 0; r < 2 * steps::rows; ++r)
    different =
        different | warp.map(
                        [](const text_pack& a, const text_pack& b) {
                          std::uint32_t bits = 0;
                          LANEWISE_UNROLL
                          for (int j = 0; j < steps::k; ++j) bits |= a[j] ^ b[j];
                          return bits;
                        },
                        warp.load(own + r * Warp::width), warp.load(before + r * Warp::width));
  return !warp.any(different != 0u);
}
/// Returns the end of a run from `begin` to at least `end`, or a position from `wanted` on if the
/// run reaches it.
template <class Warp>
LANEWISE_RARE_FUNCTION std::int64_t end_of_run(const Warp& warp, const text_bytes& text,
                                               const pattern_view& pattern, std::int64_t begin,
                                               std::int64_t end, std::int64_t wanted) {
  constexpr int row = 4 * Warp::width, many = rows_at_once * row;
  while (end < wanted) {
    const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(text.data + end) %
                                                (4 * text_steps<Warp>::k));
    if (detail::goes_on_in_grid(warp, text, begin, end - past, pattern.long_period)) {
      end += 2 * text_steps<Warp>::positions - past;
      continue;
    }
    const std::int64_t before = end - pattern.period, left = wanted - end;
    const bool is_inside = end + many + 4 <= text.n;
    const int same = is_inside ? detail::first_difference<rows_at_once>(
                                     warp,
                                     [&](int t) LANEWISE_INLINE_LAMBDA {
                                       return detail::text_row(warp, text, end + t * row) ^
                                              detail::text_row(warp, text, before + t * row);
                                     })
                               : detail::first_difference<1>(warp, [&](int) LANEWISE_INLINE_LAMBDA {
                                   return detail::text_words(warp, text, end, left) ^
                                          detail::text_words(warp, text, before, left);
                                 });
    end += same;
    if (same != (is_inside ? many : row)) break;
  }
  return end;
}

/// Each lane compares up to this number of words for a position of its own.
template <class Warp>
inline constexpr std::uint32_t compared_words = 4 * text_steps<Warp>::k;

/// Keeps the positions of a step, from byte `from` on, where some words of a pattern match, four at
/// a time. The words lie far from each other. If a text is like the pattern, 128 bytes side by side
/// may be there at 21 positions of a step. Four words from all over it may be there at two or three
/// positions (Thue-Morse, 1,024 bytes). Words of 4 bytes around the positions can be read.
template <class Warp>
LANEWISE_RARE_FUNCTION typename text_steps<Warp>::words compare_words(
    const Warp& warp, const unsigned char* from, const std::uint32_t* pattern,
    const std::uint32_t* cares, std::uint32_t all, std::uint32_t stride,
    typename text_steps<Warp>::words found) {
  using words = typename text_steps<Warp>::words;
  const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) % 4);
  const auto* const low = reinterpret_cast<const std::uint32_t*>(from - past);
  constexpr std::uint32_t most = compared_words<Warp>;
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i < most; i += 4) {
    // All lanes compare the few remaining positions of a long pattern in any case.
    if (i >= all || !warp.any(found != 0u)) break;
    if (i >= 8 && all > most && warp.reduce(detail::bits_set(warp, found), plus{}) <= 4) break;
    std::uint32_t word_at[4], word[4], care[4];
    LANEWISE_UNROLL
    for (int t = 0; t < 4; ++t) {
      word_at[t] = at;
      word[t] = pattern[at];
      care[t] = cares[at];
      at += stride;
      at -= at >= all ? all : 0;
    }
    for (words rest = found; warp.any(rest != 0u); rest = rest & (rest - words(1u))) {
      // Lanes without a position read at the first one.
      const auto byte = warp.map(
          [past](std::uint32_t bits, std::uint32_t lane) {
            return bits == 0 ? past : past + text_steps<Warp>::position_of(bits, lane);
          },
          rest, warp.lane());
      const words word_of_text = byte >> 2;
      words different(0u);
      LANEWISE_UNROLL
      for (int t = 0; t < 4; ++t) {
        const words index = word_of_text + words(word_at[t]);
        const words in_text = warp.map(
            [](std::uint32_t a, std::uint32_t b, std::uint32_t x) {
              return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> 8 * (x % 4));
            },
            warp.gather(low, index), warp.gather(low + 1, index), byte);
        different = different | ((in_text & words(care[t])) ^ words(word[t]));
      }
      found = lanewise::select(different != 0u, found & ~(rest & (words(0u) - rest)), found);
    }
  }
  return found;
}

}  // namespace detail
LANEWISE_END_NAMESPACE
