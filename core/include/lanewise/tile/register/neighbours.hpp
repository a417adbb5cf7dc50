// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/source.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Windows of a warp whose lanes exchange what they have loaded: item first - 1, every item once,
/// item last. Some windows of loads are in flight at once.
template <class W, class Source, class F>
LANEWISE_FUNCTION void device_neighbours(const W& warp, const bordered<Source>& in,
                                         std::int64_t first, std::int64_t last, F f) {
  using T = typename Source::value_type;
  using items = lanes_t<W, T>;
  constexpr int at_once = sizeof(T) <= 8 ? 4 : 1;
  if (first >= last) return;
  const auto lane = warp.lane();
  const auto lanes_until = [](std::int64_t end, std::int64_t at) {
    return static_cast<int>(end - at < W::width ? end - at : W::width);
  };
  const std::int64_t loaded = last < in.n ? last + 1 : in.n;
  const auto load = [&](std::int64_t at) {
    return warp.map(
        warp.first(lanes_until(loaded, at)),
        [&](std::uint32_t l) -> T { return in.items(at + std::int64_t{l}); }, in.after, lane);
  };
  T before = first > 0 ? in.items(first - 1) : in.front;
  items x[at_once + 1];
  x[0] = load(first);
  for (std::int64_t begin = first; begin < last; begin += at_once * W::width) {
    LANEWISE_UNROLL
    for (int c = 1; c <= at_once; ++c) x[c] = load(begin + c * W::width);
    LANEWISE_UNROLL
    for (int c = 0; c < at_once; ++c) {
      const std::int64_t at = begin + c * W::width;
      if (at >= last) return;
      f(at, warp.template first<T>(lanes_until(last, at)), x[c],
        lanewise::select(lane == 0u, items(before), warp.shuffle_up(x[c], 1)),
        lanewise::select(lane == static_cast<std::uint32_t>(W::width - 1),
                         items(warp.broadcast(x[c + 1], 0)), warp.shuffle_down(x[c], 1)));
      before = warp.broadcast(x[c], W::width - 1);
    }
    x[0] = x[at_once];
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
