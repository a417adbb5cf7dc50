// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/data/pack.hpp>
#include <lanewise/strings/pattern.hpp>
#include <lanewise/warp/warp.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Bytes of a text.
struct text_bytes {
  const unsigned char* data;
  std::int64_t n;
  std::int64_t begin = 0;  ///< the position of the first one: results are positions
};

/// The words of a text, aligned to 32 bytes of memory. Positions count from the aligned byte at or
/// before the text's first one, or from `lead` bytes before that. Bytes outside of the text are 0.
struct aligned_text {
  const unsigned char* data;
  std::int64_t n;
  int lead = 0;

  LANEWISE_FUNCTION int past() const {
    return static_cast<int>(
               (reinterpret_cast<std::uintptr_t>(data) - static_cast<std::uintptr_t>(lead)) % 32) +
           lead;
  }
  LANEWISE_FUNCTION bool has(std::int64_t position, int bytes) const {
    return position >= past() && position + bytes <= past() + n;
  }
  LANEWISE_FUNCTION const std::uint32_t* at(std::int64_t position) const {
    return reinterpret_cast<const std::uint32_t*>(data + (position - past()));
  }
  /// Loads the word at a position that is a multiple of four.
  LANEWISE_FUNCTION std::uint32_t word(std::int64_t position) const {
    if (has(position, 4)) return *at(position);
    std::uint32_t word = 0;
    for (int b = 0; b < 4; ++b)
      if (has(position + b, 1)) word |= std::uint32_t{data[position + b - past()]} << 8 * b;
    return word;
  }
  /// Loads `number` neighbouring words.
  template <int number>
  LANEWISE_FUNCTION void words(std::int64_t position, std::uint32_t (&in)[number]) const {
    if (has(position, 4 * number)) {
      LANEWISE_UNROLL
      for (int i = 0; i < number; ++i) in[i] = at(position)[i];
    } else {
      LANEWISE_UNROLL
      for (int i = 0; i < number; ++i) in[i] = word(position + 4 * i);
    }
  }
};

/// Returns the four bytes from byte o of a word on. The next word has the last o of them.
template <class Words>
LANEWISE_FUNCTION Words word_across(const Words& a, const Words& b, int o) {
  return o == 0 ? a : a >> 8 * o | b << (32 - 8 * o);
}

/// Counts the bits of every lane's word.
template <class Warp, class Words>
LANEWISE_FUNCTION auto bits_set(const Warp& warp, const Words& words) {
  return warp.map([](auto w) { return static_cast<std::uint32_t>(Warp::popcount(w)); }, words);
}

/// The filter for one pattern. A warp scans a step of 32 W positions (1024) at a time, and compares
/// its words with a few constants (pattern_filter).
///
/// Lanes load k aligned words at once, a row of 4 k W bytes. So steps begin `past` bytes before
/// multiples of 32 W. The first step has positions before the text, where nothing is found. Bit 4 k
/// r + b of lane l is the position first + 4 k W r + 4 k l + b:
///
///   k = 8      lane 0 has positions 0 to 31, lane 1 32 to 63, ...
///   k = 1      row 0: lane 0 has positions 0 to 3,  lane 1 4 to 7, ...     row 1: 128 to 131, ...
template <class Warp>
class text_steps {
 public:
  static constexpr int width = Warp::width;
  static constexpr int positions = 32 * width;  ///< of a step
  using words = lanes_t<Warp, std::uint32_t>;
  using mask = mask_t<Warp, std::uint32_t>;
  using kind = pattern_filter::kind;

  /// Scans `steps` steps, from position `first` on.
  LANEWISE_FUNCTION text_steps(const Warp& warp, const text_bytes& text,
                               const pattern_view& pattern, std::int64_t first, int steps)
      : warp_(warp),
        text_(text),
        pattern_(pattern),
        first_(first),
        at_(reinterpret_cast<std::uintptr_t>(text.data) +
            static_cast<std::uintptr_t>(first + pattern.filter.ahead)) {
    // Inner steps can read 16 bytes after themselves, and have room for the pattern at their last
    // position.
    const std::int64_t room = text.n - pattern.size - 16 - first;
    begin_inside_ = first < 0 ? 1 : 0;
    end_inside_ = room < 0                   ? 0
                  : room / positions < steps ? static_cast<int>(room / positions)
                                             : steps;
  }

