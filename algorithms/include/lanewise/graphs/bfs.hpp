// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/bfs_search.hpp>
#include <lanewise/graphs/detail/sources.hpp>

#include <algorithm>
#include <limits>

LANEWISE_BEGIN_NAMESPACE

/// Options of bfs.
struct bfs_options {
  workspace_ref work = {};
  /// Vertices that are more edges away from all sources are not reached; 0: only the sources are.
  std::int64_t most_levels = std::numeric_limits<std::int32_t>::max();
  /// Edges into vertices are not asked for.
  bool top_down = false;
  option_view<status> errors = {};
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class Vertex, class Offset>
struct bfs_kernel {
  // More warps would have 64 registers each, and spill: a lattice of 300^3 takes 10.4 ms then
  // instead of 7.9 (H200).
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 1;
  };
  template <class Team>
  using search = detail::bfs_search<Team, Vertex, Offset>;
  template <class Team>
  struct scratch {
    typename search<Team>::scratch search;
  };

  detail::bfs_task<Vertex, Offset> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    search<Team>(team, shared.search, task).run();
  }
};

/// Layout of a search's workspace.
template <class Vertex, class Offset>
struct bfs_layout {
  using piece = detail::edge_piece<Vertex, Offset>;

  workspace_layout at{128};
  workspace_array<std::uint64_t> meetings;
  workspace_array<Offset> counter;
  workspace_array<std::uint32_t> bits[2], listed, depths;
  workspace_array<piece> pieces[2];
  std::size_t zeros;  // number of bytes that are to be 0

  bfs_layout(std::int64_t n, std::int64_t m, std::int64_t league) {
    at.add(meetings, league_sums::words(league));
    at.add(counter, 1);
    at.add(bits[0], divide_up(n, 32));
    zeros = at.next();
    at.add(bits[1], divide_up(n, 32));
    at.add(listed, n);
    at.add(depths, n);
    for (auto& p : pieces) at.add(p, detail::most_edge_pieces(n, m));
  }

  detail::bfs_memory<Vertex, Offset> in(char* p) const {
    return {
        {meetings.data(p), {pieces[0].data(p), pieces[1].data(p)}, counter.data(p), listed.data(p)},
        {bits[0].data(p), bits[1].data(p)},
        depths.data(p)};
  }
};

template <class Exec, class V, class O>
using bfs_kernel_of = bfs_kernel<detail::number<V>, detail::number<O>>;

/// The search. A graph's memory space, its weights and the signs of its numbers do not matter here.
/// So Lanewise::compiled can hold instantiations for the common sizes.
template <class Exec, class Vertex, class Offset>
void search_rows(const Exec& exec, const char* name, const detail::graph_rows<Vertex, Offset>& rows,
                 detail::graph_rows<Vertex, Offset> into,
                 const detail::search_sources<Vertex>& sources, std::int32_t* levels,
                 Vertex* parents, const bfs_options& options) {
  using kernel = bfs_kernel<Vertex, Offset>;
  options.errors.template expects_reachable<Exec>(name, "options.errors");
  detail::expects(options.most_levels >= 0, name, ": options.most_levels is ", options.most_levels,
                  ", less than 0");
  if (rows.vertices == 0) return;
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::int64_t league = backend_of<Exec>::template resident_teams<kernel>(exec);
  const bfs_layout<Vertex, Offset> layout(static_cast<std::int64_t>(rows.vertices),
                                          static_cast<std::int64_t>(rows.edges), league);
  auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, layout.at.size(), name);
  char* memory = static_cast<char*>(work.get().plain());
  backend_of<Exec>::zero(exec, memory, layout.zeros);
  if (options.top_down) into.begins = nullptr;
  lanewise::launch_resident(
      exec, "Lanewise::bfs", league,
      kernel{{rows, into, sources, levels, parents,
              static_cast<std::int32_t>(std::min(options.most_levels, most)), layout.in(memory),
              options.errors.data() != nullptr ? options.errors.data() : work.get().errors()}});
}
template <class Exec, class M, class V, class O, class W>
void bfs(const Exec& exec, const char* name, const csr_graph<M, V, O, W>& graph,
         const detail::graph_sources<V>& sources, std::int32_t* levels, detail::number<V>* parents,
         const bfs_options& options) {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, M>::accessible,
                "lanewise: this execution space cannot reach the memory of a graph");
  kernels::search_rows<Exec, detail::number<V>, detail::number<O>>(
      exec, name, detail::rows_of(graph), detail::rows_into(graph), sources, levels, parents,
      options);
}

