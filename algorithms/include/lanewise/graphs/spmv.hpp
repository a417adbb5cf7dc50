// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/kept_local.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/segments/segmented_reduce.hpp>

#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What edge e contributes to the row it is in: the value of the vertex that it leads to, times its
/// weight.
template <class V, class Weight, class X>
struct edge_product {
  using value = typename X::value_type;

  const V* columns;
  const Weight* weights;  // not asked for where there are none
  X x;
  std::uint64_t vertices;
  status* errors;

  LANEWISE_FUNCTION value operator()(std::int64_t e) const {
    const V column = columns[e];
    if (static_cast<std::uint64_t>(column) >= vertices) [[unlikely]] {
      if (errors != nullptr) Kokkos::atomic_inc(&errors->bad_items);
      return value{};
    }
    const value factor = x(static_cast<std::int64_t>(column));
    if constexpr (std::is_same_v<Weight, no_weight>)
      return factor;
    else
      return static_cast<value>(weights[e]) * factor;
  }
};

/// Hosts look items up one by one, as vectors would have to, and add up four sums that do not wait
/// for each other.
template <class V, class Weight, class X>
struct stream_reduction<generated_source<edge_product<V, Weight, X>>> {
  template <class T, class W, class Op>
  static LANEWISE_LOOP_FUNCTION maybe<T> reduce(
      const W&, const generated_source<edge_product<V, Weight, X>>& source, std::int64_t first,
      std::int64_t last, Op op) {
    if (first >= last) return {{}, false};
    kept_local<edge_product<V, Weight, X>> items = source.f;
    // In variables of their own: of an array g++ 12 makes words that hold two.
    T a = items(first);
    std::int64_t i = first + 1;
    if (last - i >= 7) {
      T b = items(i), c = items(i + 1), d = items(i + 2);
      for (i += 3; i + 4 <= last; i += 4) {
        a = op(a, items(i));
        b = op(b, items(i + 1));
        c = op(c, items(i + 2));
        d = op(d, items(i + 3));
      }
      a = op(op(a, b), op(c, d));
    }
    for (; i < last; ++i) a = op(a, items(i));
    return {a, true};
  }
};

/// Windows of edges, whose items are looked up at once.
template <class V, class Weight, class T>
struct loads_of_lanes<generated_source<edge_product<V, Weight, array_source<T, identity>>>> {
  using source_type = generated_source<edge_product<V, Weight, array_source<T, identity>>>;
  static constexpr bool exist = true;
  template <class W>
  static LANEWISE_FUNCTION double least_items() {
    return W::template items_worth_a_gather<T, number<V>>();
  }
  /// Processors alone look ahead less far. (Zen 5, one core, of a plain loop's rate: a lattice 0.96
  /// without this, 1.3 with it.)
  template <class W>
  static LANEWISE_FUNCTION void ask_ahead(const source_type& source, std::int64_t e) {
    W::prefetch(source.f.columns + e + page_bytes / static_cast<std::int64_t>(sizeof(V)));
  }

