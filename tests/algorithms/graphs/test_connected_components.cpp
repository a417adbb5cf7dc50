// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/connected_components.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <numeric>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

/// The least vertex of every vertex' component.
std::vector<std::int64_t> sequential_components(const graph_on_host& graph) {
  std::vector<std::int64_t> label(static_cast<std::size_t>(graph.vertices()));
  std::iota(label.begin(), label.end(), std::int64_t{0});
  const auto root = [&](std::int64_t v) {
    while (label[static_cast<std::size_t>(v)] != v) {
      auto& up = label[static_cast<std::size_t>(v)];
      up = label[static_cast<std::size_t>(up)];
      v = up;
    }
    return v;
  };
  for (std::int64_t v = 0; v < graph.vertices(); ++v)
    for (std::uint64_t e = graph.begins[static_cast<std::size_t>(v)];
         e < graph.begins[static_cast<std::size_t>(v) + 1]; ++e) {
      if (graph.columns[e] < 0 || graph.columns[e] >= graph.vertices()) continue;
      const std::int64_t a = root(v), b = root(graph.columns[e]);
      label[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  for (std::int64_t v = 0; v < graph.vertices(); ++v) label[static_cast<std::size_t>(v)] = root(v);
  return label;
}

template <class Vertex, class Graph>
void check_labels(const Graph& csr, const std::vector<std::int64_t>& expected,
                  lanewise::workspace& work) {
  const space exec = make_space();
  const auto n = static_cast<std::int64_t>(expected.size());
  const array<Vertex> labels(n, Vertex{77});
  const Kokkos::View<Vertex*, memory> out(labels.data(), expected.size());
  const cell<std::uint32_t> count(1234);
  lanewise::connected_components(exec, csr, out, count.view(), {.work = &work});
  const auto seen = labels.items();
  std::int64_t wrong = 0, roots = 0;
  for (std::size_t v = 0; v < expected.size(); ++v) {
    wrong += static_cast<std::int64_t>(seen[v]) != expected[v];
    roots += expected[v] == static_cast<std::int64_t>(v);
  }
  CHECK(wrong == 0);
  CHECK(count.get() == roots);
  CHECK(labels.guards_intact());
}

/// With edges into vertices and without.
template <class Vertex = std::uint32_t, class Offset = std::uint32_t>
void check_graph(const graph_on_host& graph, bool symmetric) {
  CAPTURE(graph.vertices(), graph.edges(), symmetric);
  lanewise::workspace work;
  const auto expected = sequential_components(graph);
  const auto csr = in_memory<Vertex, Offset>(graph);
  check_labels<Vertex>(csr, expected, work);
  if (symmetric) {
    check_labels<Vertex>(csr.symmetric(), expected, work);
  } else {
    const auto back = in_memory<Vertex, Offset>(transposed(graph));
    check_labels<Vertex>(csr.with_transpose(back.begins(), back.columns()), expected, work);
  }
}
void check_both(std::int64_t vertices, const edge_list& edges) {
  check_graph(make_graph(vertices, edges), true);
  check_graph(make_graph(vertices, edges, false), false);
}

edge_list edges_at_random(std::int64_t vertices, std::int64_t edges, std::uint64_t salt) {
  auto random = make_random(salt);
  const auto n = static_cast<std::uint64_t>(vertices - 1);
  edge_list list;
  for (std::int64_t i = 0; i < edges; ++i) {
    const auto from = static_cast<std::int64_t>(random_number(random, n));
    list.emplace_back(from, static_cast<std::int64_t>(random_number(random, n)));
  }
  return list;
}

}  // namespace

TEST_CASE("connected_components: a few graphs", "[connected_components][sanitize]") {
  check_both(33, edges_at_random(33, 25, 1));
  check_both(500, edges_at_random(500, 450, 2));
}
TEST_CASE("connected_components: random graphs", "[connected_components]") {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 500, 4097})
    for (const std::int64_t percent : {0, 30, 50, 70, 100, 300, 1000})
      check_both(n, edges_at_random(n, n * percent / 100, static_cast<std::uint64_t>(n + percent)));
}

TEST_CASE("connected_components: types of vertices and row begins", "[connected_components]") {
  const graph_on_host graph = make_graph(700, edges_at_random(700, 450, 5));
  const graph_on_host directed = make_graph(700, edges_at_random(700, 500, 6), false);
  check_graph<std::int32_t, std::uint64_t>(graph, true);
  check_graph<std::int64_t, std::int64_t>(graph, true);
  check_graph<std::uint64_t, std::int32_t>(directed, false);
}

