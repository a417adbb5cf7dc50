// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Searches in generated graphs, and the building of these, on every backend of this Kokkos. Edges
// are directed ones, without self loops and duplicates, each in both directions.

#include "graph_families.hpp"
#include "support.hpp"
#include <lanewise/graphs/bfs.hpp>
#include <lanewise/graphs/bfs_batch.hpp>
#include <lanewise/graphs/build_csr.hpp>
#include <lanewise/graphs/connected_components.hpp>
#include <lanewise/graphs/for_each_edge.hpp>
#include <lanewise/graphs/pagerank.hpp>
#include <lanewise/graphs/spmv.hpp>
#include <lanewise/graphs/sssp.hpp>

#include <cmath>
#include <string>

namespace lanewise::perf {

/// kron: R-MAT by Graph500's parameters, 16 edges a vertex before both directions are made; rmat45
/// by a = 0.45, b = c = 0.15; urand: uniform; grid5, grid7: lattices in the plane and in space;
/// road: a lattice in the plane with 65 % of its edges; others: graph_families.hpp.
struct generated_graph {
  std::string distribution;
  std::int64_t n;

  int scale() const { return static_cast<int>(std::lround(std::log2(static_cast<double>(n)))); }
  std::int64_t side(int axes) const {
    return std::llround(std::pow(static_cast<double>(n), 1.0 / axes));
  }
  /// Calls f with the edges, each once.
  template <class F>
  void with_edges(const F& f) const {
    if (distribution == "kron") return f(rmat_edges(scale(), 16 * n));
    if (distribution == "rmat45")
      return f(rmat_edges(scale(), 16 * n, {.a = 0.45, .b = 0.15, .c = 0.15}));
    if (distribution == "urand") return f(uniform_edges(n, 16 * n));
    if (distribution == "grid5") return f(lattice_edges(side(2), side(2)));
    if (distribution == "grid7") return f(lattice_edges(side(3), side(3), side(3)));
    if (distribution == "hypercube") return f(perf::hypercube_edges(scale()));
    if (distribution == "small_world.1") return f(perf::small_world_edges(n, 5, 0.1));
    if (distribution == "small_world.01") return f(perf::small_world_edges(n, 5, 0.01));
    if (distribution == "tree") return f(perf::random_tree_edges(n));
    if (distribution == "caterpillar") return f(perf::caterpillar_edges(n, 16));
    if (distribution == "points") return f(perf::near_points_edges(side(2)));
    if (distribution == "hubs") return f(perf::hub_edges(scale(), 4 * n));
    if (distribution == "cliques") return f(perf::clique_edges(n / 64, 64));
    f(lattice_edges(side(2), side(2), 1, 0.65));
  }
};

template <class Exec>
std::vector<generated_graph> measured_graphs() {
  const auto two_to = [](int scale) { return std::int64_t{1} << scale; };
  if (on_host<Exec>)
    return {
        {"kron", two_to(18)},          {"kron", two_to(20)},           {"urand", two_to(20)},
        {"grid5", two_to(20)},         {"road", two_to(20)},           {"hypercube", two_to(18)},
        {"small_world.1", two_to(18)}, {"small_world.01", two_to(18)}, {"tree", two_to(18)},
        {"caterpillar", two_to(18)},   {"points", two_to(18)},         {"hubs", two_to(18)},
        {"cliques", two_to(18)}};
  return {{"kron", two_to(20)},  {"kron", two_to(22)},       {"rmat45", two_to(22)},
          {"urand", two_to(20)}, {"urand", two_to(22)},      {"grid5", two_to(20)},
          {"grid5", two_to(24)}, {"grid7", 300 * 300 * 300}, {"road", two_to(24)}};
}

/// From 1 to 255, the same in both directions.
template <class From, class To, class W>
struct weight_of_pair {
  From from;
  To to;
  LANEWISE_FUNCTION W operator()(std::int64_t i) const {
    const std::uint64_t a = from(i), b = to(i);
    return static_cast<W>(1 + hash(a < b ? a << 32 | b : b << 32 | a) % 255);
  }
};

/// Types of vertices and row begins.
template <class Offset>
const char* graph_types() {
  return sizeof(Offset) == 4 ? "i32.i32" : "i32.i64";
}

/// A graph, and 64 vertices with edges to search from, one after the other.
template <class Exec, class Weight = no_weight, class Offset = std::uint32_t>
struct search_problem {
  using exec_space = Exec;
  using vertex = std::uint32_t;
  using memory = typename Exec::memory_space;
  using graph_type = csr_graph<memory, vertex, Offset, Weight>;
  static constexpr std::size_t sources = 64;

