// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/graphs/spmv.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/transform.hpp>

LANEWISE_BEGIN_NAMESPACE

/// Options of pagerank.
struct pagerank_options {
  workspace_ref work = {};
  double damping = 0.85;    ///< the share of a rank that goes along edges
  std::int64_t steps = 20;  ///< of pagerank_step: one
  /// Above 0, pagerank ends after a step that changes ranks by no more than that in sum.
  double tolerance = 0;
  option_view<status> errors = {};
};

namespace detail {

/// Ranks, and how many edges share each.
template <class T, class Offset>
struct ranks_of_vertices {
  T* ranks;
  const Offset* begins;
  Offset edges;  // of the graph

  LANEWISE_FUNCTION Offset degree(std::int64_t v) const {
    const Offset begin = begins[v], end = begins[v + 1];
    return end < begin || end > edges ? Offset{0} : static_cast<Offset>(end - begin);
  }
};
/// Writes what a vertex hands on along each of its edges. Returns what one without edges hands to
/// all.
template <class T, class Offset>
struct hand_out_rank {
  ranks_of_vertices<T, Offset> of;
  T* of_edges;

  LANEWISE_FUNCTION T operator()(std::int64_t v) const {
    const Offset degree = of.degree(v);
    const T rank = of.ranks[v];
    of_edges[v] = degree == 0 ? T{0} : rank / static_cast<T>(degree);
    return degree == 0 ? rank : T{0};
  }
};
/// Hosts do it for as many vertices at once as a warp has lanes. g++ 12 makes a branch for each.
template <class T, class Offset>
struct stream_reduction<generated_source<hand_out_rank<T, Offset>>> {
  template <class U, class W, class Op>
  static LANEWISE_LOOP_FUNCTION maybe<U> reduce(
      const W& warp, const generated_source<hand_out_rank<T, Offset>>& source, std::int64_t first,
      std::int64_t last, Op op) {
    using ranks_type = lanes_t<W, T>;
    const hand_out_rank<T, Offset>& hand_out = source.f;
    const auto& of = hand_out.of;
    ranks_type sums(T{0});
    std::int64_t v = first;
    for (; v + W::width <= last; v += W::width) {
      const auto begin = warp.load(of.begins + v), end = warp.load(of.begins + v + 1);
      const mask_t<W, T> none = (end <= begin) | (end > of.edges);
      const auto degree = warp.template cast<T>(end - begin);
      const ranks_type rank = warp.load(of.ranks + v);
      const ranks_type share =
          warp.map([](T r, T d) { return r / d; }, rank,
                   lanewise::select(none, ranks_type(T{1}), ranks_type(degree)));
      warp.store(hand_out.of_edges + v, lanewise::select(none, ranks_type(T{0}), share));
      sums = sums + lanewise::select(none, rank, ranks_type(T{0}));
    }
    T sum = warp.reduce(sums, op);
    for (; v < last; ++v) sum += hand_out(v);
    return {sum, first < last};
  }
};
template <class T>
struct next_rank {
  T* ranks;
  T* changes;  // null: the caller does not ask
  const T* without_edges;
  T damping, of_all;

  LANEWISE_FUNCTION void operator()(std::int64_t v, const T& sum) const {
    const T next = (T{1} - damping + damping * *without_edges) * of_all + damping * sum;
    if (changes != nullptr) changes[v] = next < ranks[v] ? ranks[v] - next : next - ranks[v];
    ranks[v] = next;
  }
};
template <class T>
struct same_rank {
  T rank;
  LANEWISE_FUNCTION T operator()(std::int64_t) const { return rank; }
};

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Layout of a step's workspace: what each edge gets, what vertices without edges have, and, if the
/// caller asks, how much ranks change.
template <class T, class Exec>
struct pagerank_layout {
  workspace_layout parts;
  workspace_array<T> of_edges, without_edges, changes;

