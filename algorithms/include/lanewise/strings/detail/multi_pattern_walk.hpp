// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_text.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The longest pattern of each of some neighbouring positions, as ranks in scratch.
template <class Warp>
struct position_ranks {
  using words = lanes_t<Warp, std::uint32_t>;

  std::uint32_t* ranks;

  LANEWISE_FUNCTION void put(const Warp& warp, const words& position, const words& rank) const {
    warp.scatter(ranks, slot_of(position), rank);
  }
  /// Calls f(begin + positions, ranks) for positions [0, end), W at a time and in order. Skips W
  /// positions without patterns.
  template <class F>
  LANEWISE_FUNCTION void each(const Warp& warp, int end, int begin, F f) const {
    for (int p = 0; p < end; p += Warp::width) {
      const words position = warp.lane() + words(static_cast<std::uint32_t>(p));
      const words rank = warp.gather(ranks, slot_of(position));
      if (warp.any(rank != 0u)) f(position + words(static_cast<std::uint32_t>(begin)), rank);
    }
    warp.fence();
  }

 private:
  /// Lanes that put ranks of positions 16 or 32 apart reach different banks.
  static LANEWISE_FUNCTION words slot_of(const words& position) {
    return position ^ (position >> 5 & words(31u));
  }
};

/// Walks the automaton of a set over positions of a text, half a step at a time.
template <class Warp>
class multi_pattern_walk {
 public:
  static constexpr int width = Warp::width;
  /// A lane has this number of neighbouring positions of half a step.
  static constexpr int positions_per_lane = 16;
  using words = lanes_t<Warp, std::uint32_t>;

  /// best: 16 W words of scratch.
  LANEWISE_FUNCTION multi_pattern_walk(const Warp& warp, const text_bytes& text,
                                       const pattern_set_view& set, std::uint32_t* best)
      : warp_(warp), text_(text), set_(set), best_{best} {}

  /// Calls f(positions, ranks) for the 32 W positions from `first` on, W at a time: the longest
  /// pattern of each, or 0. The first position counts as `begin`.
  template <class F>
  LANEWISE_FUNCTION void each_position(std::int64_t first, int begin, F f) const {
    for (int half = 0; half < 32 * width; half += positions_per_lane * width) {
      fill_best(first + half);
      best_.each(warp_, positions_per_lane * width, begin + half, f);
    }
  }

 private:
  /// Each lane begins `depth` bytes after its positions, as its state depends on no more.
  LANEWISE_SEPARATE_FUNCTION void fill_best(std::int64_t base) const {
    const multi_pattern_text mine{text_, set_};
    words state = warp_.map(
        [=](std::uint32_t lane) {
          const std::int64_t to = base + positions_per_lane * (std::int64_t{lane} + 1);
          std::uint32_t s = 0;
          for (std::int64_t p = to + mine.set.depth - 2; p >= to; --p)
            if (p < mine.text.n) s = mine.next(s, p);
          return s;
        },
        warp_.lane());
    for (std::uint32_t i = positions_per_lane; i-- > 0;) {
      const words index = warp_.lane() * words(std::uint32_t{positions_per_lane}) + words(i);
      state = warp_.map(
          [=](std::uint32_t s, std::uint32_t x) {
            const std::int64_t p = base + x;
            return p < mine.text.n ? mine.next(s, p) : s;
          },
          state, index);
      best_.put(warp_, index, longest(base, state, index));
    }
    warp_.fence();
  }
  /// The longest pattern of each state, at positions that are in the text.
  LANEWISE_FUNCTION words longest(std::int64_t base, const words& state, const words& index) const {
    const multi_pattern_text mine{text_, set_};
    const words value = warp_.map(
        [=](std::uint32_t s, std::uint32_t i) {
          return base + i < mine.text.n ? mine.set.states[s].value : 0u;
        },
        state, index);
    return warp_.any(value >= set_state::is_group) ? longest_of_groups(base, value, index) : value;
  }
  LANEWISE_RARE_FUNCTION words longest_of_groups(std::int64_t base, const words& value,
                                                 const words& index) const {
    const multi_pattern_text mine{text_, set_};
    words rank = value, position = index;
    warp_.each(
        value >= set_state::is_group,
        [=](std::uint32_t& r, std::uint32_t i) {
          const long_group group = mine.set.groups[r & ~set_state::is_group];
          r = group.otherwise;
          for (std::uint32_t g = group.begin; g < group.end; ++g)
            if (mine.is_at(base + i, mine.set.longs[g])) {
              r = mine.set.longs[g];
              break;
            }
        },
        rank, position);
    return rank;
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  position_ranks<Warp> best_;
};

/// Finds the patterns that begin in a step of 32 W positions, by byte_transitions. A lane has 32
/// neighbouring positions, whose bytes it reads backwards, after the bytes on which its state
/// depends. The longest pattern of each position is then in scratch.
template <class Warp>
class transition_finder {
 public:
  static constexpr int width = Warp::width;
  static constexpr int positions = 32 * width;
  using words = lanes_t<Warp, std::uint32_t>;

