// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/segments/detail/device/device_segments.hpp>
#include <lanewise/segments/detail/host/host_segments.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A tile that is scanned anew at heads: constructed from (team, scratch, source, heads, at_head,
/// first, n). After scan(op), total() is what it adds to the chain's state; then store_inclusive,
/// store_exclusive, or write_ends, for which `ends` is true.
template <class Team, class T, class Policy, class Source, class Heads, class AtHead, bool ends>
using segmented_scan_tile =
    std::conditional_t<Team::is_single_thread,
                       host_segments<Team, T, Source, AtHead, host_tile_items<T, Policy>>,
                       device_segments<Team, T, Policy::items_per_lane, Heads, AtHead, ends>>;

}  // namespace detail
LANEWISE_END_NAMESPACE
