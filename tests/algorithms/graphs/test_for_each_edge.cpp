// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/for_each_edge.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

/// Every edge counts its calls, and notes what it was called with last.
template <class V>
struct note_edges {
  Kokkos::View<std::uint32_t*, memory> calls;
  Kokkos::View<V*, memory> from, to;

  LANEWISE_FUNCTION void operator()(V f, V t, std::int64_t e) const {
    Kokkos::atomic_inc(&calls(static_cast<std::size_t>(e)));
    Kokkos::atomic_store(&from(static_cast<std::size_t>(e)), f);
    Kokkos::atomic_store(&to(static_cast<std::size_t>(e)), t);
  }
};
/// Edges whose number is divisible by three join.
template <class V>
struct every_third {
  LANEWISE_FUNCTION bool operator()(V, V, std::int64_t e) const { return e % 3 == 0; }
};

template <class T>
std::vector<T> on_host(const Kokkos::View<T*, memory>& view) {
  Kokkos::fence();
  return to_host(view.data(), static_cast<std::int64_t>(view.extent(0)));
}

std::vector<std::int64_t> edge_list_of(const graph_on_host& graph,
                                       const std::vector<std::int64_t>& frontier) {
  std::vector<std::int64_t> edges;
  for (const std::int64_t v : frontier) {
    if (v < 0 || v >= graph.vertices()) continue;
    const std::uint64_t end = graph.begins[static_cast<std::size_t>(v) + 1];
    for (std::uint64_t e = graph.begins[static_cast<std::size_t>(v)]; e < end; ++e)
      if (graph.columns[e] >= 0 && graph.columns[e] < graph.vertices())
        edges.push_back(static_cast<std::int64_t>(e));
  }
  return edges;
}

/// All edges, those of a frontier, and who joins the next one. Vertices and columns that are none
/// are counted.
template <class Vertex, class Offset>
void check_edges(const graph_on_host& graph, const std::vector<std::int64_t>& frontier,
                 std::uint64_t bad_in_frontier = 0, std::uint64_t bad_of_all = 0) {
  CAPTURE(graph.vertices(), graph.edges(), frontier.size());
  const space exec = make_space();
  lanewise::workspace work;
  const cell<lanewise::status> errors;
  const auto csr = in_memory<Vertex, Offset>(graph);
  const auto m = static_cast<std::size_t>(graph.edges());
  const auto note = [&] {
    return note_edges<Vertex>{Kokkos::View<std::uint32_t*, memory>("calls", m),
                              Kokkos::View<Vertex*, memory>("from", m),
                              Kokkos::View<Vertex*, memory>("to", m)};
  };
  const auto compare = [&](const note_edges<Vertex>& seen,
                           const std::vector<std::int64_t>& expected) {
    std::vector<std::uint32_t> calls(m, 0);
    for (const std::int64_t e : expected) ++calls[static_cast<std::size_t>(e)];
    CHECK(on_host(seen.calls) == calls);
    const auto from = on_host(seen.from), to = on_host(seen.to);
    std::size_t wrong = 0;
    for (std::int64_t v = 0; v < graph.vertices(); ++v)
      for (std::uint64_t e = graph.begins[static_cast<std::size_t>(v)];
           e < graph.begins[static_cast<std::size_t>(v) + 1]; ++e)
        wrong += calls[e] != 0 && (static_cast<std::int64_t>(from[e]) != v ||
                                   static_cast<std::int64_t>(to[e]) != graph.columns[e]);
    CHECK(wrong == 0);
  };

  std::vector<std::int64_t> barrier_all;
  for (std::int64_t v = 0; v < graph.vertices(); ++v) barrier_all.push_back(v);
  const auto all = note();
  lanewise::for_each_edge(exec, csr, all, {.work = &work, .errors = errors.view()});
  compare(all, edge_list_of(graph, barrier_all));
  CHECK(errors.get().bad_items == bad_of_all);
  errors.set({});

  const auto some = note();
  const auto list = in_memory<Vertex>(frontier);
  const auto expected = edge_list_of(graph, frontier);
  lanewise::for_each_edge(exec, csr, list, some, {.work = &work, .errors = errors.view()});
  compare(some, expected);
  CHECK(errors.get().bad_items == bad_in_frontier);

  std::vector<Vertex> joined;
  for (const std::int64_t e : expected)
    if (e % 3 == 0)
      joined.push_back(static_cast<Vertex>(graph.columns[static_cast<std::size_t>(e)]));
  std::sort(joined.begin(), joined.end());
  const array<Vertex> next(static_cast<std::int64_t>(joined.size()), Vertex{});
  const cell<std::int32_t> next_count(77);
  lanewise::for_each_edge(exec, csr, list, every_third<Vertex>{},
                          Kokkos::View<Vertex*, memory>(next.data(), joined.size()),
                          next_count.view(), {.work = &work});
  CHECK(next_count.get() == static_cast<std::int32_t>(joined.size()));
  auto seen = next.items();
  std::sort(seen.begin(), seen.end());
  CHECK(seen == joined);
  CHECK(next.guards_intact());
}

