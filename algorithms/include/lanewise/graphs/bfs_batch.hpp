// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/options.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/batch_search.hpp>
#include <lanewise/graphs/detail/host/search_by_thread.hpp>
#include <lanewise/graphs/detail/independent_bfs.hpp>
#include <lanewise/graphs/detail/memory_places.hpp>
#include <lanewise/graphs/detail/sources.hpp>

#include <limits>

LANEWISE_BEGIN_NAMESPACE

/// The most searches of bfs_batch: the number of bits of a word.
inline constexpr int most_batched_searches = 64;

/// Options of bfs_batch.
struct bfs_batch_options {
  workspace_ref work = {};
  /// Vertices that are further away are not reached.
  std::int64_t most_levels = std::numeric_limits<std::int32_t>::max();
  /// Edges into vertices are not asked for.
  bool top_down = false;
  option_view<status> errors = {};
};

LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The first and the last launch of a batch: searches as bits of words.
template <class Vertex, class Offset>
struct bfs_batch_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 1;
  };
  template <class Team>
  using search = detail::batch_search<Team, Vertex, Offset>;
  template <class Team>
  struct scratch {
    typename search<Team>::scratch search;
  };

  detail::batch_task<Vertex, Offset> task;
  int launch;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    search<Team>(team, shared.search, task, launch).run();
  }
};
/// The second: searches by a few teams each.
template <class Vertex, class Offset>
struct bfs_apart_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 2;
  };
  template <class Team>
  using searches =
      std::conditional_t<Team::is_single_thread, detail::searches_by_threads<Team, Vertex, Offset>,
                         detail::searches_apart<Team, Vertex, Offset>>;
  template <class Team>
  struct scratch {
    typename searches<Team>::scratch searches;
  };

  detail::batch_task<Vertex, Offset> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    searches<Team>::run(team, shared.searches, task);
  }
};

/// After it, what it has found is put in order.
template <class Vertex, class Offset>
struct order_levels_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 8;
    static constexpr int teams_per_multiprocessor = 4;
  };
  template <class Team>
  struct scratch {
    typename detail::order_levels<Team>::scratch levels;
  };

  detail::batch_task<Vertex, Offset> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    if (task.memory.to_do[0] == 0) return;
    detail::order_levels<Team>::run(team, shared.levels, task.levels,
                                    {static_cast<std::int64_t>(task.out.vertices), task.searches});
  }
};

/// How many teams the launches of a batch have.
template <class Vertex, class Offset>
struct bfs_batch_leagues {
  std::int64_t shared, apart;
  std::int64_t own;  // those apart that search with memory of their own

  template <class Exec>
  static bfs_batch_leagues of(const Exec& exec) {
    using backend = backend_of<Exec>;
    using apart = bfs_apart_kernel<Vertex, Offset>;
    const std::int64_t teams = backend::template resident_teams<apart>(exec);
    const std::int64_t most = teams < most_batched_searches ? teams : most_batched_searches;
    return {backend::template resident_teams<bfs_batch_kernel<Vertex, Offset>>(exec), teams,
            team_t<Exec, typename apart::policy>::is_single_thread ? most : 0};
  }
};

/// Layout of a batch's workspace.
template <class Vertex, class Offset>
struct bfs_batch_places {
  using piece = detail::edge_piece<Vertex, Offset>;
  struct counts {
    std::size_t meetings, pieces, listed, alive;
  };

  detail::memory_places at;
  counts shared[2];
  std::size_t to_do, meetings, counters, seen, fresh, lists, pieces[2], own_levels, own_queues;
  std::size_t zeros;  // number of bytes that are to be 0
  std::int64_t room;

