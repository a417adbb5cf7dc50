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
///   sort<ordered>(team, scratch, source, first, n, less, put)
///   merge<ordered>(team, scratch, source, runs, cuts, t, less, put)
///
/// put(i, x, from) gets every item, its place and where it was in the source; without `ordered` no
/// more than its place.
template <class Team, class T, class Policy>
using merging_t = std::conditional_t<Team::in_registers, device_merging<Team, T, Policy>,
                                     host_merging<Team, T, Policy>>;

}  // namespace detail
LANEWISE_END_NAMESPACE
