// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/arguments.hpp>
#include <lanewise/data/message.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// What searches in graphs ask of their arguments.

/// The vertices at which a search begins. Vertex is unsigned.
template <class Vertex>
struct search_sources {
  const Vertex* first;  // null: one
  std::int64_t count;
  Vertex one;

  LANEWISE_FUNCTION Vertex operator[](std::int64_t i) const {
    return first == nullptr ? one : first[i];
  }
  /// Those from i on, in the active lanes.
  template <class W, class Mask>
  LANEWISE_FUNCTION auto load(const W& warp, const Mask& there, std::int64_t i) const {
    using lanes = lanes_t<W, Vertex>;
    constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});
    return first == nullptr ? lanes(one) : warp.load(there, first + i, no_vertex);
  }
};
template <class V>
using graph_sources = search_sources<number<V>>;

template <class Exec, class V, class Sources>
graph_sources<V> sources_of(const char* algorithm, const Sources& given, std::int64_t vertices) {
  if constexpr (std::is_integral_v<Sources>) {
    detail::expects(static_cast<std::uint64_t>(given) < static_cast<std::uint64_t>(vertices),
                    algorithm, ": the source is ", given, ", the graph has ", vertices,
                    " vertices");
    return {nullptr, 1, static_cast<number<V>>(given)};
  } else {
    const auto source = detail::as_source<Exec>(given);
    static_assert(std::is_same_v<typename Sources::non_const_value_type, V>,
                  "lanewise: sources are an integer, or a View of the graph's type of vertices");
    detail::expects_memory(source, algorithm, "sources");
    return {reinterpret_cast<const number<V>*>(source.data), source.extent, 0};
  }
}

/// A View of T with a place for every vertex.
template <class Exec, class T, class Out>
T* vertex_results(const char* algorithm, const Out& out, std::int64_t vertices, const char* name) {
  static_assert(
      std::is_same_v<typename Out::value_type, T>,
      "lanewise: levels are of std::int32_t, parents of the graph's type of vertices, and "
      "distances of that of its weights");
  const auto sink = detail::as_sink<Exec>(out);
  detail::expects(sink.extent >= vertices, algorithm, ": ", name, " has ", sink.extent,
                  " places, the graph has ", vertices, " vertices");
  detail::expects_memory(sink, algorithm, name);
  return sink.data;
}

}  // namespace detail
LANEWISE_END_NAMESPACE
