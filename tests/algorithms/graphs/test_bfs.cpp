// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/data/source.hpp>
#include <lanewise/graphs/bfs.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>
#include <support/ring_graph.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

template <class Vertex, class Graph>
void check_search(const graph_on_host& graph, const Graph& csr,
                  const std::vector<std::int64_t>& sources, lanewise::bfs_options with,
                  lanewise::workspace& work) {
  const space exec = make_space();
  const auto n = static_cast<std::size_t>(graph.vertices());
  const Kokkos::View<std::int32_t*, memory> levels("levels", n + 1);
  const Kokkos::View<Vertex*, memory> parents("parents", n);
  Kokkos::deep_copy(levels, 77);
  with.work = &work;
  const auto from = in_memory<Vertex>(sources);
  lanewise::bfs(exec, csr, from, levels, with);
  exec.fence();
  const auto expected = sequential_levels(graph, sources, with.most_levels);
  auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
  for (std::size_t v = 0; v < n; ++v) {
    REQUIRE(seen(v) == expected[v]);
  }
  CHECK(seen(n) == 77);
  Kokkos::deep_copy(levels, 77);
  lanewise::bfs(exec, csr, from, levels, parents, with);
  exec.fence();
  seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
  for (std::size_t v = 0; v < n; ++v) REQUIRE(seen(v) == expected[v]);
  const auto tree = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parents);
  CHECK(is_tree(graph, expected, tree));
  Kokkos::deep_copy(parents, Vertex{1});
  if (sources.size() == 1)
    lanewise::bfs_parents(exec, csr, sources[0], parents, with);
  else
    lanewise::bfs_parents(exec, csr, from, parents, with);
  exec.fence();
  Kokkos::deep_copy(tree, parents);
  CHECK(is_tree(graph, expected, tree));
}

/// All directions.
template <class Vertex = std::uint32_t, class Offset = std::uint32_t>
void check_graph(const graph_on_host& graph, const std::vector<std::int64_t>& sources,
                 bool symmetric = true, std::int64_t most = 1 << 30) {
  CAPTURE(graph.vertices(), graph.edges(), sources, symmetric, most);
  lanewise::workspace work;
  const auto csr = in_memory<Vertex, Offset>(graph);
  check_search<Vertex>(graph, csr, sources, {.most_levels = most}, work);
  if (symmetric) {
    check_search<Vertex>(graph, csr.symmetric(), sources, {.most_levels = most}, work);
    check_search<Vertex>(graph, csr.symmetric(), sources, {.most_levels = most, .top_down = true},
                         work);
  } else {
    const auto back = in_memory<Vertex, Offset>(transposed(graph));
    check_search<Vertex>(graph, csr.with_transpose(back.begins(), back.columns()), sources,
                         {.most_levels = most}, work);
  }
}

edge_list random_edges(std::int64_t vertices, std::int64_t edges, std::uint64_t salt,
                       bool skewed = false) {
  auto random = make_random(salt);
  edge_list list;
  const auto n = static_cast<std::uint64_t>(vertices - 1);
  const auto any = [&] {
    const std::uint64_t x = random_number(random, n);
    return static_cast<std::int64_t>(
        skewed ? x * random_number(random, n) / (n + 1) * random_number(random, n) / (n + 1) : x);
  };
  for (std::int64_t i = 0; i < edges; ++i) {
    const std::int64_t from = any();
    list.emplace_back(from, any());
  }
  return list;
}

template <class Offset>
void check_ring(std::int64_t n, std::int64_t reach) {
  const space exec = make_space();
  const auto graph = ring_graph<Offset>(exec, n, reach);
  const Kokkos::View<std::int32_t*, memory> levels("levels", static_cast<std::size_t>(n));
  for (const bool symmetric : {false, true}) {
    Kokkos::deep_copy(levels, 77);
    lanewise::bfs(exec, symmetric ? graph.symmetric() : graph, n - 1, levels);
    exec.fence();
    const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
    for (std::int64_t v = 0; v < n; ++v)
      REQUIRE(seen(static_cast<std::size_t>(v)) == ring_level(n, reach, v));
  }
}

}  // namespace

TEST_CASE("bfs: rings", "[bfs]") {
  check_ring<std::uint32_t>(3001, 7);
  check_ring<std::uint64_t>(2000, 60);
}
TEST_CASE("bfs: more than 2^31 edges", "[.large][bfs]") {
  check_ring<std::uint32_t>((std::int64_t{1} << 20) + 3, 1040);
  check_ring<std::int64_t>((std::int64_t{1} << 20) + 3, 1040);
}

