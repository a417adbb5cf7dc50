// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/options.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/sources.hpp>
#include <lanewise/papers/bfs_policy.hpp>
#include <lanewise/papers/detail/graphs/frontier_search.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

/// Options of bfs_by_frontiers.
struct bfs_by_frontiers_options {
  workspace_ref work = {};
  /// Vertices that are further away are not reached.
  std::int64_t most_levels = std::numeric_limits<std::int32_t>::max() - 1;
  /// Room in queues, as a multiple of the graph's vertices or edges. A frontier has more than these
  /// only where vertices come again and again: for want of culls, or because expand_contract queues
  /// what it drops later, such as a vertex to which many equal edges lead.
  double queue_factor = 1;
  option_view<status> errors = {};
};

namespace kernels {

template <class Vertex, class Offset, class Policy, bool with_parents, bool counted>
struct bfs_by_frontiers_kernel {
  using policy = Policy;
  template <class Team>
  using search = detail::frontier_search<Team, Vertex, Offset, Policy, with_parents, counted>;
  template <class Team>
  struct scratch {
    typename search<Team>::scratch search;
  };

  detail::frontier_task<Vertex, Offset> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    search<Team>(team, shared.search, task).run();
  }
};

/// Layout of a search's workspace.
template <class Policy, class Vertex>
struct bfs_by_frontiers_places {
  std::int64_t league;
  std::int64_t capacity[2];
  std::size_t counters, meetings, bits, zeros, vertices[2], parents[2], bytes;

  bfs_by_frontiers_places(std::int64_t n, std::int64_t m, double factor, std::int64_t teams,
                          bool with_parents)
      : league(teams) {
    constexpr bfs_strategy strategy = Policy::strategy;
    constexpr bool has_edges = strategy != bfs_strategy::expand_contract;
    constexpr bool is_first_of_edges_alone = strategy == bfs_strategy::two_phase;
    const auto room = [factor](std::int64_t of) {
      return static_cast<std::int64_t>(factor * static_cast<double>(of)) + 1;
    };
    capacity[0] = room(has_edges ? m : n);
    capacity[1] = room(has_edges && !is_first_of_edges_alone ? m : n);
    std::size_t at = 0;
    const auto place = [&at](std::size_t size) {
      const std::size_t here = at;
      at += (size + 127) / 128 * 128;
      return here;
    };
    counters = place(sizeof(detail::frontier_counters));
    meetings = place(8 * static_cast<std::size_t>(league_sums::words(league)));
    bits = place(
        Policy::bitmap == bfs_bitmap::none ? 0 : 4 * static_cast<std::size_t>(divide_up(n, 32)));
    zeros = at;
    for (int q = 0; q < 2; ++q) {
      const std::size_t size = sizeof(Vertex) * static_cast<std::size_t>(capacity[q]);
      vertices[q] = place(size);
      const bool has_parents = with_parents && has_edges && !(q == 1 && is_first_of_edges_alone);
      parents[q] = place(has_parents ? size : 0);
    }
    bytes = at;
  }

  template <class Offset>
  void put(detail::frontier_task<Vertex, Offset>& task, char* p) const {
    const auto at = [p](std::size_t offset) { return static_cast<void*>(p + offset); };
    task.counters = static_cast<detail::frontier_counters*>(at(counters));
    task.meetings = static_cast<std::uint64_t*>(at(meetings));
    task.reached.bits = at(bits);
    for (int q = 0; q < 2; ++q)
      task.queues[q] = {static_cast<Vertex*>(at(vertices[q])), static_cast<Vertex*>(at(parents[q])),
                        capacity[q]};
  }
};

template <class Policy, bool with_parents, bool counted, class V, class O>
using bfs_by_frontiers_kernel_of =
    bfs_by_frontiers_kernel<detail::number<V>, detail::number<O>, Policy, with_parents, counted>;

/// The workspace of a search, and its league.
template <class Kernel, class Policy, class Vertex, class Exec>
bfs_by_frontiers_places<Policy, Vertex> bfs_by_frontiers_layout(const Exec& exec, std::int64_t n,
                                                                std::int64_t m, double factor,
                                                                bool with_parents) {
  detail::expects(factor >= 0, "bfs_by_frontiers: options.queue_factor is ", factor);
  return {n, m, factor, backend_of<Exec>::template resident_teams<Kernel>(exec), with_parents};
}

template <class Policy, bool with_parents, bool counted, class Exec, class M, class V, class O,
          class W, class Source>
