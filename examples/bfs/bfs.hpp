// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/league/league_barrier.hpp>
#include <lanewise/tile/expansion.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace bfs {

inline constexpr std::uint32_t unreached = ~0u;
/// Rows are queued in pieces of `piece` edges: a hub's pieces are shared by several warps.
inline constexpr int log2_piece = 8, piece = 1 << log2_piece, most_found = 64;

/// Levels of up to `one` pieces are for one team, which needs no barrier of the league; those of up
/// to `few` for `few_teams`. (H200, lattice of 4096^2 vertices from a corner, 8191 levels: 47 ms
/// with 24 teams, 43 with 32, 42 with 64 and with 132.)
struct level_sizes {
  std::uint32_t one = 64, few = 1 << 13, few_teams = 64;
};

/// Depths from a source, from the top down (Merrill, 6.5), by resident teams. A vertex belongs to
/// whoever sets its bit, so no queue has it twice. Who finds vertices queues their rows.
struct search_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16, teams_per_multiprocessor = 2;
  };
  template <class Team>
  struct scratch {
    typename range_expansion_t<Team>::scratch expansion;
    std::uint32_t found[Team::warps][most_found + Team::warp_type::width];
  };

  const std::int64_t* rows;
  const std::uint32_t* columns;
  std::int64_t vertices;
  std::uint32_t source;
  std::uint32_t *depth, *visited;  // visited: a bit per vertex
  std::int64_t* queue[2];          // pieces of rows, begin and length, for levels by turns
  std::uint32_t* counters;  // sizes of three levels by turns; the level for teams that come back
  league_barrier barrier;
  level_sizes sizes;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    const std::uint32_t few = sizes.few_teams < team.league() ? sizes.few_teams : team.league();
    const bool first_warp = team.index() == 0 && team.warp_index() == 0;
    const auto mine = team.share(divide_up(vertices, 32));
    for (auto w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
      const int left = 32 * (w + 1) <= vertices ? 32 : static_cast<int>(vertices % 32);
      warp.store(warp.first(left), depth + 32 * w, decltype(warp.lane())(unreached));
      warp.store(visited[w], 0);
    }
    if (first_warp) warp.store(warp.first(3), counters, decltype(warp.lane())(0u));
    barrier.wait(team);
    if (first_warp) {
      warp.store(depth[source], 0);
      warp.store(visited[source / 32], std::uint32_t{1} << source % 32);
      warp.store(shared.found[0][0], source);
      queue_rows(warp, shared.found[0], 1, 0);
    }
    barrier.wait(team);
    std::uint32_t group = team.league();  // number of teams that meet between levels
    for (std::uint32_t level = 0;;) {
      const std::uint32_t size = warp.load(counters[level % 3]);
      const bool by_all = size == 0 || size > sizes.few;  // to end takes all
      const std::uint32_t want = by_all ? team.league() : (size > sizes.one ? few : 1);
      if (want == group) {
        if (size == 0) return;
        expand(team, shared, size, level++, group);
        group > 1 ? barrier.wait(team, group) : team.barrier();
        continue;
      }
      if (want < group) {
        barrier.wait(team, group);  // all have seen the size
        group = team.index() < want ? want : team.index();
        if (team.index() < want) continue;
      } else if (first_warp) {
        warp.store(counters[3], level);
      }
      // Teams meet those who come back, or wait until they are called.
      group = group < few ? few : team.league();
      barrier.wait(team, group);
      level = warp.load(counters[3]);
      barrier.wait(team, group);
    }
  }

 private:
  /// A level by a group of teams, whose warps take pieces in turn.
  template <class Team>
  LANEWISE_FUNCTION void expand(const Team& team, scratch<Team>& shared, std::uint32_t size,
                                std::uint32_t level, std::uint32_t group) const {
    using words = typename Team::warp_type::template lanes<std::uint32_t>;
    const auto warp = team.warp();
    if (team.index() == 0 && team.warp_index() == 0) warp.store(counters[(level + 2) % 3], 0);
    std::uint32_t* const found = shared.found[team.warp_index()];
    int count = 0;
    const auto visit = [&](const auto&, auto mask, const auto&, auto edge, std::int64_t) {
      const words v = warp.gather(mask, columns, edge, 0u), word = v >> 5;
      const words bit = words(1u) << (v & words(31u));
      auto fresh = mask;
      // What is read plainly may be old. Then the bit is asked for in vain.
      if (group == team.league())
        fresh = mask & ((warp.gather(mask, visited, word, ~0u) & bit) == 0u);
      if (!warp.any(fresh)) return;
      fresh = fresh & ((warp.fetch_or(fresh, visited, word, bit) & bit) == 0u);
      warp.scatter(fresh, depth, v, words(level + 1));
      count += warp.compress_store(found + count, fresh, v);
      if (count >= most_found) count = queue_rows(warp, found, count, level + 1);
    };
    // Thin levels are dealt out at once, others so that hardly any warp is late.
    const std::uint32_t warps = group * Team::warps, each = size / warps;
    const std::uint32_t step = each < 8 ? each + 1 : (each < 64 ? 8 : (each < 256 ? each / 8 : 32));
    for (std::uint32_t at = (team.warp_index() * group + team.index()) * step; at < size;
         at += warps * step) {
      const auto exist = warp.first(size - at < step ? size - at : step);
      const auto row = warp.load(exist, queue[level % 2] + at, std::int64_t{0});
      range_expansion_t<Team>::by_warp(team, shared.expansion, row >> 16,
                                       row & decltype(row)(0xffff), {}, visit);
    }
    queue_rows(warp, found, count, level + 1);
  }

  /// Queues the rows of the vertices found, for a level. Returns how many are left: none.
  template <class W>
  LANEWISE_FUNCTION int queue_rows(const W& warp, const std::uint32_t* found, int count,
                                   std::uint32_t level) const {
    using places = typename W::template lanes<std::int64_t>;
    warp.fence();
    for (int i = 0; i < count; i += W::width) {
      const auto exist = warp.first(count - i);
      const auto v = warp.load(exist, found + i, 0u);
      places begin = warp.gather(exist, rows, v, std::int64_t{0});
      places left = warp.gather(exist, rows + 1, v, std::int64_t{0}) - begin;
      const auto pieces =
          warp.template cast<std::uint32_t>((left + places(piece - 1)) >> log2_piece);
      auto at = reserve(warp, counters[level % 3], pieces).offset;
      for (auto todo = left > 0; warp.any(todo); todo = left > 0) {
        const places length = select(left < piece, left, places(piece));
        warp.scatter(todo, queue[level % 2], at, begin << 16 | length);
        at = at + decltype(at)(1u);
        begin = begin + length;
        left = left - places(piece);
      }
    }
    warp.fence();
    return 0;
  }
};

/// depth(v) = how many edges vertex v is away from the source, or `unreached`. The neighbours of v
/// are columns(i) for rows(v) <= i < rows(v + 1). Does not block on CUDA. Memory, for one search at
/// a time: queues of 2 (vertices + edges / piece + 1) items, fewer than 2^33; words, divide_up(
/// vertices, 32) + 4 and as many again as a barrier of the league needs, which are 0 at first.
template <class Exec, class Rows, class Columns, class Depth, class Queues, class Words>
void search(const Exec& exec, const Rows& rows, const Columns& columns, std::uint32_t source,
            const Depth& depth, const Queues& queues, const Words& words,
            const level_sizes& sizes = {}) {
  const auto vertices = static_cast<std::int64_t>(depth.extent(0));
  std::uint32_t* const visited = words.data() + 4;
  launch_resident(exec, "bfs", resident_teams<search_kernel>(exec),
                  search_kernel{rows.data(),
                                columns.data(),
                                vertices,
                                source,
                                depth.data(),
                                visited,
                                {queues.data(), queues.data() + queues.extent(0) / 2},
                                words.data(),
                                {visited + divide_up(vertices, 32)},
                                sizes});
}

}  // namespace bfs
LANEWISE_END_TARGET_NAMESPACE
