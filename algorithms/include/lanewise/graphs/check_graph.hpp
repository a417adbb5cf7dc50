// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/graphs/detail/edge_sums.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/sequence/reduce.hpp>

#include <string>

LANEWISE_BEGIN_NAMESPACE

/// Options of check_graph.
struct check_graph_options {
  workspace_ref work = {};
  /// Edges of a symmetric graph have the same weights in both directions. Not by default: a search
  /// does not need it, and sums of duplicates are rounded in an order that directions do not share.
  bool equal_weights = false;
};

/// What is wrong with a graph.
struct graph_faults {
  /// Wrong row begins: less than the one before, or beyond the edges. A first one that is not 0,
  /// and a last one that is not the number of edges, count, too.
  std::int64_t wrong_rows = 0;
  std::int64_t columns_outside = 0;       ///< edges that lead to no vertex
  std::int64_t bad_weights = 0;           ///< negative, or no number
  std::int64_t wrong_rows_into = 0;       ///< the same of the transpose
  std::int64_t columns_outside_into = 0;  ///< the same of the transpose
  /// The edges into vertices are not those of the graph, each as often. Not looked at where rows
  /// are wrong.
  bool other_edges_into = false;

  bool none() const {
    return wrong_rows == 0 && columns_outside == 0 && bad_weights == 0 && wrong_rows_into == 0 &&
           columns_outside_into == 0 && !other_edges_into;
  }
};

namespace detail {

/// The first thing that is wrong with a graph of n vertices and m edges, or nothing.
inline std::string text_of_faults(const graph_faults& faults, std::int64_t n, std::int64_t m) {
  if (faults.wrong_rows != 0)
    return message(faults.wrong_rows, " of ", n + 1, " row begins do not ascend from 0 to the ", m,
                   " edges that there are");
  if (faults.columns_outside != 0)
    return message(faults.columns_outside, " of ", m, " edges lead to a vertex that is none of ",
                   n);
  if (faults.bad_weights != 0)
    return message(faults.bad_weights, " of ", m, " weights are negative or no numbers");
  if (faults.wrong_rows_into != 0)
    return message(faults.wrong_rows_into, " of ", n + 1,
                   " row begins of the transpose do not ascend from 0 to the ", m,
                   " edges that there are");
  if (faults.columns_outside_into != 0)
    return message(faults.columns_outside_into, " of ", m,
                   " edges of the transpose come from a vertex that is none of ", n);
  if (faults.other_edges_into)
    return "the edges into vertices, which a symmetric graph or a transpose says it has, are not "
           "those of the graph, or have other weights";
  return "";
}

}  // namespace detail
LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

template <class Exec, class Vertex, class Offset>
std::int64_t wrong_rows(const Exec& exec, const detail::graph_rows<Vertex, Offset>& rows,
                        std::int64_t vertices, std::int64_t edges, const call_options& options) {
  if (rows.begins == nullptr) return edges > 0;
  return lanewise::reduce(
      exec,
      lanewise::generated(
          vertices + 1,
          detail::wrong_begin<Offset>{rows.begins, vertices, static_cast<std::uint64_t>(edges)}),
      plus{}, std::int64_t{0}, options);
}

template <class Exec, class Part>
detail::edge_sums sum_of_edges(const Exec& exec, const Part& part, const call_options& options) {
  return lanewise::reduce(
      exec, lanewise::generated(lanewise::divide_up(part.edges, Part::edges_of_part), part),
      detail::add_edge_sums{}, detail::edge_sums{}, options);
}

}  // namespace kernels

/// Counts what is wrong with a graph, for programs that check what they are given: searches do not.
///
/// If a graph is said to be symmetric, or has its transpose, edges into vertices are compared with
/// the edges. The comparison is by sums of hashes of 64 bits of both ends, in which every edge
/// counts as often as it is there. So edges that differ are found but for a probability of 2^-64,
/// and are not counted. Weights take part where options.equal_weights says so and the graph is
/// symmetric.
///
/// Two reductions, or four where there is a transpose: O(n + m log n) work. The logarithm is a
/// search in the row begins for every 16 edges. Memory traffic: graph and transpose once.
/// Workspace: reduce_workspace of 32 bytes. Deterministic. **Blocks.** Nothing outside of the Views
/// is touched.
template <execution_space Exec, class M, class V, class O, class W>
graph_faults check_graph(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                         const check_graph_options& options = {}) {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space, M>::accessible,
                "lanewise: this execution space cannot reach the memory of a graph");
  using vertex = detail::number<V>;
  using offset = detail::number<O>;
  const std::int64_t n = graph.vertices(), m = graph.edges();
  const call_options of_call{.work = options.work};
  const auto rows = detail::rows_of(graph), into = detail::rows_into(graph);
  const bool is_symmetric = into.begins == rows.begins && into.columns == rows.columns;
  const bool has_transpose = graph.has_edges_into() && !is_symmetric;

  graph_faults faults;
  faults.wrong_rows = kernels::wrong_rows(exec, rows, n, m, of_call);
  if (has_transpose) faults.wrong_rows_into = kernels::wrong_rows(exec, into, n, m, of_call);
  const bool hashed =
      graph.has_edges_into() && faults.wrong_rows == 0 && faults.wrong_rows_into == 0;
  const W* weights = nullptr;
  if constexpr (!std::is_same_v<W, no_weight>) weights = graph.weights().data();
  const auto sums = kernels::sum_of_edges(
      exec,
      detail::sums_of_part<vertex, offset, W>{hashed ? rows.begins : nullptr, rows.columns, weights,
                                              n, m, is_symmetric && options.equal_weights},
      of_call);
  faults.columns_outside = sums.columns_outside;
  faults.bad_weights = sums.bad_weights;
  std::uint64_t backwards = sums.backwards;
  if (has_transpose) {
    const auto sums_into = kernels::sum_of_edges(
        exec,
        detail::sums_of_part<vertex, offset, no_weight>{hashed ? into.begins : nullptr,
                                                        into.columns, nullptr, n, m, false},
        of_call);
    faults.columns_outside_into = sums_into.columns_outside;
    backwards = sums_into.backwards;
  }
  faults.other_edges_into = hashed && sums.forwards != backwards;
  return faults;
}

/// Throws std::invalid_argument that says what is wrong with a graph, if anything is. **Blocks.**
template <execution_space Exec, class M, class V, class O, class W>
void expects_graph(const Exec& exec, const csr_graph<M, V, O, W>& graph,
                   const check_graph_options& options = {}) {
  const std::string wrong = detail::text_of_faults(lanewise::check_graph(exec, graph, options),
                                                   graph.vertices(), graph.edges());
  detail::expects(wrong.empty(), "expects_graph: ", wrong);
}

LANEWISE_END_TARGET_NAMESPACE
