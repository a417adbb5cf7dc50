// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/warp_allocate.hpp>
#include <lanewise/strings/detail/matches.hpp>
#include <lanewise/tile/fixed_tree.hpp>
#include <lanewise/warp/search.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// A source of positions in the bytes of rows, a step of 32 W positions at a time:
//
//   scratch<Warp>                            what a warp needs of the team's;
//   after()                                  how many bytes after its first belong to a position;
//   past<Warp>(text)                         how far steps begin before the text;
//   finder<Warp>(warp, scratch, text, bits, first, steps).in_order(step)
//                                            the bits of a step: lane l has positions 32 l to 32
//                                            l+31;
//   passed                                   bits of the steps that may have any (passed_steps);
//   before_results                           whether positions count that are before the one that
//                                            the row's result is, and that becomes their number

/// Which steps of the rows' bytes may have positions. If this is known, a word has the bits of
/// `steps_per_word` steps, a power of two up to 32, the first step's lowest.
struct passed_steps {
  std::uint32_t* words = nullptr;
  int steps_per_word = 1;

  LANEWISE_FUNCTION bool are_known() const { return words != nullptr; }
  LANEWISE_FUNCTION bool may_have(std::int64_t step) const {
    return !are_known() || (words[step / steps_per_word] >> step % steps_per_word & 1) != 0;
  }
  /// The first of some steps that may have any, or the last.
  template <class Warp>
  LANEWISE_FUNCTION std::int64_t first_of(std::int64_t step, std::int64_t last) const {
    while (are_known() && step < last) {
      const std::uint32_t bits = words[step / steps_per_word] >> step % steps_per_word;
      step = bits != 0 ? step + Warp::lowest(bits) : (step / steps_per_word + 1) * steps_per_word;
      if (bits != 0) break;
    }
    return step < last ? step : last;
  }
};

/// The positions where a pattern begins. For patterns of more than 4 bytes, only steps that the
/// filter has passed are searched.
struct pattern_bits {
  template <class Warp>
  using scratch = comparison_scratch<lone_warp<Warp>>;
  static constexpr bool before_results = false;

  pattern_view pattern;
  passed_steps passed = {};

  LANEWISE_FUNCTION std::int64_t after() const { return pattern.size - 1; }
  template <class Warp>
  LANEWISE_FUNCTION int past(const text_bytes& text) const {
    return text_steps<Warp>::past(text, pattern);
  }

  template <class Warp>
  class finder {
   public:
    using words = typename text_steps<Warp>::words;
    LANEWISE_FUNCTION finder(const Warp& warp, scratch<Warp>& shared, const text_bytes& text,
                             const pattern_bits& bits, std::int64_t first, int steps)
        : warp_(warp),
          pattern_(bits.pattern),
          alone_{warp},
          positions_(warp, text, bits.pattern, first, steps),
          matches_(alone_, warp, text, bits.pattern, shared, false, first, steps) {
      matches_.forget();
    }

    LANEWISE_FUNCTION words in_order(int step) const {
      const words found = pattern_.is_short() ? positions_.find(step) : matches_.find(step);
      return warp_.any(found != 0u) ? text_steps<Warp>::in_order(warp_, found) : words(0u);
    }

   private:
    const Warp& warp_;
    const pattern_view& pattern_;
    lone_warp<Warp> alone_;
    mutable short_finder<Warp> positions_;
    match_finder<lone_warp<Warp>> matches_;
  };
};

/// Positions that are in memory already, a bit for each byte of the text.
struct position_bits {
  template <class Warp>
  struct scratch {};
  static constexpr bool before_results = false;

  std::uint32_t* words;
  passed_steps passed;

  LANEWISE_FUNCTION std::int64_t after() const { return 0; }
  template <class Warp>
  LANEWISE_FUNCTION int past(const text_bytes&) const {
    return 0;
  }

  template <class Warp>
  class finder {
   public:
    LANEWISE_FUNCTION finder(const Warp& warp, scratch<Warp>&, const text_bytes&,
                             const position_bits& bits, std::int64_t first, int)
        : warp_(warp), words_(bits.words + first / 32) {}
    LANEWISE_FUNCTION auto in_order(int step) const {
      return warp_.load(words_ + std::int64_t{step} * Warp::width);
    }

   private:
    const Warp& warp_;
    const std::uint32_t* words_;
  };
};

/// The bytes that characters of UTF-8 begin with: all but continuation bytes.
struct character_bits {
  template <class Warp>
  struct scratch {};
  static constexpr bool before_results = true;

  passed_steps passed = {};