  Exec exec{};
  std::int64_t n;
  graph_type graph;
  std::vector<vertex> source;
  std::size_t searches = 0;
  workspace work;

  explicit search_problem(const generated_graph& p) : n(p.n) {
    const csr_options with{.symmetrise = true, .drop_self_loops = true, .merge_duplicates = true};
    p.with_edges([&](const auto& edges) {
      if constexpr (graph_type::has_weights) {
        using from = std::decay_t<decltype(edges.from)>;
        using to = std::decay_t<decltype(edges.to)>;
        const auto weights =
            generated(edges.from.extent, weight_of_pair<from, to, Weight>{edges.from, edges.to});
        graph =
            build_csr<Offset>(exec, edges.vertices, edges.from, edges.to, weights, minimum{}, with)
                .symmetric();
      } else {
        graph = build_csr<Offset>(exec, edges, with).symmetric();
      }
    });
    const auto begins = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.begins());
    for (std::uint64_t i = 0; source.size() < sources; ++i) {
      const auto v = static_cast<vertex>(hash(i) % static_cast<std::uint64_t>(n));
      if (begins(v) < begins(v + 1)) source.push_back(v);
    }
  }
  static std::vector<generated_graph> points() { return measured_graphs<Exec>(); }
  vertex next_source() { return source[searches++ % sources]; }
  std::int64_t bytes() const { return 4 * (graph.edges() + 2 * n); }
  void count_edges(benchmark::UserCounters& counters) const {
    counters["edges_per_second"] = benchmark::Counter(
        static_cast<double>(graph.edges()), benchmark::Counter::kIsIterationInvariantRate);
    counters["edges"] = static_cast<double>(graph.edges());
  }
};

enum class bfs_result { levels, parents, top_down };

template <class Exec, bfs_result what, class Offset = std::uint32_t>
struct bfs_problem : search_problem<Exec, no_weight, Offset> {
  using base = search_problem<Exec, no_weight, Offset>;
  using base::exec, base::graph, base::n;

  array<Exec, std::int32_t> levels{"perf::levels", static_cast<std::size_t>(n)};
  array<Exec, std::uint32_t> parents{"perf::parents",
                                     what == bfs_result::parents ? static_cast<std::size_t>(n) : 0};

