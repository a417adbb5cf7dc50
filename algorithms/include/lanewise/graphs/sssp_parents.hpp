// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/parent_search.hpp>
#include <lanewise/graphs/detail/sources.hpp>

LANEWISE_BEGIN_NAMESPACE

/// Options of sssp_parents.
struct sssp_parents_options {
  workspace_ref work = {};
};

LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class Vertex, class Offset, class Weight>
struct sssp_parents_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 1;
  };
  template <class Team>
  using search = detail::parent_search<Team, Vertex, Offset, Weight>;
  template <class Team>
  struct scratch {
    typename search<Team>::scratch search;
  };

  detail::parent_task<Vertex, Offset, Weight> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    search<Team>(team, shared.search, task).run();
  }
};

/// Layout of a call's workspace.
template <class Vertex, class Offset>
struct sssp_parents_layout {
  using piece = detail::edge_piece<Vertex, Offset>;

  workspace_layout at{128};
  workspace_array<std::uint64_t> meetings;
  workspace_array<Offset> counter;
  workspace_array<std::uint32_t> found_in;
  workspace_array<piece> pieces[2];
  std::size_t zeros;  // number of bytes that are to be 0

  sssp_parents_layout(std::int64_t n, std::int64_t m, std::int64_t league) {
    at.add(meetings, league_sums::words(league));
    at.add(counter, 1);
    zeros = at.next();
    at.add(found_in, n);
    for (auto& p : pieces) at.add(p, detail::most_edge_pieces(n, m));
  }

  detail::frontier_memory<Vertex, Offset> in(char* p) const {
    return {meetings.data(p), {pieces[0].data(p), pieces[1].data(p)}, counter.data(p), nullptr};
  }
};

template <class V, class O, class W>
using sssp_parents_kernel_of = sssp_parents_kernel<detail::number<V>, detail::number<O>, W>;

/// With arguments that were looked at.
template <class Exec, class M, class V, class O, class W>
void sssp_parents(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                  const detail::graph_sources<V>& sources, const W* distances, V* parents,
                  workspace_ref given) {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, M>::accessible,
                "lanewise: this execution space cannot reach the memory of a graph");
  using vertex = detail::number<V>;
  using offset = detail::number<O>;
  using kernel = sssp_parents_kernel_of<V, O, W>;
  const std::int64_t n = graph.vertices(), m = graph.edges();
  if (n == 0) return;
  const std::int64_t league = backend_of<Exec>::template resident_teams<kernel>(exec);
  const sssp_parents_layout<vertex, offset> layout(n, m, league);
  auto work = call_workspace::make<backend_of<Exec>>(exec, given, layout.at.size(), "sssp_parents");
  char* memory = static_cast<char*>(work.get().plain());
  backend_of<Exec>::zero(exec, memory, layout.zeros);
  using bits = typename detail::distances<W>::bits;
  lanewise::launch_resident(
      exec, "Lanewise::sssp_parents", league,
      kernel{{detail::rows_of(graph), graph.weights().data(), sources,
              reinterpret_cast<const bits*>(distances), reinterpret_cast<vertex*>(parents),
              layout.in(memory), layout.found_in.data(memory)}});
}

}  // namespace kernels

/// The workspace that sssp_parents needs in a graph of `vertices` vertices and `edges` edges.
template <class Graph, class Exec>
workspace_size sssp_parents_workspace(const Exec& exec, std::int64_t vertices, std::int64_t edges) {
  using V = typename Graph::vertex_type;
  using O = typename Graph::offset_type;
  using kernel = kernels::sssp_parents_kernel_of<V, O, typename Graph::weight_type>;
  return kernels::sssp_parents_layout<detail::number<V>, detail::number<O>>(
             vertices, edges, backend_of<Exec>::template resident_teams<kernel>(exec))
      .at.size();
}

/// The tree of shortest paths after sssp: parents(v) becomes a vertex u with an edge (u, v, w)
/// such that distances(u) + w == distances(v), added as sssp does; v itself where it is a source;
/// the greatest number, -1 where numbers have a sign, where v is not reached. Going from parent to
/// parent ends at a source, always, also where weights are 0 or vanish in rounding.
///
/// sources are those of sssp, distances what it has left: a View of the graph's type of weights.
/// parents is a View of the graph's type of vertices. Both have a place for every vertex.
///
/// u is the least vertex of those whose distances are less than distances(v). If there is none,
/// vertices are reached in rounds along edges between equal distances, from vertices that have a
/// parent. Then u is the least in v's round. So the result is the same on every backend.
///
/// One resident kernel with a barrier after each step: all edges once, twice where there are
/// such rounds. A tight edge takes a random read of a distance and an atomic minimum. O(n + m)
/// work. Workspace: sssp_parents_workspace, 36 to 68 bytes for each vertex and 32 to 64 for each
/// 128 edges. Does not block.
///
/// Weights, columns and sources that sssp leaves out are left out here, too, and not counted again.
/// Other distances make wrong parents, and nothing else. Throws std::invalid_argument on wrong
/// extents, and where one source is no vertex. (Ashkiani, 3.7.2, has no predecessors.)
template <execution_space Exec, class M, class V, class O, class W, class Sources, class D,
          class... Pd, class P, class... Pp>
requires(!std::is_same_v<W, no_weight>) void sssp_parents(
    const Exec& exec, const csr_graph<M, V, O, W>& graph, const Sources& sources,
    const Kokkos::View<D, Pd...>& distances, const Kokkos::View<P, Pp...>& parents,
    const sssp_parents_options& options = {}) {
  const std::int64_t n = graph.vertices();
  const auto from = detail::as_source<Exec>(distances);
  static_assert(std::is_same_v<typename Kokkos::View<D, Pd...>::non_const_value_type, W>,
                "lanewise: distances are of the graph's type of weights");
  detail::expects(from.extent >= n, "sssp_parents: distances has ", from.extent,
                  " places, the graph has ", n, " vertices");
  detail::expects_memory(from, "sssp_parents", "distances");
  kernels::sssp_parents(
      exec, graph, detail::sources_of<Exec, V>("sssp_parents", sources, n), from.data,
      detail::vertex_results<Exec, V>("sssp_parents", parents, n, "parents"), options.work);
}

LANEWISE_END_TARGET_NAMESPACE
