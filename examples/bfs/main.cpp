// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// bfs [kron <scale> | lattice <side>]: times searches on Kokkos' default execution space. Without
// arguments small graphs are searched on every backend. Ends with 1 if a depth is wrong.

#include "time.hpp"
#include <lanewise/emulated.hpp>
#include <lanewise/emulated_lanes.hpp>
#include <lanewise/host.hpp>

#include <cstdlib>

namespace {

/// Thin and thick levels on every graph.
template <class Exec>
std::int64_t check(const Exec& exec, const std::string& name, const graphs::csr& g,
                   const std::vector<std::uint32_t>& sources) {
  std::int64_t wrong = 0;
  bench<Exec> on(exec, name, g);
  for (const auto& sizes : {lanewise::bfs::level_sizes{0, 0, 1}, {4, 16, 2}, {1000, 2000, 1}})
    wrong += on.run(sources, sizes, 1);
  return wrong;
}

template <class Exec>
std::int64_t check_small(const Exec& exec) {
  // Loops, several components, a vertex without neighbours, a star, a path.
  const graphs::csr odd{{0, 3, 4, 5, 5, 6, 7}, {0, 1, 2, 0, 0, 5, 4}};
  const auto star = graphs::symmetric(
      2000, 1999, [](std::int64_t i) { return std::pair(0u, static_cast<std::uint32_t>(i + 1)); });
  const auto path = graphs::symmetric(50, 49, [](std::int64_t i) {
    return std::pair(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i + 1));
  });
  std::int64_t wrong = check(exec, "odd", odd, {0, 3, 4}) + check(exec, "star", star, {0, 7}) +
                       check(exec, "path", path, {0, 20});
  const auto lattice = graphs::lattice(24);
  wrong += check(exec, "lattice", lattice, {0, 300});
  const auto kron = graphs::kron(10);
  return wrong + check(exec, "kron", kron, some_sources(kron, 2));
}

}  // namespace

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  using space = Kokkos::DefaultExecutionSpace;
  std::int64_t wrong = 0;
  if (argc == 3 && std::string(argv[1]) == "kron") {
    const auto g = graphs::kron(std::atoi(argv[2]));
    wrong = bench<space>(space(), "kron", g).run(some_sources(g, 8));
  } else if (argc == 3 && std::string(argv[1]) == "lattice") {
    const auto side = static_cast<std::uint32_t>(std::atoi(argv[2]));
    const auto g = graphs::lattice(side);
    wrong = bench<space>(space(), "lattice", g).run({0, side / 2 * (side + 1)});
  } else {
    wrong += check_small(space());
    wrong += check_small(Kokkos::DefaultHostExecutionSpace());
    wrong += check_small(lanewise::emulated(1, 2));
    wrong += check_small(lanewise::emulated(2, 3, lanewise::interleaving::seeded));
    wrong += check_small(lanewise::emulated_host(3, 2));
    wrong += check_small(lanewise::emulated_lanes(4, 2));
  }
  return wrong != 0;
}
