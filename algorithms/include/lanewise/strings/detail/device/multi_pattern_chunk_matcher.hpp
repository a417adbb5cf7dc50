// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/strings/detail/device/multi_pattern_chunk_filter.hpp>
#include <lanewise/strings/detail/multi_pattern_candidates.hpp>
#include <lanewise/strings/detail/multi_pattern_walk.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Finds the positions of a set's patterns as multi_pattern_finder does, in the chunks that are
/// marked. Each lane has the next marked chunk, however far it is. So all lanes have work where few
/// chunks are marked.
///
/// All of it is in registers: only inlined functions get references to it. No cache holds 576 bytes
/// of local memory for each of 1,024 lanes. Measured: with these, a warp waited 0.6 us for a
/// counter and 27 us for its steps of a block.
template <class Warp, bool many>
class chunk_matcher {
 public:
  static constexpr int width = Warp::width;
  static constexpr int positions = 32 * width;  ///< of a step
  using words = lanes_t<Warp, std::uint32_t>;
  using candidates_type = multi_pattern_candidates<Warp, true>;
  using scratch = typename candidates_type::scratch;

  /// Searches positions [first, first + 32 W steps). marks: null if all chunks are searched. span:
  /// the number of steps to begin with; the next matcher begins with what it has become.
  LANEWISE_FUNCTION chunk_matcher(const Warp& warp, const text_bytes& text,
                                  const pattern_set_view& set, const std::uint32_t* filter,
                                  const std::uint32_t* marks, scratch& shared, std::int64_t first,
                                  int steps, int& span)
      : warp_(warp),
        text_(text),
        set_(set),
        chunks_(text_chunks::make(text, set.probes)),
        filter_(filter),
        marks_(marks),
        best_(shared.words),
        candidates_(warp, text, set, shared),
        first_(first),
        steps_(steps),
        span_(span) {}

  /// As multi_pattern_finder.
  template <class F>
  LANEWISE_FUNCTION void find(F f) {
    constexpr int most_span = 32, most_by_automaton = 8, most_turns = 64;
    const std::int64_t left = text_.n - first_, wanted = std::int64_t{steps_} * positions;
    const int all = static_cast<int>(left < wanted ? left : wanted);
    const int unit = marks_ == nullptr ? unmarked_positions : positions;
    // A step by the automaton takes as long as hundreds of others. So a span of 0 means a quarter
    // of a step; and if one has too many hits, the next may have few.
    int by_automaton = 0, next_by_automaton = 1;
    for (int at = 0; at < all;) {
      if (by_automaton > 0) {
        ask_automaton(at, all, f);
        --by_automaton;
        at += positions;
        continue;
      }
      const int wanted_now = span_ == 0 ? unit / 128 * 32 : span_ * unit;
      const int now = wanted_now < all - at ? wanted_now : all - at;
      const std::int64_t first = first_ + at;
      candidates_.begin(first, static_cast<std::uint32_t>(now),
                        span_ == 0 ? most_turns : most_turns * span_);
      search(first, first + now + most_ahead, first - candidates_type::reach);
      if (candidates_.is_full()) {
        if (span_ == 0) {
          by_automaton = next_by_automaton;
          if (next_by_automaton < most_by_automaton) next_by_automaton *= 2;
        } else {
          span_ /= 2;
        }
        continue;
      }
      next_by_automaton = 1;
      candidates_.each_position([&](const words& position, const words& ranks)
                                    LANEWISE_INLINE_LAMBDA {
                                      f(position + words(static_cast<std::uint32_t>(at)), ranks);
                                    });
      if (candidates_.hits() < candidates_type::most_hits / 4 && span_ < most_span)
        span_ = span_ == 0 ? 1 : 2 * span_;
      at += now;
    }
  }

 private:
  using kind = stride4_windows::kind;
  /// Windows begin no further after their patterns.
  static constexpr int most_ahead = 48;
  /// The windows of this number of positions are in W chunks, wherever the positions are.
  static constexpr int unmarked_positions = positions - 96;

