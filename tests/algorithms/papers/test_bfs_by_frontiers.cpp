// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/papers/bfs_by_frontiers.hpp>
#include <lanewise/papers/bfs_statistics.hpp>
#include <support/generators.hpp>
#include <support/graphs.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <set>
#include <tuple>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using lanewise::papers::bfs_bitmap;
using lanewise::papers::bfs_by_frontiers_options;
using lanewise::papers::bfs_gathering;
using lanewise::papers::bfs_level_counts;
using lanewise::papers::bfs_strategy;
using lanewise::papers::bfs_warp_cull;

// Few warps, so that there are several tiles soon.
struct base_policy : lanewise::papers::bfs_paper_policy {
  static constexpr int warps = 2;
};
template <bfs_strategy s, bfs_gathering g = bfs_gathering::by_team>
struct by : base_policy {
  static constexpr bfs_strategy strategy = s;
  static constexpr bfs_gathering gathering = g;
};
template <class P, bfs_bitmap b>
struct looked_up : P {
  static constexpr bfs_bitmap bitmap = b;
};
template <class P, bfs_warp_cull w, bool h>
struct culled : P {
  static constexpr bfs_warp_cull warp_cull = w;
  static constexpr bool history_cull = h;
};
template <class P>
struct stolen : P {
  static constexpr bool steals_tiles = true;
};
/// Levels alone say what is reached.
template <class P>
using unculled = culled<looked_up<P, bfs_bitmap::none>, bfs_warp_cull::none, false>;
template <class P>
using exact = looked_up<P, bfs_bitmap::exact>;

using expand_contract = by<bfs_strategy::expand_contract>;
using contract_expand = by<bfs_strategy::contract_expand>;
using two_phase = by<bfs_strategy::two_phase>;
using hybrid = by<bfs_strategy::hybrid>;
using expand_contract_by_scan = by<bfs_strategy::expand_contract, bfs_gathering::by_scan>;

// Each option once against others of the default.
using policies =
    std::tuple<lanewise::papers::bfs_policy, expand_contract, contract_expand, two_phase, hybrid,
               by<bfs_strategy::expand_contract, bfs_gathering::by_lanes>,
               by<bfs_strategy::two_phase, bfs_gathering::by_warps>, expand_contract_by_scan,
               by<bfs_strategy::contract_expand, bfs_gathering::by_scan>,
               looked_up<hybrid, bfs_bitmap::none>, exact<hybrid>, exact<expand_contract>,
               culled<hybrid, bfs_warp_cull::none, true>,
               culled<hybrid, bfs_warp_cull::by_match, false>,
               culled<expand_contract, bfs_warp_cull::by_match, true>, stolen<hybrid>,
               stolen<expand_contract>>;
using policies_without_culls = std::tuple<unculled<contract_expand>, unculled<two_phase>,
                                          unculled<hybrid>, unculled<expand_contract_by_scan>>;
using policies_with_culls = std::tuple<contract_expand, two_phase, hybrid, expand_contract_by_scan,
                                       culled<hybrid, bfs_warp_cull::by_match, false>>;
using exact_policies = std::tuple<exact<expand_contract>, exact<contract_expand>, exact<two_phase>>;

template <class Policy, class Vertex = std::uint32_t, class Offset = std::uint32_t>
void check_search(const graph_on_host& graph, std::int64_t source,
                  bfs_by_frontiers_options with = {}) {
  CAPTURE(graph.vertices(), graph.edges(), source, with.most_levels);
  const space exec = make_space();
  const auto csr = in_memory<Vertex, Offset>(graph);
  const auto n = static_cast<std::size_t>(graph.vertices());
  const Kokkos::View<std::int32_t*, memory> levels("levels", n + 1);
  const Kokkos::View<Vertex*, memory> parents("parents", n);
  const auto expected = sequential_levels(graph, {source}, with.most_levels);
  lanewise::workspace work;
  with.work = &work;
  // The lanes of a warp may queue one vertex at once.
  if (Policy::bitmap != bfs_bitmap::exact) with.queue_factor *= 40;
  for (const bool with_parents : {false, true}) {
    Kokkos::deep_copy(levels, 77);
    if (with_parents)
      lanewise::papers::bfs_by_frontiers<Policy>(exec, csr, source, levels, parents, with);
    else
      lanewise::papers::bfs_by_frontiers<Policy>(exec, csr, source, levels, with);
    exec.fence();
    const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
    for (std::size_t v = 0; v < n; ++v) REQUIRE(seen(v) == expected[v]);
    CHECK(seen(n) == 77);
    lanewise::check(exec, work);
  }
  CHECK(
      is_tree(graph, expected, Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parents)));
}

