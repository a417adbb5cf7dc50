// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/bfs_batch.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

using batch_levels = Kokkos::View<std::int32_t**, Kokkos::LayoutRight, memory>;

/// Checks the levels of a graph whose edges into vertices are known or not.
template <class Vertex, class Graph>
void check_levels(const graph_on_host& graph, const Graph& csr,
                  const std::vector<std::int64_t>& sources, const lanewise::bfs_batch_options& with,
                  const std::vector<std::vector<std::int32_t>>& expected) {
  const space exec = make_space();
  const auto n = static_cast<std::size_t>(graph.vertices());
  const batch_levels levels("levels", n + 1, sources.size());
  Kokkos::deep_copy(levels, 77);
  lanewise::bfs_batch(exec, csr, in_memory<Vertex>(sources), levels, with);
  exec.fence();
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
  for (std::size_t s = 0; s < sources.size(); ++s)
    for (std::size_t v = 0; v < n; ++v) REQUIRE(seen(v, s) == expected[s][v]);
  for (std::size_t s = 0; s < sources.size(); ++s) REQUIRE(seen(n, s) == 77);
}

template <class Vertex = std::uint32_t, class Offset = std::uint32_t>
void check_batch(const graph_on_host& graph, const std::vector<std::int64_t>& sources,
                 std::int64_t most = 1 << 30) {
  CAPTURE(graph.vertices(), graph.edges(), sources, most);
  std::vector<std::vector<std::int32_t>> expected;
  for (const std::int64_t s : sources) expected.push_back(sequential_levels(graph, {s}, most));
  lanewise::workspace work;
  const auto csr = in_memory<Vertex, Offset>(graph);
  const auto back = in_memory<Vertex, Offset>(transposed(graph));
  check_levels<Vertex>(graph, csr, sources, {.work = &work, .most_levels = most}, expected);
  const auto both = csr.with_transpose(back.begins(), back.columns());
  check_levels<Vertex>(graph, both, sources, {.work = &work, .most_levels = most}, expected);
  if (!is_emulated)
    check_levels<Vertex>(graph, both, sources,
                         {.work = &work, .most_levels = most, .top_down = true}, expected);
}

std::vector<std::int64_t> some_vertices(std::int64_t n, int count, std::uint64_t salt) {
  auto random = make_random(salt);
  std::vector<std::int64_t> all;
  for (int i = 0; i < count; ++i)
    all.push_back(
        static_cast<std::int64_t>(random_number(random, static_cast<std::uint64_t>(n - 1))));
  return all;
}
graph_on_host batch_graph(std::int64_t n, std::int64_t edges, std::uint64_t salt, bool symmetric) {
  const auto from = some_vertices(n, static_cast<int>(edges), salt);
  const auto to = some_vertices(n, static_cast<int>(edges), salt + 1);
  edge_list list;
  for (std::size_t i = 0; i < from.size(); ++i) list.emplace_back(from[i], to[i]);
  return make_graph(n, list, symmetric);
}

}  // namespace

TEST_CASE("bfs_batch: random graphs", "[bfs_batch][sanitize]") {
  for (const std::int64_t n : {1, 2, 33, 700})
    for (const std::int64_t degree : {0, 1, 2, 12})
      for (const int searches : {1, 33, 64})
        check_batch(batch_graph(n, n * degree, static_cast<std::uint64_t>(n + degree), n % 2 == 0),
                    some_vertices(n, searches, 7));
}

