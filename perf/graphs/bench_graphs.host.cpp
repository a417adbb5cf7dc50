// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "graphs.hpp"
#include <lanewise/host.hpp>

namespace lanewise::perf {
namespace {

#if defined(KOKKOS_ENABLE_SERIAL)
/// f(vertex, edge) for all edges, row by row, and of(vertex) after each row: as most would write
/// it. One thread.
template <class Problem, class F, class Of>
void for_each_row(const Problem& p, const F& f, const Of& of) {
  const std::uint32_t* const begins = p.graph.begins().data();
  for (std::int64_t v = 0; v < p.n; ++v) {
    for (std::uint32_t e = begins[v]; e < begins[v + 1]; ++e) f(v, e);
    of(v);
  }
}

void multiply(const spmv_problem<Kokkos::Serial>& p) {
  const std::uint32_t* const columns = p.graph.columns().data();
  const float* const x = p.x.data();
  float* const y = p.y.data();
  float sum = 0;
  for_each_row(
      p, [&](std::int64_t, std::uint32_t e) { sum += x[columns[e]]; },
      [&](std::int64_t v) {
        y[v] = sum;
        sum = 0;
      });
}

/// Pulls ranks along edges, after a loop that shares them out.
void step(const pagerank_problem<Kokkos::Serial>& p, std::vector<float>& shares) {
  const std::uint32_t* const columns = p.graph.columns().data();
  const std::uint32_t* const begins = p.graph.begins().data();
  float* const ranks = p.ranks.data();
  float without_edges = 0, sum = 0;
  for (std::int64_t v = 0; v < p.n; ++v) {
    const std::uint32_t degree = begins[v + 1] - begins[v];
    shares[static_cast<std::size_t>(v)] = degree == 0 ? 0 : ranks[v] / static_cast<float>(degree);
    if (degree == 0) without_edges += ranks[v];
  }
  const float* const share = shares.data();
  const float of_all = (1 - 0.85F + 0.85F * without_edges) / static_cast<float>(p.n);
  for_each_row(
      p, [&](std::int64_t, std::uint32_t e) { sum += share[columns[e]]; },
      [&](std::int64_t v) {
        ranks[v] = of_all + 0.85F * sum;
        sum = 0;
      });
}

void add_plain_loops() {
  using exec_type = Kokkos::Serial;
  add<pagerank_problem<exec_type>>("plain", [](auto& p, auto time) {
    std::vector<float> shares(static_cast<std::size_t>(p.n));
    time([&] { step(p, shares); });
  });
  add<spmv_problem<exec_type>>("plain", [](auto& p, auto time) { time([&] { multiply(p); }); });
  add<edges_problem<exec_type>>("plain", [](auto& p, auto time) {
    const auto f = p.f();
    const std::uint32_t* const columns = p.graph.columns().data();
    time([&] {
      for_each_row(
          p,
          [&](std::int64_t v, std::uint32_t e) {
            f(static_cast<std::uint32_t>(v), columns[e], std::int64_t{e});
          },
          [](std::int64_t) {});
    });
  });
}
#endif

}  // namespace

void add_graphs_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_graphs<Kokkos::Serial>();
  add_plain_loops();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_graphs<Kokkos::OpenMP>();
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  add_graphs<Kokkos::Threads>();
#endif
}

}  // namespace lanewise::perf
