// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/data/zip.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/edge_keys.hpp>
#include <lanewise/graphs/graph_generators.hpp>
#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/select/unique.hpp>
#include <lanewise/sequence/scan_reverse.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/radix_sort.hpp>

#include <bit>
#include <limits>
#include <string>

LANEWISE_BEGIN_NAMESPACE

/// Options of build_csr.
struct csr_options {
  workspace_ref work = {};
  bool symmetrise = false;        ///< every edge is added backwards, too, with the same weight
  bool transpose = false;         ///< every edge is turned round
  bool drop_self_loops = false;   ///< edges from a vertex to itself
  bool merge_duplicates = false;  ///< equal edges become one; their weights are combined
  bool sort_columns = true;  ///< else those of a row keep their order; not with merge_duplicates
  /// Edges from or to a vertex that there is not are left out, and counted here or in the
  /// workspace.
  option_view<status> errors = {};
};

LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class Weights>
struct weight_of_edge {
  Weights weights;
  std::int64_t edges;
  LANEWISE_FUNCTION auto operator()(std::int64_t i) const {
    return weights(i >= edges ? i - edges : i);
  }
};

/// The columns of sorted keys. The first key of a row says where that begins, too.
template <class Vertex, class Offset>
struct column_of_edge {
  const std::uint64_t* keys;
  int bits;
  Offset* begins;
  LANEWISE_FUNCTION Vertex operator()(std::int64_t i) const {
    const std::uint64_t key = keys[i], row = key >> bits;
    if (i == 0 || keys[i - 1] >> bits != row) begins[row] = static_cast<Offset>(i);
    return static_cast<Vertex>(key & ((std::uint64_t{1} << bits) - 1));
  }
};
/// The row that an edge of a graph is in.
template <class Vertex, class Offset>
struct row_of_edge {
  const Offset* begins;
  std::int64_t vertices;
  LANEWISE_FUNCTION Vertex operator()(std::int64_t edge) const {
    std::int64_t first = 0, last = vertices;  // the row is the last that does not begin after edge
    while (last - first > 1) {
      const std::int64_t middle = first + (last - first) / 2;
      (static_cast<std::int64_t>(begins[middle]) <= edge ? first : last) = middle;
    }
    return static_cast<Vertex>(first);
  }
};

template <class T>
struct always {
  T x;
  LANEWISE_FUNCTION T operator()(std::int64_t) const { return x; }
};

template <class T, class Exec>
Kokkos::View<T*, typename Exec::memory_space> room_for(const char* label, std::int64_t n) {
  return Kokkos::View<T*, typename Exec::memory_space>(
      Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing),
      static_cast<std::size_t>(n));
}

/// What a call keeps in its workspace beside that of the calls it is made of: two arrays of keys
/// and two of weights, between which edges move.
template <class Exec, class Weight>
struct csr_memory : workspace_layout {
  static constexpr bool has_weights = !std::is_same_v<Weight, no_weight>;
  using weight = std::conditional_t<has_weights, Weight, std::uint32_t>;
  std::int64_t n;
  workspace_array<std::uint64_t> keys[2];
  workspace_array<weight> weights[2];
  /// Numbers of edges that are kept, and of edges that merging leaves.
  workspace_array<std::int64_t> counts[2];

  csr_memory(std::int64_t vertices, std::int64_t edges, const workspace_size& merging)
      : workspace_layout(lanewise::max(inner(vertices, edges), merging)), n(edges) {
    for (auto& a : keys) add(a, edges);
    for (auto& a : weights) add(a, has_weights ? edges : 0);
    for (auto& a : counts) add(a, 1);
  }
  static workspace_size inner(std::int64_t vertices, std::int64_t n) {
    using value = std::conditional_t<has_weights, Weight, no_value>;
    using edge = std::conditional_t<has_weights, tuple<std::uint64_t, weight>, std::uint64_t>;
    return lanewise::max(
        lanewise::max(lanewise::radix_sort_workspace<std::uint64_t, Exec, value>(n, true),
                      lanewise::compact_workspace<edge, Exec>(n)),
        lanewise::max(lanewise::compact_workspace<std::uint64_t, Exec>(n),
                      lanewise::scan_workspace<std::uint64_t, Exec>(vertices + 1)));
  }
};

/// The memory of a call with n edges, which are merged by Op.
template <class Exec, class Weight, class Op>
csr_memory<Exec, Weight> csr_memory_for(std::int64_t vertices, std::int64_t n) {
  workspace_size merging;
  if constexpr (csr_memory<Exec, Weight>::has_weights)
    merging =
        lanewise::reduce_by_key_workspace<detail::accumulated<Op, Weight>, Exec, std::uint64_t>(n);
  return {vertices, n, merging};
}

