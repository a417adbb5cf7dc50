// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/words_of_vertices.hpp>
#include <lanewise/papers/bfs_policy.hpp>
#include <lanewise/papers/detail/graphs/frontier_counts.hpp>
#include <lanewise/papers/detail/graphs/scatter_relaxed.hpp>
#include <lanewise/papers/detail/names.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace papers {
namespace detail {

/// What is known of every vertex. A level is -1 where a vertex is not reached; all lanes that
/// reach a vertex at once write the same level, and a parent that is right.
template <class Vertex>
struct reached_vertices {
  std::int32_t* levels;
  Vertex* parents;  // null: not wanted
  void* bits;       // words or bytes that are 0 first; null: none
};

// A look-up tells which of the active lanes' vertices may be new (Merrill, 6.4.2).

/// Levels alone.
template <class W, class Vertex, class Mask, class Vertices>
LANEWISE_FUNCTION Mask without_level(const W& warp, const reached_vertices<Vertex>& reached,
                                     const Mask& mask, const Vertices& vertex) {
  return mask & (warp.load_relaxed(mask, static_cast<const std::int32_t*>(reached.levels), vertex,
                                   std::int32_t{0}) < std::int32_t{0});
}

/// A byte of bits, then levels. A bit is stored with what its byte was, so that bits others have
/// stored meanwhile get lost; the lane that finds a level stores them again.
template <class W, class Vertex, class Mask, class Vertices, class Counts>
LANEWISE_FUNCTION Mask look_up_bytes(const W& warp, const reached_vertices<Vertex>& reached,
                                     const Mask& mask, const Vertices& vertex, Counts& counts) {
  auto* bytes = static_cast<std::uint8_t*>(reached.bits);
  const auto at = warp.map([](Vertex v) { return static_cast<Vertex>(v / 8); }, vertex);
  const auto bit = warp.map([](Vertex v) { return std::uint32_t{1} << (v % 8); }, vertex);
  const auto byte = warp.template cast<std::uint32_t>(
      warp.load_relaxed(mask, static_cast<const std::uint8_t*>(bytes), at, std::uint8_t{0}));
  const Mask open = mask & ((byte & bit) == 0u);
  counts.add(warp, &bfs_level_counts::after_bitmap, open);
  if (!warp.any(open)) return open;
  const Mask fresh = detail::without_level(warp, reached, open, vertex);
  detail::scatter_relaxed(warp, open, bytes, at, warp.template cast<std::uint8_t>(byte | bit));
  return fresh;
}

/// A bit that one lane finds clear, by an atomic operation, where it is not found set before.
template <class W, class Vertex, class Mask, class Vertices, class Counts>
LANEWISE_FUNCTION Mask look_up_words(const W& warp, const reached_vertices<Vertex>& reached,
                                     const Mask& mask, const Vertices& vertex, Counts& counts) {
  auto* words = static_cast<std::uint32_t*>(reached.bits);
  const auto at = detail::word_of_vertex(warp, vertex);
  const auto bit = detail::bit_of_vertex(warp, vertex);
  Mask open =
      mask &
      ((warp.load_relaxed(mask, static_cast<const std::uint32_t*>(words), at, 0u) & bit) == 0u);
  if (warp.any(open)) open = open & ((warp.fetch_or(open, words, at, bit) & bit) == 0u);
  counts.add(warp, &bfs_level_counts::after_bitmap, open);
  return open;
}

/// By the policy.
template <bfs_bitmap bitmap, class W, class Vertex, class Mask, class Vertices, class Counts>
LANEWISE_FUNCTION Mask look_up(const W& warp, const reached_vertices<Vertex>& reached,
                               const Mask& mask, const Vertices& vertex, Counts& counts) {
  counts.add(warp, &bfs_level_counts::examined, mask);
  Mask open;
  if constexpr (bitmap == bfs_bitmap::exact) {
    open = detail::look_up_words(warp, reached, mask, vertex, counts);
  } else if constexpr (bitmap == bfs_bitmap::best_effort) {
    open = detail::look_up_bytes(warp, reached, mask, vertex, counts);
  } else {
    counts.add(warp, &bfs_level_counts::after_bitmap, mask);
    open = detail::without_level(warp, reached, mask, vertex);
  }
  counts.add(warp, &bfs_level_counts::after_levels, open);
  return open;
}

/// The active lanes' vertices are reached.
template <class W, class Vertex, class Mask, class Vertices, class Parents>
LANEWISE_FUNCTION void record_reached(const W& warp, const reached_vertices<Vertex>& reached,
                                      const Mask& mask, const Vertices& vertex,
                                      const Parents& parent, std::int32_t level) {
  using levels = lanes_t<W, std::int32_t>;
  detail::scatter_relaxed(warp, mask, reached.levels, vertex, levels(level));
  if constexpr (std::is_same_v<typename Parents::value_type, Vertex>)
    detail::scatter_relaxed(warp, mask, reached.parents, vertex, parent);
}

}  // namespace detail
}  // namespace papers
LANEWISE_END_TARGET_NAMESPACE
