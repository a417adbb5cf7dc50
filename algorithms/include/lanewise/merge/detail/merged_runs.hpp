// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp/search.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Pieces of up to four runs, which become the items of a tile.
struct run_pieces {
  std::int64_t first;     ///< the number of the tile's first item
  std::int64_t shift[4];  ///< item i before end[q] is item i + shift[q] of the input
  int end[4];

  LANEWISE_FUNCTION std::int64_t index(int i) const {
    const std::int64_t front = i < end[0] ? shift[0] : shift[1];
    const std::int64_t after = i < end[2] ? shift[2] : shift[3];
    return i + (i < end[1] ? front : after);
  }
};

/// Sorted runs of `run` items, one after the other in n items. `ways` neighbouring runs are merged:
/// a group. Tiles do not cross from group to group.
struct equal_runs {
  std::int64_t run;
  std::int64_t n;
  int ways;

  /// The begin of run number q of the group of an item; from `ways` on, the end of the group.
  LANEWISE_FUNCTION std::int64_t start(std::int64_t item, int q) const {
    const std::int64_t begin = item - item % (run * ways) + (q < ways ? q : ways) * run;
    return begin < n ? begin : n;
  }

  /// cuts[4 t + q]: how many items of run q of its group lie before tile t. By a lane.
  template <int tile, class Source, class Less>
  LANEWISE_FUNCTION void cut(const Source& source, std::int64_t* cuts, std::int64_t t,
                             const Less& less) const {
    const std::int64_t first = t * tile;
    std::int64_t length[4], in_front[4];
    LANEWISE_UNROLL
    for (int q = 0; q < 4; ++q) length[q] = start(first, q + 1) - start(first, q);
    lanewise::cut_few<typename Source::value_type>(
        length, [&](int q, std::int64_t i) { return source(start(first, q) + i); },
        first - start(first, 0), in_front, less);
    LANEWISE_UNROLL
    for (int q = 0; q < 4; ++q) cuts[4 * t + q] = in_front[q];
  }

  /// As `cut` above, by a warp.
  template <int tile, class W, class Source, class Less>
  LANEWISE_FUNCTION void cut(const W& warp, const Source& source, std::int64_t* cuts,
                             std::int64_t t, const Less& less) const {
    const std::int64_t first = t * tile;
    std::int64_t begin[4], length[4], in_front[4] = {};
    LANEWISE_UNROLL
    for (int q = 0; q < 4; ++q) {
      begin[q] = start(first, q);
      length[q] = start(first, q + 1) - begin[q];
    }
    if (ways == 2) {
      const auto found = lanewise::merge_path(
          warp, [&](std::int64_t i) { return source(begin[0] + i); }, length[0],
          [&](std::int64_t i) { return source(begin[1] + i); }, length[1], first - begin[0], less);
      in_front[0] = found.from_a;
      in_front[1] = found.from_b;
    } else {
      lanewise::cut_few<typename Source::value_type>(
          warp, length,
          [&](int r, std::int64_t i) {
            std::int64_t from = begin[0];
            LANEWISE_UNROLL
            for (int q = 1; q < 4; ++q) from = r == q ? begin[q] : from;
            return source(from + i);
          },
          first - begin[0], in_front, less);
    }
    warp.once([&] {
      LANEWISE_UNROLL
      for (int q = 0; q < 4; ++q) cuts[4 * t + q] = in_front[q];
    });
  }

  /// What tile t is made of.
  template <int tile>
  LANEWISE_FUNCTION run_pieces pieces(const std::int64_t* cuts, std::int64_t t) const {
    const std::int64_t first = t * tile, next = first + tile;
    const bool is_last = next >= start(first, 4);
    std::int64_t begin[4], end[4];
    LANEWISE_UNROLL
    for (int q = 0; q < 4; ++q) {
      begin[q] = start(first, q) + cuts[4 * t + q];
      end[q] = is_last ? start(first, q + 1) : start(first, q) + cuts[4 * (t + 1) + q];
    }
    return made_of(first, tile, begin, end);
  }
  /// What tile t of runs in pairs is made of, by a warp, which searches for the pieces.
  template <int tile, class W, class Source, class Less>
  LANEWISE_FUNCTION run_pieces pieces(const W& warp, const Source& source, std::int64_t t,
                                      const Less& less) const {
    const std::int64_t first = t * tile;
    const merge_piece piece = search<tile>(warp, source, t, less);
    const std::int64_t a = start(first, 0), b = start(first, 1);
    const std::int64_t begin[4] = {a + piece.begin.from_a, b + piece.begin.from_b, n, n};
    const std::int64_t end[4] = {a + piece.end.from_a, b + piece.end.from_b, n, n};
    return made_of(first, tile, begin, end);
  }
  /// As a piece of two sequences.
  template <int tile, class W, class Source, class Less>
  LANEWISE_FUNCTION merge_piece search(const W& warp, const Source& source, std::int64_t t,
                                       const Less& less) const {
    const std::int64_t first = t * tile;
    const std::int64_t a = start(first, 0), b = start(first, 1), end = start(first, 2);
    const std::int64_t last = first + tile < end ? first + tile : end;
    return lanewise::cut_merge(
        warp, [&](std::int64_t i) { return source(a + i); }, b - a,
        [&](std::int64_t i) { return source(b + i); }, end - b, first - a, last - a, less);
  }

 private:
  LANEWISE_FUNCTION run_pieces made_of(std::int64_t first, int tile, const std::int64_t (&begin)[4],
                                       const std::int64_t (&end)[4]) const {
    run_pieces result;
    result.first = first;
    std::int64_t before = 0;
    const std::int64_t all = n - first < tile ? n - first : tile;
    LANEWISE_UNROLL
    for (int q = 0; q < 4; ++q) {
      // If less is no order, too, the tile has no more items than fit.
      const std::int64_t count = end[q] - begin[q], room = all - before;
      result.shift[q] = begin[q] - before;
      before += count < 0 ? 0 : (count < room ? count : room);
      result.end[q] = static_cast<int>(before);
    }
    return result;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
