// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/select/detail/device/device_compaction.hpp>
#include <lanewise/select/detail/host/host_compaction.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile in which some items are kept, and the columns that are written for the kept items.
/// Constructed from (team, scratch, source, marks, first, n).
///
///   total<State>()                what it adds to the chain's state
///   write(one, two, start, end)   writes both columns; start items were kept before the tile,
///                                 the last of them before index `end`. Returns how many items
///                                 are kept up to the end of the tile
template <class Team, class T, class Policy, class Selector, class First, class Second,
          class Source>
using compaction_t = std::conditional_t<
    Team::is_single_thread,
    std::conditional_t<First::in_place, staged_compaction<Team, Source, host_tile_items<T, Policy>>,
                       host_compaction<Team, Source, host_tile_items<T, Policy>>>,
    device_compaction<Team, T, Policy::items_per_lane, First, Second, Selector>>;

}  // namespace detail
LANEWISE_END_NAMESPACE
