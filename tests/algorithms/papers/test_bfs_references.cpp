// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/papers/bfs_references.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

void check_references(const graph_on_host& graph, std::int64_t source) {
  CAPTURE(graph.vertices(), graph.edges(), source);
  const space exec = make_space();
  const auto n = static_cast<std::size_t>(graph.vertices());
  const auto expected = sequential_levels(graph, {source});
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
  const array<std::int32_t> levels(graph.vertices(), 77);
  lanewise::workspace work;
  lanewise::papers::bfs_quadratic(exec, csr, source, levels.view(), {.work = &work});
  CHECK((levels.items() == expected && levels.guards_intact()));
  levels.assign(levels.original());
  lanewise::papers::bfs_linear(exec, csr, source, levels.view(), {.work = &work});
  CHECK((levels.items() == expected && levels.guards_intact()));
  lanewise::check(exec, work);
  const auto begins = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), csr.begins());
  const auto columns = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), csr.columns());
  const Kokkos::View<std::int32_t*, Kokkos::HostSpace> on_host("levels", n);
  lanewise::papers::bfs_sequential(lanewise::csr_graph(begins, columns), source, on_host);
  for (std::size_t v = 0; v < n; ++v) REQUIRE(on_host(v) == expected[v]);
}

}  // namespace

TEST_CASE("bfs_references: they agree", "[bfs][sanitize]") {
  const graph_on_host figure{{0, 2, 4, 7, 9}, {0, 1, 1, 2, 0, 2, 3, 1, 3}};
  for (std::int64_t s = 0; s < 4; ++s) check_references(figure, s);
  auto random = make_random(8);
  for (const std::int64_t n : {1, 2, 33, 500}) {
    for (const std::int64_t degree : {0, 1, 6}) {
      edge_list edges;
      const auto most = static_cast<std::uint64_t>(n - 1);
      for (std::int64_t i = 0; i < n * degree; ++i)
        edges.emplace_back(random_number(random, most), random_number(random, most));
      check_references(make_graph(n, edges, degree == 6), n / 2);
    }
  }
}

TEST_CASE("bfs_references: graphs and sources that are wrong", "[bfs]") {
  const space exec = make_space();
  const graph_on_host graph{{0, 2, 4, 4}, {1, 7, 2, 0x7fffffff}};
  const auto csr = in_memory<std::int32_t, std::uint32_t>(graph);
  const Kokkos::View<std::int32_t*, memory> levels("levels", 3);
  const Kokkos::View<lanewise::status, memory> bad("bad");
  lanewise::papers::bfs_quadratic(exec, csr, 0, levels, {.errors = bad});
  lanewise::papers::bfs_linear(exec, csr, 0, levels, {.errors = bad});
  exec.fence();
  lanewise::status seen;
  Kokkos::deep_copy(seen, bad);
  CHECK(seen.bad_items == 4);
  CHECK_THROWS_WITH(lanewise::papers::bfs_quadratic(exec, csr, 3, levels),
                    ContainsSubstring("the source is 3, the graph has 3 vertices"));
  const auto columns = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), csr.columns());
  const auto begins = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), csr.begins());
  const Kokkos::View<std::int32_t*, Kokkos::HostSpace> on_host("levels", 3);
  const lanewise::csr_graph on(begins, columns);
  lanewise::papers::bfs_sequential(on, 0, on_host);
  for (int v = 0; v < 3; ++v) CHECK(on_host(v) == v);
  CHECK_THROWS_WITH(lanewise::papers::bfs_sequential(on, -1, on_host), ContainsSubstring("-1"));
}
