// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/pagerank.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

bool is_vertex(const graph_on_host& graph, std::int64_t v) {
  return v >= 0 && v < graph.vertices();
}
std::uint64_t edges_of(const graph_on_host& graph, std::size_t v) {
  return graph.begins[v + 1] - graph.begins[v];
}

/// Steps by pushing along edges.
std::vector<double> sequential_pagerank(const graph_on_host& graph, double damping, int steps) {
  const auto n = static_cast<std::size_t>(graph.vertices());
  std::vector<double> rank(n, 1 / static_cast<double>(n));
  for (int step = 0; step < steps; ++step) {
    std::vector<double> sum(n, 0);
    double without_edges = 0;
    for (std::size_t v = 0; v < n; ++v) {
      if (edges_of(graph, v) == 0) without_edges += rank[v];
      for (std::uint64_t e = graph.begins[v]; e < graph.begins[v + 1]; ++e)
        sum[static_cast<std::size_t>(graph.columns[e])] +=
            rank[v] / static_cast<double>(edges_of(graph, v));
    }
    for (std::size_t v = 0; v < n; ++v)
      rank[v] = (1 - damping) / static_cast<double>(n) +
                damping * (sum[v] + without_edges / static_cast<double>(n));
  }
  return rank;
}

template <class T, class Graph>
void check_ranks(const graph_on_host& graph, const Graph& csr) {
  CAPTURE(graph.vertices(), graph.edges());
  const space exec = make_space();
  lanewise::workspace work;
  const array<T> ranks(graph.vertices(), T{7});
  const Kokkos::View<T*, memory> out(ranks.data(), static_cast<std::size_t>(graph.vertices()));
  for (const int steps : {0, 1, 5}) {
    lanewise::pagerank(exec, csr, out, {.work = &work, .damping = 0.9, .steps = steps});
    if (steps == 5) lanewise::pagerank_step(exec, csr, out, {.work = &work, .damping = 0.9});
    const auto expected = sequential_pagerank(graph, 0.9, steps == 5 ? 6 : steps);
    const auto seen = ranks.items();
    double sum = 0;
    std::size_t wrong = 0;
    const double error = sizeof(T) == 4 ? 1e-5 : 1e-12;  // of the oracle, too
    for (std::size_t v = 0; v < expected.size(); ++v) {
      wrong += !(std::abs(seen[v] - expected[v]) <= error * expected[v]);
      sum += seen[v];
    }
    CHECK(wrong == 0);
    CHECK((expected.empty() || std::abs(sum - 1) < 10 * error));
  }
  CHECK(ranks.guards_intact());
}
template <class Vertex = std::uint32_t, class Offset = std::uint32_t, class T = float>
void check_graph(std::int64_t vertices, const edge_list& edges) {
  const graph_on_host graph = make_graph(vertices, edges);
  check_ranks<T>(graph, in_memory<Vertex, Offset>(graph).symmetric());
  const graph_on_host directed = make_graph(vertices, edges, false);
  const auto back = in_memory<Vertex, Offset>(transposed(directed));
  check_ranks<T>(directed,
                 in_memory<Vertex, Offset>(directed).with_transpose(back.begins(), back.columns()));
}

edge_list edges_by_chance(std::int64_t vertices, std::int64_t edges, std::uint64_t salt) {
  auto random = make_random(salt);
  const auto n = static_cast<std::uint64_t>(vertices - 1);
  edge_list list;
  for (std::int64_t i = 0; i < edges; ++i) {
    const auto from = static_cast<std::int64_t>(random_number(random, n));
    list.emplace_back(from, static_cast<std::int64_t>(random_number(random, n)));
  }
  return list;
}

