// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/common/options.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/device/device_sssp_search.hpp>
#include <lanewise/graphs/detail/host/host_sssp_search.hpp>
#include <lanewise/graphs/detail/sources.hpp>
#include <lanewise/graphs/sssp_parents.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/team/team.hpp>

LANEWISE_BEGIN_NAMESPACE

/// Options of sssp.
struct sssp_options {
  workspace_ref work = {};
  /// How far apart the distances may lie that are looked at side by side; 0: chosen from the mean
  /// of up to 65,536 weights and the mean number of edges, by two small kernels before the search.
  double delta = 0;
  option_view<status> errors = {};
};

LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Layout of a search's workspace.
template <class Vertex, class Offset, class Bits>
struct sssp_arrays {
  using piece = detail::edge_piece<Vertex, Offset>;

  workspace_layout at{128};
  workspace_array<std::uint64_t> meetings, delta, sum;
  workspace_array<Offset> counter, far_count;
  workspace_array<std::uint32_t> listed, far;
  workspace_array<Bits> far_least;
  workspace_array<Vertex> far_list[2];
  workspace_array<piece> pieces[2];
  std::size_t zeros;  // number of bytes that are to be 0

  sssp_arrays(std::int64_t n, std::int64_t m, std::int64_t league) {
    at.add(meetings, league_sums::words(league));
    at.add(counter, 1);
    at.add(listed, n);
    at.add(far, divide_up(n, 32));
    zeros = at.next();
    at.add(far_count, 3);
    at.add(far_least, 3);
    for (auto& p : far_list) at.add(p, n);
    at.add(delta, 1);
    at.add(sum, 1);
    for (auto& p : pieces) at.add(p, detail::most_edge_pieces(n, m));
  }

  detail::sssp_memory<Vertex, Offset, Bits> in(char* p) const {
    return {
        {meetings.data(p), {pieces[0].data(p), pieces[1].data(p)}, counter.data(p), listed.data(p)},
        far.data(p),
        far_count.data(p),
        far_least.data(p),
        {far_list[0].data(p), far_list[1].data(p)}};
  }
};

template <class Vertex, class Bits>
struct host_sssp_arrays {
  workspace_layout at{128};
  workspace_array<std::uint64_t> meetings, put, taken, far_count, states, before[2], delta, sum;
  workspace_array<std::uint32_t> idle;
  workspace_array<Bits> far_least;
  workspace_array<detail::vertex_marks> marks;
  workspace_array<Vertex> near, far[2];
  std::int64_t mismatch_blocks;
  std::size_t zeros;  // number of bytes that are to be 0

  host_sssp_arrays(std::int64_t n, std::int64_t, std::int64_t league) {
    at.add(meetings, league_sums::words(league));
    constexpr std::int64_t mismatch_words = detail::block_ring_memory<Vertex>::block,
                           far_block = detail::block_pool<Vertex>::block;
    mismatch_blocks = detail::blocks_of_threads(n, mismatch_words, league);
    const std::int64_t far_blocks = detail::blocks_of_threads(n, far_block, league);
    at.add(put, 1);
    at.add(taken, 1);
    at.add(idle, 1);
    at.add(far_count, 1);
    at.add(states, mismatch_blocks);
    zeros = at.next();
    at.add(far_least, 3);
    at.add(delta, 1);
    at.add(sum, 1);
    at.add(marks, n);
    at.add(near, mismatch_blocks * mismatch_words);
    for (auto& p : far) at.add(p, far_blocks * far_block);
    for (auto& p : before) at.add(p, far_blocks);
  }

  detail::host_sssp_memory<Vertex, Bits> in(char* p) const {
    return {meetings.data(p),
            {{put.data(p), taken.data(p), idle.data(p), states.data(p), near.data(p),
              static_cast<std::uint64_t>(mismatch_blocks)},
             {far_in(p, 0), far_in(p, 1)},
             far_least.data(p),
             marks.data(p)}};
  }

