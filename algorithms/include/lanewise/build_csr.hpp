// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/csr_graph.hpp>
#include <lanewise/graph_generators.hpp>
#include <lanewise/radix_sort.hpp>
#include <lanewise/reduce_by_key.hpp>
#include <lanewise/sorted_search.hpp>
#include <lanewise/transform.hpp>
#include <lanewise/unique.hpp>

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

/// An edge as a number: row and column side by side. Edges that are left out come last.
template <class From, class To>
struct edge_key {
  From from;
  To to;
  std::int64_t edges;  // that are given; from there on they are turned round
  std::uint64_t vertices;
  int bits;  // of a vertex
  bool turned, drop_self_loops;
  status* errors;

  LANEWISE_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    const bool second = i >= edges;
    const std::int64_t at = second ? i - edges : i;
    auto row = static_cast<std::uint64_t>(from(at)), column = static_cast<std::uint64_t>(to(at));
    if (row >= vertices || column >= vertices) {
      if (!second && errors != nullptr) Kokkos::atomic_inc(&errors->bad_items);
      return left_out();
    }
    if (row == column && (drop_self_loops || second)) return left_out();
    if (second != turned) Kokkos::kokkos_swap(row, column);
    return row << bits | column;
  }
  LANEWISE_FUNCTION std::uint64_t left_out() const { return std::uint64_t{1} << (2 * bits); }
};

template <class Weights>
struct weight_of_edge {
  Weights weights;
  std::int64_t edges;
  LANEWISE_FUNCTION auto operator()(std::int64_t i) const {
    return weights(i >= edges ? i - edges : i);
  }
};

struct first_of_row {
  int bits;
  LANEWISE_FUNCTION std::uint64_t operator()(std::int64_t row) const {
    return static_cast<std::uint64_t>(row) << bits;
  }
};
template <class Vertex>
struct column_of_key {
  std::uint64_t mask;
  LANEWISE_FUNCTION Vertex operator()(std::uint64_t key) const {
    return static_cast<Vertex>(key & mask);
  }
};

template <class T, class Exec>
Kokkos::View<T*, typename Exec::memory_space> room_for(const char* label, std::int64_t n) {
  return Kokkos::View<T*, typename Exec::memory_space>(
      Kokkos::view_alloc(std::string(label), Kokkos::WithoutInitializing),
      static_cast<std::size_t>(n));
}

/// Keys of edges in the order of rows, and the values beside them, if there are any.
template <class Exec, class Weight>
struct sorted_edges {
  static constexpr bool has_weights = !std::is_same_v<Weight, no_weight>;
  using memory = typename Exec::memory_space;
  using weight_view = Kokkos::View<std::conditional_t<has_weights, Weight, std::uint32_t>*, memory>;

  Kokkos::View<std::uint64_t*, memory> keys;
  weight_view weights;
};

/// Sorts edges by row, and by column if that is wanted.
template <class Weight, class Exec, class Keys, class Weights>
sorted_edges<Exec, Weight> sort_edges(const Exec& exec, const Keys& key_of,
                                      const Weights& weight_of, int bits, const csr_options& with) {
  using edges = sorted_edges<Exec, Weight>;
  const auto room = [&] {
    edges e{room_for<std::uint64_t, Exec>("Lanewise::build_csr::keys", key_of.extent), {}};
    if constexpr (edges::has_weights)
      e.weights = room_for<Weight, Exec>("Lanewise::build_csr::weights", key_of.extent);
    return e;
  };
  const edges given = room(), sorted = room();
  transform(exec, key_of, given.keys, identity{}, {.work = with.work});
  const sort_options order{.work = with.work,
                           .begin_bit = with.sort_columns || with.merge_duplicates ? 0 : bits,
                           .end_bit = 2 * bits + 1,
                           .overwrite_input = true};
  if constexpr (edges::has_weights) {
    transform(exec, weight_of, given.weights, identity{}, {.work = with.work});
    radix_sort(exec, given.keys, given.weights, sorted.keys, sorted.weights, order);
  } else {
    radix_sort(exec, given.keys, sorted.keys, order);
  }
  return sorted;
}

/// Merges equal edges in place, or in other memory. Returns how many keys there are then.
template <class Exec, class Weight, class Op>
std::int64_t merge_edges(const Exec& exec, sorted_edges<Exec, Weight>& edges, const Op& op,
                         const csr_options& with) {
  if constexpr (sorted_edges<Exec, Weight>::has_weights) {
    const auto n = static_cast<std::int64_t>(edges.keys.extent(0));
    sorted_edges<Exec, Weight> merged{room_for<std::uint64_t, Exec>("Lanewise::build_csr::keys", n),
                                      room_for<Weight, Exec>("Lanewise::build_csr::weights", n)};
    const std::int64_t left = reduce_by_key(exec, edges.keys, edges.weights, merged.keys,
                                            merged.weights, op, equal_to{}, {.work = with.work});
    edges = merged;
    return left;
  } else {
    return unique(exec, edges.keys, edges.keys, equal_to{}, {.work = with.work});
  }
}

