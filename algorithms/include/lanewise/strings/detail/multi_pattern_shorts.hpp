// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/strings/detail/multi_pattern_bucket_filter.hpp>
#include <lanewise/strings/detail/multi_pattern_text.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Finds the patterns of 1 to 3 bytes in a span of text, by short_pairs, and joins them with the
/// hits of longer ones. Positions that the buckets pass are listed until every lane has one. Then
/// each lane looks up its pattern.
template <class Warp>
class multi_pattern_shorts {
 public:
  static constexpr int width = Warp::width;
  using words = lanes_t<Warp, std::uint32_t>;
  using mask = mask_t<Warp, std::uint32_t>;

  /// What longer patterns have in the span: positions in order, each once, and ranks.
  struct hits {
    const std::uint32_t *position, *rank;
    int number;
  };

  /// listed: scratch of `most` words, 2 W or more.
  LANEWISE_FUNCTION multi_pattern_shorts(const Warp& warp, const text_bytes& text,
                                         const pattern_set_view& set, std::uint32_t* listed,
                                         int most)
      : warp_(warp),
        text_(text),
        set_(set),
        listed_(listed),
        most_(most),
        buckets_(warp, set.short_buckets) {}

  /// Calls f(positions, ranks) for the positions [first, first + positions), W at a time and in
  /// order, counted from the first: the rank of the longest pattern that begins there, or 0.
  template <class F>
  LANEWISE_FUNCTION void each_position(std::int64_t first, std::uint32_t positions,
                                       const hits& longer, F f) {
    int listed = 0, next = 0, given = 0;
    for (std::uint32_t base = 0; base < positions; base += at_once * width) {
      const four_rows passed = filter(first + base);
      const auto is_longer_before = [&](std::uint32_t end) LANEWISE_INLINE_LAMBDA {
        return next < longer.number && longer.position[next] < end;
      };
      if (passed.any() == 0 && !is_longer_before(base + at_once * width)) continue;
      for (int r = 0; r < at_once; ++r) {
        const std::uint32_t row = base + static_cast<std::uint32_t>(r) * width;
        if (row >= positions) break;
        bits are_longer = 0;
        for (; is_longer_before(row + width); ++next)
          are_longer |= bits{1} << (longer.position[next] - row);
        const bits here = passed.row(r) | are_longer;
        if (here == 0) continue;
        const words is_longer = lanewise::select(warp_.template mask_of<std::uint32_t>(are_longer),
                                                 words(1u), words(0u));
        listed +=
            warp_.compress_store(listed_ + listed, warp_.template mask_of<std::uint32_t>(here),
                                 (warp_.lane() + words(row)) << 1 | is_longer);
        if (listed > most_ - width) listed = flush(first, listed, false, longer, given, f);
      }
    }
    flush(first, listed, true, longer, given, f);
  }

 private:
  using bits = typename Warp::bits;

  /// Rows of W positions that are filtered at a time.
  static constexpr int at_once = 4;

