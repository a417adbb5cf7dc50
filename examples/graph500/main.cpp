// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The Graph500 benchmark on one device: construction of the graph, searches in breadth, shortest
// paths, and a look at every result.

#include "graph.hpp"
#include "statistics.hpp"
#include "validation.hpp"
#include <lanewise/graphs/bfs.hpp>
#include <lanewise/graphs/check_graph.hpp>
#include <lanewise/graphs/sssp.hpp>

#include <charconv>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace graph500 {
namespace {

constexpr const char* usage =
    "usage: graph500 [options]\n"
    "\n"
    "Runs the Graph500 benchmark on Kokkos' default execution space.\n"
    "\n"
    "  --scale N       2^N vertices, 1 to 30 (default 16)\n"
    "  --edgefactor N  so many undirected edges for each vertex, 1 to 1024 (default 16)\n"
    "  --searches N    so many search keys, 1 to 1000 (default 64)\n"
    "  --seed N        of the graph and the keys (default 1)\n"
    "  --no-sssp       without shortest paths\n"
    "  --help          this text\n"
    "\n"
    "Options that begin with --kokkos- go to Kokkos.\n"
    "Exit: 0 all results are valid, 1 some are not, 2 an option is bad, or something failed.\n";

struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct options {
  std::int64_t scale = 16, edgefactor = 16, searches = 64, seed = 1;
  bool sssp = true, help = false;
};

std::int64_t number_of(const std::string& name, std::string_view text, std::int64_t least,
                       std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw usage_error(name + " must be a number from " + std::to_string(least) + " to " +
                      std::to_string(most) + ", not '" + std::string(text) + "'");
  return value;
}

options options_of(int argc, char* argv[]) {
  options chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto number = [&](std::int64_t least, std::int64_t most) {
      return number_of(name, ++i < argc ? argv[i] : "", least, most);
    };
    if (name == "--scale")
      chosen.scale = number(1, 30);
    else if (name == "--edgefactor")
      chosen.edgefactor = number(1, 1024);
    else if (name == "--searches")
      chosen.searches = number(1, 1000);
    else if (name == "--seed")
      chosen.seed = number(0, std::int64_t{1} << 62);
    else if (name == "--no-sssp")
      chosen.sssp = false;
    else if (name == "--help")
      chosen.help = true;
    else
      throw usage_error("unknown option '" + name + "'");
  }
  return chosen;
}

/// How long a call and the work that it starts take.
template <class Exec, class F>
double seconds(const Exec& exec, const F& call) {
  exec.fence();
  const Kokkos::Timer timer;
  call();
  exec.fence();
  return timer.seconds();
}

/// Says which rules a result breaks. Returns whether it breaks none.
bool report(vertex key, const tree_faults& f) {
  if (f.total() == 0) return true;
  std::fprintf(stderr,
               "bfs from %u is wrong: root %lld, cycles %lld, tree steps %lld, edge steps %lld, "
               "left out %lld, invented %lld\n",
               key, static_cast<long long>(f.root), static_cast<long long>(f.cycles),
               static_cast<long long>(f.tree_steps), static_cast<long long>(f.edge_steps),
               static_cast<long long>(f.left_out), static_cast<long long>(f.invented));
  return false;
}
bool report(vertex key, const distance_faults& f) {
  if (f.total() == 0) return true;
  std::fprintf(stderr,
               "sssp from %u is wrong: root %lld, too far %lld, no way %lld, left out %lld\n", key,
               static_cast<long long>(f.root), static_cast<long long>(f.too_far),
               static_cast<long long>(f.no_way), static_cast<long long>(f.left_out));
  return false;
}

/// What searches of a kernel took, one for each key.
struct searches {
  std::vector<double> times, edges, rates;

  void add(double time, std::int64_t searched) {
    times.push_back(time);
    edges.push_back(static_cast<double>(searched));
    rates.push_back(edges.back() / time);
  }
  void print(const char* kernel) const {
    const statistics time(kernel, "time", times), rate(kernel, "TEPS", rates);
    time.print_quartiles();
    time.print_mean();
    statistics(kernel, "nedge", edges).print_quartiles();
    rate.print_quartiles();
    rate.print_harmonic_mean();
  }
};

template <bool with_sssp, class Exec>
bool run(const Exec& exec, const options& chosen) {
  using memory = typename Exec::memory_space;
  edges<memory> list;
  const auto seed = static_cast<std::uint64_t>(chosen.seed);
  const double generation = seconds(exec, [&] {
    list = generate(exec, static_cast<int>(chosen.scale), chosen.edgefactor, seed);
  });
  lanewise::workspace work;
  decltype(construct<with_sssp>(exec, list, work)) graph;
  const double construction =
      seconds(exec, [&] { graph = construct<with_sssp>(exec, list, work); });
  lanewise::expects_graph(exec, graph, {.work = &work, .equal_weights = with_sssp});
  const std::vector<vertex> keys = search_keys(graph, chosen.searches, seed);
  if (keys.empty()) throw std::runtime_error("no vertex has an edge");

  const Kokkos::View<vertex*, memory> parents("parents", list.vertices);
  const Kokkos::View<float*, memory> distances("distances", with_sssp ? list.vertices : 0);
  const auto bfs = [&](vertex key) {
    lanewise::bfs_parents(exec, graph, key, parents, {.work = &work});
  };
  const auto sssp = [&](vertex key) {
    if constexpr (with_sssp) lanewise::sssp(exec, graph, key, distances, {.work = &work});
  };
  // The first call allocates its workspace and loads its kernel.
  bfs(keys[0]);
  sssp(keys[0]);
  validator<Exec> validate(exec, list);
  searches in_breadth, shortest;
  bool valid = true;
  for (const vertex key : keys) {
    const double bfs_time = seconds(exec, [&] { bfs(key); });
    const std::int64_t searched = validate.edges_searched(key, parents);
    in_breadth.add(bfs_time, searched);
    valid &= report(key, validate.check(key, parents));
    if constexpr (with_sssp) {
      shortest.add(seconds(exec, [&] { sssp(key); }), searched);
      valid &= report(key, validate.check(key, distances, parents));
    }
  }

  std::printf("execution_space: %s\nSCALE: %lld\nedgefactor: %lld\nNBFS: %zu\n", Exec::name(),
              static_cast<long long>(chosen.scale), static_cast<long long>(chosen.edgefactor),
              keys.size());
  std::printf("vertices: %lld\ninput_edges: %lld\ngraph_edges: %lld\n",
              static_cast<long long>(list.vertices), static_cast<long long>(list.count()),
              static_cast<long long>(graph.edges()));
  std::printf("graph_generation: %.17g\nconstruction_time: %.17g\n", generation, construction);
  in_breadth.print("bfs");
  if (with_sssp) shortest.print("sssp");
  std::printf("validation: %s\n", valid ? "all results are valid" : "FAILED");
  return valid;
}

int main_of(int argc, char* argv[]) {
  const options chosen = options_of(argc, argv);
  if (chosen.help) {
    std::fputs(usage, stdout);
    return 0;
  }
  const Kokkos::DefaultExecutionSpace exec;
  return (chosen.sssp ? run<true>(exec, chosen) : run<false>(exec, chosen)) ? 0 : 1;
}

}  // namespace
}  // namespace graph500

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    return graph500::main_of(argc, argv);
  } catch (const graph500::usage_error& e) {
    std::fprintf(stderr, "graph500: %s\n%s", e.what(), graph500::usage);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "graph500: %s\n", e.what());
  }
  return 2;
}
