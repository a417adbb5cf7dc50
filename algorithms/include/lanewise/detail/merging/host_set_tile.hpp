// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/merging/device_set_tile.hpp>
#include <lanewise/merge_tile.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Where a tile of a host notes what it keeps of a piece: items, and with_origins where they were.
template <class T, bool with_origins>
struct host_set_notes {
  T* item;
  std::uint32_t* from;
  merge_piece piece;

  LANEWISE_FUNCTION void operator()(std::int64_t at, const T& x, std::int64_t index,
                                    bool is_second) const {
    item[at] = x;
    if constexpr (with_origins) {
      const std::int64_t of_first = index - piece.begin.from_a;
      const std::int64_t of_second = index - piece.begin.from_b + piece.count_a();
      from[at] = static_cast<std::uint32_t>(is_second ? of_second : of_first);
    }
  }
  LANEWISE_FUNCTION bool is_of_second(std::int64_t at) const { return from[at] >= piece.count_a(); }
  LANEWISE_FUNCTION std::int64_t index(std::int64_t at) const {
    const std::int64_t f = from[at];
    return f < piece.count_a() ? piece.begin.from_a + f : piece.begin.from_b + f - piece.count_a();
  }
};

/// A part of a piece: what is left of it, and what is kept, notes [at, at + kept).
struct host_set_part {
  merge_piece left;
  std::int64_t at, kept;

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
/// ns for an item of a union: random ones 1.4 and 5.0, alternating ones 1.3 and 0.7.)
template <set_rule rule, class Notes, class First, class Second, class Less>
class host_set_walk {
  using T = typename First::value_type;
  static constexpr int block = 16;

 public:
  static constexpr int parts = 4;

  Notes note;
  First first;
  Second second;
  Less less;

  /// The part between two cuts. Passes the items of the second sequence whose partners lie in
  /// front of it.
  LANEWISE_FUNCTION host_set_part begin(const merge_piece& between) const {
    host_set_part p{between, between.first() - note.piece.first(), 0};
    const merge_cut<std::int64_t> from = between.begin;
    if (from.from_a == 0 || between.count_b() == 0) return p;
    const T x = first(from.from_a - 1);
    if (less(x, second(from.from_b))) return p;
    const std::int64_t waiting =
        equals_before(first, from.from_a, x) - equals_before(second, from.from_b, x);
    const std::int64_t most = waiting < between.count_b() ? waiting : between.count_b();
    const std::int64_t takers = lanewise::partition_point(
        std::int64_t{0}, most,
        [&](std::int64_t i) { return !less(x, second(from.from_b + i)); });
    pass<false, true, rule.taker>(p, takers);
    return p;
  }

  /// Whether a processor would foretell the steps: whether most of some are what followed the last
  /// time on the same four steps.
  LANEWISE_FUNCTION bool is_foretold(host_set_part (&part)[parts]) const {
    constexpr int rounds = 32, history = 4;
    std::uint8_t next[1 << 2 * history] = {}, before[parts] = {};
    int known = 0, wrong = 0;
    for (int p = 0; p < parts; ++p) {
      if (part[p].safe_steps() < rounds) continue;
      for (int r = 0; r < rounds; ++r) {
        const std::uint8_t now = step(part[p]);
        std::uint8_t& guess = next[before[p]];
        if (r >= history && guess != 0) {
          ++known;
          wrong += guess != now;
        }
        guess = now;
        before[p] = static_cast<std::uint8_t>(before[p] << 2 | now);
      }
    }
    return 7 * wrong <= known;
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
      if (pairs == 0) by_branches(walk, p, steps < steps_at_once ? steps : steps_at_once);
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
    const std::int64_t begin = lanewise::partition_point(
        step <= end ? end - step + 1 : 0, end - step / 2,
        [&](std::int64_t i) { return less(source(i), x); });
    return end - begin;
  }

  /// Passes the next n items of a sequence, or of both, and keeps them; in a union the first's.
  template <bool of_first, bool of_second, bool kept>
  LANEWISE_FUNCTION void pass(host_set_part& p, std::int64_t n) const {
    const std::int64_t i = p.left.begin.from_a, j = p.left.begin.from_b, at = p.at + p.kept;
    if constexpr (kept) {
      for (std::int64_t c = 0; c < n; ++c) {
        if constexpr (of_first && rule.first) {
          note(at + c, first(i + c), i + c, false);
        } else {
          note(at + c, second(j + c), j + c, true);
        }
      }
      p.kept += n;
    }
    p.left.begin = {i + (of_first ? n : 0), j + (of_second ? n : 0)};
  }

