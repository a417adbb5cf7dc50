// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/csr_graph.hpp>
#include <support/space.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace test {

/// A graph on the host.
struct graph_on_host {
  std::vector<std::uint64_t> begins;
  std::vector<std::int64_t> columns;

  std::int64_t vertices() const { return static_cast<std::int64_t>(begins.size()) - 1; }
  std::int64_t edges() const { return static_cast<std::int64_t>(columns.size()); }
};

using edge_list = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The graph of `vertices` vertices with these edges, each in both directions if it is symmetric.
inline graph_on_host make_graph(std::int64_t vertices, edge_list edges, bool symmetric = true) {
  const std::size_t given = edges.size();
  for (std::size_t i = 0; symmetric && i < given; ++i)
    if (edges[i].first != edges[i].second) edges.emplace_back(edges[i].second, edges[i].first);
  std::stable_sort(edges.begin(), edges.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  graph_on_host graph;
  graph.begins.assign(static_cast<std::size_t>(vertices) + 1, 0);
  for (const auto& [from, to] : edges) {
    ++graph.begins[static_cast<std::size_t>(from) + 1];
    graph.columns.push_back(to);
  }
  for (std::size_t v = 1; v < graph.begins.size(); ++v) graph.begins[v] += graph.begins[v - 1];
  return graph;
}
/// A wrong graph: every second row has all edges, those between decrease. Its rows together are
/// longer than all edges.
inline graph_on_host overlapping_rows(std::int64_t vertices, std::int64_t edges) {
  graph_on_host graph;
  for (std::int64_t v = 0; v <= vertices; ++v)
    graph.begins.push_back(v % 2 == 0 ? 0 : static_cast<std::uint64_t>(edges));
  for (std::int64_t e = 0; e < edges; ++e) graph.columns.push_back(e % vertices);
  return graph;
}
inline graph_on_host transposed(const graph_on_host& graph) {
  edge_list edges;
  for (std::int64_t v = 0; v < graph.vertices(); ++v)
    for (std::uint64_t e = graph.begins[static_cast<std::size_t>(v)];
         e < graph.begins[static_cast<std::size_t>(v) + 1]; ++e)
      edges.emplace_back(graph.columns[e], v);
  return make_graph(graph.vertices(), edges, false);
}

template <class T, class From>
Kokkos::View<T*, memory> in_memory(const std::vector<From>& items) {
  const Kokkos::View<T*, memory> view(
      Kokkos::view_alloc(std::string("items"), Kokkos::WithoutInitializing), items.size());
  const auto host = Kokkos::create_mirror_view(view);
  for (std::size_t i = 0; i < items.size(); ++i) host(i) = static_cast<T>(items[i]);
  Kokkos::deep_copy(view, host);
  return view;
}

template <class Vertex, class Offset>
auto in_memory(const graph_on_host& graph) {
  return lanewise::csr_graph(in_memory<Offset>(graph.begins), in_memory<Vertex>(graph.columns));
}

/// Levels from sources, by a queue (Merrill, listing 5, corrected).
inline std::vector<std::int32_t> sequential_levels(const graph_on_host& graph,
                                                   const std::vector<std::int64_t>& sources,
                                                   std::int64_t most = 1 << 30) {
  std::vector<std::int32_t> level(static_cast<std::size_t>(graph.vertices()), -1);
  std::vector<std::int64_t> queue;
  const auto reach = [&](std::int64_t v, std::int32_t l) {
    auto& mine = level[static_cast<std::size_t>(v)];
    if (mine >= 0) return;
    mine = l;
    queue.push_back(v);
  };
  for (const std::int64_t s : sources) reach(s, 0);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto v = static_cast<std::size_t>(queue[i]);
    if (level[v] >= most) break;
    for (std::uint64_t e = graph.begins[v]; e < graph.begins[v + 1]; ++e)
      reach(graph.columns[e], level[v] + 1);
  }
  return level;
}

/// Whether parents are a tree of shortest paths (Graph500's rules).
template <class V>
bool is_tree(const graph_on_host& graph, const std::vector<std::int32_t>& level, const V& parents) {
  std::set<std::pair<std::int64_t, std::int64_t>> edges;
  for (std::int64_t v = 0; v < graph.vertices(); ++v)
    for (std::uint64_t e = graph.begins[static_cast<std::size_t>(v)];
         e < graph.begins[static_cast<std::size_t>(v) + 1]; ++e)
      edges.emplace(v, graph.columns[e]);
  using T = typename V::value_type;
  for (std::int64_t v = 0; v < graph.vertices(); ++v) {
    const T parent = parents(static_cast<std::size_t>(v));
    const std::int32_t mine = level[static_cast<std::size_t>(v)];
    if (mine < 0 && parent != static_cast<T>(-1)) return false;
    if (mine == 0 && static_cast<std::int64_t>(parent) != v) return false;
    if (mine > 0 && (static_cast<std::int64_t>(parent) < 0 ||
                     static_cast<std::int64_t>(parent) >= graph.vertices() ||
                     level[static_cast<std::size_t>(parent)] != mine - 1 ||
                     edges.count({static_cast<std::int64_t>(parent), v}) == 0))
      return false;
  }
  return true;
}

}  // namespace test
