// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/host/host_stretches.hpp>
#include <lanewise/strings/detail/text_scan.hpp>

#include <type_traits>

// Finds where a text has a periodic stretch of a pattern. A bit says whether a byte equals the one
// a period after it. A stretch of n pairs is n such bits in a row. Up to 32 are found in log2(n)
// rounds.
//
//   text            b a a a b a a a a a b     looked for: a a a a, three pairs
//   pairs           . 1 1 . . 1 1 1 1 . .
//   two in a row    . 1 . . . 1 1 1 . . .     bits, and those of the next position
//   three           . . . . . 1 1 . . . .     and those two positions on

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Whether warps find runs of equal bytes without a filter. Threads find them as other stretches.
template <class Warp>
inline constexpr bool finds_runs = !Warp::is_single_thread;

/// Returns the pattern as Warp searches for it. A run of equal bytes without a filter may go on in
/// the next step, but not after it.
template <class Warp>
pattern_view searched_by(const pattern_view& pattern) {
  pattern_view searched = pattern;
  const pattern_stretch& stretch = pattern.stretch;
  if (finds_runs<Warp> && stretch.covers_pattern && stretch.period == 1 &&
      pattern.size <= text_steps<Warp>::positions) {
    searched.filter = {};
    searched.filter.how = pattern_filter::kind::one_byte;
    searched.filter.window[0] = stretch.byte;
    searched.filter.care[0] = stretch.care;
  }
  return searched;
}

/// Returns how many of the first bits of words of 32 neighbours are set.
template <class Warp, class Words>
LANEWISE_FUNCTION int first_set(const Warp& warp, const Words& bits) {
  const auto full = static_cast<std::uint32_t>(warp.ballot(bits == ~0u));
  if (full == ~0u) return 32 * Warp::width;
  const int lane = Warp::lowest(~full);
  return 32 * lane + Warp::lowest(~warp.broadcast(bits, lane));
}
/// More bits in a row than those of a step and of the next one.
template <class Warp>
inline constexpr int endless_run = 2 * text_steps<Warp>::positions + 1;

