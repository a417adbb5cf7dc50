// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/fold_warps.hpp>

LANEWISE_BEGIN_NAMESPACE

// Cooperative allocation (Merrill, 1.3.3): everybody says how many places it needs, and learns
// where its own begin, in order and without gaps. This is the bare primitive for a warp and for a
// team; allocate.hpp has the one for an array.

/// Where every lane's places begin, and how many there are in all.
template <class Lanes>
struct allocation {
  Lanes offset;
  typename Lanes::value_type total;
};

/// By a warp: lane order. Counts are integers; their sum must fit the type.
template <class W, class Lanes>
requires requires {
  W::width;
}
LANEWISE_FUNCTION allocation<Lanes> allocate(const W& warp, const Lanes& count) {
  const auto upto = warp.inclusive_scan(count, plus{});
  return {upto - count, warp.broadcast(upto, W::width - 1)};
}

template <class Team, class T>
struct allocation_scratch {
  T per_warp[Team::warps];
};

/// By a team: warp after warp, in each of them lane order. All warps call it; the scratch is free
/// again when it returns.
template <class Team, class T, class Lanes>
LANEWISE_FUNCTION allocation<Lanes> allocate(const Team& team, allocation_scratch<Team, T>& shared,
                                             const Lanes& count) {
  allocation<Lanes> mine = allocate(team.warp(), count);
  if constexpr (Team::warps > 1) {
    team.warp().once([&] { shared.per_warp[team.warp_index()] = mine.total; });
    team.barrier();
    maybe<T> before{{}, false};
    detail::fold_warps(team, shared.per_warp, Team::warps, plus{}, before, mine.total);
    if (before.present) mine.offset = mine.offset + Lanes(before.value);
    team.barrier();
  }
  return mine;
}

LANEWISE_END_NAMESPACE