/// Small numbers, whose sums are exact.
template <class T>
std::vector<T> small_numbers(std::int64_t n, std::uint64_t salt) {
  auto random = make_random(salt);
  std::vector<T> items(static_cast<std::size_t>(n));
  for (auto& x : items) x = static_cast<T>(random_number(random, 9)) - T{4};
  return items;
}
template <class Vertex, class Offset, class Weight, class T>
void check_product(const graph_on_host& graph, std::uint64_t bad = 0) {
  CAPTURE(graph.vertices(), graph.edges());
  const space exec = make_space();
  lanewise::workspace work;
  const auto x = small_numbers<T>(graph.vertices(), 1);
  const auto weights = small_numbers<Weight>(graph.edges(), 2);
  const auto plain = in_memory<Vertex, Offset>(graph);
  const auto weighted =
      lanewise::csr_graph(plain.begins(), plain.columns(), in_memory<Weight>(weights));
  const auto in = in_memory<T>(x);
  const array<T> y(graph.vertices(), T{77});
  const Kokkos::View<T*, memory> out(y.data(), x.size());
  const cell<lanewise::status> errors;
  for (const bool has_weights : {false, true}) {
    errors.set({});
    std::vector<T> expected(x.size(), T{0});
    for (std::size_t v = 0; v < x.size(); ++v)
      for (std::uint64_t e = graph.begins[v]; e < graph.begins[v + 1]; ++e)
        if (is_vertex(graph, graph.columns[e]))
          expected[v] += (has_weights ? static_cast<T>(weights[e]) : T{1}) *
                         x[static_cast<std::size_t>(graph.columns[e])];
    if (has_weights)
      lanewise::spmv(exec, weighted, in, out, {.work = &work, .errors = errors.view()});
    else
      lanewise::spmv(exec, plain, in, out, {.work = &work, .errors = errors.view()});
    CHECK(y.items() == expected);
    CHECK(y.guards_intact());
    CHECK(errors.get().bad_items == bad);
  }
}

}  // namespace

TEST_CASE("pagerank: random graphs", "[pagerank][sanitize]") {
  for (const std::int64_t n : {1, 2, 33, 500, 3000})
    for (const std::int64_t degree : {0, 1, 3, 20})
      check_graph(n, edges_by_chance(n, n * degree, static_cast<std::uint64_t>(n + degree)));
}

TEST_CASE("pagerank: types, a star and a path", "[pagerank]") {
  check_graph<std::int32_t, std::uint64_t, double>(700, edges_by_chance(700, 3000, 5));
  check_graph<std::int64_t, std::int64_t, double>(700, edges_by_chance(700, 300, 6));
  edge_list star, path;
  for (std::int64_t v = 1; v < 5000; ++v) {
    star.emplace_back(0, v);
    path.emplace_back(v - 1, v);
  }
  check_graph<std::uint32_t, std::uint32_t, double>(5003, star);
  check_graph<std::uint32_t, std::uint32_t, double>(5003, path);
  check_graph(0, {});
}

TEST_CASE("pagerank: until ranks hardly change", "[pagerank][sanitize]") {
  const space exec = make_space();
  const graph_on_host graph = make_graph(500, edges_by_chance(500, 2000, 8));
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph).symmetric();
  const Kokkos::View<double*, memory> ranks("ranks", 500);
  const auto change = [&](std::int64_t step) {
    const auto before = sequential_pagerank(graph, 0.85, static_cast<int>(step) - 1);
    const auto after = sequential_pagerank(graph, 0.85, static_cast<int>(step));
    double sum = 0;
    for (std::size_t v = 0; v < 500; ++v) sum += std::abs(before[v] - after[v]);
    return sum;
  };
  for (const double tolerance : {0.3, 1e-3, 1e-6}) {
    const std::int64_t steps =
        lanewise::pagerank(exec, csr, ranks, {.steps = 1000, .tolerance = tolerance});
    CAPTURE(tolerance, steps);
    CHECK(change(steps) <= tolerance);
    CHECK((steps == 1 || change(steps - 1) > tolerance));
    const auto expected = sequential_pagerank(graph, 0.85, static_cast<int>(steps));
    const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ranks);
    for (std::size_t v = 0; v < 500; ++v)
      CHECK(std::abs(seen(v) - expected[v]) <= 1e-12 * expected[v]);
  }
  CHECK(lanewise::pagerank(exec, csr, ranks, {.steps = 3, .tolerance = 1e-9}) == 3);
  CHECK(lanewise::pagerank(exec, csr, ranks, {.steps = 3}) == 3);
  CHECK_THROWS_WITH(lanewise::pagerank(exec, csr, ranks, {.tolerance = -1}),
                    ContainsSubstring("options.tolerance is -1"));
}