  /// How far the steps are before the text: step s has positions [s 32 W - past, ...).
  static LANEWISE_FUNCTION int past(const text_bytes& text, const pattern_view& pattern) {
    return static_cast<int>((reinterpret_cast<std::uintptr_t>(text.data) +
                             static_cast<std::uintptr_t>(pattern.filter.ahead)) %
                            (4 * k));
  }
  LANEWISE_FUNCTION std::int64_t first_of(int step) const {
    return first_ + std::int64_t{step} * positions;
  }
  /// Whether a step can be scanned by words. Others are at an end of the text.
  LANEWISE_FUNCTION bool is_inside(int step) const {
    return step >= begin_inside_ && step < end_inside_;
  }

  /// Whether the filter passes any position of some inner steps.
  template <kind how>
  LANEWISE_RARE_FUNCTION bool passes(int step, int number = 1) const {
    if constexpr (k == 1) {
      const words one_of = table_of_windows();
      words least(~0u);
      for (int r = 0; r < number * rows; ++r)
        least = smaller(least, least_difference<how>(bytes_of(step, r), one_of));
      return warp_.any(least == 0u);
    } else {
      mask fits = any_fits<how>(load<how>(step, 0));
      for (int r = 1; r < number * rows; ++r) fits = fits | any_fits<how>(load<how>(step, r));
      return warp_.any(fits);
    }
  }
  /// Returns a bit for each of up to 32 steps that may have positions: steps that the filter
  /// passes, and steps at an end of the text.
  template <kind how>
  LANEWISE_FUNCTION std::uint32_t passed(int step, int number) const {
    const int begin = begin_inside_ > step ? begin_inside_ - step : 0;
    const int end = end_inside_ - step < number ? end_inside_ - step : number;
    const std::uint32_t asked = ~bits_from(number);
    if (begin >= end) return asked;
    std::uint32_t bits = asked & ~(bits_from(begin) & ~bits_from(end));
    if (end - begin < at_once) {
      for (int s = begin; s < end; ++s)
        bits |= static_cast<std::uint32_t>(passes<how>(step + s)) << s;
      return bits;
    }
    // The last steps may be scanned twice.
    for (int s = begin; s < end; s += at_once) {
      const int now = s + at_once < end ? s : end - at_once;
      bits |= passes_some<how>(step + now) << now;
    }
    return bits;
  }
  /// Returns the positions of an inner step that the filter passes, as bits.
  template <kind how>
  LANEWISE_RARE_FUNCTION words passing(int step) const {
    words found(0u);
    for (int r = 0; r < rows; ++r) {
      if constexpr (how == kind::one_byte && k > 1) {
        found = found | equal_bytes(step, r) << 4 * k * r;
      } else {
        add_windows<how>(load<how>(step, r), r, found);
      }
    }
    return found;
  }
  /// As `passing`, for any step.
  LANEWISE_RARE_FUNCTION words passing_at_edge(int step) const {
    const std::int64_t first = first_of(step), last = text_.n - pattern_.size;
    words found(0u);
    if (first > last) return found;
    for (int r = 0; r < rows; ++r) {
      const row in = load_at_edge(step, r);
      if (pattern_.filter.how == kind::every_word) {
        add_windows<kind::every_word>(in, r, found);
      } else if (pattern_.filter.how == kind::every_folded_word) {
        add_windows<kind::every_folded_word>(in, r, found);
      } else {
        add_windows<kind::up_to_eight_bytes>(in, r, found);
      }
    }
    const std::int64_t begin = first < 0 ? -first : 0;
    return found & positions_between(begin, last - first + 1);
  }
  /// Whether all bytes of a step are in the text.
  LANEWISE_FUNCTION bool is_full(int step) const {
    return first_of(step) >= 0 && first_of(step) + positions <= text_.n;
  }
  /// Bits of the positions [begin, end) of a step.
  LANEWISE_FUNCTION words positions_between(std::int64_t begin, std::int64_t end) const {
    const words between = warp_.map([](std::uint32_t a, std::uint32_t b) { return b & ~a; },
                                    ordered_before(begin), ordered_before(end));
    return as_found(warp_, between);
  }
  /// Whether the bytes of the filter's window match, if the pattern begins at positions first + i
  /// of the text.
  LANEWISE_FUNCTION mask begins(std::int64_t first, const words& i) const {
    const std::int64_t last = text_.n - pattern_.size;
    auto fits =
        warp_.map([=](std::uint32_t x) { return first + x >= 0 && first + x <= last ? 1u : 0u; },
                  i) == 1u;
    const std::int64_t window = pattern_.filter.ahead - (pattern_.filter.at_every_byte() ? 0 : 3);
    for (std::int64_t q = window;
         q < window + pattern_.filter.bytes && q < pattern_.size && warp_.any(fits); ++q) {
      const std::uint32_t byte = pattern_.words[q / 4] >> 8 * (q % 4) & 0xff;
      const std::uint32_t care = pattern_.cares[q / 4] >> 8 * (q % 4) & 0xff;
      const auto position = warp_.map([=](std::uint32_t x) { return first + q + x; }, i);
      const auto there = warp_.template cast<std::uint32_t>(
          warp_.gather(fits, text_.data, position, static_cast<unsigned char>(0)));
      fits = fits & ((there & words(care)) == byte);
    }
    return fits;
  }