  struct scratch {
    std::uint32_t rank[positions];
  };

  LANEWISE_FUNCTION transition_finder(const Warp& warp, const text_bytes& text,
                                      const pattern_set_view& set, scratch& shared)
      : warp_(warp), text_(text), set_(set), ranks_{shared.rank} {}

  /// Finds the longest pattern of each position from `first` on. Returns how many patterns begin at
  /// each lane's positions, or at how many of these any does. classes: a copy in scratch.
  LANEWISE_FUNCTION words search(const std::uint32_t* classes, std::int64_t first,
                                 bool counts_positions) const {
    const byte_transitions& automaton = set_.transitions;
    const int ahead = (automaton.depth + 2) / 4;
    const bool is_inside = first >= 4 && first + positions + 4 * ahead + 8 <= text_.n;
    const auto load = [&](int i) LANEWISE_INLINE_LAMBDA {
      return is_inside ? text_of(first + 4 * i) : text_at_edge(first + 4 * i);
    };
    words row(0u), number(0u), next = load(7 + ahead);
    for (int i = 8 + ahead; i-- > 0;) {
      const words in = next;
      if (i > 0) next = load(i - 1);
      LANEWISE_UNROLL
      for (int b = 3; b >= 0; --b) {
        const words entry = warp_.gather(
            automaton.entries, row + warp_.gather_scratch(classes, in >> 8 * b & words(0xffu)));
        row = byte_transitions::row_of(entry);
        if (i >= 8) continue;
        const words patterns = byte_transitions::patterns_of(entry);
        const auto is_there = patterns != 0u;
        number = number +
                 (counts_positions ? lanewise::select(is_there, words(1u), words(0u)) : patterns);
        ranks_.put(warp_, warp_.lane() * words(32u) + words(static_cast<std::uint32_t>(4 * i + b)),
                   warp_.gather(is_there, automaton.entries + (automaton.row - 1), row, 0u));
      }
    }
    warp_.fence();
    return number;
  }
  /// Calls f(positions, ranks) for the positions of the step that was searched, as position_ranks
  /// does.
  template <class F>
  LANEWISE_FUNCTION void each_position(F f) const {
    ranks_.each(warp_, positions, 0, f);
  }

 private:
  /// The words at every 32nd byte from one on.
  LANEWISE_FUNCTION words text_of(std::int64_t first) const {
    const multi_pattern_text mine{text_, set_};
    return warp_.map([=](std::uint32_t lane) { return mine.word(first + 32 * std::int64_t{lane}); },
                     warp_.lane());
  }
  LANEWISE_RARE_FUNCTION words text_at_edge(std::int64_t first) const {
    return warp_.map(
        [=, text = text_, other = set_.transitions.other](std::uint32_t lane) {
          std::uint32_t word = 0;
          for (int b = 0; b < 4; ++b) {
            const std::int64_t position = first + 32 * std::int64_t{lane} + b;
            word |= (position < text.n ? text.data[position] : other) << 8 * b;
          }
          return word;
        },
        warp_.lane());
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  position_ranks<Warp> ranks_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
