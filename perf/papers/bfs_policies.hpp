// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Breadth-first searches by frontiers: each strategy, gathering and cull once against a default of
// the others (Merrill, 6.5), and the parts of a level by themselves (6.4): reading rows, looking
// vertices up, and both at once.

#include "support.hpp"
#include <lanewise/graphs/build_csr.hpp>
#include <lanewise/graphs/graph_generators.hpp>
#include <lanewise/papers/bfs_statistics.hpp>

#include <cmath>
#include <string>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

enum class bfs_part { gather, look_up, fused };

/// A part of one level, without queues: the rows of a list of vertices are read, or the vertices
/// that a list of edges leads to are looked up and get levels.
template <bfs_part part, class Policy>
struct bfs_part_kernel {
  using policy = Policy;
  using vertex = std::uint32_t;
  template <class Team>
  using gathering = papers::detail::row_gathering<Policy::gathering, Team, no_value>;
  template <class Team>
  struct scratch {
    typename gathering<Team>::scratch rows;
    allocation_scratch<Team, std::int64_t> allocation;
  };

  detail::graph_rows<vertex, vertex> out;
  papers::detail::reached_vertices<vertex> reached;
  std::int32_t level;
  const vertex* list;  // of vertices, or of edges by where they lead
  std::int64_t count;
  std::uint64_t* found;

  template <class Team>
  struct look_at_edges {
    const bfs_part_kernel& kernel;
    std::uint64_t& found;

    template <class Mask, class Values, class Places>
    LANEWISE_FUNCTION void operator()(const typename Team::warp_type& warp, const Mask& mask,
                                      const Values&, const Places& edge, const Places&) const {
      const auto to = warp.gather(mask, kernel.out.columns, edge, vertex{0});
      if constexpr (part == bfs_part::gather)
        found += static_cast<std::uint64_t>(warp.count(mask & (to < kernel.out.vertices)));
      else
        found += kernel.reach<Team>(warp, mask, to);
    }
  };
  template <class Team, class Mask, class Vertices>
  LANEWISE_FUNCTION std::uint64_t reach(const typename Team::warp_type& warp, const Mask& mask,
                                        const Vertices& to) const {
    using mask_type = typename Team::warp_type::template mask_for<std::uint32_t>;
    papers::detail::frontier_counts<false> none;
    const mask_type open =
        papers::detail::look_up<Policy::bitmap>(warp, reached, mask_type(mask), to, none);
    if (!warp.any(open)) return 0;
    papers::detail::record_reached(warp, reached, open, to,
                                   typename Team::warp_type::template lanes<no_value>(), level);
    return static_cast<std::uint64_t>(warp.count(open));
  }

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using tiling = papers::detail::frontier_tiles<Team, false>;
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    tiling tiles;
    typename tiling::scratch no_tickets;
    papers::detail::frontier_counters no_counters{};
    std::uint64_t mine = 0;
    tiles.for_each(
        team, no_tickets, no_counters, count, [&](std::int64_t first) LANEWISE_INLINE_LAMBDA {
          const auto here = tiling::of_warp(team, first, count);
          const auto there = warp.first(here.count);
          const auto v = warp.load(there, list + here.at, vertex{0});
          if constexpr (part == bfs_part::look_up) {
            mine += reach<Team>(warp, there, v);
          } else {
            const auto row = out.of(warp, there, v);
            const auto length = warp.template cast<std::int64_t>(row.length);
            papers::detail::edge_places<warp_type> at{{}, 0, 0};
            if constexpr (gathering<Team>::needs_places) {
              const auto got = allocate(team, shared.allocation, length);
              at = {got.offset, got.total, 0};
            }
            gathering<Team>::gather(team, shared.rows, warp.template cast<std::int64_t>(row.begin),
                                    length, at, {}, look_at_edges<Team>{*this, mine});
          }
        });
    warp.fetch_add(*found, mine);
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE

namespace lanewise::perf {

struct graph_point {
  std::string distribution;
  std::int64_t n;
};

/// A graph, a vertex of it with edges, and the levels from there.
template <class Exec>
struct graph_problem {
  using vertex = std::uint32_t;
  using graph_type = csr_graph<typename Exec::memory_space, vertex, vertex>;

