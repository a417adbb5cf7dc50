// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/league/warp_allocate.hpp>
#include <lanewise/strings/detail/multi_pattern_filter.hpp>
#include <lanewise/strings/detail/multi_pattern_shorts.hpp>
#include <lanewise/strings/detail/multi_pattern_text.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Returns the lane that owns each task. upto: how many tasks the lanes up to each have.
template <class Warp, class Words>
LANEWISE_FUNCTION Words owner_of(const Warp& warp, const Words& upto, const Words& task) {
  Words owner(0u);
  LANEWISE_UNROLL
  for (std::uint32_t half = Warp::width / 2; half != 0; half /= 2)
    owner = lanewise::select(warp.shuffle(upto, owner + Words(half - 1)) <= task,
                             owner + Words(half), owner);
  return owner;
}

/// The windows of a span of text that the filter has passed, and the hits: patterns that match.
/// Windows wait in scratch until every lane of the warp has one. So the dependent loads of a
/// comparison (the table of windows, a pattern, the text) are done for 32 at a time.
///
/// A pattern has one window at each position where it begins, so no hit comes twice.
///
/// by_probes: windows are those of stride4_windows, by which devices search.
template <class Warp, bool by_probes = false>
class multi_pattern_candidates {
 public:
  static constexpr int width = Warp::width;
  static constexpr int most_waiting = 256, most_hits = 128;
  /// Windows begin up to `reach` bytes after their patterns (51), or before the span (31).
  static constexpr int reach = 64;
  using words = lanes_t<Warp, std::uint32_t>;
  using mask = mask_t<Warp, std::uint32_t>;

  /// What a warp has in scratch: windows that wait, then positions and ranks of hits.
  struct scratch {
    std::uint32_t words[most_waiting + 2 * most_hits];
  };

  LANEWISE_FUNCTION multi_pattern_candidates(const Warp& warp, const text_bytes& text,
                                             const pattern_set_view& set, scratch& shared)
      : warp_(warp),
        text_(text),
        set_(set),
        wait_(shared.words),
        position_(shared.words + most_waiting),
        rank_(shared.words + most_waiting + most_hits) {}

  /// Begins a span of `positions` positions from `first` on. Lookups and comparisons may take
  /// `turns` turns of the warp.
  LANEWISE_FUNCTION void begin(std::int64_t first, std::uint32_t positions, int turns) {
    first_ = first;
    positions_ = positions;
    turns_ = turns;
    waiting_ = hits_ = 0;
    is_full_ = false;
  }
  /// Whether the turns or the room are used up. Then nothing is known of the span.
  LANEWISE_FUNCTION bool is_full() const { return is_full_; }
  LANEWISE_FUNCTION int hits() const { return hits_; }

  /// Adds windows that passed. bits[i] are those of list i: the short windows and the long ones, or
  /// those of probes. A lane has 32 neighbouring bytes, from byte `from` on, counted from `reach`
  /// bytes before the span.
  LANEWISE_SEPARATE_FUNCTION void add(const words& from, const words (&bits)[2]) {
    add_here(from, bits, false);
  }
  LANEWISE_SEPARATE_FUNCTION void look_up(bool all) { look_up_here(all); }
  /// Adds windows, and looks up all that wait if these are the last. It is inlined: references to
  /// functions that are not lead to memory.
  LANEWISE_FUNCTION void add_here(const words& from, const words (&bits)[2], bool are_last) {
    const auto room = lanewise::allocate(
        warp_, detail::bits_set(warp_, bits[0]) + detail::bits_set(warp_, bits[1]));
    for (std::uint32_t begin = 0, now = 0; begin < room.total || are_last; begin += now) {
      const auto free = static_cast<std::uint32_t>(most_waiting - waiting_);
      now = room.total - begin < free ? room.total - begin : free;
      put(from, bits, room.offset - words(begin), now);
      waiting_ += static_cast<int>(now);
      const bool all = are_last && begin + now == room.total;
      if (waiting_ >= width || all) look_up_here(all);
      if (is_full_ || all) return;
    }
  }
  /// Looks up all windows that wait, or as many full warps of them as there are.
  LANEWISE_FUNCTION void look_up_here(bool all) {
    warp_.fence();
    int i = 0;
    for (; !is_full_ && (i + width <= waiting_ || (all && i < waiting_)); i += width)
      look_up_lanes(i, warp_.first(waiting_ - i));
    if (i < waiting_ && i > 0) {
      const mask is_left = warp_.first(waiting_ - i);
      const words left = warp_.load(is_left, wait_ + i, 0u);
      warp_.fence();
      warp_.store(is_left, wait_, left);
    }
    waiting_ = i < waiting_ ? waiting_ - i : 0;
    warp_.fence();
  }
  /// Calls f(positions, ranks) for the positions of the span where patterns begin, W at a time and
  /// in order, counted from its first one. A position is there once, with the greatest of its
  /// ranks; where ranks are 0 there is none.
  template <class F>
  LANEWISE_FUNCTION void each_position(F f) {
    const int number = hits_ == 0 ? 0 : sort_hits();
    if (set_.has_shorts()) {
      multi_pattern_shorts<Warp>(warp_, text_, set_, wait_, 2 * width)
          .each_position(first_, positions_, {position_, rank_, number}, f);
    } else {
      for (int i = 0; i < number; i += width) {
        const mask is_there = warp_.first(number - i);
        f(warp_.load(is_there, position_ + i, 0u), warp_.load(is_there, rank_ + i, 0u));
      }
    }
    warp_.fence();
  }

