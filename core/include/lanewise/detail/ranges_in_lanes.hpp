// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// As many ranges as a warp has lanes, one in each, that follow each other: places [begin, end).
/// Some may be empty.
template <class W, class T>
struct ranges_in_lanes {
  /// Ranges of so many items are taken one by one, those between them together.
  static constexpr int many = 8 * W::width;

  typename W::template lanes<std::int64_t> begin;
  typename W::template lanes<std::int64_t> end;
  typename W::template lanes<T> value;
};

/// body(warp, mask, value, rank) where every lane has an item: body.whole, if there is one.
template <class W, class Values, class Body>
LANEWISE_FUNCTION void call_whole(const W& warp, const Body& body, const Values& value,
                                  std::int64_t rank) {
  if constexpr (requires { body.whole(warp, value, rank); }) {
    body.whole(warp, value, rank);
  } else {
    body(warp, warp.template first<typename Values::value_type>(W::width), value, rank);
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
