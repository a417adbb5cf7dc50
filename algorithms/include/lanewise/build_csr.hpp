// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/csr_graph.hpp>
#include <lanewise/detail/arrays_behind.hpp>
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

/// Edges as numbers, row and column side by side. What is left out comes behind all others.
struct edge_numbers {
  int bits;                ///< of a vertex
  std::uint64_t vertices;  ///< how many there are
  std::uint64_t left_out;
  int end_bit;  ///< numbers are below 2^end_bit

  /// Where edges are sorted by column, too, and self loops are dropped, that of the last vertex
  /// stands for all that is left out: a bit more would leave the sort's first digit half empty.
  edge_numbers(std::uint64_t vertices, bool sorted, bool drops_self_loops)
      : bits(std::bit_width(vertices > 0 ? vertices - 1 : 0)), vertices(vertices) {
    const bool by_self_loop = sorted && drops_self_loops && vertices > 0;
    left_out =
        by_self_loop ? (vertices - 1) << bits | (vertices - 1) : std::uint64_t{1} << (2 * bits);
    end_bit = 2 * bits + (by_self_loop ? 0 : 1);
  }
  LANEWISE_FUNCTION std::uint64_t operator()(std::uint64_t row, std::uint64_t column) const {
    return row << bits | column;
  }
  /// No edge of an earlier row has this number or a greater one, and no edge of the row has a
  /// smaller one. Behind the last row lies what is left out.
  LANEWISE_FUNCTION std::uint64_t begin_of_row(std::uint64_t row) const {
    return row < vertices ? row << bits : left_out;
  }
};

template <class From, class To>
struct edge_key {
  From from;
  To to;
  std::int64_t edges;  // that are given; from there on they are turned round
  edge_numbers number;
  bool turned, drop_self_loops;
  status* errors;