  /// Returns the bits of a step as words of 32 neighbouring positions: lane l has those from first
  /// + 32 l on.
  static LANEWISE_FUNCTION words in_order(const Warp& warp, const words& found) {
    if constexpr (k == 8) {
      return found;
    } else {
      return rows_in_order(warp, found);
    }
  }
  /// Returns the bits of words in order, as text_steps has them.
  static LANEWISE_FUNCTION words as_found(const Warp& warp, const words& ordered) {
    if constexpr (k == 8) {
      return ordered;
    } else {
      return ordered_in_rows(warp, ordered);
    }
  }
  /// The position of the lowest bit of a lane, in a step.
  static LANEWISE_FUNCTION std::uint32_t position_of(std::uint32_t bits, std::uint32_t lane) {
    const auto b = static_cast<std::uint32_t>(Warp::popcount((bits & ~(bits - 1)) - 1));
    return b / (4 * k) * row_positions + 4 * k * lane + b % (4 * k);
  }

  static constexpr int k = Warp::text_words_per_lane;
  static constexpr int rows = 8 / k;
  static constexpr int row_positions = 4 * k * width;
  static constexpr std::uint32_t row_bits = k == 8 ? ~0u : (1u << 4 * k % 32) - 1;

 private:
  /// Bits of the positions before one, in order.
  LANEWISE_FUNCTION words ordered_before(std::int64_t position) const {
    const auto end = static_cast<std::uint32_t>(position < 0           ? 0
                                                : position < positions ? position
                                                                       : std::int64_t{positions});
    return warp_.map(
        [end](std::uint32_t lane) {
          const std::uint32_t at = 32 * lane, left = end - at;
          return end <= at ? 0u : left >= 32 ? ~0u : (1u << left % 32) - 1;
        },
        warp_.lane());
  }
  /// This number of steps is loaded at once. Measured: find_first in 2^30 bytes on an H200 reads
  /// 0.91 of what a sum reads by four steps, 0.88 by two.
  static constexpr int at_once = 4;

