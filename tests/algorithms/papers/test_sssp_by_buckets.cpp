// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/papers/bellman_ford.hpp>
#include <lanewise/papers/sssp_by_buckets.hpp>
#include <support/shortest_paths.hpp>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using lanewise::papers::bucket_method;

/// Calls search(exec, graph, sources, distances, errors) and compares with Dijkstra's distances.
template <class Vertex, class Offset, class W, class Search>
void check_search(const weighted_graph<W>& g, const std::vector<std::int64_t>& sources,
                  const Search& search) {
  CAPTURE(g.graph.vertices(), g.graph.edges(), sources);
  const space exec = make_space();
  const auto n = static_cast<std::size_t>(g.graph.vertices());
  const auto csr = in_memory<Vertex, Offset>(g);
  const Kokkos::View<W*, memory> distances("distances", n + 1);
  Kokkos::deep_copy(distances, W{7});
  const Kokkos::View<lanewise::status, memory> errors("errors");
  if (sources.size() == 1)
    search(exec, csr, sources[0], distances, errors);
  else
    search(exec, csr, in_memory<Vertex>(sources), distances, errors);
  exec.fence();
  const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), distances);
  CHECK(std::vector<W>(seen.data(), seen.data() + n) == dijkstra(g, sources));
  CHECK(seen(n) == W{7});
}

template <class Vertex, class Offset, class W>
void check_hard_graphs_by_buckets(const lanewise::papers::sssp_by_buckets_options& with) {
  CAPTURE(with.buckets, with.delta, static_cast<int>(with.method));
  for_each_hard_graph<W>([&](const std::string& name, const weighted_graph<W>& g,
                             const std::vector<std::int64_t>& sources) {
    CAPTURE(name);
    check_search<Vertex, Offset>(g, sources,
                                 [&](const space& exec, const auto& csr, const auto& from,
                                     const auto& distances, const auto& errors) {
                                   auto all = with;
                                   all.errors = errors;
                                   lanewise::papers::sssp_by_buckets(exec, csr, from, distances,
                                                                     all);
                                 });
  });
}
template <class Vertex, class Offset, class W>
void check_hard_graphs_by_bellman_ford() {
  for_each_hard_graph<W>([&](const std::string& name, const weighted_graph<W>& g,
                             const std::vector<std::int64_t>& sources) {
    CAPTURE(name);
    check_search<Vertex, Offset>(g, sources,
                                 [&](const space& exec, const auto& csr, const auto& from,
                                     const auto& distances, const auto& errors) {
                                   lanewise::papers::bellman_ford(exec, csr, from, distances,
                                                                  {.errors = errors});
                                 });
  });
}

}  // namespace

TEST_CASE("sssp_by_buckets: multisplit", "[sssp_by_buckets]") {
  check_hard_graphs_by_buckets<std::uint32_t, std::uint32_t, std::uint32_t>({});
}

TEST_CASE("sssp_by_buckets: small graphs", "[sssp_by_buckets][sanitize]") {
  for (const auto method : {bucket_method::multisplit, bucket_method::radix_sort})
    for (const std::int64_t n : {5, 300}) {
      const auto search = [&](const space& exec, const auto& csr, const auto& from,
                              const auto& distances, const auto& errors) {
        lanewise::papers::sssp_by_buckets(exec, csr, from, distances,
                                          {.buckets = 5, .method = method, .errors = errors});
      };
      const auto g = random_weighted_graph<std::uint32_t>(n, 6 * n, 255, 3);
      check_search<std::uint32_t, std::uint32_t>(g, {n / 2}, search);
      const auto real = random_weighted_graph<float>(n, 4 * n, 255, 6);
      check_search<std::uint32_t, std::uint32_t>(real, {0, n - 1}, search);
    }
}

TEST_CASE("sssp_by_buckets: radix sort", "[sssp_by_buckets][long]") {
  check_hard_graphs_by_buckets<std::uint32_t, std::uint32_t, std::uint32_t>(
      {.method = bucket_method::radix_sort});
}

TEST_CASE("sssp_by_buckets: floating-point numbers", "[sssp_by_buckets][long]") {
  check_hard_graphs_by_buckets<std::uint32_t, std::uint32_t, float>({});
  check_hard_graphs_by_buckets<std::int64_t, std::uint64_t, double>(
      {.method = bucket_method::radix_sort});
}

TEST_CASE("sssp_by_buckets: any buckets, any delta", "[sssp_by_buckets][long]") {
  const auto g = random_weighted_graph<std::uint32_t>(150, 700, 255, 4);
  const auto real = random_weighted_graph<float>(50, 200, 255, 6);
  for (const auto method : {bucket_method::multisplit, bucket_method::radix_sort})
    for (const std::int64_t buckets : {1, 2, 256})
      // Less than distances differ by, less than there is in a float, more than there is.
      for (const double delta : {1e-50, 1e-3, 30.0, 1e30}) {
        CAPTURE(buckets, delta, static_cast<int>(method));
        const auto search = [&](const space& exec, const auto& csr, const auto& from,
                                const auto& distances, const auto& errors) {
          lanewise::papers::sssp_by_buckets(
              exec, csr, from, distances,
              {.buckets = buckets, .delta = delta, .method = method, .errors = errors});
        };
        if (delta > 1 || buckets > 2) check_search<std::uint32_t, std::uint32_t>(g, {3}, search);
        check_search<std::uint32_t, std::uint32_t>(real, {3, 5}, search);
      }
}

