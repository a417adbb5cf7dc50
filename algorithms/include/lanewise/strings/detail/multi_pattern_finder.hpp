// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/host/multi_pattern_scan.hpp>
#include <lanewise/strings/detail/multi_pattern_candidates.hpp>
#include <lanewise/strings/detail/multi_pattern_walk.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Finds the positions of a text where patterns of a set begin, and the longest pattern of each. A
/// warp searches a span of up to 32 steps at a time. Hits of a span are kept until its end and then
/// sorted. Too many hits or candidates make spans shorter. A single step with too many, and the
/// next few, are left to the automaton.
///
/// Windows begin up to 51 bytes after the positions of their patterns, so the filter looks at the
/// beginning of one more step:
///
///   positions of a span      |<-- step -->|<-- step -->|
///   bytes of its steps  |<-- step -->|<-- step -->|<...
template <class Warp>
class multi_pattern_finder {
 public:
  static constexpr int width = Warp::width;
  static constexpr int positions = 32 * width;  ///< of a step
  using words = lanes_t<Warp, std::uint32_t>;
  using mask = mask_t<Warp, std::uint32_t>;
  using filter_type = multi_pattern_filter<Warp>;
  /// A warp of one thread has candidates of its own.
  using candidates_type = std::conditional_t<Warp::is_single_thread, multi_pattern_scan<Warp>,
                                             multi_pattern_candidates<Warp>>;
  using scratch = typename candidates_type::scratch;

  /// Searches positions [first, first + steps 32 W), where first is a multiple of 32 W. span: the
  /// number of steps to begin with; the next finder begins with what it has become.
  LANEWISE_FUNCTION multi_pattern_finder(const Warp& warp, const text_bytes& text,
                                         const pattern_set_view& set, const filter_type& filter,
                                         scratch& shared, candidates_type& candidates,
                                         std::int64_t first, int steps, int& span)
      : warp_(warp),
        text_(text),
        set_(set),
        filter_(filter),
        best_(shared.words),
        candidates_(candidates),
        first_(first),
        steps_(steps),
        span_(span),
        past_(4 + static_cast<int>((reinterpret_cast<std::uintptr_t>(text.data) + 4 * k - 4) %
                                   (4 * k))) {
    static_assert(sizeof(shared.words) >=
                  width * multi_pattern_walk<Warp>::positions_per_lane * sizeof(std::uint32_t));
  }

  /// Calls f(positions, ranks) for all positions where patterns begin, W at a time and in order,
  /// counted from the first one of this finder. A position is there once, with the rank of the
  /// longest pattern; where ranks are 0 there is none.
  template <class F>
  LANEWISE_FUNCTION void find(F f) {
    constexpr int most_steps = 32, steps_by_automaton = 8;
    int by_automaton = 0;
    for (int step = 0; step < steps_ && first_of(step) < text_.n;) {
      const int inside = steps_inside(step);
      int now = span_ < inside ? span_ : inside;
      const bool is_edge = Warp::is_single_thread && now == 0;
      if (is_edge) now = 1;
      if (now == 0 || by_automaton > 0) {
        ask_automaton(step, f);
        by_automaton -= by_automaton > 0 ? 1 : 0;
        ++step;
        continue;
      }
      search(step, now, is_edge);
      if (candidates_.is_full()) {
        span_ = now > 1 ? now / 2 : 1;
        by_automaton = now > 1 ? 0 : steps_by_automaton;
        continue;
      }
      const auto offset = static_cast<std::uint32_t>(step * positions);
      candidates_.each_position([&](const words& position, const words& ranks)
                                    LANEWISE_INLINE_LAMBDA { f(position + words(offset), ranks); });
      if (candidates_.hits() < candidates_type::most_hits / 4 && span_ < most_steps) span_ *= 2;
      step += now;
    }
  }

