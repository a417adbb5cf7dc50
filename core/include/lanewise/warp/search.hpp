// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp/warp.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// Binary searches, in scratch or in global memory, in three forms. A lane searches on its own. A
// warp searches together, and asks at one place per lane at once. By lanes, each lane has a search
// of its own, and all lanes keep step.
//
// What is searched is called with an index, as sources are: a(i). Searches by lanes gather, so they
// take pointers. An order `less` is a strict weak order, as std::sort needs.

/// The first index in [first, last) for which holds(i) is false, or last; holds is true up to some
/// index and false from there on.
template <std::integral Index, class F>
LANEWISE_FUNCTION constexpr Index partition_point(Index first, Index last, F holds) {
  while (first < last) {
    const Index middle = first + (last - first) / 2;
    if (holds(middle)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

/// partition_point for k ranges at once, by a warp: first[q] becomes the first index in [first[q],
/// last[q]) for which holds(q, i) is false. It takes log n to the base of the warp's width + 1
/// rounds of loads instead of log2 n. k ranges take no more rounds than the longest range.
template <int k, class W, class F>
LANEWISE_FUNCTION void partition_points(const W& warp, std::int64_t (&first)[k],
                                        std::int64_t (&last)[k], F holds) {
  using answers = lanes_t<W, std::uint32_t>;
  const auto open = [&] {
    bool any = false;
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) any = any || first[q] < last[q];
    return any;
  };
  while (open()) {
    std::int64_t step[k];
    answers answer[k];
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) {
      // Lane l asks for the last of the step numbers l, so that a new last is a number that was
      // asked.
      const std::int64_t n = last[q] - first[q];
      step[q] = (n + W::width) / (W::width + 1);
      answer[q] = warp.map(
          [&](std::uint32_t l) {
            const std::int64_t end = (std::int64_t{l} + 1) * step[q];
            return static_cast<std::uint32_t>(end <= n && n > 0 && holds(q, first[q] + end - 1));
          },
          warp.lane());
    }
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) {
      const int held = warp.count(answer[q] != answers(0u));
      first[q] += held * step[q];
      if (held < W::width && first[q] + step[q] - 1 < last[q]) last[q] = first[q] + step[q] - 1;
    }
  }
}

/// partition_point for one range, by a warp.
template <class W, class F>
LANEWISE_FUNCTION std::int64_t partition_point(const W& warp, std::int64_t first, std::int64_t last,
                                               F holds) {
  std::int64_t from[1] = {first}, to[1] = {last};
  lanewise::partition_points(warp, from, to, [&](int, std::int64_t i) { return holds(i); });
  return from[0];
}

/// The first index of a sorted array whose item is not less than x.
template <class T, std::integral Index, class U>
LANEWISE_FUNCTION constexpr Index lower_bound(const T* sorted, Index n, const U& x) {
  return lanewise::partition_point(Index{0}, n, [&](Index i) { return sorted[i] < x; });
}

/// The first index of a sorted array whose item is greater than x.
template <class T, std::integral Index, class U>
LANEWISE_FUNCTION constexpr Index upper_bound(const T* sorted, Index n, const U& x) {
  return lanewise::partition_point(Index{0}, n, [&](Index i) { return !(x < sorted[i]); });
}

/// lower_bound and upper_bound for any order.
template <class T, std::integral Index, class U, class Less>
LANEWISE_FUNCTION constexpr Index lower_bound(const T* sorted, Index n, const U& x, Less less) {
  return lanewise::partition_point(Index{0}, n, [&](Index i) { return less(sorted[i], x); });
}
template <class T, std::integral Index, class U, class Less>
LANEWISE_FUNCTION constexpr Index upper_bound(const T* sorted, Index n, const U& x, Less less) {
  return lanewise::partition_point(Index{0}, n, [&](Index i) { return !less(x, sorted[i]); });
}

