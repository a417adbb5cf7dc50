// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/merging/runs.hpp>
#include <lanewise/merge_tile.hpp>
#include <lanewise/tile_sort.hpp>

#include <cstdint>

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
  using sorts = host_tile_sort<Team, T, items>;

 public:
  template <bool ordered>
  struct scratch {
    raw_array<T, items> item;
    typename sorts::scratch sort;
  };

  template <bool ordered, class Source, class Less, class Put>
  static LANEWISE_FUNCTION void sort(const Team& team, scratch<ordered>& shared,
                                     const Source& source, std::int64_t first, int n,
                                     const Less& less, const Put& put) {
    T* const item = shared.item.data();
    for (int i = 0; i < n; ++i) item[i] = source(first + i);
    if constexpr (ordered) {
      sorts::sort(team, shared.sort, item, n, less,
                  [&](int i, const T& x, int from) { put(first + i, x, first + from); });
    } else {
      sorts::sort(team, shared.sort, item, n, less);
      for (int i = 0; i < n; ++i) put(first + i, item[i], 0);
    }
  }

  template <bool ordered, class Source, class Less, class Put>
  static LANEWISE_FUNCTION void merge(const Team& team, scratch<ordered>&, const Source& source,
                                      const equal_runs& runs, const std::int64_t*, std::int64_t t,
                                      const Less& less, const Put& put) {
    const std::int64_t a = runs.start(t * items, 0), b = runs.start(t * items, 1);
    const auto in_a = [&](std::int64_t i) LANEWISE_INLINE_LAMBDA { return source(a + i); };
    const auto in_b = [&](std::int64_t i) LANEWISE_INLINE_LAMBDA { return source(b + i); };
    const merge_piece piece = runs.search<items>(team.warp(), source, t, less);
    typename host_merge_tile<T, items>::scratch nothing;
    host_merge_tile<T, items>::merge(
        team, nothing, in_a, in_b, piece,
        [&](std::int64_t i, const T& x, std::int64_t index, bool is_b)
            LANEWISE_INLINE_LAMBDA { put(a + i, x, (is_b ? b : a) + index); },
        less);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