edge_list random_pairs(std::int64_t vertices, std::int64_t edges, std::uint64_t salt) {
  auto random = make_random(salt);
  edge_list list;
  const auto n = static_cast<std::uint64_t>(vertices - 1);
  for (std::int64_t i = 0; i < edges; ++i) {
    const std::uint64_t from = random_number(random, n) * random_number(random, n) / (n + 1);
    list.emplace_back(from, random_number(random, n));
  }
  return list;
}
/// Edges to the right and down.
graph_on_host directed_lattice(std::int64_t side) {
  edge_list edges;
  for (std::int64_t v = 0; v < side * side; ++v) {
    if (v % side + 1 < side) edges.emplace_back(v, v + 1);
    if (v / side + 1 < side) edges.emplace_back(v, v + side);
  }
  return make_graph(side * side, edges, false);
}

/// The rows of a search, with one for each level.
template <class Policy>
std::vector<bfs_level_counts> counts_of(const graph_on_host& graph, std::int64_t source,
                                        double queue_factor, std::size_t rows = 100,
                                        const space& exec = make_space()) {
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
  const Kokkos::View<std::int32_t*, memory> levels("levels",
                                                   static_cast<std::size_t>(graph.vertices()));
  const Kokkos::View<bfs_level_counts*, memory> counts("counts", rows);
  const Kokkos::View<lanewise::status, memory> bad("bad");
  lanewise::papers::bfs_statistics<Policy>(exec, csr, source, levels, counts,
                                           {.queue_factor = queue_factor, .errors = bad});
  lanewise::check(exec, bad);
  const auto expected = sequential_levels(graph, {source});
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
  for (std::size_t v = 0; v < expected.size(); ++v) REQUIRE(seen(v) == expected[v]);
  return to_host(counts.data(), static_cast<std::int64_t>(rows));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("bfs_by_frontiers: the graph of figure 59", "[bfs]", policies) {
  // Merrill, case D1.
  const graph_on_host graph{{0, 2, 4, 7, 9}, {0, 1, 1, 2, 0, 2, 3, 1, 3}};
  for (std::int64_t s = 0; s < 4; ++s) check_search<TestType>(graph, s);
}

TEMPLATE_LIST_TEST_CASE("bfs_by_frontiers: a small graph", "[bfs][sanitize]", policies) {
  check_search<TestType>(make_graph(70, random_pairs(70, 200, 4)), 3);
}
TEMPLATE_LIST_TEST_CASE("bfs_by_frontiers: random graphs", "[bfs]", policies) {
  for (const std::int64_t n : {1, 2, 33, 700}) {
    for (const std::int64_t degree : {0, 1, 8}) {
      const edge_list edges =
          random_pairs(n, n * degree, static_cast<std::uint64_t>(n * 10 + degree));
      check_search<TestType>(make_graph(n, edges, degree == 8), n / 2);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("bfs_by_frontiers: shapes", "[bfs]", policies) {
  edge_list star, path, multi;
  const std::int64_t n = is_emulated ? 200 : 3000;
  for (std::int64_t v = 1; v < n; ++v) star.emplace_back(0, v);
  check_search<TestType>(make_graph(n, star), 0);
  check_search<TestType>(make_graph(n, star), n - 1);
  for (std::int64_t v = 1; v < 100; ++v) path.emplace_back(v - 1, v);
  check_search<TestType>(make_graph(105, path), 40);
  for (std::int64_t i = 0; i < 300; ++i) {
    multi.emplace_back(i % 10, i % 10);
    multi.emplace_back(i % 10, (i + 1) % 11);
  }
  check_search<TestType>(make_graph(20, multi), 3);
  check_search<TestType>(directed_lattice(9), 0);
  for (const std::int64_t most : {0, 1, 5})
    check_search<TestType>(directed_lattice(9), 0, {.most_levels = most});
}

TEMPLATE_LIST_TEST_CASE("bfs_by_frontiers: rows of a warp and of a team", "[bfs]", policies) {
  constexpr int width = lanewise::warp_t<space>::width;
  for (const std::int64_t degree :
       {width - 1, width, width + 1, 2 * width - 1, 2 * width, 2 * width + 1}) {
    edge_list edges;
    std::int64_t next = 8;
    for (std::int64_t hub = 0; hub < 8; ++hub) {
      if (hub > 0) edges.emplace_back(0, hub);
      for (std::int64_t i = 0; i < degree; ++i) edges.emplace_back(hub, next++);
    }
    check_search<TestType>(make_graph(next, edges), 0);
  }
}

TEST_CASE("bfs_by_frontiers: types of vertices and row begins", "[bfs]") {
  const graph_on_host graph = make_graph(300, random_pairs(300, 1500, 5));
  check_search<hybrid, std::int32_t, std::uint64_t>(graph, 3);
  check_search<exact<expand_contract>, std::int64_t, std::int64_t>(graph, 3);
  check_search<culled<two_phase, bfs_warp_cull::by_match, true>, std::uint64_t, std::int32_t>(graph,
                                                                                              3);
}

TEMPLATE_LIST_TEST_CASE("bfs_by_frontiers: without culls vertices are expanded again", "[bfs]",
                        policies_without_culls) {
  // Merrill, case D3: as many entries as there are paths, where a warp has all of a frontier.
  if (lanewise::warp_t<space>::width != 32) return;
  const auto total = [](const std::vector<bfs_level_counts>& rows) {
    return lanewise::papers::bfs_totals(rows.data(), static_cast<std::int64_t>(rows.size()));
  };
  const auto three = counts_of<TestType>(directed_lattice(3), 0, 3);
  const std::uint64_t entries[5] = {1, 2, 4, 6, 6};
  for (std::size_t l = 1; l < 5; ++l) CHECK(three[l].examined == entries[l]);
  CHECK(total(three).redundancy() == 1.5);
  CHECK(std::abs(total(counts_of<TestType>(directed_lattice(4), 0, 4)).redundancy() - 2.83) < 0.01);
}

TEMPLATE_LIST_TEST_CASE("bfs_by_frontiers: with exact bits no vertex is expanded again", "[bfs]",
                        exact_policies) {
  for (const std::int64_t side : {3, 8, 40}) {
    const graph_on_host graph = directed_lattice(side);
    const auto rows = counts_of<TestType>(graph, 0, 1);
    const auto all =
        lanewise::papers::bfs_totals(rows.data(), static_cast<std::int64_t>(rows.size()));
    const auto n = static_cast<std::uint64_t>(graph.vertices());
    const auto m = static_cast<std::uint64_t>(graph.edges());
    CHECK(all.redundancy() == 1.0);
    CHECK(all.counts.vertices == n);
    CHECK(all.counts.edges == m);
    CHECK(all.counts.expanded == n);
    CHECK(all.counts.expanded_edges == m);
    CHECK(all.false_negatives_of_bitmap() == 0);
    // Merrill, case D9: words for vertices and for edges.
    constexpr bfs_strategy s = TestType::strategy;
    const std::uint64_t of_vertex = s == bfs_strategy::contract_expand ? 3 : 5;
    const std::uint64_t of_edge = s == bfs_strategy::expand_contract ? 2 : 4;
    CHECK(all.counts.words <= of_vertex * n + of_edge * m + 4);
    CHECK(all.counts.words + 4 >= of_vertex * n + of_edge * m);
  }
}

TEMPLATE_LIST_TEST_CASE("bfs_by_frontiers: culls leave nothing to expand again in a warp", "[bfs]",
                        policies_with_culls) {
  // Case D3 again: without culls an edge of this lattice is expanded 115 times.
  if (lanewise::warp_t<space>::width != 32) return;
  const auto rows = counts_of<TestType>(directed_lattice(8), 0, 2);
  CHECK(lanewise::papers::bfs_totals(rows.data(), 100).redundancy() == 1.0);
}

#if defined(LANEWISE_TEST_SPACE_EMULATED)
TEMPLATE_LIST_TEST_CASE("bfs_by_frontiers: the paper's culls suffice where tiles come one by one",
                        "[bfs]", policies_with_culls) {
  // One team: what a tile finds is marked before the next looks. Merrill, 6.4.3: less than 1.05.
  const auto rows = counts_of<TestType>(directed_lattice(150), 0, 2, 300, space(seed(), 1, mode()));
  CHECK(lanewise::papers::bfs_totals(rows.data(), 300).redundancy() < 1.05);
}
#endif

TEST_CASE("bfs_by_frontiers: what is counted", "[bfs]") {
  const graph_on_host graph = directed_lattice(is_emulated ? 20 : 100);
  const auto rows = counts_of<hybrid>(graph, 0, 100, 200);
  const auto all = lanewise::papers::bfs_totals(rows.data(), 200);
  CHECK(all.levels == (is_emulated ? 39 : 199));
  CHECK(all.redundancy() >= 1);
  CHECK(all.counts.after_bitmap <= all.counts.examined);
  CHECK(all.counts.after_levels <= all.counts.after_bitmap);
  CHECK(all.counts.after_warp_cull <= all.counts.after_levels);
  CHECK(all.counts.expanded <= all.counts.after_warp_cull);
  CHECK(all.counts.expanded >= all.counts.vertices);
  // Further levels are in the last row.
  const auto few = counts_of<hybrid>(graph, 0, 100, 3);
  const auto sum = lanewise::papers::bfs_totals(few.data(), 3);
  CHECK(sum.counts.vertices == all.counts.vertices);
  CHECK(sum.counts.edges == all.counts.edges);
  CHECK(few[2].vertices == all.counts.vertices - 3);
}

TEST_CASE("bfs_by_frontiers: a queue that is too short", "[bfs][sanitize]") {
  const space exec = make_space();
  const graph_on_host graph = make_graph(300, random_pairs(300, 3000, 7));
  const auto csr = in_memory<std::uint32_t, std::uint32_t>(graph);
  const Kokkos::View<std::int32_t*, memory> levels("levels", 300);
  const Kokkos::View<lanewise::status, memory> bad("bad");
  lanewise::workspace work;
  const auto count = [&](auto policy, double factor) {
    Kokkos::deep_copy(bad, lanewise::status{});
    lanewise::papers::bfs_by_frontiers<decltype(policy)>(
        exec, csr, 7, levels, {.work = &work, .queue_factor = factor, .errors = bad});
    exec.fence();
    lanewise::status seen;
    Kokkos::deep_copy(seen, bad);
    return seen.bad_items;
  };
  for (const double factor : {0.0, 0.01}) {
    CHECK(count(hybrid{}, factor) > 0);
    CHECK(count(expand_contract{}, factor) > 0);
    CHECK(count(two_phase{}, factor) > 0);
  }
  // The workspace is as good as before.
  CHECK(count(exact<hybrid>{}, 1) == 0);
  const auto expected = sequential_levels(graph, {7});
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
  for (std::size_t v = 0; v < 300; ++v) REQUIRE(seen(v) == expected[v]);
}

TEST_CASE("bfs_by_frontiers: arguments and graphs that are wrong", "[bfs]") {
  const space exec = make_space();
  graph_on_host graph = make_graph(300, random_pairs(300, 2000, 11));
  for (std::size_t e = 0; e < graph.columns.size(); e += 5)
    graph.columns[e] = e % 2 == 0 ? 300 : 0x7fffffff;
  const auto csr = in_memory<std::int32_t, std::uint32_t>(graph);
  const Kokkos::View<std::int32_t*, memory> levels("levels", 300);
  const Kokkos::View<lanewise::status, memory> bad("bad");
  lanewise::papers::bfs_by_frontiers<hybrid>(exec, csr, 0, levels, {.errors = bad});
  lanewise::papers::bfs_by_frontiers<expand_contract>(exec, csr, 0, levels, {.errors = bad});
  lanewise::status seen;
  Kokkos::deep_copy(seen, bad);
  CHECK(seen.bad_items > 0);
  CHECK_THROWS_WITH(lanewise::papers::bfs_by_frontiers<hybrid>(exec, csr, 300, levels),
                    ContainsSubstring("the source is 300, the graph has 300 vertices"));
  CHECK_THROWS_WITH(lanewise::papers::bfs_by_frontiers<hybrid>(
                        exec, csr, 0, Kokkos::View<std::int32_t*, memory>("levels", 299)),
                    ContainsSubstring("levels has 299 places, the graph has 300 vertices"));
  CHECK_THROWS_WITH(
      lanewise::papers::bfs_by_frontiers<hybrid>(exec, csr, 0, levels, {.queue_factor = -1}),
      ContainsSubstring("queue_factor is -1"));
  CHECK_THROWS_WITH(
      lanewise::papers::bfs_by_frontiers<hybrid>(exec, csr, 0, levels, {.most_levels = -1}),
      ContainsSubstring("most_levels is -1"));
}