 private:
  detail::block_pool<Vertex> far_in(char* p, int turn) const {
    return {far_count.data(p), before[turn].data(p), far[turn].data(p)};
  }
};

template <class Vertex, class Offset, class Weight>
struct sssp_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 1;
  };
  template <class Team>
  using search = detail::sssp_search<Team, Vertex, Offset, Weight>;
  template <class Team>
  struct scratch {
    typename search<Team>::scratch search;
  };

  using bits = typename detail::distances<Weight>::bits;
  using arrays = sssp_arrays<Vertex, Offset, bits>;
  // With 8, searches of random graphs took 0.6 to 0.9 of the time with 32. Lattices took 1.7 times
  // as long: for them the search goes on to 32 by itself (H200, 2^20 vertices).
  static constexpr double delta = 8;

  detail::sssp_task<Vertex, Offset, Weight, detail::sssp_memory<Vertex, Offset, bits>> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    search<Team>(team, shared.search, task).run();
  }
};

template <class Vertex, class Offset, class Weight>
struct host_sssp_kernel {
  using policy = launch_policy;
  template <class Team>
  using search = detail::host_sssp_search<Team, Vertex, Offset, Weight>;
  template <class Team>
  struct scratch {
    typename search<Team>::scratch search;
  };
  using bits = typename detail::distances<Weight>::bits;
  using arrays = host_sssp_arrays<Vertex, bits>;
  // 16 threads of a Xeon, 2^22 vertices: kron takes 125 ms with 2, 146 with 4 and 136 with 8,
  // uniform edges take 133, 124 and 137.
  static constexpr double delta = 2;

  detail::sssp_task<Vertex, Offset, Weight, detail::host_sssp_memory<Vertex, bits>> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    search<Team>(team, shared.search, task).run();
  }
};

template <class Exec, class Vertex, class Offset, class Weight>
using sssp_kernel_of =
    std::conditional_t<team_t<Exec>::is_single_thread, host_sssp_kernel<Vertex, Offset, Weight>,
                       sssp_kernel<Vertex, Offset, Weight>>;

/// Weights of edges spread over a graph, for their mean.
template <class Weight>
struct sampled_weights {
  const Weight* weights;
  std::int64_t step;
  LANEWISE_FUNCTION double operator()(std::int64_t i) const {
    const Weight w = weights[i * step];
    return w > Weight{0} ? static_cast<double>(w) : 0.0;
  }
};
/// delta from a sum of `samples` weights, in a graph with `degree` edges for each vertex.
template <class Weight>
struct delta_of_sum {
  double samples, degree, factor;
  LANEWISE_FUNCTION Weight operator()(double sum) const {
    const double delta = factor * (sum / samples) / degree;
    constexpr Weight most = std::numeric_limits<Weight>::max();
    if (delta >= static_cast<double>(most)) return most;
    return delta >= 1 || detail::distances<Weight>::is_floating ? static_cast<Weight>(delta)
                                                                : Weight{1};
  }
};

/// delta as an option says, in a type of weights.
template <class W>
W given_delta(double delta) {
  constexpr W most = std::numeric_limits<W>::max();
  if (delta >= static_cast<double>(most)) return most;
  return !std::is_floating_point_v<W> && delta < 1 ? W{1} : static_cast<W>(delta);
}

template <class W>
constexpr bool expects_weights() {
  static_assert(
      !std::is_same_v<W, no_weight>,
      "lanewise::sssp: the graph has no weights; see csr_graph(begins, columns, weights)");
  return !std::is_same_v<W, no_weight>;
}

/// The arrays of a search, after what the sum of weights needs.
template <class Kernel, class Exec>
struct sssp_layout {
  typename Kernel::arrays arrays;
  workspace_layout parts;
  workspace_array<char> at;

  sssp_layout(const Exec& exec, std::int64_t n, std::int64_t m, std::int64_t league)
      : arrays(n, m, league),
        parts(lanewise::reduce_workspace<double>(exec)),
        at(parts.add_call(arrays.at.size())) {}
};

