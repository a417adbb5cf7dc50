// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/rows.hpp>
#include <lanewise/warp/search.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Finds the rows of positions in a range of the text. It searches the offsets for the range when
/// it gets the first position, as most ranges have none.
template <class Warp>
class row_of_position {
 public:
  using positions = lanes_t<Warp, std::int64_t>;

  /// The text begins `first` bytes after the bytes of the rows; the range has positions [begin,
  /// end).
  LANEWISE_FUNCTION row_of_position(const Warp& warp, const row_layout& rows, std::int64_t first,
                                    std::int64_t begin, std::int64_t end)
      : warp_(warp), rows_(rows), first_(first), begin_(begin), end_(end) {}

  struct found {
    positions row;  ///< offsets that fall may lead to any from -1 to the number of rows
    positions end;  ///< of the row, in the text
  };
  /// The row that has the position of each active lane.
  template <class Mask>
  LANEWISE_FUNCTION found find(const Mask& active, const positions& position) {
    if (low_ < 0) cut();
    const positions after =
        rows_.offsets.with_type([&](const auto* offsets) LANEWISE_INLINE_LAMBDA {
          using T = std::decay_t<decltype(*offsets)>;
          const auto key = warp_.template cast<T>(position + positions(first_));
          return positions(low_) +
                 lanewise::upper_bound(warp_, active, offsets + low_, high_ - low_, key);
        });
    const auto end = warp_.map(
        active & (after <= positions(rows_.count)),
        [rows = rows_, first = first_](std::int64_t r) { return rows.offsets(r) - first; },
        std::int64_t{0}, after);
    return {after - positions(std::int64_t{1}), end};
  }

 private:
  /// Finds the first offset after the range's first position, and the first after its last one.
  LANEWISE_FUNCTION void cut() {
    std::int64_t from[2] = {0, 0}, to[2] = {rows_.count + 1, rows_.count + 1};
    const std::int64_t position[2] = {first_ + begin_, first_ + end_ - 1};
    lanewise::partition_points(
        warp_, from, to, [&](int q, std::int64_t i) { return rows_.offsets(i) <= position[q]; });
    low_ = from[0];
    high_ = from[1] > low_ ? from[1] : low_;
  }

  const Warp& warp_;
  const row_layout& rows_;
  std::int64_t first_, begin_, end_;
  std::int64_t low_ = -1, high_ = -1;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