  /// Bits of the positions where a pattern may begin. Devices would keep an array in memory whose
  /// index they do not know.
  struct four_rows {
    bits of[at_once];
    LANEWISE_FUNCTION bits any() const { return of[0] | of[1] | of[2] | of[3]; }
    LANEWISE_FUNCTION bits row(int r) const {
      return r == 0 ? of[0] : r == 1 ? of[1] : r == 2 ? of[2] : of[3];
    }
  };
  LANEWISE_FUNCTION four_rows filter(std::int64_t position) const {
    four_rows passed;
    const bool is_inside =
        position + at_once * width + static_cast<int>(short_pairs::most_bytes) - 1 <= text_.n;
    LANEWISE_UNROLL
    for (int r = 0; r < at_once; ++r) {
      const unsigned char* const at = text_.data + position + r * width;
      passed.of[r] =
          is_inside ? buckets_.test(
                          warp_, [&](int b) LANEWISE_INLINE_LAMBDA { return warp_.load(at + b); })
                    : filter_at_edge(position + r * width);
    }
    return passed;
  }
  LANEWISE_RARE_FUNCTION bits filter_at_edge(std::int64_t position) const {
    const std::int64_t n = text_.n;
    const unsigned char* const text = text_.data;
    const bits passed = buckets_.test(warp_, [&](int b) LANEWISE_INLINE_LAMBDA {
      return warp_.template cast<unsigned char>(warp_.map(
          [=](std::uint32_t lane) {
            return position + lane + b < n ? std::uint32_t{text[position + lane + b]} : 0u;
          },
          warp_.lane()));
    });
    const std::int64_t left = n - position;
    return left <= 0 ? bits{0} : passed & warp_.ballot(warp_.first(left));
  }
  /// Calls f for full warps of listed positions, or for all. Returns how many are left. given: how
  /// many hits of longer patterns were flushed before.
  template <class F>
  LANEWISE_FUNCTION int flush(std::int64_t first, int listed, bool all, const hits& longer,
                              int& given, F f) const {
    warp_.fence();
    int i = 0;
    for (; i + width <= listed || (all && i < listed); i += width) {
      const mask exist = warp_.first(listed - i);
      const words entry = warp_.load(exist, listed_ + i, 0u), position = entry >> 1;
      words rank = longest(exist, first, position);
      const mask is_longer = (entry & words(1u)) != 0u;
      if (const int number = warp_.count(is_longer); number > 0) {
        const words upto = warp_.inclusive_scan(entry & words(1u), plus{});
        rank = warp_.gather(is_longer, longer.rank + given, upto - words(1u), 0u) |
               lanewise::select(is_longer, words(0u), rank);
        given += number;
      }
      f(position, rank);
    }
    const int left = all ? 0 : listed - i;
    const mask is_left = warp_.first(left);
    const words entry = warp_.load(is_left, listed_ + i, 0u);
    warp_.fence();
    warp_.store(is_left, listed_, entry);
    return left;
  }
  /// The longest short pattern at each position, or 0.
  LANEWISE_FUNCTION words longest(const mask& exist, std::int64_t first,
                                  const words& position) const {
    // This number of positions has eight bytes of text, as hosts read words.
    const std::int64_t room = text_.n - first - 7;
    const bool are_inside =
        !warp_.any(exist & (position >= static_cast<std::uint32_t>(room > 0 ? room : 0)));
    words text = text_of(exist, first, position, are_inside);
    if (set_.folds_case)
      text = warp_.map([](std::uint32_t w) { return detail::small_letters(w); }, text);
    text = text & words(0xffffffu);
    const words pair = warp_.gather(exist, set_.pairs, text & words(0xffffu), 0u);
    const mask begins = (pair & words(std::uint32_t{short_pairs::begins_triple})) != 0u;
    words rank = pair & words(~std::uint32_t{short_pairs::begins_triple});
    if (warp_.any(begins)) rank = longest_of(begins, text, rank);
    return are_inside ? rank : inside(first, position, rank);
  }
  /// The first bytes from a position on.
  LANEWISE_FUNCTION words text_of(const mask& exist, std::int64_t first, const words& position,
                                  bool are_inside) const {
    if constexpr (Warp::text_words_per_lane == 1) {
      if (are_inside) {
        const words at = lanewise::select(exist, position, words(0u)), index = at >> 2,
                    past = (at & words(3u)) << 3;
        const unsigned char* const begin = text_.data + first;
        return warp_.template gather_unaligned<std::uint32_t>(begin, index) >> past |
               warp_.template gather_unaligned<std::uint32_t>(begin + 4, index)
                   << 1 << (words(31u) - past);
      }
    }
    const multi_pattern_text mine{text_, set_};
    return warp_.map(
        exist, [=](std::uint32_t p) { return mine.word(first + p); }, 0u, position);
  }
  /// As `longest`, where patterns of three bytes may begin, which have slots. Elsewhere ranks
  /// remain.
  LANEWISE_FUNCTION words longest_of(mask open, const words& text, words rank) const {
    const auto* const slots = reinterpret_cast<const std::uint32_t*>(set_.triples);
    const words key = short_pairs::key(text), last((1u << set_.triples_bits) - 1);
    for (words slot = short_pairs::slot(key, set_.triples_bits); warp_.any(open);
         slot = (slot + words(1u)) & last) {
      const words there = warp_.gather(open, slots, slot << 1, 0u);
      const mask is_it = open & (there == key);
      rank = lanewise::select(is_it, warp_.gather(is_it, slots + 1, slot << 1, 0u), rank);
      open = open & !is_it & (there != 0u);
    }
    return rank;
  }
  /// At the end of the text: the longest beginning of the pattern of this rank that is a pattern,
  /// too, and ends in the text.
  LANEWISE_RARE_FUNCTION words inside(std::int64_t first, const words& position,
                                      const words& rank) const {
    return warp_.map(
        [=, n = text_.n, size = set_.size, prefix = set_.prefix](std::uint32_t r, std::uint32_t p) {
          while (r != 0 && first + p + size[r] > n) r = prefix[r];
          return r;
        },
        rank, position);
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  std::uint32_t* listed_;
  int most_;
  bucket_filter<Warp, short_pairs::most_bytes> buckets_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