 private:
  static constexpr int k = Warp::text_words_per_lane;
  static constexpr int rows = 8 / k;
  /// A warp looks up windows or compares at most this number of times for a step.
  static constexpr int most_turns = 64;

  LANEWISE_FUNCTION std::int64_t first_of(int step) const {
    return first_ + std::int64_t{step} * positions;
  }
  /// Returns how many steps from `step` on can be scanned by words, with the next one and the words
  /// after it. Others are at an end of the text.
  LANEWISE_FUNCTION int steps_inside(int step) const {
    const std::int64_t from = first_of(step) - past_, room = text_.n - from - positions - 16;
    if (from < 0 || room < positions) return 0;
    return room / positions < steps_ - step ? static_cast<int>(room / positions) : steps_ - step;
  }

  /// Finds the hits of some steps.
  LANEWISE_FUNCTION void search(int step, int number, bool is_edge) {
    candidates_.begin(first_of(step), static_cast<std::uint32_t>(number * positions),
                      most_turns * number);
    const unsigned char* const bytes = text_.data + (first_of(step) - past_);
    if constexpr (Warp::is_single_thread) {
      is_edge ? candidates_.search_at_edge(past_) : candidates_.search(bytes, past_, number);
    } else {
      const auto* const at = reinterpret_cast<const std::uint32_t*>(bytes);
      search_windows(at, number);
      if (!candidates_.is_full()) candidates_.look_up(true);
    }
  }
  /// The bits of a step that count. In the step after the last one, its beginning counts.
  LANEWISE_FUNCTION words counting(const words& bits, int step, int number) const {
    const words all = text_steps<Warp>::in_order(warp_, bits);
    return step < number ? all
                         : lanewise::select(warp_.lane() * words(32u) < std::uint32_t{2 * reach},
                                            all, words(0u));
  }
  /// The begins of each lane's bytes of a step, as candidates have them.
  LANEWISE_FUNCTION words bytes_of(int step) const {
    return warp_.lane() * words(32u) +
           words(static_cast<std::uint32_t>(step * positions - past_ + 4 + reach));
  }
  /// Adds the windows that pass in `number` steps, and in the one after.
  LANEWISE_FUNCTION void search_windows(const std::uint32_t* at, int number) const {
    const auto of = [&](auto kind, auto uses_surroundings) LANEWISE_INLINE_LAMBDA {
      for (int s = 0; s <= number && !candidates_.is_full(); ++s) {
        const auto found =
            filter_.template next<decltype(kind)::value, decltype(uses_surroundings)::value>(
                warp_, at, s, number + 1);
        s = found.step;
        if (s > number) return;
        const words bits[] = {counting(found.shorts, s, number), counting(found.longs, s, number)};
        candidates_.add(bytes_of(s), bits);
      }
    };
    const auto scan_kind = [&](auto kind) LANEWISE_INLINE_LAMBDA {
      if (set_.uses_surroundings) {
        of(kind, std::true_type{});
      } else {
        of(kind, std::false_type{});
      }
    };
    switch (set_.kinds) {
      case 1:
        return scan_kind(std::integral_constant<int, 0>{});
      case 2:
        return scan_kind(std::integral_constant<int, 1>{});
      case 4:
        return scan_kind(std::integral_constant<int, 2>{});
    }
  }

  /// The longest pattern of each position of a step.
  template <class F>
  LANEWISE_FUNCTION void ask_automaton(int step, F f) const {
    multi_pattern_walk<Warp>(warp_, text_, set_, best_)
        .each_position(first_of(step), step * positions, f);
  }

  static constexpr int reach = candidates_type::reach;

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  filter_type filter_;
  std::uint32_t* best_;          // the candidates' scratch, while the automaton is walked
  candidates_type& candidates_;  // a reference, as calls get it, and what they get is in memory
  std::int64_t first_;
  int steps_;
  int& span_;
  int past_;  // how far the bytes of a step are before its positions: 4 or more, in the grid
};

}  // namespace detail
LANEWISE_END_NAMESPACE