TEST_CASE("bfs_batch: shapes, types, limits", "[bfs_batch]") {
  edge_list star, path, lattice;
  for (std::int64_t v = 1; v < 3000; ++v) star.emplace_back(0, v);
  check_batch(make_graph(3000, star), some_vertices(3000, 32, 1));
  const std::int64_t length = is_emulated ? 100 : 1000;
  for (std::int64_t v = 1; v < length; ++v) path.emplace_back(v - 1, v);
  check_batch(make_graph(length + 3, path), some_vertices(length, 64, 2));
  check_batch(make_graph(length, path, false), {0, length - 1, length / 2});
  constexpr std::int64_t side = 30;
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      if (x + 1 < side) lattice.emplace_back(y * side + x, y * side + x + 1);
      if (y + 1 < side) lattice.emplace_back(y * side + x, y * side + x + side);
    }
  const graph_on_host graph = make_graph(side * side, lattice);
  check_batch(graph, some_vertices(side * side, 64, 3));
  check_batch(graph, std::vector<std::int64_t>(64, 17));  // all the same
  for (const std::int64_t most : {0, 1, 5}) check_batch(graph, some_vertices(900, 40, 4), most);
  check_batch<std::int64_t, std::int64_t>(graph, some_vertices(900, 31, 5));
  check_batch<std::int32_t, std::uint64_t>(batch_graph(400, 900, 6, false),
                                           some_vertices(400, 65 - 1, 6));
}

TEST_CASE("bfs_batch: long rows, bottom up", "[bfs_batch]") {
  // Two stars with one leaf in common, which is the last in the row of the second one.
  constexpr std::int64_t leaves = 1500;
  edge_list edges;
  for (std::int64_t v = 0; v <= leaves; ++v) edges.emplace_back(2 * leaves + 1, 2 * leaves - v);
  for (std::int64_t v = 0; v <= leaves; ++v) edges.emplace_back(2 * leaves + 2, v);
  const graph_on_host graph = make_graph(2 * leaves + 4, edges);
  check_batch(graph, {2 * leaves + 1, 2 * leaves, 2 * leaves + 1, 2 * leaves + 3});
  check_batch(graph, {2 * leaves + 2, 1, leaves, 2 * leaves + 1, 7});
}

TEST_CASE("bfs_batch: searches that share nothing, and frontiers that are large",
          "[bfs_batch][sanitize]") {
  // A path that ends in a star, or in several whose rows are long, and another path: searches go on
  // apart, until those of the first path have more than their share of the room.
  const std::int64_t hubs = GENERATE(1, 12);
  if (is_emulated && hubs > 1) return;  // too many edges for lanes one by one
  constexpr std::int64_t length = 64, leaves = 1300;
  edge_list edges;
  for (std::int64_t v = 1; v < length; ++v) edges.emplace_back(v - 1, v);
  for (std::int64_t v = 1; v < length; ++v) edges.emplace_back(length + v - 1, length + v);
  for (std::int64_t h = 0; h < hubs; ++h) {
    edges.emplace_back(length - 1, 2 * length + h);
    for (std::int64_t v = 0; v < leaves; ++v)
      edges.emplace_back(2 * length + h, 2 * length + hubs + v);
  }
  std::vector<std::int64_t> sources;
  for (std::int64_t s = 0; s < 64; ++s) sources.push_back(s % 3 == 0 ? length + s : s);
  check_batch(make_graph(2 * length + hubs + leaves, edges), sources);
  check_batch(make_graph(2 * length + hubs + leaves, edges), sources, 40);
}

