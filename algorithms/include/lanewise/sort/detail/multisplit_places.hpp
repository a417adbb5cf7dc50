// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The places at which the runs of a tile begin, from the scanned matrix of counts. They are the
/// sum of the first place of the bucket, of the columns before, and of the tiles of the column
/// before.
struct scanned_offsets {
  const std::int64_t* bucket;
  const std::int64_t* column;
  const std::uint32_t* tile;

  static constexpr bool waits = false;

  template <class W>
  struct parts {
    lanes_t<W, std::int64_t> bucket;
    lanes_t<W, std::int64_t> column;
    lanes_t<W, std::uint32_t> tile;
  };

  template <class W>
  LANEWISE_FUNCTION parts<W> ask(const W& warp, std::uint32_t first, std::uint32_t buckets) const {
    const auto exists = warp.lane() + typename W::template lanes<std::uint32_t>(first) < buckets;
    return {warp.load(exists, bucket + first, std::int64_t{0}),
            warp.load(exists, column + first, std::int64_t{0}),
            warp.load(exists, tile + first, 0u)};
  }
  template <class W, class Counts>
  LANEWISE_FUNCTION void tell(const W&, std::uint32_t, std::uint32_t, const Counts&) const {}
  template <class W, class Counts>
  LANEWISE_FUNCTION lanes_t<W, std::int64_t> get(const W& warp, std::uint32_t, std::uint32_t,
                                                 const parts<W>& asked, const Counts&) const {
    return warp.map(
        [](std::int64_t b, std::int64_t c, std::uint32_t t) { return b + c + std::int64_t{t}; },
        asked.bucket, asked.column, asked.tile);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