namespace detail {

/// The active lanes for which less(x, y) holds; it is called for no others.
template <class W, class Mask, class Less, class T>
LANEWISE_FUNCTION auto less_by_lanes(const W& warp, const Mask& active,
                                     [[maybe_unused]] const Less& less, const lanes_t<W, T>& x,
                                     const lanes_t<W, T>& y) {
  if constexpr (std::is_same_v<Less, lanewise::less> && std::is_arithmetic_v<T> &&
                !std::is_same_v<T, bool>) {
    const mask_t<W, T> here = active;
    return here & (x < y);
  } else {
    return warp.map(
               active,
               [&](const T& a, const T& b)
                   LANEWISE_INLINE_LAMBDA { return static_cast<std::uint32_t>(less(a, b)); },
               std::uint32_t{0}, x, y) != 0u;
  }
}

template <bool upper, class W, class Mask, class T, class Index, class Less>
LANEWISE_FUNCTION auto bound_by_lanes(const W& warp, const Mask& active, const T* sorted, Index n,
                                      const lanes_t<W, T>& key, const Less& less) {
  using indices = lanes_t<W, Index>;
  indices first(0);
  // As many items are left for every lane. Some of them may be known not to come before the key:
  // to ask once more costs less than lanes that part.
  for (Index left = n; left > 0;) {
    const Index half = static_cast<Index>(left - left / 2);
    const auto x = warp.gather(active, sorted + (half - 1), first, T{});
    if constexpr (upper) {
      const mask_t<W, T> here = active;
      const mask_t<W, T> after =
          detail::less_by_lanes<W, Mask, Less, T>(warp, active, less, key, x);
      first = lanewise::select(here & !after, first + indices(half), first);
    } else {
      first = lanewise::select(detail::less_by_lanes<W, Mask, Less, T>(warp, active, less, x, key),
                               first + indices(half), first);
    }
    left = static_cast<Index>(left - half);
  }
  return first;
}

}  // namespace detail

/// By lanes: every active lane gets the first index of a sorted array of n items whose item is not
/// less than its key. The indices are lanes<Index>; they are 0 in inactive lanes, which touch
/// nothing. The number of rounds depends on n alone: floor(log2 n) + 1, each a gather and a
/// comparison, and no lane waits for another. `less` is called with items and keys that exist only.
template <class W, class Mask, class T, std::integral Index, class Less = less>
LANEWISE_FUNCTION auto lower_bound(const W& warp, const Mask& active, const T* sorted, Index n,
                                   const lanes_t<W, std::type_identity_t<T>>& keys,
                                   Less less = {}) {
  return detail::bound_by_lanes<false>(warp, active, sorted, n, keys, less);
}
/// As `lower_bound`, for the first index whose item is greater than the lane's key.
template <class W, class Mask, class T, std::integral Index, class Less = less>
LANEWISE_FUNCTION auto upper_bound(const W& warp, const Mask& active, const T* sorted, Index n,
                                   const lanes_t<W, std::type_identity_t<T>>& keys,
                                   Less less = {}) {
  return detail::bound_by_lanes<true>(warp, active, sorted, n, keys, less);
}

/// A cut through the merge of two sorted sequences: from_a items of a and from_b items of b lie
/// before it.
template <class Index>
struct merge_cut {
  Index from_a;
  Index from_b;
};

/// The cut after the first `distance` <= n_a + n_b items of the stable merge of a(0) ... a(n_a -
/// 1) and b(0) ... b(n_b - 1), in which equal items of a come before those of b. By a lane: log2 of
/// the shorter sequence's length rounds. (Merge path: Odeh, Green, Mwassi, Shmueli and Birk, 2012.)
template <class A, std::integral Index, class B, class Less = less>
LANEWISE_FUNCTION constexpr merge_cut<Index> merge_path(const A& a, Index n_a, const B& b,
                                                        std::type_identity_t<Index> n_b,
                                                        std::type_identity_t<Index> distance,
                                                        Less less = {}) {
  const Index least = distance > n_b ? distance - n_b : Index{0};
  const Index most = distance < n_a ? distance : n_a;
  const Index from_a = lanewise::partition_point(
      least, most, [&](Index i) { return !less(b(distance - 1 - i), a(i)); });
  return {from_a, static_cast<Index>(distance - from_a)};
}

/// A piece of a merge: what lies between two cuts.
struct merge_piece {
  merge_cut<std::int64_t> begin;
  merge_cut<std::int64_t> end;

