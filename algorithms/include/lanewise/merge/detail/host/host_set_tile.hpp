// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge/detail/device/device_set_tile.hpp>
#include <lanewise/tile/merge_tile.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The notes of a host's tile about what it keeps of a piece: items, and with_origins where they
/// were.
template <class T, bool with_origins>
struct host_set_notes {
  T* item;
  std::uint32_t* from;
  merge_piece piece;

  /// The place of an item as a number in the piece: items of the first sequence come first. It is
  /// computed, as a choice becomes a branch.
  LANEWISE_FUNCTION std::int64_t place_of(std::int64_t index, bool is_second) const {
    const std::int64_t more = piece.begin.from_a - piece.begin.from_b + piece.count_a();
    return index - piece.begin.from_a + (more & -std::int64_t{is_second});
  }
  LANEWISE_FUNCTION merge_origin origin(std::int64_t at) const {
    const bool is_second = from[at] >= piece.count_a();
    return {from[at] - place_of(0, is_second), is_second};
  }
  LANEWISE_FUNCTION void operator()(std::int64_t at, const T& x, std::int64_t place) const {
    item[at] = x;
    if constexpr (with_origins) from[at] = static_cast<std::uint32_t>(place);
  }
  /// Whether the items of n notes are neighbours in one sequence.
  LANEWISE_FUNCTION bool are_neighbours(std::int64_t at, std::int64_t n) const {
    const std::uint32_t first = from[at], last = from[at + n - 1];
    if (last - first != n - 1 || (first < piece.count_a()) != (last < piece.count_a()))
      return false;
    std::uint32_t differ = 0;
    for (std::int64_t c = 0; c < n; ++c)
      differ |= from[at + c] ^ (first + static_cast<std::uint32_t>(c));
    return differ == 0;
  }
};

/// In how many parts a tile is walked.
inline constexpr int host_set_parts = 4;

/// A part of a piece: what is left of it, and which notes were made of what is kept.
struct host_set_part {
  merge_piece left;
  std::int64_t first_note, next_note;

  /// How many steps there are that no sequence can end in.
  LANEWISE_FUNCTION std::int64_t safe_steps() const {
    return left.count_a() < left.count_b() ? left.count_a() : left.count_b();
  }
};

/// How a set operation walks on hosts. A step passes the smaller of the next items of both
/// sequences, or both if they are equal: these are a pair.
///
/// There are two ways. Steps without a branch take as long whatever comes; a thread takes them in
/// all parts in turn, and the processor begins those of one part while it waits for those of
/// another. Steps with branches are faster where the processor foretells them; there blocks of
/// equal items, and of items of one sequence alone, are passed at once. (Sapphire Rapids, 2^20 u32,
/// ns for an item of both, the union without and with branches: random ones 1.5 and 5.0,
/// alternating ones 1.4 and 0.9, equal ones 0.66 and 0.28.)
template <set_rule rule, class Notes, class First, class Second, class Less>
class host_set_walk {
  using T = typename First::value_type;
  static constexpr int parts = host_set_parts;
  /// Items that are passed at once.
  static constexpr int block = 32;

 public:
  Notes note;
  First first;
  Second second;
  Less less;

  /// The part between two cuts. Passes the items of the second sequence whose partners lie
  /// before it.
  LANEWISE_FUNCTION host_set_part start(const merge_piece& between) const {
    const std::int64_t at = between.first() - note.piece.first();
    host_set_part p{between, at, at};
    const merge_cut<std::int64_t> from = between.begin;
    if (from.from_a == 0 || between.count_b() == 0) return p;
    const T x = first(from.from_a - 1);
    if (less(x, second(from.from_b))) return p;
    const std::int64_t waiting =
        equals_before(first, from.from_a, x) - equals_before(second, from.from_b, x);
    const std::int64_t most = waiting < between.count_b() ? waiting : between.count_b();
    const std::int64_t takers = lanewise::partition_point(
        std::int64_t{0}, most, [&](std::int64_t i) { return !less(x, second(from.from_b + i)); });
    pass<false, true, rule.taker>(p, takers);
    return p;
  }

