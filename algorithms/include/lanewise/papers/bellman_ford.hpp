// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/sssp.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

/// Options of bellman_ford.
struct bellman_ford_options {
  workspace_ref work = {};
  option_view<status> errors = {};
};

namespace detail {

/// A delta within which all distances are; of integers of 64 bits, those up to half the greatest.
template <class W>
constexpr double whole_range() {
  if constexpr (std::is_floating_point_v<W>)
    return std::numeric_limits<double>::infinity();
  else
    return static_cast<double>(sizeof(W) == 4 ? std::numeric_limits<W>::max()
                                              : std::numeric_limits<W>::max() / 2 + 1);
}

}  // namespace detail

/// Shortest paths as by sssp, in rounds (Bellman, Ford, on frontiers). A round looks at the edges
/// of all vertices whose distance was lowered in the round before: sssp where all distances are
/// near.
///
/// For graphs in which few edges lead anywhere. Elsewhere it looks at edges again and again: 2.5 to
/// 5 times the number of edges in random graphs, and some 50 times in lattices. Arguments,
/// workspace (sssp_workspace) and errors are those of sssp. Does not block.
template <execution_space Exec, class M, class V, class O, class W, class Sources, class D,
          class... Pd>
requires(!std::is_same_v<W, no_weight>) void bellman_ford(
    const Exec& exec, const csr_graph<M, V, O, W>& graph, const Sources& sources,
    const Kokkos::View<D, Pd...>& distances, const bellman_ford_options& options = {}) {
  kernels::sssp(
      exec, graph, detail::sources_of<Exec, V>("bellman_ford", sources, graph.vertices()),
      detail::vertex_results<Exec, W>("bellman_ford", distances, graph.vertices(), "distances"),
      {.work = options.work, .delta = detail::whole_range<W>(), .errors = options.errors});
}

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