  static LANEWISE_FUNCTION std::uint32_t bits_from(int b) { return b < 32 ? ~0u << b : 0u; }
  template <kind how>
  LANEWISE_FUNCTION std::uint32_t passes_some(int step) const {
    std::uint32_t bits = 0;
    if constexpr (k == 1) {
      const words one_of = table_of_windows();
      for (int i = 0; i < at_once; ++i) {
        words least(~0u);
        for (int r = 0; r < rows; ++r)
          least = smaller(least, least_difference<how>(bytes_of(step + i, r), one_of));
        bits |= static_cast<std::uint32_t>(warp_.any(least == 0u)) << i;
      }
      return bits;
    }
    row in[at_once];
    LANEWISE_UNROLL
    for (int i = 0; i < at_once; ++i) in[i] = load<how>(step + i, 0);
    LANEWISE_UNROLL
    for (int i = 0; i < at_once; ++i)
      bits |= static_cast<std::uint32_t>(warp_.any(any_fits<how>(in[i]))) << i;
    return bits;
  }
  using bytes = lanes_t<Warp, unsigned char>;
  using text_pack = pack<std::uint32_t, k>;

  /// The words of a row, and the words that follow the lane's.
  struct row {
    words own[k];
    words after[2];
    LANEWISE_FUNCTION const words& operator[](int j) const {
      return j < k ? own[j < k ? j : 0] : after[j < k ? 0 : j - k];
    }
  };
  /// Returns a row of a step. On devices it is aligned to words, on hosts it begins at any byte.
  LANEWISE_FUNCTION const unsigned char* bytes_of(int step, int r) const {
    return reinterpret_cast<const unsigned char*>(at_ +
                                                  static_cast<std::uintptr_t>(step) * positions) +
           4 * r * width * k;
  }
  /// Words of k neighbours for each lane.
  LANEWISE_FUNCTION auto load_packs(const unsigned char* at) const {
    if constexpr (k == 1) {
      return warp_.template load_unaligned<text_pack>(at);
    } else {
      return warp_.load(reinterpret_cast<const text_pack*>(at));
    }
  }
  /// The words after a lane's own come from the nearest cache. To get them from the next lane takes
  /// a shuffle and a select for the last lane, which nvcc compiles to two shuffles in branches.
  template <kind how>
  LANEWISE_FUNCTION row load(int step, int r) const {
    constexpr int after = how == kind::up_to_eight_bytes || is_aligned(how) ? 2 : 1;
    const unsigned char* const bytes_here = bytes_of(step, r);
    const auto packs = load_packs(bytes_here);
    row in;
    LANEWISE_UNROLL
    for (int j = 0; j < k; ++j)
      in.own[j] = warp_.map([j](const text_pack& x) { return x[j]; }, packs);
    LANEWISE_UNROLL
    for (int i = 0; i < after; ++i) {
      if constexpr (k == 1) {
        in.after[i] = warp_.template load_unaligned<std::uint32_t>(bytes_here + 4 * (k + i));
      } else {
        in.after[i] = warp_.gather(reinterpret_cast<const std::uint32_t*>(bytes_here) + k + i,
                                   warp_.lane() * words(std::uint32_t{k}));
      }
    }
    return in;
  }
  /// As `load`, for any step. Bytes outside of the text are not read, and count as zeros.
  LANEWISE_FUNCTION row load_at_edge(int step, int r) const {
    if constexpr (k == 1) {
      const std::int64_t from = first_of(step) + pattern_.filter.ahead + r * row_positions;
      if (from >= 0 && from + row_positions + 8 <= text_.n)
        return load<kind::up_to_eight_bytes>(step, r);
    }
    row in;
    LANEWISE_UNROLL
    for (int j = 0; j < k; ++j) in.own[j] = word_at_edge(step, r, j);
    LANEWISE_UNROLL
    for (int i = 0; i < 2; ++i) in.after[i] = word_at_edge(step, r, k + i);
    return in;
  }
  LANEWISE_FUNCTION words word_at_edge(int step, int r, int j) const {
    const std::int64_t from =
        first_of(step) + pattern_.filter.ahead + std::int64_t{r} * row_positions + 4 * j;
    return warp_.map(
        [from, data = text_.data, n = text_.n](std::uint32_t lane) {
          const std::int64_t at = from + 4 * k * std::int64_t{lane};
          std::uint32_t word = 0;
          if (at >= 0 && at + 4 <= n) {
            if constexpr (k > 1) return *reinterpret_cast<const std::uint32_t*>(data + at);
            std::memcpy(&word, data + at, 4);
            return word;
          }
          for (int b = 0; b < 4; ++b)
            if (at + b >= 0 && at + b < n) word |= std::uint32_t{data[at + b]} << 8 * b;
          return word;
        },
        warp_.lane());
  }
  /// Bits of the bytes of a row that equal the filter's.
  LANEWISE_FUNCTION words equal_bytes(int step, int r) const {
    const auto cared = warp_.map(
        [care = 0x01010101u * (pattern_.filter.care[0] & 0xff)](text_pack x) {
          LANEWISE_UNROLL
          for (int j = 0; j < k; ++j) x[j] &= care;
          return x;
        },
        load_packs(bytes_of(step, r)));
    return warp_.match_words(cared, bytes(static_cast<unsigned char>(pattern_.filter.window[0])));
  }
  static constexpr LANEWISE_FUNCTION bool is_aligned(kind how) {
    return how == kind::every_word || how == kind::every_folded_word;
  }
  template <kind how>
  LANEWISE_FUNCTION mask any_fits(const row& in) const {
    mask fits = in[0] != in[0];
    each_window<how>(in, [&](int, const mask& here) LANEWISE_INLINE_LAMBDA { fits = fits | here; });
    return fits;
  }
  /// Distance of prefetches. Measured: counts of 16 bytes on one core of a Xeon of the fourth
  /// generation reach 0.96 of a sum; 0.92 with 1024 bytes, 0.78 with 4096, 0.83 without.
  static constexpr int ahead_bytes = 2048;