TEST_CASE("connected_components: shapes", "[connected_components]") {
  const std::int64_t n = is_emulated ? 1500 : 100'000;
  check_both(0, {});
  check_both(n, {});
  edge_list path, back, star, stars, shuffled;
  auto random = make_random(3);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[static_cast<std::size_t>(random_number(random, i))]);
  for (std::int64_t v = 1; v < n; ++v) {
    path.emplace_back(v - 1, v);
    back.emplace_back(v, v - 1);
    star.emplace_back(n / 2, v == n / 2 ? 0 : v);
    stars.emplace_back(v % 3, v);
    shuffled.emplace_back(order[static_cast<std::size_t>(v - 1)],
                          order[static_cast<std::size_t>(v)]);
  }
  for (const auto& edges : {path, back, star, stars, shuffled}) check_both(n + 3, edges);
  path[static_cast<std::size_t>(n / 3)] = {0, 0};  // two components
  check_both(n, path);
  // Self loops and equal edges.
  edge_list multi;
  for (std::int64_t i = 0; i < 300; ++i) {
    multi.emplace_back(i % 10, i % 10);
    multi.emplace_back(i % 10, (i + 2) % 12);
  }
  check_both(20, multi);
}

TEST_CASE("connected_components: lattices", "[connected_components]") {
  for (const std::int64_t side : {5, 40, 70}) {
    edge_list lattice, roads;
    auto random = make_random(static_cast<std::uint64_t>(side));
    const auto add = [&](std::int64_t from, std::int64_t to) {
      lattice.emplace_back(from, to);
      if (random_number(random, 99) < 65) roads.emplace_back(from, to);
    };
    for (std::int64_t y = 0; y < side; ++y)
      for (std::int64_t x = 0; x < side; ++x) {
        if (x + 1 < side) add(y * side + x, y * side + x + 1);
        if (y + 1 < side) add(y * side + x, y * side + x + side);
      }
    check_both(side * side, lattice);
    check_both(side * side + 7, roads);
  }
}

TEST_CASE("connected_components: rows around a lane's share, a warp and a piece",
          "[connected_components]") {
  // Two hubs of the same degree, so that one is not in the largest component; all others are in
  // the rows' ends.
  for (const std::int64_t degree : {15, 16, 17, 31, 34, 35, 1023, 1026, 1027, 2051, 40'000}) {
    if (is_emulated && degree > 3000) continue;
    edge_list edges;
    for (std::int64_t hub = 0; hub < 4; ++hub)
      for (std::int64_t i = 0; i < degree; ++i) edges.emplace_back(hub, 4 + hub + 4 * i);
    check_both(4 + 4 * degree, edges);
  }
}

TEST_CASE("connected_components: graphs that are wrong", "[connected_components][sanitize]") {
  const space exec = make_space();
  graph_on_host graph = make_graph(300, edges_at_random(300, 2000, 11));
  const Kokkos::View<std::int32_t*, memory> labels("labels", 300);
  SECTION("columns outside are skipped and counted") {
    std::uint64_t outside = 0;
    for (std::size_t e = 0; e < graph.columns.size(); e += 5, ++outside)
      graph.columns[e] = e % 2 == 0 ? 300 : -1;
    const auto csr = in_memory<std::int32_t, std::uint32_t>(graph);
    lanewise::workspace work;
    check_labels<std::int32_t>(csr, sequential_components(graph), work);
    const cell<lanewise::status> bad;
    lanewise::connected_components(exec, csr, labels, {.errors = bad.view()});
    CHECK(bad.get().bad_items == outside);
    lanewise::connected_components(exec, csr.symmetric(), labels, {.errors = bad.view()});
    CHECK(bad.get().bad_items > outside);
  }
  SECTION("rows that are none are empty") {
    graph.begins[7] = 100'000;
    graph.begins[9] = 0;
    const auto csr = in_memory<std::int32_t, std::uint32_t>(graph);
    lanewise::connected_components(exec, csr, labels);
    lanewise::connected_components(exec, csr.symmetric(), labels);
    exec.fence();
  }
  SECTION("too few places") {
    const auto csr = in_memory<std::int32_t, std::uint32_t>(graph);
    CHECK_THROWS_WITH(lanewise::connected_components(
                          exec, csr, Kokkos::View<std::int32_t*, memory>("labels", 299)),
                      ContainsSubstring("labels has 299 places, the graph has 300 vertices"));
  }
}