  /// How many items of each sequence, and of both, it has. The number of its first item in the
  /// merge is that of both before it.
  LANEWISE_FUNCTION std::int64_t count_a() const { return end.from_a - begin.from_a; }
  LANEWISE_FUNCTION std::int64_t count_b() const { return end.from_b - begin.from_b; }
  LANEWISE_FUNCTION std::int64_t count() const { return count_a() + count_b(); }
  LANEWISE_FUNCTION std::int64_t first() const { return begin.from_a + begin.from_b; }
};

/// The piece of items [first, last) of the merge, by a warp, which searches for both ends at once.
template <class W, class A, class B, class Less = less>
LANEWISE_FUNCTION merge_piece cut_merge(const W& warp, const A& a, std::int64_t n_a, const B& b,
                                        std::int64_t n_b, std::int64_t first, std::int64_t last,
                                        Less less = {}) {
  const std::int64_t distance[2] = {first, last};
  std::int64_t from[2], most[2];
  LANEWISE_UNROLL
  for (int q = 0; q < 2; ++q) {
    from[q] = distance[q] > n_b ? distance[q] - n_b : 0;
    most[q] = distance[q] < n_a ? distance[q] : n_a;
  }
  lanewise::partition_points(warp, from, most, [&](int q, std::int64_t i) {
    return !less(b((q == 0 ? first : last) - 1 - i), a(i));
  });
  // Even if less is no order, a piece has the number of items that was asked for.
  if (from[1] < from[0]) from[1] = from[0];
  if (from[1] - from[0] > last - first) from[1] = from[0] + (last - first);
  return {{from[0], first - from[0]}, {from[1], last - from[1]}};
}

/// One cut by a warp: log n to the base of the warp's width + 1 rounds.
template <class W, class A, class B, class Less = less>
requires requires {
  W::width;
}
LANEWISE_FUNCTION merge_cut<std::int64_t> merge_path(const W& warp, const A& a, std::int64_t n_a,
                                                     const B& b, std::int64_t n_b,
                                                     std::int64_t distance, Less less = {}) {
  const std::int64_t least = distance > n_b ? distance - n_b : 0;
  const std::int64_t most = distance < n_a ? distance : n_a;
  const std::int64_t from_a = lanewise::partition_point(
      warp, least, most, [&](std::int64_t i) { return !less(b(distance - 1 - i), a(i)); });
  return {from_a, distance - from_a};
}

