// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// Vertices by the words of their bits, 32 each.

/// Calls f(first, mask) for a few words of bits at a time. They go to all warps of the league by
/// turns; f gets this warp's words.
template <class Team, class F>
LANEWISE_FUNCTION void for_each_word_batch(const Team& team, std::int64_t vertices, const F& f) {
  using warp_type = typename Team::warp_type;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  static_assert(warp_type::width >= 32, "lanewise: a word of vertices has 32 lanes");
  constexpr std::int64_t batch = Team::is_single_thread ? 32 : 8;
  const std::int64_t count = divide_up(vertices, 32);
  const std::int64_t step = std::int64_t{team.league()} * Team::warps * batch;
  const std::int64_t rank = std::int64_t{team.index()} * Team::warps + team.warp_index();
  for (std::int64_t first = rank * batch; first < count; first += step) {
    const std::int64_t left = count - first;
    f(first, mask_type(team.warp().first(static_cast<int>(left < batch ? left : batch))));
  }
}

/// The word that has a vertex's bit. bit_of_vertex: the bit in it.
template <class W, class Lanes>
LANEWISE_FUNCTION Lanes word_of_vertex(const W& warp, const Lanes& vertex) {
  using Vertex = typename Lanes::value_type;
  return warp.map([](Vertex v) { return static_cast<Vertex>(v / 32); }, vertex);
}
template <class W, class Lanes>
LANEWISE_FUNCTION auto bit_of_vertex(const W& warp, const Lanes& vertex) {
  using Vertex = typename Lanes::value_type;
  return warp.map([](Vertex v) -> std::uint32_t { return std::uint32_t{1} << (v % 32); }, vertex);
}

/// The vertices of a word.
template <class Vertex, class W>
LANEWISE_FUNCTION auto vertices_of(const W& warp, std::int64_t word) {
  return warp.template cast<Vertex>(warp.lane()) +
         typename W::template lanes<Vertex>(static_cast<Vertex>(word * 32));
}

}  // namespace detail
LANEWISE_END_NAMESPACE
