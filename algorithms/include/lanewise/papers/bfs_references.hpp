// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/papers/bfs_by_frontiers.hpp>
#include <lanewise/papers/detail/graphs/quadratic_search.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <algorithm>
#include <vector>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

/// A lane reads its own row, and by exact bits a vertex is queued once.
struct bfs_linear_policy : bfs_policy {
  static constexpr bfs_strategy strategy = bfs_strategy::expand_contract;
  static constexpr bfs_gathering gathering = bfs_gathering::by_lanes;
};

namespace kernels {

template <class Vertex, class Offset>
struct bfs_quadratic_kernel {
  using policy = bfs_policy;
  template <class Team>
  using search = detail::quadratic_search<Team, Vertex, Offset>;
  template <class Team>
  struct scratch {
    typename search<Team>::scratch search;
  };

  detail::quadratic_task<Vertex, Offset> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    search<Team>(team, shared.search, task).run();
  }
};

}  // namespace kernels

// The searches that Merrill's dissertation begins with (6.2, listings 5 to 7, corrected), to
// compare others with. levels(v) becomes the least number of edges from the source to v, or -1.
// Columns that are no vertices are skipped. They throw std::invalid_argument on wrong extents, and
// where the source is no vertex.

/// One thread of the host and a queue of vertices: O(n + m) work. Graph and levels are in memory of
/// the host.
template <class M, class V, class O, class W, class Source, class L, class... Pl>
void bfs_sequential(const csr_graph<M, V, O, W>& graph, const Source& source,
                    const Kokkos::View<L, Pl...>& levels) {
  using host = Kokkos::DefaultHostExecutionSpace;
  static_assert(Kokkos::SpaceAccessibility<Kokkos::HostSpace, M>::accessible,
                "lanewise: bfs_sequential takes a graph in memory of the host");
  const std::int64_t n = graph.vertices();
  const auto from = detail::sources_of<host, V>("bfs_sequential", source, n);
  std::int32_t* const level =
      detail::vertex_results<host, std::int32_t>("bfs_sequential", levels, n, "levels");
  const auto rows = detail::rows_of(graph);
  std::fill(level, level + n, -1);
  std::vector<detail::number<V>> queue{from.one};
  level[from.one] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    const auto v = queue[head];
    const auto begin = rows.begins[v], end = rows.begins[v + 1];
    if (end < begin || end > rows.edges) continue;
    for (auto e = begin; e < end; ++e) {
      const auto to = rows.columns[e];
      if (to >= rows.vertices || level[to] >= 0) continue;
      level[to] = level[v] + 1;
      queue.push_back(to);
    }
  }
}

/// All vertices are looked at for each level: O(n levels + m) work, and no memory but levels. For
/// graphs of few levels. options: work, errors.
template <execution_space Exec, class M, class V, class O, class W, class Source, class L,
          class... Pl>
void bfs_quadratic(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Source& source,
                   const Kokkos::View<L, Pl...>& levels,
                   const bfs_by_frontiers_options& options = {}) {
  using kernel = kernels::bfs_quadratic_kernel<detail::number<V>, detail::number<O>>;
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, M>::accessible,
                "lanewise: this execution space cannot reach the memory of a graph");
  options.errors.template expects_reachable<Exec>("bfs_quadratic", "options.errors");
  const auto from = detail::sources_of<Exec, V>("bfs_quadratic", source, graph.vertices());
  std::int32_t* const level = detail::vertex_results<Exec, std::int32_t>(
      "bfs_quadratic", levels, graph.vertices(), "levels");
  const std::int64_t league = backend_of<Exec>::template resident_teams<kernel>(exec);
  const std::size_t bytes = 8 * static_cast<std::size_t>(league_sums::words(league));
  auto work =
      call_workspace::make<backend_of<Exec>>(exec, options.work, {0, bytes}, "bfs_quadratic");
  auto* meetings = static_cast<std::uint64_t*>(work.get().plain());
  backend_of<Exec>::zero(exec, meetings, bytes);
  lanewise::launch_resident(
      exec, "Lanewise::bfs_quadratic", league,
      kernel{{detail::rows_of(graph), from.one, level, meetings,
              options.errors.data() != nullptr ? options.errors.data() : work.get().errors()}});
}

/// A queue that has each vertex once, and rows that lanes read: O(n + m) work.
template <execution_space Exec, class M, class V, class O, class W, class Source, class L,
          class... Pl>
void bfs_linear(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Source& source,
                const Kokkos::View<L, Pl...>& levels,
                const bfs_by_frontiers_options& options = {}) {
  lanewise::papers::bfs_by_frontiers<bfs_linear_policy>(exec, graph, source, levels, options);
}

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
