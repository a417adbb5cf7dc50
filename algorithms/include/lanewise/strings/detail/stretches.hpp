// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/host/host_stretches.hpp>
#include <lanewise/strings/detail/text_scan.hpp>

// Finds where a text has a periodic stretch of a pattern. A bit says whether a byte equals the one
// a period after it. A stretch of n pairs is n such bits in a row, and is found in log2(n) rounds.
//
//   text            b a a a b a a a a a b     looked for: a a a a, three pairs
//   pairs           . 1 1 . . 1 1 1 1 . .
//   two in a row    . 1 . . . 1 1 1 . . .     bits, and those of the next position
//   three           . . . . . 1 1 . . . .     and those two positions on

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The bits of a step's positions as words of 32 neighbours, and of some positions after it.
/// Unknown bits count as set.
template <class Warp>
struct consecutive_positions {
  static constexpr int width = Warp::width;
  using words = lanes_t<Warp, std::uint32_t>;

  words in_step;
  std::uint32_t after;

  /// Keeps the bits that are the first of `number` in a row.
  LANEWISE_FUNCTION void keep_runs(const Warp& warp, std::uint32_t number) {
    for (std::uint32_t have = 1; have < number && warp.any(in_step != 0u);) {
      const std::uint32_t more = have < number - have ? have : number - have;
      keep_with(warp, more / 32, more % 32);
      have += more;
    }
  }

 private:
  /// Keeps the bits that are also set by_words words and by_bits bits further on.
  LANEWISE_FUNCTION void keep_with(const Warp& warp, std::uint32_t by_words,
                                   std::uint32_t by_bits) {
    const words low = further_on(warp, by_words);
    if (by_bits == 0) {
      in_step = in_step & low;
    } else {
      const auto left = static_cast<int>(32 - by_bits);
      in_step =
          in_step & (low >> static_cast<int>(by_bits) | further_on(warp, by_words + 1) << left);
      if (by_words == 0) after &= after >> by_bits | ~0u << left;
    }
  }
  LANEWISE_FUNCTION words further_on(const Warp& warp, std::uint32_t by_words) const {
    const words source = warp.lane() + words(by_words);
    const words at_end = lanewise::select(source == std::uint32_t{width}, words(after), words(~0u));
    return lanewise::select(source < std::uint32_t{width}, warp.shuffle(in_step, source), at_end);
  }
};

/// Finds the positions of an inner step, from `first` on, where the text has the pattern's stretch.
/// If other bytes of the pattern are few, it has these too. Bytes too far after the step to be
/// known count as equal.
template <class Warp>
class stretch_finder {
 public:
  using words = typename text_steps<Warp>::words;
  static constexpr int positions = text_steps<Warp>::positions;
  /// Returns how many pairs after a step are known.
  static LANEWISE_FUNCTION std::int64_t known_after(const pattern_stretch& stretch) {
    if constexpr (Warp::is_single_thread) {
      constexpr std::int64_t most = thread_positions<Warp>::most_after;
      return stretch.pairs < most ? stretch.pairs : most;
    } else {
      return known_of_any;
    }
  }

  LANEWISE_FUNCTION stretch_finder(const Warp& warp, const text_bytes& text,
                                   const pattern_view& pattern, std::int64_t first)
      : warp_(warp), pattern_(pattern), at_(text.data + first) {}

  /// The positions, as words of 32 neighbours.
  LANEWISE_RARE_FUNCTION words find() const {
    const pattern_stretch& stretch = pattern_.stretch;
    const std::int64_t begin = stretch.begin, period = stretch.period;
    words found(0u);
    if (period == 1) {
      const bytes byte = byte_of_pattern(pattern_.words, begin);
      found = in_a_row(stretch.pairs + 1, [&](const bytes& here, const auto&)
                                              LANEWISE_INLINE_LAMBDA { return here == byte; });
    } else {
      found = in_a_row(stretch.pairs, [&](const bytes& here, const auto& load)
                                          LANEWISE_INLINE_LAMBDA { return here == load(period); });
      keep_with(begin, begin + period, found);
    }
    if (stretch.is_decisive) {
      keep_with(0, begin, found);
      keep_with(begin + period + stretch.pairs, pattern_.size, found);
    }
    return found;
  }

 private:
  using bytes = lanes_t<Warp, unsigned char>;
  /// All stretches have this number of pairs after an inner step.
  static constexpr int known_of_any = pattern_stretch::least_pairs + 16;

  /// Finds the positions where `number` bytes in a row, from the stretch's begin on, fulfil
  /// equal(bytes, load). load(i) returns the bytes i further on.
  template <class F>
  LANEWISE_FUNCTION words in_a_row(std::int64_t number, F equal) const {
    const bytes care(static_cast<unsigned char>(pattern_.stretch.care));
    const unsigned char* const at = at_ + pattern_.stretch.begin;
    const auto equal_at = [&](std::int64_t position) LANEWISE_INLINE_LAMBDA {
      const auto load = [&](std::int64_t i)
                            LANEWISE_INLINE_LAMBDA { return warp_.load(at + position + i) & care; };
      return equal(load(0), load);
    };
    if constexpr (Warp::is_single_thread) {
      return thread_positions<Warp>::find(
          warp_, number, positions + pattern_.stretch.pairs + 16,
          [&](std::int64_t position) LANEWISE_INLINE_LAMBDA {
            return static_cast<std::uint32_t>(warp_.ballot(equal_at(position)));
          });
    } else {
      const auto in_step = detail::bits_of_positions(warp_, equal_at);
      const auto is_known = warp_.template first<unsigned char>(known_of_any);
      const auto load_after = [&](std::int64_t i) LANEWISE_INLINE_LAMBDA {
        return warp_.load(is_known, at + positions + i, static_cast<unsigned char>(0)) & care;
      };
      const auto after = static_cast<std::uint32_t>(warp_.ballot(equal(load_after(0), load_after)));
      consecutive_positions<Warp> found{in_step, after | ~0u << known_of_any};
      // Bits beyond those known at the first position need not be counted.
      constexpr std::int64_t most = positions + known_of_any;
      found.keep_runs(warp_, static_cast<std::uint32_t>(number < most ? number : most));
      return found.in_step;
    }
  }
  /// Keeps the positions where bytes [q, end) of the pattern match.
  LANEWISE_FUNCTION void keep_with(std::int64_t q, std::int64_t end, words& found) const {
    for (; q < end && warp_.any(found != 0u); ++q) {
      const bytes byte = byte_of_pattern(pattern_.words, q);
      const bytes care = byte_of_pattern(pattern_.cares, q);
      found = found & detail::bits_of_positions(warp_, [&](int row) LANEWISE_INLINE_LAMBDA {
                return (warp_.load(at_ + q + row) & care) == byte;
              });
    }
  }
  static LANEWISE_FUNCTION bytes byte_of_pattern(const std::uint32_t* words, std::int64_t q) {
    return bytes(static_cast<unsigned char>(words[q / 4] >> 8 * (q % 4)));
  }

  const Warp& warp_;
  const pattern_view& pattern_;
  const unsigned char* at_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