  using base::base;
  static row name(const generated_graph& p) {
    const char* const names[] = {"bfs.levels", "bfs.parents", "bfs.top_down"};
    return {names[static_cast<int>(what)], backend_name<Exec>(), "",
            graph_types<Offset>(),         p.distribution,       p.n};
  }
  void call() {
    if constexpr (what == bfs_result::parents)
      bfs_parents(exec, graph, this->next_source(), parents, {.work = &this->work});
    else
      bfs(exec, graph, this->next_source(), levels,
          {.work = &this->work, .top_down = what == bfs_result::top_down});
  }
  /// No edge spans two levels.
  struct far_edges {
    typename base::graph_type graph;
    array<Exec, std::int32_t> levels;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t v) const {
      std::uint64_t far = 0;
      for (auto e = graph.begins()(v); e < graph.begins()(v + 1); ++e) {
        const std::int32_t step = levels(v) - levels(graph.columns()(e));
        far += step < -1 || step > 1;
      }
      return far;
    }
  };
  bool correct() const {
    if (what == bfs_result::parents) return true;  // tests look at trees
    return sum<std::uint64_t>(exec, n, far_edges{graph, levels}) == 0;
  }
  void record(benchmark::UserCounters& counters) const {
    this->count_edges(counters);
    if (what != bfs_result::parents) {
      std::int32_t last = 0;
      Kokkos::parallel_reduce("perf::most", range<Exec>(exec, 0, n), most_level{levels},
                              Kokkos::Max<std::int32_t>(last));
      counters["levels"] = last + 1;
    }
    // A search top down looks at all edges of what it reaches, once where it meets after levels.
    if (what == bfs_result::top_down)
      counters["examined"] =
          static_cast<double>(sum<std::uint64_t>(exec, n, reached_edges{graph, levels}));
  }
  struct reached_edges {
    typename base::graph_type graph;
    array<Exec, std::int32_t> levels;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t v) const {
      return levels(v) < 0 ? 0 : graph.begins()(v + 1) - graph.begins()(v);
    }
  };
  struct most_level {
    array<Exec, std::int32_t> levels;
    KOKKOS_FUNCTION void operator()(std::int64_t v, std::int32_t& most) const {
      if (levels(v) > most) most = levels(v);
    }
  };
};

/// All 64 searches in one call.
template <class Exec>
struct batch_problem : search_problem<Exec> {
  using base = search_problem<Exec>;
  using base::exec, base::graph, base::n;

  array<Exec, std::uint32_t> all{"perf::sources", base::sources};
  Kokkos::View<std::int32_t**, Kokkos::LayoutRight, typename Exec::memory_space> levels{
      "perf::levels", static_cast<std::size_t>(n), base::sources};

  explicit batch_problem(const generated_graph& p) : base(p) {
    Kokkos::deep_copy(
        all, Kokkos::View<const std::uint32_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                 this->source.data(), base::sources));
  }
  static row name(const generated_graph& p) {
    return {"bfs.batch64", backend_name<Exec>(), "", "i32.i32", p.distribution, p.n};
  }
  std::int64_t bytes() const { return 4 * n * static_cast<std::int64_t>(base::sources); }
  void call() { bfs_batch(exec, graph, all, levels, {.work = &this->work}); }
  struct differing {
    decltype(levels) seen;
    array<Exec, std::int32_t> one;
    std::size_t s;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t v) const { return seen(v, s) != one(v); }
  };
  /// Some columns are those of single searches.
  bool correct() {
    const array<Exec, std::int32_t> one("perf::levels", static_cast<std::size_t>(n));
    std::uint64_t wrong = 0;
    for (const std::size_t s : {0, 31, 63}) {
      bfs(exec, graph, this->source[s], one, {.work = &this->work});
      wrong += sum<std::uint64_t>(exec, n, differing{levels, one, s});
    }
    return wrong == 0;
  }
  /// Edges of all searches.
  void record(benchmark::UserCounters& counters) const {
    counters["edges_per_second"] =
        benchmark::Counter(static_cast<double>(base::sources) * static_cast<double>(graph.edges()),
                           benchmark::Counter::kIsIterationInvariantRate);
    counters["edges"] = static_cast<double>(graph.edges());
  }
};

template <class Exec, class W>
struct sssp_problem : search_problem<Exec, W> {
  using base = search_problem<Exec, W>;
  using base::exec, base::graph, base::n;

  array<Exec, W> distances{"perf::distances", static_cast<std::size_t>(n)};

  using base::base;
  static row name(const generated_graph& p) {
    return {"sssp", backend_name<Exec>(), "", type_name<W>(), p.distribution, p.n};
  }
  void call() { sssp(exec, graph, this->next_source(), distances, {.work = &this->work}); }
  /// No edge leads to a shorter path.
  struct open_edges {
    typename base::graph_type graph;
    array<Exec, W> distances;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t v) const {
      std::uint64_t open = 0;
      const double mine = static_cast<double>(distances(v));
      for (auto e = graph.begins()(v); e < graph.begins()(v + 1); ++e)
        open += mine + static_cast<double>(graph.weights()(e)) <
                static_cast<double>(distances(graph.columns()(e)));
      return open;
    }
  };
  bool correct() const { return sum<std::uint64_t>(exec, n, open_edges{graph, distances}) == 0; }
  void record(benchmark::UserCounters& counters) const { this->count_edges(counters); }
};