TEST_CASE("pagerank: what is refused", "[pagerank]") {
  const space exec = make_space();
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(make_graph(30, {{1, 2}}));
  const Kokkos::View<float*, memory> ranks("ranks", 30), few("few", 29);
  CHECK_THROWS_WITH(lanewise::pagerank(exec, csr, ranks),
                    ContainsSubstring("pagerank: the graph does not have the edges into"));
  CHECK_THROWS_WITH(lanewise::pagerank_step(exec, csr.symmetric(), few),
                    ContainsSubstring("ranks has 29 places, the graph has 30 vertices"));
  CHECK_THROWS_WITH(lanewise::pagerank(exec, csr.symmetric(), ranks, {.damping = 1.5}),
                    ContainsSubstring("options.damping is 1.5"));
  CHECK_THROWS_WITH(lanewise::pagerank(exec, csr.symmetric(), ranks, {.steps = -1}),
                    ContainsSubstring("options.steps is -1"));
  CHECK_THROWS_WITH(lanewise::spmv(exec, csr, few, ranks), ContainsSubstring("x has 29 items"));
  CHECK_THROWS_WITH(lanewise::spmv(exec, csr, ranks, few), ContainsSubstring("y has 29 places"));
  CHECK_THROWS_WITH(lanewise::spmv(exec, csr, ranks, ranks), ContainsSubstring("overlap"));
}

TEST_CASE("spmv: products", "[pagerank][spmv][sanitize]") {
  for (const std::int64_t n : {1, 33, 2000})
    for (const std::int64_t degree : {0, 2, 30})
      check_product<std::uint32_t, std::uint32_t, float, float>(make_graph(
          n, edges_by_chance(n, n * degree, static_cast<std::uint64_t>(n + degree)), false));
  check_product<std::int64_t, std::uint64_t, std::int32_t, double>(
      make_graph(600, edges_by_chance(600, 4000, 4), false));
  check_product<std::int32_t, std::int32_t, double, double>(make_graph(0, {}));
}

TEST_CASE("spmv: columns outside are skipped and counted", "[spmv][sanitize]") {
  graph_on_host graph = make_graph(300, edges_by_chance(300, 2000, 11), false);
  std::uint64_t bad = 0;
  for (std::size_t e = 0; e < graph.columns.size(); e += 5, ++bad)
    graph.columns[e] = e % 2 == 0 ? 300 : -1;
  check_product<std::int32_t, std::uint32_t, float, float>(graph, bad);
}

namespace {

/// Rows of these lengths by turns, with columns by chance.
graph_on_host rows_of(const std::vector<std::int64_t>& lengths, std::int64_t rows) {
  auto random = make_random(17);
  edge_list list;
  for (std::int64_t v = 0; v < rows; ++v)
    for (std::int64_t i = lengths[static_cast<std::size_t>(v) % lengths.size()]; i > 0; --i)
      list.emplace_back(v, static_cast<std::int64_t>(
                               random_number(random, static_cast<std::uint64_t>(rows - 1))));
  return make_graph(rows, list, false);
}

}  // namespace

TEST_CASE("spmv: rows that are alike, and rows of any lengths", "[spmv][sanitize]") {
  const std::vector<std::int64_t> lengths[] = {
      {4},
      {3, 3, 3, 70},
      {0, 1, 9},
      {65, 0, 128},
      {0, 7, 8, 9, 5, 6, 1},
      {15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 0, 255, 256, 257, 700}};
  for (const auto& some : lengths) {
    graph_on_host graph = rows_of(some, 800);
    check_product<std::uint32_t, std::uint32_t, float, float>(graph);
    check_product<std::int32_t, std::uint64_t, double, double>(graph);
    for (const std::size_t e : {std::size_t{5}, graph.columns.size() / 2, graph.columns.size() - 1})
      graph.columns[e] = 1'000'000;
    check_product<std::uint32_t, std::uint32_t, float, float>(graph, 3);
  }
}

