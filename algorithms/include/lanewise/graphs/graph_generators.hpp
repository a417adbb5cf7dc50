// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/message.hpp>
#include <lanewise/data/source.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// Edges of graphs for tests and benchmarks, from a seed. They are sources, which compute an edge
// when it is asked for and need no memory, and are the same on every backend. build_csr makes a
// graph of them.

/// Edge i leads from from(i) to to(i); both are below `vertices`.
template <class From, class To>
struct edge_sources {
  std::int64_t vertices;
  From from;
  To to;
};

/// Parameters of an R-MAT graph (Chakrabarti, Zhan, Faloutsos). An edge chooses a quarter of the
/// matrix of all pairs for each bit of its vertices: the one of (0, 0) with probability a, (0, 1)
/// with b, (1, 0) with c, and (1, 1) with what is left. The default is Graph500's.
struct rmat_parameters {
  double a = 0.57;
  double b = 0.19;
  double c = 0.19;
  std::uint64_t seed = 1;
  bool shuffle = true;  ///< else vertices with small numbers have more edges
};

namespace detail {

/// A number that looks random, of a seed and a place (SplitMix64).
LANEWISE_FUNCTION constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t i) {
  std::uint64_t x = seed + (i + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
/// A number below n of 32 random bits.
LANEWISE_FUNCTION constexpr std::uint64_t below(std::uint64_t n, std::uint64_t bits) {
  // n may have more than 32 bits: the halves of the product.
  return (n >> 32) * (bits >> 32) + ((n & 0xffffffffu) * (bits >> 32) >> 32);
}
/// Exchanges the numbers of `bits` bits among each other.
LANEWISE_FUNCTION constexpr std::uint64_t shuffled(std::uint64_t x, int bits, std::uint64_t seed) {
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t key = random_bits(seed, static_cast<std::uint64_t>(round));
    x = (x * (key | 1) + (key >> 32)) & mask;  // odd factors are invertible
    x ^= x >> (bits / 2 + 1);
  }
  return x;
}

/// One end of an edge of an R-MAT graph.
template <class Vertex, bool is_from>
struct rmat_end {
  std::uint32_t a, ab, abc;  // sums of probabilities, times 2^32
  int scale;
  std::uint64_t seed;
  bool shuffle;

  LANEWISE_FUNCTION Vertex operator()(std::int64_t i) const {
    std::uint64_t x = 0;
    for (int level = 0; level < scale; ++level) {
      const std::uint64_t pair = random_bits(
          seed, static_cast<std::uint64_t>(i) * 32 + static_cast<std::uint64_t>(level / 2));
      const auto bits = static_cast<std::uint32_t>(level % 2 == 0 ? pair : pair >> 32);
      const bool down = bits >= ab, right = bits >= abc || (bits >= a && bits < ab);
      x = 2 * x + (is_from ? down : right);
    }
    return static_cast<Vertex>(shuffle ? shuffled(x, scale, seed) : x);
  }
};

template <class Vertex, bool is_from>
struct uniform_end {
  std::uint64_t vertices;
  std::uint64_t seed;

  LANEWISE_FUNCTION Vertex operator()(std::int64_t i) const {
    return static_cast<Vertex>(
        below(vertices, random_bits(seed, 2 * static_cast<std::uint64_t>(i) + (is_from ? 0 : 1))));
  }
};

/// Edges between neighbours along one axis of a lattice, then those of the next.
template <class Vertex, bool is_from>
struct lattice_end {
  std::int64_t extent[3];
  std::uint32_t keep;  // of 2^32
  bool keep_all;
  std::uint64_t seed;

  LANEWISE_FUNCTION Vertex operator()(std::int64_t i) const {
    const std::uint64_t edge = static_cast<std::uint64_t>(i);
    std::int64_t stride = 1;
    for (int axis = 0; axis < 3; ++axis) {
      std::int64_t size[3] = {extent[0], extent[1], extent[2]};
      --size[axis];
      const std::int64_t edges = size[0] * size[1] * size[2];
      if (i < edges) {
        const std::int64_t x = i % size[0], y = i / size[0] % size[1], z = i / size[0] / size[1];
        const std::int64_t from = x + extent[0] * (y + extent[1] * z);
        const bool there = keep_all || static_cast<std::uint32_t>(random_bits(seed, edge)) < keep;
        return static_cast<Vertex>(is_from || !there ? from : from + stride);
      }
      i -= edges;
      stride *= extent[axis];
    }
    return Vertex{0};
  }
};

inline std::uint32_t share_of_2_32(double p) {
  return p >= 1 ? ~std::uint32_t{0} : static_cast<std::uint32_t>(std::ldexp(p, 32));
}

}  // namespace detail