  /// Looks up the windows that begin at bytes [begin, end) of the text, and some before and after.
  /// The candidates count bytes from `base` on.
  LANEWISE_FUNCTION void search(std::int64_t begin, std::int64_t end, std::int64_t base) {
    const std::int64_t all = chunks_.chunks(), last = chunks_.chunk_of(end + 31);
    const std::int64_t from = chunks_.chunk_of(begin), to = last < all ? last : all;
    std::int64_t next = marks_ == nullptr ? from : from / width * width;
    words marks(0u), upto(0u);
    std::uint32_t total = 0, done = 0;
    bool are_some = false;
    for (bool are_last = false; !are_last && !candidates_.is_full(); done += width) {
      while (done >= total && next < to) {
        begin_ = next;
        done = 0;
        if (marks_ == nullptr) {
          total = static_cast<std::uint32_t>(to - next < width ? to - next : width);
          next += width;
        } else {
          marks = marks_of(next, from, to);
          upto = warp_.inclusive_scan(detail::bits_set(warp_, marks), plus{});
          total = warp_.broadcast(upto, width - 1);
          next += width * width;
        }
      }
      if (total == 0 && !are_some) return;
      are_some = true;
      are_last = done + width >= total && next >= to;
      scan_chunks(marks_ == nullptr ? warp_.lane() : marked(marks, upto, done, total),
                  done < total ? total - done : 0, base, are_last);
    }
  }
  /// The marks of chunks [from, to) in W words. The first word has chunk w.
  LANEWISE_FUNCTION words marks_of(std::int64_t w, std::int64_t from, std::int64_t to) const {
    const std::int64_t left = divide_up(to - w, std::int64_t{width});
    return warp_.map(
        [=](std::uint32_t bits, std::uint32_t lane) {
          const std::int64_t first = w + std::int64_t{lane} * width;
          if (first < from) bits &= from - first < width ? ~0u << (from - first) : 0u;
          if (first + width > to) bits &= first < to ? (1u << (to - first)) - 1 : 0u;
          return bits;
        },
        warp_.load(warp_.first(left), marks_ + w / width, 0u), warp_.lane());
  }
  /// Which chunk each lane has: those marked from number `done` on.
  LANEWISE_FUNCTION words marked(const words& marks, const words& upto, std::uint32_t done,
                                 std::uint32_t total) const {
    const words task = warp_.lane() + words(done), owner = detail::owner_of(warp_, upto, task);
    const words all = warp_.shuffle(marks, owner);
    const words before = warp_.shuffle(upto - detail::bits_set(warp_, marks), owner);
    return warp_.map(
        [total](std::uint32_t bits, std::uint32_t t, std::uint32_t first, std::uint32_t word) {
          if (t >= total) return 0u;
          for (std::uint32_t k = t - first; k > 0; --k) bits &= bits - 1;
          return word * width + static_cast<std::uint32_t>(Warp::popcount((bits & (0 - bits)) - 1));
        },
        all, task, before, owner);
  }
  /// Scans the chunks begin_ + index of the first `number` lanes.
  LANEWISE_FUNCTION void scan_chunks(const words& index, std::uint32_t number, std::int64_t base,
                                     bool are_last) {
    words row[12];
    const aligned_text text = chunks_.text;
    const std::int64_t first = begin_;
    const words inside =
        warp_.map([=](std::uint32_t c) { return text.has(32 * (first + c), 48) ? 1u : 0u; }, index);
    if (!warp_.any(inside == 0u)) {
      chunks_.load(warp_, first, index, row);
    } else {
      chunks_.load_at_edge(warp_, first, index, row);
    }
    words bits[2] = {words(0u), words(0u)};
    const auto exist = warp_.first(number);
    if (set_.probes.how == kind::with_sides) {
      probe<kind::with_sides>(row, exist, bits);
    } else if (many && set_.probes.how == kind::with_after) {
      probe<many ? kind::with_after : kind::every_word>(row, exist, bits);
    } else {
      probe<many ? kind::every_byte : kind::every_word>(row, exist, bits);
    }
    if (!are_last && !warp_.any((bits[0] | bits[1]) != 0u)) return;
    const auto from = static_cast<std::uint32_t>(chunks_.byte_of(first) - base);
    candidates_.add_here(index * words(32u) + words(from), bits, are_last);
  }
  template <kind how, class Mask>
  LANEWISE_FUNCTION void probe(const words (&row)[12], const Mask& exist, words (&bits)[2]) const {
    detail::each_probe<how>(warp_, chunks_.probes, filter_, row,
                            [&](int i, int list, const words& passed) LANEWISE_INLINE_LAMBDA {
                              bits[list] = bits[list] + ((passed & words(1u)) << i);
                            });
    for (int i = 0; i < 2; ++i) bits[i] = lanewise::select(exist, bits[i], words(0u));
  }
  /// Walks the automaton over a step of positions from `at` on; those from `all` on are left out.
  template <class F>
  LANEWISE_FUNCTION void ask_automaton(int at, int all, F f) const {
    // Copies, so that the others need no memory.
    const text_bytes text = text_;
    const pattern_set_view set = set_;
    const Warp warp = warp_;
    const words end(static_cast<std::uint32_t>(all));
    multi_pattern_walk<Warp>(warp, text, set, best_)
        .each_position(first_ + at, at,
                       [&](const words& position, const words& ranks) LANEWISE_INLINE_LAMBDA {
                         f(position, lanewise::select(position < end, ranks, words(0u)));
                       });
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  text_chunks chunks_;
  const std::uint32_t* filter_;
  const std::uint32_t* marks_;
  std::uint32_t* best_;  // the candidates' scratch, while the automaton is walked
  candidates_type candidates_;
  std::int64_t first_, begin_ = 0;
  int steps_;
  int& span_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
