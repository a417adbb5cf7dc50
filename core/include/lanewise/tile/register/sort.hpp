// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/register/merge.hpp>
#include <lanewise/warp/sorting_network.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

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
  using lanes = lanes_t<warp_type, U>;
  using place = place_for<most>;

 public:
  /// from[i] is where item i was.
  struct scratch {
    place from[most];
  };

  template <class Less>
  static LANEWISE_FUNCTION void sort(const Team& team, scratch&, T* items, int n,
                                     const Less& less) {
    sort(team, items, n, less);
  }
  /// padded: there is room after the items for those of a lane.
  template <bool padded = false, class Less>
  static LANEWISE_FUNCTION void sort(const Team& team, T* items, int n, const Less& less) {
    sort_runs<false, padded>(team, nullptr, items, n, less);
  }
  /// Then from[i] is where item i was.
  template <bool padded = false, class Less>
  static LANEWISE_FUNCTION void sort(const Team& team, place* from, T* items, int n,
                                     const Less& less) {
    sort_runs<true, padded>(team, from, items, n, less);
  }

  /// Then put(i, item, where it was).
  template <class Less, class Put>
  static LANEWISE_FUNCTION void sort(const Team& team, scratch& shared, T* items, int n,
                                     const Less& less, const Put& put) {
    sort_runs<true, false>(team, shared.from, items, n, less);
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
    sort_runs<true, false>(team, shared.from, items, n, less);
    const auto warp = team.warp();
    const auto row = [&](int c) { return (c * Team::warps + team.warp_index()) * width; };
    const place* const from = shared.from;
    lanes<V> value[k];
    LANEWISE_UNROLL
    for (int c = 0; c < k; ++c) {
      const auto exists = warp.first(n - row(c));
      value[c] = warp.gather(exists, values, warp.load(exists, from + row(c), place{0}), V{});
    }
    team.barrier();
    LANEWISE_UNROLL
    for (int c = 0; c < k; ++c) warp.store(warp.first(n - row(c)), values + row(c), value[c]);
    team.barrier();
  }

 private:
  using items_of_lane = pack<T, k>;
  /// Equal integers do not differ, or differ by where they were, so that any exchanges will do.
  template <class Less>
  static constexpr bool by_network = compares_anything<T, Less>&& std::is_integral_v<T>;

  template <bool ordered, bool padded, class Less>
  static LANEWISE_FUNCTION void sort_runs(const Team& team, [[maybe_unused]] place* from, T* items,
                                          int n, const Less& less) {
    using places_of_lane = pack<place, ordered ? k : 1>;
    const auto warp = team.warp();
    auto own = (lanes<int>(team.warp_index() * width) + warp.template cast<int>(warp.lane())) *
               lanes<int>(k);
    const auto exists = own < n;
    lanes<items_of_lane> x;
    lanes<places_of_lane> p;
    const auto put_down = [&]() LANEWISE_INLINE_LAMBDA {
      warp.each(
          exists,
          [&](const items_of_lane& y, [[maybe_unused]] const places_of_lane& q, int first) {
            LANEWISE_UNROLL
            for (int c = 0; c < k; ++c) {
              if (padded || first + c < n) {
                items[first + c] = y[c];
                if constexpr (ordered) from[first + c] = q[c];
              }
            }
          },
          x, p, own);
    };

    team.barrier();
    warp.each(
        exists,
        [&](items_of_lane& y, [[maybe_unused]] places_of_lane& q, int first) {
          LANEWISE_UNROLL
          for (int c = 0; c < k; ++c) {
            y[c] = items[padded || first + c < n ? first + c : n - 1];
            if constexpr (by_network<Less>) {
              constexpr T greatest = std::numeric_limits<T>::max();
              if (first + c >= n) y[c] = greatest;
            }
            if constexpr (ordered) q[c] = static_cast<place>(first + c);
          }
          if constexpr (by_network<Less>) {
            exchange_all<ordered>(y, q, std::make_index_sequence<sorting_network<k>.size>());
          } else {
            sort_neighbours<ordered>(y, q, n - first, less);
          }
        },
        x, p, own);
    put_down();
    const auto merge_runs_of = [&](int run, auto may_read_after) LANEWISE_INLINE_LAMBDA {
      synchronise(team, 2 * run);
      warp.each(
          exists,
          [&](items_of_lane& y, [[maybe_unused]] places_of_lane& q, int first) {
            const int pair = first / (2 * run) * (2 * run);
            const int middle = pair + run < n ? pair + run : n;
            const int end = pair + 2 * run < n ? pair + 2 * run : n;
            run_pair runs{pair, middle, middle, end};
            detail::skip_items<most>(static_cast<const T*>(items), runs, first - pair, less, run);
            detail::merge_items<k, may_read_after()>(
                static_cast<const T*>(items), runs, less,
                [&](int c, const T& z, [[maybe_unused]] int at, bool) LANEWISE_INLINE_LAMBDA {
                  y[c] = z;
                  // If no item is left, `at` may be another warp's place, or none.
                  if constexpr (ordered) {
                    if (padded || first + c < n) q[c] = from[at];
                  }
                });
          },
          x, p, own);
      synchronise(team, 2 * run);
      put_down();
    };
    // While warps are on their own, others write after their runs.
    int run = k;
    for (; run < n && 2 * run <= width * k; run *= 2) merge_runs_of(run, std::false_type{});
    for (; run < n; run *= 2) merge_runs_of(run, std::bool_constant<padded>{});
    team.barrier();
  }

  /// By exchanges of neighbours alone, which keep the order of equal ones.
  template <bool ordered, class Places, class Less>
  static LANEWISE_FUNCTION void sort_neighbours(items_of_lane& x, [[maybe_unused]] Places& p, int n,
                                                const Less& less) {
    LANEWISE_UNROLL
    for (int round = 0; round < k; ++round) {
      LANEWISE_UNROLL
      for (int c = round % 2; c + 1 < k; c += 2) {
        bool wrong;
        if constexpr (compares_anything<T, Less>) {
          wrong = (c + 1 < n) & (x[c + 1] < x[c]);
        } else {
          wrong = c + 1 < n && less(x[c + 1], x[c]);
        }
        exchange(wrong, x[c], x[c + 1]);
        if constexpr (ordered) exchange(wrong, p[c], p[c + 1]);
      }
    }
  }
  template <class U>
  static LANEWISE_FUNCTION void exchange(bool wrong, U& x, U& y) {
    const U before = x;
    x = wrong ? y : x;
    y = wrong ? before : y;
  }

  template <bool ordered, class Places, std::size_t... i>
  static LANEWISE_FUNCTION void exchange_all(items_of_lane& x, Places& p,
                                             std::index_sequence<i...>) {
    (order<ordered, sorting_network<k>.low[i], sorting_network<k>.high[i]>(x, p), ...);
  }
  template <bool ordered, int low, int high, class Places>
  static LANEWISE_FUNCTION void order(items_of_lane& x, [[maybe_unused]] Places& p) {
    if constexpr (ordered) {
      // Words, so that nothing branches.
      const int wrong = int{x[high] < x[low]} | (int{x[high] == x[low]} & int{p[high] < p[low]});
      exchange(wrong, x[low], x[high]);
      exchange(wrong, p[low], p[high]);
    } else {
      const T less = x[low] < x[high] ? x[low] : x[high];
      x[high] = x[low] < x[high] ? x[high] : x[low];
      x[low] = less;
    }
  }

  /// Orders the accesses of the lanes that have to do with the same `together` items.
  static LANEWISE_FUNCTION void synchronise(const Team& team, int together) {
    if (together <= width * k) {
      team.warp().fence();
    } else {
      team.barrier();
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
