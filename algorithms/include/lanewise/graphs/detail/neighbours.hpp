// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/pack.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/graphs/detail/words_of_vertices.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// Neighbours whose bits are set.

/// Which of the active lanes' vertices have a bit. racing: others are setting bits.
template <bool racing = false, class W, class Mask, class Lanes>
LANEWISE_KERNEL_FUNCTION auto is_reached(const W& warp, const std::uint32_t* bits,
                                         const Mask& there, const Lanes& vertex) {
  using Vertex = typename Lanes::value_type;
  const auto at = detail::word_of_vertex(warp, vertex);
  lanes_t<W, std::uint32_t> word;
  if constexpr (racing)
    word = warp.load_relaxed(there, bits, at, 0u);
  else
    word = warp.gather(there, bits, at, 0u);
  return warp.map([](std::uint32_t b, Vertex v) -> std::uint32_t { return b >> (v % 32) & 1; },
                  word, vertex) != 0u;
}

/// A neighbour that is reached among columns [next, end), or no_vertex, by the warp.
template <class W, class Vertex, class Offset>
LANEWISE_KERNEL_FUNCTION Vertex find_reached_along(const W& warp,
                                                   const graph_rows<Vertex, Offset>& rows,
                                                   const std::uint32_t* bits, Offset next,
                                                   Offset end, Vertex no_vertex) {
  for (; next < end; next = static_cast<Offset>(next + W::width)) {
    const auto left = static_cast<Offset>(end - next);
    const auto there = warp.first(left);
    const auto neighbour = warp.load(there, rows.columns + next, no_vertex);
    const auto hits =
        warp.ballot(detail::is_reached(warp, bits, there & (neighbour < rows.vertices), neighbour));
    if (hits != 0) return warp.broadcast(neighbour, W::lowest(hits));
  }
  return no_vertex;
}

/// What a lane looks at of a row at a time: the columns of one block of 4 that lies at a multiple
/// of its size in memory. Where rows are far apart, a read of 16 bytes takes a GPU's first-level
/// cache as long as one of 4.
template <class Vertex, class Offset>
class few_columns {
  static constexpr int size = 4;
  using block = pack<Vertex, size>;
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});

 public:
  /// Columns with a set bit are looked for.
  LANEWISE_KERNEL_FUNCTION few_columns(const graph_rows<Vertex, Offset>& rows,
                                       const std::uint32_t* bits)
      : columns_(rows.columns),
        bits_(bits),
        vertices_(rows.vertices),
        edges_(rows.edges),
        shift_(static_cast<Offset>(reinterpret_cast<std::uintptr_t>(rows.columns) / sizeof(Vertex) %
                                   size)) {}

  /// How many columns are looked at of a row that goes on at `next`.
  LANEWISE_KERNEL_FUNCTION Offset reach(Offset next) const {
    return static_cast<Offset>(size - (next + shift_) % size);
  }
  /// One of these with a bit, or no_vertex.
  LANEWISE_KERNEL_FUNCTION Vertex reached(Offset next, Offset length) const {
    const Offset seen = reach(next);
    const auto skip = static_cast<Offset>(size - seen);
    const Offset end = length < seen ? length : seen;
    block here;
    if (next >= skip && edges_ - next >= seen) {
      here = *reinterpret_cast<const block*>(columns_ + (next - skip));
    } else {
      LANEWISE_UNROLL
      for (int k = 0; k < size; ++k)
        here[k] =
            is_among(k, skip, end) ? columns_[next + (static_cast<Offset>(k) - skip)] : no_vertex;
    }
    std::uint32_t bit[size];
    LANEWISE_UNROLL
    for (int k = 0; k < size; ++k) {
      const Vertex v = here[k];
      bit[k] = is_among(k, skip, end) && v < vertices_ ? bits_[v / 32] >> (v % 32) & 1 : 0;
    }
    Vertex found = no_vertex;
    LANEWISE_UNROLL
    for (int k = 0; k < size; ++k)
      if (bit[k] != 0) found = here[k];
    return found;
  }
  static LANEWISE_KERNEL_FUNCTION bool is_among(int k, Offset skip, Offset end) {
    return static_cast<Offset>(static_cast<Offset>(k) - skip) < end;
  }

  const Vertex* columns_;
  const std::uint32_t* bits_;
  Vertex vertices_;
  Offset edges_;
  Offset shift_;  // of the columns, after a multiple of a block
};

}  // namespace detail
LANEWISE_END_NAMESPACE
