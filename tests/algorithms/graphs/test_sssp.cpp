// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/sssp.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>
#include <support/ring_graph.hpp>
#include <support/shortest_paths.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <limits>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

template <class Vertex, class Offset, class W>
void check_paths(const graph_on_host& graph, const std::vector<W>& weights,
                 const std::vector<std::int64_t>& sources, double delta = 0) {
  CAPTURE(graph.vertices(), graph.edges(), sources, delta);
  const space exec = make_space();
  const auto n = static_cast<std::size_t>(graph.vertices());
  const lanewise::csr_graph csr(in_memory<Offset>(graph.begins), in_memory<Vertex>(graph.columns),
                                in_memory<W>(weights));
  const Kokkos::View<W*, memory> distances("distances", n + 1);
  Kokkos::deep_copy(distances, W{7});
  const Kokkos::View<lanewise::status, memory> errors("errors");
  if (sources.size() == 1)
    lanewise::sssp(exec, csr, sources[0], distances, {.delta = delta, .errors = errors});
  else
    lanewise::sssp(exec, csr, in_memory<Vertex>(sources), distances,
                   {.delta = delta, .errors = errors});
  exec.fence();
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), distances);
  const auto expected = dijkstra(weighted_graph<W>{graph, weights}, sources);
  for (std::size_t v = 0; v < n; ++v) REQUIRE(seen(v) == expected[v]);
  CHECK(seen(n) == W{7});
  lanewise::status bad;
  Kokkos::deep_copy(bad, errors);
  CHECK(bad.bad_items == 0);
}

graph_on_host random_graph(std::int64_t vertices, std::int64_t edges, std::uint64_t salt,
                           bool skewed = false) {
  auto random = make_random(salt);
  edge_list list;
  const auto n = static_cast<std::uint64_t>(vertices - 1);
  const auto any = [&] {
    const std::uint64_t x = random_number(random, n);
    return static_cast<std::int64_t>(skewed ? x * random_number(random, n) / (n + 1) : x);
  };
  for (std::int64_t i = 0; i < edges; ++i) {
    const std::int64_t from = any();
    list.emplace_back(from, any());
  }
  return make_graph(vertices, list, salt % 2 == 0);
}
template <class W>
std::vector<W> random_weights(const graph_on_host& graph, std::uint64_t most, std::uint64_t salt) {
  auto random = make_random(salt);
  std::vector<W> weights(graph.columns.size());
  for (W& w : weights) {
    const std::uint64_t x = random_number(random, most);
    w = random_number(random, 9) == 0 ? W{0} : static_cast<W>(x);
    if constexpr (std::is_floating_point_v<W>) w /= 7;
  }
  return weights;
}

template <class Vertex, class Offset, class W>
void check_random(std::int64_t n, std::int64_t degree, std::uint64_t salt, double delta = 0) {
  const graph_on_host graph = random_graph(n, n * degree, salt, degree > 10);
  check_paths<Vertex, Offset>(graph, random_weights<W>(graph, 255, salt + 1), {n / 2}, delta);
}

template <class Offset>
void check_weighted_ring(std::int64_t n, std::int64_t reach) {
  const space exec = make_space();
  const auto ring = ring_graph<Offset>(exec, n, reach);
  const Kokkos::View<std::uint32_t*, memory> weights(
      Kokkos::view_alloc(std::string("weights"), Kokkos::WithoutInitializing),
      static_cast<std::size_t>(ring.edges()));
  Kokkos::deep_copy(weights, 3);
  const lanewise::csr_graph graph(ring.begins(), ring.columns(), weights);
  const Kokkos::View<std::uint32_t*, memory> distances("distances", static_cast<std::size_t>(n));
  lanewise::sssp(exec, graph, n - 1, distances);
  exec.fence();
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), distances);
  for (std::int64_t v = 0; v < n; ++v)
    REQUIRE(seen(static_cast<std::size_t>(v)) == 3 * ring_level(n, reach, v));
}

}  // namespace

