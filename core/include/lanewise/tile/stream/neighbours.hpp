// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/stream/windows.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Windows of a host's warp, which loads neighbours as it loads items: one place beside them, in
/// the nearest cache. What f does not use is not loaded.
template <class W, class Source, class F>
LANEWISE_FUNCTION void host_neighbours(const W& warp, const bordered<Source>& in,
                                       std::int64_t first, std::int64_t last, F f) {
  using T = typename Source::value_type;
  constexpr std::int64_t width = W::width;
  const auto lane = warp.lane();
  const auto ragged = [&](std::int64_t at) {
    const auto exists = warp.template first<T>(last - at);
    const auto shifted = [&](std::int64_t by) {
      return warp.map(
          exists,
          [&](std::uint32_t l) -> T {
            const std::int64_t i = at + by + l;
            return i < 0 ? in.front : (i < in.n ? in.items(i) : in.after);
          },
          in.after, lane);
    };
    f(at, exists, shifted(0), shifted(-1), shifted(1));
  };
  std::int64_t at = first;
  if (at == 0 && at < last) {
    ragged(at);
    at += width;
  }
  // The item after a window exists, too.
  const std::int64_t whole = last < in.n ? last : in.n - 1;
  for (; at + width <= whole; at += width) {
    f(at, warp.template first<T>(W::width), detail::load_window(warp, in.items, at),
      detail::load_window(warp, in.items, at - 1), detail::load_window(warp, in.items, at + 1));
  }
  for (; at < last; at += width) ragged(at);
}

}  // namespace detail
LANEWISE_END_NAMESPACE