template <class Exec>
struct components_problem : search_problem<Exec> {
  using base = search_problem<Exec>;
  using base::exec, base::graph, base::n;

  array<Exec, std::uint32_t> labels{"perf::labels", static_cast<std::size_t>(n)};

  using base::base;
  static row name(const generated_graph& p) {
    return {"connected_components", backend_name<Exec>(), "", "i32.i32", p.distribution, p.n};
  }
  void call() { connected_components(exec, graph, labels, {.work = &this->work}); }
  struct cut_edges {
    typename base::graph_type graph;
    array<Exec, std::uint32_t> labels;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t v) const {
      std::uint64_t cut = labels(v) > static_cast<std::uint32_t>(v);
      for (auto e = graph.begins()(v); e < graph.begins()(v + 1); ++e)
        cut += labels(v) != labels(graph.columns()(e));
      return cut;
    }
  };
  bool correct() const { return sum<std::uint64_t>(exec, n, cut_edges{graph, labels}) == 0; }
  void record(benchmark::UserCounters& counters) const { this->count_edges(counters); }
};

template <class Exec>
struct pagerank_problem : search_problem<Exec> {
  using base = search_problem<Exec>;
  using base::exec, base::graph, base::n;

  array<Exec, float> ranks{"perf::ranks", static_cast<std::size_t>(n)};

  explicit pagerank_problem(const generated_graph& p) : base(p) {
    Kokkos::deep_copy(exec, ranks, 1.0F / static_cast<float>(n));
  }
  static row name(const generated_graph& p) {
    return {"pagerank_step", backend_name<Exec>(), "", "f32", p.distribution, p.n};
  }
  void call() { pagerank_step(exec, graph, ranks, {.work = &this->work}); }
  struct rank {
    array<Exec, float> ranks;
    KOKKOS_FUNCTION double operator()(std::int64_t v) const { return ranks(v); }
  };
  bool correct() const { return std::abs(sum<double>(exec, n, rank{ranks}) - 1) < 1e-3; }
  void record(benchmark::UserCounters& counters) const { this->count_edges(counters); }
};

/// Numbers of vertices, for what adds up or looks up along edges.
template <class Exec>
struct numbers_problem : search_problem<Exec> {
  using base = search_problem<Exec>;
  using base::graph, base::n;

  array<Exec, float> x{"perf::x", static_cast<std::size_t>(n)};

  explicit numbers_problem(const generated_graph& p) : base(p) {
    fill<Exec, float>(this->exec, x, random_item<float>{});
  }
  void record(benchmark::UserCounters& counters) const { this->count_edges(counters); }
};

template <class Exec>
struct spmv_problem : numbers_problem<Exec> {
  using base = numbers_problem<Exec>;
  using base::exec, base::graph, base::n, base::x;

  array<Exec, float> y{"perf::y", static_cast<std::size_t>(n)};

  using base::base;
  static row name(const generated_graph& p) {
    return {"spmv", backend_name<Exec>(), "", "f32", p.distribution, p.n};
  }
  void call() { spmv(exec, graph, x, y, {.work = &this->work}); }
  struct wrong_sums {
    typename base::graph_type graph;
    array<Exec, float> x, y;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t v) const {
      float sum = 0;
      for (auto e = graph.begins()(v); e < graph.begins()(v + 1); ++e) sum += x(graph.columns()(e));
      return sum != y(v);
    }
  };
  bool correct() const { return sum<std::uint64_t>(exec, n, wrong_sums{graph, x, y}) == 0; }
};

/// Every edge gets the number of the vertex that it leads to.
template <class Exec>
struct edges_problem : numbers_problem<Exec> {
  using base = numbers_problem<Exec>;
  using base::exec, base::graph, base::x;

