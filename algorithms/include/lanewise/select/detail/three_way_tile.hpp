// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/select/detail/device/device_three_ways.hpp>
#include <lanewise/select/detail/host/host_three_ways.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile whose items go three ways: constructed from (team, scratch, source, ways, first, n).
///
///   total()               how many items of it go the first way and the second, a selection_state;
///   write(sinks, before)  writes all items, given how many before the tile go these ways
template <class Team, class T, class Policy, class Ways, class Source>
using three_way_tile =
    std::conditional_t<Team::is_single_thread,
                       host_three_ways<Team, Source, host_tile_items<T, Policy>, Ways>,
                       device_three_ways<Team, T, Policy::items_per_lane, Ways>>;

}  // namespace detail
LANEWISE_END_NAMESPACE