TEST_CASE("bfs: the graph of figure 59", "[bfs]") {
  // Merrill, case D1.
  const graph_on_host graph{{0, 2, 4, 7, 9}, {0, 1, 1, 2, 0, 2, 3, 1, 3}};
  const std::int32_t expected[4][4] = {{0, 1, 2, 3}, {2, 0, 1, 2}, {1, 2, 0, 1}, {3, 1, 2, 0}};
  for (std::int64_t s = 0; s < 4; ++s) {
    CHECK(sequential_levels(graph, {s}) == std::vector<std::int32_t>(expected[s], expected[s] + 4));
    check_graph(graph, {s}, false);
  }
}

TEST_CASE("bfs: a few graphs", "[bfs][sanitize]") {
  check_graph(make_graph(33, random_edges(33, 40, 1)), {5});
  check_graph(make_graph(500, random_edges(500, 4000, 2, true)), {250});
  check_graph(make_graph(70, random_edges(70, 150, 3), false), {3}, false);
  // Deep after 64 levels.
  edge_list path;
  for (std::int64_t v = 1; v < 80; ++v) path.emplace_back(v - 1, v);
  check_graph(make_graph(80, path), {0});
}
TEST_CASE("bfs: random graphs", "[bfs][long]") {
  for (const std::int64_t n : {1, 2, 31, 32, 33, 500, 4097}) {
    for (const std::int64_t degree : {0, 1, 3, 20}) {
      const auto salt = static_cast<std::uint64_t>(n * 100 + degree);
      const edge_list edges = random_edges(n, n * degree, salt, degree == 20);
      check_graph(make_graph(n, edges), {n / 2});
      check_graph(make_graph(n, edges, false), {n / 3}, false);
    }
  }
}

TEST_CASE("bfs: types of vertices and row begins", "[bfs]") {
  const graph_on_host graph = make_graph(700, random_edges(700, 3000, 5));
  const graph_on_host directed = make_graph(700, random_edges(700, 1500, 6), false);
  check_graph<std::int32_t, std::uint64_t>(graph, {3});
  check_graph<std::int64_t, std::int64_t>(graph, {3, 699});
  check_graph<std::uint64_t, std::int32_t>(directed, {3}, false);
}

TEST_CASE("bfs: several sources, and a limit of levels", "[bfs]") {
  const graph_on_host graph = make_graph(2000, random_edges(2000, 2200, 9));
  std::vector<std::int64_t> sources;
  for (std::int64_t v = 0; v < 2000; v += 7) sources.push_back(v);
  check_graph(graph, sources);
  check_graph(graph, {5, 5, 5});
  constexpr std::int64_t two_32 = std::int64_t{1} << 32, no_limit = INT64_MAX;
  for (const std::int64_t most : {std::int64_t{0}, std::int64_t{1}, std::int64_t{2},
                                  std::int64_t{5}, two_32 / 2, two_32 + 2, no_limit})
    check_graph(graph, {17}, true, most);
  check_graph(graph, {});
}

TEST_CASE("bfs: shapes", "[bfs]") {
  edge_list star, path, lattice;
  for (std::int64_t v = 1; v < 5000; ++v) star.emplace_back(0, v);
  check_graph(make_graph(5000, star), {0});
  check_graph(make_graph(5000, star), {4999});
  const std::int64_t length = is_emulated ? 300 : 3000;
  for (std::int64_t v = 1; v < length; ++v) path.emplace_back(v - 1, v);
  check_graph(make_graph(length, path), {0});
  check_graph(make_graph(length + 5, path, false), {length / 2}, false);
  constexpr std::int64_t side = 40;
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      if (x + 1 < side) lattice.emplace_back(y * side + x, y * side + x + 1);
      if (y + 1 < side) lattice.emplace_back(y * side + x, y * side + x + side);
    }
  check_graph(make_graph(side * side, lattice), {0});
  check_graph(make_graph(side * side + 40, lattice), {side * side + 7});  // another component
  // Self loops and equal edges.
  edge_list multi;
  for (std::int64_t i = 0; i < 300; ++i) {
    multi.emplace_back(i % 10, i % 10);
    multi.emplace_back(i % 10, (i + 1) % 11);
  }
  check_graph(make_graph(20, multi), {3});
}

