// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/graphs/sssp.hpp>
#include <lanewise/papers/detail/graphs/bucket_search.hpp>
#include <lanewise/papers/detail/names.hpp>
#include <lanewise/search/sorted_search.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <lanewise/sort/radix_sort.hpp>

#include <limits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {

/// How sssp_by_buckets brings vertices that wait into buckets.
enum class bucket_method { multisplit, radix_sort };

/// Options of sssp_by_buckets.
struct sssp_by_buckets_options {
  workspace_ref work = {};
  std::int64_t buckets = 10;
  /// The range of distances of a bucket; 0: as sssp chooses it.
  double delta = 0;
  bucket_method method = bucket_method::multisplit;
  option_view<status> errors = {};
};

/// The most buckets of sssp_by_buckets.
inline constexpr std::int64_t most_sssp_buckets = 256;

namespace kernels {

template <class Vertex, class Offset, class Weight>
struct bucket_kernel {
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 2;
  };
  template <class Team>
  using search = detail::bucket_search<Team, Vertex, Offset, Weight>;
  template <class Team>
  struct scratch {
    typename search<Team>::scratch search;
  };

  detail::bucket_task<Vertex, Offset, Weight> task;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    search<Team>(team, shared.search, task).run();
  }
};

/// Layout of a search's workspace: zeros of each launch, of the first, and the rest.
template <class Vertex, class Offset, class Bits>
struct bucket_layout {
  using piece = detail::edge_piece<Vertex, Offset>;

  workspace_layout at{128};
  workspace_array<std::uint64_t> meetings;
  workspace_array<Offset> counter;
  workspace_array<detail::bucket_state<Bits>> state;
  workspace_array<std::uint32_t> waiting, ids[2];
  workspace_array<std::int64_t> offsets;
  workspace_array<Vertex> list[2];
  workspace_array<piece> pieces;
  std::size_t launch_zeros, zeros;

  bucket_layout(std::int64_t n, std::int64_t m, std::int64_t league, std::int64_t buckets,
                bucket_method method) {
    at.add(meetings, league_sums::words(league));
    at.add(counter, 1);
    launch_zeros = at.next();
    at.add(state, 1);
    at.add(waiting, divide_up(n, 32));
    zeros = at.next();
    at.add(offsets, buckets + 1);
    // Vertices of a bucket are left where they are, while others are appended.
    for (auto& p : list) at.add(p, 2 * n);
    at.add(ids[0], n);
    at.add(ids[1], method == bucket_method::radix_sort ? n : 0);
    at.add(pieces, detail::most_edge_pieces(n, m));
  }
};

/// delta as options say, in a type of weights, or chosen from a sample. **Blocks.**
template <class W, class Exec, class Graph>
W bucket_range(const Exec& exec, const Graph& graph, double given) {
  if (given > 0) return kernels::given_delta<W>(given);
  const std::int64_t m = graph.edges();
  if (m == 0) return W{1};
  const std::int64_t step = divide_up(m, 65536), samples = divide_up(m, step);
  const double sum = kernels::blocking_result<double>(exec, [&](const auto& result) {
    lanewise::reduce(exec,
                     lanewise::generated(samples, sampled_weights<W>{graph.weights().data(), step}),
                     result, plus{}, 0.0);
  });
  return delta_of_sum<W>{static_cast<double>(samples),
                         static_cast<double>(m) / static_cast<double>(graph.vertices()), 32}(sum);
}

struct bucket_number {
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i);
  }
};

/// A search: its memory, and what is launched for each round.
template <class Exec, class Vertex, class Offset, class Weight>
class bucket_rounds {
  using kernel = bucket_kernel<Vertex, Offset, Weight>;
  using bits = typename detail::distances<Weight>::bits;
  using state = detail::bucket_state<bits>;
  using layout_type = bucket_layout<Vertex, Offset, bits>;
  template <class T>
  using view =
      Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  bucket_rounds(const Exec& exec, detail::bucket_task<Vertex, Offset, Weight> task,
                bucket_method method, workspace_ref given)
      : exec_(exec),
        league_(backend_of<Exec>::template resident_teams<kernel>(exec)),
        method_(method),
        layout_(static_cast<std::int64_t>(task.rows.vertices),
                static_cast<std::int64_t>(task.rows.edges), league_, task.buckets, method),
        work_(call_workspace::make<backend_of<Exec>>(exec, given, layout_.at.size(),
                                                     "sssp_by_buckets")),
        task_(task) {
    if (task_.errors == nullptr) task_.errors = work_.get().errors();
    task_.waiting = at(layout_.waiting);
    task_.state = at(layout_.state);
    auto* const pieces = at(layout_.pieces);
    task_.memory = {at(layout_.meetings), {pieces, pieces}, at(layout_.counter), nullptr};
  }

