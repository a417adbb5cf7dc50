// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/call/status.hpp>
#include <lanewise/graphs/build_csr.hpp>
#include <lanewise/graphs/check_graph.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <map>
#include <set>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using lanewise::csr_options;

struct weighted_edge {
  std::int64_t from, to;
  double weight;
};

/// Rows of a graph: columns, and weights of equal edges in the order of the list.
using rows_of_map = std::vector<std::map<std::int64_t, std::vector<double>>>;

rows_of_map expected_rows(std::int64_t vertices, const std::vector<weighted_edge>& edges,
                          const csr_options& with) {
  rows_of_map rows(static_cast<std::size_t>(vertices));
  const auto add = [&](std::int64_t from, std::int64_t to, double weight) {
    if (with.transpose) std::swap(from, to);
    auto& weights = rows[static_cast<std::size_t>(from)][to];
    if (with.merge_duplicates && !weights.empty())
      weights[0] += weight;
    else
      weights.push_back(weight);
  };
  const auto exists = [&](std::int64_t v) { return v >= 0 && v < vertices; };
  for (const bool backwards : {false, true})
    for (const auto& e : edges) {
      if (!exists(e.from) || !exists(e.to) || (backwards && !with.symmetrise)) continue;
      if (e.from == e.to && (backwards || with.drop_self_loops)) continue;
      backwards ? add(e.to, e.from, e.weight) : add(e.from, e.to, e.weight);
    }
  return rows;
}

/// Takes the first of two weights: an operator that does not commute.
struct the_first {
  LANEWISE_FUNCTION double operator()(double a, double) const { return a; }
};

template <class Graph>
void check_rows(const Graph& graph, const rows_of_map& rows) {
  const auto begins = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.begins());
  const auto columns = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.columns());
  REQUIRE(begins.extent(0) == rows.size() + 1);
  std::size_t at = 0;
  for (std::size_t v = 0; v < rows.size(); ++v) {
    REQUIRE(static_cast<std::size_t>(begins(v)) == at);
    for (const auto& [column, weights] : rows[v])
      for (const double weight : weights) {
        REQUIRE(at < columns.extent(0));
        REQUIRE(static_cast<std::int64_t>(columns(at)) == column);
        if constexpr (Graph::has_weights) {
          double seen = 0;
          Kokkos::deep_copy(seen, Kokkos::subview(graph.weights(), at));
          REQUIRE(seen == weight);
        }
        ++at;
      }
  }
  CHECK(static_cast<std::size_t>(begins(rows.size())) == at);
  CHECK(columns.extent(0) == at);
}

}  // namespace

TEST_CASE("build_csr: all options", "[build_csr][sanitize]") {
  const space exec = make_space();
  auto random = make_random(4);
  lanewise::workspace work;
  for (int trial = 0; trial < 32; ++trial) {
    const auto n = static_cast<std::int64_t>(trial < 4 ? trial : random_number(random, 60));
    const auto m = n == 0 ? 0 : random_number(random, 300);
    std::vector<weighted_edge> edges;
    std::vector<std::int64_t> from, to;
    std::vector<double> weights;
    std::uint64_t bad = 0;
    for (std::uint64_t i = 0; i < m; ++i) {
      const auto any = [&] {
        return static_cast<std::int64_t>(random_number(random, static_cast<std::uint64_t>(n) - 1)) +
               (random_number(random, 50) == 0 ? n : 0) - (random_number(random, 50) == 0 ? n : 0);
      };
      const std::int64_t a = any();
      edges.push_back({a, any(), static_cast<double>(random_number(random, 9))});
      from.push_back(a);
      to.push_back(edges.back().to);
      weights.push_back(edges.back().weight);
      bad += a < 0 || a >= n || to.back() < 0 || to.back() >= n;
    }
    const Kokkos::View<lanewise::status, memory> errors("errors");
    const csr_options with{.work = &work,
                           .symmetrise = (trial & 1) != 0,
                           .transpose = (trial & 2) != 0,
                           .drop_self_loops = (trial & 4) != 0,
                           .merge_duplicates = (trial & 8) != 0,
                           .errors = errors};
    CAPTURE(n, m, trial);
    const auto rows = expected_rows(n, edges, with);
    const auto a = in_memory<std::int32_t>(from), b = in_memory<std::int32_t>(to);
    check_rows(lanewise::build_csr(exec, n, a, b, with), rows);
    check_rows(lanewise::build_csr<std::int64_t>(exec, n, a, b, in_memory<double>(weights), with),
               rows);
    lanewise::status seen;
    Kokkos::deep_copy(seen, errors);
    CHECK(seen.bad_items == 2 * bad);
  }
}

