// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/device_merge.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Sorts up to `most` items in the scratch of a team of several warps. Every lane sorts k
/// neighbours in registers, by exchanges of neighbours alone, which keep the order of equal ones.
/// Then runs are merged in pairs, all lanes taking k items of the result each, until one is left.
template <class Team, class T, int most>
class device_tile_sort {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int even_k = (most + Team::warps * width - 1) / (Team::warps * width);
  /// Odd, so that lanes which begin k items apart are in different banks.
  static constexpr int k = even_k | 1;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;
  using place = place_for<most>;

 public:
  /// Where every item was.
  struct scratch {
    place from[most];
  };

  template <class Less>
  static LANEWISE_FUNCTION void sort(const Team& team, scratch&, T* items, int n,
                                     const Less& less) {
    sort(team, items, n, less);
  }
  template <class Less>
  static LANEWISE_FUNCTION void sort(const Team& team, T* items, int n, const Less& less) {
    sort_runs<false>(team, nullptr, items, n, less);
  }
  /// Then from[i] is where item i was.
  template <class Less>
  static LANEWISE_FUNCTION void sort(const Team& team, place* from, T* items, int n,
                                     const Less& less) {
    sort_runs<true>(team, from, items, n, less);
  }

  /// Then put(i, item, where it was).
  template <class Less, class Put>
  static LANEWISE_FUNCTION void sort(const Team& team, scratch& shared, T* items, int n,
                                     const Less& less, const Put& put) {
    sort_runs<true>(team, shared.from, items, n, less);
    const auto warp = team.warp();
    auto lane = warp.template cast<int>(warp.lane());
    for (int at = team.warp_index() * width; at < n; at += Team::warps * width) {
      const auto exists = warp.first(n - at);
      auto x = warp.load(exists, items + at, T{});
      auto from = warp.load(exists, shared.from + at, place{0});
      warp.each(
          exists, [&](const T& item, place p, int l) { put(at + l, item, static_cast<int>(p)); }, x,
          from, lane);
    }
    team.barrier();
  }

  /// Values move along.
  template <class V, class Less>
  static LANEWISE_FUNCTION void sort_pairs(const Team& team, scratch& shared, T* items, V* values,
                                           int n, const Less& less) {
    sort_runs<true>(team, shared.from, items, n, less);
    const auto warp = team.warp();
    const auto row = [&](int c) { return (c * Team::warps + team.warp_index()) * width; };
    lanes<V> value[k];
    LANEWISE_UNROLL
    for (int c = 0; c < k; ++c) {
      const auto exists = warp.first(n - row(c));
      value[c] =
          warp.gather(exists, values, warp.load(exists, shared.from + row(c), place{0}), V{});
    }
    team.barrier();
    LANEWISE_UNROLL
    for (int c = 0; c < k; ++c) warp.store(warp.first(n - row(c)), values + row(c), value[c]);
    team.barrier();
  }

 private:
  template <bool ordered, class Less>
  static LANEWISE_FUNCTION void sort_runs(const Team& team, [[maybe_unused]] place* from, T* items,
                                          int n, const Less& less) {
    const auto warp = team.warp();
    const auto lane = warp.template cast<int>(warp.lane());
    const lanes<int> thread = lanes<int>(team.warp_index() * width) + lane;
    const lanes<int> own = thread * lanes<int>(k);
    const auto exists = [&](int c) LANEWISE_INLINE_LAMBDA { return own < lanes<int>(n - c); };
    lanes<T> x[k];
    lanes<place> p[ordered ? k : 1];
    const auto put_down = [&]() LANEWISE_INLINE_LAMBDA {
      LANEWISE_UNROLL
      for (int c = 0; c < k; ++c) {
        warp.scatter(exists(c), items + c, own, x[c]);
        if constexpr (ordered) warp.scatter(exists(c), from + c, own, p[c]);
      }
    };

    team.barrier();
    LANEWISE_UNROLL
    for (int c = 0; c < k; ++c) {
      x[c] = warp.gather(exists(c), items + c, own, T{});
      if constexpr (ordered) p[c] = warp.template cast<place>(own + lanes<int>(c));
    }
    LANEWISE_UNROLL
    for (int round = 0; round < k; ++round) {
      LANEWISE_UNROLL
      for (int c = round % 2; c + 1 < k; c += 2) {
        const auto wrong = less_by_lanes<warp_type, decltype(exists(0)), Less, T>(
            warp, exists(c + 1), less, x[c + 1], x[c]);
        exchange(wrong, x[c], x[c + 1]);
        if constexpr (ordered) exchange(wrong, p[c], p[c + 1]);
      }
    }
    put_down();
    for (int run = k, shift = 1; run < n; run *= 2, ++shift) {
      meet(team, 2 * run);
      // Lane 0 of the lanes that merge a pair of runs begins with it.
      const lanes<int> pair = ((thread >> lanes<int>(shift)) << lanes<int>(shift)) * lanes<int>(k);
      const auto end = [&](int length) {
        return warp.map([=](int begin) { return begin + length < n ? begin + length : n; }, pair);
      };
      lane_runs<warp_type> runs{pair, end(run), end(run), end(2 * run)};
      const T* const sorted = items;
      skip_by_lanes(warp, exists(0), sorted, runs, own - pair, less);
      merge_by_lanes<k>(warp, exists(0), sorted, runs, less,
                        [&](int c, const lanes<T>& item, [[maybe_unused]] const auto& at)
                            LANEWISE_INLINE_LAMBDA {
                              x[c] = item;
                              if constexpr (ordered)
                                p[c] = warp.gather(exists(c), from, at, place{0});
                            });
      meet(team, 2 * run);
      put_down();
    }
    team.barrier();
  }

  template <class Mask, class Lanes>
  static LANEWISE_FUNCTION void exchange(const Mask& m, Lanes& x, Lanes& y) {
    const Lanes before = x;
    x = select(m, y, x);
    y = select(m, before, y);
  }
  /// Orders the accesses of those that have to do with the same `together` items.
  static LANEWISE_FUNCTION void meet(const Team& team, int together) {
    if (together <= width * k) {
      team.warp().fence();
    } else {
      team.barrier();
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