  void run() {
    task_.offsets = nullptr;
    start(layout_.zeros);
    task_.offsets = at(layout_.offsets);
    for (;;) {
      state now;
      detail::copy_to_host<state>(exec_, &now, task_.state);
      if (now.begin == now.end) return;
      const view<Vertex> list(task_.list + now.begin, now.end - now.begin);
      side_ = 1 - side_;
      split(list, view<Vertex>(at(layout_.list[side_]), list.extent(0)));
      start(layout_.launch_zeros);
    }
  }

 private:
  template <class T>
  T* at(const workspace_array<T>& array) {
    return array.data(work_.get());
  }
  void start(std::size_t zeros) {
    task_.list = at(layout_.list[side_]);
    backend_of<Exec>::zero(exec_, work_.get().plain(), zeros);
    lanewise::launch_resident(exec_, "Lanewise::sssp_by_buckets", league_, kernel{task_});
  }
  /// Brings vertices that wait into buckets. Their numbers are frozen first.
  void split(const view<Vertex>& list, const view<Vertex>& out) {
    const std::size_t count = list.extent(0);
    const view<std::uint32_t> ids(at(layout_.ids[0]), count);
    const auto buckets = static_cast<std::uint32_t>(task_.buckets);
    const view<std::int64_t> offsets(at(layout_.offsets), buckets + 1);
    lanewise::transform(
        exec_, list, ids,
        detail::bucket_of_vertex<Vertex, Weight>{task_.distance, task_.state, task_.delta, buckets},
        {.work = &split_work_});
    if (method_ == bucket_method::multisplit) {
      lanewise::multisplit(exec_, list, out, at_most<most_sssp_buckets>{buckets},
                           lanewise::bucket_ids(ids), {.work = &split_work_, .offsets = offsets});
    } else {
      const view<std::uint32_t> sorted(at(layout_.ids[1]), count);
      lanewise::radix_sort(exec_, ids, list, sorted, out, {.work = &split_work_});
      lanewise::lower_bound(exec_, sorted, generated(buckets + 1, bucket_number{}), offsets, less{},
                            {.work = &split_work_});
    }
  }

  const Exec& exec_;
  std::int64_t league_;
  bucket_method method_;
  layout_type layout_;
  call_workspace work_;
  workspace split_work_;
  detail::bucket_task<Vertex, Offset, Weight> task_;
  int side_ = 0;
};

}  // namespace kernels

/// Shortest paths as by sssp, by delta-stepping with buckets. Vertices whose distances were lowered
/// wait in buckets: each bucket holds distances of a range of delta, the last one all beyond. A
/// round looks at the edges of the first bucket that is not empty, and brings all that wait into
/// buckets again.
///
/// sources, distances, and what is left out and counted are those of sssp. options.buckets is in
/// [1, 256]; with 1, a round looks at all that wait.
///
/// options.method says how vertices come into buckets: by multisplit (Ashkiani, 3.7.2.2), or by a
/// radix_sort of pairs of bucket and vertex (Davidson, Baxter, Garland, Owens). Distances are the
/// same, as those of sssp, which is faster: here the host launches some five kernels for each
/// round, and reads how many vertices wait. Workspace: about 44 bytes for each vertex and 16 for
/// each 128 edges, 4 more for each vertex with radix_sort, and what these need. **Blocks.**
///
/// Throws std::invalid_argument on wrong extents, a source that is no vertex, a delta below 0, and
/// a wrong number of buckets. (GPU Multisplit, section 1; Ashkiani, 3.7.2.)
template <execution_space Exec, class M, class V, class O, class W, class Sources, class D,
          class... Pd>
requires(!std::is_same_v<W, no_weight>) void sssp_by_buckets(
    const Exec& exec, const csr_graph<M, V, O, W>& graph, const Sources& sources,
    const Kokkos::View<D, Pd...>& distances, const sssp_by_buckets_options& options = {}) {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, M>::accessible,
                "lanewise: this execution space cannot reach the memory of a graph");
  constexpr const char* name = "sssp_by_buckets";
  const std::int64_t n = graph.vertices();
  const auto from = detail::sources_of<Exec, V>(name, sources, n);
  W* const to = detail::vertex_results<Exec, W>(name, distances, n, "distances");
  options.errors.template expects_reachable<Exec>(name, "options.errors");
  detail::expects(options.delta >= 0, name, ": options.delta is ", options.delta, ", less than 0");
  detail::expects(options.buckets >= 1 && options.buckets <= most_sssp_buckets, name,
                  ": options.buckets is ", options.buckets, ", not in [1, ", most_sssp_buckets,
                  "]");
  if (n == 0) return;
  using bits = typename detail::distances<W>::bits;
  detail::bucket_task<detail::number<V>, detail::number<O>, W> task{};
  task.rows = detail::rows_of(graph);
  task.weights = graph.weights().data();
  task.sources = from;
  task.distance = reinterpret_cast<bits*>(to);
  task.delta = kernels::bucket_range<W>(exec, graph, options.delta);
  task.buckets = options.buckets;
  task.errors = options.errors.data();
  kernels::bucket_rounds<Exec, detail::number<V>, detail::number<O>, W>(exec, task, options.method,
                                                                        options.work)
      .run();
}

}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