  /// Returns the least difference of a row's windows from the filter's, 0 if one fits, for backends
  /// where a lane has one word of a row. Differences leave more units free than masks do. Words
  /// that begin at any byte are loaded.
  template <kind how>
  LANEWISE_FUNCTION words least_difference(const unsigned char* in, const words& one_of) const {
    const auto& filter = pattern_.filter;
    const words first = warp_.template load_unaligned<std::uint32_t>(in, ahead_bytes);
    const auto at = [&](int byte) LANEWISE_INLINE_LAMBDA {
      if (byte == 0) return first;
      return warp_.template load_unaligned<std::uint32_t>(in + byte);
    };
    if constexpr (is_aligned(how)) {
      const words mixture = mixed<how>(at(0), at(4), at(8));
      return mixture ^
             warp_.shuffle(one_of, mixture >> words(static_cast<std::uint32_t>(filter.shift)));
    } else {
      words least(~0u);
      LANEWISE_UNROLL
      for (int o = 0; o < 4; ++o) {
        words here = at(o);
        if (how != kind::four_bytes) here = here & words(filter.care[0]);
        here = here ^ words(filter.window[0]);
        if (how == kind::up_to_eight_bytes)
          here = here | ((at(o + 4) & words(filter.care[1])) ^ words(filter.window[1]));
        least = smaller(least, here);
      }
      return least;
    }
  }
  LANEWISE_FUNCTION words smaller(const words& a, const words& b) const {
    return warp_.map(minimum{}, a, b);
  }
  /// The window that a word may be, by five bits of the word.
  LANEWISE_FUNCTION words table_of_windows() const {
    const auto& filter = pattern_.filter;
    words table(filter.window[0]);
    LANEWISE_UNROLL
    for (int o = 1; o < 4; ++o)
      table = lanewise::select(warp_.lane() == (filter.window[o] >> filter.shift & 31),
                               words(filter.window[o]), table);
    return table;
  }
  /// Adds the positions of a row. A GPU has other units for sums than for comparisons and bits.
  /// Measured: counts of four letters of dna take 0.26 ms for 2^30 bytes, and 0.33 with an or.
  template <kind how>
  LANEWISE_FUNCTION void add_windows(const row& in, int r, words& found) const {
    each_window<how>(in, [&](int b, const mask& fits) LANEWISE_INLINE_LAMBDA {
      found = lanewise::select(fits, found + words(1u << (4 * k * r + b)), found);
    });
  }
  /// Calls f(b, fits) for the positions of a row that a lane has: whether the text may have the
  /// pattern at position b.
  template <kind how, class F>
  LANEWISE_FUNCTION void each_window(const row& in, F f) const {
    LANEWISE_UNROLL
    for (int j = 0; j < k; ++j) {
      if constexpr (is_aligned(how)) {
        // A window that begins o bytes after the first one belongs to a position o bytes earlier.
        const words mixture = mixed<how>(in[j], in[j + 1], in[j + 2]);
        LANEWISE_UNROLL
        for (int o = 0; o < 4; ++o) f(4 * j + 3 - o, mixture == pattern_.filter.window[o]);
      } else {
        LANEWISE_UNROLL
        for (int o = 0; o < 4; ++o) f(4 * j + o, fits_at<how>(in, j, o));
      }
    }
  }
  template <kind how>
  LANEWISE_FUNCTION words mixed(const words& a, const words& b, const words& c) const {
    const auto& filter = pattern_.filter;
    const words first = how == kind::every_folded_word ? a & words(pattern_filter::folded) : a;
    return first ^ (pattern_filter::second(b) & words(filter.care[0])) ^
           (pattern_filter::third(c) & words(filter.care[1]));
  }
  /// Whether the text may have the pattern at byte o of word j.
  template <kind how>
  LANEWISE_FUNCTION mask fits_at(const row& in, int j, int o) const {
    const auto& filter = pattern_.filter;
    const words here = detail::word_across(in[j], in[j + 1], o);
    if constexpr (how == kind::four_bytes) {
      return here == filter.window[0];
    } else if constexpr (how == kind::up_to_four_bytes || how == kind::one_byte) {
      return (here & words(filter.care[0])) == filter.window[0];
    } else {
      const words next = detail::word_across(in[j + 1], in[j + 2], o);
      const words first = (here & words(filter.care[0])) ^ words(filter.window[0]);
      return (first | ((next & words(filter.care[1])) ^ words(filter.window[1]))) == 0u;
    }
  }
  static LANEWISE_RARE_FUNCTION words rows_in_order(const Warp& warp, const words& found) {
    constexpr std::uint32_t lanes_of_word = 8 / k, words_of_row = width / lanes_of_word;
    words ordered(0u);
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      words word = warp.map(
          [r](std::uint32_t bits, std::uint32_t lane) {
            return (bits >> 4 * k * r & row_bits) << 4 * k * (lane % lanes_of_word);
          },
          found, warp.lane());
      LANEWISE_UNROLL
      for (int d = 1; d < static_cast<int>(lanes_of_word); d *= 2)
        word = word | warp.shuffle_xor(word, d);
      const auto source = warp.map(
          [](std::uint32_t lane) { return lane % words_of_row * lanes_of_word; }, warp.lane());
      const auto row_of =
          warp.map([](std::uint32_t lane) { return lane / words_of_row; }, warp.lane());
      ordered = lanewise::select(row_of == static_cast<std::uint32_t>(r),
                                 warp.shuffle(word, source), ordered);
    }
    return ordered;
  }

  /// Inverse of rows_in_order.
  static LANEWISE_RARE_FUNCTION words ordered_in_rows(const Warp& warp, const words& ordered) {
    constexpr std::uint32_t lanes_of_word = 8 / k, words_of_row = width / lanes_of_word;
    const words word_of_lane = warp.lane() >> std::countr_zero(lanes_of_word);
    const words shift = (warp.lane() & words(lanes_of_word - 1)) * words(std::uint32_t{4 * k});
    words found(0u);
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const words word =
          warp.shuffle(ordered, word_of_lane + words(static_cast<std::uint32_t>(r) * words_of_row));
      found = found | (word >> shift & words(row_bits)) << 4 * k * r;
    }
    return found;
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_view& pattern_;
  std::int64_t first_;
  std::uintptr_t at_;  // the address of the first step's words, which may lie before the text
  int begin_inside_, end_inside_;
};

