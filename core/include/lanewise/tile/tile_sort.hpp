// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/register/sort.hpp>
#include <lanewise/tile/stream/sort.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// Stable sorts of up to `most` items that lie in a team's scratch, by any strict weak order, for
// kernels. Two mappings of one contract:
//
// - a team of several warps sorts k neighbours per lane in registers. k is the least odd number for
//   which k lanes' worth of room fits `most` items. The team merges runs in pairs (merge_tile's
//   way), within a warp without a barrier. O(k^2 + k log(lanes) + log(lanes) log(n)) comparisons
//   for every lane; a barrier and two more for every doubling beyond a warp's k items per lane;
// - on hosts std::stable_sort or, where the order of equal items cannot be seen, std::sort.
//
// All warps of the team call them, with the same arguments. Items may have been written by any warp
// just before; afterwards all warps see the result, and the scratch is free again. `less` is
// called with items below n only. Nothing at n and after is touched. T is trivially copyable and
// default constructible; `most` is at most 2^30.

namespace detail {

template <class Team, class T, int most>
using tile_sort_t = std::conditional_t<Team::is_single_thread, host_tile_sort<Team, T, most>,
                                       device_tile_sort<Team, T, most>>;

}  // namespace detail

/// What they need of the team's scratch beside the items: 2 bytes per item on devices (4 if `most`
/// is beyond 65536), a copy of the items on hosts.
template <class Team, class T, int most>
struct sort_scratch {
  using sorts = detail::tile_sort_t<Team, T, most>;
  typename sorts::scratch tile;
};

/// Sorts items[0, n).
template <class Team, class T, int most, class Less = less>
LANEWISE_FUNCTION void sort(const Team& team, sort_scratch<Team, T, most>& shared, T* items, int n,
                            Less less = {}) {
  sort_scratch<Team, T, most>::sorts::sort(team, shared.tile, items, n, less);
}

/// Sorts items[0, n), and then calls sink(i, x, from) once for every place i, in no particular
/// order: item x is there now and was at `from`. Neighbouring lanes call it for neighbouring i. So
/// values of any type can follow to another array, and rank[from] = i ranks the items.
template <class Team, class T, int most, class Less, class Sink>
LANEWISE_FUNCTION void sort(const Team& team, sort_scratch<Team, T, most>& shared, T* items, int n,
                            Less less, const Sink& sink) {
  sort_scratch<Team, T, most>::sorts::sort(team, shared.tile, items, n, less, sink);
}

/// Sorts items[0, n) together with values[0, n), which lie in the team's scratch, too.
template <class Team, class T, int most, class V, class Less = less>
LANEWISE_FUNCTION void sort_pairs(const Team& team, sort_scratch<Team, T, most>& shared, T* items,
                                  V* values, int n, Less less = {}) {
  sort_scratch<Team, T, most>::sorts::sort_pairs(team, shared.tile, items, values, n, less);
}

LANEWISE_END_NAMESPACE
