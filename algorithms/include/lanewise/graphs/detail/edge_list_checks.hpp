// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/message.hpp>
#include <lanewise/graphs/edge_list.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

namespace detail {

/// The most vertices that a graph may have.
template <class Vertex>
constexpr std::int64_t most_vertices() {
  static_assert(std::is_integral_v<Vertex> && sizeof(Vertex) >= 4,
                "lanewise: vertices are integers of 32 or 64 bits");
  return std::int64_t{1} << 31;
}

/// What a list must be to be written.
template <class W, class V>
void expects_edges(const char* algorithm, const edge_list<W, V>& edges) {
  detail::expects(edges.to.size() == edges.from.size(), algorithm, ": there are ",
                  edges.from.size(), " vertices that edges come from, and ", edges.to.size(),
                  " that they lead to");
  const auto is_vertex = [&](V v) {
    return static_cast<std::uint64_t>(v) < static_cast<std::uint64_t>(edges.vertices);
  };
  for (std::size_t i = 0; i < edges.from.size(); ++i)
    detail::expects(is_vertex(edges.from[i]) && is_vertex(edges.to[i]), algorithm, ": edge ", i,
                    " leads from ", edges.from[i], " to ", edges.to[i], ", there are ",
                    edges.vertices, " vertices");
  if constexpr (edge_list<W, V>::has_weights) {
    detail::expects(edges.weights.size() == edges.from.size(), algorithm, ": there are ",
                    edges.weights.size(), " weights for ", edges.from.size(), " edges");
    if constexpr (std::is_floating_point_v<W>)
      for (std::size_t i = 0; i < edges.weights.size(); ++i)
        detail::expects(std::isfinite(edges.weights[i]), algorithm, ": the weight of edge ", i,
                        " is ", edges.weights[i]);
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
