// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/strings/set_bucket_filter.hpp>
#include <lanewise/detail/strings/set_text.hpp>
#include <lanewise/operators.hpp>
#include <lanewise/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Finds the patterns of 1 to 3 bytes in a span of text, by short_pairs, and joins them with the
/// hits of longer ones. Places that the buckets pass are listed until every lane has one; then
/// lanes look up which pattern it is.
template <class Warp>
class set_shorts {
 public:
  static constexpr int width = Warp::width;
  using words = typename Warp::template lanes<std::uint32_t>;
  using mask = typename Warp::template mask_for<std::uint32_t>;

  /// What longer patterns have in the span: places in order, each once, and ranks.
  struct hits {
    const std::uint32_t *place, *rank;
    int number;
  };

  /// listed: scratch of 2 W words. For the places [first, first + places).
  LANEWISE_FUNCTION set_shorts(const Warp& warp, const text_bytes& text,
                               const pattern_set_view& set, std::uint32_t* listed,
                               std::int64_t first, std::uint32_t places, const hits& longer)
      : warp_(warp),
        text_(text),
        set_(set),
        listed_(listed),
        first_(first),
        places_(places),
        longer_(longer),
        buckets_(warp, set.short_buckets) {}

  /// Calls f(places, ranks) for all places, W at a time and in order, counted from the first: the
  /// rank of the longest pattern that begins there, or 0.
  template <class F>
  LANEWISE_FUNCTION void each_place(F f) {
    for (std::uint32_t part = 0; part < places_; part += at_once * width) {
      const bool is_last = part + at_once * width >= places_;
      const four_rows passed = look(first_ + part);
      if (passed.any() == 0 && !is_longer_in_front_of(part + at_once * width) &&
          !(is_last && number_ > 0))
        continue;
      for (int r = 0; r < at_once || (is_last && number_ > 0); ++r) {
        if (const std::uint32_t row = part + static_cast<std::uint32_t>(r) * width;
            r < at_once && row < places_)
          list_row(row, passed.row(r));
        if (number_ >= width || (is_last && r + 1 >= at_once && number_ > 0)) give(f);
      }
    }
  }

 private:
  using bits = typename Warp::bits;

  /// So many rows of W places are looked at one behind the other.
  static constexpr int at_once = 4;
  /// Bits of the places where a pattern may begin. Devices would keep an array in memory whose
  /// index they do not know.
  struct four_rows {
    bits of[at_once];
    LANEWISE_FUNCTION bits any() const { return of[0] | of[1] | of[2] | of[3]; }
    LANEWISE_FUNCTION bits row(int r) const {
      return r == 0 ? of[0] : r == 1 ? of[1] : r == 2 ? of[2] : of[3];
    }
  };
  LANEWISE_FUNCTION four_rows look(std::int64_t place) const {
    four_rows passed;
    const std::int64_t left = text_.n - place;
    const bool is_inside = left >= at_once * width + static_cast<int>(short_pairs::most_bytes) - 1;
    LANEWISE_UNROLL
    for (int r = 0; r < at_once; ++r) {
      const unsigned char* const at = text_.data + place + r * width;
      passed.of[r] =
          is_inside ? buckets_.look(
                          warp_, [&](int b) LANEWISE_INLINE_LAMBDA { return warp_.load(at + b); })
                    : look_at_edge(at, left - r * width);
    }
    return passed;
  }
  /// The same where so many bytes are left, or none.
  LANEWISE_RARE_FUNCTION bits look_at_edge(const unsigned char* at, std::int64_t left) const {
    const auto lanes_inside = [left](int b) LANEWISE_INLINE_LAMBDA {
      return left <= b ? 0 : left - b < width ? static_cast<int>(left - b) : width;
    };
    const bits passed = buckets_.look(warp_, [&](int b) LANEWISE_INLINE_LAMBDA {
      const auto there =
          warp_.template mask_of<unsigned char>(warp_.ballot(warp_.first(lanes_inside(b))));
      return warp_.load(there, at + b, static_cast<unsigned char>(0));
    });
    return passed & warp_.ballot(warp_.first(lanes_inside(0)));
  }
  LANEWISE_FUNCTION bool is_longer_in_front_of(std::uint32_t place) const {
    return taken_ < longer_.number && longer_.place[taken_] < place;
  }
  /// Lists the places of a row that have bits, and those of longer patterns, which are marked.
  LANEWISE_FUNCTION void list_row(std::uint32_t row, bits here) {
    bits are_longer = 0;
    for (; is_longer_in_front_of(row + width); ++taken_)
      are_longer |= bits{1} << (longer_.place[taken_] - row);
    here |= are_longer;
    if (here == 0) return;
    const words is_longer =
        lanewise::select(warp_.template mask_of<std::uint32_t>(are_longer), words(1u), words(0u));
    number_ += warp_.compress_store(listed_ + number_, warp_.template mask_of<std::uint32_t>(here),
                                    (warp_.lane() + words(row)) << 1 | is_longer);
  }
  /// Calls f for the first W that are listed, or all.
  template <class F>
  LANEWISE_FUNCTION void give(F f) {
    warp_.fence();
    const mask exist = warp_.first(number_ < width ? number_ : width);
    number_ = number_ > width ? number_ - width : 0;
    const mask are_left = warp_.first(number_);
    const words entry = warp_.load(exist, listed_, 0u),
                left = warp_.load(are_left, listed_ + width, 0u), place = entry >> 1;
    warp_.fence();
    warp_.store(are_left, listed_, left);
    words rank = longest(exist, place);
    const mask is_longer = (entry & words(1u)) != 0u;
    if (const int number = warp_.count(is_longer); number > 0) {
      const words upto = warp_.inclusive_scan(entry & words(1u), plus{});
      rank = warp_.gather(is_longer, longer_.rank + given_, upto - words(1u), 0u) |
             lanewise::select(is_longer, words(0u), rank);
      given_ += number;
    }
    f(place, rank);
  }