/// Returns the bits of a step's positions as words of 32 neighbours: equal(i) says which of the W
/// bytes from byte i on match.
template <class Warp, class F>
LANEWISE_FUNCTION auto bits_of_positions(const Warp& warp, F equal) {
  constexpr int width = Warp::width;
  static_assert(width == 32);
  using words = lanes_t<Warp, std::uint32_t>;
  const auto word = [&](int i) LANEWISE_INLINE_LAMBDA {
    return static_cast<std::uint32_t>(warp.ballot(equal(i * width)));
  };
  if constexpr (Warp::text_words_per_lane == 1) {
    // A thread has them one after the other in memory.
    std::uint32_t all[width];
    for (int i = 0; i < width; ++i) all[i] = word(i);
    return words(warp.load(all));
  } else {
    words bits(0u);
    LANEWISE_UNROLL
    for (int i = 0; i < width; ++i)
      bits = lanewise::select(warp.template mask_of<std::uint32_t>(1u << i), words(word(i)), bits);
    return bits;
  }
}

/// text_steps::passing_at_edge for the step that begins with a position.
template <class Warp>
LANEWISE_SEPARATE_FUNCTION auto passing_at_edge(const Warp& warp, const text_bytes& text,
                                                const pattern_view& pattern, std::int64_t first) {
  return text_steps<Warp>(warp, text, pattern, first, 1).passing_at_edge(0);
}

