// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_bucket_filter.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Which windows have surroundings that count: long ones alone, if the shortest pattern is no
/// longer than its window.
enum class surroundings_used { none, of_long, of_all };

/// The filter of a set where a warp is one thread: one lookup, as by multi_pattern_filter, for each
/// word of a row. Multiplications and shifts bind it, as a processor has one unit for them. So
/// words that begin anywhere are loaded, and bits are shuffled.
template <class Warp>
struct multi_pattern_row_filter {
  using words = lanes_t<Warp, std::uint32_t>;

  /// Distance of prefetches, as in text_steps.
  static constexpr int ahead_bytes = 2048;
  /// Distance between windows of neighbouring lanes, and between those of two tests.
  static constexpr int lane_bytes = 4, test_bytes = 1;

  const std::uint32_t* table;
  words shift;
  std::uint32_t letters;
  window_surroundings around;
  words powers;  // of two

  LANEWISE_FUNCTION multi_pattern_row_filter(const Warp& warp, const pattern_set_view& set)
      : table(set.filter),
        shift(32u - static_cast<std::uint32_t>(set.has_many ? filter_word::many_words_bits
                                                            : filter_word::few_words_bits)),
        letters(set.letters),
        around(set.around),
        powers(words(1u) << warp.lane()) {}

  /// Tests the windows that begin 4 bytes after each word from `at` on.
  template <int kind, surroundings_used where>
  LANEWISE_FUNCTION std::uint64_t test(const Warp& warp, const unsigned char* at) const {
    const words a =
        warp.template load_unaligned<std::uint32_t>(at + 4, ahead_bytes) & words(letters);
    const words b = kind == 0 ? a : load(warp, at + 8);
    const words hash = window_key::mixed(a, window_key::high_of(kind, b));
    const words word = warp.gather_scratch(table, hash >> shift);
    if constexpr (where == surroundings_used::none) {
      return passes(warp, word, hash);
    } else {
      const words after = load(warp, at + 4 + window_kind{kind}.bytes());
      const words mixed =
          where == surroundings_used::of_long ? words(0u) : around.mixed(load(warp, at), after);
      return passes(warp, word, filter_word::with(hash, mixed)) |
             std::uint64_t{passes(warp, word, filter_word::with(hash, after))} << 32;
    }
  }
  LANEWISE_FUNCTION words load(const Warp& warp, const unsigned char* at) const {
    return warp.template load_unaligned<std::uint32_t>(at) & words(letters);
  }
  /// filter_word::bits_set, by bits that are shuffled instead of shifts, for which there are
  /// fewer units.
  LANEWISE_FUNCTION std::uint32_t passes(const Warp& warp, const words& word,
                                         const words& hash) const {
    const words asked = warp.shuffle(powers, hash) | warp.shuffle(powers, hash >> 5);
    return warp.ballot((word & asked) == asked);
  }
};

/// A filter for few windows of 4 bytes, which are in buckets: a test takes no multiplication.
template <class Warp>
struct multi_pattern_row_buckets {
  static constexpr int lane_bytes = 1, test_bytes = Warp::width;

  bucket_filter<Warp, 4> buckets;

  LANEWISE_FUNCTION multi_pattern_row_buckets(const Warp& warp, const pattern_set_view& set)
      : buckets(warp, set.window_buckets) {}

  template <int kind, surroundings_used where>
  LANEWISE_FUNCTION std::uint64_t test(const Warp& warp, const unsigned char* at) const {
    return buckets.test(warp, [&](int b) LANEWISE_INLINE_LAMBDA {
      return warp.template load_unaligned<unsigned char>(
          at + 4 + b, b == 0 ? multi_pattern_row_filter<Warp>::ahead_bytes : 0);
    });
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
