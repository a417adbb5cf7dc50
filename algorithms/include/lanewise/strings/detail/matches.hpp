// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/comparisons.hpp>
#include <lanewise/strings/detail/stretches.hpp>
#include <lanewise/strings/detail/text_scan.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a warp knows of the text that it has compared. It lies in scratch, as it is seldom read and
/// registers are few.
struct compared_text {
  std::int64_t position = 0, bytes = 0;     ///< the pattern's first `bytes` bytes are there
  std::int64_t run_begin = 0, run_end = 0;  ///< the pattern, and the bytes that continue its period
  bool run_goes_on = false;                 ///< as far as the text was compared
};

/// Finds the positions of a pattern of up to 4 bytes, which are all that the filter passes, and of
/// runs of equal bytes.
template <class Warp>
class short_finder {
 public:
  using steps = text_steps<Warp>;
  using words = typename steps::words;

  LANEWISE_FUNCTION short_finder(const Warp& warp, const text_bytes& text,
                                 const pattern_view& pattern, std::int64_t first, int number)
      : text_(text), pattern_(pattern), warp_(warp), steps_(warp, text, pattern, first, number) {}

  LANEWISE_FUNCTION const steps& steps_of() const { return steps_; }
  /// Returns the bits of a step (text_steps). After a step without positions, a test for any
  /// position comes first, which costs half as much.
  LANEWISE_RARE_FUNCTION words find(int step) {
    if constexpr (finds_runs<Warp>)
      if (pattern_.is_run()) return find_runs(step);
    if (!steps_.is_inside(step))
      return detail::passing_at_edge(warp_, text_, pattern_, steps_.first_of(step));
    const words found =
        detail::with_short_kind(pattern_.filter.how, [&](auto how) LANEWISE_INLINE_LAMBDA {
          constexpr auto kind = decltype(how)::value;
          if constexpr (kind != pattern_filter::kind::one_byte) {
            if (is_sparse_ && !steps_.template passes<kind>(step)) return words(0u);
          }
          return steps_.template passing<kind>(step);
        });
    is_sparse_ = !warp_.any(found != 0u);
    return found;
  }
  /// The bits of the few positions [first, first + n), n <= W.
  LANEWISE_RARE_FUNCTION std::uint32_t find_few(std::int64_t first, int n) const {
    return static_cast<std::uint32_t>(
        warp_.ballot(steps_.begins(first, warp_.lane()) & warp_.first(n)));
  }

 private:
  /// A run may go on in the next step, whose bytes are kept until it is searched.
  LANEWISE_FUNCTION words find_runs(int step) {
    const words here = step == next_step_ ? next_ : equal_bytes(step);
    next_ = equal_bytes(step + 1);
    next_step_ = step + 1;
    if (!warp_.any(here != 0u)) return here;
    return detail::first_of_runs(warp_, here, static_cast<int>(pattern_.size),
                                 detail::first_set(warp_, next_));
  }

  LANEWISE_FUNCTION words equal_bytes(int step) const {
    if (steps_.is_full(step)) return steps_.template passing<pattern_filter::kind::one_byte>(step);
    return detail::equal_bytes_at_edge(warp_, text_, pattern_, steps_.first_of(step));
  }

  const text_bytes& text_;
  const pattern_view& pattern_;
  const Warp& warp_;
  steps steps_;
  bool is_sparse_ = true;
  words next_ = words(0u);
  int next_step_ = -1;
};

/// What the warps of a team share when they compare together.
template <class Team>
struct comparison_scratch {
  compared_text of_warp[Team::warps];
  std::int64_t mismatch[Team::warps];
};

/// All positions of a step, if they lie `period` apart.
struct position_run {
  std::int64_t first, period;
  std::uint32_t number;
};
/// Functions that take such steps as run(step, run), without bits.
template <class F>
concept takes_runs = requires(std::remove_reference_t<F>& f, const position_run& run) {
  f.run(0, run);
};