  struct copy_number {
    const float* x;
    float* of_edges;
    KOKKOS_FUNCTION void operator()(std::uint32_t, std::uint32_t to, std::int64_t e) const {
      of_edges[e] = x[to];
    }
  };
  array<Exec, float> of_edges{"perf::of_edges", static_cast<std::size_t>(graph.edges())};

  using base::base;
  static row name(const generated_graph& p) {
    return {"for_each_edge", backend_name<Exec>(), "", "f32", p.distribution, p.n};
  }
  copy_number f() const { return {x.data(), of_edges.data()}; }
  void call() { for_each_edge(exec, graph, f(), {.work = &this->work}); }
  struct wrong_numbers {
    typename base::graph_type graph;
    array<Exec, float> x, of_edges;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t e) const {
      return of_edges(e) != x(graph.columns()(e));
    }
  };
  bool correct() const {
    return sum<std::uint64_t>(exec, graph.edges(), wrong_numbers{graph, x, of_edges}) == 0;
  }
};

/// The graph of a list of edges in memory.
template <class Exec, class Offset = std::uint32_t>
struct build_problem {
  using exec_space = Exec;
  using vertices = array<Exec, std::uint32_t>;

  Exec exec{};
  std::int64_t n;
  vertices from, to;
  std::int64_t edges = 0;
  workspace work;

  explicit build_problem(const generated_graph& p) : n(p.n) {
    p.with_edges([&](const auto& list) {
      from = vertices("perf::from", static_cast<std::size_t>(list.from.extent));
      to = vertices("perf::to", static_cast<std::size_t>(list.to.extent));
      transform(exec, list.from, from, identity{});
      transform(exec, list.to, to, identity{});
    });
    edges = built().edges();
  }
  static std::vector<generated_graph> points() {
    std::vector<generated_graph> all = measured_graphs<Exec>();
    std::erase_if(all, [](const auto& p) { return p.distribution == "rmat45"; });
    return all;
  }
  static row name(const generated_graph& p) {
    return {"build_csr", backend_name<Exec>(), "", graph_types<Offset>(), p.distribution, p.n};
  }
  auto built() {
    return build_csr<Offset>(
        exec, n, from, to,
        {.work = &work, .symmetrise = true, .drop_self_loops = true, .merge_duplicates = true});
  }
  std::int64_t bytes() const {
    return 8 * static_cast<std::int64_t>(from.extent(0)) + 4 * (edges + n);
  }
  std::int64_t built_edges = 0;
  void call() { built_edges = built().edges(); }
  bool correct() const { return built_edges == edges; }
  void record(benchmark::UserCounters& counters) const {
    counters["edges_per_second"] = benchmark::Counter(
        2 * static_cast<double>(from.extent(0)), benchmark::Counter::kIsIterationInvariantRate);
    counters["edges"] = static_cast<double>(edges);
  }
};

template <class Exec>
void add_graphs() {
  const auto call = [](auto& p, auto time) { time([&] { p.call(); }); };
  add<bfs_problem<Exec, bfs_result::levels>>("lanewise", call);
  add<bfs_problem<Exec, bfs_result::parents>>("lanewise", call);
  add<bfs_problem<Exec, bfs_result::top_down>>("lanewise", call);
  add<bfs_problem<Exec, bfs_result::levels, std::uint64_t>>("lanewise", call);
  add<batch_problem<Exec>>("lanewise", call);
  add<sssp_problem<Exec, std::uint32_t>>("lanewise", call);
  add<sssp_problem<Exec, float>>("lanewise", call);
  add<components_problem<Exec>>("lanewise", call);
  add<pagerank_problem<Exec>>("lanewise", call);
  add<spmv_problem<Exec>>("lanewise", call);
  add<edges_problem<Exec>>("lanewise", call);
  add<build_problem<Exec>>("lanewise", call);
  add<build_problem<Exec, std::uint64_t>>("lanewise", call);
}

void add_graphs_cuda();
void add_graphs_host();

}  // namespace lanewise::perf
