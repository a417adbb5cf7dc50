// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/operators.hpp>
#include <lanewise/pack.hpp>
#include <lanewise/pattern.hpp>
#include <lanewise/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Bytes of a text.
struct text_bytes {
  const unsigned char* data;
  std::int64_t n;
  std::int64_t begin = 0;  ///< the position of the first one: results are positions
};

/// How many bits of every lane's word are set.
template <class Warp, class Words>
LANEWISE_FUNCTION auto bits_set(const Warp& warp, const Words& words) {
  return warp.map([](std::uint32_t w) { return static_cast<std::uint32_t>(Warp::popcount(w)); },
                  words);
}

/// What a warp knows of the text that it has compared. In scratch, as it is seldom asked for, and
/// registers are few.
struct compared_text {
  std::int64_t place = 0, bytes = 0;        ///< the pattern's first bytes are there, so many
  std::int64_t run_begin = 0, run_end = 0;  ///< the pattern, and what goes on with its period
  bool run_goes_on = false;                 ///< as far as was looked
};

/// The places of a text where a pattern begins, as bits: a warp finds those of 32 W places (1024),
/// a step, at a time.
///
/// A filter compares the words of the text with a few constants (pattern_filter), and nothing else
/// is done where none fits. Places that pass become bits, and are compared with the whole pattern.
///
/// Lanes read k words at once, a row of 4 k W bytes, in the grid of 4 k bytes of memory: places of
/// a step begin `past` bytes in front of what their numbers would be if they began with the text.
/// The first step has places in front of the text, where nothing is found. Bit 4 k r + b of lane l
/// is the place first + 4 k W r + 4 k l + b:
///
///   k = 4      row 0: lane 0 has places 0 to 15, lane 1 16 to 31, ...   row 1: 512 to 527, ...
///   k = 1      row 0: lane 0 has places 0 to 3,  lane 1 4 to 7, ...     row 1: 128 to 131, ...
template <class Warp>
class match_finder {
 public:
  static constexpr int width = Warp::width;
  static constexpr int places = 32 * width;  ///< of a step
  using words = typename Warp::template lanes<std::uint32_t>;
  using mask = typename Warp::template mask_for<std::uint32_t>;

  /// For some steps from the one on that begins with a place.
  LANEWISE_FUNCTION match_finder(const Warp& warp, const text_bytes& text,
                                 const pattern_view& pattern, compared_text& compared,
                                 std::int64_t first, int steps)
      : warp_(warp),
        text_(text),
        pattern_(pattern),
        compared_(compared),
        first_(first),
        at_(reinterpret_cast<std::uintptr_t>(text.data) +
            static_cast<std::uintptr_t>(first + pattern.filter.ahead)) {
    remember({});
    // Steps that read 16 bytes behind themselves, and have room for the pattern at their last
    // place.
    const std::int64_t room = text.n - pattern.size - 16 - first;
    begin_inside_ = first < 0 ? 1 : 0;
    end_inside_ = room < 0 ? 0 : room / places < steps ? static_cast<int>(room / places) : steps;
  }

  /// How far the steps are in front of the text: step s has places [s 32 W - past, ...).
  static LANEWISE_FUNCTION int past(const text_bytes& text, const pattern_view& pattern) {
    return static_cast<int>((reinterpret_cast<std::uintptr_t>(text.data) +
                             static_cast<std::uintptr_t>(pattern.filter.ahead)) %
                            (4 * k));
  }