  LANEWISE_FUNCTION std::int64_t after() const { return 0; }
  template <class Warp>
  LANEWISE_FUNCTION int past(const text_bytes& text) const {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(text.data) %
                            (4 * Warp::text_words_per_lane));
  }

  template <class Warp>
  class finder {
    static constexpr int k = Warp::text_words_per_lane, packs_of_lane = 8 / k;
    static constexpr std::int64_t positions = 32 * Warp::width;

   public:
    using words = lanes_t<Warp, std::uint32_t>;
    LANEWISE_FUNCTION finder(const Warp& warp, scratch<Warp>&, const text_bytes& text,
                             const character_bits&, std::int64_t first, int)
        : warp_(warp), text_(text), first_(first) {}

    LANEWISE_FUNCTION words in_order(int step) const {
      const std::int64_t first = first_ + step * positions;
      if (first < 0 || first + positions > text_.n) return at_edge(first);
      const auto* const at = reinterpret_cast<const pack<std::uint32_t, k>*>(text_.data + first);
      const words mine = warp_.lane() * words(std::uint32_t{packs_of_lane});
      words found(0u);
      LANEWISE_UNROLL
      for (int p = 0; p < packs_of_lane; ++p) {
        found = found | warp_.map(
                            [p](const pack<std::uint32_t, k>& bytes) {
                              std::uint32_t bits = 0;
                              LANEWISE_UNROLL
                              for (int j = 0; j < k; ++j) bits |= begins(bytes[j]) << 4 * j;
                              return bits << 4 * k * p;
                            },
                            warp_.gather(at + p, mine));
      }
      return found;
    }

   private:
    /// Which of the four bytes of a word are not 10xxxxxx, as bits.
    static LANEWISE_FUNCTION std::uint32_t begins(std::uint32_t word) {
      const std::uint32_t bytes = (~(word >> 7) | word >> 6) & 0x01010101u;
      return bytes * 0x01020408u >> 24;
    }
    LANEWISE_RARE_FUNCTION words at_edge(std::int64_t first) const {
      words found(0u);
      for (std::uint32_t c = 0; c < 32; ++c) {
        const auto at = warp_.map(
            [=](std::uint32_t lane) { return first + 32 * std::int64_t{lane} + c; }, warp_.lane());
        const auto there =
            warp_.map(
                [n = text_.n](std::int64_t p) -> std::uint32_t { return p >= 0 && p < n ? 1 : 0; },
                at) == 1u;
        found = found |
                warp_.map([c](unsigned char byte) { return (begins(byte) & 1) << c; },
                          warp_.gather(there, text_.data, at, static_cast<unsigned char>(0x80)));
      }
      return found;
    }

    const Warp& warp_;
    const text_bytes& text_;
    std::int64_t first_;
  };
};

/// Bits of some steps in scratch, each word with the number of bits before it.
template <class Warp>
class ranked_bits {
  using numbers = lanes_t<Warp, std::uint32_t>;
  using entries = lanes_t<Warp, std::uint64_t>;

 public:
  static constexpr int most_steps = 8;

  /// Loads steps [first, first + n) of a finder, but only those for which may_have(step) holds.
  /// Returns how many bits are set.
  template <class Finder, class MayHave>
  LANEWISE_FUNCTION std::uint32_t fill(const Warp& warp, const Finder& finder, int first, int n,
                                       MayHave may_have) {
    std::uint32_t before = 0;
    warp.fence();
    for (int s = 0; s < n; ++s) {
      const numbers bits = may_have(first + s) ? finder.in_order(first + s) : numbers(0u);
      numbers rank(before);
      if (warp.any(bits != 0u)) {
        const auto allocated = lanewise::allocate(warp, detail::bits_set(warp, bits));
        rank = rank + allocated.offset;
        before += allocated.total;
      }
      warp.store(entry_ + s * Warp::width,
                 warp.map([](std::uint32_t word,
                             std::uint32_t r) { return std::uint64_t{r} << 32 | word; },
                          bits, rank));
    }
    warp.once([&] { entry_[n * Warp::width] = std::uint64_t{before} << 32; });
    warp.fence();
    return before;
  }
  /// How many are set before a position.
  template <class Mask>
  LANEWISE_FUNCTION numbers rank(const Warp& warp, const Mask& active, const numbers& at) const {
    const entries entry = warp.gather(active, entry_, at >> numbers(5u), std::uint64_t{0});
    return warp.map(
        [](std::uint64_t e, std::uint32_t x) {
          const auto below = static_cast<std::uint32_t>(e) & ((1u << x % 32) - 1);
          return static_cast<std::uint32_t>(e >> 32) +
                 static_cast<std::uint32_t>(Warp::popcount(below));
        },
        entry, at);
  }
  /// The position, in `steps` steps, of a bit before which `rank` bits are set.
  template <class Mask>
  LANEWISE_FUNCTION numbers position(const Warp& warp, const Mask& active, const numbers& rank,
                                     int steps) const {
    const entries key =
        warp.map([](std::uint32_t r) { return std::uint64_t{r} << 32 | 0xffffffffu; }, rank);
    const numbers word =
        lanewise::upper_bound(warp, active, entry_, static_cast<std::uint32_t>(steps * Warp::width),
                              key) -
        numbers(1u);
    const entries entry = warp.gather(active, entry_, word, std::uint64_t{0});
    return warp.map(
        active,
        [](std::uint64_t e, std::uint32_t w, std::uint32_t r) {
          auto bits = static_cast<std::uint32_t>(e);
          for (auto skip = r - static_cast<std::uint32_t>(e >> 32); skip > 0; --skip)
            bits &= bits - 1;
          return 32 * w + static_cast<std::uint32_t>(Warp::popcount((bits & ~(bits - 1)) - 1));
        },
        0u, entry, word, rank);
  }

 private:
  std::uint64_t entry_[most_steps * Warp::width + 1];
};

}  // namespace detail
LANEWISE_END_NAMESPACE
