// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge/detail/merged_runs.hpp>
#include <lanewise/tile/merge_tile.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Two runs that are merged from both ends: a processor works on both ends side by side.
/// take(to, from) moves an item.
template <class U>
class host_merge_ends {
 public:
  host_merge_ends() = default;
  LANEWISE_FUNCTION host_merge_ends(const U* a, std::int64_t n_a, const U* b, std::int64_t n_b,
                                    U* to)
      : a_(a), b_(b), end_a_(a + n_a), end_b_(b + n_b), to_(to), end_(to + n_a + n_b) {}

  template <class Less, class Take>
  LANEWISE_FUNCTION void merge(const Less& less, const Take& take) {
    for (std::int64_t steps; (steps = safe_steps()) > 0;) {
      for (; steps > 0; --steps) step(less, take);
    }
    take_streaks(less, take);
  }
  /// Two of them side by side.
  template <class Less, class Take>
  static LANEWISE_LOOP_FUNCTION void merge(host_merge_ends one, host_merge_ends two,
                                           const Less less, const Take take) {
    const std::int64_t steps_one = one.safe_steps(), steps_two = two.safe_steps();
    for (std::int64_t steps = steps_one < steps_two ? steps_one : steps_two; steps > 0; --steps) {
      one.step(less, take);
      two.step(less, take);
    }
    one.merge(less, take);
    two.merge(less, take);
  }

  /// Whether most items of one run come before most items of the other.
  template <class Less>
  LANEWISE_FUNCTION bool in_streaks(const Less& less) const {
    const std::int64_t n_a = end_a_ - a_, n_b = end_b_ - b_;
    if (n_a == 0 || n_b == 0) return true;
    return !less(b_[n_b / 8], end_a_[-1 - n_a / 8]) || less(end_b_[-1 - n_b / 8], a_[n_a / 8]);
  }
  /// Merges what is left, as many items at once as can be.
  template <class Less, class Take>
  LANEWISE_FUNCTION void take_streaks(const Less& less, const Take& take) {
    while (a_ < end_a_ && b_ < end_b_) {
      while (end_a_ - a_ >= streak && !less(*b_, a_[streak - 1])) a_ = take_some(a_, streak, take);
      while (end_b_ - b_ >= streak && a_ < end_a_ && less(b_[streak - 1], *a_))
        b_ = take_some(b_, streak, take);
      if (a_ < end_a_ && b_ < end_b_) take(to_++, less(*b_, *a_) ? b_++ : a_++);
    }
    const std::int64_t left = end_ - to_, left_a = end_a_ - a_ < left ? end_a_ - a_ : left;
    take_some(a_, left_a, take);
    take_some(b_, end_ - to_, take);
  }

 private:
  static constexpr std::int64_t streak = 8;

  template <class Take>
  LANEWISE_FUNCTION const U* take_some(const U* from, std::int64_t n, const Take& take) {
    U* const to = to_;
    for (std::int64_t i = 0; i < n; ++i) take(to + i, from + i);
    if (n > 0) to_ += n;
    return from + n;
  }
  /// As many steps from either end as no run can end in.
  LANEWISE_FUNCTION std::int64_t safe_steps() const {
    const std::int64_t n_a = end_a_ - a_, n_b = end_b_ - b_;
    return n_a < n_b ? n_a : n_b;
  }
  template <class Less, class Take>
  LANEWISE_FUNCTION void step(const Less& less, const Take& take) {
    // Computed, as a choice becomes a branch.
    const std::int64_t b_first = less(*b_, *a_);
    take(to_++, a_ + ((b_ - a_) & -b_first));
    b_ += b_first;
    a_ += 1 - b_first;
    const std::int64_t a_last = less(end_b_[-1], end_a_[-1]);
    take(--end_, end_b_ - 1 + ((end_a_ - end_b_) & -a_last));
    end_a_ -= a_last;
    end_b_ -= 1 - a_last;
  }

  const U *a_, *b_, *end_a_, *end_b_;
  U *to_, *end_;
};

/// Runs of a sort by threads of hosts: tiles are sorted in cache, and runs are merged in pairs
/// where they are.
template <class Team, class T, class Policy>
class host_merging {
 public:
  static constexpr int ways = 2;
  static constexpr int items = static_cast<int>(host_tile_items<T, Policy>);

 private:
  struct numbered {
    T item;
    std::uint32_t from;
  };
  /// Items that are sorted by counting, and that are asked for their order, before runs of half a
  /// block are merged.
  static constexpr int few = 8, block = 8 * few;

 public:
  template <bool ordered>
  struct scratch {
    raw_array<std::conditional_t<ordered, numbered, T>, items> one, two;
  };

  template <bool ordered, class Source, class Less, class Move>
  static LANEWISE_FUNCTION void sort(const Team&, scratch<ordered>& shared, const Source& source,
                                     std::int64_t first, int n, const Less& less, T* out,
                                     const Move& move) {
    if constexpr (ordered) {
      numbered* const all = shared.one.data();
      for (int i = 0; i < n; ++i) all[i] = {source(first + i), static_cast<std::uint32_t>(i)};
      const numbered* const sorted =
          sort_runs(all, shared.two.data(), n,
                    [&](const numbered& x, const numbered& y)
                        LANEWISE_INLINE_LAMBDA { return less(x.item, y.item); });
      for (int i = 0; i < n; ++i) {
        out[first + i] = sorted[i].item;
        move(first + i, first + sorted[i].from);
      }
    } else {
      T* const all = shared.one.data();
      for (int i = 0; i < n; ++i) all[i] = source(first + i);
      const T* const sorted = sort_runs(all, shared.two.data(), n, less);
      for (int i = 0; i < n; ++i) out[first + i] = sorted[i];
    }
  }