  /// Whether a processor would foretell the steps: whether most of some are what followed the last
  /// time on the same four steps.
  LANEWISE_FUNCTION bool is_foretold(host_set_part (&part)[parts]) const {
    constexpr int rounds = 32, history = 4;
    std::uint8_t next[1 << 2 * history] = {}, before[parts] = {};
    int known = 0, wrong = 0;
    bool is_there[parts];
    for (int p = 0; p < parts; ++p) is_there[p] = part[p].safe_steps() >= rounds;
    for (int r = 0; r < rounds; ++r) {
      for (int p = 0; p < parts; ++p) {
        if (!is_there[p]) continue;
        const std::uint8_t now = step(part[p]);
        std::uint8_t& guess = next[before[p]];
        const bool is_known = r >= history && guess != 0;
        known += is_known;
        wrong += is_known & (guess != now);
        guess = now;
        before[p] = static_cast<std::uint8_t>(before[p] << 2 | now);
      }
    }
    return 16 * wrong <= known;
  }

  /// Walks in all parts until one of them has a sequence that ends.
  static LANEWISE_LOOP_FUNCTION void in_turn(host_set_walk walk, host_set_part (&all)[parts]) {
    host_set_part part[parts];
    for (int p = 0; p < parts; ++p) part[p] = all[p];
    for (;;) {
      std::int64_t steps = part[0].safe_steps();
      for (const auto& p : part) steps = p.safe_steps() < steps ? p.safe_steps() : steps;
      if (steps <= 0) break;
      for (; steps > 0; --steps) {
        for (int p = 0; p < parts; ++p) walk.step(part[p]);
      }
    }
    for (int p = 0; p < parts; ++p) all[p] = part[p];
  }

  /// Walks to the end of a part, with branches.
  static LANEWISE_LOOP_FUNCTION host_set_part to_end(host_set_walk walk, host_set_part p) {
    constexpr std::int64_t steps_at_once = 4 * block;
    for (std::int64_t steps; (steps = p.safe_steps()) > 0;) {
      const std::int64_t i = p.left.begin.from_a, j = p.left.begin.from_b;
      const std::int64_t firsts =
          blocks(p.left.count_a(), [&](std::int64_t c) LANEWISE_INLINE_LAMBDA {
            return walk.less(walk.first(i + c + block - 1), walk.second(j));
          });
      walk.template pass<true, false, rule.first>(p, firsts);
      if (firsts > 0) continue;
      const std::int64_t others =
          blocks(p.left.count_b(), [&](std::int64_t c) LANEWISE_INLINE_LAMBDA {
            return walk.less(walk.second(j + c + block - 1), walk.first(i));
          });
      walk.template pass<false, true, rule.other>(p, others);
      if (others > 0) continue;
      const std::int64_t pairs = blocks(steps, [&](std::int64_t c) LANEWISE_INLINE_LAMBDA {
        return walk.has_pairs(i + c, j + c);
      });
      walk.template pass<true, true, rule.first || rule.taker>(p, pairs);
      if (pairs > 0) continue;
      // A copy is passed: p stays in registers if no other function knows it.
      host_set_part q = p;
      if (steps >= block) {
        by_branches<false>(walk, steps < steps_at_once ? steps : steps_at_once, q);
      } else {
        by_branches<true>(walk, block, q);
      }
      p = q;
    }
    walk.template pass<true, false, rule.first>(p, p.left.count_a());
    walk.template pass<false, true, rule.other>(p, p.left.count_b());
    return p;
  }

 private:
  /// How many of the last items [0, end) of a sequence are equal to x, where none is greater: steps
  /// of doubling length, then a binary search.
  template <class Source>
  LANEWISE_FUNCTION std::int64_t equals_before(const Source& source, std::int64_t end,
                                               const T& x) const {
    std::int64_t step = 1;
    while (step <= end && !less(source(end - step), x)) step *= 2;
    const std::int64_t begin =
        lanewise::partition_point(step <= end ? end - step + 1 : 0, end - step / 2,
                                  [&](std::int64_t i) { return less(source(i), x); });
    return end - begin;
  }

  /// Passes the next n items of a sequence, or of both, and keeps them; in a union the first's.
  template <bool of_first, bool of_second, bool kept>
  LANEWISE_FUNCTION void pass(host_set_part& p, std::int64_t n) const {
    const std::int64_t i = p.left.begin.from_a, j = p.left.begin.from_b;
    if constexpr (kept) {
      for (std::int64_t c = 0; c < n; ++c) {
        if constexpr (of_first && rule.first) {
          note(p.next_note + c, first(i + c), note.place_of(i + c, false));
        } else {
          note(p.next_note + c, second(j + c), note.place_of(j + c, true));
        }
      }
      p.next_note += n;
    }
    p.left.begin = {i + (of_first ? n : 0), j + (of_second ? n : 0)};
  }

