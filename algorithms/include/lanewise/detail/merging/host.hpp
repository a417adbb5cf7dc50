// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/merging/runs.hpp>
#include <lanewise/merge_tile.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

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
  /// Items that are sorted by exchanges of neighbours before runs are merged.
  static constexpr int few = 8;

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
    const std::int64_t a = runs.start(t * items, 0), b = runs.start(t * items, 1);
    const array_source<T, identity> in_a{in + a, b - a, {}}, in_b{in + b, runs.n - b, {}};
    const merge_piece piece =
        runs.search<items>(team.warp(), array_source<T, identity>{in, runs.n, {}}, t, less);
    typename host_merge_tile<T, items>::scratch nothing;
    host_merge_tile<T, items>::template merge<ordered>(
        team, nothing, in_a, in_b, piece,
        [&](std::int64_t i, const T& x, std::int64_t index, bool is_b) LANEWISE_INLINE_LAMBDA {
          out[a + i] = x;
          move(a + i, (is_b ? b : a) + index);
        },
        less);
  }

 private:
  /// Sorts n items, with as much room beside. Returns where they are then.
  template <class U, class Less>
  static LANEWISE_FUNCTION U* sort_runs(U* from, U* to, int n, const Less& less) {
    int begin = 0;
    for (; begin + few <= n; begin += few) sort_few(from + begin, few, less);
    if (begin < n) sort_few(from + begin, n - begin, less);
    for (int run = few; run < n; run *= 2) {
      begin = 0;
      for (; begin + 2 * run <= n; begin += 2 * run)
        merge_equals(from + begin, run, to + begin, less);
      const int n_a = n - begin < run ? n - begin : run, n_b = n - begin - n_a;
      merge_rest(from + begin, n_a, n_b, to + begin, less);
      U* const before = from;
      from = to;
      to = before;
    }
    return from;
  }
  template <class U, class Less>
  static LANEWISE_FUNCTION void sort_few(U* x, int n, const Less& less) {
    for (int round = 0; round < n; ++round) {
      for (int c = round % 2; c + 1 < n; c += 2) {
        const U low = x[c], high = x[c + 1];
        const bool wrong = less(high, low);
        x[c] = wrong ? high : low;
        x[c + 1] = wrong ? low : high;
      }
    }
  }
  /// Two runs of equal lengths, from both ends: neither can end before so many steps, and the
  /// processor works on both ends side by side.
  template <class U, class Less>
  static LANEWISE_FUNCTION void merge_equals(const U* a, int run, U* to, const Less& less) {
    const U *b = a + run, *last_a = b - 1, *last_b = b + run - 1;
    U* back = to + 2 * run - 1;
    for (int i = 0; i < run; ++i) {
      const U x = *a, y = *b;
      const bool b_first = less(y, x);
      *to++ = b_first ? y : x;
      b += b_first;
      a += !b_first;
      const U u = *last_a, v = *last_b;
      const bool a_last = less(v, u);
      *back-- = a_last ? u : v;
      last_a -= a_last;
      last_b -= !a_last;
    }
  }
  template <class U, class Less>
  static LANEWISE_FUNCTION void merge_rest(const U* a, int n_a, int n_b, U* to, const Less& less) {
    const U *b = a + n_a, *end_a = b, *end_b = b + n_b;
    while (a < end_a && b < end_b) *to++ = less(*b, *a) ? *b++ : *a++;
    while (a < end_a) *to++ = *a++;
    while (b < end_b) *to++ = *b++;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
