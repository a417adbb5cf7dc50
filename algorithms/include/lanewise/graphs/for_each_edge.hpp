// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/host/edges_by_thread.hpp>
#include <lanewise/graphs/detail/sources.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/team/team.hpp>

#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class V, class Rows, class F, class Next>
struct edges_kernel {
  struct policy : launch_policy {
    static constexpr int teams_per_multiprocessor = 4;
  };
  using vertex = detail::number<V>;

  template <class Team>
  using expansion = expansion_t<Team, detail::edge_owner<vertex>, policy>;
  template <class Team>
  using to_queue = detail::vertices_to_queue<Team, Next>;
  template <class Team>
  struct scratch {
    typename expansion<Team>::scratch windows;
    typename to_queue<Team>::scratch next;
  };

  Rows rows;
  F f;
  Next next;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto ranges = rows.open();
    to_queue<Team> found(team, shared.next, next);
    using offset = std::decay_t<decltype(rows.rows.edges)>;
    if constexpr (Team::is_single_thread) {
      const std::uint64_t bad = detail::edges_by_thread<V, vertex, offset, F, to_queue<Team>>::take(
          team, ranges, f, rows.rows, found);
      if (bad != 0 && errors != nullptr) team.warp().fetch_add(errors->bad_items, bad);
    } else {
      const detail::call_for_edges<V, vertex, offset, F, to_queue<Team>> body{f, rows.rows, errors,
                                                                              found};
      expansion<Team>::expand(
          team, shared.windows,
          [&ranges](std::int64_t r) LANEWISE_INLINE_LAMBDA { return ranges.end(r); }, ranges.count,
          ranges.items,
          [&ranges](std::int64_t r) LANEWISE_INLINE_LAMBDA { return ranges.owner(r); }, body);
    }
    found.flush();
  }
};

/// Layout of the workspace: the ends of rows, the number of edges, then the chain's part.
template <class Exec>
struct edges_layout : workspace_layout {
  workspace_array<std::int64_t> ends;  // of rows, then the number of edges
  workspace_array<char> chain;

  explicit edges_layout(std::int64_t vertices)
      : workspace_layout(64),
        ends(add<std::int64_t>(vertices + 1)),
        chain(add_call(lanewise::allocate_workspace<Exec>(vertices))) {}
};

template <class V, class Exec, class Rows, class F, class Next>
void call_for_rows(const Exec& exec, const Rows& rows, const F& f, const Next& next,
                   status* errors) {
  constexpr bool fitting = detail::fits<Exec, void, F, V, V, std::int64_t>();
  static_assert(fitting,
                "lanewise::for_each_edge: f is a function object that is called with a vertex, "
                "another one, and a std::int64_t, and its operator() is const");
  if constexpr (fitting) {
    using kernel = edges_kernel<V, Rows, F, Next>;
    constexpr std::int64_t steps =
        kernel::template expansion<team_t<Exec, typename kernel::policy>>::steps;
    const std::int64_t most = rows.n.bound + static_cast<std::int64_t>(rows.rows.edges);
    lanewise::launch(
        exec, "Lanewise::for_each_edge",
        backend_of<Exec>::template resident_league<kernel>(exec, divide_up(most, steps)),
        kernel{rows, f, next, errors});
  }
}

/// The rows of a list: their lengths, a scan of these, and then their edges.
template <class Exec, class M, class V, class O, class W, class Frontier, class F, class Next>
void for_each_edge(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Frontier& given,
                   const F& f, const Next& next, const checked_options& options) {
  const auto frontier = detail::as_source<Exec>(given);
  using source = std::decay_t<decltype(frontier)>;
  static_assert(std::is_same_v<typename source::value_type, V>,
                "lanewise::for_each_edge: a frontier has items of the graph's type of vertices");
  detail::expects_memory(frontier, "for_each_edge", "frontier");
  const item_count n = kernels::count_of<Exec>(frontier.extent, options, "for_each_edge");
  if (frontier.extent == 0) return;
  const edges_layout<Exec> layout(frontier.extent);
  auto work =
      call_workspace::make<backend_of<Exec>>(exec, options.work, layout.size(), "for_each_edge");
  auto* const ends = layout.ends.data(work.get());
  status* const errors = kernels::errors_of<Exec>(options, work.get());
  const auto rows = detail::rows_of(graph);
  using vertex = detail::number<V>;
  using offset = detail::number<O>;
  const auto lengths =
      detail::compose(detail::as<vertex>(frontier), detail::row_length<vertex, offset>{rows});
  // Vertices that are none have negative lengths, which count as bad items.
  kernels::allocate<true>(exec, "Lanewise::for_each_edge::allocate", lengths,
                          array_sink<std::int64_t>{ends, frontier.extent}, n,
                          detail::integers(ends + frontier.extent), detail::most_places - 1, errors,
                          work.get(), layout.chain.offset);
  kernels::call_for_rows<V>(
      exec, detail::rows_of_list<source, vertex, offset>{frontier, rows, n, ends}, f, next, errors);
}