  /// A step without a branch. Returns what it passed: 1 the first's item, 2 the second's, 3 both.
  LANEWISE_FUNCTION std::uint8_t step(host_set_part& p) const {
    const std::int64_t i = p.left.begin.from_a, j = p.left.begin.from_b;
    const T x = first(i), y = second(j);
    // If less is no order, too, a step passes something.
    const bool only_first = less(x, y), is_greater = less(y, x);
    const bool only_second = is_greater & !only_first;
    if constexpr (rule.first) {
      const std::int64_t in_first = note.place_of(i, false), in_second = note.place_of(j, true);
      note(p.next_note++, only_second ? y : x,
           in_first + ((in_second - in_first) & -std::int64_t{only_second}));
    } else {
      note(p.next_note, y, note.place_of(j, true));
      p.next_note += rule.taker ? !(only_first | only_second) : only_second;
    }
    p.left.begin = {i + !only_second, j + !only_first};
    return static_cast<std::uint8_t>(!only_second + 2 * !only_first);
  }

  /// Takes steps with branches; if may_end, fewer where a sequence ends.
  template <bool may_end>
  static LANEWISE_LOOP_FUNCTION void by_branches(host_set_walk walk, std::int64_t steps,
                                                 host_set_part& p) {
    std::int64_t i = p.left.begin.from_a, j = p.left.begin.from_b, at = p.next_note;
    const std::int64_t end_i = p.left.end.from_a, end_j = p.left.end.from_b;
    for (; steps > 0 && (!may_end || (i < end_i && j < end_j)); --steps) {
      const T x = walk.first(i), y = walk.second(j);
      if (walk.less(x, y)) {
        if constexpr (rule.first) walk.note(at++, x, walk.note.place_of(i, false));
        ++i;
      } else if (walk.less(y, x)) {
        if constexpr (rule.other) walk.note(at++, y, walk.note.place_of(j, true));
        ++j;
      } else {
        if constexpr (rule.first) walk.note(at++, x, walk.note.place_of(i, false));
        if constexpr (rule.taker) walk.note(at++, y, walk.note.place_of(j, true));
        ++i;
        ++j;
      }
    }
    p.left.begin = {i, j};
    p.next_note = at;
  }

  /// How many items of whole blocks come, n at most: holds(c) is asked of the one that begins with
  /// item c.
  template <class Holds>
  static LANEWISE_FUNCTION std::int64_t blocks(std::int64_t n, const Holds& holds) {
    std::int64_t c = 0;
    while (c + block <= n && holds(c)) c += block;
    return c;
  }
  /// Whether two blocks are equal item by item. Mostly the last ones tell.
  LANEWISE_FUNCTION bool has_pairs(std::int64_t i, std::int64_t j) const {
    const T x = first(i + block - 1), y = second(j + block - 1);
    return !less(x, y) && !less(y, x) && are_equal(*this, i, j);
  }
  static LANEWISE_LOOP_FUNCTION bool are_equal(host_set_walk walk, std::int64_t i, std::int64_t j) {
    // An integer of the items' size, so that the compiler turns the loop into vector comparisons.
    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t> differ = 0;
    for (int c = 0; c < block; ++c) {
      const T x = walk.first(i + c), y = walk.second(j + c);
      const bool is_less = walk.less(x, y), is_greater = walk.less(y, x);
      differ |= (is_less | is_greater) ? 1 : 0;
    }
    return differ == 0;
  }
};

/// What device_set_tile is, by a thread of a host: a piece of the merge of two sequences, which
/// stay where they are. The items that are kept stay in cache until their places are known.
template <class Team, class T, std::int64_t items_, bool with_origins>
class host_set_tile {
  using notes = host_set_notes<T, with_origins>;
  static constexpr int parts = host_set_parts;

 public:
  static constexpr std::int64_t items = items_;
  struct scratch {
    raw_array<T, items> item;
    std::uint32_t from[with_origins ? items : 1];
    merge_piece piece;
  };

  template <class First, class Second>
  LANEWISE_FUNCTION host_set_tile(const Team& team, scratch& shared, const First&, const Second&,
                                  const merge_piece& piece)
      : team_(team), note_{shared.item.data(), shared.from, piece} {}

