// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/graphs/sssp.hpp>
#include <lanewise/graphs/sssp_parents.hpp>
#include <support/shortest_paths.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

/// The parents that are promised: the least of lesser distances, then the least by rounds.
template <class W>
std::vector<std::int64_t> sequential_parents(const weighted_graph<W>& g,
                                             const std::vector<W>& distance,
                                             const std::vector<std::int64_t>& sources) {
  const std::int64_t n = g.graph.vertices();
  std::vector<std::int64_t> parents(distance.size(), -1);
  for (const std::int64_t s : sources) parents[static_cast<std::size_t>(s)] = s;
  // For what is not in `before`, the least u by edges from vertices in `from`.
  const auto round = [&](const std::vector<bool>& from, const std::vector<bool>& before,
                         bool less) {
    for (std::int64_t u = n - 1; u >= 0; --u) {
      const W d = distance[static_cast<std::size_t>(u)];
      if (!from[static_cast<std::size_t>(u)] || d == unreached<W>()) continue;
      for_each_edge_of(g, u, [&](std::int64_t v, W weight) {
        const auto to = static_cast<std::size_t>(v);
        if (!(weight >= W{0}) || path_sum(d, weight) != distance[to] || before[to]) return;
        if (distance[to] != unreached<W>() && (d < distance[to]) == less) parents[to] = u;
      });
    }
  };
  const auto with_parents = [&] {
    std::vector<bool> with;
    for (const std::int64_t p : parents) with.push_back(p >= 0);
    return with;
  };
  round(std::vector<bool>(parents.size(), true), with_parents(), true);
  for (auto before = with_parents();;) {
    round(before, before, false);
    const auto now = with_parents();
    if (now == before) return parents;
    before = now;
  }
}

/// Whether parents lead to sources along tight edges.
template <class W>
bool are_paths(const weighted_graph<W>& g, const std::vector<W>& distance,
               const std::vector<std::int64_t>& parents) {
  const std::int64_t n = g.graph.vertices();
  for (std::int64_t v = 0; v < n; ++v) {
    if (distance[static_cast<std::size_t>(v)] == unreached<W>()) continue;
    std::int64_t at = v, steps = 0;
    for (; parents[static_cast<std::size_t>(at)] != at; ++steps) {
      const std::int64_t by = parents[static_cast<std::size_t>(at)];
      bool tight = false;
      if (by < 0 || by >= n || steps == n) return false;
      for_each_edge_of(g, by, [&](std::int64_t to, W weight) {
        tight = tight || (to == at && path_sum(distance[static_cast<std::size_t>(by)], weight) ==
                                          distance[static_cast<std::size_t>(at)]);
      });
      if (!tight) return false;
      at = by;
    }
    if (distance[static_cast<std::size_t>(at)] != W{0}) return false;
  }
  return true;
}

template <class Vertex, class Offset, class W>
void check_parents(const weighted_graph<W>& g, const std::vector<std::int64_t>& sources) {
  CAPTURE(g.graph.vertices(), g.graph.edges(), sources);
  const space exec = make_space();
  const auto n = static_cast<std::size_t>(g.graph.vertices());
  const auto distance = dijkstra(g, sources);
  const auto csr = in_memory<Vertex, Offset>(g);
  const Kokkos::View<const W*, memory> distances = in_memory<W>(distance);
  const Kokkos::View<Vertex*, memory> parents("parents", n + 1);
  Kokkos::deep_copy(parents, Vertex{7});
  if (sources.size() == 1)
    lanewise::sssp_parents(exec, csr, sources[0], distances, parents);
  else
    lanewise::sssp_parents(exec, csr, in_memory<Vertex>(sources), distances, parents);
  exec.fence();
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parents);
  std::vector<std::int64_t> found;
  for (std::size_t v = 0; v < n; ++v)
    found.push_back(seen(v) == static_cast<Vertex>(-1) ? -1 : static_cast<std::int64_t>(seen(v)));
  CHECK(found == sequential_parents(g, distance, sources));
  CHECK(are_paths(g, distance, found));
  CHECK(seen(n) == Vertex{7});
}

template <class Vertex, class Offset, class W>
void check_hard_graphs(bool small = is_emulated) {
  for_each_hard_graph<W>(
      [](const std::string& name, const weighted_graph<W>& g,
         const std::vector<std::int64_t>& sources) {
        CAPTURE(name);
        check_parents<Vertex, Offset>(g, sources);
      },
      small);
}

}  // namespace

TEST_CASE("sssp_parents: small graphs", "[sssp_parents][sanitize]") {
  check_hard_graphs<std::uint32_t, std::uint32_t, std::uint32_t>(true);
}

TEST_CASE("sssp_parents: integers", "[sssp_parents]") {
  check_hard_graphs<std::uint32_t, std::uint32_t, std::uint32_t>();
}

TEST_CASE("sssp_parents: floating-point numbers", "[sssp_parents]") {
  check_hard_graphs<std::uint32_t, std::uint32_t, float>();
}

TEST_CASE("sssp_parents: weights and numbers", "[sssp_parents]") {
  check_hard_graphs<std::int64_t, std::uint64_t, double>();
  check_hard_graphs<std::int32_t, std::int64_t, std::int32_t>();
  check_hard_graphs<std::uint64_t, std::uint32_t, std::uint64_t>();
}

