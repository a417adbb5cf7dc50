// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/warp_allocate.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// An array that all teams of a launch append to: frontiers, leftovers, work for the next launch.
///
/// What:     every active item gets a place of its own, and the places have no gaps: the queue's
///           items are items[0, size). What a warp appends by one call lies together, and so does
///           what a team appends; beyond that the order is unspecified.
/// Overflow: items whose place is not below the capacity are dropped. Nothing after the capacity
///           is written, `*counter` counts the dropped items too, and `*overflow` becomes 1. So
///           *counter says how much room would have been enough.
/// Cost:     one atomic addition per call of a warp or of a team (Merrill, S3), none where no item
///           is active; a ballot per row of a warp, and compressing stores.
/// Order:    all atomics are relaxed. Reads of items must be ordered after their appending: by the
///           end of the launch, a league barrier, or a release and an acquire.
///
/// A queue is a view for kernels: the caller owns the memory, and sets the counter and the flag to
/// 0. Two queues with the same counter and capacity are one with two arrays: push to one, write to
/// the other in the same place.
template <class T, class Index = std::uint32_t>
struct queue {
  using value_type = T;
  using index_type = Index;

  T* items;
  Index capacity;
  Index* counter;                     ///< of the items that were to be appended
  std::uint32_t* overflow = nullptr;  ///< queues may share one, or do without

  /// A warp appends its active items. Returns where they begin.
  template <class W, class Mask, class Lanes>
  requires requires { W::width; }
  LANEWISE_FUNCTION Index push(const W& warp, const Mask& active, const Lanes& values) const {
    const Mask rows[1] = {active};
    const Lanes row[1] = {values};
    return push(warp, rows, row);
  }
  /// A warp appends the active items of several rows, row after row, with one atomic addition.
  template <int rows, class W, class Mask, class Lanes>
  requires requires { W::width; }
  LANEWISE_FUNCTION Index push(const W& warp, const Mask (&active)[rows],
                               const Lanes (&values)[rows]) const {
    const votes<W, rows> all(warp, active);
    Index at = 0;
    if (warp.anywhere(all.count != 0)) at = warp.fetch_add(*counter, all.count);
    write_rows(warp, at, active, all, values);
    return at;
  }

  template <class Team>
  using scratch = reservation_scratch<Team, Index>;

  /// A team appends the active items of several rows of each of its warps, with one atomic addition
  /// and two barriers. Warp after warp, row after row. All warps call it. The scratch is free for
  /// the next call when it returns. Returns where this warp's items begin.
  template <int rows, class Team, class Mask, class Lanes>
  LANEWISE_FUNCTION Index push(const Team& team, scratch<Team>& shared, const Mask (&active)[rows],
                               const Lanes (&values)[rows]) const {
    const auto warp = team.warp();
    const votes<typename Team::warp_type, rows> all(warp, active);
    const Index at = detail::reserve_for_warps(team, shared, *counter, all.count).mine;
    write_rows(warp, at, active, all, values);
    return at;
  }
  template <class Team, class Mask, class Lanes>
  LANEWISE_FUNCTION Index push(const Team& team, scratch<Team>& shared, const Mask& active,
                               const Lanes& values) const {
    const Mask rows[1] = {active};
    const Lanes row[1] = {values};
    return push(team, shared, rows, row);
  }

  /// The active items to places from `at` on that this warp has reserved, row after row: what push
  /// does after its reservation.
  template <int rows, class W, class Mask, class Lanes>
  LANEWISE_FUNCTION void write(const W& warp, Index at, const Mask (&active)[rows],
                               const Lanes (&values)[rows]) const {
    write_rows(warp, at, active, votes<W, rows>(warp, active), values);
  }
  template <class W, class Mask, class Lanes>
  LANEWISE_FUNCTION void write(const W& warp, Index at, const Mask& active,
                               const Lanes& values) const {
    const Mask rows[1] = {active};
    const Lanes row[1] = {values};
    write(warp, at, rows, row);
  }

  /// How many items there are when the counter says so.
  LANEWISE_FUNCTION Index size(Index count) const { return count < capacity ? count : capacity; }

 private:
  /// Which lanes have an item in which row, and how many items that are.
  template <class W, int rows>
  struct votes {
    typename W::bits row[rows];
    Index count = 0;

    template <class Mask>
    LANEWISE_FUNCTION votes(const W& warp, const Mask (&active)[rows]) {
      LANEWISE_UNROLL
      for (int r = 0; r < rows; ++r) {
        row[r] = warp.ballot(active[r]);
        count = static_cast<Index>(count + static_cast<Index>(W::popcount(row[r])));
      }
    }
  };

  template <int rows, class W, class Mask, class Lanes>
  LANEWISE_FUNCTION void write_rows(const W& warp, Index at, const Mask (&active)[rows],
                                    const votes<W, rows>& all, const Lanes (&values)[rows]) const {
    using words = lanes_t<W, std::uint32_t>;
    const Index room = at < capacity ? static_cast<Index>(capacity - at) : Index{0};
    const bool dropped = all.count > room;
    if (overflow != nullptr && warp.anywhere(dropped)) {
      // By lanes, as sub-warps in step do not part for an operation of the whole.
      warp.fetch_or(warp.first(dropped ? 1 : 0), overflow, words(0u), words(1u));
    }
    auto left = static_cast<std::uint32_t>(dropped ? room : all.count);
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const typename W::bits chosen = all.row[r];
      const auto count = static_cast<std::uint32_t>(W::popcount(chosen));
      Mask fitting = active[r];
      if (warp.anywhere(count > left)) {
        const auto rank = warp.map(
            [chosen](typename W::bits below) -> std::uint32_t {
              return static_cast<std::uint32_t>(W::popcount(chosen & below));
            },
            warp.lanes_below());
        fitting = fitting & Mask(rank < left);
      }
      // If nothing fits, not even an address after the capacity is computed.
      warp.compress_store(items + (left != 0 ? at : Index{0}), fitting, values[r]);
      at = static_cast<Index>(at + static_cast<Index>(count));
      left -= count < left ? count : left;
    }
  }
};

LANEWISE_END_NAMESPACE