  /// As device_set_tile has it.
  template <set_rule rule, class First, class Second, class Less>
  LANEWISE_FUNCTION std::uint32_t mark(const First& first, const Second& second, const Less& less) {
    using walk_type = host_set_walk<rule, notes, First, Second, Less>;
    const walk_type walk{note_, first, second, less};
    merge_piece rest = note_.piece;
    for (int p = 0; p < parts; ++p) {
      const merge_cut<std::int64_t> begin = rest.begin;
      const auto passed = lanewise::merge_path(
          [&](std::int64_t i) { return first(begin.from_a + i); }, rest.count_a(),
          [&](std::int64_t i) { return second(begin.from_b + i); }, rest.count_b(),
          rest.count() / (parts - p), less);
      rest.begin = {begin.from_a + passed.from_a, begin.from_b + passed.from_b};
      part_[p] = walk.start({begin, rest.begin});
    }
    if (!walk.is_foretold(part_)) walk_type::in_turn(walk, part_);
    std::int64_t kept = 0;
    for (host_set_part& p : part_) {
      p = walk_type::to_end(walk, p);
      kept += p.next_note - p.first_note;
    }
    return static_cast<std::uint32_t>(kept);
  }

  /// As device_set_tile has it.
  template <class First, class Second, class Keep, class Less>
  LANEWISE_FUNCTION std::uint32_t mark_firsts(const First& first, const Second& second,
                                              const Keep& keep, const Less& less) {
    static_assert(with_origins);
    const std::int64_t n = note_.piece.count(), number = note_.piece.first();
    typename host_merge_tile<T, items>::scratch nothing;
    host_merge_tile<T, items>::template merge<true>(
        team_, nothing, first, second, note_.piece,
        [&](std::int64_t i, const T& x, std::int64_t index, bool is_second)
            LANEWISE_INLINE_LAMBDA { note_(i - number, x, note_.place_of(index, is_second)); },
        less);
    maybe<T> last = detail::last_in_front(note_.piece.begin, first, second, less);
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const T x = note_.item[i];
      const bool is_first = !last.present || less(last.value, x);
      last = {x, true};
      const merge_origin origin = note_.origin(i);
      if (!is_first || !keep(origin.index, origin.sequence != 0)) continue;
      note_.item[kept] = x;
      note_.from[kept++] = note_.from[i];
    }
    part_[0].next_note = kept;
    return static_cast<std::uint32_t>(kept);
  }

  /// Writes items and what goes with them from place `start` on, as far as there are `room` places.
  template <class Put>
  LANEWISE_FUNCTION void write(const Put& put, std::int64_t start, std::int64_t room) const {
    const notes note = note_;
    for (const host_set_part& p : part_) {
      const std::int64_t from = p.first_note, kept = p.next_note - from;
      const std::int64_t n = kept < room - start ? kept : room - start;
      if constexpr (requires { put.array_of(true); }) {
        write_from_arrays(note, put, start, from, n);
      } else if constexpr (requires { put.load(std::int64_t{0}, true); }) {
        for (std::int64_t i = 0; i < n; ++i) {
          const merge_origin origin = note.origin(from + i);
          put.store(start + i, note.item[from + i], put.load(origin.index, origin.sequence != 0));
        }
      } else {
        for (std::int64_t i = 0; i < n; ++i) put(start + i, note.item[from + i]);
      }
      start += kept;
    }
  }

 private:
  /// What goes with items lies in two arrays. Of neighbours it is copied at once.
  template <class Put>
  static LANEWISE_LOOP_FUNCTION void write_from_arrays(notes note, Put put, std::int64_t start,
                                                       std::int64_t from, std::int64_t n) {
    constexpr std::int64_t most = 64;
    using array = decltype(put.array_of(true));
    const array values[2] = {put.array_of(false), put.array_of(true)};
    for (std::int64_t i = 0; i < n; i += most) {
      const std::int64_t m = n - i < most ? n - i : most;
      const merge_origin first = note.origin(from + i);
      if (note.are_neighbours(from + i, m)) {
        const array there = values[first.sequence] + first.index;
        for (std::int64_t c = 0; c < m; ++c)
          put.store(start + i + c, note.item[from + i + c], there[c]);
      } else {
        for (std::int64_t c = 0; c < m; ++c) {
          const merge_origin origin = note.origin(from + i + c);
          put.store(start + i + c, note.item[from + i + c], values[origin.sequence][origin.index]);
        }
      }
    }
  }

  const Team& team_;
  notes note_;
  host_set_part part_[parts] = {};
};

}  // namespace detail
LANEWISE_END_NAMESPACE
