// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/strings/steps.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a warp knows of the text that it has compared. In scratch, as it is seldom asked for, and
/// registers are few.
struct compared_text {
  std::int64_t place = 0, bytes = 0;        ///< the pattern's first bytes are there, so many
  std::int64_t run_begin = 0, run_end = 0;  ///< the pattern, and what goes on with its period
  bool run_goes_on = false;                 ///< as far as was looked
};

/// The places of a text where a pattern of up to 4 bytes begins: those that the filter passes.
template <class Warp>
class short_finder {
 public:
  using steps = text_steps<Warp>;
  using words = typename steps::words;

  LANEWISE_FUNCTION short_finder(const Warp& warp, const text_bytes& text,
                                 const pattern_view& pattern, std::int64_t first, int number)
      : text_(text), pattern_(pattern), warp_(warp), steps_(warp, text, pattern, first, number) {}

  LANEWISE_FUNCTION const steps& steps_of() const { return steps_; }
  /// The bits of a step (text_steps). Whether anything is there at all is asked first, for half the
  /// price, where nothing was in the step before.
  LANEWISE_RARE_FUNCTION words find(int step) {
    if (!steps_.is_inside(step))
      return passing_at_edge(warp_, text_, pattern_, steps_.first_of(step));
    const words found = with_short_kind(pattern_.filter.how, [&](auto how) LANEWISE_INLINE_LAMBDA {
      constexpr auto kind = decltype(how)::value;
      if constexpr (kind != pattern_filter::kind::one_byte) {
        if (is_sparse_ && !steps_.template passes<kind>(step)) return words(0u);
      }
      return steps_.template passing<kind>(step);
    });
    is_sparse_ = !warp_.any(found != 0u);
    return found;
  }
  /// The bits of the few places [first, first + n), n <= W.
  LANEWISE_RARE_FUNCTION std::uint32_t find_few(std::int64_t first, int n) const {
    return static_cast<std::uint32_t>(
        warp_.ballot(steps_.begins(first, warp_.lane()) & warp_.first(n)));
  }

 private:
  const text_bytes& text_;
  const pattern_view& pattern_;
  const Warp& warp_;
  steps steps_;
  bool is_sparse_ = true;
};

/// What the warps of a team have in common where they compare together.
template <class Team>
struct comparison_scratch {
  compared_text of_warp[Team::warps];
  std::int64_t mismatch[Team::warps];
};

/// The places of a text where a longer pattern begins: of steps where the filter passes any, each
/// place that passes is compared with the whole pattern. `together`: all warps of the team ask for
/// the same steps, and share the comparisons.
template <class Team>
class match_finder {
 public:
  using Warp = typename Team::warp_type;
  using steps = text_steps<Warp>;
  using words = typename steps::words;
  using mask = typename steps::mask;

  LANEWISE_FUNCTION match_finder(const Team& team, const Warp& warp, const text_bytes& text,
                                 const pattern_view& pattern, comparison_scratch<Team>& shared,
                                 bool together, std::int64_t first, int number)
      : team_(team),
        warp_(warp),
        text_(text),
        pattern_(pattern),
        shared_(shared),
        compared_(shared.of_warp[team.warp_index()]),
        together_(together),
        steps_(warp, text, pattern, first, number) {}

  /// Begins another text, or places in front of those that were asked for.
  LANEWISE_FUNCTION void forget() const { remember({}); }

  LANEWISE_FUNCTION const steps& steps_of() const { return steps_; }
  /// The bits of a step.
  LANEWISE_RARE_FUNCTION words find(int step) const {
    const std::int64_t first = steps_.first_of(step);
    words found(0u);
    if (steps_.is_inside(step)) {
      found = passing(step);
      verify(first, found);
    } else {
      found = steps_.passing_at_edge(step);
      if (!pattern_.is_exact()) verify_in_order(first, found);
    }
    return found;
  }

 private:
  static constexpr int width = Warp::width;
  static constexpr int k = steps::k;
  static constexpr int rows = steps::rows;
  static constexpr int row_places = steps::row_places;
  static constexpr std::uint32_t row_bits = steps::row_bits;
  static constexpr int places = steps::places;
  using kind = pattern_filter::kind;