/// Keeps the bits that are the first of `number` in a row, 1 < number <= endless_run. `bits` are
/// those of a step, as words of 32 neighbours; `after` bits after them are set, and then one is
/// not.
template <class Warp, class Words>
LANEWISE_FUNCTION Words first_of_runs(const Warp& warp, const Words& bits, int number, int after) {
  static_assert(Warp::width == 32);
  if (number <= 32) {
    const Words after_step(after < 32 ? ~(~0u << after) : ~0u);
    Words found = bits;
    Words next = lanewise::select(warp.template first<std::uint32_t>(31),
                                  warp.shuffle(bits, warp.lane() + Words(1u)), after_step);
    for (int have = 1; have < number;) {
      const int more = have < number - have ? have : number - have;
      found = found & (found >> more | next << (32 - more));
      next = next & next >> more;
      have += more;
    }
    return found;
  }
  // A longer row has the last bits of a word, then full words, then the first bits of a word.
  const auto full = static_cast<std::uint32_t>(warp.ballot(bits == ~0u));
  const Words end_word = warp.map(
      [full](std::uint32_t lane) {
        const std::uint32_t broken = lane == 31 ? 0 : ~full >> (lane + 1) << (lane + 1);
        return broken == 0 ? 32u : static_cast<std::uint32_t>(Warp::lowest(broken));
      },
      warp.lane());
  return warp.map(
      [=](std::uint32_t word, std::uint32_t lane, std::uint32_t end, std::uint32_t last) {
        const int first = word == ~0u ? 0 : Warp::highest(~word) + 1;
        const int in_last = end == 32 ? after : last == ~0u ? 32 : Warp::lowest(~last);
        const int room = static_cast<int>(32 * (end - lane)) + in_last - number;
        if (first == 32 || room < first) return 0u;
        return ~0u << first & (room >= 31 ? ~0u : ~(~0u << (room + 1)));
      },
      bits, warp.lane(), end_word, warp.shuffle(bits, end_word));
}

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
    return stretch.pairs < positions ? stretch.pairs : positions;
  }

  /// Whether the first step's packs begin in the text: lanes load some bytes before their own.
  static LANEWISE_FUNCTION bool is_inside(const pattern_view& pattern, std::int64_t first) {
    return Warp::is_single_thread || !pattern.stretch.exists() || first >= 32;
  }

  LANEWISE_FUNCTION stretch_finder(const Warp& warp, const text_bytes& text,
                                   const pattern_view& pattern, std::int64_t first)
      : warp_(warp), pattern_(pattern), at_(text.data + first), left_(text.n - first) {}

  /// The positions, as words of 32 neighbours.
  LANEWISE_RARE_FUNCTION words find() const {
    const pattern_stretch& stretch = pattern_.stretch;
    const std::int64_t begin = stretch.begin, period = stretch.period;
    words found(0u);
    if (period == 1) {
      found = in_a_row(stretch.pairs + 1, equals_byte{static_cast<unsigned char>(stretch.byte)});
    } else {
      found = in_a_row(stretch.pairs, equals_next_period{static_cast<int>(period)});
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

  /// What a byte of the text is compared with: `byte`, or the byte a period after it.
  struct equals_byte {
    unsigned char byte;
  };
  struct equals_next_period {
    int period;
    static constexpr unsigned char byte = 0;  // of the difference
  };
  template <class Equal>
  static constexpr bool has_period = std::is_same_v<Equal, equals_next_period>;

  /// Finds the positions where `number` bytes in a row, from the stretch's begin on, are equal.
  template <class Equal>
  LANEWISE_FUNCTION words in_a_row(std::int64_t number, const Equal& equal) const {
    const std::int64_t begin = pattern_.stretch.begin;
    const auto care = static_cast<unsigned char>(pattern_.stretch.care);
    if constexpr (Warp::is_single_thread) {
      return thread_positions<Warp>::find(warp_, number, positions + pattern_.stretch.pairs + 16,
                                          [&](std::int64_t position) LANEWISE_INLINE_LAMBDA {
                                            return bits_from(begin + position, equal, care);
                                          });
    } else {
      const words bits = bits_of_step(begin, equal, care);
      if (!warp_.any(bits != 0u)) return bits;
      const bool goes_on = warp_.broadcast(bits, Warp::width - 1) >> 31 != 0;
      const int most = number < endless_run<Warp> ? static_cast<int>(number) : endless_run<Warp>;
      return detail::first_of_runs(warp_, bits, most, goes_on ? equal_after(equal, care) : 0);
    }
  }
  /// Which of the W bytes from position q of the step on are equal.
  template <class Equal>
  LANEWISE_FUNCTION std::uint32_t bits_from(std::int64_t q, const Equal& equal,
                                            unsigned char care) const {
    const bytes here = warp_.load(at_ + q) & bytes(care);
    bytes other(equal.byte);
    if constexpr (has_period<Equal>) other = warp_.load(at_ + q + equal.period) & bytes(care);
    return static_cast<std::uint32_t>(warp_.ballot(here == other));
  }
  /// Which bytes of a step are equal, from position q on. Lanes load packs from the aligned byte at
  /// or before q on. The last word is loaded once more, by bytes.
  template <class Equal>
  LANEWISE_FUNCTION words bits_of_step(std::int64_t q, const Equal& equal,
                                       unsigned char care) const {
    using text_pack = pack<std::uint32_t, text_steps<Warp>::k>;
    const auto past =
        static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(at_ + q) % sizeof(text_pack));
    const unsigned char* const from = at_ + q - past;
    auto packs = warp_.load(reinterpret_cast<const text_pack*>(from));
    if constexpr (has_period<Equal>) packs = differences(packs, from, equal.period);
    const auto cared = warp_.map(
        [cares = 0x01010101u * care](text_pack x) {
          LANEWISE_UNROLL
          for (int j = 0; j < text_steps<Warp>::k; ++j) x[j] &= cares;
          return x;
        },
        packs);
    const words aligned = warp_.match_words(cared, bytes(equal.byte));
    const words bits = warp_.map(
        [past](std::uint32_t low, std::uint32_t high) {
          return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> past);
        },
        aligned, warp_.shuffle(aligned, warp_.lane() + words(1u)));
    const words last(bits_from(q + positions - 32, equal, care));
    return lanewise::select(warp_.template first<std::uint32_t>(31), bits, last);
  }
  /// The differences between the bytes of packs and those `period` bytes further on.
  template <class Packs>
  LANEWISE_FUNCTION Packs differences(const Packs& packs, const unsigned char* from,
                                      int period) const {
    constexpr int k = text_steps<Warp>::k;
    using text_pack = pack<std::uint32_t, k>;
    const auto* const after = reinterpret_cast<const std::uint32_t*>(from) + k;
    const words first = warp_.lane() * words(std::uint32_t{k});
    return warp_.map(
        [period](const text_pack& own, std::uint32_t a, std::uint32_t b) {
          const auto word = [&](int j) { return j < k ? own[j < k ? j : 0] : j == k ? a : b; };
          text_pack different;
          LANEWISE_UNROLL
          for (int j = 0; j < k; ++j) {
            const std::uint32_t low = period < 4 ? word(j) : period < 8 ? word(j + 1) : word(j + 2);
            const std::uint32_t high = period < 4 ? word(j + 1) : word(j + 2);
            different[j] = own[j] ^ static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >>
                                                               8 * (period % 4));
          }
          return different;
        },
        packs, warp_.gather(after, first), warp_.gather(after + 1, first));
  }
  /// How many bytes after the step are equal in a row, or endless_run if all known ones are.
  template <class Equal>
  LANEWISE_RARE_FUNCTION int equal_after(const Equal& equal, unsigned char care) const {
    const std::int64_t begin = pattern_.stretch.begin + positions;
    const auto most = static_cast<int>(known_after(pattern_.stretch));
    if (most > 32 && begin + positions + 16 <= left_) {
      const int here = detail::first_set(warp_, bits_of_step(begin, equal, care));
      return here < most ? here : endless_run<Warp>;
    }
    for (int i = 0; i < most; i += 32) {
      // At most 16 bytes are read after the known ones, so the last load begins earlier.
      const int q = i + 16 <= most ? i : most - 16;
      const std::uint32_t different = ~bits_from(begin + q, equal, care) >> (i - q);
      if (different != 0) return i + Warp::lowest(different);
    }
    return endless_run<Warp>;
  }
  /// Keeps the positions where bytes [q, end) of the pattern match.
  LANEWISE_FUNCTION void keep_with(std::int64_t q, std::int64_t end, words& found) const {
    for (; q < end && warp_.any(found != 0u); ++q) {
      const unsigned char byte = byte_of(pattern_.words, q), care = byte_of(pattern_.cares, q);
      if constexpr (Warp::is_single_thread) {
        found = found & detail::bits_of_positions(warp_, [&](int row) LANEWISE_INLINE_LAMBDA {
                  return (warp_.load(at_ + q + row) & bytes(care)) == bytes(byte);
                });
      } else {
        found = found & bits_of_step(q, equals_byte{byte}, care);
      }
    }
  }
  static LANEWISE_FUNCTION unsigned char byte_of(const std::uint32_t* words, std::int64_t q) {
    return static_cast<unsigned char>(words[q / 4] >> 8 * (q % 4));
  }

  const Warp& warp_;
  const pattern_view& pattern_;
  const unsigned char* at_;
  std::int64_t left_;  // bytes of the text from there on
};

}  // namespace detail
LANEWISE_END_NAMESPACE
