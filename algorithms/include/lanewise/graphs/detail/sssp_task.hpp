// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/graphs/detail/distances.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/graphs/detail/sources.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A search for shortest paths. Memory: what it has in its workspace.
template <class Vertex, class Offset, class Weight, class Memory>
struct sssp_task {
  using bits = typename distances<Weight>::bits;

  graph_rows<Vertex, Offset> rows;
  const Weight* weights;
  search_sources<Vertex> sources;
  bits* distance;
  const Weight* delta;  // null: given_delta
  Weight given_delta;
  Memory memory;
  status* errors;

  /// The end of the near range that begins at `from`: `deltas` deltas further, or the next number
  /// if adding changes nothing.
  LANEWISE_FUNCTION bits end_of_near(bits from, int deltas) const {
    bits end = from;
    for (int i = 0; i < deltas; ++i)
      end = distances<Weight>::sum(end, delta == nullptr ? given_delta : *delta);
    return end > from ? end : static_cast<bits>(from + 1);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
