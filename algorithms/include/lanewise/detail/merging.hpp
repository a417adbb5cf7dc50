// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/merging/device.hpp>
#include <lanewise/detail/merging/host.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Sorts tiles, and merges sorted runs of equal lengths tile by tile. Members, all static:
///
///   ways                   how many runs a pass can merge: 2 or 4; 4 need cuts
///   items                  of a tile
///   scratch<ordered>       ordered: where items come from is wanted
///   sort<ordered>(team, scratch, source, first, n, less, out, move)
///   merge<ordered>(team, scratch, in, runs, cuts, t, less, out, move)
///
/// out[i] gets item i; if ordered, move(i, j) says that it was item j.
template <class Team, class T, class Policy>
using merging_t = std::conditional_t<Team::in_registers, device_merging<Team, T, Policy>,
                                     host_merging<Team, T, Policy>>;

/// Whether set operations take tiles of the merge (device_set_tile), in one kernel; else they are
/// composed of merges and a compaction.
template <class Team>
inline constexpr bool has_set_tiles = Team::in_registers;

}  // namespace detail
LANEWISE_END_NAMESPACE