/// The next frontier as a queue, which is empty.
template <class Exec, class V, class Next, class C, class... Pc>
auto next_frontier(const Exec& exec, const Next& next, const Kokkos::View<C, Pc...>& count) {
  static_assert(sizeof(C) >= 4,
                "lanewise::for_each_edge: next_count is an integer of 32 or 64 bits");
  static_assert(std::is_same_v<typename Next::value_type, V>,
                "lanewise::for_each_edge: next has items of the graph's type of vertices");
  const auto sink = detail::as_sink<Exec>(next);
  detail::expects_memory(sink, "for_each_edge", "next");
  kernels::count_place<Exec>(count, "for_each_edge");
  backend_of<Exec>::zero(exec, count.data(), sizeof(C));
  using index = detail::number<C>;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<index>::max());
  const auto room = static_cast<std::uint64_t>(sink.extent);
  return queue<detail::number<V>, index>{reinterpret_cast<detail::number<V>*>(sink.data),
                                         static_cast<index>(room < most ? room : most),
                                         reinterpret_cast<index*>(count.data())};
}

}  // namespace kernels

/// The workspace that for_each_edge needs for a frontier with `vertices` places. Needs no device.
template <class Exec>
workspace_size for_each_edge_workspace(std::int64_t vertices) {
  return kernels::edges_layout<Exec>(vertices).size();
}

/// Calls f(frontier(i), graph.columns()(e), e) for every i in [0, n) and every edge e of that
/// vertex, in no particular order; n is the frontier's extent or options.count.
///
/// frontier is a contiguous rank-1 View or a source of the graph's type of vertices. f is a scalar
/// function object, called once for every edge of every place of the frontier, by many threads at
/// once: what it writes for several edges, it writes atomically. e is a std::int64_t; weights are
/// at graph.weights()(e). Two launches: the lengths of rows become ends by a scan, then every team
/// takes an equal share of the vertices and edges together. So the degrees do not matter (Merrill,
/// 6.4.1). O(n + edges) work; row begins are read four times, 8 bytes for each vertex are written
/// and read. A source's functor is called several times per item. Nothing is read on the host. Does
/// not block. Vertices of the frontier and columns that are no vertices are skipped and counted in
/// options.errors, else in options.work; a row whose begins decrease, or lie after the last edge,
/// is empty. Throws std::invalid_argument on an option that cannot be reached.
template <execution_space Exec, class M, class V, class O, class W, class Frontier, class F>
requires(detail::is_input<Frontier>) void for_each_edge(const Exec& exec,
                                                        const csr_graph<M, V, O, W>& graph,
                                                        const Frontier& frontier, const F& f,
                                                        const checked_options& options = {}) {
  kernels::for_each_edge(exec, graph, frontier, f, detail::no_frontier{}, options);
}

/// Overload with an f that returns whether the vertex that an edge leads to joins another frontier,
/// next. How many have joined is stored in the rank-0 View next_count of integers of 32 or 64 bits.
/// If next has fewer places than there are results, results are written until next is full;
/// next_count counts all of them. next and next_count are none of the Views that this call reads. A
/// vertex that joins for several edges is in next as often as f says so. The order of next is
/// unspecified.
template <execution_space Exec, class M, class V, class O, class W, class Frontier, class F,
          class Next, class... Pn, class C, class... Pc>
requires(detail::is_input<Frontier>) void for_each_edge(const Exec& exec,
                                                        const csr_graph<M, V, O, W>& graph,
                                                        const Frontier& frontier, const F& f,
                                                        const Kokkos::View<Next, Pn...>& next,
                                                        const Kokkos::View<C, Pc...>& next_count,
                                                        const checked_options& options = {}) {
  detail::expects_no_partial_overlap(detail::as_source<Exec>(frontier), detail::as_sink<Exec>(next),
                                     "for_each_edge", "frontier", "next", false);
  const auto queue = kernels::next_frontier<Exec, V>(exec, next, next_count);
  kernels::for_each_edge(exec, graph, frontier, f, queue, options);
}

/// Overload for all edges of the graph, by one launch without a workspace; options.count is the
/// number of vertices, the first ones. Where rows decrease, it is unspecified which edges of the
/// graph f is called for, and from which vertices.
template <execution_space Exec, class M, class V, class O, class W, class F>
requires(!detail::is_input<F>) void for_each_edge(const Exec& exec,
                                                  const csr_graph<M, V, O, W>& graph, const F& f,
                                                  const checked_options& options = {}) {
  const item_count n = kernels::count_of<Exec>(graph.vertices(), options, "for_each_edge");
  if (graph.edges() == 0 || graph.vertices() == 0) return;
  auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, {}, "for_each_edge");
  using rows = detail::rows_in_order<detail::number<V>, detail::number<O>>;
  kernels::call_for_rows<V>(exec, rows{detail::rows_of(graph), n}, f, detail::no_frontier{},
                            kernels::errors_of<Exec>(options, work.get()));
}

LANEWISE_END_TARGET_NAMESPACE
