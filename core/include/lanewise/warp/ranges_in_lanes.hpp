// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// As many ranges as a warp has lanes, one in each, that follow each other: places [begin, end).
/// Some may be empty.
template <class W, class T>
struct ranges_in_lanes {
  /// Ranges of `many` items or more are taken one by one, shorter ones between them together.
  static constexpr int many = 8 * W::width;

  lanes_t<W, std::int64_t> begin;
  lanes_t<W, std::int64_t> end;
  lanes_t<W, T> value;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