/// Edges in memory: keys, the weights beside them, if there are any, and how many there are.
template <class Exec, class Weight>
struct edge_arrays {
  using memory = csr_memory<Exec, Weight>;
  template <class T>
  using view = Kokkos::View<T, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;
  view<std::uint64_t*> keys;
  view<typename memory::weight*> weights;
  view<std::int64_t> count;

  edge_arrays(const workspace& work, const memory& at, int k, int count_k)
      : keys(at.keys[k].template view<Exec>(work)),
        weights(at.weights[k].template view<Exec>(work)),
        count(at.counts[count_k].data(work)) {}
};

/// Collects the edges that are not left out in their order.
template <class Weight, class Exec, class Key, class Weights>
void collect_in_order(const Exec& exec, const Key& key, const Weights& weights,
                      const edge_arrays<Exec, Weight>& edges,
                      const edge_arrays<Exec, Weight>& others, status* errors, workspace& work) {
  if (errors != nullptr)
    lanewise::transform(exec, lanewise::generated(key.edges, detail::edge_is_bad<Key>{key}),
                        function_sink<detail::count_bad_edges>{key.edges, {errors}}, identity{},
                        {.work = &work});
  // A selection may ask for an item twice, which is to be computed once.
  const auto& keys = others.keys;
  lanewise::transform(exec, lanewise::generated(static_cast<std::int64_t>(keys.size()), key), keys,
                      identity{}, {.work = &work});
  const detail::edge_is_kept keep;
  if constexpr (csr_memory<Exec, Weight>::has_weights)
    lanewise::select_if(exec, lanewise::zipped(keys, weights),
                        lanewise::unzipped(edges.keys, edges.weights), edges.count, keep,
                        {.work = &work});
  else
    lanewise::select_if(exec, keys, edges.keys, edges.count, keep, {.work = &work});
}
/// As `collect_in_order`, in any order.
template <class Exec, class Key>
void collect(const Exec& exec, const Key& key, const edge_arrays<Exec, no_weight>& edges,
             status* errors) {
  using backend = backend_of<Exec>;
  using kernel = edge_keys_kernel<Key>;
  auto* const count = reinterpret_cast<std::uint64_t*>(edges.count.data());
  backend::zero(exec, count, sizeof(std::uint64_t));
  if (key.edges == 0) return;
  const bool both = static_cast<std::int64_t>(edges.keys.size()) > key.edges;
  constexpr std::int64_t items = kernel::template items<team_t<Exec, typename kernel::policy>>;
  lanewise::launch(
      exec, "Lanewise::build_csr::keys",
      backend::template league_for_tiles<kernel>(exec, lanewise::divide_up(key.edges, items)),
      kernel{key, both, edges.keys.data(), count, errors});
}

/// Sorts edges by row, and by column if that is wanted. The edges of `given` are overwritten.
template <class Exec, class Weight>
void sort_edges(const Exec& exec, const edge_arrays<Exec, Weight>& given,
                const edge_arrays<Exec, Weight>& sorted, int bits, bool columns, workspace& work) {
  const sort_options by_bits{.work = &work,
                             .count = given.count,
                             .begin_bit = columns ? 0 : bits,
                             .end_bit = 2 * bits,
                             .overwrite_input = true};
  if constexpr (csr_memory<Exec, Weight>::has_weights) {
    lanewise::radix_sort(exec, given.keys, given.weights, sorted.keys, sorted.weights, by_bits);
  } else {
    // Keys that agree in the bits of row and column are the same, so that their order need not be
    // kept. The last step of a device's sort takes 1.4 ms then instead of 3.9 (H200, urand.22).
    // Hosts sort edges of a path or a star up to twice as fast by radix_sort.
    if constexpr (gains_by_any_order<Exec>) {
      if (columns && bits > 0) {
        const item_count n{static_cast<std::int64_t>(given.keys.size()), by_bits.count.data()};
        std::uint64_t* const from = given.keys.data();
        return kernels::sort_bits<Exec, std::uint64_t, no_value, false>(
            exec, {from, sorted.keys.data(), from}, {}, n, {}, {0, 2 * bits}, &work);
      }
    }
    lanewise::radix_sort(exec, given.keys, sorted.keys, by_bits);
  }
}

/// Merges equal edges.
template <class Exec, class Weight, class Op>
void merge_edges(const Exec& exec, const edge_arrays<Exec, Weight>& edges,
                 const edge_arrays<Exec, Weight>& merged, const Op& op, workspace& work) {
  const call_options counted{.work = &work, .count = edges.count};
  if constexpr (csr_memory<Exec, Weight>::has_weights)
    lanewise::reduce_by_key(exec, edges.keys, edges.weights, merged.keys, merged.weights,
                            merged.count, op, equal_to{}, counted);
  else
    lanewise::unique(exec, edges.keys, merged.keys, merged.count, equal_to{}, counted);
}