TEST_CASE("bfs_batch: searches apart skip and count what is no vertex", "[bfs_batch][sanitize]") {
  // Two paths: each vertex has an edge that leads nowhere, and one vertex has a row that decreases.
  constexpr std::int64_t length = 60;
  graph_on_host graph;
  for (std::int64_t v = 0; v <= 2 * length; ++v)
    graph.begins.push_back(2 * static_cast<std::uint64_t>(v));
  for (std::int64_t v = 0; v < 2 * length; ++v) {
    graph.columns.push_back(0x7fffffff);
    graph.columns.push_back(v % length + 1 < length ? v + 1 : v);
  }
  const Kokkos::View<lanewise::status, memory> bad("bad");
  const batch_levels levels("levels", 2 * length, 2);
  for (const std::int64_t last : {length - 1, std::int64_t{40}}) {
    if (last < length - 1) graph.begins[static_cast<std::size_t>(last) + 1] = 1;
    Kokkos::deep_copy(bad, lanewise::status{});
    lanewise::bfs_batch(make_space(), in_memory<std::int32_t, std::uint32_t>(graph),
                        in_memory<std::int32_t>(std::vector<int>{0, length + 5}), levels,
                        {.errors = bad});
    lanewise::status seen;
    Kokkos::deep_copy(seen, bad);
    // Edges of levels before searches began anew are counted twice.
    CHECK(seen.bad_items >= static_cast<std::uint64_t>(last + length - 5));
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
    for (std::int64_t v = 0; v < 2 * length; ++v) {
      CAPTURE(last, v);
      REQUIRE(host(v, 0) == (v <= last ? v : -1));
      REQUIRE(host(v, 1) == (v >= length + 5 ? v - length - 5 : -1));
    }
  }
}

TEST_CASE("bfs_batch: rows that overlap stay in the workspace", "[bfs_batch][sanitize]") {
  const space exec = make_space();
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(overlapping_rows(24, 4096));
  const auto sources = in_memory<std::uint32_t>(std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14});
  const batch_levels levels("levels", 24, 8);
  lanewise::workspace work;
  lanewise::reserve(exec, work,
                    lanewise::bfs_batch_workspace<std::decay_t<decltype(csr)>>(exec, csr.vertices(),
                                                                               csr.edges()));
  lanewise::bfs_batch(exec, csr, sources, levels, {.work = &work});
  lanewise::bfs_batch(exec, csr.symmetric(), sources, levels, {.work = &work});
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
  for (std::size_t s = 0; s < 8; ++s) CHECK(seen(2 * s, s) == 0);
}

TEST_CASE("bfs_batch: wrong graphs and arguments", "[bfs_batch]") {
  const space exec = make_space();
  graph_on_host graph = batch_graph(200, 900, 9, true);
  const Kokkos::View<lanewise::status, memory> bad("bad");
  SECTION("columns and sources outside are skipped and counted") {
    const auto right = sequential_levels(graph, {3});
    const auto csr = in_memory<std::int32_t, std::uint32_t>(graph);
    const batch_levels levels("levels", 200, 3);
    lanewise::bfs_batch(exec, csr, in_memory<std::int32_t>(std::vector<int>{200, 3, -1}), levels,
                        {.errors = bad});
    lanewise::status seen;
    Kokkos::deep_copy(seen, bad);
    CHECK(seen.bad_items == 2);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
    for (std::size_t v = 0; v < 200; ++v) {
      REQUIRE(host(v, 0) == -1);
      REQUIRE(host(v, 1) == right[v]);
      REQUIRE(host(v, 2) == -1);
    }
    for (std::size_t e = 0; e < graph.columns.size(); e += 5) graph.columns[e] = 0x7fffffff;
    graph.begins[7] = 100000;
    lanewise::bfs_batch(exec, in_memory<std::int32_t, std::uint32_t>(graph),
                        in_memory<std::int32_t>(std::vector<int>{0, 3, 5}), levels,
                        {.errors = bad});
    Kokkos::deep_copy(seen, bad);
    CHECK(seen.bad_items > 2);
  }
  SECTION("refused") {
    const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
    const auto sources = in_memory<std::uint32_t>(std::vector<int>(65, 1));
    CHECK_THROWS_WITH(lanewise::bfs_batch(exec, csr, sources, batch_levels("levels", 200, 65)),
                      ContainsSubstring("there are 65 sources, of at most 64"));
    CHECK_THROWS_WITH(
        lanewise::bfs_batch(exec, csr, in_memory<std::uint32_t>(std::vector<int>{1, 2}),
                            batch_levels("levels", 199, 2)),
        ContainsSubstring("levels is 199 by 2, not 200 vertices or more by 2 sources"));
  }
}