/// The cut after the first `distance` items of the stable merge of several sorted sequences, by a
/// warp: lane q owns sequence q, which has length(q) items item(q, 0), item(q, 1), ...; lanes
/// without a sequence have length 0. Returns how many items of each lane's sequence lie before
/// the cut. They sum up to distance, which is at most the sum of the lengths; nothing before
/// the cut is greater than anything after it, and of equal items those of lower lanes come first.
///
/// Every round takes an item as pivot: the weighted median of the middles of what is undecided. It
/// counts by binary searches, one per lane, what comes before the pivot. So it decides a quarter of
/// all that is undecided at least, and half of it mostly: O(log n) rounds of O(log n) loads, which
/// wait for each other, and of a comparison with the pivot of every lane. T is the type of items.
template <class T, class W, class Item, class Less = less>
LANEWISE_FUNCTION lanes_t<W, std::int64_t> cut_many(const W& warp,
                                                    const lanes_t<W, std::int64_t>& length,
                                                    const Item& item, std::int64_t distance,
                                                    Less less = {}) {
  using indices = lanes_t<W, std::int64_t>;
  const auto lane = warp.lane();
  indices first(0), last = length;
  std::int64_t left = distance;  // items before the cut that are undecided
  while (left > 0) {
    const indices undecided = last - first;
    const std::int64_t all = warp.reduce(undecided, plus{});
    if (all <= left) return last;
    const auto open = first < last;
    const auto middle = warp.map(
        [](std::int64_t low, std::int64_t high) { return low + (high - low) / 2; }, first, last);
    const auto x = warp.map(
        open, [&](std::uint32_t q, std::int64_t i) -> T { return item(q, i); }, T{}, lane, middle);
    // What is undecided in the lanes whose middles come before a lane's own.
    indices before(0);
    for (auto others = warp.ballot(open); others != 0; others &= others - 1) {
      const int q = W::lowest(others);
      const T y = warp.broadcast(x, q);
      const std::int64_t weight = warp.broadcast(undecided, q);
      warp.each(
          open,
          [&](std::int64_t& sum, const T& mine, std::uint32_t l) {
            const auto of = static_cast<std::uint32_t>(q);
            if (of < l ? !less(mine, y) : of > l && less(y, mine)) sum += weight;
          },
          before, x, lane);
    }
    const int chosen =
        W::lowest(warp.ballot(warp.map(
                                  open,
                                  [all](std::int64_t b, std::int64_t w) -> std::uint32_t {
                                    return b <= all / 2 && all / 2 < b + w;
                                  },
                                  0u, before, undecided) != 0u));
    const T pivot = warp.broadcast(x, chosen);
    // How many come before the pivot, it included.
    const auto mine = lane == static_cast<std::uint32_t>(chosen);
    const auto upto = warp.map(
        open,
        [&](std::uint32_t q, std::int64_t low, std::int64_t high, std::int64_t pivot_at) {
          const auto of = static_cast<std::uint32_t>(chosen);
          if (q == of) return pivot_at + 1;
          return lanewise::partition_point(low, high, [&](std::int64_t i) {
            return q < of ? !less(pivot, item(q, i)) : less(item(q, i), pivot);
          });
        },
        std::int64_t{0}, lane, first, last, middle);
    const indices end = lanewise::select(open, upto, first);
    const std::int64_t front = warp.reduce(end - first, plus{});
    if (front <= left) {
      first = end;
      left -= front;
    } else {
      last = lanewise::select(mine, middle, end);
    }
  }
  return first;
}

/// As `cut_many`, for k sequences by a lane, for many cuts: sequence q is item(q, 0) to item(q,
/// length[q] - 1), and in_front[q] of its items lie before the cut. distance is at most the sum of
/// the lengths.
///
/// Every round looks at the middles of what is undecided. If more items are left than lie before
/// the middles, the least of these lies before the cut; if not, the greatest lies after it. So log2
/// of the length rounds for every sequence, each with one load. Even if less is no order, in_front
/// adds up to distance.
template <class T, int k, class Item, class Less = less>
LANEWISE_FUNCTION void cut_few(const std::int64_t (&length)[k], const Item& item,
                               std::int64_t distance, std::int64_t (&in_front)[k], Less less = {}) {
  std::int64_t last[k] = {};
  T middle[k];
  const auto half = [&](int q) { return (last[q] - in_front[q]) / 2; };
  LANEWISE_UNROLL
  for (int q = 0; q < k; ++q) {
    in_front[q] = 0;
    last[q] = length[q];
    if (length[q] > 0) middle[q] = item(q, half(q));
  }
  std::int64_t left = distance;
  for (;;) {
    int least = -1, greatest = -1, open = 0;
    std::int64_t before = 0;
    T low{}, high{};
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) {
      if (in_front[q] >= last[q]) continue;
      ++open;
      before += half(q);
      if (least < 0 || less(middle[q], low)) {
        least = q;
        low = middle[q];
      }
      if (greatest < 0 || !less(middle[q], high)) {
        greatest = q;
        high = middle[q];
      }
    }
    if (open == 0) return;
    const bool rises = left > before, falls = left < before + open;
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) {
      const bool up = rises && q == least, down = falls && q == greatest;
      if (up) {
        left -= half(q) + 1;
        in_front[q] += half(q) + 1;
      } else if (down) {
        last[q] = in_front[q] + half(q);
      }
      if ((up || down) && in_front[q] < last[q]) middle[q] = item(q, in_front[q] + half(q));
    }
  }
}

