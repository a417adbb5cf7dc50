// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/graphs/csr_graph.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Unsigned numbers of the same size: one kernel serves both.
template <class T>
using number = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Rows of edges as kernels see them. Vertex and Offset are unsigned.
template <class Vertex, class Offset>
struct graph_rows {
  const Offset* begins;
  const Vertex* columns;
  Vertex vertices;
  Offset edges;

  /// The active lanes with a vertex that there is. Others are counted.
  template <int k, class W, class Mask, class Lanes>
  LANEWISE_FUNCTION void only_vertices(const W& warp, const Mask (&there)[k],
                                       const Lanes (&vertex)[k], status* errors,
                                       Mask (&valid)[k]) const {
    Mask bad = warp.first(0);
    LANEWISE_UNROLL
    for (int i = 0; i < k; ++i) {
      valid[i] = there[i] & (vertex[i] < vertices);
      bad = bad | (there[i] & !valid[i]);
    }
    if (!warp.any(bad) || errors == nullptr) return;
    int number = 0;
    for (int i = 0; i < k; ++i) number += warp.count(there[i] & !valid[i]);
    warp.fetch_add(errors->bad_items, static_cast<std::uint64_t>(number));
  }
  template <class W, class Mask, class Lanes>
  LANEWISE_FUNCTION Mask only_vertices(const W& warp, const Mask& there, const Lanes& vertex,
                                       status* errors) const {
    const Mask all[1] = {there};
    const Lanes of_all[1] = {vertex};
    Mask valid[1];
    only_vertices(warp, all, of_all, errors, valid);
    return valid[0];
  }

  /// The begins and the lengths of lanes' rows.
  template <class W>
  struct ranges {
    lanes_t<W, Offset> begin;
    lanes_t<W, Offset> length;
  };

  /// What memory says of rows: where they begin, and the next ones.
  template <class W>
  struct limits {
    lanes_t<W, Offset> begin;
    lanes_t<W, Offset> end;
  };

  /// The rows of vertices below `vertices`. Rows that are none are empty, as are those of other
  /// lanes.
  template <class W, class Mask, class Lanes>
  LANEWISE_FUNCTION ranges<W> of(const W& warp, const Mask& mask, const Lanes& vertex) const {
    return between(warp, {warp.gather(mask, begins, vertex, Offset{0}),
                          warp.gather(mask, begins + 1, vertex, Offset{0})});
  }
  /// Those of the vertices first, first + 1, ...
  template <class W, class Mask>
  LANEWISE_FUNCTION ranges<W> from(const W& warp, const Mask& mask, Vertex first) const {
    return between(warp, limits_from(warp, mask, first));
  }
  /// These ranges in two steps: what is read early, and what waits for it.
  template <class W, class Mask>
  LANEWISE_FUNCTION limits<W> limits_from(const W& warp, const Mask& mask, Vertex first) const {
    return {warp.load(mask, begins + first, Offset{0}),
            warp.load(mask, begins + first + 1, Offset{0})};
  }
  template <class W>
  LANEWISE_FUNCTION ranges<W> between(const W& warp, const limits<W>& row) const {
    return {row.begin, warp.map(
                           [m = edges](Offset b, Offset e) -> Offset {
                             return e < b || e > m ? Offset{0} : static_cast<Offset>(e - b);
                           },
                           row.begin, row.end)};
  }
};

/// The rows of a graph, or those of the edges into its vertices.
template <class M, class V, class O, class Wt>
graph_rows<number<V>, number<O>> rows_of(const csr_graph<M, V, O, Wt>& g) {
  return {reinterpret_cast<const number<O>*>(g.begins().data()),
          reinterpret_cast<const number<V>*>(g.columns().data()),
          static_cast<number<V>>(g.vertices()), static_cast<number<O>>(g.edges())};
}
template <class M, class V, class O, class Wt>
graph_rows<number<V>, number<O>> rows_into(const csr_graph<M, V, O, Wt>& g) {
  return {reinterpret_cast<const number<O>*>(g.begins_into().data()),
          reinterpret_cast<const number<V>*>(g.columns_into().data()),
          static_cast<number<V>>(g.vertices()), static_cast<number<O>>(g.edges())};
}

}  // namespace detail
LANEWISE_END_NAMESPACE
