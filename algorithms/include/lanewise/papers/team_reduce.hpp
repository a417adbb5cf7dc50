// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/detail/names.hpp>
#include <lanewise/team/fold_warps.hpp>
#include <lanewise/team/raking_grid.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

// Reductions of one value per lane by a team, in three ways (Merrill, 3.3.2). Each is a policy:
//
//   scratch<Team, T>                 what the team shares
//   reduce(team, scratch, mine, op)  the combination of all lanes' values, in warp and lane order.
//                                    All warps call it and get it; the scratch is free again when
//                                    it returns
//
// op is associative and need not commute. reduce_range (tile.hpp) reduces by shuffles.

/// In registers, which is the first of Merrill's three phases: what every lane's own items combine
/// to, item[0] first.
template <class W, class Lanes, int k, class Op>
LANEWISE_FUNCTION Lanes reduce_own(const W& warp, const Lanes (&item)[k], Op op) {
  Lanes sum = item[0];
  LANEWISE_UNROLL
  for (int j = 1; j < k; ++j) sum = warp.map(op, sum, item[j]);
  return sum;
}

/// By shuffles: every warp reduces its own values, and all of them fold the warps' results.
struct reduce_by_shuffles {
  template <class Team, class T>
  struct scratch {
    T per_warp[Team::warps];
  };

  template <class Team, class T, class Lanes, class Op>
  static LANEWISE_FUNCTION T reduce(const Team& team, scratch<Team, T>& shared, const Lanes& mine,
                                    Op op) {
    const auto warp = team.warp();
    const T sum = warp.reduce(mine, op);
    if constexpr (Team::warps == 1) {
      return sum;
    } else {
      warp.once([&] { shared.per_warp[team.warp_index()] = sum; });
      team.barrier();
      maybe<T> before{{}, false};
      T total;
      detail::fold_warps(team, shared.per_warp, Team::warps, op, before, total);
      team.barrier();
      return total;
    }
  }
};

/// Three phases: after reduce_own, lanes leave their values in scratch, and one warp rakes. Every
/// lane of this warp folds a few cells, and the warp combines what its lanes have without a
/// barrier. One barrier before the result, one after it, and one until the scratch is free.
struct reduce_by_raking {
  template <class Team, class T>
  using grid = raking_grid<T, Team::warps * Team::warp_type::width, Team::warp_type::width>;

  template <class Team, class T>
  struct scratch {
    T cell[grid<Team, T>::places];
    T total;
  };

  template <class Team, class T, class Lanes, class Op>
  static LANEWISE_FUNCTION T reduce(const Team& team, scratch<Team, T>& shared, const Lanes& mine,
                                    Op op) {
    using cells = grid<Team, T>;
    const auto warp = team.warp();
    const auto place = warp.map(
        [w = static_cast<std::uint32_t>(team.warp_index())](std::uint32_t lane) {
          return cells::place(w * Team::warp_type::width + lane);
        },
        warp.lane());
    warp.scatter(shared.cell, place, mine);
    team.barrier();
    if (team.warp_index() == 0) {
      auto sum = detail::gather_raked<cells>(warp, shared.cell, 0);
      LANEWISE_UNROLL
      for (int k = 1; k < cells::segment; ++k)
        sum = warp.map(op, sum, detail::gather_raked<cells>(warp, shared.cell, k));
      const T total = warp.reduce(sum, op);
      warp.once([&] { shared.total = total; });
    }
    team.barrier();
    const T total = shared.total;
    team.barrier();
    return total;
  }
};

/// Pair by pair: a barrier per level of a tree that halves the values until one is left, also where
/// a warp has all of them. For comparison. Needs a power of two of warps.
struct reduce_by_pairs {
  template <class Team, class T>
  struct scratch {
    static_assert((Team::warps & (Team::warps - 1)) == 0, "lanewise: a power of two of warps");
    T level[2 * Team::warps * Team::warp_type::width];  // the widest level first
  };

  template <class Team, class T, class Lanes, class Op>
  static LANEWISE_FUNCTION T reduce(const Team& team, scratch<Team, T>& shared, const Lanes& mine,
                                    Op op) {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    const int at = team.warp_index() * width;
    const auto even = warp.map(
        [first = static_cast<std::uint32_t>(at)](std::uint32_t lane) { return 2 * (first + lane); },
        warp.lane());
    T* level = shared.level;
    warp.store(level + at, mine);
    for (int half = Team::warps * width / 2; half > 0; level += 2 * half, half /= 2) {
      team.barrier();
      if (at < half) {
        const auto there = warp.template first<T>(half - at);
        const auto sum = warp.map(there, op, T{}, warp.gather(there, level, even, T{}),
                                  warp.gather(there, level + 1, even, T{}));
        warp.store(there, level + 2 * half + at, sum);
      }
    }
    team.barrier();
    const T total = *level;
    team.barrier();
    return total;
  }
};

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
