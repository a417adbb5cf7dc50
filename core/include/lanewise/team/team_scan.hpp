// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/fold_warps.hpp>
#include <lanewise/team/raking_grid.hpp>

LANEWISE_BEGIN_NAMESPACE

// Scans of one value per lane by a team, in three ways (Merrill, 4.4). Each is a policy:
//
//   scratch<Team, T>                       what the team shares.
//   scan(team, scratch, mine, op, first)   what lies before every lane, in warp and lane order,
//                                          beginning with first; and all of it. All warps call it;
//                                          the scratch is free again when it returns.
//
// op is associative and need not commute. Tiles scan by shuffles; docs/measurements.md compares.

/// What lies before every lane, and of a lane after the last.
template <class Lanes>
struct team_prefix {
  Lanes before;
  typename Lanes::value_type total;
};

namespace detail {

/// What precedes every lane of the warp, beginning with first, and the warp.
template <class W, class Lanes, class T, class Op>
LANEWISE_FUNCTION team_prefix<Lanes> scan_after(const W& warp, const Lanes& mine, Op op,
                                                const T& first) {
  const auto upto = warp.inclusive_scan(mine, op);
  const auto front = warp.map([first, op](const T& x) { return op(first, x); }, upto);
  return {lanewise::select(warp.lane() == 0u, Lanes(first), warp.shuffle_up(front, 1)),
          warp.broadcast(front, W::width - 1)};
}

}  // namespace detail

/// By shuffles: every warp scans its own values, and all of them fold the warps' totals.
struct scan_by_shuffles {
  template <class Team, class T>
  struct scratch {
    T per_warp[Team::warps];
  };

  template <class Team, class T, class Lanes, class Op>
  static LANEWISE_FUNCTION team_prefix<Lanes> scan(const Team& team, scratch<Team, T>& shared,
                                                   const Lanes& mine, Op op, const T& first) {
    const auto warp = team.warp();
    if constexpr (Team::warps == 1) {
      return detail::scan_after(warp, mine, op, first);
    } else {
      const T sum = warp.reduce(mine, op);
      warp.once([&] { shared.per_warp[team.warp_index()] = sum; });
      team.barrier();
      maybe<T> before{{}, false};
      T total;
      detail::fold_warps(team, shared.per_warp, Team::warps, op, before, total);
      team.barrier();
      const T start = before.present ? op(first, before.value) : first;
      return {detail::scan_after(warp, mine, op, start).before, op(first, total)};
    }
  }
};

/// Sequential reduce-then-scan (SRTS): one warp rakes, so that every lane of it folds a few cells,
/// scans what the lanes have, and scans the cells after that. Two barriers; cells are padded as T
/// needs it, so that lanes do not meet in a bank.
struct scan_by_raking {
  template <class Team, class T>
  using grid = raking_grid<T, Team::warps * Team::warp_type::width, Team::warp_type::width>;

  template <class Team, class T>
  struct scratch {
    T cell[grid<Team, T>::places];
    T total;
  };

  template <class Team, class T, class Lanes, class Op>
  static LANEWISE_FUNCTION team_prefix<Lanes> scan(const Team& team, scratch<Team, T>& shared,
                                                   const Lanes& mine, Op op, const T& first) {
    const auto warp = team.warp();
    const auto place = warp.map(
        [w = static_cast<std::uint32_t>(team.warp_index())](std::uint32_t lane) {
          return grid<Team, T>::place(w * Team::warp_type::width + lane);
        },
        warp.lane());
    warp.scatter(shared.cell, place, mine);
    team.barrier();
    if (team.warp_index() == 0) rake<grid<Team, T>>(warp, shared, op, first);
    team.barrier();
    const team_prefix<Lanes> result{warp.gather(shared.cell, place), shared.total};
    team.barrier();
    return result;
  }

 private:
  template <class Grid, class W, class Scratch, class T, class Op>
  static LANEWISE_FUNCTION void rake(const W& warp, Scratch& shared, Op op, const T& first) {
    constexpr int cells = Grid::segment;
    lanes_t<W, T> item[cells];
    LANEWISE_UNROLL
    for (int k = 0; k < cells; ++k) item[k] = detail::gather_raked<Grid>(warp, shared.cell, k);
    auto sum = item[0];
    LANEWISE_UNROLL
    for (int k = 1; k < cells; ++k) sum = warp.map(op, sum, item[k]);
    auto [running, total] = detail::scan_after(warp, sum, op, first);
    LANEWISE_UNROLL
    for (int k = 0; k < cells; ++k) {
      detail::scatter_raked<Grid>(warp, shared.cell, k, running);
      running = warp.map(op, running, item[k]);
    }
    warp.once([&shared, total = total] { shared.total = total; });
  }
};

/// Brent and Kung's tree, every level of it in an array of its own (RCBK): neighbours fold on the
/// way up until one warp has a value per lane, which it scans; on the way down a left neighbour
/// takes what is before both. More lanes at work than raking, and a barrier per level. Needs a
/// power of two of warps.
struct scan_by_tree {
  template <class Team, class T>
  struct scratch {
    static_assert((Team::warps & (Team::warps - 1)) == 0, "lanewise: a power of two of warps");
    T level[2 * Team::warps * Team::warp_type::width];  // the widest level first
    T total;
  };

  template <class Team, class T, class Lanes, class Op>
  static LANEWISE_FUNCTION team_prefix<Lanes> scan(const Team& team, scratch<Team, T>& shared,
                                                   const Lanes& mine, Op op, const T& first) {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    const auto at = static_cast<std::uint32_t>(team.warp_index() * width);
    T* level = shared.level;
    warp.store(level + at, mine);
    team.barrier();
    // Warps of a level have a value per lane of its upper neighbour.
    for (int warps = Team::warps / 2; warps > 0; level += 2 * warps * width, warps /= 2) {
      if (team.warp_index() < warps) {
        const auto [left, right] = neighbours(warp, level, at);
        warp.store(level + 2 * warps * width + at, warp.map(op, left, right));
      }
      team.barrier();
    }
    if (team.warp_index() == 0) {
      const auto top = detail::scan_after(warp, warp.load(level), op, first);
      warp.store(level, top.before);
      warp.once([&] { shared.total = top.total; });
    }
    team.barrier();
    for (int warps = 1; warps < Team::warps; warps *= 2) {
      const T* upper = level;
      level -= 2 * warps * width;
      if (team.warp_index() < warps) {
        const auto front = warp.load(upper + at);
        const auto left = neighbours(warp, level, at).left;
        const auto even = places(warp, at);
        warp.scatter(level, even, front);
        warp.scatter(level + 1, even, warp.map(op, front, left));
      }
      team.barrier();
    }
    const team_prefix<Lanes> result{warp.load(shared.level + at), shared.total};
    team.barrier();
    return result;
  }

 private:
  template <class Lanes>
  struct pair {
    Lanes left;
    Lanes right;
  };
  template <class W>
  static LANEWISE_FUNCTION auto places(const W& warp, std::uint32_t at) {
    return warp.map([at](std::uint32_t lane) { return 2 * (at + lane); }, warp.lane());
  }
  template <class W, class T>
  static LANEWISE_FUNCTION auto neighbours(const W& warp, const T* level, std::uint32_t at) {
    const auto even = places(warp, at);
    using lanes = lanes_t<W, T>;
    return pair<lanes>{warp.gather(level, even), warp.gather(level + 1, even)};
  }
};

LANEWISE_END_NAMESPACE