/// Room for row begins and columns. Where they are of one type it is one allocation: another one,
/// and freeing it, takes 0.2 ms on an H200, half of what grid5.20 takes.
template <class Exec, class Offset, class Vertex>
struct graph_arrays {
  Kokkos::View<Offset*, typename Exec::memory_space> begins;
  Kokkos::View<Vertex*, typename Exec::memory_space> columns;

  graph_arrays(std::int64_t rows, std::int64_t edges) {
    if constexpr (std::is_same_v<Offset, Vertex>) {
      using range = Kokkos::pair<std::int64_t, std::int64_t>;
      const std::int64_t at = divide_up(rows, 64) * 64;
      const auto all = kernels::room_for<Offset, Exec>("Lanewise::csr", at + edges);
      begins = Kokkos::subview(all, range(0, rows));
      columns = Kokkos::subview(all, range(at, at + edges));
    } else {
      begins = kernels::room_for<Offset, Exec>("Lanewise::csr::begins", rows);
      columns = kernels::room_for<Vertex, Exec>("Lanewise::csr::columns", edges);
    }
  }
};

template <class Offset, class Weight, class Exec, class From, class To, class Weights, class Op>
auto build_csr(const Exec& exec, std::int64_t vertices, const From& given_from, const To& given_to,
               const Weights& given_weights, const Op& op, const csr_options& options) {
  const auto from = detail::as_source<Exec>(given_from);
  const auto to = detail::as_source<Exec>(given_to);
  using Vertex = typename std::decay_t<decltype(to)>::value_type;
  using memory = typename Exec::memory_space;
  using graph = csr_graph<memory, Vertex, Offset, Weight>;
  const std::int64_t m = from.extent;
  detail::expects(to.extent == m, "build_csr: there are ", m,
                  " vertices that edges come from, and ", to.extent, " that they lead to");
  detail::expects(vertices >= 0 && vertices <= (std::int64_t{1} << 31), "build_csr: a graph of ",
                  vertices, " vertices; it has from 0 to 2^31");
  options.errors.template expects_reachable<Exec>("build_csr", "options.errors");
  const std::int64_t n = options.symmetrise ? 2 * m : m;
  detail::expects(static_cast<std::uint64_t>(n) <= std::numeric_limits<Offset>::max(),
                  "build_csr: ", n, " edges do not fit row begins of ", 8 * sizeof(Offset),
                  " bits");
  using edges_type = edge_arrays<Exec, Weight>;
  const auto memory_of_call = kernels::csr_memory_for<Exec, Weight, Op>(vertices, n);
  auto call_memory = call_workspace::make<backend_of<Exec>>(exec, options.work,
                                                            memory_of_call.size(), "build_csr");
  workspace& work = call_memory.get();
  const edges_type given(work, memory_of_call, 0, 0), sorted(work, memory_of_call, 1, 0),
      merged(work, memory_of_call, 0, 1);
  const int bits =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(vertices > 0 ? vertices - 1 : 0)));
  const detail::edge_key<std::decay_t<decltype(from)>, std::decay_t<decltype(to)>> key{
      from,
      to,
      m,
      static_cast<std::uint64_t>(vertices),
      bits,
      options.transpose,
      options.drop_self_loops};
  status* const errors = options.errors.data() != nullptr ? options.errors.data() : work.errors();
  const bool columns_too = options.sort_columns || options.merge_duplicates;
  if constexpr (graph::has_weights)
    kernels::collect_in_order<Weight>(
        exec, key, lanewise::generated(n, weight_of_edge<Weights>{given_weights, m}), given, sorted,
        errors, work);
  else if (columns_too)
    kernels::collect(exec, key, given, errors);
  else
    kernels::collect_in_order<Weight>(exec, key, nullptr, given, sorted, errors, work);
  kernels::sort_edges<Exec, Weight>(exec, given, sorted, bits, columns_too, work);
  if (options.merge_duplicates) kernels::merge_edges<Exec, Weight>(exec, sorted, merged, op, work);
  const edges_type& edges = options.merge_duplicates ? merged : sorted;
  std::int64_t left = 0;
  detail::copy_to_host<std::int64_t>(exec, &left, edges.count.data());

  // A row without edges begins where the next one that has some does.
  const graph_arrays<Exec, Offset, Vertex> arrays(vertices + 1, left);
  const auto& begins = arrays.begins;
  const auto& columns = arrays.columns;
  lanewise::transform(exec,
                      lanewise::generated(vertices + 1, always<Offset>{static_cast<Offset>(left)}),
                      begins, identity{}, {.work = &work});
  lanewise::transform(
      exec,
      lanewise::generated(left,
                          column_of_edge<Vertex, Offset>{edges.keys.data(), bits, begins.data()}),
      columns, identity{}, {.work = &work});
  lanewise::inclusive_scan_reverse(exec, begins, begins, minimum{}, {.work = &work});
  if constexpr (graph::has_weights) {
    const auto weights = kernels::room_for<Weight, Exec>("Lanewise::csr::weights", left);
    const auto of_edges =
        Kokkos::subview(edges.weights, Kokkos::pair<std::int64_t, std::int64_t>(0, left));
    lanewise::transform(exec, of_edges, weights, identity{}, {.work = &work});
    return graph(begins, columns, weights);
  } else {
    return graph(begins, columns);
  }
}

}  // namespace kernels

