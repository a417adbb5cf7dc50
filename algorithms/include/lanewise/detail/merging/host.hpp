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

  template <bool ordered, class Source, class Less, class Move>
  static LANEWISE_FUNCTION void sort(const Team& team, scratch<ordered>& shared,
                                     const Source& source, std::int64_t first, int n,
                                     const Less& less, T* out, const Move& move) {
    T* const item = shared.item.data();
    for (int i = 0; i < n; ++i) item[i] = source(first + i);
    if constexpr (ordered) {
      sorts::sort(team, shared.sort, item, n, less,
                  [&](int i, const T&, int from) { move(first + i, first + from); });
    } else {
      sorts::sort(team, shared.sort, item, n, less);
    }
    for (int i = 0; i < n; ++i) out[first + i] = item[i];
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
};

}  // namespace detail
LANEWISE_END_NAMESPACE
