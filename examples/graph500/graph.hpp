// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/build_csr.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <set>
#include <vector>

/// The graph of the benchmark: its list of edges, the weights that they have, and the keys that
/// searches begin from.
namespace graph500 {

using vertex = std::uint32_t;

/// A weight from [0, 1), the same for both directions and for edges that are repeated.
LANEWISE_FUNCTION float weight_of_pair(vertex a, vertex b) {
  const std::uint64_t low = a < b ? a : b, high = a < b ? b : a;
  return static_cast<float>(lanewise::detail::random_bits(0x500, low << 32 | high) >> 40) *
         0x1p-24f;
}

/// The benchmark's input: undirected edges, self loops and repeated ones included.
template <class Memory>
struct edges {
  std::int64_t vertices;
  Kokkos::View<vertex*, Memory> from, to;

  std::int64_t count() const { return static_cast<std::int64_t>(from.extent(0)); }
};

template <class Exec>
edges<typename Exec::memory_space> generate(const Exec& exec, int scale, std::int64_t edgefactor,
                                            std::uint64_t seed) {
  const auto made = lanewise::rmat_edges<vertex>(scale, edgefactor << scale, {.seed = seed});
  const auto room = [&](const char* name) {
    return Kokkos::View<vertex*, typename Exec::memory_space>(
        Kokkos::view_alloc(std::string(name), Kokkos::WithoutInitializing), made.from.extent);
  };
  const edges<typename Exec::memory_space> list{made.vertices, room("from"), room("to")};
  lanewise::transform(exec, made.from, list.from, lanewise::identity{});
  lanewise::transform(exec, made.to, list.to, lanewise::identity{});
  return list;
}

struct weight_of_edge {
  const vertex* from;
  const vertex* to;
  LANEWISE_FUNCTION float operator()(std::int64_t i) const {
    return weight_of_pair(from[i], to[i]);
  }
};

/// Kernel 1. Equal edges have equal weights; the least is kept.
template <bool has_weights, class Exec>
auto construct(const Exec& exec, const edges<typename Exec::memory_space>& list,
               lanewise::workspace& work) {
  const lanewise::csr_options simple{
      .work = &work, .symmetrise = true, .drop_self_loops = true, .merge_duplicates = true};
  if constexpr (has_weights)
    return lanewise::build_csr(
               exec, list.vertices, list.from, list.to,
               lanewise::generated(list.count(), weight_of_edge{list.from.data(), list.to.data()}),
               lanewise::minimum{}, simple)
        .symmetric();
  else
    return lanewise::build_csr(exec, list.vertices, list.from, list.to, simple).symmetric();
}

/// Different vertices that have an edge to another, up to `count` of them.
template <class Graph>
std::vector<vertex> search_keys(const Graph& graph, std::int64_t count, std::uint64_t seed) {
  const auto begins = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), graph.begins());
  const auto n = static_cast<std::uint64_t>(graph.vertices());
  std::vector<vertex> keys;
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 64 * n && std::ssize(keys) < count; ++i) {
    const std::uint64_t v = lanewise::detail::random_bits(seed + 1, i) % n;
    if (begins(v + 1) > begins(v) && seen.insert(v).second) keys.push_back(static_cast<vertex>(v));
  }
  return keys;
}

}  // namespace graph500