  template <bool ordered, class Less, class Move>
  static LANEWISE_FUNCTION void merge(const Team& team, scratch<ordered>&, const T* in,
                                      const equal_runs& runs, const std::int64_t*, std::int64_t t,
                                      const Less& less, T* out, const Move& move) {
    const merge_piece piece =
        runs.search<items>(team.warp(), array_source<T, identity>{in, runs.n, {}}, t, less);
    const T* const a = in + runs.start(t * items, 0) + piece.begin.from_a;
    const T* const b = in + runs.start(t * items, 1) + piece.begin.from_b;
    const std::int64_t n_a = piece.count_a(), n_b = piece.count_b();
    T* const to = out + t * items;
    const auto take = [&](T* place, const T* from) LANEWISE_INLINE_LAMBDA {
      *place = *from;
      move(place - out, from - in);
    };
    host_merge_ends<T> whole(a, n_a, b, n_b, to);
    if (whole.in_streaks(less)) return whole.take_streaks(less, take);
    const auto half =
        lanewise::merge_path([&](std::int64_t i) { return a[i]; }, n_a,
                             [&](std::int64_t i) { return b[i]; }, n_b, piece.count() / 2, less);
    host_merge_ends<T>::merge({a, half.from_a, b, half.from_b, to},
                              {a + half.from_a, n_a - half.from_a, b + half.from_b,
                               n_b - half.from_b, to + piece.count() / 2},
                              less, take);
  }

 private:
  /// Sorts n items, with as much room beside. Returns where they are then.
  template <class U, class Less>
  static LANEWISE_FUNCTION U* sort_runs(U* from, U* to, int n, const Less& less) {
    for (int begin = 0; begin < n; begin += block)
      sort_block(from + begin, to + begin, n - begin < block ? n - begin : block, less);
    for (int run = block / 2; run < n; run *= 2) {
      U* const before = from;
      from = to;
      to = before;
      merge_level(from, to, n, run, less);
    }
    return to;
  }
  /// Merges runs in pairs, two pairs side by side, but what lies in streaks one by one.
  template <class U, class Less>
  static LANEWISE_FUNCTION void merge_level(const U* from, U* to, int n, int run,
                                            const Less& less) {
    const auto take = [](U* place, const U* x) LANEWISE_INLINE_LAMBDA { *place = *x; };
    host_merge_ends<U> waiting, next;
    bool waits = false;
    for (int begin = 0; begin < n; begin += 2 * run) {
      const int n_a = n - begin < run ? n - begin : run;
      const int n_b = n - begin - n_a < run ? n - begin - n_a : run;
      next = {from + begin, n_a, from + begin + n_a, n_b, to + begin};
      if (next.in_streaks(less)) {
        next.take_streaks(less, take);
      } else if (waits) {
        host_merge_ends<U>::merge(waiting, next, less, take);
        waits = false;
      } else {
        waiting = next;
        waits = true;
      }
    }
    if (waits) waiting.merge(less, take);
  }
  /// Sorts a block, from `from` to `to`, and may write to both.
  template <class U, class Less>
  static LANEWISE_FUNCTION void sort_block(U* from, U* to, int n, const Less& less) {
    if (is_ascending(from, n, less)) {
      for (int i = 0; i < n; ++i) to[i] = from[i];
    } else if (is_descending(from, n, less)) {
      for (int i = 0; i < n; ++i) to[i] = from[n - 1 - i];
    } else {
      for (int begin = 0; begin < n; begin += few)
        sort_few(from + begin, to + begin, n - begin < few ? n - begin : few, less);
      merge_level(to, from, n, few, less);
      merge_level(from, to, n, 2 * few, less);
    }
  }
  template <class U, class Less>
  static LANEWISE_FUNCTION bool is_ascending(const U* x, int n, const Less& less) {
    int wrong = 0;
    for (int i = 1; i < n; ++i) wrong |= less(x[i], x[i - 1]) ? 1 : 0;
    return wrong == 0;
  }
  /// Strictly, as equal items keep their order.
  template <class U, class Less>
  static LANEWISE_FUNCTION bool is_descending(const U* x, int n, const Less& less) {
    int wrong = 0;
    for (int i = 1; i < n; ++i) wrong |= less(x[i], x[i - 1]) ? 0 : 1;
    return wrong == 0;
  }
  /// Counts the items that come before each item. Where less is no order, results are copies of
  /// items.
  template <class U, class Less>
  static LANEWISE_FUNCTION void sort_few(const U* x, U* to, int n, const Less& less) {
    int rank[few];
    for (int i = 0; i < n; ++i) {
      to[i] = x[i];
      rank[i] = 0;
    }
    for (int i = 1; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        const int first = less(x[i], x[j]) ? 1 : 0;
        rank[i] += 1 - first;
        rank[j] += first;
      }
    }
    for (int i = 0; i < n; ++i) to[rank[i]] = x[i];
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