/// Finds the positions of a longer pattern: it compares each position that the filter passes with
/// all bytes of the pattern. `together`: all warps of the team search the same steps and share the
/// comparisons.
template <class Team>
class match_finder {
 public:
  using Warp = typename Team::warp_type;
  using steps = text_steps<Warp>;
  using words = typename steps::words;

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

  /// Call it before another text, and before positions that precede the last ones.
  LANEWISE_FUNCTION void forget() const { remember({}); }

  LANEWISE_FUNCTION const steps& steps_of() const { return steps_; }
  /// The bits of a step.
  LANEWISE_RARE_FUNCTION words find(int step) const {
    const std::int64_t first = steps_.first_of(step);
    return is_in_run(first) ? keep_in_run(first, words(0u)) : find_out_of_run(step);
  }
  /// Calls f(number, first, bits) for a step that the caller knows as `number`.
  template <class F>
  LANEWISE_FUNCTION void report(int step, int number, F& f) const {
    if constexpr (takes_runs<F>) {
      const std::int64_t first = steps_.first_of(step);
      if (!is_in_run(first)) {
        f(number, text_.begin + first, find_out_of_run(step));
      } else if (fills(first)) {
        f.run(number, run_from(first));
      } else {
        f(number, text_.begin + first, keep_in_run(first, words(0u)));
      }
    } else {
      f(number, text_.begin + steps_.first_of(step), find(step));
    }
  }

 private:
  LANEWISE_RARE_FUNCTION words find_out_of_run(int step) const {
    const std::int64_t first = steps_.first_of(step);
    words found(0u);
    if (steps_.is_inside(step) && stretches::is_inside(pattern_, first)) {
      found = pattern_.stretch.exists() ? passing_with_stretch(step) : passing(step);
      if (warp_.any(found != 0u)) verify(first, found);
    } else {
      found = steps_.passing_at_edge(step);
      if (!pattern_.is_exact()) verify_in_order(first, found);
    }
    return found;
  }
  static constexpr int width = Warp::width;
  static constexpr int k = steps::k;
  static constexpr int rows = steps::rows;
  static constexpr int row_positions = steps::row_positions;
  static constexpr std::uint32_t row_bits = steps::row_bits;
  static constexpr int positions = steps::positions;
  using kind = pattern_filter::kind;
  using stretches = stretch_finder<Warp>;

