// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/data/scratch_items.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Sorts up to `most` items in the scratch of a host's thread, by the standard library.
template <class Team, class T, int most>
class host_tile_sort {
  struct numbered {
    T item;
    std::uint32_t from;
  };

 public:
  struct scratch {
    raw_array<numbered, most> item;
  };

  template <class Less>
  static LANEWISE_FUNCTION void sort(const Team&, scratch&, T* items, int n, const Less& less) {
    // Equal integers do not differ, and the sort that may exchange them is faster.
    if constexpr (std::is_integral_v<T> && std::is_same_v<Less, lanewise::less>) {
      std::sort(items, items + n, less);
    } else {
      std::stable_sort(items, items + n, less);
    }
  }

  /// Then put(i, item, where it was).
  template <class Less, class Put>
  static LANEWISE_FUNCTION void sort(const Team&, scratch& shared, T* items, int n,
                                     const Less& less, const Put& put) {
    numbered* const all = number(shared, items, n, less);
    for (int i = 0; i < n; ++i) {
      items[i] = all[i].item;
      put(i, all[i].item, static_cast<int>(all[i].from));
    }
  }

  /// Values move along.
  template <class V, class Less>
  static LANEWISE_FUNCTION void sort_pairs(const Team&, scratch& shared, T* items, V* values, int n,
                                           const Less& less) {
    numbered* const all = number(shared, items, n, less);
    for (int i = 0; i < n; ++i) items[i] = all[i].item;
    // Value i comes from place all[i].from: from place to place, round by round.
    for (int i = 0; i < n; ++i) {
      const V first = values[i];
      int at = i;
      for (int next; (next = static_cast<int>(all[at].from)) != i; at = next) {
        values[at] = values[next];
        all[at].from = static_cast<std::uint32_t>(at);
      }
      values[at] = first;
      all[at].from = static_cast<std::uint32_t>(at);
    }
  }

 private:
  template <class Less>
  static LANEWISE_FUNCTION numbered* number(scratch& shared, const T* items, int n,
                                            const Less& less) {
    numbered* const all = shared.item.data();
    for (int i = 0; i < n; ++i) all[i] = {items[i], static_cast<std::uint32_t>(i)};
    std::stable_sort(all, all + n, [&less](const numbered& x, const numbered& y) {
      return less(x.item, y.item);
    });
    return all;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