/// The search. A graph's memory space and the signs of its numbers do not matter here, so that
/// Lanewise::compiled can hold instantiations for common types.
template <class Exec, class Vertex, class Offset, class W>
void search_paths(const Exec& exec, const detail::graph_rows<Vertex, Offset>& rows,
                  const W* weights, const detail::search_sources<Vertex>& sources, W* distances,
                  const sssp_options& options) {
  using bits = typename detail::distances<W>::bits;
  using kernel = sssp_kernel_of<Exec, Vertex, Offset, W>;
  options.errors.template expects_reachable<Exec>("sssp", "options.errors");
  detail::expects(options.delta >= 0, "sssp: options.delta is ", options.delta, ", not 0 or more");
  const auto n = static_cast<std::int64_t>(rows.vertices),
             m = static_cast<std::int64_t>(rows.edges);
  if (n == 0) return;
  const std::int64_t league = backend_of<Exec>::template resident_teams<kernel>(exec);
  const sssp_layout<kernel, Exec> layout(exec, n, m, league);
  const auto& arrays = layout.arrays;
  auto work =
      call_workspace::make<backend_of<Exec>>(exec, options.work, layout.parts.size(), "sssp");
  char* memory = layout.at.data(work.get());
  backend_of<Exec>::zero(exec, memory, arrays.zeros);
  W* delta = nullptr;
  if (options.delta <= 0 && m > 0) {
    delta = reinterpret_cast<W*>(arrays.delta.data(memory));
    const std::int64_t step = divide_up(m, 65536), samples = divide_up(m, step);
    const Kokkos::View<double, typename Exec::memory_space, Kokkos::MemoryUnmanaged> sum(
        reinterpret_cast<double*>(arrays.sum.data(memory)));
    lanewise::reduce(exec, lanewise::generated(samples, sampled_weights<W>{weights, step}), sum,
                     plus{}, 0.0, {.work = &work.get()});
    const Kokkos::View<double*, typename Exec::memory_space, Kokkos::MemoryUnmanaged> sums(
        sum.data(), 1);
    const Kokkos::View<W*, typename Exec::memory_space, Kokkos::MemoryUnmanaged> deltas(delta, 1);
    lanewise::transform(
        exec, sums, deltas,
        delta_of_sum<W>{static_cast<double>(samples),
                        static_cast<double>(m) / static_cast<double>(n), kernel::delta},
        {.work = &work.get()});
  }
  lanewise::launch_resident(
      exec, "Lanewise::sssp", league,
      kernel{{rows, weights, sources, reinterpret_cast<bits*>(distances), delta,
              kernels::given_delta<W>(options.delta), arrays.in(memory),
              options.errors.data() != nullptr ? options.errors.data() : work.get().errors()}});
}
template <class Exec, class M, class V, class O, class W>
void sssp(const Exec& exec, const csr_graph<M, V, O, W>& graph,
          const detail::graph_sources<V>& sources, W* distances, const sssp_options& options) {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, M>::accessible,
                "lanewise: this execution space cannot reach the memory of a graph");
  kernels::search_paths<Exec, detail::number<V>, detail::number<O>, W>(
      exec, detail::rows_of(graph), graph.weights().data(), sources, distances, options);
}

#if defined(LANEWISE_COMPILED_TEMPLATE)
#define LANEWISE_COMPILED_SSSP_OF(Exec, Offset, W)                              \
  LANEWISE_COMPILED_TEMPLATE void search_paths<Exec, std::uint32_t, Offset, W>( \
      const Exec&, const detail::graph_rows<std::uint32_t, Offset>&, const W*,  \
      const detail::search_sources<std::uint32_t>&, W*, const sssp_options&);
#define LANEWISE_COMPILED_SSSP(Exec)                            \
  LANEWISE_COMPILED_SSSP_OF(Exec, std::uint32_t, std::uint32_t) \
  LANEWISE_COMPILED_SSSP_OF(Exec, std::uint32_t, float)         \
  LANEWISE_COMPILED_SSSP_OF(Exec, std::uint64_t, std::uint32_t) \
  LANEWISE_COMPILED_SSSP_OF(Exec, std::uint64_t, float)