  LANEWISE_FUNCTION words passing(int step) const {
    if (pattern_.filter.how == kind::every_word)
      return steps_.template passing<kind::every_word>(step);
    if (pattern_.filter.how == kind::every_folded_word)
      return steps_.template passing<kind::every_folded_word>(step);
    return steps_.template passing<kind::up_to_eight_bytes>(step);
  }
  /// Keeps the positions where all of the pattern matches. Many of them may be a run; if not, each
  /// lane first compares some words for its own positions.
  LANEWISE_FUNCTION void verify(std::int64_t first, words& found) const {
    if (pattern_.is_exact()) return;
    if (pattern_.stretch.is_decisive) return verify_stretches(first, found);
    if (first >= 4 && number_of(found) > 4) {
      if (2 * pattern_.period <= pattern_.size && is_at(first + lowest_position(found)) &&
          is_in_run(first)) {
        found = keep_in_run(first, found);
        return;
      }
      found = compare_some(first, found);
      if (pattern_.size <= 4 * compared_words<Warp>) return;
    }
    verify_in_order(first, found);
  }
  /// As `passing`, for a pattern that has a stretch: without one in the text nothing else is
  /// tested.
  LANEWISE_RARE_FUNCTION words passing_with_stretch(int step) const {
    const words found = stretches(warp_, text_, pattern_, steps_.first_of(step)).find();
    if (!warp_.any(found != 0u)) return found;
    const words here = steps::as_found(warp_, found);
    return pattern_.stretch.is_decisive ? here : here & passing(step);
  }
  /// Verifies positions of a pattern whose stretch is decisive: only positions at the end of the
  /// step may be unknown. If they are enough, they are a run from the first one on. If none is
  /// unknown, only a run that fills the step is used.
  LANEWISE_FUNCTION void verify_stretches(std::int64_t first, words& found) const {
    const std::int64_t room = positions + stretches::known_after(pattern_.stretch);
    const bool is_known = room - pattern_.stretch.pairs >= positions;
    const std::int64_t lowest = lowest_position(found);
    if (is_known && lowest >= pattern_.period) return;
    const std::int64_t number = number_of(found);
    if (2 * pattern_.period <= pattern_.size && number > 4 &&
        lowest + number * pattern_.period >= positions && is_at(first + lowest) &&
        is_in_run(first)) {
      found = keep_in_run(first, found);
      return;
    }
    if (is_known) return;
    const words last = steps_.positions_between(room - pattern_.stretch.pairs, positions);
    words unknown = found & last;
    if (!warp_.any(unknown != 0u)) return;
    verify_in_order(first, unknown);
    found = (found & ~last) | unknown;
  }
  LANEWISE_FUNCTION std::uint32_t number_of(const words& found) const {
    return warp_.reduce(detail::bits_set(warp_, found), plus{});
  }
  /// Returns the lowest position, if there is one.
  LANEWISE_FUNCTION std::uint32_t lowest_position(const words& found) const {
    return warp_.reduce(warp_.map(
                            [](std::uint32_t bits, std::uint32_t lane) {
                              return bits == 0 ? ~0u : steps::position_of(bits, lane);
                            },
                            found, warp_.lane()),
                        minimum{});
  }
  /// Keeps the positions where some words of the pattern match, one lane for each position. These
  /// are all words of a short pattern.
  LANEWISE_FUNCTION words compare_some(std::int64_t first, const words& found) const {
    const auto all = static_cast<std::uint32_t>((pattern_.size + 3) / 4);
    return detail::compare_words(warp_, text_.data + first, pattern_.words, pattern_.cares, all,
                                 pattern_.stride, found);
  }
  /// Whether the text continues the pattern's period from a match on, to the end of what a step
  /// needs, or of the text. Then the pattern matches once in each period, and nowhere else.
  LANEWISE_RARE_FUNCTION bool is_in_run(std::int64_t first) const {
    const std::int64_t end = first + positions + pattern_.size;
    const std::int64_t wanted = end < text_.n ? end : text_.n;
    compared_text known = compared_;
    if (!known.run_goes_on || known.run_end + pattern_.period < first + pattern_.size) return false;
    if (known.run_end < wanted) {
      known.run_end =
          detail::end_of_run(warp_, text_, pattern_, known.run_begin, known.run_end, wanted);
      known.run_goes_on = known.run_end >= wanted;
      remember(known);
    }
    return known.run_end >= wanted;
  }
  LANEWISE_FUNCTION void remember(const compared_text& known) const {
    warp_.fence();
    warp_.once([&] { compared_ = known; });
    warp_.fence();
  }
  /// Whether all positions of a step are in the run that reaches it.
  LANEWISE_FUNCTION bool fills(std::int64_t first) const {
    return compared_.run_begin <= first && first + positions + pattern_.size <= text_.n + 1;
  }
  LANEWISE_FUNCTION position_run run_from(std::int64_t first) const {
    const auto past = static_cast<std::uint64_t>(first - compared_.run_begin);
    const auto period = static_cast<std::uint64_t>(pattern_.period);
    // No 64-bit division where 32 bits are enough.
    const std::uint64_t o = (past | period) >> 32 == 0 ? static_cast<std::uint32_t>(past) %
                                                             static_cast<std::uint32_t>(period)
                                                       : past % period;
    const std::uint64_t next = o == 0 ? 0 : period - o;
    return {text_.begin + first + static_cast<std::int64_t>(next), pattern_.period,
            next < positions ? static_cast<std::uint32_t>((positions - 1 - next) / period) + 1 : 0};
  }
  /// Keeps the positions before the run, and from its begin on one for each period.
  LANEWISE_RARE_FUNCTION words keep_in_run(std::int64_t first, const words& found) const {
    // Some periods are added where the run began before the step.
    const std::int64_t after = compared_.run_begin - first;
    const auto period = static_cast<std::uint32_t>(pattern_.period);
    const auto begin = static_cast<std::uint32_t>(after > 0 ? after : 0);
    const auto past = static_cast<std::uint32_t>(after > 0 ? 0 : -after % pattern_.period);
    const std::int64_t room = text_.n - pattern_.size + 1 - first;
    const auto end = static_cast<std::uint32_t>(room < 0 ? 0 : room < positions ? room : positions);
    constexpr std::uint32_t of_row = 4 * k;
    words kept(0u);
    for (std::uint32_t r = 0; r < rows; ++r)
      kept = kept | warp_.map(
                        [=](std::uint32_t bits, std::uint32_t lane) {
                          const std::uint32_t at = r * row_positions + of_row * lane;
                          const std::uint32_t out = at < begin ? begin - at : 0;
                          const std::uint32_t here = bits >> of_row * r & row_bits;
                          if (out >= of_row) return here << of_row * r;
                          const std::uint32_t o = (at + out - begin + past) % period;
                          const std::uint32_t next = out + (o == 0 ? 0 : period - o);
                          std::uint32_t run = next < of_row ? 1u << next : 0;
                          for (std::uint32_t d = period; d < of_row; d *= 2) run |= run << d;
                          if (at + of_row > end) run &= end > at ? (1u << (end - at)) - 1 : 0;
                          return ((here & ((1u << out) - 1)) | (run & row_bits)) << of_row * r;
                        },
                        found, warp_.lane());
    return kept;
  }
  /// Keeps the positions where all of the pattern matches. All lanes compare one position after the
  /// other.
  LANEWISE_RARE_FUNCTION void verify_in_order(std::int64_t first, words& found) const {
    for (int r = 0; r < rows; ++r) {
      const std::int64_t begin = first + r * row_positions;
      for (auto todo = lanes_of_row(found, r); todo != 0; todo &= todo - 1) {
        const int lane = Warp::lowest(todo);
        const std::uint32_t bits_here = warp_.broadcast(found, lane) >> 4 * k * r & row_bits;
        for (std::uint32_t bits = bits_here; bits != 0; bits &= bits - 1) {
          const std::int64_t position = begin + 4 * k * lane + Warp::lowest(bits);
          if (!is_at(position)) {
            const std::int64_t end = end_of_ruled_out(position);
            found = found & ~steps_.positions_between(position - first, end - first);
            if (end == position + 1) continue;
            bits &= warp_.broadcast(found, lane) >> 4 * k * r | (bits & (~bits + 1));
            todo &= lanes_of_row(found, r) | (todo & (~todo + 1));
          } else if (is_in_run(first)) {
            found = keep_in_run(first, found);
            return;
          }
        }
      }
    }
  }
  /// Which lanes have positions in a row.
  LANEWISE_FUNCTION auto lanes_of_row(const words& found, int r) const {
    return warp_.ballot((found & words(row_bits << 4 * k * r)) != 0u);
  }
  /// Returns the next position at which the pattern may be, if it is not at `position`. If a byte
  /// of the text breaks a stretch, no position fits whose stretch contains that byte.
  LANEWISE_FUNCTION std::int64_t end_of_ruled_out(std::int64_t position) const {
    const pattern_stretch& stretch = pattern_.stretch;
    const compared_text known = compared_;
    if (known.position != position || !stretch.repeats_at(known.bytes)) return position + 1;
    return position + known.bytes - stretch.period - stretch.begin + 1;
  }
  /// Whether the pattern is at a position that has room for it. Positions come in ascending order.
  ///
  /// An earlier position has some first bytes of the pattern. So d bytes after it the text has the
  /// pattern's bytes from d on. The first repeats[d] of them equal the pattern's begin. If these
  /// are fewer than are known, the pattern is not there. Else the comparison continues where the
  /// earlier one ended, so bytes of the text are compared once.
  LANEWISE_RARE_FUNCTION bool is_at(std::int64_t position) const {
    compared_text known = compared_;
    if (position + pattern_.size <= known.run_end && position >= known.run_begin)
      return (position - known.run_begin) % pattern_.period == 0;
    if (position == known.position && known.bytes > 0) return known.bytes == pattern_.size;
    const std::int64_t d = position - known.position, left = known.bytes - d;
    const bool was_seen = pattern_.repeats != nullptr && left > 0;
    if (was_seen && std::int64_t{pattern_.repeats[d]} < left) return false;
    known.position = position;
    known.bytes = agreed(position, was_seen ? left : 0);
    const bool is_there = known.bytes == pattern_.size;
    if (is_there && 2 * pattern_.period <= pattern_.size) {
      known.run_begin = position;
      known.run_end = position + pattern_.size;
      known.run_goes_on = true;
    }
    remember(known);
    return is_there;
  }
  /// Returns how many bytes of the pattern match at a position. The first `known` are known to
  /// match. A mismatch mostly comes early: after the first row, a warp loads eight rows at once.
  /// Warps that compare together load eight rows each.
  LANEWISE_FUNCTION std::int64_t agreed(std::int64_t position, std::int64_t known) const {
    constexpr int bytes = 4 * width;
    const std::int64_t begin = known / 4 * 4;
    const std::int64_t early = mismatch_in_row(position, begin);
    if (early < pattern_.size) return early;
    const int warps = together_ ? Team::warps : 1, mine = together_ ? team_.warp_index() : 0;
    for (std::int64_t i = begin + bytes; i < pattern_.size; i += warps * rows_at_once * bytes) {
      const std::int64_t here = least(first_mismatch(position, i + mine * rows_at_once * bytes));
      if (here < pattern_.size) return here;
    }
    return pattern_.size;
  }
  /// Returns the first byte that differs in some rows of words, from byte i of the pattern on.
  /// Returns the pattern's size if none does.
  LANEWISE_RARE_FUNCTION std::int64_t first_mismatch(std::int64_t position, std::int64_t i) const {
    constexpr int row = 4 * width, many = rows_at_once * row;
    std::int64_t at = pattern_.size;
    if (position + i >= 4 && position + i + many + 4 <= text_.n) {
      const int same =
          detail::first_difference<rows_at_once>(warp_, [&](int t) LANEWISE_INLINE_LAMBDA {
            return difference(detail::text_row(warp_, text_, position + i + t * row), i + t * row);
          });
      if (same < many) at = i + same;
    } else {
      for (int t = 0; t < rows_at_once && at == pattern_.size; ++t)
        at = mismatch_in_row(position, i + t * row);
    }
    return at;
  }
  /// As first_mismatch, for one row.
  LANEWISE_RARE_FUNCTION std::int64_t mismatch_in_row(std::int64_t position, std::int64_t i) const {
    const int same = detail::first_difference<1>(warp_, [&](int) LANEWISE_INLINE_LAMBDA {
      return difference(detail::text_words(warp_, text_, position + i, pattern_.size - i), i);
    });
    return same == 4 * width ? pattern_.size : i + same;
  }
  /// Returns the minimum over the warps that compare together.
  LANEWISE_FUNCTION std::int64_t least(std::int64_t mine) const {
    if (!together_) return mine;
    team_.barrier();
    warp_.once([&] { shared_.mismatch[team_.warp_index()] = mine; });
    team_.barrier();
    for (int w = 0; w < Team::warps; ++w)
      if (shared_.mismatch[w] < mine) mine = shared_.mismatch[w];
    return mine;
  }
  /// The bits of words of the text that differ from the pattern's, from byte i on.
  LANEWISE_FUNCTION words difference(const words& text, std::int64_t i) const {
    const std::int64_t left = pattern_.size - i;
    const auto there =
        warp_.first(left > 4 * width ? width : static_cast<int>((left < 0 ? 0 : left + 3) / 4));
    const words word = warp_.load(there, pattern_.words + i / 4, 0u);
    const words care = warp_.load(there, pattern_.cares + i / 4, 0u);
    return (text & care) ^ word;
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