TEST_CASE("bfs: graphs in which few levels pay bottom up", "[bfs]") {
  constexpr std::int64_t n = 4096;
  edge_list cube, tree, small_world, caterpillar;
  auto random = make_random(11);
  const auto below = [&random](std::int64_t most) {
    return static_cast<std::int64_t>(random_number(random, static_cast<std::uint64_t>(most - 1)));
  };
  for (std::int64_t v = 0; v < n; ++v) {
    for (std::int64_t bit = 1; bit < n; bit *= 2)
      if ((v & bit) == 0) cube.emplace_back(v, v | bit);
    for (std::int64_t k = 1; k <= 5; ++k)
      small_world.emplace_back(v, below(100) < 2 ? below(n) : (v + k) % n);
    if (v == 0) continue;
    tree.emplace_back(v, below(v));
    caterpillar.emplace_back(v, v % 16 == 0 ? v - 16 : v - v % 16);
  }
  for (const edge_list& edges : {cube, tree, small_world, caterpillar})
    check_graph(make_graph(n, edges), {n / 3});
}
TEST_CASE("bfs: many levels of few edges, then many edges", "[bfs]") {
  // Searches go deep after 64 levels.
  constexpr std::int64_t length = 150;
  edge_list ladder;
  for (std::int64_t i = 0; i < length; ++i)
    for (std::int64_t rail = 0; rail < 3; ++rail) {
      if (i > 0) ladder.emplace_back(3 * (i - 1) + rail, 3 * i + rail);
      if (rail > 0 && i % 5 == 0) ladder.emplace_back(3 * i + rail, 3 * i + rail - 1);
    }
  check_graph(make_graph(3 * length, ladder), {1});
  check_graph(make_graph(3 * length, ladder, false), {1}, false);
  for (const std::int64_t most : {64, 65, 66, 100})
    check_graph(make_graph(3 * length, ladder), {0}, true, most);
  // More thin rows than a thread has room for: a path that ends in as many.
  const std::int64_t rays = is_emulated ? 200 : 5000, reach = 8;
  edge_list broom;
  for (std::int64_t i = 1; i < length; ++i) broom.emplace_back(i - 1, i);
  for (std::int64_t r = 0; r < rays; ++r)
    for (std::int64_t i = 0; i < reach; ++i)
      broom.emplace_back(i == 0 ? length - 1 : length + r * reach + i - 1, length + r * reach + i);
  check_graph(make_graph(length + rays * reach, broom), {0});
  // Rows that are longer than a warp keeps, and a graph whose levels are wide.
  const std::int64_t wide = is_emulated ? 600 : 20000;
  edge_list tail = random_edges(wide, 8 * wide, 23, true);
  for (auto& [from, to] : tail) {
    from += 3 * length;
    to += 3 * length;
  }
  for (std::int64_t i = 0; i < 300; ++i) tail.emplace_back(3 * (length - 1), 3 * length + i);
  tail.insert(tail.end(), ladder.begin(), ladder.end());
  check_graph(make_graph(3 * length + wide, tail), {1});
  check_graph<std::int64_t, std::int64_t>(make_graph(3 * length + wide, tail, false), {0, 2},
                                          false);
}

TEST_CASE("bfs: rows around a lane's share, a warp and a piece", "[bfs]") {
  for (const std::int64_t degree : {15, 16, 17, 31, 32, 33, 127, 128, 129, 512, 1000}) {
    edge_list edges;
    std::int64_t next = 8;
    for (std::int64_t hub = 0; hub < 8; ++hub) {
      if (hub > 0) edges.emplace_back(0, hub);
      for (std::int64_t i = 0; i < degree; ++i) edges.emplace_back(hub, next++);
    }
    check_graph(make_graph(next, edges), {0});
    check_graph(make_graph(next, edges), {next - 1});
  }
}

// Bottom up reads columns in blocks. After a dense part are vertices that look at 0 to 400 others
// first; none of these is reached.
TEST_CASE("bfs: columns that begin anywhere, and long looks", "[bfs][sanitize]") {
  const std::int64_t dense = 2000, late = 401;
  edge_list edges = random_edges(dense, 40000, 11);
  for (std::int64_t v = 0; v < late; ++v) {
    for (std::int64_t i = 0; i < v; ++i) edges.emplace_back(dense + v, dense + (v + i * 7) % late);
    edges.emplace_back(dense + v, (v * 37) % dense);
  }
  const graph_on_host graph = make_graph(dense + late, edges, false);
  const graph_on_host back = transposed(graph);
  lanewise::workspace work;
  const auto place = [&](const std::vector<std::int64_t>& columns, std::size_t skipped) {
    const Kokkos::View<std::uint32_t*, memory> all("all", columns.size() + skipped);
    const auto part =
        Kokkos::subview(all, Kokkos::pair<std::size_t, std::size_t>(skipped, all.extent(0)));
    Kokkos::deep_copy(part, in_memory<std::uint32_t>(columns));
    return part;
  };
  for (std::size_t skipped = 0; skipped < 5; ++skipped) {
    CAPTURE(skipped);
    // Edges into vertices are those of the graph, so that late vertices look along their rows.
    const lanewise::csr_graph csr(in_memory<std::uint32_t>(back.begins),
                                  place(back.columns, skipped));
    check_search<std::uint32_t>(
        back,
        csr.with_transpose(in_memory<std::uint32_t>(graph.begins), place(graph.columns, skipped)),
        {5}, {}, work);
  }
}