TEST_CASE("sssp_parents: behind sssp", "[sssp_parents]") {
  const space exec = make_space();
  const auto g = random_weighted_graph<float>(takes_long_inputs() ? 20'000 : 3000, 30'000, 9, 8);
  const auto csr = in_memory<std::int32_t, std::uint32_t>(g);
  const Kokkos::View<float*, memory> distances("distances", csr.vertices());
  const Kokkos::View<std::int32_t*, memory> parents("parents", csr.vertices());
  using graph = std::decay_t<decltype(csr)>;
  lanewise::workspace work;
  lanewise::reserve(exec, work,
                    lanewise::sssp_parents_workspace<graph>(exec, csr.vertices(), csr.edges()));
  const void* const reserved = work.plain();
  lanewise::sssp_parents(exec, csr, 3, distances, parents, {.work = &work});
  CHECK(work.plain() == reserved);
  lanewise::sssp(exec, csr, 3, distances, {.work = &work});
  lanewise::sssp_parents(exec, csr, 3, distances, parents, {.work = &work});
  exec.fence();
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parents);
  const std::vector<std::int64_t> found(seen.data(), seen.data() + seen.extent(0));
  const auto distance = dijkstra(g, {3});
  CHECK(found == sequential_parents(g, distance, {3}));
  CHECK(are_paths(g, distance, found));
}

TEST_CASE("sssp_parents: input that is wrong", "[sssp_parents]") {
  const space exec = make_space();
  auto g = random_weighted_graph<float>(300, 2000, 9, 7);
  const auto n = static_cast<std::size_t>(g.graph.vertices());
  const Kokkos::View<float*, memory> distances("distances", n);
  const Kokkos::View<std::int32_t*, memory> parents("parents", n);
  SECTION("places and sources") {
    const auto csr = in_memory<std::int32_t, std::uint32_t>(g);
    const Kokkos::View<float*, memory> few("few", n - 1);
    const Kokkos::View<std::int32_t*, memory> few_parents("few", n - 1);
    CHECK_THROWS_WITH(lanewise::sssp_parents(exec, csr, 0, few, parents),
                      ContainsSubstring("distances has 299 places"));
    CHECK_THROWS_WITH(lanewise::sssp_parents(exec, csr, 0, distances, few_parents),
                      ContainsSubstring("parents has 299 places"));
    CHECK_THROWS_WITH(lanewise::sssp_parents(exec, csr, -1, distances, parents),
                      ContainsSubstring("the source is -1, the graph has 300 vertices"));
    // One source of several is left out.
    const std::vector<std::int64_t> sources{4, 400, -1};
    lanewise::sssp(exec, csr, in_memory<std::int32_t>(sources), distances);
    lanewise::sssp_parents(exec, csr, in_memory<std::int32_t>(sources), distances, parents);
    exec.fence();
    const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parents);
    const std::vector<std::int64_t> found(seen.data(), seen.data() + n);
    CHECK(found == sequential_parents(g, dijkstra(g, {4}), {4}));
  }
  SECTION("weights and columns") {
    // Edges that are left out, and the same graph without them.
    weighted_edges<float> kept;
    auto wrong = g;
    for (std::int64_t v = 0; v < g.graph.vertices(); ++v)
      for (std::uint64_t e = g.graph.begins[static_cast<std::size_t>(v)];
           e < g.graph.begins[static_cast<std::size_t>(v) + 1]; ++e) {
        if (e % 5 == 0) wrong.weights[e] = -1.0f;
        if (e % 5 == 1) wrong.weights[e] = std::nanf("");
        if (e % 5 == 2) wrong.graph.columns[e] = e % 2 == 0 ? -1 : 300;
        if (e % 5 >= 3) kept.emplace_back(v, g.graph.columns[e], g.weights[e]);
      }
    const auto left = make_weighted_graph<float>(300, kept, false);
    const auto csr = in_memory<std::int32_t, std::uint32_t>(wrong);
    lanewise::sssp(exec, csr, 0, distances);
    lanewise::sssp_parents(exec, csr, 0, distances, parents);
    exec.fence();
    const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parents);
    const std::vector<std::int64_t> found(seen.data(), seen.data() + n);
    CHECK(found == sequential_parents(left, dijkstra(left, {0}), {0}));
  }
  SECTION("rows and distances") {
    g.graph.begins[5] = 1'000'000;
    const auto csr = in_memory<std::int32_t, std::uint32_t>(g);
    Kokkos::deep_copy(distances, -3.0f);
    lanewise::sssp_parents(exec, csr, 0, distances, parents);
    Kokkos::deep_copy(distances, 1.0f);
    lanewise::sssp_parents(exec, csr, 0, distances, parents);
    exec.fence();
  }
}

TEST_CASE("sssp_parents: no vertices", "[sssp_parents]") {
  const lanewise::csr_graph csr(Kokkos::View<std::uint32_t*, memory>("begins", 0),
                                Kokkos::View<std::uint32_t*, memory>("columns", 0),
                                Kokkos::View<float*, memory>("weights", 0));
  lanewise::sssp_parents(make_space(), csr, Kokkos::View<std::uint32_t*, memory>("sources", 0),
                         Kokkos::View<float*, memory>("distances", 0),
                         Kokkos::View<std::uint32_t*, memory>("parents", 0));
}