edge_list some_edges(std::int64_t vertices, std::int64_t edges, std::uint64_t salt) {
  auto random = make_random(salt);
  const auto n = static_cast<std::uint64_t>(vertices - 1);
  edge_list list;
  for (std::int64_t i = 0; i < edges; ++i) {
    const auto from = static_cast<std::int64_t>(random_number(random, n));
    list.emplace_back(from, static_cast<std::int64_t>(random_number(random, n)));
  }
  return list;
}
std::vector<std::int64_t> every(std::int64_t step, std::int64_t vertices) {
  std::vector<std::int64_t> list;
  for (std::int64_t v = vertices - 1; v >= 0; v -= step) list.push_back(v);
  return list;
}

/// One more level of a search.
struct reach_next {
  Kokkos::View<std::int32_t*, memory> levels;
  std::int32_t level;
  LANEWISE_FUNCTION bool operator()(std::uint32_t, std::uint32_t to, std::int64_t) const {
    return Kokkos::atomic_compare_exchange(&levels(to), -1, level) == -1;
  }
};

}  // namespace

TEST_CASE("for_each_edge: random graphs", "[for_each_edge][sanitize]") {
  for (const std::int64_t n : {1, 2, 33, 500, 4097})
    for (const std::int64_t degree : {0, 1, 3, 20}) {
      const graph_on_host graph =
          make_graph(n, some_edges(n, n * degree, static_cast<std::uint64_t>(n + degree)), false);
      check_edges<std::uint32_t, std::uint32_t>(graph, every(3, n));
    }
}

TEST_CASE("for_each_edge: types of vertices and row begins", "[for_each_edge]") {
  const graph_on_host graph = make_graph(700, some_edges(700, 3000, 5));
  check_edges<std::int32_t, std::uint64_t>(graph, every(1, 700));
  check_edges<std::int64_t, std::int64_t>(graph, every(7, 700));
  check_edges<std::uint64_t, std::int32_t>(graph, every(2, 700));
}

