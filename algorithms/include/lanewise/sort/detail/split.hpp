// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/device/device_split.hpp>
#include <lanewise/sort/detail/host/host_split.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Counts tiles into buckets and distributes them over these. Members, all static:
///
///   tile_items(n)              items of the tiles that a call of n is cut into;
///   few                        up to this number of items columns do not pay;
///   columns(tiles, league)     columns that a launch should have, at most most_columns(tiles);
///   tile_counters(tiles, buckets);
///   count(...)                 counts a column, by a team with count_scratch;
///   pieces(tiles, columns)     what a place kernel deals out;
///   place(...)                 places a piece, by a team with scratch<value_bytes>
template <class Team, class Key, class Policy>
using split_t = std::conditional_t<Team::is_single_thread,
                                   host_split<Team, Key, Policy, host_tile_items<Key, Policy>>,
                                   device_split<Team, Key, Policy::items_per_lane>>;

}  // namespace detail
LANEWISE_END_NAMESPACE