  LANEWISE_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    const bool second = i >= edges;
    const std::int64_t at = second ? i - edges : i;
    auto row = static_cast<std::uint64_t>(from(at)), column = static_cast<std::uint64_t>(to(at));
    if (row >= number.vertices || column >= number.vertices) {
      if (!second && errors != nullptr) Kokkos::atomic_inc(&errors->bad_items);
      return number.left_out;
    }
    if (row == column && (drop_self_loops || second)) return number.left_out;
    if (second != turned) Kokkos::kokkos_swap(row, column);
    return number(row, column);
  }
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
  edge_numbers number;
  LANEWISE_FUNCTION std::uint64_t operator()(std::int64_t row) const {
    return number.begin_of_row(static_cast<std::uint64_t>(row));
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

/// What a call keeps in its workspace beside that of the calls it is made of: two arrays of keys
/// and two of weights, between which edges move.
template <class Exec, class Weight>
struct csr_memory : arrays_behind {
  static constexpr bool has_weights = !std::is_same_v<Weight, no_weight>;
  using weight = std::conditional_t<has_weights, Weight, std::uint32_t>;
  std::int64_t n;
  std::size_t keys[2], weights[2];

  csr_memory(std::int64_t vertices, std::int64_t n, const workspace_size& merging)
      : arrays_behind(max(inner(vertices, n), merging)), n(n) {
    for (int k = 0; k < 2; ++k) keys[k] = add<std::uint64_t>(n);
    for (int k = 0; k < 2; ++k) weights[k] = add<weight>(has_weights ? n : 0);
  }
  static workspace_size inner(std::int64_t vertices, std::int64_t n) {
    using value = std::conditional_t<has_weights, Weight, no_value>;
    workspace_size most = max(radix_sort_workspace<std::uint64_t, Exec, value>(n, true),
                              compact_workspace<std::uint64_t, Exec>(n));
    // Rows are looked for among the edges that are left, by other ways if these are few.
    for (const std::int64_t left : {n, 16 * vertices, 32 * vertices})
      most =
          max(most, sorted_search_workspace<std::uint64_t, Exec>(std::min(left, n), vertices + 1));
    return most;
  }
};

/// Edges in memory: keys, and the weights beside them, if there are any.
template <class Exec, class Weight>
struct edge_arrays {
  using memory = csr_memory<Exec, Weight>;
  template <class T>
  using view = Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>;
  view<std::uint64_t> keys;
  view<typename memory::weight> weights;

  edge_arrays(const workspace& work, const memory& at, int k)
      : keys(memory::template view<std::uint64_t, Exec>(work, at.keys[k], at.n)),
        weights(memory::template view<typename memory::weight, Exec>(
            work, at.weights[k], memory::has_weights ? at.n : 0)) {}
};

/// Sorts edges by row, and by column if that is wanted. Those that are given are overwritten.
template <class Exec, class Weight>
void sort_edges(const Exec& exec, const edge_arrays<Exec, Weight>& given,
                const edge_arrays<Exec, Weight>& sorted, const edge_numbers& number, bool columns,
                workspace& work) {
  const sort_options by_bits{.work = &work,
                             .begin_bit = columns ? 0 : number.bits,
                             .end_bit = number.end_bit,
                             .overwrite_input = true};
  if constexpr (csr_memory<Exec, Weight>::has_weights) {
    radix_sort(exec, given.keys, given.weights, sorted.keys, sorted.weights, by_bits);
  } else if (!columns || number.end_bit == 0) {
    radix_sort(exec, given.keys, sorted.keys, by_bits);
  } else {
    // Keys that agree in these bits are the same, so that their order need not be kept, which
    // radix_sort would do for some of a key's bits.
    const item_count n{static_cast<std::int64_t>(given.keys.size())};
    std::uint64_t* const from = given.keys.data();
    radix_sort_t<Exec, std::uint64_t, no_value, false>::sort(exec, {from, sorted.keys.data(), from},
                                                             {}, n, {}, {0, number.end_bit}, &work);
  }
}

/// Merges equal edges. Returns how many are left.
template <class Exec, class Weight, class Op>
std::int64_t merge_edges(const Exec& exec, const edge_arrays<Exec, Weight>& edges,
                         const edge_arrays<Exec, Weight>& merged, const Op& op, workspace& work) {
  if constexpr (csr_memory<Exec, Weight>::has_weights)
    return reduce_by_key(exec, edges.keys, edges.weights, merged.keys, merged.weights, op,
                         equal_to{}, {.work = &work});
  else
    return unique(exec, edges.keys, merged.keys, equal_to{}, {.work = &work});
}

/// The columns or weights that a graph has, no longer than that.
template <class T, class Exec, class In, class F>
Kokkos::View<T*, typename Exec::memory_space> copied(const Exec& exec, const char* label,
                                                     const In& in, std::int64_t n, const F& f,
                                                     workspace& work) {
  const auto out = room_for<T, Exec>(label, n);
  transform(exec, Kokkos::subview(in, Kokkos::pair<std::int64_t, std::int64_t>(0, n)), out, f,
            {.work = &work});
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
  using edges_type = edge_arrays<Exec, Weight>;
  workspace_size merging;
  if constexpr (graph::has_weights)
    merging = reduce_by_key_workspace<detail::accumulated<Op, Weight>, Exec, std::uint64_t>(n);
  const csr_memory<Exec, Weight> memory_of_call(vertices, n, merging);
  auto call_memory =
      call_workspace::make<backend_of<Exec>>(exec, with.work, memory_of_call.size(), "build_csr");
  workspace& work = call_memory.get();
  const edges_type given(work, memory_of_call, 0), sorted(work, memory_of_call, 1);
  const bool columns_too = with.sort_columns || with.merge_duplicates;
  const edge_numbers number(static_cast<std::uint64_t>(vertices), columns_too,
                            with.drop_self_loops);
  const edge_key<std::decay_t<decltype(from)>, std::decay_t<decltype(to)>> key{
      from,
      to,
      m,
      number,
      with.transpose,
      with.drop_self_loops,
      with.errors.data() != nullptr ? with.errors.data() : work.errors()};
  transform(exec, generated(n, key), given.keys, identity{}, {.work = &work});
  if constexpr (graph::has_weights)
    transform(exec, generated(n, weight_of_edge<Weights>{given_weights, m}), given.weights,
              identity{}, {.work = &work});
  sort_edges<Exec, Weight>(exec, given, sorted, number, columns_too, work);
  const bool merges = with.merge_duplicates && n > 0;
  const std::int64_t left = merges ? merge_edges<Exec, Weight>(exec, sorted, given, op, work) : n;
  const edges_type& edges = merges ? given : sorted;
  const auto keys = Kokkos::subview(edges.keys, Kokkos::pair<std::int64_t, std::int64_t>(0, left));
  const auto begins = room_for<Offset, Exec>("Lanewise::csr::begins", vertices + 1);
  lower_bound(exec, keys, generated(vertices + 1, first_of_row{number}), begins, less{},
              {.work = &work, .sorted_queries = true});
  // What is left out lies behind the last row.
  Offset last = 0;
  detail::copy_to_host<Offset>(exec, &last, begins.data() + vertices);
  const auto columns =
      copied<Vertex, Exec>(exec, "Lanewise::csr::columns", keys, static_cast<std::int64_t>(last),
                           column_of_key<Vertex>{(std::uint64_t{1} << number.bits) - 1}, work);
  if constexpr (graph::has_weights)
    return graph(begins, columns,
                 copied<Weight, Exec>(exec, "Lanewise::csr::weights", edges.weights,
                                      static_cast<std::int64_t>(last), identity{}, work));
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
