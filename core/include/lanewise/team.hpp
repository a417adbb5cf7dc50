// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/in_turn.hpp>
#include <lanewise/policy.hpp>
#include <lanewise/warp.hpp>

#include <concepts>

LANEWISE_BEGIN_NAMESPACE

// clang-format off
// The team layer. A team is several warps with scratch memory and a barrier on CUDA, one thread
// with one warp on the host, several warps on threads of their own in the emulated backend. A
// league is all teams of a launch.
//
//   Team::warps                      warps per team
//   warp()  warp_index()             this warp, and which one of the team it is
//   index()  league()                this team, and how many there are
//   barrier()                        all warps of the team meet; memory is ordered. Only under
//                                    team-uniform control
//   once(f)                          one lane of one warp calls f(); no result
//   share(n)                         this team's contiguous part [begin, end) of n things, dealt
//                                    evenly
//   Team::windows_in_flight          warps' worth of random accesses that one warp should prefetch
//                                    before it uses the first
//   Team::one_ticket                 true where a launch has one team per tile, so that a team
//                                    draws once
//   Team::tiles_behind               tiles that wait for their turn in in_turn. If there are any, one
//                                    more warp runs the kernel, of which in_turn makes use:
//     looks_back()                     whether this warp is that one; it takes no part in the rest
//     everybody()                      the barrier of all warps
//   Team::signal<n>                  in scratch: init() by one lane, then raise(warp) by n warps, and
//                                    wait(warp, times) until all of them have, so many times; it is
//                                    not raised again before all have waited. Orders memory
//   Team::staging<Raw, n>            in scratch: room for up to n neighbouring items of an array on
//                                    their way to the team's closest memory. All warps call
//     init(team)                                once; then barrier()
//     load_async(team, source, first, count)    begins with items [first, first + count) of an
//                                               array_source and returns; before: barrier() after
//                                               the last use of what was there
//     wait(team, source, times)                 returns when they are there, and them, as a source
//                                               whose item 0 is item `first`; it is the times-th
//   Team::tile<T, Policy>            items and scratch of a tile: an ordered run of items in the
//                                    team's closest memory
//   load<T, Policy>(scratch, source, first, n)
//                                    the tile of items [first, first + items) that exist below n;
//                                    it has
//     count()  scan(op)  total()                total() after scan(op); both need count() > 0
//     store(sink)  store_inclusive(sink, before, op)  store_exclusive(sink, before, op)
//     carry()                      host only: before and the tile combined, after such a store,
//                                  which there needs no scan(op)
//     park(place, op)              device only: leaves what is needed for the store in scratch
//   block_total<T>(source, first, n, op)
//                                    by this warp alone: the total of the block of the fixed tree
//                                    (see detail/fixed_tree.hpp) that begins with item first < n
//   reduce_range<T, Policy>(scratch, source, first, last, op)    a long range, streamed
//   Team::compaction<T, Policy, First, Second, Source>
//                                    a tile of which some items are kept, and the columns that are
//                                    written for those: constructed from (team, scratch, source,
//                                    marks, first, n); total<State>()  stage()
//                                    write(one, two, start, end)
//   Team::segments<T, Policy, Source, AtHead>
//                                    a tile that is scanned anew at heads: constructed from (team,
//                                    scratch, source, heads, at_head, first, n); count()  scan(op)
//                                    total()  store_inclusive  store_exclusive
//   Team::expansion<T, Policy>       load-balanced expansion of ranges into their items (search.hpp),
//                                    which get the T of their range
//     steps                                     ranges' ends and items worth a team, taken together
//     expand(team, scratch, end_of, ranges, items, body)
//                                               the team's share; device: body.put(item,
//                                               body.value(range)); host: body.range(...)
//   Team::sums<T, Policy>            sums of ranges in a piece of the path through their ends and
//                                    items, constructed from (team, scratch, ranges, piece)
//     path(ranges, items)                       how long their path is
//     steps  pieces(path, league)               so much of it is worth a team; how many pieces to
//                                               make
//     reduce(ranges, source, sink, init, op)    then total(), an open_sum
//     bad(ranges, piece, pieces)                after it: how many ranges are bad. Over all pieces
//                                               every range is asked about once
//     write_first(sink, before, init, op)       the range that may have begun in front
//   Team::split<Key, Policy>         counts tiles into, and distributes them over, buckets; see
//                                    multisplit.hpp
//
// A kernel is a function object
//   struct kernel {
//     struct policy : launch_policy {...};
//     template <class Team> struct scratch {...};     shared by the team, uninitialised
//     template <class Team> void operator()(const Team&, scratch<Team>&) const;
//   };
// started by launch(exec, label, league, kernel) of the backend.
// clang-format on

/// A half-open range of indices.
struct index_range {
  std::int64_t begin;
  std::int64_t end;
};

/// Part `part` of `parts` nearly equal contiguous parts of n things.
LANEWISE_FUNCTION constexpr index_range even_share(std::int64_t n, std::int64_t part,
                                                   std::int64_t parts) {
  const std::int64_t each = n / parts;
  const std::int64_t extra = n % parts;
  const std::int64_t begin = part * each + (part < extra ? part : extra);
  return {begin, begin + each + (part < extra ? 1 : 0)};
}

/// Calls f(tile) for this team's part of so many tiles, which are no more than league_for_tiles was
/// told of.
template <class Team, class F>
LANEWISE_FUNCTION void for_each_tile(const Team& team, std::int64_t tiles, F f) {
  if constexpr (Team::one_ticket) {
    if (team.index() < tiles) f(std::int64_t{team.index()});
  } else {
    const index_range mine = team.share(tiles);
    for (std::int64_t t = mine.begin; t < mine.end; ++t) f(t);
  }
}

LANEWISE_END_NAMESPACE