/// The columns or weights that a graph has, no longer than that.
template <class T, class Exec, class In, class F>
Kokkos::View<T*, typename Exec::memory_space> copied(const Exec& exec, const char* label,
                                                     const In& in, std::int64_t n, const F& f,
                                                     const csr_options& with) {
  const auto out = room_for<T, Exec>(label, n);
  transform(exec, Kokkos::subview(in, Kokkos::pair<std::int64_t, std::int64_t>(0, n)), out, f,
            {.work = with.work});
  return out;
}

template <class Offset, class Weight, class Exec, class From, class To, class Weights, class Op>
auto build_csr(const Exec& exec, std::int64_t vertices, const From& given_from, const To& given_to,
               const Weights& given_weights, const Op& op, const csr_options& with) {
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
  with.errors.template expects_reachable<Exec>("build_csr", "options.errors");
  const std::int64_t n = with.symmetrise ? 2 * m : m;
  detail::expects(static_cast<std::uint64_t>(n) <= std::numeric_limits<Offset>::max(),
                  "build_csr: ", n, " edges do not fit row begins of ", 8 * sizeof(Offset),
                  " bits");
  const auto begins = room_for<Offset, Exec>("Lanewise::csr::begins", vertices + 1);
  const int bits = std::bit_width(static_cast<std::uint64_t>(vertices > 0 ? vertices - 1 : 0));
  const edge_key<std::decay_t<decltype(from)>, std::decay_t<decltype(to)>> key{
      from,
      to,
      m,
      static_cast<std::uint64_t>(vertices),
      bits,
      with.transpose,
      with.drop_self_loops,
      with.errors.data()};
  auto edges = sort_edges<Weight>(
      exec, generated(n, key), generated(n, weight_of_edge<Weights>{given_weights, m}), bits, with);
  std::int64_t left = n;
  if (with.merge_duplicates && n > 0) left = merge_edges(exec, edges, op, with);
  const auto keys = Kokkos::subview(edges.keys, Kokkos::pair<std::int64_t, std::int64_t>(0, left));
  lower_bound(exec, keys, generated(vertices + 1, first_of_row{bits}), begins, less{},
              {.work = with.work, .sorted_queries = true});
  // What is left out lies behind the last row.
  Offset last = 0;
  detail::copy_to_host<Offset>(exec, &last, begins.data() + vertices);
  const auto columns =
      copied<Vertex, Exec>(exec, "Lanewise::csr::columns", keys, static_cast<std::int64_t>(last),
                           column_of_key<Vertex>{(std::uint64_t{1} << bits) - 1}, with);
  if constexpr (graph::has_weights)
    return graph(begins, columns,
                 copied<Weight, Exec>(exec, "Lanewise::csr::weights", edges.weights,
                                      static_cast<std::int64_t>(last), identity{}, with));
  else
    return graph(begins, columns);
}

}  // namespace kernels

/// The graph of so many vertices with the edges from(i) -> to(i), in memory of its own.
///
/// from and to are contiguous rank-1 Views or sources (edge_sources has some) of integers of 32 or
/// 64 bits, the second of which is the graph's type of vertices; Offset is its type of row begins.
/// What becomes of self loops, duplicates and directions is up to the options; without any, the
/// graph has the edges that are given. Rows are sorted. Edges from or to a vertex that there is not
/// are left out and counted.
///
/// A transformation, a radix_sort of keys of 64 bits, a unique where duplicates are merged, a
/// lower_bound and another transformation: O(n) work for n edges, twice those given if the graph is
/// made symmetric. Peak memory: 16 n bytes and what the sort needs for counters, then 8 n and the
/// graph. **Blocks.** Throws std::invalid_argument on wrong extents, and where vertices or edges
/// are too many for their types.
template <class Offset = std::uint32_t, execution_space Exec, class From, class To>
auto build_csr(const Exec& exec, std::int64_t vertices, const From& from, const To& to,
               const csr_options& with = {}) {
  return kernels::build_csr<Offset, no_weight>(exec, vertices, from, to,
                                               detail::as_source<Exec>(from), plus{}, with);
}
/// The same with weights. Those of equal edges are combined by op where duplicates are merged, an
/// associative operator. Peak memory: 24 n bytes with weights of 4, 36 n where duplicates are
/// merged.
template <class Offset = std::uint32_t, execution_space Exec, class From, class To, class Weights,
          class Op = plus>
requires(!std::is_convertible_v<Weights, csr_options>) auto build_csr(
    const Exec& exec, std::int64_t vertices, const From& from, const To& to, const Weights& weights,
    const csr_options& with = {}, const Op& op = {}) {
  const auto source = detail::as_source<Exec>(weights);
  detail::expects(source.extent == detail::as_source<Exec>(from).extent, "build_csr: there are ",
                  source.extent, " weights for ", detail::as_source<Exec>(from).extent, " edges");
  using Weight = typename std::decay_t<decltype(source)>::value_type;
  return kernels::build_csr<Offset, Weight>(exec, vertices, from, to, source, op, with);
}
/// Of generated edges.
template <class Offset = std::uint32_t, execution_space Exec, class From, class To>
auto build_csr(const Exec& exec, const edge_sources<From, To>& edges,
               const csr_options& with = {}) {
  return build_csr<Offset>(exec, edges.vertices, edges.from, edges.to, with);
}

LANEWISE_END_TARGET_NAMESPACE