  LANEWISE_FUNCTION words passing(int step) const {
    if (pattern_.filter.how == kind::every_word)
      return steps_.template passing<kind::every_word>(step);
    if (pattern_.filter.how == kind::every_folded_word)
      return steps_.template passing<kind::every_folded_word>(step);
    return steps_.template passing<kind::up_to_eight_bytes>(step);
  }
  /// Leaves the places where the whole pattern is. Where there are many, they may be a run; if not,
  /// lanes first compare the beginning, each for its own.
  LANEWISE_FUNCTION void verify(std::int64_t first, words& found) const {
    if (pattern_.is_exact()) return;
    if (is_in_run(first)) return keep_in_run(first, found);
    constexpr std::uint32_t few = 4;
    if (first >= 4 && warp_.reduce(bits_set(warp_, found), plus{}) > few) {
      if (2 * pattern_.period <= pattern_.size && is_at(first + lowest_place(found)) &&
          is_in_run(first))
        return keep_in_run(first, found);
      compare_beginnings(first, found);
      if (pattern_.size <= beginning) return;
    }
    verify_in_order(first, found);
  }
  /// Where some are found.
  LANEWISE_FUNCTION std::uint32_t lowest_place(const words& found) const {
    return warp_.reduce(
        warp_.map([](std::uint32_t bits,
                     std::uint32_t lane) { return bits == 0 ? ~0u : steps::place_of(bits, lane); },
                  found, warp_.lane()),
        minimum{});
  }
  /// So many bytes are compared by lanes. Words of 4 bytes around the places can be read.
  static constexpr std::int64_t beginning = 16 * k;
  LANEWISE_RARE_FUNCTION void compare_beginnings(std::int64_t first, words& found) const {
    const unsigned char* const from = text_.data + first;
    const auto past = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) % 4);
    const auto* const low = reinterpret_cast<const std::uint32_t*>(from - past);
    words rest = found;
    for (; warp_.any(rest != 0u); rest = rest & (rest - words(1u))) {
      const auto byte =
          warp_.map([past](std::uint32_t bits,
                           std::uint32_t lane) { return past + steps::place_of(bits, lane); },
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
  LANEWISE_RARE_FUNCTION bool is_in_run(std::int64_t first) const {
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
  LANEWISE_RARE_FUNCTION void keep_in_run(std::int64_t first, words& found) const {
    if (pattern_.period == 1) return;
    // Some periods are added where the run began before the step.
    const std::int64_t behind = compared_.run_begin - first;
    const auto period = static_cast<std::uint32_t>(pattern_.period);
    const auto begin = static_cast<std::uint32_t>(behind > 0 ? behind : 0);
    const auto past = static_cast<std::uint32_t>(behind > 0 ? 0 : -behind % pattern_.period);
    for (words rest = found; warp_.any(rest != 0u); rest = rest & (rest - words(1u))) {
      const auto is_out = warp_.map(
          [=](std::uint32_t bits, std::uint32_t lane) {
            const std::uint32_t place = steps::place_of(bits, lane);
            return place < begin ? 0u : (place - begin + past) % period;
          },
          rest, warp_.lane());
      found = select(is_out == 0u, found, found & ~(rest & (words(0u) - rest)));
    }
  }
  /// Leaves the places where the whole pattern is, by all lanes for each, in order.
  LANEWISE_RARE_FUNCTION void verify_in_order(std::int64_t first, words& found) const {
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
  LANEWISE_RARE_FUNCTION bool is_at(std::int64_t place) const {
    compared_text known = compared_;
    if (place + pattern_.size <= known.run_end && place >= known.run_begin)
      return (place - known.run_begin) % pattern_.period == 0;
    if (place == known.place && known.bytes > 0) return known.bytes == pattern_.size;
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
  /// mismatch mostly comes early. Behind the first row, eight are on their way at once, and where
  /// warps compare together each has eight of its own.
  LANEWISE_FUNCTION std::int64_t agreed(std::int64_t place, std::int64_t known) const {
    constexpr int bytes = 4 * width, rows_at_once = 8;
    const std::int64_t begin = known / 4 * 4;
    const std::int64_t early = first_mismatch<1>(place, begin);
    if (early < pattern_.size) return early;
    const int warps = together_ ? Team::warps : 1, mine = together_ ? team_.warp_index() : 0;
    for (std::int64_t i = begin + bytes; i < pattern_.size; i += warps * rows_at_once * bytes) {
      const std::int64_t here =
          least(first_mismatch<rows_at_once>(place, i + mine * rows_at_once * bytes));
      if (here < pattern_.size) return here;
    }
    return pattern_.size;
  }
  /// The first byte of some rows of words, from byte i of the pattern on, that is not at a place;
  /// the pattern's size if all are.
  template <int number>
  LANEWISE_RARE_FUNCTION std::int64_t first_mismatch(std::int64_t place, std::int64_t i) const {
    words different[number];
    words any(0u);
    LANEWISE_UNROLL
    for (int t = 0; t < number; ++t) {
      different[t] = difference(place, i + t * 4 * width);
      any = any | different[t];
    }
    if (!warp_.any(any != 0u)) return pattern_.size;
    std::int64_t at = pattern_.size;
    LANEWISE_UNROLL
    for (int t = number - 1; t >= 0; --t) {
      const auto here = warp_.ballot(different[t] != 0u);
      if (here == 0) continue;
      const int lane = Warp::lowest(here);
      at = i + t * 4 * width + 4 * lane + Warp::lowest(warp_.broadcast(different[t], lane)) / 8;
    }
    return at;
  }
  /// The least of what all warps found that compare together.
  LANEWISE_FUNCTION std::int64_t least(std::int64_t mine) const {
    if (!together_) return mine;
    team_.barrier();
    warp_.once([&] { shared_.mismatch[team_.warp_index()] = mine; });
    team_.barrier();
    for (int w = 0; w < Team::warps; ++w)
      if (shared_.mismatch[w] < mine) mine = shared_.mismatch[w];
    return mine;
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
  LANEWISE_RARE_FUNCTION words text_words(std::int64_t from, std::int64_t left) const {
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

  const Team& team_;
  const Warp& warp_;
  const text_bytes& text_;
  const pattern_view& pattern_;
  comparison_scratch<Team>& shared_;
  compared_text& compared_;
  bool together_;
  steps steps_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
