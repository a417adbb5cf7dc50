// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_text.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The places of a step of 32 W places where patterns of a set begin, by byte_transitions. A lane
/// has 32 neighbouring places, whose bytes it reads backwards, after the next bytes on which its
/// state depends. The longest pattern of each place is then in scratch.
template <class Warp>
class transition_finder {
 public:
  static constexpr int width = Warp::width;
  static constexpr int places = 32 * width;
  using words = lanes_t<Warp, std::uint32_t>;

  struct scratch {
    std::uint32_t rank[places];
  };

  LANEWISE_FUNCTION transition_finder(const Warp& warp, const text_bytes& text,
                                      const pattern_set_view& set, scratch& shared)
      : warp_(warp), text_(text), set_(set), rank_(shared.rank) {}

  /// Finds the longest pattern of each place from `first` on. Returns how many patterns begin at
  /// each lane's places, or at how many of these any does. classes: a copy in scratch.
  LANEWISE_FUNCTION words search(const std::uint32_t* classes, std::int64_t first,
                                 bool counts_places) const {
    const byte_transitions& automaton = set_.transitions;
    const int ahead = (automaton.depth + 2) / 4;
    const bool is_inside = first >= 4 && first + places + 4 * ahead + 8 <= text_.n;
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
        number =
            number + (counts_places ? lanewise::select(is_there, words(1u), words(0u)) : patterns);
        warp_.scatter(
            rank_,
            slot_of(warp_.lane() * words(32u) + words(static_cast<std::uint32_t>(4 * i + b))),
            warp_.gather(is_there, automaton.entries + (automaton.row - 1), row, 0u));
      }
    }
    warp_.fence();
    return number;
  }
  /// Calls f(places, ranks) for the places of what was searched where patterns begin, W at a time
  /// and in order, counted from the first: ranks are those of the longest patterns, or 0.
  template <class F>
  LANEWISE_FUNCTION void each_place(F f) const {
    for (std::uint32_t place = 0; place < places; place += width) {
      const words at = warp_.lane() + words(place), ranks = warp_.gather(rank_, slot_of(at));
      if (warp_.any(ranks != 0u)) f(at, ranks);
    }
    warp_.fence();
  }

 private:
  /// The slot of a place in scratch: so that lanes that go along their places are in different
  /// banks.
  static LANEWISE_FUNCTION words slot_of(const words& place) {
    return place ^ (place >> 5 & words(31u));
  }
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
            const std::int64_t place = first + 32 * std::int64_t{lane} + b;
            word |= (place < text.n ? text.data[place] : other) << 8 * b;
          }
          return word;
        },
        warp_.lane());
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  std::uint32_t* rank_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