#if defined(LANEWISE_COMPILED_TEMPLATE)
#define LANEWISE_COMPILED_BFS_OF(Exec, Vertex, Offset)                                          \
  LANEWISE_COMPILED_TEMPLATE void search_rows<Exec, Vertex, Offset>(                            \
      const Exec&, const char*, const detail::graph_rows<Vertex, Offset>&,                      \
      detail::graph_rows<Vertex, Offset>, const detail::search_sources<Vertex>&, std::int32_t*, \
      Vertex*, const bfs_options&);
#define LANEWISE_COMPILED_BFS(Exec)                            \
  LANEWISE_COMPILED_BFS_OF(Exec, std::uint32_t, std::uint32_t) \
  LANEWISE_COMPILED_BFS_OF(Exec, std::uint32_t, std::uint64_t)
LANEWISE_FOR_ALL_SPACES(LANEWISE_COMPILED_BFS)
#undef LANEWISE_COMPILED_BFS
#undef LANEWISE_COMPILED_BFS_OF
#endif

}  // namespace kernels

/// The workspace that a search needs in a graph of `vertices` vertices and `edges` edges.
template <class Graph, class Exec>
workspace_size bfs_workspace(const Exec& exec, std::int64_t vertices, std::int64_t edges) {
  using V = typename Graph::vertex_type;
  using O = typename Graph::offset_type;
  return kernels::bfs_layout<detail::number<V>, detail::number<O>>(
             vertices, edges,
             backend_of<Exec>::template resident_teams<kernels::bfs_kernel_of<Exec, V, O>>(exec))
      .at.size();
}

/// Breadth-first search: levels(v) becomes the least number of edges on a path from a source to
/// vertex v, or -1 where there is none.
///
/// sources is one vertex, or a View of several: the search begins from all of them at once. levels
/// is a View of std::int32_t with a place for every vertex.
///
/// One resident kernel with a barrier after each level (Merrill, 6.5). The direction is chosen
/// as by Beamer, Asanovic and Patterson. Top down, the search follows the edges of the frontier.
/// Bottom up, vertices look for a neighbour that is reached; this needs a symmetric graph, or a
/// graph with its transpose. After 64 levels of few edges the rest is searched as shortest paths
/// are, without a barrier after each level. O(n + m) work; after these 64 levels edges may be
/// looked at several times. Memory traffic: top down the frontier's edges, and a bit for each;
/// bottom up a row's begin and a few edges for each vertex that is not reached. Workspace:
/// bfs_workspace, 41 bytes for each vertex and 32 for each 128 edges, 73 and 64 where row begins
/// have 64 bits. Does not block.
///
/// Columns and sources that are no vertices are skipped and counted, as often as the search meets
/// them, in options.errors, else in options.work; a row whose begins decrease, or lie after the
/// last edge, is empty. Nothing outside is touched. Throws std::invalid_argument on wrong extents,
/// and where one source is no vertex.
template <execution_space Exec, class M, class V, class O, class W, class Sources, class L,
          class... Pl>
void bfs(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Sources& sources,
         const Kokkos::View<L, Pl...>& levels, const bfs_options& options = {}) {
  kernels::bfs(
      exec, "bfs", graph, detail::sources_of<Exec, V>("bfs", sources, graph.vertices()),
      detail::vertex_results<Exec, std::int32_t>("bfs", levels, graph.vertices(), "levels"),
      static_cast<detail::number<V>*>(nullptr), options);
}

/// As `bfs`, for parents: parents(v) becomes the vertex from which v was reached, or v itself if it
/// is a source. If v is not reached, parents(v) is the greatest number of its type, -1 if numbers
/// have a sign. There may be several such trees; calls find any of them.
template <execution_space Exec, class M, class V, class O, class W, class Sources, class P,
          class... Pp>
void bfs_parents(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Sources& sources,
                 const Kokkos::View<P, Pp...>& parents, const bfs_options& options = {}) {
  kernels::bfs(exec, "bfs_parents", graph,
               detail::sources_of<Exec, V>("bfs_parents", sources, graph.vertices()), nullptr,
               reinterpret_cast<detail::number<V>*>(detail::vertex_results<Exec, V>(
                   "bfs_parents", parents, graph.vertices(), "parents")),
               options);
}
/// Both.
template <execution_space Exec, class M, class V, class O, class W, class Sources, class L,
          class... Pl, class P, class... Pp>
void bfs(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Sources& sources,
         const Kokkos::View<L, Pl...>& levels, const Kokkos::View<P, Pp...>& parents,
         const bfs_options& options = {}) {
  kernels::bfs(
      exec, "bfs", graph, detail::sources_of<Exec, V>("bfs", sources, graph.vertices()),
      detail::vertex_results<Exec, std::int32_t>("bfs", levels, graph.vertices(), "levels"),
      reinterpret_cast<detail::number<V>*>(
          detail::vertex_results<Exec, V>("bfs", parents, graph.vertices(), "parents")),
      options);
}

LANEWISE_END_TARGET_NAMESPACE