void bfs_by_frontiers(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Source& source,
                      std::int32_t* levels, [[maybe_unused]] detail::number<V>* parents,
                      bfs_level_counts* counts, std::int64_t count_rows,
                      const bfs_by_frontiers_options& options) {
  using vertex = detail::number<V>;
  using kernel = bfs_by_frontiers_kernel_of<Policy, with_parents, counted, V, O>;
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, M>::accessible,
                "lanewise: this execution space cannot reach the memory of a graph");
  static_assert(std::is_integral_v<Source>, "lanewise: bfs_by_frontiers takes one source");
  options.errors.template expects_reachable<Exec>("bfs_by_frontiers", "options.errors");
  detail::expects(options.most_levels >= 0, "bfs_by_frontiers: options.most_levels is ",
                  options.most_levels);
  const auto from = detail::sources_of<Exec, V>("bfs_by_frontiers", source, graph.vertices());
  const auto places = kernels::bfs_by_frontiers_layout<kernel, Policy, vertex>(
      exec, graph.vertices(), graph.edges(), options.queue_factor, with_parents);
  auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, {0, places.bytes},
                                                     "bfs_by_frontiers");
  char* memory = static_cast<char*>(work.get().plain());
  backend_of<Exec>::zero(exec, memory, places.zeros);
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() - 1;
  kernel search{};
  search.task.out = detail::rows_of(graph);
  search.task.source = from.one;
  search.task.most_depth = static_cast<std::int32_t>(std::min(options.most_levels, most));
  search.task.reached.levels = levels;
  search.task.reached.parents = parents;
  search.task.counts = counts;
  search.task.count_rows = count_rows;
  search.task.errors =
      options.errors.data() != nullptr ? options.errors.data() : work.get().errors();
  places.put(search.task, memory);
  lanewise::launch_resident(exec, "Lanewise::bfs_by_frontiers", places.league, search);
}

}  // namespace kernels

/// The workspace that a search needs in a graph of `vertices` vertices and `edges` edges.
template <class Graph, class Policy = bfs_policy, class Exec>
workspace_size bfs_by_frontiers_workspace(const Exec& exec, std::int64_t vertices,
                                          std::int64_t edges, double queue_factor = 1,
                                          bool with_parents = false) {
  using V = typename Graph::vertex_type;
  using O = typename Graph::offset_type;
  const auto bytes = [&]<bool parents>(std::bool_constant<parents>) {
    using kernel = kernels::bfs_by_frontiers_kernel_of<Policy, parents, false, V, O>;
    return kernels::bfs_by_frontiers_layout<kernel, Policy, detail::number<V>>(
               exec, vertices, edges, queue_factor, parents)
        .bytes;
  };
  return {0, with_parents ? bytes(std::true_type{}) : bytes(std::false_type{})};
}

/// Breadth-first search with the strategies, gatherings and culls of Merrill's dissertation, by
/// choice of Policy, a bfs_policy: levels(v) becomes the least number of edges on a path from the
/// source to vertex v, or -1 where there is none. For experiments: bfs.hpp is faster.
///
/// levels is a View of std::int32_t with a place for every vertex.
///
/// One resident kernel, whose teams meet after each phase. Vertices that several teams reach at
/// once may be expanded several times, unless the bitmap is exact; levels are right nevertheless.
/// Work: O(n + m) and what is expanded again. Memory traffic without that, in words of a vertex:
/// 5 n + 2 m (expand_contract), 3 n + 4 m (contract_expand), 5 n + 4 m (two_phase). Workspace:
/// bfs_by_frontiers_workspace, queue_factor times 2 n, 2 m or n + m words for queues, those of
/// edges twice with parents, and n / 8 bytes for a bitmap. Does not block.
///
/// A queue that is too short drops what it has no room for: this is counted in options.errors, else
/// in options.work, and the search ends. Levels are then those of a part of the graph. Columns that
/// are no vertices are skipped and counted there, too. Nothing outside is touched. Throws
/// std::invalid_argument on wrong extents, and where the source is no vertex.
///
/// Merrill, Allocation-oriented Algorithm Design, 6.4 and 6.5.
template <class Policy = bfs_policy, execution_space Exec, class M, class V, class O, class W,
          class Source, class L, class... Pl>
void bfs_by_frontiers(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Source& source,
                      const Kokkos::View<L, Pl...>& levels,
                      const bfs_by_frontiers_options& options = {}) {
  kernels::bfs_by_frontiers<Policy, false, false>(
      exec, graph, source,
      detail::vertex_results<Exec, std::int32_t>("bfs_by_frontiers", levels, graph.vertices(),
                                                 "levels"),
      static_cast<detail::number<V>*>(nullptr), nullptr, 0, options);
}

/// Overload that stores parents, too: parents(v) becomes the vertex from which v was reached, or v
/// itself if it is the source. If v is not reached, parents(v) is the greatest number of its type,
/// -1 if numbers have a sign.
template <class Policy = bfs_policy, execution_space Exec, class M, class V, class O, class W,
          class Source, class L, class... Pl, class P, class... Pp>
void bfs_by_frontiers(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Source& source,
                      const Kokkos::View<L, Pl...>& levels, const Kokkos::View<P, Pp...>& parents,
                      const bfs_by_frontiers_options& options = {}) {
  kernels::bfs_by_frontiers<Policy, true, false>(
      exec, graph, source,
      detail::vertex_results<Exec, std::int32_t>("bfs_by_frontiers", levels, graph.vertices(),
                                                 "levels"),
      reinterpret_cast<detail::number<V>*>(detail::vertex_results<Exec, V>(
          "bfs_by_frontiers", parents, graph.vertices(), "parents")),
      nullptr, 0, options);
}

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
