// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Graphs on which ways of searching differ, as sources of edges that need no memory, each edge
// once.

#include <lanewise/graphs/graph_generators.hpp>

#include <cmath>
#include <cstdint>

namespace lanewise::perf {

/// Edges from(i), to(i) of a function that returns the ends of edge i.
template <class Ends, bool is_from>
struct end_of_edge {
  Ends ends;
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    std::uint32_t from = 0, to = 0;
    ends(static_cast<std::uint64_t>(i), from, to);
    return is_from ? from : to;
  }
};
template <class Ends>
auto edges_by(std::int64_t vertices, std::int64_t edges, const Ends& ends) {
  const auto from = lanewise::generated(edges, end_of_edge<Ends, true>{ends});
  const auto to = lanewise::generated(edges, end_of_edge<Ends, false>{ends});
  return edge_sources<decltype(generated(edges, end_of_edge<Ends, true>{ends})),
                      decltype(generated(edges, end_of_edge<Ends, false>{ends}))>{vertices, from,
                                                                                  to};
}

/// Vertices that differ by one bit.
struct hypercube_ends {
  std::uint64_t vertices;
  LANEWISE_FUNCTION void operator()(std::uint64_t i, std::uint32_t& from, std::uint32_t& to) const {
    from = static_cast<std::uint32_t>(i % vertices);
    to = from ^ (std::uint32_t{1} << (i / vertices));
    if (to < from) to = from;  // each edge once
  }
};
inline auto hypercube_edges(int axes) {
  const std::int64_t n = std::int64_t{1} << axes;
  return perf::edges_by(n, n * axes, hypercube_ends{static_cast<std::uint64_t>(n)});
}

/// A ring whose vertices know the next few, but for a share of edges that lead anywhere (Watts,
/// Strogatz).
struct small_world_ends {
  std::uint64_t vertices;
  std::uint64_t anywhere;  // of 2^32
  LANEWISE_FUNCTION void operator()(std::uint64_t i, std::uint32_t& from, std::uint32_t& to) const {
    from = static_cast<std::uint32_t>(i % vertices);
    const std::uint64_t bits = detail::random_bits(1, 2 * i);
    to = static_cast<std::uint32_t>((bits & 0xffffffffu) < anywhere
                                        ? detail::below(vertices, detail::random_bits(1, 2 * i + 1))
                                        : (from + 1 + i / vertices) % vertices);
  }
};
inline auto small_world_edges(std::int64_t n, int each, double anywhere) {
  return perf::edges_by(n, n * each,
                        small_world_ends{static_cast<std::uint64_t>(n),
                                         static_cast<std::uint64_t>(std::ldexp(anywhere, 32))});
}

/// Vertex i + 1 hangs under one with a smaller number.
struct random_tree_ends {
  LANEWISE_FUNCTION void operator()(std::uint64_t i, std::uint32_t& from, std::uint32_t& to) const {
    from = static_cast<std::uint32_t>(i + 1);
    to = static_cast<std::uint32_t>(detail::below(i + 1, detail::random_bits(1, i)));
  }
};
inline auto random_tree_edges(std::int64_t n) {
  return perf::edges_by(n, n - 1, random_tree_ends{});
}

/// Vertices 0, s, 2 s, ... are a path, and the others hang at the one before them.
struct caterpillar_ends {
  std::uint64_t each;
  LANEWISE_FUNCTION void operator()(std::uint64_t i, std::uint32_t& from, std::uint32_t& to) const {
    from = static_cast<std::uint32_t>(i + 1);
    to = static_cast<std::uint32_t>(from % each == 0 ? from - each : from - from % each);
  }
};
inline auto caterpillar_edges(std::int64_t n, int each) {
  return perf::edges_by(n, n - 1, caterpillar_ends{static_cast<std::uint64_t>(each)});
}

/// A point in each cell of a square, and edges between points that are less than 1.5 sides of a
/// cell apart.
struct near_points_ends {
  std::uint64_t side;
  LANEWISE_FUNCTION void operator()(std::uint64_t i, std::uint32_t& from, std::uint32_t& to) const {
    const std::uint64_t v = i / 12, k = i % 12;  // half of the 24 cells around
    const std::int64_t dx =
        k < 2 ? static_cast<std::int64_t>(k) + 1 : static_cast<std::int64_t>((k - 2) % 5) - 2;
    const std::int64_t dy = k < 2 ? 0 : static_cast<std::int64_t>((k - 2) / 5) + 1;
    const std::int64_t x = static_cast<std::int64_t>(v % side),
                       y = static_cast<std::int64_t>(v / side);
    from = to = static_cast<std::uint32_t>(v);
    const auto s = static_cast<std::int64_t>(side);
    if (x + dx < 0 || x + dx >= s || y + dy >= s) return;
    const auto other = static_cast<std::uint64_t>(x + dx + (y + dy) * s);
    const double a = static_cast<double>(dx) + jitter(2 * other) - jitter(2 * v);
    const double b = static_cast<double>(dy) + jitter(2 * other + 1) - jitter(2 * v + 1);
    if (a * a + b * b < 1.5 * 1.5) to = static_cast<std::uint32_t>(other);
  }
  static LANEWISE_FUNCTION double jitter(std::uint64_t i) {
    return static_cast<double>(detail::random_bits(1, i) >> 11) * 0x1p-53;
  }
};
inline auto near_points_edges(std::int64_t side) {
  return perf::edges_by(side * side, 12 * side * side,
                        near_points_ends{static_cast<std::uint64_t>(side)});
}

/// Edges from any vertex to vertex x with a probability of about 1 / x: hubs have most of them.
struct hub_ends {
  std::uint64_t vertices;
  int scale;
  LANEWISE_FUNCTION void operator()(std::uint64_t i, std::uint32_t& from, std::uint32_t& to) const {
    const std::uint64_t bits = detail::random_bits(1, 2 * i);
    from = static_cast<std::uint32_t>(detail::below(vertices, bits));
    const std::uint64_t octave =
        detail::below(static_cast<std::uint64_t>(scale), detail::random_bits(1, 2 * i + 1));
    const std::uint64_t x =
        (std::uint64_t{1} << octave) | (bits & ((std::uint64_t{1} << octave) - 1));
    to = static_cast<std::uint32_t>(detail::shuffled(x, scale, 1));
  }
};
inline auto hub_edges(int scale, std::int64_t edges) {
  const std::int64_t n = std::int64_t{1} << scale;
  return perf::edges_by(n, edges, hub_ends{static_cast<std::uint64_t>(n), scale});
}

/// Cliques of `each` vertices.
struct clique_ends {
  std::uint64_t each;
  LANEWISE_FUNCTION void operator()(std::uint64_t i, std::uint32_t& from, std::uint32_t& to) const {
    const std::uint64_t pairs = each * each, first = i / pairs * each;
    from = static_cast<std::uint32_t>(first + i % pairs / each);
    to = static_cast<std::uint32_t>(first + i % pairs % each);
    if (to < from) to = from;  // each edge once
  }
};
inline auto clique_edges(std::int64_t cliques, std::int64_t each) {
  return perf::edges_by(cliques * each, cliques * each * each,
                        clique_ends{static_cast<std::uint64_t>(each)});
}

}  // namespace lanewise::perf
