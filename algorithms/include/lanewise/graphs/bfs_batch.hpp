// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/batch_search.hpp>
#include <lanewise/graphs/detail/host/search_by_thread.hpp>
#include <lanewise/graphs/detail/independent_bfs.hpp>
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
struct bfs_batch_layout {
  using piece = detail::edge_piece<Vertex, Offset>;
  struct counts {
    workspace_array<std::uint64_t> meetings, alive;
    workspace_array<Offset> pieces, listed;
  };

  workspace_layout at{128};
  counts shared[2];
  workspace_array<std::uint64_t> to_do, meetings, seen, fresh;
  workspace_array<Offset> counters;
  workspace_array<Vertex> lists, own_queues;
  workspace_array<piece> pieces[2];
  workspace_array<std::int32_t> own_levels;
  std::size_t zeros;  // number of bytes that are to be 0
  std::int64_t room;

  bfs_batch_layout(std::int64_t n, std::int64_t m,
                   const bfs_batch_leagues<Vertex, Offset>& leagues) {
    for (counts& c : shared) {
      at.add(c.meetings, league_sums::words(leagues.shared));
      at.add(c.pieces, 1);
      at.add(c.listed, 4);
      at.add(c.alive, 4);
    }
    at.add(to_do, 2);
    // Words of each part of the league are rounded up.
    at.add(meetings, league_sums::words(leagues.apart + 32 * most_batched_searches));
    at.add(counters, 3 * most_batched_searches * detail::counter_stride<Offset>);
    at.add(seen, n);
    at.add(fresh, 3 * n);
    zeros = at.next();
    at.add(lists, 3 * n);
    room = detail::batch_pieces(n, m);
    for (auto& p : pieces) at.add(p, room);
    at.add(own_levels, leagues.own * n);
    at.add(own_queues, leagues.own * (n + 1));
  }
  detail::batch_memory<Vertex, Offset> in(char* p) const {
    const auto counts_at = [&](const counts& c) {
      return detail::shared_counts<Offset>{c.meetings.data(p), c.pieces.data(p), c.listed.data(p),
                                           c.alive.data(p)};
    };
    return {{counts_at(shared[0]), counts_at(shared[1])},
            to_do.data(p),
            meetings.data(p),
            counters.data(p),
            {pieces[0].data(p), pieces[1].data(p)},
            room,
            seen.data(p),
            fresh.data(p),
            lists.data(p),
            own_levels.data(p),
            own_queues.data(p)};
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
  const bfs_batch_layout<Vertex, Offset> layout(graph.vertices(), graph.edges(), leagues);
  auto work =
      call_workspace::make<backend_of<Exec>>(exec, options.work, layout.at.size(), "bfs_batch");
  char* memory = static_cast<char*>(work.get().plain());
  backend_of<Exec>::zero(exec, memory, layout.zeros);
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
      layout.in(memory),
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
  return kernels::bfs_batch_layout<detail::number<V>, detail::number<O>>(
             vertices, edges, kernels::bfs_batch_leagues_of<V, O>::of(exec))
      .at.size();
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