TEST_CASE("build_csr: rows of unequal length", "[build_csr]") {
  const space exec = make_space();
  constexpr std::int64_t n = 1 << 10, m = 40'000;
  const auto given = lanewise::rmat_edges(10, m);
  const csr_options with{.symmetrise = true, .drop_self_loops = true, .merge_duplicates = true};
  std::vector<std::int64_t> from, to;
  std::vector<int> number;
  rows_of_map rows(n);
  for (std::int64_t i = 0; i < m; ++i) {
    from.push_back(given.from(i));
    to.push_back(given.to(i));
    number.push_back(static_cast<int>(i));
  }
  // The weight of an edge is its number, and the first weight stays.
  for (const bool backwards : {false, true})
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] == to[i]) continue;
      const auto a = static_cast<std::size_t>(backwards ? to[i] : from[i]);
      auto& weights = rows[a][backwards ? from[i] : to[i]];
      if (weights.empty()) weights.push_back(number[i]);
    }
  check_rows(lanewise::build_csr(exec, given, with), rows);
  const auto a = in_memory<std::int32_t>(from), b = in_memory<std::int32_t>(to);
  check_rows(lanewise::build_csr(exec, n, a, b, with), rows);
  check_rows(lanewise::build_csr(exec, n, a, b, in_memory<double>(number), the_first{}, with),
             rows);
}

TEST_CASE("build_csr: its workspace is enough", "[build_csr]") {
  const space exec = make_space();
  const std::int64_t m = 30'000;
  for (const std::int64_t n : {100, 100'000}) {
    CAPTURE(n);
    const auto edges = lanewise::uniform_edges<std::int32_t>(n, m);
    const Kokkos::View<float*, memory> weights("weights", m);
    lanewise::workspace work;
    lanewise::reserve(exec, work, lanewise::build_csr_workspace<space, float>(n, m, true));
    const std::size_t bytes = work.bytes();
    for (const bool merges : {false, true}) {
      const csr_options with{.work = &work, .symmetrise = true, .merge_duplicates = merges};
      lanewise::build_csr(exec, edges, with);
      lanewise::build_csr(exec, n, edges.from, edges.to, weights, with);
    }
    CHECK(work.bytes() == bytes);
  }
}

TEST_CASE("with_transpose: of any graph", "[build_csr]") {
  const space exec = make_space();
  for (const std::int64_t n : {1, 2, 33, 2000}) {
    auto random = make_random(static_cast<std::uint64_t>(n));
    edge_list edges;
    for (std::int64_t i = 0; i < 3 * n; ++i)
      edges.emplace_back(random_number(random, static_cast<std::uint64_t>(n - 1)),
                         random_number(random, static_cast<std::uint64_t>(n - 1)));
    const graph_on_host graph = make_graph(n + 2, edges, false);
    const graph_on_host back = transposed(graph);
    const auto both = lanewise::with_transpose(exec, in_memory<std::int32_t, std::int64_t>(graph));
    const auto begins =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), both.begins_into());
    for (std::size_t v = 0; v < back.begins.size(); ++v)
      REQUIRE(static_cast<std::uint64_t>(begins(v)) == back.begins[v]);
    lanewise::expects_graph(exec, both);
  }
  const auto wrong = in_memory<std::uint32_t, std::uint32_t>(graph_on_host{{0, 2}, {0, 7}});
  CHECK_THROWS_WITH(lanewise::with_transpose(exec, wrong),
                    ContainsSubstring("the transpose has 2 row begins and 1 columns"));
}

TEST_CASE("build_csr: bad edges are counted in the workspace, too", "[build_csr]") {
  const space exec = make_space();
  lanewise::workspace work;
  const auto from = in_memory<std::uint32_t>(std::vector<int>{0, 1, 9, 1});
  const auto to = in_memory<std::uint32_t>(std::vector<int>{1, 5, 0, 0});
  CHECK(lanewise::build_csr(exec, 2, from, to, {.work = &work}).edges() == 2);
  CHECK_THROWS_WITH(lanewise::check(exec, work), ContainsSubstring("2 items"));
}

TEST_CASE("build_csr: columns in the order of the list", "[build_csr]") {
  const space exec = make_space();
  const auto from = in_memory<std::int64_t>(std::vector<int>{2, 0, 2, 2, 0});
  const auto to = in_memory<std::int64_t>(std::vector<int>{3, 2, 1, 3, 0});
  const auto graph = lanewise::build_csr(exec, 4, from, to, {.sort_columns = false});
  const auto columns = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.columns());
  const std::vector<std::int64_t> expected{2, 0, 3, 1, 3};
  for (std::size_t i = 0; i < 5; ++i) CHECK(columns(i) == expected[i]);
}