 private:
  /// Puts `number` windows into the list, from the window with offset 0 on.
  LANEWISE_RARE_FUNCTION void put(const words& from, const words (&bits)[2], const words& offset,
                                  std::uint32_t number) {
    words all = bits[0] | bits[1];
    words at = offset;
    std::uint32_t* const to = wait_ + waiting_;
    while (warp_.any(all != 0u)) {
      const words lowest = all & (words(0u) - all);
      const words position = warp_.map(
          [](std::uint32_t bit, std::uint32_t begin) {
            return begin + static_cast<std::uint32_t>(Warp::popcount(bit - 1));
          },
          lowest, from);
      for (int i = 0; i < 2; ++i) {
        const mask is_there = (bits[i] & lowest) != 0u;
        warp_.scatter(is_there & (at < number), to, at,
                      position << 3 | words(static_cast<std::uint32_t>(i)));
        at = lanewise::select(is_there, at + words(1u), at);
      }
      all = all ^ lowest;
    }
  }

  /// Deals out tasks to lanes: each lane owns a number of them.
  struct tasks {
    words upto;
    words number;
    std::uint32_t total;
  };
  LANEWISE_FUNCTION tasks tasks_of(const words& number) const {
    const words upto = warp_.inclusive_scan(number, plus{});
    return {upto, number, warp_.broadcast(upto, width - 1)};
  }

  /// Looks up windows that wait, from number i on, and compares what has them.
  LANEWISE_FUNCTION void look_up_lanes(int i, const mask& exist) {
    const multi_pattern_text mine{text_, set_};
    const std::int64_t base = first_ - reach;
    [[maybe_unused]] const int kind = by_probes ? 0 : Warp::highest(set_.kinds);
    const words entry = warp_.load(exist, wait_ + i, 0u);
    words first = entry, number(0u);
    warp_.each(
        exist,
        [=](std::uint32_t& x, std::uint32_t& n) {
          const auto list = static_cast<int>(x & 7);
          window_slot slot;
          if constexpr (by_probes) {
            slot = mine.probe_slot_of(base + (x >> 3), list);
          } else {
            slot = mine.slot_of(base + (x >> 3), kind, list == 1);
          }
          x = slot.first;
          n = slot.number;
        },
        first, number);
    const words at = entry >> 3, how_many = number >> 8;
    use_turn();
    if (!warp_.any(how_many != 0u)) return;
    const bool are_single = !warp_.any(how_many > 1u);
    tasks all{how_many, how_many, width};
    if (!are_single) all = tasks_of(how_many);
    for (std::uint32_t t = 0; t < all.total && !is_full_; t += width) {
      mask is_there = how_many == 1u;
      words record = first, position = at - (number & words(0xffu));
      if (!are_single) {
        const words task = warp_.lane() + words(t), owner = detail::owner_of(warp_, all.upto, task);
        is_there = task < all.total;
        words in_list = task - warp_.shuffle(all.upto - all.number, owner);
        words offset = warp_.shuffle(number, owner);
        record = warp_.shuffle(first, owner);
        warp_.each(
            is_there,
            [entries = by_probes ? set_.probes_entries : set_.entries](
                std::uint32_t& r, std::uint32_t& o, std::uint32_t k) {
              if (o >> 8 == 1) {
                o &= 0xff;
              } else {
                const window_entry e = entries[r + k];
                r = e.record;
                o = e.offset;
              }
            },
            record, offset, in_list);
        position = warp_.shuffle(at, owner) - offset;
        use_turn();
      }
      compare(is_there, position, record);
    }
  }
  LANEWISE_FUNCTION void use_turn() { is_full_ = is_full_ || --turns_ < 0; }

