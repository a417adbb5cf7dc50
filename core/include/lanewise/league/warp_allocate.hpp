// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/fold_warps.hpp>

LANEWISE_BEGIN_NAMESPACE

// Cooperative allocation (Merrill, 1.3.3): each lane says how many places it needs, and learns
// where its own begin, in order and without gaps. This is the bare primitive for a warp and for a
// team; allocate.hpp has the one for an array.

/// Every lane's first place, and how many places there are in all.
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
  allocation<Lanes> mine = lanewise::allocate(team.warp(), count);
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

// Reservations in an array that all teams share. A counter counts its taken places: one atomic
// addition serves all lanes that ask together (Merrill, S3). The places of all lanes are disjoint
// and leave no gaps, and the counter ends as the sum of all counts. The order in which calls get
// their places is unspecified. The addition is relaxed: a reader sees what is written to the places
// if it would see any other plain write of the writer. That is so in the next launch, say, or after
// a league barrier. Neither function looks at how many places there are: queue.hpp does.

/// An allocation whose offsets are places in what the counter counts, and where all of it begins.
template <class Lanes>
struct reservation : allocation<Lanes> {
  typename Lanes::value_type begin;
};

/// By a warp: lane order from `begin` on. The counts' sum must fit their own type and the
/// counter's. If all are 0, the counter is not touched, and begin is 0.
template <class W, class Counter, class Lanes>
requires requires {
  W::width;
}
LANEWISE_FUNCTION reservation<lanes_t<W, Counter>> reserve(const W& warp, Counter& counter,
                                                           const Lanes& count) {
  using places = lanes_t<W, Counter>;
  const allocation<Lanes> mine = lanewise::allocate(warp, count);
  const auto total = static_cast<Counter>(mine.total);
  Counter begin = 0;
  if (warp.anywhere(total != 0)) begin = warp.fetch_add(counter, total);
  return {{warp.template cast<Counter>(mine.offset) + places(begin), total}, begin};
}

/// In scratch. Free for the next reservation when one returns; before another use, barrier().
template <class Team, class Counter>
struct reservation_scratch {
  Counter per_warp[Team::warps];
  Counter begin;
};

namespace detail {

/// What a team gets, and where in it this warp's places begin.
template <class Counter>
struct warps_places {
  Counter mine;
  Counter total;
  Counter begin;
};

/// Reserves places for every warp of a team: `count` of them for this warp.
template <class Team, class Counter>
LANEWISE_FUNCTION warps_places<Counter> reserve_for_warps(
    const Team& team, reservation_scratch<Team, Counter>& shared, Counter& counter, Counter count) {
  const auto warp = team.warp();
  if constexpr (Team::warps == 1) {
    const Counter begin = count != 0 ? warp.fetch_add(counter, count) : Counter{0};
    return {begin, count, begin};
  } else {
    warp.once([&] { shared.per_warp[team.warp_index()] = count; });
    team.barrier();
    maybe<Counter> before{{}, false};
    Counter total;
    detail::fold_warps(team, shared.per_warp, Team::warps, plus{}, before, total);
    // Two barriers are enough for any number of calls: the warp that writes `begin` again has
    // passed the first barrier of the next call, after all have read it.
    if (team.warp_index() == 0) {
      const Counter begin = total != 0 ? warp.fetch_add(counter, total) : Counter{0};
      warp.once([&] { shared.begin = begin; });
    }
    team.barrier();
    const Counter begin = shared.begin;
    return {before.present ? static_cast<Counter>(begin + before.value) : begin, total, begin};
  }
}

}  // namespace detail

/// By a team: warp after warp, in each of them lane order, from `begin` on. All warps call it; two
/// barriers. The sum of all counts must fit the counter's type, that of a warp also the counts'.
template <class Team, class Counter, class Lanes>
LANEWISE_FUNCTION reservation<lanes_t<typename Team::warp_type, Counter>> reserve(
    const Team& team, reservation_scratch<Team, Counter>& shared, Counter& counter,
    const Lanes& count) {
  using places = lanes_t<typename Team::warp_type, Counter>;
  const auto warp = team.warp();
  const allocation<Lanes> mine = lanewise::allocate(warp, count);
  const auto all =
      detail::reserve_for_warps(team, shared, counter, static_cast<Counter>(mine.total));
  return {{warp.template cast<Counter>(mine.offset) + places(all.mine), all.total}, all.begin};
}

LANEWISE_END_NAMESPACE
