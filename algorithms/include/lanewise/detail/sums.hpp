// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/sums/device.hpp>
#include <lanewise/detail/sums/host.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Sums of the ranges in a piece of the path through their ends and items: constructed from (team,
/// scratch, ranges, piece).
///
///   path(ranges, items)                     how long their path is;
///   steps                                   how much of it is worth a team;
///   pieces(path, league)                    how many pieces to make;
///   reduce(ranges, source, sink, init, op)  then total(), what the piece leaves open;
///   bad(ranges, piece, pieces)              after it: how many ranges are bad. Over all pieces
///                                           every range is asked about once;
///   write_first(sink, before, init, op)     the range that may have begun before the piece
template <class Team, class T, class Policy>
using sums_t = std::conditional_t<Team::in_registers, device_sums<Team, T, Policy::items_per_lane>,
                                  host_sums<Team, T, host_tile_items<T, Policy>>>;

}  // namespace detail
LANEWISE_END_NAMESPACE
