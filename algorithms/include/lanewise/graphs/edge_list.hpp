// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/csr_graph.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

/// Edges on the host, as text files have them: edge i leads from from[i] to to[i], which are below
/// `vertices`, and has weights[i], if edges have weights.
template <class Weight = no_weight, class Vertex = std::uint32_t>
struct edge_list {
  static_assert(detail::is_weight<Weight>,
                "lanewise: weights are integers or floating-point numbers of 32 or 64 bits");
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

LANEWISE_END_NAMESPACE
