// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/csr_graph.hpp>
#include <lanewise/detail/message.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

/// Edges on the host, as text files have them: edge i leads from from[i] to to[i], which are below
/// `vertices`, and has weights[i], if edges have weights.
template <class Weight = no_weight, class Vertex = std::uint32_t>
struct edge_list {
  static constexpr bool has_weights = !std::is_same_v<Weight, no_weight>;

  std::int64_t vertices = 0;
  std::vector<Vertex> from, to;
  std::vector<Weight> weights;
  bool symmetric = false;  ///< an edge stands for both directions, a self loop for itself

  std::int64_t edges() const { return static_cast<std::int64_t>(from.size()); }
  void add(std::int64_t a, std::int64_t b, const Weight& weight) {
    from.push_back(static_cast<Vertex>(a));
    to.push_back(static_cast<Vertex>(b));
    if constexpr (has_weights) weights.push_back(weight);
  }
  /// No more than a MiB of each for what a file promises.
  void reserve(std::int64_t edges) {
    const auto n = static_cast<std::size_t>(std::min<std::int64_t>(edges, 1 << 18));
    from.reserve(n);
    to.reserve(n);
    if constexpr (has_weights) weights.reserve(n);
  }
};

namespace detail {

/// So many vertices a graph may have.
template <class Vertex>
constexpr std::int64_t most_vertices() {
  static_assert(std::is_integral_v<Vertex> && sizeof(Vertex) >= 4,
                "lanewise: vertices are integers of 32 or 64 bits");
  return std::int64_t{1} << 31;
}

/// What a list must be to be written.
template <class W, class V>
void expects_edges(const char* algorithm, const edge_list<W, V>& edges) {
  expects(edges.to.size() == edges.from.size(), algorithm, ": there are ", edges.from.size(),
          " vertices that edges come from, and ", edges.to.size(), " that they lead to");
  const auto is_vertex = [&](V v) {
    return static_cast<std::uint64_t>(v) < static_cast<std::uint64_t>(edges.vertices);
  };
  for (std::size_t i = 0; i < edges.from.size(); ++i)
    expects(is_vertex(edges.from[i]) && is_vertex(edges.to[i]), algorithm, ": edge ", i,
            " leads from ", edges.from[i], " to ", edges.to[i], ", there are ", edges.vertices,
            " vertices");
  if constexpr (edge_list<W, V>::has_weights) {
    expects(edges.weights.size() == edges.from.size(), algorithm, ": there are ",
            edges.weights.size(), " weights for ", edges.from.size(), " edges");
    if constexpr (std::is_floating_point_v<W>)
      for (std::size_t i = 0; i < edges.weights.size(); ++i)
        expects(std::isfinite(edges.weights[i]), algorithm, ": the weight of edge ", i, " is ",
                edges.weights[i]);
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
