// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/segments/detail/device/device_sums.hpp>
#include <lanewise/segments/detail/host/host_sums.hpp>

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
using segmented_reduction =
    std::conditional_t<Team::is_single_thread, host_sums<Team, T, host_tile_items<T, Policy>>,
                       device_sums<Team, T, Policy::items_per_lane>>;

}  // namespace detail
LANEWISE_END_NAMESPACE