  pagerank_layout(const Exec& exec, std::int64_t vertices, std::int64_t edges, bool asks)
      : parts(lanewise::max(lanewise::segmented_reduce_workspace<T, Exec>(edges, vertices),
                            lanewise::reduce_workspace<T>(exec))),
        of_edges(parts.add<T>(vertices)),
        without_edges(parts.add<T>(1)),
        changes(parts.add<T>(asks ? vertices : 0)) {}
};

/// Computes ranks by at most `steps` steps, from what ranks are. Returns the number of steps.
template <class Exec, class M, class V, class O, class W, class T>
std::int64_t pagerank_steps(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                            const array_sink<T>& ranks, std::int64_t steps, double tolerance,
                            const char* name, const pagerank_options& options) {
  const std::int64_t n = graph.vertices();
  const bool asks = tolerance > 0;
  const pagerank_layout<T, Exec> layout(exec, n, graph.edges(), asks);
  auto given =
      call_workspace::make<backend_of<Exec>>(exec, options.work, layout.parts.size(), name);
  workspace& work = given.get();
  const auto of_edges = layout.of_edges.template view<Exec>(work);
  T* const without_edges = layout.without_edges.data(work);
  const auto changes = layout.changes.template view<Exec>(work);
  const auto rows = detail::rows_of(graph);
  const detail::ranks_of_vertices<T, detail::number<O>> of{ranks.data, rows.begins, rows.edges};
  const detail::next_rank<T> next{ranks.data, asks ? changes.data() : nullptr, without_edges,
                                  static_cast<T>(options.damping), T{1} / static_cast<T>(n)};
  for (std::int64_t step = 0; step < steps; ++step) {
    lanewise::reduce(
        exec,
        lanewise::generated(n, detail::hand_out_rank<T, detail::number<O>>{of, of_edges.data()}),
        Kokkos::View<T, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(without_edges),
        plus{}, T{0}, {.work = &work});
    kernels::multiply<no_weight>(exec, graph.begins_into(), graph.columns_into(), nullptr,
                                 detail::as_source<Exec>(of_edges), lanewise::consumed(n, next),
                                 work, {.errors = options.errors});
    if (asks && lanewise::reduce(exec, changes, plus{}, T{0}, {.work = &work}) <= tolerance)
      return step + 1;
  }
  return steps;
}

/// The ranks as an array, of arguments that are as they should be.
template <class Exec, class Graph, class Ranks>
auto ranks_of(const char* name, const Graph& graph, const Ranks& ranks,
              const pagerank_options& options) {
  static_assert(std::is_floating_point_v<typename Ranks::value_type>,
                "lanewise::pagerank: ranks are floating-point numbers");
  const auto sink = detail::as_sink<Exec>(ranks);
  const std::int64_t n = graph.vertices();
  detail::expects(n == 0 || graph.has_edges_into(), name,
                  ": the graph does not have the edges into its vertices; see "
                  "csr_graph::symmetric and with_transpose");
  detail::expects(sink.extent >= n, name, ": ranks has ", sink.extent, " places, the graph has ", n,
                  " vertices");
  detail::expects_memory(sink, name, "ranks");
  detail::expects(options.damping >= 0 && options.damping <= 1, name, ": options.damping is ",
                  options.damping, ", not in [0, 1]");
  detail::expects(options.steps >= 0, name, ": options.steps is ", options.steps, ", less than 0");
  detail::expects(options.tolerance >= 0, name, ": options.tolerance is ", options.tolerance,
                  ", not 0 or more");
  options.errors.template expects_reachable<Exec>(name, "options.errors");
  return sink;
}

}  // namespace kernels

/// One step from ranks to ranks. With n vertices, damping d, and D the sum of ranks of vertices
/// without edges, rank(v) becomes (1 - d + d D) / n + d S. S is the sum of rank(u) / edges(u) over
/// the edges from vertices u to v. So the sum of all stays what it is, 1.
///
/// ranks is a View of float or double with a place for every vertex. Weights are not asked for. The
/// graph has the edges into its vertices. A reduce that writes what edges get, and a
/// segmented_reduce of a source that gathers: O(n + m) work; columns are read once, an item of n
/// for every edge, and row begins twice. Workspace: an item for each vertex, and what
/// segmented_reduce needs. Sums depend on the number of teams. Does not block. Columns that are no
/// vertices are skipped and counted in options.errors, else in options.work; so are rows whose
/// begins decrease, or lie after the last edge, and then ranks are unspecified. Throws
/// std::invalid_argument where edges into vertices are not known, on wrong extents, or an option
/// that cannot be.
template <execution_space Exec, class M, class V, class O, class W, class R, class... P>
void pagerank_step(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                   const Kokkos::View<R, P...>& ranks, const pagerank_options& options = {}) {
  const auto sink = kernels::ranks_of<Exec>("pagerank_step", graph, ranks, options);
  if (graph.vertices() == 0) return;
  kernels::pagerank_steps(exec, graph, sink, 1, 0, "pagerank_step", options);
}

/// Ranks after options.steps such steps from 1 / n, or after fewer where options.tolerance is above
/// 0. Returns how many there were. With a tolerance an item more for each vertex in the workspace,
/// and each step **blocks**; without, nothing does.
template <execution_space Exec, class M, class V, class O, class W, class R, class... P>
std::int64_t pagerank(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                      const Kokkos::View<R, P...>& ranks, const pagerank_options& options = {}) {
  const auto sink = kernels::ranks_of<Exec>("pagerank", graph, ranks, options);
  const std::int64_t n = graph.vertices();
  if (n == 0) return 0;
  using T = typename Kokkos::View<R, P...>::value_type;
  lanewise::transform(exec, lanewise::generated(n, detail::same_rank<T>{T{1} / static_cast<T>(n)}),
                      sink, identity{}, {.work = options.work});
  return kernels::pagerank_steps(exec, graph, sink, options.steps, options.tolerance, "pagerank",
                                 options);
}

LANEWISE_END_TARGET_NAMESPACE
