// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/graphs/rows.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// Bottom up: a vertex looks for a neighbour whose bit is set, and stops at the first.

/// Which of the active lanes' vertices have a bit. racing: others are setting bits.
template <bool racing = false, class W, class Mask, class Lanes>
LANEWISE_FUNCTION auto is_reached(const W& warp, const std::uint32_t* bits, const Mask& there,
                                  const Lanes& vertex) {
  using Vertex = typename Lanes::value_type;
  const auto at = warp.map([](Vertex v) { return static_cast<Vertex>(v / 32); }, vertex);
  typename W::template lanes<std::uint32_t> word;
  if constexpr (racing)
    word = warp.load_relaxed(there, bits, at, 0u);
  else
    word = warp.gather(there, bits, at, 0u);
  return warp.map([](std::uint32_t b, Vertex v) -> std::uint32_t { return b >> (v % 32) & 1; },
                  word, vertex) != 0u;
}

/// A neighbour that is reached among columns [next, end), or nobody, by the warp.
template <class W, class Vertex, class Offset>
LANEWISE_FUNCTION Vertex find_reached_along(const W& warp, const graph_rows<Vertex, Offset>& rows,
                                            const std::uint32_t* bits, Offset next, Offset end,
                                            Vertex nobody) {
  for (; next < end; next = static_cast<Offset>(next + W::width)) {
    const auto left = static_cast<Offset>(end - next);
    const auto there =
        warp.first(static_cast<int>(left < Offset{W::width} ? left : Offset{W::width}));
    const auto neighbour = warp.load(there, rows.columns + next, nobody);
    const auto hits =
        warp.ballot(is_reached(warp, bits, there & (neighbour < rows.vertices), neighbour));
    if (hits != 0) return warp.broadcast(neighbour, W::lowest(hits));
  }
  return nobody;
}

/// For each active lane's row a neighbour that is reached, or nobody. Lanes look at the first few
/// by themselves, which is enough for most where frontiers are wide; then the warp helps.
template <class W, class Vertex, class Offset, class Mask, class Ranges>
LANEWISE_FUNCTION auto find_reached(const W& warp, const graph_rows<Vertex, Offset>& rows,
                                    const std::uint32_t* bits, const Mask& open, const Ranges& row,
                                    Vertex nobody) {
  using offsets = typename W::template lanes<Offset>;
  using vertices = typename W::template lanes<Vertex>;
  constexpr int at_once = 4, rounds = 2;
  vertices found(nobody);
  auto next = row.begin;
  const auto end = row.begin + row.length;
  auto looking = open & (next < end);
  for (int round = 0; round < rounds && warp.any(looking); ++round) {
    vertices neighbour[at_once];
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const auto place = next + offsets(static_cast<Offset>(k));
      neighbour[k] = warp.gather(looking & (place < end), rows.columns, place, nobody);
    }
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      found = select(is_reached(warp, bits, neighbour[k] < rows.vertices, neighbour[k]),
                     neighbour[k], found);
    next = next + offsets(Offset{at_once});
    looking = looking & (found == nobody) & (next < end);
  }
  for (auto todo = warp.ballot(looking); todo != 0; todo &= todo - 1) {
    const int l = W::lowest(todo);
    const Vertex by = find_reached_along(warp, rows, bits, warp.broadcast(next, l),
                                         warp.broadcast(end, l), nobody);
    found = select(warp.lane() == static_cast<std::uint32_t>(l), vertices(by), found);
  }
  return found;
}

}  // namespace detail
LANEWISE_END_NAMESPACE