TEST_CASE("bellman_ford", "[sssp_by_buckets]") {
  check_hard_graphs_by_bellman_ford<std::uint32_t, std::uint32_t, std::uint32_t>();
  check_hard_graphs_by_bellman_ford<std::uint32_t, std::uint32_t, float>();
  check_hard_graphs_by_bellman_ford<std::int64_t, std::uint64_t, std::int64_t>();
}

TEST_CASE("sssp_by_buckets: input that is wrong", "[sssp_by_buckets]") {
  const space exec = make_space();
  const auto g = random_weighted_graph<float>(300, 2000, 9, 7);
  const auto csr = in_memory<std::int32_t, std::uint32_t>(g);
  const Kokkos::View<float*, memory> distances("distances", 300), few("few", 299);
  CHECK_THROWS_WITH(lanewise::papers::sssp_by_buckets(exec, csr, 300, distances),
                    ContainsSubstring("the source is 300, the graph has 300 vertices"));
  CHECK_THROWS_WITH(lanewise::papers::sssp_by_buckets(exec, csr, 0, few),
                    ContainsSubstring("distances has 299 places"));
  CHECK_THROWS_WITH(lanewise::papers::sssp_by_buckets(exec, csr, 0, distances, {.delta = -1}),
                    ContainsSubstring("options.delta is -1"));
  for (const std::int64_t buckets : {0, 257})
    CHECK_THROWS_WITH(
        lanewise::papers::sssp_by_buckets(exec, csr, 0, distances, {.buckets = buckets}),
        ContainsSubstring("options.buckets is " + std::to_string(buckets)));
  CHECK_THROWS_WITH(lanewise::papers::bellman_ford(exec, csr, 0, few),
                    ContainsSubstring("distances has 299 places"));

  // Edges that are left out, and the same graph without them.
  weighted_edges<float> kept;
  auto wrong = g;
  for (std::int64_t v = 0; v < 300; ++v)
    for (std::uint64_t e = g.graph.begins[static_cast<std::size_t>(v)];
         e < g.graph.begins[static_cast<std::size_t>(v) + 1]; ++e) {
      if (e % 5 == 0) wrong.weights[e] = -1.0f;
      if (e % 5 == 1) wrong.weights[e] = std::nanf("");
      if (e % 5 == 2) wrong.graph.columns[e] = e % 2 == 0 ? -1 : 300;
      if (e % 5 >= 3) kept.emplace_back(v, g.graph.columns[e], g.weights[e]);
    }
  const auto expected = dijkstra(make_weighted_graph<float>(300, kept, false), {4});
  const auto bad = in_memory<std::int32_t, std::uint32_t>(wrong);
  const auto sources = in_memory<std::int32_t>(std::vector<std::int64_t>{4, -1});
  const Kokkos::View<lanewise::status, memory> errors("errors");
  const auto check = [&] {
    exec.fence();
    const auto seen = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), distances);
    CHECK(std::vector<float>(seen.data(), seen.data() + 300) == expected);
    lanewise::status counted;
    Kokkos::deep_copy(counted, errors);
    CHECK(counted.bad_items > 100);
    Kokkos::deep_copy(errors, lanewise::status{});
  };
  for (const auto method : {bucket_method::multisplit, bucket_method::radix_sort}) {
    lanewise::papers::sssp_by_buckets(exec, bad, sources, distances,
                                      {.method = method, .errors = errors});
    check();
  }
  lanewise::papers::bellman_ford(exec, bad, sources, distances, {.errors = errors});
  check();
  lanewise::workspace work;
  lanewise::papers::sssp_by_buckets(exec, bad, sources, distances, {.work = &work});
  CHECK_THROWS(lanewise::check(exec, work));
}

TEST_CASE("sssp_by_buckets: no vertices", "[sssp_by_buckets]") {
  const lanewise::csr_graph csr(Kokkos::View<std::uint32_t*, memory>("begins", 0),
                                Kokkos::View<std::uint32_t*, memory>("columns", 0),
                                Kokkos::View<float*, memory>("weights", 0));
  const Kokkos::View<std::uint32_t*, memory> sources("sources", 0);
  const Kokkos::View<float*, memory> distances("distances", 0);
  lanewise::papers::sssp_by_buckets(make_space(), csr, sources, distances);
  lanewise::papers::bellman_ford(make_space(), csr, sources, distances);
}