/// cut_few by a warp, for a few sequences in global memory: sequence q is item(q, 0) to item(q,
/// length[q] - 1), and in_front[q] of its items lie before the cut.
///
/// Every round loads W / k samples of each sequence's undecided items, all at once. Each sample is
/// compared with the samples of the other sequences. That gives the least and the greatest number
/// of items that can lie before it. If both are on one side of the cut, the sample is decided. A
/// round leaves two or three steps of a sequence: 11 rounds for four sequences of 2^22 items by 32
/// lanes. If less is no order, in_front adds up to no more than distance.
template <class T, int k, class W, class Item, class Less = less>
LANEWISE_FUNCTION void cut_few(const W& warp, const std::int64_t (&length)[k], const Item& item,
                               std::int64_t distance, std::int64_t (&in_front)[k], Less less = {}) {
  constexpr int samples = W::width / k;
  constexpr int widest = static_cast<int>(std::bit_floor(static_cast<unsigned>(samples)));
  static_assert(samples > 0, "lanewise: cut_few: a lane for each sequence");
  using bits = typename W::bits;
  using indices = lanes_t<W, std::int64_t>;
  const auto lane = warp.template cast<int>(warp.lane());
  // Lane l has sample l % samples of sequence l / samples.
  const auto number = warp.map([](int l) LANEWISE_INLINE_LAMBDA { return l % samples + 1; }, lane);
  const auto own = warp.map([](int l) LANEWISE_INLINE_LAMBDA { return l / samples; }, lane);
  std::int64_t last[k];
  LANEWISE_UNROLL
  for (int q = 0; q < k; ++q) {
    in_front[q] = 0;
    last[q] = length[q];
  }
  std::int64_t left = distance;  // items before the cut that are undecided
  for (bool decides = true; decides;) {
    // Sample j of sequence q is number j step[q] of its undecided items, counted from 1.
    std::int64_t step[k], undecided[k], all = 0;
    indices at(0);
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) {
      undecided[q] = last[q] - in_front[q];
      step[q] = (undecided[q] + samples) / (samples + 1);
      all += undecided[q];
      warp.each(
          [&](std::int64_t& to, int r, int j) LANEWISE_INLINE_LAMBDA {
            if (r == q) to = j * step[q] <= undecided[q] && step[q] > 0 ? j * step[q] : 0;
          },
          at, own, number);
    }
    if (left <= 0 || left >= all) break;
    const auto exists = at > indices(0);
    const auto x = warp.map(
        exists,
        [&](int r, std::int64_t after) -> T {
          std::int64_t from = 0;
          LANEWISE_UNROLL
          for (int q = 0; q < k; ++q) from = r == q ? in_front[q] : from;
          return item(r, from + after - 1);
        },
        T{}, own, at);
    indices least = at - indices(1), most = least;
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) {
      // The samples of sequence q that come before a lane's own: of equal ones those of lower
      // sequences do.
      lanes_t<W, int> before(0);
      LANEWISE_UNROLL
      for (int half = widest; half > 0; half /= 2) {
        const auto y = warp.shuffle(
            x, warp.map([&](int b) LANEWISE_INLINE_LAMBDA { return q * samples + b + half - 1; },
                        before));
        warp.each(
            exists,
            [&](int& b, const T& other, const T& mine, int r) LANEWISE_INLINE_LAMBDA {
              const int next = b + half;
              if (r == q || next > samples || next * step[q] > undecided[q]) return;
              if (r > q ? !less(mine, other) : less(other, mine)) b = next;
            },
            before, y, x, own);
      }
      warp.each(
          [&](std::int64_t& low, std::int64_t& high, int b, int r) LANEWISE_INLINE_LAMBDA {
            if (r == q || step[q] == 0) return;
            const std::int64_t next = (b + 1) * step[q] - 1;
            low += b * step[q];
            high += b == samples || next > undecided[q] ? undecided[q] : next;
          },
          least, most, before, own);
    }
    const bits front = warp.ballot(exists & (most < indices(left)));
    const bits after = warp.ballot(exists & !(least < indices(left)));
    decides = (front | after) != 0;
    LANEWISE_UNROLL
    for (int q = 0; q < k; ++q) {
      constexpr bits of_one = static_cast<bits>(~bits{0}) >> (8 * sizeof(bits) - samples);
      const bits up = front >> (q * samples) & of_one, down = after >> (q * samples) & of_one;
      if (down != 0) last[q] = in_front[q] + (W::lowest(down) + 1) * step[q] - 1;
      std::int64_t taken = W::popcount(up) * step[q];
      taken = taken < left ? taken : left;
      in_front[q] += taken;
      left -= taken;
      last[q] = last[q] < in_front[q] ? in_front[q] : last[q];
    }
  }
  LANEWISE_UNROLL
  for (int q = 0; q < k; ++q) {
    const std::int64_t rest = last[q] - in_front[q], taken = rest < left ? rest : left;
    in_front[q] += taken;
    left -= taken;
  }
}

