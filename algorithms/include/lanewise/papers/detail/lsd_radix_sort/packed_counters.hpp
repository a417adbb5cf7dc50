// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/names.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// A counter per digit in every lane, eight bits each and four to a word. So one scan of a word
/// scans four counters (composite scan: Merrill, 5.4.1).
///
/// Eight bits hold 255. A warp ranks run = 256 / width items per lane at a time, 256 in all. At
/// most 255 of these lie before any, so that ranks fit, even if all 256 have one digit. Only the
/// number of all of them would not, and carry into the next counter: sums are of 16 bits.
template <class W, int words>
class packed_counters {
 public:
  using u32s = lanes_t<W, std::uint32_t>;
  static constexpr int digits = 4 * words;
  static constexpr int run = W::width > 32 ? 256 / W::width : 8;
  /// What a lane can count.
  static constexpr int most = 255;

  LANEWISE_FUNCTION packed_counters() {
    LANEWISE_UNROLL
    for (int w = 0; w < words; ++w) word_[w] = u32s(0u);
  }

  /// Counts an item of each active lane.
  template <class Mask>
  LANEWISE_FUNCTION void add(const Mask& active, const u32s& digit) {
    const auto one = lanewise::select(active, u32s(1u) << place_of(digit), u32s(0u));
    LANEWISE_UNROLL
    for (int w = 0; w < words; ++w) word_[w] = word_[w] + (words == 1 ? one : if_in(digit, w, one));
  }
  /// The word in which each lane's digit is counted, and a counter of a word.
  LANEWISE_FUNCTION u32s word_of(const u32s& digit) const {
    if constexpr (words == 1) return word_[0];
    u32s found(0u);
    LANEWISE_UNROLL
    for (int w = 0; w < words; ++w) found = found | if_in(digit, w, word_[w]);
    return found;
  }
  static LANEWISE_FUNCTION u32s counter_of(const u32s& word, const u32s& digit) {
    return (word >> place_of(digit)) & u32s(255u);
  }

  /// What the lanes before each have counted: at most 255 items of a digit. A sum over all
  /// lanes may carry, but taking away what the last one added brings it back.
  LANEWISE_FUNCTION packed_counters in_front(const W& warp) const {
    packed_counters front;
    LANEWISE_UNROLL
    for (int w = 0; w < words; ++w)
      front.word_[w] = warp.inclusive_scan(word_[w], plus{}) - word_[w];
    return front;
  }

  /// What all lanes together have counted, in 16 bits each: of even digits and of odd ones.
  struct sums {
    std::uint32_t of[words][2];

    /// For each lane's digit; 0 where there is no such counter.
    LANEWISE_FUNCTION u32s of_digit(const u32s& digit) const {
      u32s word(0u);
      LANEWISE_UNROLL
      for (int w = 0; w < words; ++w) {
        const auto even = lanewise::select((digit & u32s(1u)) == 0u, u32s(of[w][0]), u32s(0u));
        const auto odd = lanewise::select((digit & u32s(1u)) != 0u, u32s(of[w][1]), u32s(0u));
        word = word | if_in(digit, w, even | odd);
      }
      return (word >> ((digit & u32s(2u)) << u32s(3u))) & u32s(0xffffu);
    }
  };
  LANEWISE_FUNCTION sums sum(const W& warp) const {
    sums all;
    LANEWISE_UNROLL
    for (int w = 0; w < words; ++w) {
      all.of[w][0] = warp.reduce(word_[w] & u32s(0xff00ffu), plus{});
      all.of[w][1] = warp.reduce((word_[w] >> u32s(8u)) & u32s(0xff00ffu), plus{});
    }
    return all;
  }

 private:
  static LANEWISE_FUNCTION u32s place_of(const u32s& digit) {
    return (digit & u32s(3u)) << u32s(3u);
  }
  /// x where the digit's counter is in word w, else 0. Of a choice between two words of an array
  /// nvcc makes a look-up in local memory. (H200, 2^28 u32 by four bits a pass: 23.1 ms with such
  /// look-ups, without them, and with ranks beside digits, 13.6.)
  static LANEWISE_FUNCTION u32s if_in(const u32s& digit, int w, u32s x) {
    return lanewise::select((digit >> u32s(2u)) == static_cast<std::uint32_t>(w), x, u32s(0u));
  }

  u32s word_[words];
};

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
