// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/csr_graph.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>
#include <support/space.hpp>

#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <type_traits>

namespace test {

/// A graph with weights on the host.
template <class W>
struct weighted_graph {
  graph_on_host graph;
  std::vector<W> weights;
};
template <class W>
using weighted_edges = std::vector<std::tuple<std::int64_t, std::int64_t, W>>;

/// Edges of a vertex keep their order; backwards they have the same weight.
template <class W>
weighted_graph<W> make_weighted_graph(std::int64_t vertices, weighted_edges<W> edges,
                                      bool symmetric = true) {
  const std::size_t given = edges.size();
  for (std::size_t i = 0; symmetric && i < given; ++i) {
    const auto [from, to, weight] = edges[i];
    if (from != to) edges.emplace_back(to, from, weight);
  }
  std::stable_sort(edges.begin(), edges.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  edge_list plain;
  weighted_graph<W> made;
  for (const auto& [from, to, weight] : edges) {
    plain.emplace_back(from, to);
    made.weights.push_back(weight);
  }
  made.graph = make_graph(vertices, plain, false);
  return made;
}

/// The distance of what is not reached.
template <class W>
constexpr W unreached() {
  return std::numeric_limits<W>::has_infinity ? std::numeric_limits<W>::infinity()
                                              : std::numeric_limits<W>::max();
}
/// A distance and a weight; unreached beyond the greatest number.
template <class W>
W path_sum(W distance, W weight) {
  if (std::is_integral_v<W> && weight > std::numeric_limits<W>::max() - distance)
    return unreached<W>();
  return static_cast<W>(distance + weight);
}
/// Calls f(to, weight) for the edges of a vertex.
template <class W, class F>
void for_each_edge_of(const weighted_graph<W>& g, std::int64_t v, const F& f) {
  for (std::uint64_t e = g.graph.begins[static_cast<std::size_t>(v)];
       e < g.graph.begins[static_cast<std::size_t>(v) + 1]; ++e)
    f(g.graph.columns[e], g.weights[e]);
}

/// Dijkstra's algorithm.
template <class W>
std::vector<W> dijkstra(const weighted_graph<W>& g, const std::vector<std::int64_t>& sources) {
  std::vector<W> distance(static_cast<std::size_t>(g.graph.vertices()), unreached<W>());
  using entry = std::pair<W, std::int64_t>;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
  const auto lower = [&](std::int64_t v, W d) {
    if (!(d < distance[static_cast<std::size_t>(v)])) return;
    distance[static_cast<std::size_t>(v)] = d;
    queue.emplace(d, v);
  };
  for (const std::int64_t s : sources) lower(s, W{0});
  while (!queue.empty()) {
    const auto [d, v] = queue.top();
    queue.pop();
    if (d > distance[static_cast<std::size_t>(v)]) continue;
    for_each_edge_of(g, v,
                     [&, d = d](std::int64_t to, W weight) { lower(to, path_sum(d, weight)); });
  }
  return distance;
}

template <class Vertex, class Offset, class W>
auto in_memory(const weighted_graph<W>& g) {
  return lanewise::csr_graph(in_memory<Offset>(g.graph.begins), in_memory<Vertex>(g.graph.columns),
                             in_memory<W>(g.weights));
}

/// Edges between any vertices, with self loops and several between two; skewed: most of few.
template <class W>
weighted_graph<W> random_weighted_graph(std::int64_t vertices, std::int64_t edges,
                                        std::uint64_t most_weight, std::uint64_t salt,
                                        bool skewed = false) {
  auto random = make_random(salt);
  const auto n = static_cast<std::uint64_t>(vertices - 1);
  weighted_edges<W> list;
  for (std::int64_t i = 0; i < edges; ++i) {
    std::uint64_t ends[2];
    for (std::uint64_t& v : ends) {
      v = random_number(random, n);
      if (skewed) v = v * random_number(random, n) / (n + 1);
    }
    const std::uint64_t x = random_number(random, most_weight);
    W weight = random_number(random, 9) == 0 ? W{0} : static_cast<W>(x);
    if constexpr (std::is_floating_point_v<W>) weight /= 7;
    list.emplace_back(ends[0], ends[1], weight);
  }
  return make_weighted_graph(vertices, list, salt % 2 == 0);
}

/// Calls f(name, graph, sources) for graphs that are hard on shortest paths; small: for tools that
/// make programs slow.
template <class W, class F>
void for_each_hard_graph(const F& f, bool small = is_emulated) {
  using edges = weighted_edges<W>;
  const auto one = [](std::int64_t k) { return static_cast<W>(k % 4); };
  f("one vertex", make_weighted_graph<W>(1, {}), {0});
  f("a loop", make_weighted_graph<W>(1, {{0, 0, W{0}}, {0, 0, W{3}}}), {0});
  f("no edges", make_weighted_graph<W>(70, {}), {69});
  f("no sources", make_weighted_graph<W>(5, {{0, 1, W{1}}}), {});
  f("all are sources", make_weighted_graph<W>(3, {{0, 1, W{0}}, {1, 2, W{1}}}), {0, 1, 2, 1});
  // After an edge a cycle of zeros, and something after that.
  const edges cycle{{0, 5, W{7}}, {5, 3, W{0}}, {3, 4, W{0}}, {4, 5, W{0}}, {4, 1, W{0}},
                    {1, 2, W{2}}, {2, 6, W{0}}, {6, 2, W{0}}, {7, 8, W{0}}, {8, 7, W{0}}};
  f("cycles of zeros", make_weighted_graph<W>(9, cycle, false), {0});
  f("cycles of zeros, both ways", make_weighted_graph<W>(9, cycle), {0});
  f("several edges between two",
    make_weighted_graph<W>(
        4, {{0, 1, W{9}}, {0, 1, W{4}}, {0, 1, W{4}}, {1, 3, W{0}}, {1, 3, W{1}}, {0, 3, W{4}}},
        false),
    {0});
  edges path, zeros, star, star_of_zeros, lattice, lattice_of_zeros;
  const std::int64_t length = small ? 60 : 400;
  for (std::int64_t v = 1; v < length; ++v) {
    path.emplace_back(v - 1, v, one(v));
    zeros.emplace_back(v, v - 1, W{0});
  }
  const std::int64_t rays = small ? 700 : 5000;
  for (std::int64_t v = 1; v < rays; ++v) {
    star.emplace_back(0, v, one(v));
    star_of_zeros.emplace_back(v, 0, W{0});
  }
  const std::int64_t side = small ? 10 : 25;
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x)
      for (const auto& [there, to] : {std::pair(x + 1 < side, y * side + x + 1),
                                      std::pair(y + 1 < side, y * side + x + side)}) {
        if (!there) continue;
        lattice.emplace_back(y * side + x, to, one(x * 7 + y * 3));
        lattice_of_zeros.emplace_back(y * side + x, to, W{0});
      }
  f("path", make_weighted_graph<W>(length, path), {0});
  f("path of zeros", make_weighted_graph<W>(length + 3, zeros), {length / 2});
  f("star", make_weighted_graph<W>(rays, star), {0});
  f("star of zeros", make_weighted_graph<W>(rays, star_of_zeros), {rays / 2});
  f("lattice", make_weighted_graph<W>(side * side + 40, lattice), {1, 0, 77, 77});
  f("lattice of zeros", make_weighted_graph<W>(side * side, lattice_of_zeros), {side * side / 2});
  if constexpr (std::is_floating_point_v<W>) {
    // What is added vanishes.
    const W far = static_cast<W>(1e20);
    f("rounding",
      make_weighted_graph<W>(
          6, {{0, 3, far}, {3, 2, W{1}}, {2, 4, W{1}}, {4, 3, W{1}}, {4, 1, W{2}}, {1, 5, far}}),
      {0});
    f("infinity", make_weighted_graph<W>(4, {{0, 1, unreached<W>()}, {1, 2, W{0}}, {0, 3, -W{0}}}),
      {0});
  } else {
    const W half = std::numeric_limits<W>::max() / 2;
    f("the greatest sums",
      make_weighted_graph<W>(
          5, {{0, 1, half}, {1, 2, half}, {2, 3, W{1}}, {3, 4, W{0}}, {2, 4, half}}),
      {0});
  }
  for (const std::int64_t n : {2, 33, small ? 200 : 600})
    for (const std::int64_t degree : {1, 3, 20})
      f("random",
        random_weighted_graph<W>(n, n * degree, 20, static_cast<std::uint64_t>(n + degree),
                                 degree > 10),
        {n / 2});
  f("random, few weights", random_weighted_graph<W>(900, 4000, 2, 4), {5, 0, 899});
}

}  // namespace test