/// The workspace that build_csr needs for `edges` edges, with weights of type Weight or without;
/// also with weights that Op combines. Needs no device.
template <class Exec, class Weight = no_weight, class Op = plus>
workspace_size build_csr_workspace(std::int64_t vertices, std::int64_t edges,
                                   bool symmetrise = false) {
  return kernels::csr_memory_for<Exec, Weight, Op>(vertices, symmetrise ? 2 * edges : edges).size();
}

/// The graph of `vertices` vertices with the edges from(i) -> to(i), in memory of its own.
///
/// from and to are contiguous rank-1 Views or sources (edge_sources has some) of integers of 32 or
/// 64 bits. The type of to's integers is the graph's type of vertices; Offset is its type of row
/// begins. What becomes of self loops, duplicates and directions is up to the options; without any,
/// the graph has the edges that are given. Rows are sorted. Edges from or to a vertex that there is
/// not are left out and counted.
///
/// The edges that stay are written as keys of 64 bits, sorted by radix_sort and, where duplicates
/// are merged, go through unique; a transformation writes columns and where rows begin, and a scan
/// over the rows says where those without edges do: O(n) work for n edges, twice those given if the
/// graph is made symmetric. The workspace has two arrays of keys, 16 n bytes, and some 2 n for the
/// sort's counters; beside it there is memory for the graph alone. **Blocks.** Throws
/// std::invalid_argument on wrong extents, and where vertices or edges are too many for their
/// types.
template <class Offset = std::uint32_t, execution_space Exec, class From, class To>
auto build_csr(const Exec& exec, std::int64_t vertices, const From& from, const To& to,
               const csr_options& options = {}) {
  return kernels::build_csr<Offset, no_weight>(exec, vertices, from, to,
                                               detail::as_source<Exec>(from), plus{}, options);
}
/// Overload with weights. Those of equal edges are combined by op where duplicates are merged, an
/// associative operator, in the order of the list: minimum{} for shortest paths. The workspace has
/// two arrays of weights, too.
template <class Offset = std::uint32_t, execution_space Exec, class From, class To, class Weights,
          class Op>
requires(!std::is_convertible_v<Op, csr_options>) auto build_csr(
    const Exec& exec, std::int64_t vertices, const From& from, const To& to, const Weights& weights,
    const Op& op, const csr_options& options = {}) {
  const auto source = detail::as_source<Exec>(weights);
  detail::expects(source.extent == detail::as_source<Exec>(from).extent, "build_csr: there are ",
                  source.extent, " weights for ", detail::as_source<Exec>(from).extent, " edges");
  using Weight = typename std::decay_t<decltype(source)>::value_type;
  return kernels::build_csr<Offset, Weight>(exec, vertices, from, to, source, op, options);
}
/// The weights of equal edges are added up.
template <class Offset = std::uint32_t, execution_space Exec, class From, class To, class Weights>
requires(!std::is_convertible_v<Weights, csr_options>) auto build_csr(
    const Exec& exec, std::int64_t vertices, const From& from, const To& to, const Weights& weights,
    const csr_options& options = {}) {
  return lanewise::build_csr<Offset>(exec, vertices, from, to, weights, plus{}, options);
}
/// Overload for generated edges.
template <class Offset = std::uint32_t, execution_space Exec, class From, class To>
auto build_csr(const Exec& exec, const edge_sources<From, To>& edges,
               const csr_options& options = {}) {
  return lanewise::build_csr<Offset>(exec, edges.vertices, edges.from, edges.to, options);
}

/// The graph and its transpose, whose columns are sorted: a build_csr of its edges, turned round,
/// for which the row of each is looked up. **Blocks.** Throws std::invalid_argument where columns
/// are no vertices.
template <execution_space Exec, class M, class V, class O, class W>
csr_graph<M, V, O, W> with_transpose(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                                     const workspace_ref& work = {}) {
  const auto rows = lanewise::generated(
      graph.edges(), kernels::row_of_edge<V, O>{graph.begins().data(), graph.vertices()});
  const auto back = lanewise::build_csr<O>(exec, graph.vertices(), rows, graph.columns(),
                                           {.work = work, .transpose = true});
  return graph.with_transpose(back.begins(), back.columns());
}

LANEWISE_END_TARGET_NAMESPACE