/// `edges` edges among 2^scale vertices by R-MAT, self loops and duplicates included. Throws
/// std::invalid_argument where probabilities are none, or vertices do not fit their type.
template <class Vertex = std::uint32_t>
auto rmat_edges(int scale, std::int64_t edges, const rmat_parameters& options = {}) {
  detail::expects(scale >= 0 && scale < 8 * static_cast<int>(sizeof(Vertex)) - 1,
                  "rmat_edges: scale is ", scale, ", vertices have ", 8 * sizeof(Vertex), " bits");
  detail::expects(edges >= 0, "rmat_edges: there are ", edges, " edges");
  const double sum = options.a + options.b + options.c;
  detail::expects(options.a >= 0 && options.b >= 0 && options.c >= 0 && sum <= 1.0 + 1e-9,
                  "rmat_edges: a, b and c are ", options.a, ", ", options.b, " and ", options.c,
                  ", which are no probabilities");
  const std::uint32_t a = detail::share_of_2_32(options.a);
  const std::uint32_t ab = detail::share_of_2_32(options.a + options.b);
  const std::uint32_t abc = detail::share_of_2_32(sum);
  const detail::rmat_end<Vertex, true> from{a, ab, abc, scale, options.seed, options.shuffle};
  const detail::rmat_end<Vertex, false> to{a, ab, abc, scale, options.seed, options.shuffle};
  return edge_sources<decltype(generated(edges, from)), decltype(generated(edges, to))>{
      std::int64_t{1} << scale, lanewise::generated(edges, from), lanewise::generated(edges, to)};
}

/// `edges` edges between vertices that are chosen uniformly, self loops and duplicates included.
template <class Vertex = std::uint32_t>
auto uniform_edges(std::int64_t vertices, std::int64_t edges, std::uint64_t seed = 1) {
  detail::expects(vertices >= 0 && edges >= 0 && (vertices > 0 || edges == 0),
                  "uniform_edges: ", edges, " edges among ", vertices, " vertices");
  const auto n = static_cast<std::uint64_t>(vertices);
  const detail::uniform_end<Vertex, true> from{n, seed};
  const detail::uniform_end<Vertex, false> to{n, seed};
  return edge_sources<decltype(generated(edges, from)), decltype(generated(edges, to))>{
      vertices, lanewise::generated(edges, from), lanewise::generated(edges, to)};
}

/// Each edge once of a lattice of x times y times z vertices, between neighbours along the axes:
/// five points of a stencil where z is 1, else seven, without the diagonal. keep < 1 leaves out
/// edges at random, which become self loops, to be dropped by build_csr: a lattice with 65 % of its
/// edges is much like a network of roads.
template <class Vertex = std::uint32_t>
auto lattice_edges(std::int64_t x, std::int64_t y, std::int64_t z = 1, double keep = 1,
                   std::uint64_t seed = 1) {
  detail::expects(x > 0 && y > 0 && z > 0, "lattice_edges: the lattice is ", x, " by ", y, " by ",
                  z);
  detail::expects(keep >= 0 && keep <= 1, "lattice_edges: keep is ", keep, ", not in [0, 1]");
  const std::int64_t edges = (x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1);
  const std::uint32_t share = detail::share_of_2_32(keep);
  const detail::lattice_end<Vertex, true> from{{x, y, z}, share, keep >= 1, seed};
  const detail::lattice_end<Vertex, false> to{{x, y, z}, share, keep >= 1, seed};
  return edge_sources<decltype(generated(edges, from)), decltype(generated(edges, to))>{
      x * y * z, lanewise::generated(edges, from), lanewise::generated(edges, to)};
}

LANEWISE_END_NAMESPACE