  bfs_batch_places(std::int64_t n, std::int64_t m,
                   const bfs_batch_leagues<Vertex, Offset>& leagues) {
    for (counts& c : shared)
      c = {at.place(league_sums::words(leagues.shared), 8), at.place(1, sizeof(Offset)),
           at.place(4, sizeof(Offset)), at.place(4, 8)};
    to_do = at.place(2, 8);
    // Words of each part of the league are rounded up.
    meetings = at.place(league_sums::words(leagues.apart + 32 * most_batched_searches), 8);
    counters = at.place(3 * most_batched_searches * detail::counter_stride<Offset>, sizeof(Offset));
    seen = at.place(n, 8);
    fresh = at.place(3 * n, 8);
    zeros = at.bytes;
    lists = at.place(3 * n, sizeof(Vertex));
    room = detail::batch_pieces(n, m);
    for (std::size_t& p : pieces) p = at.place(room, sizeof(piece));
    own_levels = at.place(leagues.own * n, 4);
    own_queues = at.place(leagues.own * (n + 1), sizeof(Vertex));
  }
  detail::batch_memory<Vertex, Offset> in(char* p) const {
    const auto words = [p](std::size_t place) { return detail::at_place<std::uint64_t>(p, place); };
    const auto offsets = [p](std::size_t place) { return detail::at_place<Offset>(p, place); };
    const auto counts_at = [&](const counts& c) {
      return detail::shared_counts<Offset>{words(c.meetings), offsets(c.pieces), offsets(c.listed),
                                           words(c.alive)};
    };
    return {{counts_at(shared[0]), counts_at(shared[1])},
            words(to_do),
            words(meetings),
            offsets(counters),
            {detail::at_place<piece>(p, pieces[0]), detail::at_place<piece>(p, pieces[1])},
            room,
            words(seen),
            words(fresh),
            detail::at_place<Vertex>(p, lists),
            detail::at_place<std::int32_t>(p, own_levels),
            detail::at_place<Vertex>(p, own_queues)};
  }
};

template <class V, class O>
using bfs_batch_leagues_of = bfs_batch_leagues<detail::number<V>, detail::number<O>>;

template <class Exec, class M, class V, class O, class W>
void bfs_batch(const Exec& exec, const csr_graph<M, V, O, W>& graph,
               const detail::graph_sources<V>& sources, std::int32_t* levels,
               const bfs_batch_options& options) {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, M>::accessible,
                "lanewise: this execution space cannot reach the memory of a graph");
  using Vertex = detail::number<V>;
  using Offset = detail::number<O>;
  const auto leagues = bfs_batch_leagues<Vertex, Offset>::of(exec);
  const bfs_batch_places<Vertex, Offset> places(graph.vertices(), graph.edges(), leagues);
  auto work =
      call_workspace::make<backend_of<Exec>>(exec, options.work, {0, places.at.bytes}, "bfs_batch");
  char* memory = static_cast<char*>(work.get().plain());
  backend_of<Exec>::zero(exec, memory, places.zeros);
  auto into = detail::rows_into(graph);
  if (options.top_down) into.begins = nullptr;
  const auto most = std::int64_t{std::numeric_limits<std::int32_t>::max() - 4};
  const detail::batch_task<Vertex, Offset> task{
      detail::rows_of(graph),
      into,
      sources.first,
      static_cast<int>(sources.count),
      levels,
      static_cast<std::int32_t>(options.most_levels < most ? options.most_levels : most),
      places.in(memory),
      options.errors.data() != nullptr ? options.errors.data() : work.get().errors()};
  lanewise::launch_resident(exec, "Lanewise::bfs_batch", leagues.shared,
                            bfs_batch_kernel<Vertex, Offset>{task, 0});
  lanewise::launch_resident(exec, "Lanewise::bfs_batch", leagues.apart,
                            bfs_apart_kernel<Vertex, Offset>{task});
  using order = order_levels_kernel<Vertex, Offset>;
  lanewise::launch_resident(exec, "Lanewise::bfs_batch",
                            backend_of<Exec>::template resident_teams<order>(exec), order{task});
  lanewise::launch_resident(exec, "Lanewise::bfs_batch", leagues.shared,
                            bfs_batch_kernel<Vertex, Offset>{task, 1});
}

}  // namespace kernels

