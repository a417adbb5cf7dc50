// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/histogram/detail/device/device_histogram.hpp>
#include <lanewise/histogram/detail/host/host_histogram.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Counts items by bin. Members, all static:
///
///   least_share(bins)              the fewest items that are worth a team;
///   is_alone(league, bins)         whether the only team overwrites the output; else teams add to
///                                  it, or
///   sums_up                        a second launch stores the sums of the teams' tables:
///   workspace_bytes(league, bins)  what these take;
///   count(team, scratch, call, n)  counts the team's share;
///   sum_up(team, call, teams)      the second launch, if there is one;
///   has_use_for_more, needs_more(n, bins, less)
///                                  whether teams with as much scratch as these are better than
///                                  teams with `less`, for anything, and for a call
template <class Team, class Call, class Policy>
using histogram_t = std::conditional_t<Team::is_single_thread, host_histogram<Team, Call>,
                                       device_histogram<Team, Call, Policy::scratch_bytes>>;

}  // namespace detail
LANEWISE_END_NAMESPACE