  Exec exec{};
  std::int64_t n;
  graph_type graph;
  array<Exec, std::int32_t> levels;
  vertex source = 0;
  std::uint64_t edges = 0, expected = 0;
  papers::bfs_level_counts level_counts[64] = {};
  workspace work;

  static std::vector<graph_point> points() {
    const int scale = on_host<Exec> ? 16 : 20;
    const auto side = static_cast<std::int64_t>(std::cbrt(std::ldexp(1.0, scale)));
    const std::int64_t all = std::int64_t{1} << scale;
    return {{"kron", all}, {"urand", all}, {"grid5", all}, {"grid7", side * side * side}};
  }
  explicit graph_problem(const graph_point& p) : n(p.n), graph(make(p)), levels("levels", n) {
    const auto begins = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.begins());
    for (source = static_cast<vertex>(n / 3); begins(source + 1) == begins(source);) ++source;
    const array<Exec, papers::bfs_level_counts> counts("perf::counts", 64);
    papers::bfs_statistics(exec, graph, source, levels, counts, {.work = &work});
    exec.fence();
    Kokkos::deep_copy(
        Kokkos::View<papers::bfs_level_counts*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
            level_counts, 64),
        counts);
    for (const auto& row : level_counts) edges += row.edges;
    expected = checksum();
  }
  std::uint64_t checksum() const { return sum<std::uint64_t>(exec, n, hashed{levels}); }

  struct hashed {
    array<Exec, std::int32_t> levels;
    KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
      return hash(static_cast<std::uint64_t>(i)) * static_cast<std::uint64_t>(levels(i) + 2);
    }
  };

 private:
  graph_type make(const graph_point& p) const {
    const csr_options with{.symmetrise = true, .drop_self_loops = true, .merge_duplicates = true};
    if (p.distribution == "kron")
      return build_csr(exec, rmat_edges(static_cast<int>(std::log2(p.n)), 16 * p.n), with);
    if (p.distribution == "urand") return build_csr(exec, uniform_edges(p.n, 16 * p.n), with);
    const bool flat = p.distribution == "grid5";
    const double n_side = flat ? std::sqrt(p.n) : std::cbrt(p.n);
    const auto side = static_cast<std::int64_t>(std::llround(n_side));
    return build_csr(exec, lattice_edges(side, side, flat ? 1 : side), with);
  }
};

template <class Policy>
std::string policy_name() {
  const char* const strategies[] = {"expand_contract", "contract_expand", "two_phase", "hybrid"};
  const char* const gatherings[] = {"by_lanes", "by_warps", "by_scan", "by_team"};
  const char* const bitmaps[] = {"levels", "bitmap", "exact"};
  const char* const culls[] = {"", "_hash", "_match"};
  return std::string(strategies[static_cast<int>(Policy::strategy)]) + "." +
         gatherings[static_cast<int>(Policy::gathering)] + "." +
         bitmaps[static_cast<int>(Policy::bitmap)] + culls[static_cast<int>(Policy::warp_cull)] +
         (Policy::history_cull ? "_history" : "");
}

/// A search with a policy.
template <class Exec, class Policy>
struct policy_problem : graph_problem<Exec> {
  using base = graph_problem<Exec>;
  using base::edges, base::n, base::exec;
  /// Vertices come several times without culls.
  static constexpr double room = 4;

