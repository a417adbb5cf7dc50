// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/strings/steps.hpp>

// Where a text has a stretch of a pattern: bytes that come again and again. Which bytes of a step
// have their equal one period further on are bits, of which a stretch is so many in a row: found in
// as many rounds as their number has binary digits.
//
//   text            b a a a b a a a a a b     looked for: a a a a, three pairs
//   pairs           . 1 1 . . 1 1 1 1 . .
//   two in a row    . 1 . . . 1 1 1 . . .     bits, and those of the next place
//   three           . . . . . 1 1 . . . .     and those two places on

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Bits of the places of a step as words of 32 neighbours, and those of some places behind it.
template <class Warp>
struct bits_of_places {
  static constexpr int width = Warp::width;
  static_assert(width == 32);
  /// Where a step is inside (text_steps), the bytes of so many places of a stretch are, too.
  static constexpr int known_behind = pattern_stretch::least_pairs + 16;
  using words = typename Warp::template lanes<std::uint32_t>;
  using bytes = typename Warp::template lanes<unsigned char>;

  words in_step;
  std::uint32_t behind;

  /// equal(first, mask) says which of W bytes from `first` on have what is looked for: of those of
  /// a mask. What is not known is taken for set.
  template <class F>
  static LANEWISE_FUNCTION bits_of_places make(const Warp& warp, F equal) {
    const auto word = [&](int i) LANEWISE_INLINE_LAMBDA {
      return static_cast<std::uint32_t>(warp.ballot(equal(i * width, width)));
    };
    bits_of_places bits{words(0u), 0};
    if constexpr (Warp::words_of_text == 1) {
      // A thread has them one after the other in memory.
      std::uint32_t all[width];
      for (int i = 0; i < width; ++i) all[i] = word(i);
      bits.in_step = warp.load(all);
    } else {
      LANEWISE_UNROLL
      for (int i = 0; i < width; ++i)
        bits.in_step = lanewise::select(warp.template mask_of<std::uint32_t>(1u << i),
                                        words(word(i)), bits.in_step);
    }
    bits.behind = static_cast<std::uint32_t>(warp.ballot(equal(width * width, known_behind))) |
                  ~0u << known_behind;
    return bits;
  }
  /// Leaves the bits that are the first of so many in a row.
  LANEWISE_FUNCTION void keep_runs(const Warp& warp, std::uint32_t number) {
    for (std::uint32_t have = 1; have < number && warp.any(in_step != 0u);) {
      const std::uint32_t more = have < number - have ? have : number - have;
      keep_with(warp, more / 32, more % 32);
      have += more;
    }
  }

 private:
  /// Leaves the bits that are also set so many words and bits further on.
  LANEWISE_FUNCTION void keep_with(const Warp& warp, std::uint32_t by_words,
                                   std::uint32_t by_bits) {
    const words low = further_on(warp, by_words);
    if (by_bits == 0) {
      in_step = in_step & low;
    } else {
      const auto left = static_cast<int>(32 - by_bits);
      in_step =
          in_step & (low >> static_cast<int>(by_bits) | further_on(warp, by_words + 1) << left);
      if (by_words == 0) behind &= behind >> by_bits | ~0u << left;
    }
  }
  LANEWISE_FUNCTION words further_on(const Warp& warp, std::uint32_t by_words) const {
    const words source = warp.lane() + words(by_words);
    const words at_end =
        lanewise::select(source == std::uint32_t{width}, words(behind), words(~0u));
    return lanewise::select(source < std::uint32_t{width}, warp.shuffle(in_step, source), at_end);
  }
};

/// The places of a step inside, from `first` on, where the text has the pattern's stretch, as words
/// of 32 neighbours. Bytes far behind the step are taken for ones of the stretch, but for its first
/// period.
template <class Warp>
LANEWISE_RARE_FUNCTION typename text_steps<Warp>::words find_stretches(const Warp& warp,
                                                                       const text_bytes& text,
                                                                       const pattern_view& pattern,
                                                                       std::int64_t first) {
  using places = bits_of_places<Warp>;
  using bytes = typename places::bytes;
  const pattern_stretch& stretch = pattern.stretch;
  const unsigned char* const at = text.data + first + stretch.begin;
  const bytes care(static_cast<unsigned char>(stretch.care));
  const auto in = [&](std::int64_t from, int number) LANEWISE_INLINE_LAMBDA {
    if (number == Warp::width) return warp.load(at + from) & care;
    return warp.load(warp.template first<unsigned char>(number), at + from,
                     static_cast<unsigned char>(0)) &
           care;
  };
  const auto with_byte = [&](std::int64_t i) LANEWISE_INLINE_LAMBDA {
    const std::int64_t q = stretch.begin + i;
    const bytes wanted(static_cast<unsigned char>(pattern.words[q / 4] >> 8 * (q % 4)));
    return places::make(warp, [&](int from, int number) LANEWISE_INLINE_LAMBDA {
      return in(from + i, number) == wanted;
    });
  };
  // More in a row than a step has places need not be counted.
  const auto pairs = static_cast<std::uint32_t>(
      stretch.pairs < text_steps<Warp>::places ? stretch.pairs : text_steps<Warp>::places);
  if (stretch.period == 1) {
    auto found = with_byte(0);
    found.keep_runs(warp, pairs + 1);
    return found.in_step;
  }
  auto found = places::make(warp, [&](int from, int number) LANEWISE_INLINE_LAMBDA {
    return in(from, number) == in(from + stretch.period, number);
  });
  found.keep_runs(warp, pairs);
  for (std::int64_t i = 0; i < stretch.period && warp.any(found.in_step != 0u); ++i)
    found.in_step = found.in_step & with_byte(i).in_step;
  return found.in_step;
}

}  // namespace detail
LANEWISE_END_NAMESPACE