LANEWISE_FOR_ALL_SPACES(LANEWISE_COMPILED_SSSP)
#undef LANEWISE_COMPILED_SSSP
#undef LANEWISE_COMPILED_SSSP_OF
#endif

}  // namespace kernels

/// The workspace that a search needs in a graph of `vertices` vertices and `edges` edges.
template <class Graph, class Exec>
workspace_size sssp_workspace(const Exec& exec, std::int64_t vertices, std::int64_t edges) {
  using vertex = detail::number<typename Graph::vertex_type>;
  using offset = detail::number<typename Graph::offset_type>;
  using weight = typename Graph::weight_type;
  using kernel = kernels::sssp_kernel_of<Exec, vertex, offset, weight>;
  return kernels::sssp_layout<kernel, Exec>(exec, vertices, edges,
                                            backend_of<Exec>::template resident_teams<kernel>(exec))
      .parts.size();
}

/// Shortest paths: distances(v) becomes the least sum of weights on a path from a source to v. If
/// there is no path, it becomes the greatest number of its type, infinity where it has one.
///
/// sources is one vertex, or a View of several. distances is a View of the graph's type of weights
/// with a place for every vertex. Weights are not negative; floating-point sums are those along a
/// path from the source on, each rounded.
///
/// One resident kernel with a barrier after each round. Vertices whose distance is less than an
/// end are near, and go on relaxing until none is left; then the end moves on by delta, and far
/// vertices are looked through (near-far: delta-stepping with two buckets). In rounds of few edges
/// warps go on by themselves for a while; threads of hosts always do, and share vertices where
/// others have none. Memory traffic: columns, weights, a distance and sometimes an atomic minimum
/// for the edges of each round. By the default delta, all rounds together have 1 to 2.5 times the
/// edges of the graph. Workspace: sssp_workspace, 45 bytes for each vertex and 32 for each 128
/// edges, up to 85 and 64 with types of 64 bits; on hosts 14 bytes for each vertex, or 26. Does not
/// block.
///
/// Negative weights, weights that are no number, and columns and sources that are no vertices are
/// left out. So are sums that are not less than the greatest number. All are counted, as often as
/// the search meets them, in options.errors, else in options.work. Throws std::invalid_argument on
/// wrong extents, a source that is no vertex, and a delta below 0. (Ashkiani, 3.7.2.)
template <execution_space Exec, class M, class V, class O, class W, class Sources, class D,
          class... Pd>
void sssp(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Sources& sources,
          const Kokkos::View<D, Pd...>& distances, const sssp_options& options = {}) {
  if constexpr (kernels::expects_weights<W>())
    kernels::sssp(exec, graph, detail::sources_of<Exec, V>("sssp", sources, graph.vertices()),
                  detail::vertex_results<Exec, W>("sssp", distances, graph.vertices(), "distances"),
                  options);
}

/// Overload that stores the tree of shortest paths, too: see sssp_parents.
template <execution_space Exec, class M, class V, class O, class W, class Sources, class D,
          class... Pd, class P, class... Pp>
void sssp(const Exec& exec, const csr_graph<M, V, O, W>& graph, const Sources& sources,
          const Kokkos::View<D, Pd...>& distances, const Kokkos::View<P, Pp...>& parents,
          const sssp_options& options = {}) {
  if constexpr (kernels::expects_weights<W>()) {
    const std::int64_t n = graph.vertices();
    V* const tree = detail::vertex_results<Exec, V>("sssp", parents, n, "parents");
    lanewise::sssp(exec, graph, sources, distances, options);
    kernels::sssp_parents(exec, graph, detail::sources_of<Exec, V>("sssp", sources, n),
                          static_cast<const W*>(distances.data()), tree, options.work);
  }
}

LANEWISE_END_TARGET_NAMESPACE