  LANEWISE_FUNCTION std::int64_t first_of(int step) const {
    return first_ + std::int64_t{step} * places;
  }
  /// The bits of a step.
  LANEWISE_FUNCTION words find(int step) const {
    if (step < begin_inside_ || step >= end_inside_) return find_at_edge(step);
    if (pattern_.filter.how != pattern_filter::kind::every_word) return find_otherwise(step);
    row in[rows];
    load(words_of(step), in);
    return warp_.any(any_word_fits<false>(in)) ? find_again(step) : words(0u);
  }
  /// The bits of a step as words of 32 neighbouring places: lane l has those from first + 32 l on.
  LANEWISE_RARE_FUNCTION words in_order(const words& found) const {
    constexpr std::uint32_t lanes_of_word = 8 / k, words_of_row = width / lanes_of_word;
    words ordered(0u);
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      words word = warp_.map(
          [r](std::uint32_t bits, std::uint32_t lane) {
            return (bits >> 4 * k * r & row_bits) << 4 * k * (lane % lanes_of_word);
          },
          found, warp_.lane());
      LANEWISE_UNROLL
      for (int d = 1; d < static_cast<int>(lanes_of_word); d *= 2)
        word = word | warp_.shuffle_xor(word, d);
      const auto source = warp_.map(
          [](std::uint32_t lane) { return lane % words_of_row * lanes_of_word; }, warp_.lane());
      const auto row_of =
          warp_.map([](std::uint32_t lane) { return lane / words_of_row; }, warp_.lane());
      ordered =
          select(row_of == static_cast<std::uint32_t>(r), warp_.shuffle(word, source), ordered);
    }
    return ordered;
  }
  /// The bits of the few places [first, first + n), n <= W.
  LANEWISE_RARE_FUNCTION std::uint32_t find_few(std::int64_t first, int n) const {
    auto todo = warp_.ballot(begins(first, warp_.lane()) & warp_.first(n));
    std::uint32_t found = 0;
    for (; todo != 0; todo &= todo - 1) {
      const int i = Warp::lowest(todo);
      if (pattern_.is_exact() || is_at(first + i)) found |= 1u << i;
    }
    return found;
  }

 private:
  static constexpr int k = Warp::words_of_text;
  static constexpr int rows = 8 / k;
  static constexpr int row_places = 4 * k * width;
  static constexpr std::uint32_t row_bits = (1u << 4 * k) - 1;

  /// The words of a row, and those that follow the lane's.
  struct row {
    words own[k];
    words behind[3];
    LANEWISE_FUNCTION const words& operator[](int j) const {
      return j < k ? own[j < k ? j : 0] : behind[j < k ? 0 : j - k];
    }
  };
  LANEWISE_FUNCTION const std::uint32_t* words_of(int step) const {
    return reinterpret_cast<const std::uint32_t*>(at_ + static_cast<std::uintptr_t>(step) * places);
  }
  /// The rows of a step, with a word behind each. again: what was loaded is loaded once more, and
  /// does not have to be kept until then.
  template <bool again = false>
  LANEWISE_FUNCTION void load(const std::uint32_t* at, row (&in)[rows]) const {
    const auto* const packs_at = reinterpret_cast<const pack<std::uint32_t, k>*>(at);
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const auto packs =
          again ? warp_.load_relaxed(packs_at + r * width) : warp_.load(packs_at + r * width);
      LANEWISE_UNROLL
      for (int j = 0; j < k; ++j)
        in[r].own[j] = warp_.map([j](const pack<std::uint32_t, k>& x) { return x[j]; }, packs);
    }
    load_behind<0, 1>(at, in);
  }
  /// Words begin to end behind a lane's own: from the nearest cache. To get them from the next lane
  /// takes a shuffle and, for the last lane, a select, which nvcc makes two shuffles of, in
  /// branches.
  template <int begin, int end>
  LANEWISE_FUNCTION void load_behind(const std::uint32_t* at, row (&in)[rows]) const {
    const auto mine = warp_.lane() * words(std::uint32_t{k});
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      LANEWISE_UNROLL
      for (int i = begin; i < end; ++i) {
        const std::uint32_t* const behind = at + r * width * k + k + i;
        in[r].behind[i] = k == 1 ? warp_.load(behind) : warp_.gather(behind, mine);
      }
    }
  }
  template <int r>
  static LANEWISE_FUNCTION words across(const words& a, const words& b) {
    if constexpr (r == 0) {
      return a;
    } else {
      return a >> 8 * r | b << (32 - 8 * r);
    }
  }
  /// The filter: whether anything may be in a step.
  template <bool folded>
  LANEWISE_FUNCTION mask any_word_fits(const row (&in)[rows]) const {
    mask fits = mixed<folded>(in[0], 0) == pattern_.filter.window[0];
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      LANEWISE_UNROLL
      for (int j = 0; j < k; ++j) {
        LANEWISE_UNROLL
        for (int o = 0; o < 4; ++o)
          fits = fits | (mixed<folded>(in[r], j) == pattern_.filter.window[o]);
      }
    }
    return fits;
  }
  template <bool folded>
  static LANEWISE_FUNCTION words mixed(const row& in, int j) {
    const words bits(folded ? pattern_filter::folded : ~0u);
    const words word = in[j] & bits, next = in[j + 1] & bits;
    return word ^ (next << 13 | next >> 19);
  }
  LANEWISE_FUNCTION mask any_byte_fits(const row (&in)[rows]) const {
    mask fits = in[0].own[0] == pattern_.filter.window[0];
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      LANEWISE_UNROLL
      for (int j = 0; j < k; ++j)
        fits = fits | (in[r][j] == pattern_.filter.window[0]) |
               (across<1>(in[r][j], in[r][j + 1]) == pattern_.filter.window[0]) |
               (across<2>(in[r][j], in[r][j + 1]) == pattern_.filter.window[0]) |
               (across<3>(in[r][j], in[r][j + 1]) == pattern_.filter.window[0]);
    }
    return fits;
  }

  /// A step by the filters of other patterns than most.
  LANEWISE_RARE_FUNCTION words find_otherwise(int step) const {
    row in[rows];
    load(words_of(step), in);
    using kind = pattern_filter::kind;
    switch (pattern_.filter.how) {
      case kind::up_to_three_bytes:
        return fitting<0, false>(in);
      case kind::four_bytes:
        return fitting<0, true>(in);
      case kind::bits_of_bytes:
        return warp_.any(fitting<0, false>(in) != 0u) ? find_again(step) : words(0u);
      case kind::every_byte:
        return warp_.any(any_byte_fits(in)) ? find_again(step) : words(0u);
      default:
        return warp_.any(any_word_fits<true>(in)) ? find_again(step) : words(0u);
    }
  }
  /// Where in a step, once the filter has said that there is something.
  LANEWISE_RARE_FUNCTION words find_again(int step) const {
    row in[rows];
    const std::uint32_t* const at = words_of(step);
    load<true>(at, in);
    words found(0u);
    switch (pattern_.filter.how) {
      case pattern_filter::kind::every_word:
        found = fitting_words<false>(in);
        break;
      case pattern_filter::kind::every_folded_word:
        found = fitting_words<true>(in);
        break;
      default:
        load_behind<1, 3>(at, in);
        found = fitting<0, false>(in) & fitting<1, false>(in) & fitting<2, false>(in);
    }
    verify(first_of(step), found);
    return found;
  }
  template <bool folded>
  LANEWISE_FUNCTION words fitting_words(const row (&in)[rows]) const {
    words found(0u);
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      LANEWISE_UNROLL
      for (int j = 0; j < k; ++j) {
        LANEWISE_UNROLL
        for (int o = 0; o < 4; ++o)
          add_where(mixed<folded>(in[r], j) == pattern_.filter.window[o], 4 * (k * r + j) + 3 - o,
                    found);
      }
    }
    return found;
  }
  static LANEWISE_FUNCTION void add_where(const mask& m, int i, words& found) {
    found = select(m, found | words(1u << i), found);
  }
  /// Where word q of the filter fits, all of it or the bits it cares for.
  template <int q, bool all>
  LANEWISE_FUNCTION words fitting(const row (&in)[rows]) const {
    words found(0u);
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      LANEWISE_UNROLL
      for (int j = 0; j < k; ++j) {
        const words &a = in[r][j + q], &b = in[r][j + q + 1];
        const int i = 4 * (k * r + j);
        add_where_fits<q, all>(across<0>(a, b), i, found);
        add_where_fits<q, all>(across<1>(a, b), i + 1, found);
        add_where_fits<q, all>(across<2>(a, b), i + 2, found);
        add_where_fits<q, all>(across<3>(a, b), i + 3, found);
      }
    }
    return found;
  }
  template <int q, bool all>
  LANEWISE_FUNCTION void add_where_fits(const words& word, int i, words& found) const {
    const words part = all ? word : word & words(pattern_.filter.care[q]);
    add_where(part == pattern_.filter.window[q], i, found);
  }

  /// At the ends of the text, place by place.
  LANEWISE_RARE_FUNCTION words find_at_edge(int step) const {
    const std::int64_t first = first_of(step);
    words found(0u);
    if (first > text_.n - pattern_.size) return found;
    for (int b = 0; b < 32; ++b) {
      const std::int64_t from = first + b / (4 * k) * row_places + b % (4 * k);
      const auto lane = warp_.lane() * words(std::uint32_t{4 * k});
      add_where(begins(from, lane), b, found);
    }
    if (!pattern_.is_exact()) verify_in_order(first, found);
    return found;
  }
  /// Where the bytes of the filter's windows are, up to 12, if the pattern begins at places
  /// first + i of the text.
  LANEWISE_FUNCTION mask begins(std::int64_t first, const words& i) const {
    const std::int64_t last = text_.n - pattern_.size;
    auto fits =
        warp_.map([=](std::uint32_t x) { return first + x >= 0 && first + x <= last ? 1u : 0u; },
                  i) == 1u;
    const std::int64_t window = pattern_.filter.ahead - (pattern_.filter.at_every_byte() ? 0 : 3);
    for (std::int64_t q = window; q < window + 12 && q < pattern_.size && warp_.any(fits); ++q) {
      const std::uint32_t byte = pattern_.words[q / 4] >> 8 * (q % 4) & 0xff;
      const std::uint32_t care = pattern_.cares[q / 4] >> 8 * (q % 4) & 0xff;
      const auto place = warp_.map([=](std::uint32_t x) { return first + q + x; }, i);
      const auto there = warp_.template cast<std::uint32_t>(
          warp_.gather(fits, text_.data, place, static_cast<unsigned char>(0)));
      fits = fits & ((there & words(care)) == byte);
    }
    return fits;
  }

  /// Leaves the places where the whole pattern is. Where there are many, lanes first compare the
  /// beginning, each for its own.
  LANEWISE_FUNCTION void verify(std::int64_t first, words& found) const {
    if (pattern_.is_exact()) return;
    if (is_in_run(first)) return keep_in_run(first, found);
    constexpr std::uint32_t few = 4;
    if (first >= 4 && warp_.reduce(bits_set(warp_, found), plus{}) > few) {
      compare_beginnings(first, found);
      if (pattern_.size <= beginning) return;
    }
    verify_in_order(first, found);
  }
  /// So many bytes are compared by lanes. Words of 4 bytes around the places can be read.
  static constexpr std::int64_t beginning = 16 * k;
  LANEWISE_FUNCTION void compare_beginnings(std::int64_t first, words& found) const {
    const unsigned char* const from = text_.data + first;
    const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) % 4);
    const auto* const low = reinterpret_cast<const std::uint32_t*>(from - past);
    words rest = found;
    for (; warp_.any(rest != 0u); rest = rest & (rest - words(1u))) {
      const auto byte = warp_.map(
          [past](std::uint32_t bits, std::uint32_t lane) { return past + place_of(bits, lane); },
          rest, warp_.lane());
      mask there = rest != 0u;
      for (std::uint32_t i = 0; i < beginning && i < pattern_.size && warp_.any(there); i += 4) {
        const auto at = warp_.map([i](std::uint32_t x) { return (x + i) / 4; }, byte);
        const words word = warp_.map(
            [](std::uint32_t a, std::uint32_t b, std::uint32_t x) {
              return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> 8 * (x % 4));
            },
            warp_.gather(there, low, at, 0u), warp_.gather(there, low, at + words(1u), 0u), byte);
        there = there & ((word & words(pattern_.cares[i / 4])) == pattern_.words[i / 4]);
      }
      found = select(there | (rest == 0u), found, found & ~(rest & (words(0u) - rest)));
    }
  }
  /// Whether the text goes on with the pattern's period from a place where the pattern was found to
  /// the end of what a step needs. Then the pattern is at every so many bytes, and nowhere else.
  LANEWISE_FUNCTION bool is_in_run(std::int64_t first) const {
    const std::int64_t wanted = first + places + pattern_.size;
    compared_text known = compared_;
    if (!known.run_goes_on || known.run_end + pattern_.period < first + pattern_.size ||
        wanted > text_.n)
      return false;
    while (known.run_goes_on && known.run_end < wanted) {
      const words different = text_words(known.run_end, wanted - known.run_end) ^
                              text_words(known.run_end - pattern_.period, wanted - known.run_end);
      const auto lanes = warp_.ballot(different != 0u);
      if (lanes != 0) {
        const int lane = Warp::lowest(lanes);
        known.run_end += 4 * lane + Warp::lowest(warp_.broadcast(different, lane)) / 8;
        known.run_goes_on = false;
      } else {
        known.run_end += 4 * width;
      }
    }
    remember(known);
    return known.run_end >= wanted;
  }
  LANEWISE_FUNCTION void remember(const compared_text& known) const {
    warp_.fence();
    warp_.once([&] { compared_ = known; });
    warp_.fence();
  }
  /// Leaves every so many places, of those from the run's first on.
  LANEWISE_FUNCTION void keep_in_run(std::int64_t first, words& found) const {
    if (pattern_.period == 1) return;
    // Some periods are added where the run began before the step.
    const std::int64_t behind = compared_.run_begin - first;
    const auto period = static_cast<std::uint32_t>(pattern_.period);
    const auto begin = static_cast<std::uint32_t>(behind > 0 ? behind : 0);
    const auto past = static_cast<std::uint32_t>(behind > 0 ? 0 : -behind % pattern_.period);
    for (words rest = found; warp_.any(rest != 0u); rest = rest & (rest - words(1u))) {
      const auto is_out = warp_.map(
          [=](std::uint32_t bits, std::uint32_t lane) {
            const std::uint32_t place = place_of(bits, lane);
            return place < begin ? 0u : (place - begin + past) % period;
          },
          rest, warp_.lane());
      found = select(is_out == 0u, found, found & ~(rest & (words(0u) - rest)));
    }
  }
  /// That of the lowest bit of a lane, in a step.
  static LANEWISE_FUNCTION std::uint32_t place_of(std::uint32_t bits, std::uint32_t lane) {
    const auto b = static_cast<std::uint32_t>(Warp::popcount((bits & ~(bits - 1)) - 1));
    return b / (4 * k) * row_places + 4 * k * lane + b % (4 * k);
  }
  /// Leaves the places where the whole pattern is, by all lanes for each, in order.
  LANEWISE_FUNCTION void verify_in_order(std::int64_t first, words& found) const {
    for (int r = 0; r < rows; ++r) {
      const std::int64_t begin = first + r * row_places;
      const words of_row =
          warp_.map([r](std::uint32_t bits) { return bits >> 4 * k * r & row_bits; }, found);
      for (auto todo = warp_.ballot(of_row != 0u); todo != 0; todo &= todo - 1) {
        const int lane = Warp::lowest(todo);
        for (std::uint32_t bits = warp_.broadcast(of_row, lane); bits != 0; bits &= bits - 1) {
          const int b = Warp::lowest(bits);
          if (!is_at(begin + 4 * k * lane + b)) {
            found = select(warp_.lane() == static_cast<std::uint32_t>(lane),
                           found & words(~(1u << (4 * k * r + b))), found);
          } else if (is_in_run(first)) {
            return keep_in_run(first, found);
          }
        }
      }
    }
  }
  /// Whether the pattern is at a place where there is room for it, and which is behind those that
  /// were asked for before.
  ///
  /// The pattern's first bytes were found at another place. So it is known what the text has at a
  /// place among these, d bytes on: the pattern's bytes from d on, of which the first repeats[d]
  /// are those that it begins with. If these are fewer than are known, the pattern is not there;
  /// else the comparison goes on where the other one ended. So bytes of the text are compared once.
  LANEWISE_FUNCTION bool is_at(std::int64_t place) const {
    compared_text known = compared_;
    if (place + pattern_.size <= known.run_end && place >= known.run_begin)
      return (place - known.run_begin) % pattern_.period == 0;
    const std::int64_t d = place - known.place, left = known.bytes - d;
    const bool was_seen = pattern_.repeats != nullptr && left > 0;
    if (was_seen && std::int64_t{pattern_.repeats[d]} < left) return false;
    known.place = place;
    known.bytes = agreed(place, was_seen ? left : 0);
    const bool is_there = known.bytes == pattern_.size;
    if (is_there && 2 * pattern_.period <= pattern_.size) {
      known.run_begin = place;
      known.run_end = place + pattern_.size;
      known.run_goes_on = true;
    }
    remember(known);
    return is_there;
  }
  /// How many bytes of the pattern are at a place, of which so many are known to be there. A
  /// mismatch mostly comes early; behind the first row, eight are on their way at once.
  LANEWISE_FUNCTION std::int64_t agreed(std::int64_t place, std::int64_t known) const {
    constexpr int bytes = 4 * width, together = 8;
    std::int64_t i = known / 4 * 4;
    for (int many = 1; i < pattern_.size; i += many * bytes, many = together) {
      words different[together];
      words any(0u);
      LANEWISE_UNROLL
      for (int t = 0; t < together; ++t) {
        different[t] = words(0u);
        if (t < many) different[t] = difference(place, i + t * bytes);
        any = any | different[t];
      }
      if (!warp_.any(any != 0u)) continue;
      LANEWISE_UNROLL
      for (int t = 0; t < together; ++t) {
        const auto here = warp_.ballot(different[t] != 0u);
        if (here == 0) continue;
        const int lane = Warp::lowest(here);
        return i + t * bytes + 4 * lane + Warp::lowest(warp_.broadcast(different[t], lane)) / 8;
      }
    }
    return pattern_.size;
  }
  /// The bits of the text at a place that differ from the pattern's, in the words from byte i on.
  LANEWISE_FUNCTION words difference(std::int64_t place, std::int64_t i) const {
    const std::int64_t left = pattern_.size - i;
    const auto there =
        warp_.first(left > 4 * width ? width : static_cast<int>((left < 0 ? 0 : left + 3) / 4));
    const words word = warp_.load(there, pattern_.words + i / 4, 0u);
    const words care = warp_.load(there, pattern_.cares + i / 4, 0u);
    return (text_words(place + i, left) & care) ^ word;
  }
  /// Words of the text from any byte on, `left` bytes of it or a row.
  LANEWISE_FUNCTION words text_words(std::int64_t from, std::int64_t left) const {
    if (left <= 0) return words(0u);
    if (from >= 4 && from + 4 * width + 4 <= text_.n) {
      const unsigned char* const at = text_.data + from;
      const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at) % 4);
      const auto* const low = reinterpret_cast<const std::uint32_t*>(at - past);
      return warp_.map(
          [past](std::uint32_t a, std::uint32_t b) {
            return static_cast<std::uint32_t>((std::uint64_t{b} << 32 | a) >> 8 * past);
          },
          warp_.load(low), warp_.load(low + 1));
    }
    words word(0u);
    for (int c = 0; c < 4; ++c) {
      const auto at = warp_.map(
          [=](std::uint32_t lane) { return from + 4 * std::int64_t{lane} + c; }, warp_.lane());
      const auto there =
          warp_.map([n = text_.n](std::int64_t p) { return p < n ? 1u : 0u; }, at) == 1u;
      word = word | warp_.map([c](unsigned char byte) { return std::uint32_t{byte} << 8 * c; },
                              warp_.gather(there, text_.data, at, static_cast<unsigned char>(0)));
    }
    return word;
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_view& pattern_;
  compared_text& compared_;
  std::int64_t first_;
  std::uintptr_t at_;  // the address of the first step's words: of no byte where it is in front
  int begin_inside_, end_inside_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