TEST_CASE("build_csr: bad input", "[build_csr]") {
  const space exec = make_space();
  const auto from = in_memory<std::int32_t>(std::vector<int>{0, 1});
  const auto to = in_memory<std::int32_t>(std::vector<int>{1});
  CHECK_THROWS_WITH(lanewise::build_csr(exec, 2, from, to),
                    ContainsSubstring("there are 2 vertices that edges come from, and 1"));
  CHECK_THROWS_WITH(lanewise::build_csr(exec, -1, from, from), ContainsSubstring("-1 vertices"));
  CHECK_THROWS_WITH(
      lanewise::build_csr(exec, 2, from, from, in_memory<double>(std::vector<int>{1})),
      ContainsSubstring("1 weights for 2 edges"));
}

TEST_CASE("generators: lattices have their edges", "[build_csr]") {
  const space exec = make_space();
  const auto check = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    CAPTURE(x, y, z);
    const auto graph = lanewise::build_csr(exec, lanewise::lattice_edges(x, y, z));
    std::vector<weighted_edge> edges;
    for (std::int64_t v = 0; v < x * y * z; ++v) {
      if (v % x + 1 < x) edges.push_back({v, v + 1, 0});
      if (v / x % y + 1 < y) edges.push_back({v, v + x, 0});
      if (v / x / y + 1 < z) edges.push_back({v, v + x * y, 0});
    }
    check_rows(graph, expected_rows(x * y * z, edges, {}));
  };
  check(1, 1, 1);
  check(7, 1, 1);
  check(5, 4, 1);
  check(1, 3, 2);
  check(4, 5, 6);
  // The paper's numbers of edges (case D11), which have the diagonal: 5 n - 4 k and 7 n - 6 k k.
  CHECK(2 * lanewise::lattice_edges(5000, 5000).from.extent + 25'000'000 == 124'980'000);
  CHECK(2 * lanewise::lattice_edges(300, 300, 300).from.extent + 27'000'000 == 188'460'000);
  // Roads: what is left out are self loops.
  const auto road = lanewise::build_csr(exec, lanewise::lattice_edges(100, 100, 1, 0.65),
                                        {.symmetrise = true, .drop_self_loops = true});
  CHECK(road.edges() > 2 * 19800 * 0.62);
  CHECK(road.edges() < 2 * 19800 * 0.68);
}

TEST_CASE("generators: random edges", "[build_csr]") {
  const auto uniform = lanewise::uniform_edges<std::int64_t>(1000, 5000, 3);
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < 5000; ++i) {
    REQUIRE(uniform.from(i) < 1000);
    REQUIRE(uniform.to(i) < 1000);
    seen.insert(uniform.to(i));
  }
  CHECK(seen.size() > 980);
  // Quarters of R-MAT, without shuffling: the first has the probability a.
  constexpr std::int64_t m = 20000;
  const auto rmat = lanewise::rmat_edges(10, m, {.a = 0.5, .b = 0.2, .c = 0.1, .shuffle = false});
  int quarter[2][2] = {};
  for (std::int64_t i = 0; i < m; ++i) ++quarter[rmat.from(i) >> 9 & 1][rmat.to(i) >> 9 & 1];
  CHECK(quarter[0][0] > 0.48 * m);
  CHECK(quarter[0][0] < 0.52 * m);
  CHECK(quarter[0][1] > 0.18 * m);
  CHECK(quarter[0][1] < 0.22 * m);
  CHECK(quarter[1][0] > 0.09 * m);
  CHECK(quarter[1][0] < 0.11 * m);
  // Shuffling exchanges numbers among each other.
  for (const int bits : {1, 2, 7, 10}) {
    std::set<std::uint64_t> all;
    for (std::uint64_t x = 0; x < std::uint64_t{1} << bits; ++x)
      all.insert(lanewise::detail::shuffled(x, bits, 5));
    CHECK(all.size() == std::size_t{1} << bits);
    CHECK(*all.rbegin() == (std::uint64_t{1} << bits) - 1);
  }
  CHECK_THROWS_WITH(lanewise::rmat_edges(40, 1), ContainsSubstring("scale is 40"));
  CHECK_THROWS_WITH(lanewise::rmat_edges(4, 1, {.a = 0.9, .b = 0.2}), ContainsSubstring("0.9"));
}