/// The workspace that bfs_batch needs in a graph of `vertices` vertices and `edges` edges.
template <class Graph, class Exec>
workspace_size bfs_batch_workspace(const Exec& exec, std::int64_t vertices, std::int64_t edges) {
  using V = typename Graph::vertex_type;
  using O = typename Graph::offset_type;
  return {0, kernels::bfs_batch_places<detail::number<V>, detail::number<O>>(
                 vertices, edges, kernels::bfs_batch_leagues_of<V, O>::of(exec))
                 .at.bytes};
}

/// Several breadth-first searches at once: levels(v, s) becomes the least number of edges on a path
/// from sources(s) to vertex v, or -1 where there is none.
///
/// sources is a View of at most 64 vertices, of the graph's type. levels is a View of
/// std::int32_t in LayoutRight, with a row for every vertex and a column for every source. More
/// rows are left alone.
///
/// A vertex has a bit for each search. So an edge is looked at once for all searches that reach its
/// vertex in the same level: in graphs of few levels nearly all do. Where the graph is symmetric or
/// has its transpose, wide levels go bottom up: a vertex looks at its neighbours until it has the
/// bits of all searches. If frontiers of the first 16 levels have little in common, as in lattices
/// and road networks, each search begins anew by itself. All do so at the same time, by a few teams
/// each. A search whose frontier becomes larger than a 64th of the vertices goes back to bits. On
/// hosts a thread does such a search alone, whatever its frontiers are. Four resident kernels:
/// three of them mostly find nothing to do. O(k (n + m)) work for k searches. Memory traffic: an
/// edge's column and the bits of the vertex there for each level that reaches its vertex; levels
/// twice. Workspace: bfs_batch_workspace, 44 bytes for each vertex, 32 for each vertex and each 128
/// edges, and 2 MiB; on hosts 8 more for each vertex and thread. Does not block.
///
/// Columns and sources that are no vertices are skipped and counted, as often as the search meets
/// them, in options.errors, else in options.work. Throws std::invalid_argument on wrong extents,
/// and on more than 64 sources. (Then and others, The More the Merrier, 2014.)
template <execution_space Exec, class M, class V, class O, class W, class S, class... Ps, class L,
          class... Pl>
void bfs_batch(const Exec& exec, const csr_graph<M, V, O, W>& graph,
               const Kokkos::View<S, Ps...>& sources, const Kokkos::View<L, Pl...>& levels,
               const bfs_batch_options& options = {}) {
  using view = Kokkos::View<L, Pl...>;
  static_assert(view::rank() == 2 &&
                    std::is_same_v<typename view::array_layout, Kokkos::LayoutRight> &&
                    std::is_same_v<typename view::value_type, std::int32_t>,
                "lanewise: levels of bfs_batch are a View of std::int32_t**, LayoutRight");
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space,
                                           typename view::memory_space>::accessible,
                "lanewise: this execution space cannot reach the memory of levels");
  const std::int64_t n = graph.vertices();
  const auto from = detail::sources_of<Exec, V>("bfs_batch", sources, n);
  detail::expects(from.count <= most_batched_searches, "bfs_batch: there are ", from.count,
                  " sources, of at most ", most_batched_searches);
  detail::expects(static_cast<std::int64_t>(levels.extent(0)) >= n &&
                      static_cast<std::int64_t>(levels.extent(1)) == from.count,
                  "bfs_batch: levels is ", levels.extent(0), " by ", levels.extent(1), ", not ", n,
                  " vertices or more by ", from.count, " sources");
  detail::expects(levels.span_is_contiguous(), "bfs_batch: levels is not contiguous");
  detail::expects(options.most_levels >= 0, "bfs_batch: options.most_levels is ",
                  options.most_levels);
  options.errors.template expects_reachable<Exec>("bfs_batch", "options.errors");
  if (n == 0 || from.count == 0) return;
  kernels::bfs_batch(exec, graph, from, levels.data(), options);
}

LANEWISE_END_TARGET_NAMESPACE
