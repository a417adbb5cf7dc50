// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/graphs/distances.hpp>
#include <lanewise/detail/graphs/rows.hpp>
#include <lanewise/status.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A search for shortest paths. Memory: what it has in its workspace.
template <class Vertex, class Offset, class Weight, class Memory>
struct sssp_task {
  using bits = typename distances<Weight>::bits;

  graph_rows<Vertex, Offset> rows;
  const Weight* weights;
  const Vertex* sources;  // null: one_source
  std::int64_t source_count;
  Vertex one_source;
  bits* distance;
  const Weight* delta;  // null: given_delta
  Weight given_delta;
  Memory memory;
  status* errors;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