  /// A step without a branch. Returns what it passed: 1 the first's item, 2 the second's, 3 both.
  LANEWISE_FUNCTION std::uint8_t step(host_set_part& p) const {
    const std::int64_t i = p.left.begin.from_a, j = p.left.begin.from_b;
    const T x = first(i), y = second(j);
    // Where less is no order, too, a step passes something.
    const bool before = less(x, y), behind = !before & less(y, x);
    if constexpr (rule.first) {
      note(p.at + p.kept, behind ? y : x, i + ((j - i) & -std::int64_t{behind}), behind);
      ++p.kept;
    } else {
      note(p.at + p.kept, y, j, true);
      p.kept += rule.taker ? !(before | behind) : behind;
    }
    p.left.begin = {i + !behind, j + !before};
    return static_cast<std::uint8_t>(!behind + 2 * !before);
  }

  static LANEWISE_LOOP_FUNCTION void by_branches(host_set_walk walk, host_set_part& p,
                                                 std::int64_t steps) {
    std::int64_t i = p.left.begin.from_a, j = p.left.begin.from_b, at = p.at + p.kept;
    for (; steps > 0; --steps) {
      const T x = walk.first(i), y = walk.second(j);
      if (walk.less(x, y)) {
        if constexpr (rule.first) walk.note(at++, x, i, false);
        ++i;
      } else if (walk.less(y, x)) {
        if constexpr (rule.other) walk.note(at++, y, j, true);
        ++j;
      } else {
        if constexpr (rule.first) walk.note(at++, x, i, false);
        if constexpr (rule.taker) walk.note(at++, y, j, true);
        ++i;
        ++j;
      }
    }
    p.left.begin = {i, j};
    p.kept = at - p.at;
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
  static LANEWISE_LOOP_FUNCTION bool are_equal(host_set_walk walk, std::int64_t i,
                                               std::int64_t j) {
    // An integer of the items' size, so that the compiler turns the loop into vector comparisons.
    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t> differ = 0;
    for (int c = 0; c < block; ++c) {
      const T x = walk.first(i + c), y = walk.second(j + c);
      differ |= walk.less(x, y) | walk.less(y, x) ? 1 : 0;
    }
    return differ == 0;
  }
};

/// What device_set_tile is, by a thread of a host: a piece of the merge of two sequences, which
/// stay where they are. The items that are kept stay in cache until their places are known.
template <class Team, class T, std::int64_t items_, bool with_origins>
class host_set_tile {
  using notes = host_set_notes<T, with_origins>;
  static constexpr int parts = 4;

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
    const merge_piece& all = note_.piece;
    const auto in_first = [&](std::int64_t i) { return first(all.begin.from_a + i); };
    const auto in_second = [&](std::int64_t i) { return second(all.begin.from_b + i); };
    merge_cut<std::int64_t> begin = all.begin;
    for (int p = 0; p < parts; ++p) {
      const auto passed = lanewise::merge_path(in_first, all.count_a(), in_second, all.count_b(),
                                               all.count() * (p + 1) / parts, less);
      const merge_cut<std::int64_t> end{all.begin.from_a + passed.from_a,
                                        all.begin.from_b + passed.from_b};
      part_[p] = walk.begin({begin, end});
      begin = end;
    }
    if (!walk.is_foretold(part_)) walk_type::in_turn(walk, part_);
    std::int64_t kept = 0;
    for (host_set_part& p : part_) {
      p = walk_type::to_end(walk, p);
      kept += p.kept;
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
            LANEWISE_INLINE_LAMBDA { note_(i - number, x, index, is_second); },
        less);
    maybe<T> last = detail::last_in_front(note_.piece.begin, first, second, less);
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const T x = note_.item[i];
      const bool is_first = !last.present || less(last.value, x);
      last = {x, true};
      if (!is_first || !keep(note_.index(i), note_.is_of_second(i))) continue;
      note_.item[kept] = x;
      note_.from[kept++] = note_.from[i];
    }
    part_[0].kept = kept;
    return static_cast<std::uint32_t>(kept);
  }

  /// Writes items and what goes with them from place `start` on, as far as there are `room` places.
  template <class Put>
  LANEWISE_FUNCTION void write(const Put& put, std::int64_t start, std::int64_t room) const {
    for (const host_set_part& p : part_) {
      const std::int64_t left = room - start, n = p.kept < left ? p.kept : left;
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = p.at + i;
        if constexpr (requires { put.load(std::int64_t{0}, true); }) {
          put.store(start + i, note_.item[at], put.load(note_.index(at), note_.is_of_second(at)));
        } else {
          put(start + i, note_.item[at]);
        }
      }
      start += p.kept;
    }
  }

 private:
  const Team& team_;
  notes note_;
  host_set_part part_[parts] = {};
};

}  // namespace detail
LANEWISE_END_NAMESPACE
