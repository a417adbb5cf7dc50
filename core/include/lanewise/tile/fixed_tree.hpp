// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/policy.hpp>
#include <lanewise/tile/register/tile.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The order in which deterministic operators are evaluated: a function of sizeof(T) alone, and the
/// order of a device tile.
///
/// Neighbouring items form a pack of up to 16 bytes, 32 packs a row, a few rows a segment, 8
/// segments a block. A pack is folded from left to right, and packs combine by doubling
/// (scan_by_doubling). Rows combine from left to right, segments by doubling, and blocks from left
/// to right. A result of a scan is what the blocks before come to, combined with the scan of its
/// own block.
template <class T>
struct fixed_tree : launch_policy {
  static constexpr bool deterministic = true;
  static constexpr int segments = 8;
  static constexpr int items_per_lane = sizeof(T) > 16 ? 4 : (sizeof(T) >= 8 ? 16 : 32);

  static constexpr int width = 32;
  static constexpr int pack = [] {
    int k = 1;
    while (2 * k * static_cast<int>(sizeof(T)) <= 16) k *= 2;
    return k;
  }();
  static constexpr int row = pack * width;
  static constexpr int segment = items_per_lane * width;
  static constexpr int block = segments * segment;

  static constexpr int warps = segments;
  static constexpr int teams_per_multiprocessor = 2;
  static constexpr int parked_tiles = tiles_that_wait(sizeof(T) * block);
};

/// Keeps compilers from contracting what made x and what is done with it into one operation with
/// one rounding.
template <class T>
LANEWISE_FUNCTION T rounded(T x) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) asm("" : "+f"(x));
  if constexpr (std::is_same_v<T, double>) asm("" : "+d"(x));
#else
  if constexpr (std::is_floating_point_v<T>) asm("" : "+m"(x));
#endif
  return x;
}

/// A source whose items are rounded.
template <class Source>
struct rounded_source : Source {
  using value_type = typename Source::value_type;

  template <class Raw>
  LANEWISE_FUNCTION value_type from_raw(const Raw& raw) const {
    return detail::rounded(Source::from_raw(raw));
  }
  LANEWISE_FUNCTION value_type operator()(std::int64_t i) const {
    return detail::rounded(Source::operator()(i));
  }
};

/// One warp as a team.
template <class W>
struct lone_warp {
  using warp_type = W;
  static constexpr int warps = 1;

  W only;

  LANEWISE_FUNCTION const W& warp() const { return only; }
  LANEWISE_FUNCTION int warp_index() const { return 0; }
  LANEWISE_FUNCTION void barrier() const {}
};

/// The total of the items of block [first, first + fixed_tree<T>::block) that exist below n; there
/// is at least one. By this warp alone.
template <class T, class W, class Source, class Op>
LANEWISE_FUNCTION T device_block_total(const W& warp, const Source& source, std::int64_t first,
                                       std::int64_t n, Op op) {
  using tree = fixed_tree<T>;
  using tile = device_tile<lone_warp<W>, T, tree::items_per_lane>;
  using lanes = lanes_t<W, T>;
  static_assert(tile::v == tree::pack && tile::segment == tree::segment,
                "lanewise: deterministic operators need warps of 32 lanes");
  const lone_warp<W> alone{warp};
  const rounded_source<Source> items{source};
  lanes totals;
  int segments = 0;
  for (; segments < tree::segments && first < n; ++segments, first += tree::segment) {
    typename tile::scratch unused;
    tile segment(alone, unused, items, first, n);
    segment.scan(op);
    const lanes total(segment.total());
    totals = segments == 0 ? total
                           : lanewise::select(warp.lane() == static_cast<std::uint32_t>(segments),
                                              total, totals);
  }
  return warp.broadcast(warp.scan_by_doubling(totals, op, segments), segments - 1);
}

}  // namespace detail
LANEWISE_END_NAMESPACE