TEST_CASE("sssp: rings", "[sssp]") {
  check_weighted_ring<std::uint32_t>(3001, 7);
}
TEST_CASE("sssp: more than 2^31 edges", "[.large][sssp]") {
  check_weighted_ring<std::int64_t>((std::int64_t{1} << 20) + 3, 1040);
}

TEST_CASE("sssp: random graphs", "[sssp][sanitize]") {
  for (const std::int64_t n : {1, 2, 33, 700, 3001})
    for (const std::int64_t degree : {0, 1, 3, 20})
      check_random<std::uint32_t, std::uint32_t, std::uint32_t>(
          n, degree, static_cast<std::uint64_t>(n + degree));
}

TEST_CASE("sssp: weights and numbers", "[sssp]") {
  check_random<std::int32_t, std::uint32_t, float>(900, 6, 2);
  check_random<std::uint32_t, std::int64_t, double>(900, 6, 3);
  check_random<std::int64_t, std::uint64_t, std::int32_t>(900, 6, 4);
  check_random<std::uint32_t, std::uint32_t, std::uint64_t>(900, 6, 5);
}

TEST_CASE("sssp: any delta", "[sssp]") {
  for (const double delta : {1.0, 3.0, 50.0, 1e6})
    check_random<std::uint32_t, std::uint32_t, std::uint32_t>(1500, 4, 8, delta);
  // So small that sums round to what they were.
  for (const double delta : {1e-12, 0.5, 1e30})
    check_random<std::uint32_t, std::uint32_t, float>(300, 4, 9, delta);
}

TEST_CASE("sssp: shapes", "[sssp]") {
  edge_list path, star, lattice;
  const std::int64_t length = is_emulated ? 200 : 3000;
  for (std::int64_t v = 1; v < length; ++v) path.emplace_back(v - 1, v);
  for (std::int64_t v = 1; v < 3000; ++v) star.emplace_back(0, v);
  constexpr std::int64_t side = 30;
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      if (x + 1 < side) lattice.emplace_back(y * side + x, y * side + x + 1);
      if (y + 1 < side) lattice.emplace_back(y * side + x, y * side + x + side);
    }
  const graph_on_host graphs[] = {make_graph(length, path), make_graph(3000, star),
                                  make_graph(side * side + 40, lattice)};
  for (const graph_on_host& graph : graphs) {
    check_paths<std::uint32_t, std::uint32_t>(graph, random_weights<std::uint32_t>(graph, 1000, 5),
                                              {0});
    check_paths<std::uint32_t, std::uint32_t>(
        graph, std::vector<std::uint32_t>(graph.columns.size(), 0), {graph.vertices() / 2});
    check_paths<std::uint32_t, std::uint32_t>(graph, random_weights<double>(graph, 1000, 6),
                                              {1, 0, 77, 77});
  }
}

TEST_CASE("sssp: rows that overlap stay in the workspace", "[sssp][sanitize]") {
  const space exec = make_space();
  const graph_on_host graph = overlapping_rows(24, 4096);
  const lanewise::csr_graph csr(in_memory<std::uint32_t>(graph.begins),
                                in_memory<std::uint32_t>(graph.columns),
                                in_memory<std::uint32_t>(std::vector<int>(4096, 1)));
  const auto sources = in_memory<std::uint32_t>(std::vector<int>{0, 2, 4, 6, 8, 10, 12, 14, 16});
  const Kokkos::View<std::uint32_t*, memory> distances("distances", 24), parents("parents", 24);
  lanewise::workspace work;
  lanewise::reserve(
      exec, work,
      lanewise::sssp_workspace<std::decay_t<decltype(csr)>>(exec, csr.vertices(), csr.edges()));
  lanewise::sssp(exec, csr, sources, distances, {.work = &work});
  lanewise::sssp_parents(exec, csr, sources, distances, parents);
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), distances);
  for (std::size_t v = 0; v <= 16; v += 2) CHECK(seen(v) == 0);
}
TEST_CASE("sssp: weights whose mean is more than a delta can be", "[sssp]") {
  graph_on_host graph = make_graph(400, {{0, 1}, {1, 2}}, false);
  check_paths<std::uint32_t, std::uint32_t>(
      graph, std::vector<std::uint32_t>{0x40000000u, 0x70000000u}, {0});
}

