// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/decoupled_look_back.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/warp/warp.hpp>

#include <concepts>

LANEWISE_BEGIN_NAMESPACE

// clang-format off
// The team layer. A team is several warps with scratch memory and a barrier on CUDA, and one thread
// with one warp on the host. In the emulated backend it is several warps on threads of their own. A
// league is all teams of a launch.
//
//   Team::warps                      warps per team.
//   warp()  warp_index()             this warp, and which one of the team it is.
//   index()  league()                this team, and how many there are.
//   barrier()                        all warps of the team meet; memory is ordered. Only under
//                                    team-uniform control.
//   once(f)                          one lane of one warp calls f(); no result.
//   share(n)                         this team's contiguous part [begin, end) of n things, dealt
//                                    evenly.
//   Team::windows_in_flight          warps' worth of random accesses that one warp should prefetch
//                                    before it uses the first.
//   Team::one_ticket                 true where a launch has one team per tile, so that a team
//                                    draws once.
//   Team::parked_tiles               tiles that wait for their turn in decoupled_look_back. If
//                                    there are any, one more warp runs the kernel, for
//                                    decoupled_look_back to use:
//     is_look_back_warp()            whether this warp is that one; it takes no part in the
//                                    rest.
//     barrier_all()                  the barrier of all warps.
//   Team::signal<n>                  in scratch: init() by one lane, then raise(warp) by n warps.
//                                    wait(warp, times) waits until all of them have raised it
//                                    `times` times. It is not raised again before all have waited.
//                                    Orders memory.
//   Team::staging<Raw, n>            in scratch: room for up to n neighbouring items of an array on
//                                    their way to the team's closest memory. All warps call
//     init(team)                                once; then barrier().
//     load_async(team, source, first, count)    begins with items [first, first + count) of an
//                                               array_source and returns. Before: barrier() after
//                                               the last use of what was there.
//     wait(team, source, times)                 waits until they are there, and returns them as a
//                                               source whose item 0 is item `first`; it is the
//                                               times-th wait.
//   Team::is_single_thread           whether a team is one warp that a host's thread runs, and
//                                    leaves a tile of items in cache. Else several warps hold it
//                                    in registers. Kernels do not ask: the headers in tile/ and
//                                    one in each family of algorithms choose by it between what
//                                    is written for devices and for hosts.
//   Team::narrow_warp<w>             hosts only: a warp of w < 32 lanes, for what fits fewer
//                                    vectors.
//
// What a team does with tiles of items is in tile.hpp, over all of that.
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

/// Calls f(tile) for this team's part of `tiles` tiles, which are no more than league_for_tiles was
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