  explicit policy_problem(const graph_point& p) : base(p) {}
  static row name(const graph_point& p) {
    return {"bfs_policies." + policy_name<Policy>(),
            backend_name<Exec>(),
            "",
            "u32",
            p.distribution,
            p.n};
  }
  /// Edges once, and row begins and levels.
  std::int64_t bytes() const { return 4 * (static_cast<std::int64_t>(edges) + 2 * n); }
  bool correct() const { return this->checksum() == this->expected; }
  void call() {
    papers::bfs_by_frontiers<Policy>(exec, this->graph, this->source, this->levels,
                                     {.work = &this->work, .queue_factor = room});
  }
  void record(benchmark::UserCounters& counters) {
    const array<Exec, papers::bfs_level_counts> rows("perf::counts", 1);
    papers::bfs_statistics<Policy>(exec, this->graph, this->source, this->levels, rows,
                                   {.work = &this->work, .queue_factor = room});
    exec.fence();
    const auto row = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rows);
    const papers::bfs_totals all(row.data(), 1);
    using benchmark::Counter;
    counters["edges_per_second"] =
        Counter(static_cast<double>(edges), Counter::kIsIterationInvariantRate);
    counters["redundancy"] = all.redundancy();
    counters["bytes_per_edge"] = all.bytes_per_edge(4);
  }
};

/// A part of the level with the most edges, of the first 62, from what is reached before it.
template <class Exec, kernels::bfs_part part, class Policy>
struct part_problem : graph_problem<Exec> {
  using base = graph_problem<Exec>;
  using vertex = typename base::vertex;
  using base::exec, base::graph, base::levels, base::n;

  std::int32_t level = 0;
  std::uint64_t level_edges = 0;
  array<Exec, vertex> list;
  array<Exec, std::int32_t> levels_before, levels_now;
  array<Exec, std::uint8_t> bits_before, bits_now;
  Kokkos::View<std::uint64_t, typename Exec::memory_space> found{"perf::found"};

  explicit part_problem(const graph_point& p) : base(p) {
    // The last row has all further levels.
    for (int l = 0; l < 62; ++l)
      if (this->level_counts[l].edges > this->level_counts[level].edges) level = l;
    level_edges = this->level_counts[level].edges;
    const auto to_host = [](const auto& view) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    };
    const auto begins = to_host(graph.begins());
    const auto columns = to_host(graph.columns());
    auto before = to_host(levels);
    std::vector<vertex> items;
    std::vector<std::uint8_t> bits(static_cast<std::size_t>(divide_up(n, 32)) * 4);
    for (std::int64_t v = 0; v < n; ++v) {
      if (before(v) == level && part != kernels::bfs_part::look_up)
        items.push_back(static_cast<vertex>(v));
      for (auto e = begins(v);
           before(v) == level && part == kernels::bfs_part::look_up && e < begins(v + 1); ++e)
        items.push_back(columns(e));
    }
    for (std::int64_t v = 0; v < n; ++v) {
      if (before(v) > level) before(v) = -1;
      if (before(v) >= 0)
        bits[static_cast<std::size_t>(v / 8)] |= static_cast<std::uint8_t>(1u << (v % 8));
    }
    const auto put = [](auto& to, const auto* from, std::size_t count) {
      using item = typename std::decay_t<decltype(to)>::value_type;
      to = array<Exec, item>("perf::items", count);
      Kokkos::deep_copy(
          to, Kokkos::View<const item*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(from, count));
    };
    put(list, items.data(), items.size());
    put(levels_before, before.data(), static_cast<std::size_t>(n));
    put(bits_before, bits.data(), bits.size());
    put(levels_now, before.data(), static_cast<std::size_t>(n));
    put(bits_now, bits.data(), bits.size());
  }
  static row name(const graph_point& p) {
    const char* const parts[] = {"gather", "look_up", "fused"};
    const char* const gatherings[] = {"by_lanes", "by_warps", "by_scan", "by_team"};
    const char* const bitmaps[] = {"levels", "bitmap", "exact"};
    const std::string how = part == kernels::bfs_part::gather
                                ? gatherings[static_cast<int>(Policy::gathering)]
                                : bitmaps[static_cast<int>(Policy::bitmap)];
    return {std::string("bfs_policies.") + parts[static_cast<int>(part)] + "." + how,
            backend_name<Exec>(),
            "",
            "u32",
            p.distribution,
            p.n};
  }
  std::int64_t bytes() const { return 4 * static_cast<std::int64_t>(level_edges); }
  void prepare() const {
    Kokkos::deep_copy(exec, levels_now, levels_before);
    Kokkos::deep_copy(exec, bits_now, bits_before);
    Kokkos::deep_copy(exec, found, std::uint64_t{0});
  }
  void call() const {
    using kernel = kernels::bfs_part_kernel<part, Policy>;
    launch(exec, "Lanewise::perf::bfs_part",
           backend_of<Exec>::template resident_teams<kernel>(exec),
           kernel{detail::rows_of(graph),
                  {levels_now.data(), nullptr, bits_now.data()},
                  level + 1,
                  list.data(),
                  static_cast<std::int64_t>(list.extent(0)),
                  found.data()});
  }
  /// All edges are read, or else at least the vertices of the next level are found.
  bool correct() const {
    std::uint64_t seen = 0;
    Kokkos::deep_copy(seen, found);
    return part == kernels::bfs_part::gather ? seen == level_edges
                                             : seen >= this->level_counts[level + 1].vertices;
  }
  void record(benchmark::UserCounters& counters) const {
    using benchmark::Counter;
    counters["edges_per_second"] =
        Counter(static_cast<double>(level_edges), Counter::kIsIterationInvariantRate);
  }
};