/// A place on the path that merges the ends of consecutive ranges with the numbers of the items in
/// them: `ends` ends and `items` items lie before it. Cutting the path into equal pieces shares out
/// both, whatever the ranges' lengths are.
template <class Index>
struct path_point {
  Index ends;
  Index items;
};

/// The place `distance` steps from the beginning of the path of ranges that end before items
/// end_of(0) <= end_of(1) <= ...: a range's end comes before the item that it ends before.
/// distance <= ranges + items; the place is known not to lie before `from`. (Merge path, with
/// the natural numbers as the second sequence.)
template <class Index, class Ends>
LANEWISE_FUNCTION constexpr path_point<Index> split_path(const Ends& end_of, Index ranges,
                                                         Index items, Index distance,
                                                         path_point<Index> from = {0, 0}) {
  const Index least = distance > items + from.ends ? distance - items : from.ends;
  const Index most = distance - from.items < ranges ? distance - from.items : ranges;
  const Index ends =
      lanewise::partition_point(least, most, [&](Index r) { return end_of(r) + r < distance; });
  return {ends, distance - ends};
}

/// split_path by a warp.
template <class W, class Ends>
LANEWISE_FUNCTION path_point<std::int64_t> split_path(const W& warp, const Ends& end_of,
                                                      std::int64_t ranges, std::int64_t items,
                                                      std::int64_t distance,
                                                      path_point<std::int64_t> from = {0, 0}) {
  const std::int64_t least = distance > items + from.ends ? distance - items : from.ends;
  const std::int64_t most = distance - from.items < ranges ? distance - from.items : ranges;
  const std::int64_t ends = lanewise::partition_point(
      warp, least, most, [&](std::int64_t r) { return end_of(r) + r < distance; });
  return {ends, distance - ends};
}

/// A piece of a path.
struct path_piece {
  path_point<std::int64_t> begin;
  path_point<std::int64_t> end;

  /// Not so where the ranges' ends are out of order.
  LANEWISE_FUNCTION bool is_ordered() const {
    return begin.ends <= end.ends && begin.items <= end.items;
  }
};

/// The piece from `first` to `last` steps from the beginning of the path. Both of its ends are
/// searched at once. The end of a range is as many steps as `weight` items; a cut among them falls
/// before this end, or before where the path is then.
template <int weight = 1, class W, class Ends>
LANEWISE_FUNCTION path_piece cut_path(const W& warp, const Ends& end_of, std::int64_t ranges,
                                      std::int64_t items, std::int64_t first, std::int64_t last) {
  const std::int64_t distance[2] = {first, last};
  std::int64_t least[2], most[2];
  LANEWISE_UNROLL
  for (int q = 0; q < 2; ++q) {
    least[q] = distance[q] > items ? (distance[q] - items) / weight : 0;
    most[q] = distance[q] / weight < ranges ? distance[q] / weight : ranges;
  }
  lanewise::partition_points(warp, least, most, [&](int q, std::int64_t r) {
    return end_of(r) + weight * (r + 1) <= distance[q];
  });
  path_point<std::int64_t> point[2];
  LANEWISE_UNROLL
  for (int q = 0; q < 2; ++q) {
    point[q] = {least[q], distance[q] - weight * least[q]};
    if (weight > 1 && least[q] < ranges) {
      // Some steps of the next end may lie before the cut.
      const std::int64_t end = end_of(least[q]);
      if (end < point[q].items) point[q].items = end;
    }
  }
  return {point[0], point[1]};
}

LANEWISE_END_NAMESPACE