  /// The longest short pattern at each place, or 0.
  LANEWISE_FUNCTION words longest(const mask& exist, const words& place) const {
    // So many places have all bytes of a short pattern, and (hosts read words) eight.
    const std::int64_t whole = text_.n - first_ - 7;
    const bool are_inside =
        !warp_.any(exist & (place >= static_cast<std::uint32_t>(whole > 0 ? whole : 0)));
    words text = text_of(exist, place, are_inside);
    if (set_.folds_case)
      text = warp_.map([](std::uint32_t w) { return detail::small_letters(w); }, text);
    text = text & words(0xffffffu);
    const words pair = warp_.gather(exist, set_.pairs, text & words(0xffffu), 0u);
    const mask begins = (pair & words(std::uint32_t{short_pairs::begins_triple})) != 0u;
    words rank = pair & words(~std::uint32_t{short_pairs::begins_triple});
    if (warp_.any(begins)) rank = longest_of(begins, text, rank);
    return are_inside ? rank : inside(place, rank);
  }
  /// The first bytes from a place on.
  LANEWISE_FUNCTION words text_of(const mask& exist, const words& place, bool are_inside) const {
    if constexpr (Warp::words_of_text == 1) {
      if (are_inside) {
        const words at = lanewise::select(exist, place, words(0u)), index = at >> 2,
                    past = (at & words(3u)) << 3;
        const unsigned char* const begin = text_.data + first_;
        return warp_.template gather_unaligned<std::uint32_t>(begin, index) >> past |
               warp_.template gather_unaligned<std::uint32_t>(begin + 4, index)
                   << 1 << (words(31u) - past);
      }
    }
    const set_text mine{text_, set_};
    return warp_.map(
        exist, [=, first = first_](std::uint32_t p) { return mine.word(first + p); }, 0u, place);
  }
  /// The same where patterns of three bytes may begin, which have slots; where not, ranks remain.
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
  /// Of patterns that begin at the end of the text, those that end in it.
  LANEWISE_RARE_FUNCTION words inside(const words& place, const words& rank) const {
    return warp_.map(
        [left = text_.n - first_, size = set_.size, prefix = set_.prefix](std::uint32_t r,
                                                                          std::uint32_t p) {
          while (r != 0 && std::int64_t{p} + size[r] > left) r = prefix[r];
          return r;
        },
        rank, place);
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  std::uint32_t* listed_;
  std::int64_t first_;
  std::uint32_t places_;
  hits longer_;
  bucket_filter<Warp, short_pairs::most_bytes> buckets_;
  int number_ = 0, taken_ = 0, given_ = 0;  // listed; of the longer ones listed, and given
};

}  // namespace detail
LANEWISE_END_NAMESPACE