/// The bits of the bytes from a position on that equal the filter's one byte, and are in the text.
template <class Warp>
LANEWISE_SEPARATE_FUNCTION auto equal_bytes_at_edge(const Warp& warp, const text_bytes& text,
                                                    const pattern_view& pattern,
                                                    std::int64_t first) {
  using words = typename text_steps<Warp>::words;
  if (first >= text.n) return words(0u);
  return detail::bits_of_positions(warp, [&](int i) LANEWISE_INLINE_LAMBDA {
    const auto position =
        warp.map([first = first + i](std::uint32_t lane) { return first + lane; }, warp.lane());
    const auto there = warp.map([n = text.n](std::int64_t p) { return p >= 0 && p < n ? 1u : 0u; },
                                position) == 1u;
    const auto byte = warp.template cast<std::uint32_t>(
        warp.gather(there, text.data, position, static_cast<unsigned char>(0)));
    return there & ((byte & words(pattern.filter.care[0])) == pattern.filter.window[0]);
  });
}

/// Calls f with the kind of a filter as a constant: of patterns of up to 4 bytes.
template <class F>
LANEWISE_FUNCTION auto with_short_kind(pattern_filter::kind how, F f) {
  using kind = pattern_filter::kind;
  if (how == kind::one_byte) return f(std::integral_constant<kind, kind::one_byte>{});
  if (how == kind::four_bytes) return f(std::integral_constant<kind, kind::four_bytes>{});
  return f(std::integral_constant<kind, kind::up_to_four_bytes>{});
}
/// As with_short_kind, for longer patterns.
template <class F>
LANEWISE_FUNCTION auto with_long_kind(pattern_filter::kind how, F f) {
  using kind = pattern_filter::kind;
  if (how == kind::every_word) return f(std::integral_constant<kind, kind::every_word>{});
  if (how == kind::every_folded_word)
    return f(std::integral_constant<kind, kind::every_folded_word>{});
  if (how == kind::four_bytes) return f(std::integral_constant<kind, kind::four_bytes>{});
  return f(std::integral_constant<kind, kind::up_to_four_bytes>{});
}

}  // namespace detail
LANEWISE_END_NAMESPACE