TEST_CASE("bfs: rows that overlap stay in the workspace", "[bfs][sanitize]") {
  const space exec = make_space();
  const graph_on_host graph = overlapping_rows(24, 4096);
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
  std::vector<std::int64_t> sources;
  for (std::int64_t v = 0; v < graph.vertices(); v += 2) sources.push_back(v);
  const auto from = in_memory<std::uint32_t>(sources);
  const Kokkos::View<std::int32_t*, memory> levels("levels", 24);
  const Kokkos::View<std::uint32_t*, memory> parents("parents", 24);
  const auto size =
      lanewise::bfs_workspace<std::decay_t<decltype(csr)>>(exec, csr.vertices(), csr.edges());
  lanewise::workspace work;
  lanewise::reserve(exec, work, size);
  for (const bool top_down : {false, true}) {
    lanewise::bfs(exec, csr, from, levels, {.work = &work, .top_down = top_down});
    lanewise::bfs_parents(exec, csr.symmetric(), 0, parents, {.work = &work, .top_down = top_down});
  }
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
  for (const std::int64_t v : sources) CHECK(seen(static_cast<std::size_t>(v)) == 0);
}

TEST_CASE("bfs: graphs that are wrong", "[bfs]") {
  const space exec = make_space();
  graph_on_host graph = make_graph(300, random_edges(300, 2000, 11));
  const auto right = sequential_levels(graph, {0});
  SECTION("columns outside are skipped and counted") {
    for (std::size_t e = 0; e < graph.columns.size(); e += 5)
      graph.columns[e] = e % 2 == 0 ? 300 : 0x7fffffff;
    const auto csr = in_memory<std::int32_t, std::uint32_t>(graph).symmetric();
    const Kokkos::View<std::int32_t*, memory> levels("levels", 300);
    const Kokkos::View<lanewise::status, memory> bad("bad");
    for (const bool top_down : {false, true}) {
      lanewise::bfs(exec, csr, 0, levels, {.top_down = top_down, .errors = bad});
      lanewise::status seen;
      Kokkos::deep_copy(seen, bad);
      CHECK(seen.bad_items > 0);
      Kokkos::deep_copy(bad, lanewise::status{});
    }
  }
  SECTION("rows that are none are empty") {
    graph.begins[7] = 100000;
    graph.begins[9] = 0;
    const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
    const Kokkos::View<std::int32_t*, memory> levels("levels", 300);
    lanewise::bfs(exec, csr, 0, levels);
    lanewise::bfs(exec, csr.symmetric(), 0, levels);
    exec.fence();
  }
  SECTION("sources outside") {
    const auto csr = in_memory<std::int32_t, std::uint32_t>(graph);
    const Kokkos::View<std::int32_t*, memory> levels("levels", 300);
    CHECK_THROWS_WITH(lanewise::bfs(exec, csr, 300, levels),
                      ContainsSubstring("the source is 300, the graph has 300 vertices"));
    CHECK_THROWS_WITH(lanewise::bfs(exec, csr, -1, levels), ContainsSubstring("-1"));
    const Kokkos::View<lanewise::status, memory> bad("bad");
    lanewise::bfs(exec, csr, in_memory<std::int32_t>(std::vector<int>{300, 0, -5}), levels,
                  {.errors = bad});
    lanewise::status seen;
    Kokkos::deep_copy(seen, bad);
    CHECK(seen.bad_items == 2);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
    for (std::size_t v = 0; v < 300; ++v) REQUIRE(host(v) == right[v]);
  }
  SECTION("too few places") {
    const auto csr = in_memory<std::int32_t, std::uint32_t>(graph);
    CHECK_THROWS_WITH(
        lanewise::bfs(exec, csr, 0, Kokkos::View<std::int32_t*, memory>("levels", 299)),
        ContainsSubstring("levels has 299 places, the graph has 300 vertices"));
  }
}
