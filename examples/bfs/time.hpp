// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bfs.hpp"
#include "graphs.hpp"

#include <cstdio>
#include <string>

/// A graph in the memory of an execution space, and searches in it that are compared with the
/// sequential one.
template <class Exec>
class bench {
  using memory = typename Exec::memory_space;
  template <class T>
  using array = Kokkos::View<T*, memory>;
  template <class T>
  static array<T> copied(const std::vector<T>& from) {
    array<T> to(Kokkos::view_alloc("graph", Kokkos::WithoutInitializing), from.size());
    Kokkos::deep_copy(to, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                              from.data(), from.size()));
    return to;
  }

 public:
  bench(const Exec& exec, const std::string& name, const graphs::csr& g)
      : exec_(exec),
        name_(name),
        g_(g),
        rows_(copied(g.rows)),
        columns_(copied(g.columns)),
        depth_("depth", g.vertices()),
        queues_("queues", 2 * (g.vertices() + g.columns.size() / lanewise::bfs::piece + 1)),
        words_("words", g.vertices() / 32 + 5 + 1024) {}

  /// Searches from every source, and says the median over sources of the best time. Returns how
  /// many depths are wrong.
  std::int64_t run(const std::vector<std::uint32_t>& sources,
                   const lanewise::bfs::level_sizes& sizes = {}, int times = 3) {
    std::vector<double> best;
    std::int64_t wrong = 0;
    std::uint32_t levels = 0;
    while (expected_.size() < sources.size())
      expected_.push_back(graphs::sequential_depths(g_, sources[expected_.size()]));
    for (std::size_t s = 0; s < sources.size(); ++s) {
      double least = 1e9;
      for (int i = 0; i < times; ++i) {
        exec_.fence();
        const Kokkos::Timer timer;
        lanewise::bfs::search(exec_, rows_, columns_, sources[s], depth_, queues_, words_, sizes);
        exec_.fence();
        least = std::min(least, timer.seconds() * 1e3);
      }
      best.push_back(least);
      const auto depth = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), depth_);
      for (std::uint32_t v = 0; v < g_.vertices(); ++v) {
        wrong += depth(v) != expected_[s][v];
        if (expected_[s][v] != ~0u) levels = std::max(levels, expected_[s][v] + 1);
      }
    }
    std::sort(best.begin(), best.end());
    std::printf(
        "%s %s n %u m %zu levels %u one %u few %u in %u: median %.3f "
        "ms, best %.3f, worst %.3f, %lld wrong\n",
        name_.c_str(), Exec::name(), g_.vertices(), g_.columns.size(), levels, sizes.one, sizes.few,
        sizes.few_teams, best[best.size() / 2], best.front(), best.back(),
        static_cast<long long>(wrong));
    std::fflush(stdout);
    return wrong;
  }

 private:
  Exec exec_;
  std::string name_;
  const graphs::csr& g_;
  array<std::int64_t> rows_;
  array<std::uint32_t> columns_;
  array<std::uint32_t> depth_;
  array<std::int64_t> queues_;
  array<std::uint32_t> words_;
  std::vector<std::vector<std::uint32_t>> expected_;
};

/// `count` vertices that have neighbours.
inline std::vector<std::uint32_t> some_sources(const graphs::csr& g, std::size_t count) {
  std::vector<std::uint32_t> sources;
  for (std::uint64_t i = 1; sources.size() < count && i < 1000; ++i) {
    const auto v = static_cast<std::uint32_t>(graphs::mix(i) % g.vertices());
    if (g.degree(v) > 0) sources.push_back(v);
  }
  return sources;
}