  /// Compares a pattern of each lane with the text from a byte on, and keeps the hits.
  LANEWISE_FUNCTION void compare(const mask& exist, const words& at, const words& record) {
    const multi_pattern_text mine{text_, set_};
    const std::int64_t first = first_;
    const std::uint32_t positions = positions_;
    const words position = at - words(std::uint32_t{reach});
    words outcome = position, rank = record;
    warp_.each(
        exist,
        [=](std::uint32_t& o, std::uint32_t& r) {
          const std::uint32_t* const pattern = mine.set.records + r;
          const std::int64_t from = first + o;
          if constexpr (by_probes) {
            o = o < positions ? mine.compare_record(from, pattern, r)
                              : std::uint32_t{multi_pattern_text::differs};
            return;
          }
          o = o < positions && from + pattern[1] <= mine.text.n
                  ? mine.compare(from, pattern + 2, pattern[1])
                  : std::uint32_t{multi_pattern_text::differs};
          r = pattern[0];
        },
        outcome, rank);
    outcome = lanewise::select(exist, outcome, words(std::uint32_t{multi_pattern_text::differs}));
    for (auto todo = warp_.ballot(outcome == std::uint32_t{multi_pattern_text::agrees_so_far});
         todo != 0; todo &= todo - 1) {
      const int lane = Warp::lowest(todo);
      const bool agrees = agrees_after(first + warp_.broadcast(position, lane),
                                       set_.records + warp_.broadcast(record, lane));
      outcome = lanewise::select(
          warp_.lane() == static_cast<std::uint32_t>(lane),
          words(std::uint32_t{agrees ? multi_pattern_text::agrees : multi_pattern_text::differs}),
          outcome);
    }
    keep(outcome == std::uint32_t{multi_pattern_text::agrees}, position, rank);
  }
  /// Compares the rest of a long pattern by all lanes.
  LANEWISE_RARE_FUNCTION bool agrees_after(std::int64_t position, const std::uint32_t* record) {
    const multi_pattern_text mine{text_, set_};
    const std::uint32_t size = record[1];
    const std::uint32_t* const pattern = record + 2;
    for (std::uint32_t i = multi_pattern_text::most_compared; i < size; i += 4 * width) {
      use_turn();
      const auto different = warp_.map(
          [=](std::uint32_t lane) {
            const std::uint32_t b = i + 4 * lane;
            if (b >= size) return 0u;
            const std::uint32_t counting = size - b < 4 ? ~0u >> (32 - 8 * (size - b)) : ~0u;
            return (mine.folded(mine.word(position + b)) ^ pattern[b / 4]) & counting;
          },
          warp_.lane());
      if (warp_.any(different != 0u)) return false;
    }
    return true;
  }
  LANEWISE_FUNCTION void keep(const mask& agree, const words& position, const words& rank) {
    const int number = warp_.count(agree);
    is_full_ = is_full_ || hits_ + number > most_hits;
    if (number == 0 || is_full_) return;
    warp_.compress_store(position_ + hits_, agree, position);
    warp_.compress_store(rank_ + hits_, agree, rank);
    hits_ += number;
  }

  /// Sorts the hits by position and keeps the greatest rank of each. Windows came in the order of
  /// their bytes, so only hits near each other may be out of order. Returns the number of
  /// positions.
  LANEWISE_FUNCTION int sort_hits() {
    constexpr std::uint32_t near = reach;
    warp_.fence();
    for (int i = 0; i < hits_; i += width) {
      const mask exist = warp_.first(hits_ - i);
      words position = warp_.load(exist, position_ + i, 0u),
            rank = warp_.load(exist, rank_ + i, 0u);
      words to = warp_.lane() + words(static_cast<std::uint32_t>(i));
      warp_.each(
          exist,
          [=, n = hits_, positions = position_, ranks = rank_](std::uint32_t& mine, std::uint32_t p,
                                                               std::uint32_t r) {
            const auto is_before = [&](int j) {
              return positions[j] < p || (positions[j] == p && ranks[j] < r);
            };
            std::uint32_t at = mine;
            for (int j = static_cast<int>(mine) + 1; j < n && positions[j] <= p + near; ++j)
              at += is_before(j) ? 1 : 0;
            for (int j = static_cast<int>(mine) - 1; j >= 0 && p <= positions[j] + near; --j)
              at -= is_before(j) ? 0 : 1;
            mine = at;
          },
          to, position, rank);
      warp_.scatter(exist, wait_, to, position);
      warp_.scatter(exist, wait_ + most_hits, to, rank);
    }
    warp_.fence();
    int number = 0;
    for (int i = 0; i < hits_; i += width) {
      const mask exist = warp_.first(hits_ - i);
      const words position = warp_.load(exist, wait_ + i, 0u),
                  next = warp_.load(warp_.first(hits_ - i - 1), wait_ + i + 1, ~0u),
                  rank = warp_.load(exist, wait_ + most_hits + i, 0u);
      const mask is_last = exist & (position != next);
      warp_.compress_store(position_ + number, is_last, position);
      number += warp_.compress_store(rank_ + number, is_last, rank);
    }
    warp_.fence();
    return number;
  }

  const Warp& warp_;
  const text_bytes& text_;
  const pattern_set_view& set_;
  std::uint32_t *wait_, *position_, *rank_;
  std::int64_t first_ = 0;
  std::uint32_t positions_ = 0;
  int turns_ = 0, waiting_ = 0, hits_ = 0;
  bool is_full_ = false;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