TEST_CASE("for_each_edge: shapes", "[for_each_edge]") {
  edge_list star;
  for (std::int64_t v = 1; v < 20'000; ++v) star.emplace_back(0, v);
  check_edges<std::uint32_t, std::uint32_t>(make_graph(20'000, star), {0});
  check_edges<std::uint32_t, std::uint32_t>(make_graph(20'000, star), {5, 0, 7, 0, 5});
  check_edges<std::uint32_t, std::uint32_t>(make_graph(20'000, star), every(1, 20'000));
  check_edges<std::uint32_t, std::uint32_t>(make_graph(20'000, star), {});
  check_edges<std::uint32_t, std::uint32_t>(make_graph(0, {}), {});
  // Rows around a warp, after many that are empty.
  edge_list rows;
  std::int64_t hub = 0;
  for (const std::int64_t degree : {31, 32, 33, 127, 128, 129, 512, 1000, 1, 0, 2}) {
    hub += 300;
    for (std::int64_t i = 0; i < degree; ++i) rows.emplace_back(hub, i);
  }
  check_edges<std::uint32_t, std::uint32_t>(make_graph(5000, rows, false), every(1, 5000));
  check_edges<std::uint32_t, std::uint32_t>(make_graph(5000, rows, false), every(300, 4801));
}

TEST_CASE("for_each_edge: what is wrong is skipped and counted", "[for_each_edge][sanitize]") {
  graph_on_host graph = make_graph(300, some_edges(300, 2000, 11), false);
  std::uint64_t outside = 0;
  for (std::size_t e = 0; e < graph.columns.size(); e += 5, ++outside)
    graph.columns[e] = e % 2 == 0 ? 300 : -1;
  std::vector<std::int64_t> frontier = every(1, 300);
  frontier.push_back(300);
  frontier.push_back(-1);
  check_edges<std::int32_t, std::uint32_t>(graph, frontier, outside + 2, outside);
  check_edges<std::uint32_t, std::uint32_t>(make_graph(0, {}), {5}, 1);
  // Rows that are none: nothing outside is touched.
  graph.begins[7] = 100'000;
  graph.begins[9] = 0;
  graph.columns.assign(graph.columns.size(), 3);
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
  const note_edges<std::uint32_t> seen{Kokkos::View<std::uint32_t*, memory>("calls", 2000),
                                       Kokkos::View<std::uint32_t*, memory>("from", 2000),
                                       Kokkos::View<std::uint32_t*, memory>("to", 2000)};
  const space exec = make_space();
  lanewise::for_each_edge(exec, csr, seen);
  Kokkos::deep_copy(seen.calls, 0u);
  lanewise::for_each_edge(exec, csr, in_memory<std::uint32_t>(std::vector<int>{6, 7, 8, 9}), seen);
  const auto calls = on_host(seen.calls);
  CHECK(static_cast<std::uint64_t>(std::count(calls.begin(), calls.end(), 1u)) ==
        graph.begins[10]);  // of row 9 alone, which begins at 0
}

TEST_CASE("for_each_edge: counts on the device, and a frontier without room", "[for_each_edge]") {
  const space exec = make_space();
  const graph_on_host graph = make_graph(1000, some_edges(1000, 5000, 3));
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
  const auto frontier = every(2, 1000);
  const auto list = in_memory<std::uint32_t>(frontier);
  const cell<std::uint64_t> count(100);
  const auto expected =
      edge_list_of(graph, std::vector<std::int64_t>(frontier.begin(), frontier.begin() + 100));
  const auto joined =
      std::count_if(expected.begin(), expected.end(), [](std::int64_t e) { return e % 3 == 0; });
  const array<std::uint32_t> next(50, 7u);
  const Kokkos::View<std::uint32_t*, memory> room(next.data(), 50);
  const cell<std::uint64_t> next_count(5);
  lanewise::for_each_edge(exec, csr, list, every_third<std::uint32_t>{}, room, next_count.view(),
                          {.count = count.view()});
  CHECK(next_count.get() == static_cast<std::uint64_t>(joined));
  CHECK(next.guards_intact());
  CHECK_THROWS_WITH(lanewise::for_each_edge(exec, csr, list, every_third<std::uint32_t>{}, list,
                                            next_count.view()),
                    ContainsSubstring("frontier") && ContainsSubstring("next"));
}

TEST_CASE("for_each_edge: a search by levels", "[for_each_edge][sanitize]") {
  const space exec = make_space();
  const std::int64_t n = 2000;
  const graph_on_host graph = make_graph(n, some_edges(n, 3 * n, 8));
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
  const Kokkos::View<std::int32_t*, memory> levels("levels", 2000);
  Kokkos::deep_copy(levels, -1);
  Kokkos::deep_copy(Kokkos::subview(levels, 17), 0);
  Kokkos::View<std::uint32_t*, memory> now = in_memory<std::uint32_t>(every(1, n)), next("next", n);
  Kokkos::deep_copy(Kokkos::subview(now, 0), 17u);
  cell<std::uint32_t> count(1), next_count(0);
  lanewise::workspace work;
  for (std::int32_t level = 1; count.get() != 0; ++level) {
    lanewise::for_each_edge(exec, csr, now, reach_next{levels, level}, next, next_count.view(),
                            {.work = &work, .count = count.view()});
    std::swap(now, next);
    std::swap(count, next_count);
  }
  CHECK(on_host(levels) == sequential_levels(graph, {17}));
}