TEST_CASE("sssp: input that is wrong", "[sssp]") {
  const space exec = make_space();
  const graph_on_host graph = random_graph(200, 1500, 12);
  const auto n = static_cast<std::size_t>(graph.vertices());
  const auto begins = in_memory<std::uint32_t>(graph.begins);
  const auto columns = in_memory<std::int32_t>(graph.columns);
  const Kokkos::View<lanewise::status, memory> errors("errors");
  const auto count_bad = [&] {
    lanewise::status seen;
    Kokkos::deep_copy(seen, errors);
    Kokkos::deep_copy(errors, lanewise::status{});
    return seen.bad_items;
  };
  SECTION("negative weights and such that are no numbers") {
    auto weights = random_weights<float>(graph, 255, 3);
    auto without = graph;
    std::vector<float> left;
    without.columns.clear();
    for (std::size_t v = 0, e = 0; v < n; ++v) {
      without.begins[v] = left.size();
      for (; e < graph.begins[v + 1]; ++e) {
        if (e % 5 == 0)
          weights[e] = e % 2 == 0 ? -1.0f : std::nanf("");
        else {
          left.push_back(weights[e]);
          without.columns.push_back(graph.columns[e]);
        }
      }
    }
    without.begins[n] = left.size();
    const lanewise::csr_graph csr(begins, columns, in_memory<float>(weights));
    const Kokkos::View<float*, memory> distances("distances", n);
    lanewise::sssp(exec, csr, 0, distances, {.errors = errors});
    exec.fence();
    CHECK(count_bad() > 0);
    const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), distances);
    const auto expected = dijkstra(weighted_graph<float>{without, left}, {0});
    for (std::size_t v = 0; v < n; ++v) REQUIRE(seen(v) == expected[v]);
  }
  SECTION("sums beyond the greatest number") {
    std::vector<std::uint32_t> weights(graph.columns.size(), 0x90000000u);
    const lanewise::csr_graph csr(begins, columns, in_memory<std::uint32_t>(weights));
    const Kokkos::View<std::uint32_t*, memory> distances("distances", n);
    lanewise::sssp(exec, csr, 0, distances, {.errors = errors});
    exec.fence();
    CHECK(count_bad() > 0);
    const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), distances);
    const auto expected = dijkstra(weighted_graph<std::uint32_t>{graph, weights}, {0});
    for (std::size_t v = 0; v < n; ++v) REQUIRE(seen(v) == expected[v]);
  }
  SECTION("sources, columns, places and delta") {
    const lanewise::csr_graph csr(begins, columns,
                                  in_memory<float>(random_weights<float>(graph, 9, 3)));
    const Kokkos::View<float*, memory> distances("distances", n);
    CHECK_THROWS_WITH(lanewise::sssp(exec, csr, 200, distances),
                      ContainsSubstring("the source is 200, the graph has 200 vertices"));
    CHECK_THROWS_WITH(lanewise::sssp(exec, csr, 0, distances, {.delta = -1}),
                      ContainsSubstring("options.delta is -1"));
    CHECK_THROWS_WITH(
        lanewise::sssp(exec, csr, 0, Kokkos::View<float*, memory>("distances", n - 1)),
        ContainsSubstring("distances has 199 places"));
    auto wrong = graph;
    for (std::size_t e = 0; e < wrong.columns.size(); e += 3) wrong.columns[e] = -1;
    wrong.begins[5] = 1'000'000;
    const lanewise::csr_graph outside(in_memory<std::uint32_t>(wrong.begins),
                                      in_memory<std::int32_t>(wrong.columns),
                                      in_memory<float>(random_weights<float>(graph, 9, 3)));
    lanewise::sssp(exec, outside, 0, distances, {.errors = errors});
    exec.fence();
    CHECK(count_bad() > 0);
  }
}
