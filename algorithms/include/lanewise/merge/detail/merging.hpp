// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge/detail/device/device_merging.hpp>
#include <lanewise/merge/detail/device/device_set_tile.hpp>
#include <lanewise/merge/detail/host/host_merging.hpp>
#include <lanewise/merge/detail/host/host_set_tile.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Sorts tiles, and merges sorted runs of equal lengths tile by tile. Members, all static:
///
///   ways                   how many runs a pass can merge: 2 or 4; 4 need cuts;
///   items                  of a tile;
///   scratch<ordered>       ordered: where items come from is wanted;
///   sort<ordered>(team, scratch, source, first, n, less, out, move);
///   merge<ordered>(team, scratch, in, runs, cuts, t, less, out, move).
///
/// out[i] gets item i; if ordered, move(i, j) says that it was item j.
template <class Team, class T, class Policy>
using merging_t = std::conditional_t<Team::is_single_thread, host_merging<Team, T, Policy>,
                                     device_merging<Team, T, Policy>>;

/// A tile of the merge of two sequences. Some items of it are kept. Constructed from (team,
/// scratch, first, second, piece).
///
///   mark<rule>(first, second, less)          keeps what a set operation does;
///   mark_firsts(first, second, keep, less)   keeps what differs from the item before it, if
///                                            keep(index, is_second) holds;
///   write(put, start, room)                  writes what is kept to places from start on
///
/// with_origins: keep or put is told where items were. Where put has array_of(is_second), hosts
/// load from there what goes with items.
template <class Team, class T, class Policy, bool with_origins>
using set_tile_t =
    std::conditional_t<Team::is_single_thread,
                       host_set_tile<Team, T, host_tile_items<T, Policy>, with_origins>,
                       device_set_tile<Team, T, Policy::items_per_lane, with_origins>>;

}  // namespace detail
LANEWISE_END_NAMESPACE