  template <class W>
  static LANEWISE_FUNCTION auto part(const W& warp, const source_type& source, std::int64_t i,
                                     std::int64_t n, const T& otherwise) {
    using number = detail::number<V>;
    using mask_type = mask_t<W, std::uint32_t>;
    const auto& f = source.f;
    mask_type there = warp.template first<std::uint32_t>(static_cast<int>(n));
    const auto column = warp.load(there, reinterpret_cast<const number*>(f.columns) + i, number{0});
    const mask_type bad = there & !(column < static_cast<number>(f.vertices));
    if (warp.any(bad)) {
      there = there & !bad;
      if (f.errors != nullptr)
        warp.fetch_add(f.errors->bad_items, static_cast<std::uint64_t>(warp.count(bad)));
    }
    const auto x = warp.gather(there, f.x.data, column, otherwise);
    if constexpr (std::is_same_v<Weight, no_weight>) {
      return x;
    } else {
      return warp.map(
          there, [](const Weight& w, const T& y) { return static_cast<T>(w) * y; }, otherwise,
          warp.load(there, f.weights + i, Weight{}), x);
    }
  }
  template <class W>
  static LANEWISE_FUNCTION auto whole(const W& warp, const source_type& source, std::int64_t i,
                                      const T& otherwise) {
    return part(warp, source, i, W::width, otherwise);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Sums of products of rows, into a sink. work has room for segmented_reduce.
template <class Weight, class Exec, class Begins, class Columns, class X, class Sink>
void multiply(const Exec& exec, const Begins& begins, const Columns& columns, const Weight* weights,
              const X& x, const Sink& sums, workspace& work, const checked_options& options) {
  using T = typename X::value_type;
  const auto vertices = static_cast<std::uint64_t>(begins.extent(0)) - 1;
  const detail::edge_product<typename Columns::non_const_value_type, Weight, X> product{
      columns.data(), weights, x, vertices, kernels::errors_of<Exec>(options, work)};
  lanewise::segmented_reduce(
      exec, lanewise::generated(static_cast<std::int64_t>(columns.extent(0)), product), begins,
      sums, plus{}, T{}, {.work = &work, .count = options.count, .errors = options.errors});
}

}  // namespace kernels

/// y(v) = the sum of weight(e) x(to(e)) over the edges e of vertex v, for all vertices of the
/// graph: the product of a sparse matrix, whose rows are those of the graph, and a vector. Weights
/// are 1 where the graph has none.
///
/// x is a contiguous rank-1 View or a source with an item for every vertex. y is a View or a sink
/// with a place for every vertex, which does not overlap x. Sums and products are of the type of
/// x's items. options.count is the number of rows, the first ones. A segmented_reduce of a source
/// that gathers: one launch, every team has an equal share of rows and edges. O(n + m) work; row
/// begins, columns and weights are read once, and x once for every edge. Floating-point sums depend
/// on the number of teams. Does not block. Columns that are no vertices are skipped and counted in
/// options.errors, else in options.work; so are rows whose begins decrease, or lie after the last
/// edge, and then y is unspecified. Throws std::invalid_argument on wrong extents, overlap, or an
/// option that cannot be reached.
template <execution_space Exec, class M, class V, class O, class W, class X, class Y>
void spmv(const Exec& exec, const csr_graph<M, V, O, W>& graph, const X& x, const Y& y,
          const checked_options& options = {}) {
  const auto factors = detail::as_source<Exec>(x);
  const auto sink = detail::as_sink<Exec>(y);
  using T = typename std::decay_t<decltype(factors)>::value_type;
  static_assert(!std::is_floating_point_v<W> || std::is_floating_point_v<T>,
                "lanewise::spmv: floating-point weights times integers; x is to be of a "
                "floating-point type, too");
  const std::int64_t n = graph.vertices();
  detail::expects(factors.extent >= n, "spmv: x has ", factors.extent, " items, the graph has ", n,
                  " vertices");
  detail::expects(sink.extent >= n, "spmv: y has ", sink.extent, " places, the graph has ", n,
                  " vertices");
  detail::expects_memory(factors, "spmv", "x");
  detail::expects_no_partial_overlap(factors, sink, "spmv", "x", "y", false);
  kernels::count_of<Exec>(n, options, "spmv");
  if (n == 0) return;
  auto work = call_workspace::make<backend_of<Exec>>(
      exec, options.work, lanewise::segmented_reduce_workspace<T, Exec>(graph.edges(), n), "spmv");
  const W* weights = nullptr;
  if constexpr (!std::is_same_v<W, no_weight>) weights = graph.weights().data();
  kernels::multiply(exec, graph.begins(), graph.columns(), weights, factors, sink, work.get(),
                    options);
}

LANEWISE_END_TARGET_NAMESPACE
