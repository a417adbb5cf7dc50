// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/device_expansion.hpp>
#include <lanewise/detail/host_expansion.hpp>
#include <lanewise/detail/host_tile.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

/// Load-balanced expansion of ranges into their items, each of which gets the T of its range. The
/// path that merges the ends of ranges with their items (search.hpp) is cut into equal pieces,
/// whatever the lengths of the ranges are.
///
///   steps      so many ends and items, taken together, are worth a team
///   expand(team, scratch, end_of, ranges, items, body)
///              the team's share; range r ends in front of item end_of(r). On devices
///              body.put(item, body.value(range)); on hosts body.range(warp, range, first, last,
///              limit)
template <class Team, class T, class Policy>
using expansion_t =
    std::conditional_t<Team::in_registers, detail::device_expansion<Team, T>,
                       detail::host_expansion<Team, detail::host_tile_items<std::int64_t, Policy>>>;

LANEWISE_END_NAMESPACE
