// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/pack.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>
#include <lanewise/strings/detail/text_scan.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The filter of a set: one lookup in a table in scratch says whether a window of a text may be a
/// window of patterns. A warp tests the windows that begin in a step of 32 W bytes (1024) at a
/// time; bits are those of text_steps.
template <class Warp>
struct multi_pattern_filter {
  static constexpr int width = Warp::width;
  static constexpr int k = 8;  ///< words of a lane: hosts use multi_pattern_row_filter
  static constexpr int step_words = 8 * width;
  using words = lanes_t<Warp, std::uint32_t>;

  /// The windows of a step that pass, and which step it is.
  struct passed {
    words shorts, longs;
    int step;
  };

  const std::uint32_t* table;
  int table_bits;
  std::uint32_t letters;  ///< the bits of a word that count
  window_surroundings around;

  /// Returns the first of the steps [step, end) in which windows of a kind pass, or `end`. The
  /// steps' bytes begin at `at`. It is a separate function to leave registers for the words of the
  /// next step, which are loaded while a step is tested.
  template <int kind, bool uses_surroundings>
  LANEWISE_SEPARATE_FUNCTION passed next(const Warp& warp, const std::uint32_t* at, int step,
                                         int end) const {
    const multi_pattern_filter mine = *this;
    passed found{words(0u), words(0u), step};
    at += std::int64_t{step} * step_words;
    row_of_words in = mine.load(warp, at);
    for (; found.step < end; ++found.step) {
      if (found.step + 1 < end) at += step_words;
      const row_of_words after = mine.load(warp, at);
      found.shorts = found.longs = words(0u);
      mine.test_row<kind, uses_surroundings>(warp, in, found);
      if (warp.any((found.shorts | found.longs) != 0u)) break;
      in = after;
    }
    return found;
  }

 private:
  struct row_of_words {
    words own[k];
    words after[3];
    LANEWISE_FUNCTION const words& operator[](int j) const {
      return j < k ? own[j < k ? j : 0] : after[j < k ? 0 : j - k];
    }
  };

  template <int kind, bool uses_surroundings>
  LANEWISE_FUNCTION void test_row(const Warp& warp, const row_of_words& in, passed& found) const {
    LANEWISE_UNROLL
    for (int j = 0; j < k; ++j) {
      LANEWISE_UNROLL
      for (int o = 0; o < 4; o += window_kind{kind}.stride())
        test_window<kind, uses_surroundings>(warp, in, j, o, 4 * j + o, found);
    }
  }
  /// A row, and the three words after each lane's own, which are in the nearest cache.
  LANEWISE_FUNCTION row_of_words load(const Warp& warp, const std::uint32_t* at) const {
    const auto packs = warp.load(reinterpret_cast<const pack<std::uint32_t, k>*>(at));
    row_of_words in;
    LANEWISE_UNROLL
    for (int j = 0; j < k; ++j)
      in.own[j] =
          warp.map([j](const pack<std::uint32_t, k>& x) { return x[j]; }, packs) & words(letters);
    using four = pack<std::uint32_t, 4>;
    const auto next = warp.gather(reinterpret_cast<const four*>(at + k),
                                  warp.lane() * words(std::uint32_t{k / 4}));
    LANEWISE_UNROLL
    for (int i = 0; i < 3; ++i)
      in.after[i] = warp.map([i](const four& x) { return x[i]; }, next) & words(letters);
    return in;
  }
  /// Tests the window at byte o of word j + 1, whose bit is bit i.
  template <int kind, bool uses_surroundings>
  LANEWISE_FUNCTION void test_window(const Warp& warp, const row_of_words& in, int j, int o, int i,
                                     passed& found) const {
    const words a = detail::word_across(in[j + 1], in[j + 2], o);
    const words b = kind == 0 ? a : detail::word_across(in[j + 2], in[j + 3], o);
    const words hash = warp.map(
        [](std::uint32_t x, std::uint32_t y) { return window_key::of(kind, x, y).hash(); }, a, b);
    const words word = warp.gather_scratch(
        table, warp.map([bits = table_bits](std::uint32_t h) { return filter_word::word(h, bits); },
                        hash));
    // A GPU has other units for sums than for bits.
    const auto add = [&](words& bits, const words& of) {
      bits = bits + warp.map([i](std::uint32_t w,
                                 std::uint32_t h) { return filter_word::bits_set(w, h) << i; },
                             word, of);
    };
    if constexpr (uses_surroundings) {
      const auto bits = [](std::uint32_t h, std::uint32_t x) { return filter_word::with(h, x); };
      const words after = after_window<kind>(in, j + 1, o);
      const words mixed = warp.map(
          [around = around](std::uint32_t x, std::uint32_t y) { return around.mixed(x, y); },
          detail::word_across(in[j], in[j + 1], o), after);
      add(found.shorts, warp.map(bits, hash, mixed));
      add(found.longs, warp.map(bits, hash, after));
    } else {
      add(found.shorts, hash);
    }
  }
  /// The four bytes after the first q of a window.
  template <int kind>
  static LANEWISE_FUNCTION words after_window(const row_of_words& in, int j, int o) {
    const int at = o + window_kind{kind}.bytes();
    return at % 4 == 0 ? in[j + at / 4]
                       : detail::word_across(in[j + at / 4], in[j + at / 4 + 1], at % 4);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
