// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/policy.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// The places of a raking grid's cells, in scratch of `banks` banks of bank_bytes each. There are
/// `cells` items of T, and every one of `lanes` lanes rakes a segment of neighbours. Let s =
/// sizeof(T). Counted in items, cell i has the place
///
///   i + floor(i / row) pad,   row = floor(banks bank_bytes / s),   pad = ceil(bank_bytes / s).
///
/// If all cells fit in one row or a segment is odd, cell i has the place i. For s = 2^j up to 16,
/// lanes that write neighbouring cells do not meet in a bank. Nor do lanes that rake segments of a
/// power of two of at most `row` cells. Lanes that rake odd segments of items of 4 bytes and more
/// do not meet either. Padding them would make 15 lanes meet where 15 items of 8 bytes are raked.
/// (Merrill, 3.3.2, figure 21.)
template <class T, int cells, int lanes, int banks = 32, int bank_bytes = 4>
struct raking_grid {
  static_assert(cells % lanes == 0, "lanewise: all lanes rake as many cells");

  static constexpr int segment = cells / lanes;
  /// Cells of a row of banks.
  static constexpr int row =
      banks * bank_bytes > int{sizeof(T)} ? banks* bank_bytes / int{sizeof(T)} : 1;
  /// Places left out after every row.
  static constexpr int pad =
      cells <= row || segment % 2 == 1 ? 0 : (bank_bytes + int{sizeof(T)} - 1) / int{sizeof(T)};

  /// The place of cell i.
  static LANEWISE_FUNCTION constexpr std::uint32_t place(std::uint32_t i) {
    return i + i / row * pad;
  }
  /// Whether the cells of every segment are neighbours.
  static constexpr bool segments_in_rows = pad == 0 || row % segment == 0;
  /// The place of cell k of a lane's segment.
  static LANEWISE_FUNCTION constexpr std::uint32_t raked(std::uint32_t lane, std::uint32_t k) {
    if constexpr (segments_in_rows) {
      return place(lane * segment) + k;
    } else {
      return place(lane * segment + k);
    }
  }
  /// How many places there are.
  static constexpr int places = cells + (cells - 1) / row * pad;
};

namespace detail {

/// f(cells, places): cell k of every lane's segment is cells[place]. Where segments lie within
/// rows, k is part of the pointer and the places are the same for all k.
template <class Grid, class W, class T, class F>
LANEWISE_FUNCTION auto with_raked(const W& warp, T* cell, int k, F f) {
  constexpr bool by_pointer = Grid::segments_in_rows;
  return f(by_pointer ? cell + k : cell,
           warp.map([step = static_cast<std::uint32_t>(by_pointer ? 0 : k)](
                        std::uint32_t lane) { return Grid::raked(lane, step); },
                    warp.lane()));
}

/// Cell k of every lane's segment.
template <class Grid, class W, class T>
LANEWISE_FUNCTION auto gather_raked(const W& warp, const T* cell, int k) {
  return detail::with_raked<Grid>(
      warp, cell, k, [&](const T* cells, const auto& place) { return warp.gather(cells, place); });
}
template <class Grid, class W, class T, class Lanes>
LANEWISE_FUNCTION void scatter_raked(const W& warp, T* cell, int k, const Lanes& x) {
  detail::with_raked<Grid>(warp, cell, k,
                           [&](T* cells, const auto& place) { warp.scatter(cells, place, x); });
}

}  // namespace detail

LANEWISE_END_NAMESPACE
