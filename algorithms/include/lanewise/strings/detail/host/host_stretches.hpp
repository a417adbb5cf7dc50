// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp/warp.hpp>

#include <bit>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// As consecutive_positions, for threads, whose bits lie in memory. Up to 64 in a row are found in
/// rounds, too. A longer row has full words: these are bits of one word, and rows of them are found
/// in rounds. The words at their ends decide.
///
///   words             ...1 1111 1111 11.. .1.. 1111 111.      looked for: nine in a row
///   ones             .    1    1    .    .    1    .
///   positions            ...1 11.. .... .... .... .... ....      one ones word at least
template <class Warp>
class thread_positions {
 public:
  static constexpr int width = Warp::width;
  static constexpr int positions = 32 * width;
  static constexpr std::int64_t most_after = positions;  ///< bits after a step that are used
  using words = lanes_t<Warp, std::uint32_t>;
  static_assert(width == 32);

  /// bits_from(i) has 32 bits from position i of the step on, up to end_of_bits.
  template <class F>
  static LANEWISE_FUNCTION words find(const Warp& warp, std::int64_t number,
                                      std::int64_t end_of_bits, F bits_from) {
    std::uint32_t bits[width + 2];
    LANEWISE_UNROLL
    for (int i = 0; i < width; ++i) bits[i] = bits_from(32 * i);
    // Words that would go on after the last bit begin before their positions.
    const auto after = [&](int i) LANEWISE_INLINE_LAMBDA {
      const std::int64_t position = positions + 32 * std::int64_t{i}, last = end_of_bits - 32;
      return position <= last ? bits_from(position) : bits_from(last) >> (position - last);
    };
    return number <= 64 ? find_few(warp, static_cast<int>(number), bits, after)
                        : find_many(warp, number, bits, after);
  }

 private:
  template <class F>
  static LANEWISE_FUNCTION words find_few(const Warp& warp, int number, std::uint32_t* bits,
                                          F after) {
    bits[width] = after(0);
    bits[width + 1] = number > 33 ? after(1) : 0;
    const words here = warp.load(bits), next = warp.load(bits + 1);
    const int few = number < 32 ? number : 32;
    const words found = in_a_row(here, next, few);
    if (number <= 32 || !warp.any(found != 0u)) return found;
    const words after_those = in_a_row(next, words(warp.load(bits + 2)), few);
    return found &
           (number == 64 ? after_those : found >> (number - 32) | after_those << (64 - number));
  }
  /// The bits that are the first of 1 to 32 in a row.
  template <class Words>
  static LANEWISE_FUNCTION Words in_a_row(Words bits, Words next, int number) {
    for (int have = 1; have < number;) {
      const int more = have < number - have ? have : number - have;
      bits = bits & (bits >> more | next << (32 - more));
      next = next & next >> more;
      have += more;
    }
    return bits;
  }
  /// Finds more than 64 in a row. Bits after the last one that is used count as set.
  template <class F>
  static LANEWISE_FUNCTION words find_many(const Warp& warp, std::int64_t number,
                                           const std::uint32_t* bits, F after) {
    auto ones =
        static_cast<std::uint64_t>(static_cast<std::uint32_t>(warp.ballot(warp.load(bits) == ~0u)));
    // A row may go on after the step, up to its end.
    std::int64_t end = positions;
    if (bits[width - 1] >> 31 != 0) {
      const auto most = static_cast<int>(number - 1 < most_after ? (number + 30) / 32 : width);
      std::uint32_t word = ~0u;
      int i = 0;
      while (i < most && (word = after(i)) == ~0u) ++i;
      end = i == most ? positions + number : positions + 32 * i + std::countr_one(word);
      ones |= ~(i == most ? 0 : ~std::uint64_t{0} << i) << width;
    }
    const int wanted = number >= most_after + 31 ? width : static_cast<int>((number - 31) / 32);
    for (int have = 1; have < wanted;) {
      const int more = have < wanted - have ? have : wanted - have;
      ones &= ones >> more;
      have += more;
    }
    ones &= (std::uint64_t{2} << width) - 1;
    if (ones == 0) return words(0u);
    std::uint32_t found[width] = {};
    while (ones != 0) {
      const int first = std::countr_zero(ones), next = first + std::countr_one(ones >> first);
      ones &= ~std::uint64_t{0} << next;
      const int end_word = next - 1 + wanted;
      const std::int64_t begin = 32 * first - (first > 0 ? std::countl_one(bits[first - 1]) : 0);
      const std::int64_t row_end =
          end_word < width ? 32 * end_word + std::countr_one(bits[end_word]) : end;
      const std::int64_t last = row_end - number < positions ? row_end - number + 1 : positions;
      for (std::int64_t position = begin; position < last; position = (position | 31) + 1) {
        const std::int64_t left = last - (position & ~std::int64_t{31});
        found[position / 32] |= ~0u << position % 32 & (left < 32 ? ~(~0u << left) : ~0u);
      }
    }
    return words(warp.load(found));
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
