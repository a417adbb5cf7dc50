// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/build_csr.hpp>
#include <lanewise/graphs/check_graph.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <map>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using lanewise::graph_faults;

bool same_faults(const graph_faults& a, const graph_faults& b) {
  return a.wrong_rows == b.wrong_rows && a.columns_outside == b.columns_outside &&
         a.bad_weights == b.bad_weights && a.wrong_rows_into == b.wrong_rows_into &&
         a.columns_outside_into == b.columns_outside_into &&
         a.other_edges_into == b.other_edges_into;
}

std::int64_t wrong_begins(const graph_on_host& graph) {
  std::int64_t wrong = 0;
  const auto m = static_cast<std::uint64_t>(graph.edges());
  for (std::size_t i = 0; i < graph.begins.size(); ++i) {
    const std::uint64_t before = i == 0 ? 0 : graph.begins[i - 1], here = graph.begins[i];
    const bool first = i == 0, last = i + 1 == graph.begins.size();
    wrong += here < before || here > m || (first && here != 0) || (last && here != m);
  }
  return wrong;
}
std::int64_t columns_outside(const graph_on_host& graph) {
  return std::count_if(graph.columns.begin(), graph.columns.end(),
                       [&](std::int64_t v) { return v < 0 || v >= graph.vertices(); });
}
using counts_of_edges = std::map<std::pair<std::int64_t, std::int64_t>, int>;
counts_of_edges counted_edges(const graph_on_host& graph, bool backwards) {
  counts_of_edges edges;
  for (std::int64_t v = 0; v < graph.vertices(); ++v)
    for (std::uint64_t e = graph.begins[static_cast<std::size_t>(v)];
         e < graph.begins[static_cast<std::size_t>(v) + 1]; ++e) {
      const std::int64_t to = graph.columns[e];
      ++(backwards ? edges[{to, v}] : edges[{v, to}]);
    }
  return edges;
}

/// What check_graph finds, by maps of all edges. into: null where the graph is symmetric.
graph_faults expected_faults(const graph_on_host& graph, const graph_on_host* into) {
  graph_faults faults;
  faults.wrong_rows = wrong_begins(graph);
  faults.columns_outside = columns_outside(graph);
  if (into != nullptr) {
    faults.wrong_rows_into = wrong_begins(*into);
    faults.columns_outside_into = columns_outside(*into);
  }
  if (faults.wrong_rows + faults.wrong_rows_into == 0)
    faults.other_edges_into =
        counted_edges(graph, false) != counted_edges(into != nullptr ? *into : graph, true);
  return faults;
}

/// The graph alone, as one that is symmetric, and with a transpose.
template <class Vertex = std::uint32_t, class Offset = std::uint32_t>
void check_faults(const graph_on_host& graph, const graph_on_host& into,
                  lanewise::workspace& work) {
  const space exec = make_space();
  CAPTURE(graph.vertices(), graph.edges());
  const auto g = in_memory<Vertex, Offset>(graph);
  const auto t = in_memory<Vertex, Offset>(into);
  graph_faults alone = expected_faults(graph, nullptr);
  alone.other_edges_into = false;
  CHECK(same_faults(lanewise::check_graph(exec, g, {.work = &work}), alone));
  CHECK(same_faults(lanewise::check_graph(exec, g.symmetric()), expected_faults(graph, nullptr)));
  CHECK(same_faults(
      lanewise::check_graph(exec, g.with_transpose(t.begins(), t.columns()), {.work = &work}),
      expected_faults(graph, &into)));
}

edge_list edges_at_random(random_engine& random, std::int64_t n, std::uint64_t m) {
  edge_list edges;
  const auto any = [&] {
    return static_cast<std::int64_t>(random_number(random, static_cast<std::uint64_t>(n) - 1));
  };
  for (std::uint64_t i = 0; i < m; ++i) {
    const std::int64_t from = any();
    edges.emplace_back(from, any());
  }
  return edges;
}

