// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_view.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Says which of W positions pass the tables of byte_buckets, by their first `bytes` bytes. On
/// devices a lane has the bits of all 32 buckets in a word. Where a warp is one thread, a vector of
/// bytes has the bits of eight buckets.
template <class Warp, int bytes>
class bucket_filter {
 public:
  using bits = typename Warp::bits;

  LANEWISE_FUNCTION bucket_filter(const Warp& warp, const byte_buckets& buckets)
      : number_(buckets.number) {
    static_assert(Warp::width == byte_buckets::rows);
    LANEWISE_UNROLL
    for (int b = 0; b < bytes; ++b) {
      const auto all = warp.load(buckets.row + b * Warp::width);
      LANEWISE_UNROLL
      for (int v = 0; v < vectors; ++v)
        rows_[v][b] = warp.template cast<item>(all >> v * of_vector);
    }
  }

  /// text(b): byte b of each position.
  template <class Text>
  LANEWISE_FUNCTION bits test(const Warp& warp, Text text) const {
    lanes passed(item{0});
    LANEWISE_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if (v * of_vector >= number_) break;
      lanes all = warp.shuffle(rows_[v][0], text(0));
      LANEWISE_UNROLL
      for (int b = 1; b < bytes; ++b) all = all & warp.shuffle(rows_[v][b], text(b));
      passed = passed | all;
    }
    return warp.ballot(passed != item{0});
  }

 private:
  using item = std::conditional_t<Warp::is_single_thread, unsigned char, std::uint32_t>;
  using lanes = lanes_t<Warp, item>;
  static constexpr int of_vector = 8 * sizeof(item), vectors = byte_buckets::most / of_vector;

  int number_;
  lanes rows_[vectors][bytes];
};

}  // namespace detail
LANEWISE_END_NAMESPACE
