// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace graphs {

using host = Kokkos::DefaultHostExecutionSpace;

/// Compressed rows: the neighbours of vertex v are columns[rows[v]], ..., columns[rows[v + 1] - 1].
struct csr {
  std::vector<std::int64_t> rows;
  std::vector<std::uint32_t> columns;

  std::uint32_t vertices() const { return static_cast<std::uint32_t>(rows.size() - 1); }
  std::int64_t degree(std::uint32_t v) const { return rows[v + 1] - rows[v]; }
};

inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Edge i of a recursive matrix with A = .57, B = C = .19 (Graph500), vertices shuffled.
struct kron_edge {
  int scale;
  std::uint64_t seed;

  std::pair<std::uint32_t, std::uint32_t> operator()(std::int64_t i) const {
    std::uint32_t u = 0, v = 0;
    std::uint64_t bits = 0;
    for (int level = 0; level < scale; ++level) {
      if (level % 4 == 0) bits = mix(seed ^ mix(static_cast<std::uint64_t>(i) * 16 + level / 4));
      const auto x = static_cast<std::uint32_t>(bits & 0xffff);
      bits >>= 16;
      u = 2 * u + (x >= 49807);                            // .76 of 2^16
      v = 2 * v + (x >= 49807 ? x >= 62259 : x >= 37356);  // .95 and .57
    }
    return {shuffled(u), shuffled(v)};
  }
  /// A permutation of the numbers below 2^scale: each step is one.
  std::uint32_t shuffled(std::uint32_t x) const {
    const std::uint32_t mask = (std::uint32_t{1} << scale) - 1;
    for (std::uint32_t odd : {0x9e3779b1u, 0x85ebca6bu, 0xc2b2ae35u}) {
      x = (x * odd + static_cast<std::uint32_t>(seed)) & mask;
      x ^= x >> (scale / 2 + 1);
    }
    return x;
  }
};

template <class F>
void in_parallel(const char* label, std::int64_t n, F f) {
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<std::int64_t>>(
          0, n, Kokkos::ChunkSize(1024)),
      f);
}

/// Every edge in both directions, without loops and duplicates, rows sorted.
template <class Edge>
csr symmetric(std::uint32_t vertices, std::int64_t edges, Edge edge) {
  std::vector<std::int64_t> begin(vertices + 1, 0), end(vertices, 0);
  auto* const b = begin.data();
  auto* const e = end.data();
  in_parallel("count", edges, [=](std::int64_t i) {
    const auto [u, v] = edge(i);
    if (u == v) return;
    Kokkos::atomic_inc(b + u + 1);
    Kokkos::atomic_inc(b + v + 1);
  });
  for (std::uint32_t v = 0; v < vertices; ++v) begin[v + 1] += begin[v];
  std::vector<std::uint32_t> all(static_cast<std::size_t>(begin.back()));
  auto* const a = all.data();
  in_parallel("place", edges, [=](std::int64_t i) {
    const auto [u, v] = edge(i);
    if (u == v) return;
    a[b[u] + Kokkos::atomic_fetch_add(e + u, 1)] = v;
    a[b[v] + Kokkos::atomic_fetch_add(e + v, 1)] = u;
  });
  in_parallel("sort", vertices, [=](std::int64_t v) {
    std::sort(a + b[v], a + b[v + 1]);
    e[v] = std::unique(a + b[v], a + b[v + 1]) - (a + b[v]);
  });
  csr g;
  g.rows.resize(vertices + 1);
  for (std::uint32_t v = 0; v < vertices; ++v) g.rows[v + 1] = g.rows[v] + end[v];
  g.columns.resize(static_cast<std::size_t>(g.rows.back()));
  auto* const r = g.rows.data();
  auto* const c = g.columns.data();
  in_parallel("move", vertices, [=](std::int64_t v) { std::copy_n(a + b[v], e[v], c + r[v]); });
  return g;
}

inline csr kron(int scale, int edge_factor = 16, std::uint64_t seed = 1) {
  return symmetric(std::uint32_t{1} << scale, std::int64_t{edge_factor} << scale,
                   kron_edge{scale, seed});
}

/// A square lattice: every vertex has up to four neighbours.
inline csr lattice(std::uint32_t side) {
  csr g;
  const std::int64_t n = std::int64_t{side} * side;
  g.rows.resize(static_cast<std::size_t>(n) + 1);
  g.columns.reserve(static_cast<std::size_t>(4 * n));
  for (std::int64_t v = 0; v < n; ++v) {
    const std::int64_t x = v % side, y = v / side;
    if (y > 0) g.columns.push_back(static_cast<std::uint32_t>(v - side));
    if (x > 0) g.columns.push_back(static_cast<std::uint32_t>(v - 1));
    if (x + 1 < side) g.columns.push_back(static_cast<std::uint32_t>(v + 1));
    if (y + 1 < side) g.columns.push_back(static_cast<std::uint32_t>(v + side));
    g.rows[static_cast<std::size_t>(v) + 1] = static_cast<std::int64_t>(g.columns.size());
  }
  return g;
}

/// Depths by a queue, for comparison.
inline std::vector<std::uint32_t> sequential_depths(const csr& g, std::uint32_t source) {
  std::vector<std::uint32_t> depth(g.vertices(), ~0u), queue{source};
  queue.reserve(g.vertices());
  depth[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::uint32_t u = queue[i];
    for (std::int64_t k = g.rows[u]; k < g.rows[u + 1]; ++k) {
      const std::uint32_t v = g.columns[static_cast<std::size_t>(k)];
      if (depth[v] == ~0u) {
        depth[v] = depth[u] + 1;
        queue.push_back(v);
      }
    }
  }
  return depth;
}

}  // namespace graphs
