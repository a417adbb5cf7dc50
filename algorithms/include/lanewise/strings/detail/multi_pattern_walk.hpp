// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_text.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What the automaton of a set says of each place of a text, a part of a step at a time.
template <class Warp>
class multi_pattern_walk {
 public:
  static constexpr int width = Warp::width;
  /// The number of neighbouring places that a lane has of the places that the automaton tells of.
  static constexpr int row = 16;
  using words = lanes_t<Warp, std::uint32_t>;

  /// best: 16 W words of scratch.
  LANEWISE_FUNCTION multi_pattern_walk(const Warp& warp, const text_bytes& text,
                                       const pattern_set_view& set, std::uint32_t* best)
      : warp_(warp), text_(text), set_(set), best_(best) {}

  /// Calls f(places, ranks) for the 32 W places from `first` on, W at a time: the longest pattern
  /// of each, or 0. Places are counted from `begin` for the first one.
  template <class F>
  LANEWISE_FUNCTION void each_place(std::int64_t first, int begin, F f) const {
    for (int part = 0; part < 32 * width; part += row * width) {
      fill_best(first + part);
      for (int r = 0; r < row; ++r) {
        const words in_part = warp_.lane() + words(static_cast<std::uint32_t>(r * width));
        const words ranks = warp_.gather(best_, slot_of(in_part));
        if (warp_.any(ranks != 0u))
          f(in_part + words(static_cast<std::uint32_t>(begin + part)), ranks);
      }
      warp_.fence();
    }
  }

 private:
  /// The slot of a place of a part in scratch: so that lanes that go along rows are in different
  /// banks.
  static LANEWISE_FUNCTION words slot_of(const words& place) {
    return place ^ (place >> 5 & words(31u));
  }

  /// Each lane begins `depth` bytes after its places, as its state depends on no more.
  LANEWISE_SEPARATE_FUNCTION void fill_best(std::int64_t base) const {
    const multi_pattern_text mine{text_, set_};
    words state = warp_.map(
        [=](std::uint32_t lane) {
          const std::int64_t to = base + row * (std::int64_t{lane} + 1);
          std::uint32_t s = 0;
          for (std::int64_t p = to + mine.set.depth - 2; p >= to; --p)
            if (p < mine.text.n) s = mine.next(s, p);
          return s;
        },
        warp_.lane());
    for (std::uint32_t i = row; i-- > 0;) {
      const words index = warp_.lane() * words(std::uint32_t{row}) + words(i);
      state = warp_.map(
          [=](std::uint32_t s, std::uint32_t x) {
            const std::int64_t p = base + x;
            return p < mine.text.n ? mine.next(s, p) : s;
          },
          state, index);
      warp_.scatter(best_, slot_of(index), longest(base, state, index));
    }
    warp_.fence();
  }
  /// The longest pattern of each state, at places that are in the text.
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
    words rank = value, place = index;
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
        rank, place);
    return rank;
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  std::uint32_t* best_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
