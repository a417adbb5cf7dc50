// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/component_search.hpp>
#include <lanewise/graphs/detail/sources.hpp>
#include <lanewise/select/detail/compact.hpp>

LANEWISE_BEGIN_NAMESPACE

/// Options of connected_components.
struct components_options {
  workspace_ref work = {};
  option_view<status> errors = {};
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class Vertex, class Offset>
struct components_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 3;
  };
  template <class Team>
  using search = detail::component_search<Team, Vertex, Offset>;
  template <class Team>
  using scratch = typename search<Team>::scratch;

  detail::components_task<Vertex, Offset> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    search<Team>(team, shared, task).run();
  }
};
template <class V, class O>
using components_kernel_of = components_kernel<detail::number<V>, detail::number<O>>;

/// Layout of the search's workspace: meetings, the number of pieces, and the pieces.
template <class V, class O>
struct components_layout : workspace_layout {
  std::int64_t league;
  workspace_array<std::uint64_t> meetings;
  workspace_array<detail::number<O>> counter;
  workspace_array<detail::long_row_piece<detail::number<V>, detail::number<O>>> pieces;

  template <class Exec>
  components_layout(const Exec& exec, std::int64_t edges)
      : workspace_layout(8),
        league(backend_of<Exec>::template resident_teams<components_kernel_of<V, O>>(exec)) {
    add(meetings, league_sums::words(league));
    add(counter, 128 / sizeof(detail::number<O>));  // on a line of its own
    add(pieces, detail::most_long_pieces(edges));
  }
};

template <class Exec, class M, class V, class O, class W, class Labels>
void connected_components(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                          const Labels& labels, const detail::integers& count,
                          const components_options& options) {
  using vertex = detail::number<V>;
  using offset = detail::number<O>;
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, M>::accessible,
                "lanewise: this execution space cannot reach the memory of a graph");
  static_assert(std::is_same_v<typename Labels::value_type, V>,
                "lanewise::connected_components: labels are of the graph's type of vertices");
  const auto sink = detail::as_sink<Exec>(labels);
  detail::expects(sink.extent >= graph.vertices(), "connected_components: labels has ", sink.extent,
                  " places, the graph has ", graph.vertices(), " vertices");
  detail::expects_memory(sink, "connected_components", "labels");
  options.errors.template expects_reachable<Exec>("connected_components", "options.errors");
  const components_layout<V, O> layout(exec, graph.edges());
  auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, layout.size(),
                                                     "connected_components");
  char* const memory = static_cast<char*>(work.get().plain());
  backend_of<Exec>::zero(exec, memory, layout.pieces.offset);
  lanewise::launch_resident(
      exec, "Lanewise::connected_components", layout.league,
      components_kernel_of<V, O>{
          {detail::rows_of(graph),
           detail::rows_into(graph),
           reinterpret_cast<vertex*>(sink.data),
           count,
           {layout.pieces.data(memory),
            static_cast<offset>(detail::most_long_pieces(graph.edges())),
            layout.counter.data(memory)},
           reinterpret_cast<std::uint64_t*>(memory),
           options.errors.data() != nullptr ? options.errors.data() : work.get().errors()}});
}

}  // namespace kernels

/// The workspace that connected_components needs for a graph of `edges` edges.
template <class Graph, class Exec>
workspace_size connected_components_workspace(const Exec& exec, std::int64_t edges) {
  return kernels::components_layout<typename Graph::vertex_type, typename Graph::offset_type>(exec,
                                                                                              edges)
      .size();
}

/// labels(v) becomes the least vertex of v's component: the vertices that a path of edges, in
/// whichever directions, joins with v.
///
/// labels is a View of the graph's type of vertices with a place for every vertex. The result is
/// the same on every backend, and in every run.
///
/// One resident kernel: trees of vertices that are united without locks. The first two edges of all
/// vertices come first. Then, if edges into vertices are known (graph.symmetric(),
/// graph.with_transpose()), vertices that are in the largest component by then are left alone. Most
/// edges are then not read. Otherwise all edges are read. O(n + m) work, nearly. Memory traffic:
/// row begins and a few edges for each vertex, labels some ten times. Workspace: m / 16 bytes. Does
/// not block.
///
/// Columns that are no vertices are skipped and counted, as often as the search meets them, in
/// options.errors, else in options.work; a row whose begins decrease, or lie after the last edge,
/// is empty. Nothing outside is touched. Throws std::invalid_argument on wrong extents. (Afforest,
/// by Sutton, Ben-Nun and Barak.)
template <execution_space Exec, class M, class V, class O, class W, class L, class... Pl>
void connected_components(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                          const Kokkos::View<L, Pl...>& labels,
                          const components_options& options = {}) {
  if (graph.vertices() == 0) return;
  kernels::connected_components(exec, graph, labels, {}, options);
}
/// Overload that also stores the number of components in the rank-0 View count of integers.
template <execution_space Exec, class M, class V, class O, class W, class L, class... Pl, class C,
          class... Pc>
void connected_components(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                          const Kokkos::View<L, Pl...>& labels, const Kokkos::View<C, Pc...>& count,
                          const components_options& options = {}) {
  kernels::connected_components(exec, graph, labels,
                                kernels::count_place<Exec>(count, "connected_components"), options);
}

LANEWISE_END_TARGET_NAMESPACE