std::string graph_faults_refusal(const auto& graph,
                                 const lanewise::check_graph_options& with = {}) {
  try {
    lanewise::expects_graph(make_space(), graph, with);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("check_graph: graphs that are right", "[check_graph][sanitize]") {
  lanewise::workspace work;
  auto random = make_random(11);
  check_faults(make_graph(0, {}), make_graph(0, {}), work);
  check_faults(make_graph(1, {}), make_graph(1, {}), work);
  check_faults(make_graph(5, {{3, 3}}), make_graph(5, {{3, 3}}), work);
  // Edges around the ends of parts, rows without edges in front, between and after; hubs.
  for (const std::uint64_t m : {1, 15, 16, 17, 31, 33, 511, 512, 513, 2000}) {
    for (const std::int64_t n : {std::int64_t{3}, std::int64_t{300}, std::int64_t{3000}}) {
      const auto edges = edges_at_random(random, n, m);
      const auto directed = make_graph(n, edges, false);
      check_faults(directed, transposed(directed), work);
      check_faults<std::int64_t, std::int32_t>(make_graph(n, edges), make_graph(n, edges), work);
    }
  }
  edge_list star;
  for (std::int64_t v = 1; v < 700; ++v) star.emplace_back(0, v);
  check_faults(make_graph(700, star), make_graph(700, star), work);
  CHECK(lanewise::check_graph(make_space(), lanewise::csr_graph<memory>()).none());
}

TEST_CASE("check_graph: one thing that is wrong", "[check_graph][sanitize]") {
  lanewise::workspace work;
  auto random = make_random(12);
  for (int trial = 0; trial < 40; ++trial) {
    const auto n = static_cast<std::int64_t>(2 + random_number(random, trial % 2 == 0 ? 10 : 200));
    const auto edges = edges_at_random(random, n, 1 + random_number(random, 400));
    graph_on_host graph = make_graph(n, edges);
    graph_on_host into = make_graph(n, edges);
    graph_on_host& other = trial % 3 == 0 ? into : graph;
    const auto place = [&](const auto& items) {
      return static_cast<std::size_t>(random_number(random, items.size() - 1));
    };
    // Another vertex, one that there is not, another begin, or one beyond the edges.
    if (trial % 4 == 0) other.columns[place(other.columns)] ^= 1;
    if (trial % 4 == 1) other.columns[place(other.columns)] = trial % 8 == 1 ? n : -1;
    if (trial % 4 == 2) other.begins[place(other.begins)] = random_number(random, 400);
    if (trial % 4 == 3)
      other.begins[place(other.begins)] += random_number(random, 1) == 0 ? 1 : 1 << 30;
    CAPTURE(trial);
    check_faults<std::int32_t, std::uint32_t>(graph, into, work);
    check_faults<std::uint32_t, std::int64_t>(graph, into, work);
  }
}

TEST_CASE("check_graph: edges count as often as they are there", "[check_graph]") {
  lanewise::workspace work;
  // 0 -> 1 twice, 1 -> 0 once, and 2 -> 3 once, 3 -> 2 twice: as many of each vertex.
  const auto twice = make_graph(4, {{0, 1}, {0, 1}, {1, 0}, {2, 3}, {3, 2}, {3, 2}}, false);
  CHECK(expected_faults(twice, nullptr).other_edges_into);
  check_faults(twice, transposed(twice), work);
  // A circle has every vertex as often as from as it has it as to.
  const auto circle = make_graph(3, {{0, 1}, {1, 2}, {2, 0}}, false);
  CHECK(expected_faults(circle, nullptr).other_edges_into);
  check_faults(circle, circle, work);
}

TEST_CASE("check_graph: weights", "[check_graph][sanitize]") {
  const space exec = make_space();
  const auto graph = make_graph(3, {{0, 1}, {1, 2}});  // 0 -> 1, 1 -> 2, 1 -> 0, 2 -> 1 by rows
  const auto begins = in_memory<std::uint32_t>(graph.begins);
  const auto columns = in_memory<std::uint32_t>(graph.columns);
  REQUIRE(graph.columns == std::vector<std::int64_t>{1, 2, 0, 1});
  const auto faults = [&]<class T>(const std::vector<T>& weights, bool equal) {
    return lanewise::check_graph(
        exec, lanewise::csr_graph(begins, columns, in_memory<T>(weights)).symmetric(),
        {.equal_weights = equal});
  };
  const float none = std::numeric_limits<float>::quiet_NaN();
  CHECK(faults(std::vector<float>{1, -2, none, 3}, false).bad_weights == 2);
  CHECK(faults(std::vector<double>{1, -2, 1, -0.0}, false).bad_weights == 1);
  CHECK(faults(std::vector<std::int32_t>{-1, -2, 1, -3}, false).bad_weights == 3);
  CHECK(faults(std::vector<std::uint64_t>{~0u, 2, 1, 3}, false).none());
  CHECK(faults(std::vector<float>{5, 0, 5, -0.0f}, true).none());
  CHECK(faults(std::vector<float>{5, 7, 7, 5}, false).none());
  CHECK(faults(std::vector<float>{5, 7, 7, 5}, true).other_edges_into);
  CHECK_FALSE(faults(std::vector<float>{5, 7, 7, 5}, true).none());
}

TEST_CASE("check_graph: what build_csr makes", "[check_graph]") {
  const space exec = make_space();
  const int scale = takes_long_inputs() ? 16 : 8;
  const auto edges = lanewise::rmat_edges(scale, std::int64_t{16} << scale);
  for (const bool simple : {false, true}) {
    const auto graph = lanewise::build_csr(
        exec, edges, {.symmetrise = true, .drop_self_loops = simple, .merge_duplicates = simple});
    CHECK(lanewise::check_graph(exec, graph.symmetric()).none());
    const auto directed = lanewise::build_csr(exec, edges, {.merge_duplicates = simple});
    const auto into =
        lanewise::build_csr(exec, edges, {.transpose = true, .merge_duplicates = simple});
    CHECK(
        lanewise::check_graph(exec, directed.with_transpose(into.begins(), into.columns())).none());
    CHECK(lanewise::check_graph(exec, directed.symmetric()).other_edges_into);
  }
}

TEST_CASE("expects_graph says what is wrong", "[check_graph]") {
  const auto graph_of = [](const std::vector<int>& begins, const std::vector<int>& columns) {
    return lanewise::csr_graph(in_memory<std::uint32_t>(begins), in_memory<std::uint32_t>(columns));
  };
  const auto good = graph_of({0, 1, 2}, {1, 0});
  CHECK(graph_faults_refusal(good.symmetric()) == "");
  CHECK_THAT(graph_faults_refusal(graph_of({0, 2, 1}, {1, 0})),
             ContainsSubstring("lanewise::expects_graph: 1 of 3 row begins do not ascend from 0 to "
                               "the 2 edges that there are"));
  CHECK_THAT(graph_faults_refusal(graph_of({0, 1, 2}, {1, 2})),
             ContainsSubstring("1 of 2 edges lead to a vertex that is none of 2"));
  CHECK_THAT(graph_faults_refusal(graph_of({0, 1, 2}, {1, 1}).symmetric()),
             ContainsSubstring("the edges into vertices, which a symmetric graph or a transpose "
                               "says it has, are not those of the graph"));
  const auto with = [&](const auto& into) {
    return good.with_transpose(into.begins(), into.columns());
  };
  CHECK(graph_faults_refusal(with(graph_of({0, 1, 2}, {1, 0}))) == "");
  CHECK_THAT(graph_faults_refusal(with(graph_of({1, 1, 2}, {1, 0}))),
             ContainsSubstring("1 of 3 row begins of the transpose do not ascend"));
  CHECK_THAT(
      graph_faults_refusal(with(graph_of({0, 1, 2}, {1, 7}))),
      ContainsSubstring("1 of 2 edges of the transpose come from a vertex that is none of 2"));
  const lanewise::csr_graph weighted(good.begins(), good.columns(),
                                     in_memory<float>(std::vector<int>{-1, 1}));
  CHECK_THAT(graph_faults_refusal(weighted),
             ContainsSubstring("1 of 2 weights are negative or no numbers"));
  CHECK_THAT(graph_faults_refusal(weighted.symmetric(), {.equal_weights = true}),
             ContainsSubstring("1 of 2 weights are negative"));
  const lanewise::csr_graph other(good.begins(), good.columns(),
                                  in_memory<float>(std::vector<int>{2, 1}));
  CHECK(graph_faults_refusal(other.symmetric()) == "");
  CHECK_THAT(graph_faults_refusal(other.symmetric(), {.equal_weights = true}),
             ContainsSubstring("or have other weights"));
}

TEST_CASE("csr_graph: graphs of Kokkos, and what is none", "[check_graph]") {
  using crs = Kokkos::Crs<std::uint32_t, memory, void, std::uint32_t>;
  crs of_kokkos;
  of_kokkos.row_map = crs::row_map_type("row_map", 3);
  of_kokkos.entries = crs::entries_type("entries", 2);
  Kokkos::deep_copy(Kokkos::subview(of_kokkos.row_map, 2), 2u);
  const auto graph = lanewise::make_csr_graph(of_kokkos);
  CHECK(graph.vertices() == 2);
  CHECK(graph.edges() == 2);
  CHECK(graph.columns().data() == of_kokkos.entries.data());
  CHECK(lanewise::check_graph(make_space(), graph).wrong_rows == 0);
  CHECK_THROWS_WITH(lanewise::csr_graph(Kokkos::View<std::uint32_t*, memory>(), graph.columns()),
                    ContainsSubstring("csr_graph: there are 2 columns and no row begins"));
}