template <papers::bfs_strategy s, papers::bfs_gathering g = papers::bfs_gathering::by_team,
          papers::bfs_bitmap b = papers::bfs_bitmap::best_effort,
          papers::bfs_warp_cull w = papers::bfs_warp_cull::by_hash, bool h = true>
struct measured_policy : papers::bfs_policy {
  static constexpr papers::bfs_strategy strategy = s;
  static constexpr papers::bfs_gathering gathering = g;
  static constexpr papers::bfs_bitmap bitmap = b;
  static constexpr papers::bfs_warp_cull warp_cull = w;
  static constexpr bool history_cull = h;
};

template <class Exec, class... Policies>
void add_policies() {
  const auto one = [](auto policy) {
    add<policy_problem<Exec, decltype(policy)>>(
        "lanewise", [](auto& p, auto time) { time([&] { p.call(); }); });
  };
  (one(Policies{}), ...);
}
template <class Exec, kernels::bfs_part part, class... Policies>
void add_parts() {
  const auto one = [](auto policy) {
    add<part_problem<Exec, part, decltype(policy)>>(
        "lanewise", [](auto& p, auto time) { time([&] { p.prepare(); }, [&] { p.call(); }); });
  };
  (one(Policies{}), ...);
}

template <class Exec>
void add_bfs_policies() {
  using s = papers::bfs_strategy;
  using g = papers::bfs_gathering;
  using b = papers::bfs_bitmap;
  using w = papers::bfs_warp_cull;
  add_policies<Exec, measured_policy<s::expand_contract>, measured_policy<s::contract_expand>,
               measured_policy<s::two_phase>, measured_policy<s::hybrid>,
               measured_policy<s::two_phase, g::by_lanes>,
               measured_policy<s::two_phase, g::by_warps>,
               measured_policy<s::two_phase, g::by_scan>,
               measured_policy<s::hybrid, g::by_team, b::none, w::none, false>,
               measured_policy<s::hybrid, g::by_team, b::best_effort, w::none, false>,
               measured_policy<s::hybrid, g::by_team, b::best_effort, w::by_match>,
               measured_policy<s::hybrid, g::by_team, b::exact, w::none, false>>();
  using kernels::bfs_part;
  add_parts<Exec, bfs_part::gather, measured_policy<s::two_phase, g::by_lanes>,
            measured_policy<s::two_phase, g::by_warps>, measured_policy<s::two_phase, g::by_scan>,
            measured_policy<s::two_phase>>();
  using levels = measured_policy<s::two_phase, g::by_team, b::none>;
  using exact = measured_policy<s::two_phase, g::by_team, b::exact>;
  add_parts<Exec, bfs_part::look_up, levels, measured_policy<s::two_phase>, exact>();
  add_parts<Exec, bfs_part::fused, levels, measured_policy<s::two_phase>, exact>();
}

void add_bfs_policies_cuda();
void add_bfs_policies_host();

}  // namespace lanewise::perf
