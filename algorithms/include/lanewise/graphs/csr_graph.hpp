// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/message.hpp>
#include <lanewise/data/source.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

/// The weight of edges that have none.
struct no_weight {};

namespace detail {

/// What edges may have as weights.
template <class T>
inline constexpr bool is_weight = std::is_same_v<T, no_weight> ||
                                  (std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));

template <class... Views>
inline constexpr bool are_contiguous =
    (!std::is_same_v<typename Views::array_layout, Kokkos::LayoutStride> && ...);

}  // namespace detail

/// A directed graph in compressed sparse rows, as Views that it does not copy: the edges of vertex
/// v go to columns(begins(v)), ..., columns(begins(v + 1) - 1), and have the weights at the same
/// places. An undirected edge is two directed ones.
///
/// Vertex:  integers of 32 or 64 bits, the type of columns
/// Offset:  integers of 32 or 64 bits, the type of begins
/// Weight:  no_weight, or 32 or 64 bit integers or floating-point numbers
///
/// Searches that look for edges into a vertex need to know these: `symmetric` says that every edge
/// is there in both directions, and with_transpose gives the edges backwards. Nothing checks here
/// what is said; check_graph does. A graph that is wrong makes results wrong, and nothing else:
/// searches touch nothing outside of the Views.
template <class MemorySpace, class Vertex = std::uint32_t, class Offset = std::uint32_t,
          class Weight = no_weight>
class csr_graph {
  static_assert(std::is_integral_v<Vertex> && sizeof(Vertex) >= 4,
                "lanewise: vertices are integers of 32 or 64 bits");
  static_assert(std::is_integral_v<Offset> && sizeof(Offset) >= 4,
                "lanewise: row begins are integers of 32 or 64 bits");
  static_assert(detail::is_weight<Weight>,
                "lanewise: weights are integers or floating-point numbers of 32 or 64 bits");

 public:
  using memory_space = MemorySpace;
  using vertex_type = Vertex;
  using offset_type = Offset;
  using weight_type = Weight;
  static constexpr bool has_weights = !std::is_same_v<Weight, no_weight>;

  template <class T>
  using view = Kokkos::View<const T*, MemorySpace>;

  csr_graph() = default;
  /// Throws std::invalid_argument where there are columns and no row begins, or weights for another
  /// number of edges.
  csr_graph(const view<Offset>& begins, const view<Vertex>& columns)
      : begins_(begins), columns_(columns) {
    static_assert(!has_weights, "lanewise: the weights of a csr_graph are missing");
    expects_begins();
  }
  csr_graph(const view<Offset>& begins, const view<Vertex>& columns,
            const Kokkos::View<const Weight*, MemorySpace>& weights)
      : begins_(begins), columns_(columns), weights_(weights) {
    expects_begins();
    detail::expects(weights.extent(0) == columns.extent(0), "csr_graph: there are ",
                    weights.extent(0), " weights for ", columns.extent(0), " edges");
  }

  /// Says that every edge is there in both directions.
  csr_graph symmetric() const {
    csr_graph graph = *this;
    graph.begins_into_ = begins_;
    graph.columns_into_ = columns_;
    return graph;
  }
  /// The edges backwards: those into vertex v come from columns(begins(v)), ... Throws
  /// std::invalid_argument where there are others than edges of this graph by their numbers.
  csr_graph with_transpose(const view<Offset>& begins, const view<Vertex>& columns) const {
    detail::expects(
        begins.extent(0) == begins_.extent(0) && columns.extent(0) == columns_.extent(0),
        "csr_graph: the transpose has ", begins.extent(0), " row begins and ", columns.extent(0),
        " columns, the graph ", begins_.extent(0), " and ", columns_.extent(0));
    csr_graph graph = *this;
    graph.begins_into_ = begins;
    graph.columns_into_ = columns;
    return graph;
  }

  // In kernels, too.
  KOKKOS_FUNCTION std::int64_t vertices() const {
    return begins_.extent(0) == 0 ? 0 : static_cast<std::int64_t>(begins_.extent(0)) - 1;
  }
  KOKKOS_FUNCTION std::int64_t edges() const {
    return static_cast<std::int64_t>(columns_.extent(0));
  }
  KOKKOS_FUNCTION const view<Offset>& begins() const { return begins_; }
  KOKKOS_FUNCTION const view<Vertex>& columns() const { return columns_; }
  KOKKOS_FUNCTION const auto& weights() const { return weights_; }

  /// Whether edges into a vertex can be looked up, and where.
  KOKKOS_FUNCTION bool has_edges_into() const { return begins_into_.data() != nullptr; }
  KOKKOS_FUNCTION const view<Offset>& begins_into() const { return begins_into_; }
  KOKKOS_FUNCTION const view<Vertex>& columns_into() const { return columns_into_; }

 private:
  void expects_begins() const {
    detail::expects(begins_.extent(0) > 0 || columns_.extent(0) == 0, "csr_graph: there are ",
                    columns_.extent(0), " columns and no row begins");
  }

  view<Offset> begins_;
  view<Vertex> columns_;
  std::conditional_t<has_weights, Kokkos::View<const Weight*, MemorySpace>, no_weight> weights_;
  view<Offset> begins_into_;
  view<Vertex> columns_into_;
};

template <class O, class... Po, class V, class... Pv>
requires(detail::are_contiguous<Kokkos::View<O, Po...>, Kokkos::View<V, Pv...>>)
    csr_graph(const Kokkos::View<O, Po...>& begins, const Kokkos::View<V, Pv...>& columns)
->csr_graph<typename Kokkos::View<O, Po...>::memory_space,
            typename Kokkos::View<V, Pv...>::non_const_value_type,
            typename Kokkos::View<O, Po...>::non_const_value_type>;
template <class O, class... Po, class V, class... Pv, class W, class... Pw>
requires(
    detail::are_contiguous<Kokkos::View<O, Po...>, Kokkos::View<V, Pv...>, Kokkos::View<W, Pw...>>)
    csr_graph(const Kokkos::View<O, Po...>& begins, const Kokkos::View<V, Pv...>& columns,
              const Kokkos::View<W, Pw...>& weights)
->csr_graph<typename Kokkos::View<O, Po...>::memory_space,
            typename Kokkos::View<V, Pv...>::non_const_value_type,
            typename Kokkos::View<O, Po...>::non_const_value_type,
            typename Kokkos::View<W, Pw...>::non_const_value_type>;

/// A graph of Kokkos: anything with Views row_map and entries, as Kokkos::Crs and StaticCrsGraph
/// have them. With weights: csr_graph(graph.row_map, graph.entries, weights).
template <class Graph>
requires requires(const Graph& g) {
  g.row_map.extent(0);
  g.entries.extent(0);
}
auto make_csr_graph(const Graph& graph) {
  return csr_graph(graph.row_map, graph.entries);
}

LANEWISE_END_NAMESPACE