TEST_CASE("spmv: rows that decrease are counted, and nothing outside is touched",
          "[spmv][sanitize]") {
  graph_on_host graph = rows_of({0, 7, 8, 9, 5, 6, 1}, 900);
  graph.begins[300] = 100'000;  // two rows
  graph.begins[700] = graph.begins[690];
  const space exec = make_space();
  const cell<lanewise::status> errors;
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
  const auto x = in_memory<float>(std::vector<float>(900, 1));
  const array<float> y(900, 77);
  lanewise::spmv(exec, csr, x, Kokkos::View<float*, memory>(y.data(), 900),
                 {.errors = errors.view()});
  CHECK(errors.get().bad_items == 3);
  CHECK(y.guards_intact());
}

TEST_CASE("spmv: rows of one length, and odd ones between them", "[spmv][sanitize]") {
  for (std::int64_t length = 0; length <= 9; ++length) {
    for (std::int64_t n = 1; n <= 10; ++n)
      check_product<std::uint32_t, std::uint32_t, float, float>(rows_of({length}, n));
    for (const std::int64_t odd : {std::int64_t{0}, length + 1, std::int64_t{70}}) {
      std::vector<std::int64_t> lengths;
      for (int run = 0; run < 11; ++run) {
        lengths.insert(lengths.end(), static_cast<std::size_t>(run), length);
        lengths.push_back(odd);
      }
      lengths.insert(lengths.end(), 90, length);
      graph_on_host graph = rows_of(lengths, static_cast<std::int64_t>(lengths.size()));
      check_product<std::uint32_t, std::uint32_t, float, float>(graph);
      check_product<std::int32_t, std::uint64_t, std::int32_t, double>(graph);
      for (std::size_t e = 2; e < graph.columns.size(); e += 9) graph.columns[e] = -1;
      check_product<std::int32_t, std::int64_t, float, float>(graph,
                                                              (graph.columns.size() + 6) / 9);
    }
  }
}

TEST_CASE("spmv: rows of one length around the ends of pieces", "[spmv]") {
  for (const std::int64_t length : {0, 1, 4, 63, 64, 200})
    for (const std::int64_t path : {16'448, 32'832, 70'000})
      for (std::int64_t more = -2; more <= 2; ++more) {
        const graph_on_host graph = rows_of({length}, path / (length + 1) + more);
        check_product<std::uint32_t, std::uint32_t, float, float>(graph);
        check_product<std::uint32_t, std::uint64_t, double, double>(graph);
      }
}

TEST_CASE("spmv: rows of one length that decrease are counted once", "[spmv]") {
  const std::int64_t rows = 12'000;
  auto random = make_random(23);
  const space exec = make_space();
  const auto x = in_memory<double>(std::vector<double>(static_cast<std::size_t>(rows), 1));
  const cell<lanewise::status> errors;
  for (const int wrong : {1, 2, 30, 3'000, 20'000}) {
    for (const std::uint64_t most : {1'000u, 48'000u, 48'003u, 4'000'000'000u}) {
      graph_on_host graph = rows_of({4}, rows);
      const auto edges = static_cast<std::uint64_t>(graph.edges());
      for (int i = 0; i < wrong; ++i)
        graph.begins[static_cast<std::size_t>(
            random_number(random, static_cast<std::uint64_t>(rows)))] =
            static_cast<std::uint64_t>(random_number(random, most));
      std::uint64_t bad = 0;
      for (std::size_t v = 0; v + 1 < graph.begins.size(); ++v)
        bad += graph.begins[v] > graph.begins[v + 1] || graph.begins[v + 1] > edges;
      errors.set({});
      const array<double> y(rows, 77);
      lanewise::spmv(exec, in_memory<std::uint32_t, std::uint32_t>(graph), x,
                     Kokkos::View<double*, memory>(y.data(), static_cast<std::size_t>(rows)),
                     {.errors = errors.view()});
      CAPTURE(wrong, most);
      CHECK(errors.get().bad_items == bad);
      CHECK(y.guards_intact());
    }
  }
}
