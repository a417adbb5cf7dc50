// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Exchanges that sort k items: Batcher's network, which merges odd and even ones.
template <int k>
struct exchanges {
  short low[k * k / 2 + 1];
  short high[k * k / 2 + 1];
  std::size_t size;
};
template <int k>
constexpr exchanges<k> make_exchanges() {
  exchanges<k> all{};
  for (int run = 1; run < k; run *= 2) {
    for (int step = run; step > 0; step /= 2) {
      for (int first = step % run; first + step < k; first += 2 * step) {
        for (int i = first; i < first + step && i + step < k; ++i) {
          if (i / (2 * run) != (i + step) / (2 * run)) continue;
          all.low[all.size] = static_cast<short>(i);
          all.high[all.size++] = static_cast<short>(i + step);
        }
      }
    }
  }
  return all;
}
template <int k>
inline constexpr exchanges<k> sorting_network = detail::make_exchanges<k>();

// Device code knows the network by template arguments alone.
template <int i, int j, class Items>
LANEWISE_FUNCTION void put_in_order(Items& x) {
  const auto less = x[j] < x[i] ? x[j] : x[i];
  x[j] = x[j] < x[i] ? x[i] : x[j];
  x[i] = less;
}
template <int k, class Items, std::size_t... i>
LANEWISE_FUNCTION void exchange_all(Items& x, std::index_sequence<i...>) {
  (detail::put_in_order<sorting_network<k>.low[i], sorting_network<k>.high[i]>(x), ...);
}
/// Sorts a lane's items, which are in registers. Not stable.
template <class T, int k>
LANEWISE_FUNCTION void sort_in_registers(T (&x)[k]) {
  detail::exchange_all<k>(x, std::make_index_sequence<sorting_network<k>.size>());
}

/// Item i of a warp meets item i ^ mask; the one without the highest bit of the mask keeps the
/// lesser. Lane l has items l, l + W::width, ...
template <int mask, class W, class Lanes, int k>
LANEWISE_FUNCTION void exchange_across(const W& warp, Lanes (&x)[k]) {
  using item = typename Lanes::value_type;
  constexpr int columns = mask / W::width, lanes = mask % W::width;
  constexpr auto highest = std::bit_floor(static_cast<unsigned>(mask));
  Lanes other[k];
  LANEWISE_UNROLL
  for (int c = 0; c < k; ++c) {
    other[c] = x[c ^ columns];
    if constexpr (lanes > 0) other[c] = warp.shuffle_xor(other[c], lanes);
  }
  LANEWISE_UNROLL
  for (int c = 0; c < k; ++c) {
    x[c] = warp.map(
        [c](std::uint32_t l, const item& a, const item& b) {
          const bool is_lower = ((l + static_cast<std::uint32_t>(c * W::width)) & highest) == 0;
          return (b < a) == is_lower ? b : a;
        },
        warp.lane(), x[c], other[c]);
  }
}
template <int mask, class W, class Lanes, int k>
LANEWISE_FUNCTION void halve_across(const W& warp, Lanes (&x)[k]) {
  if constexpr (mask > 0) {
    detail::exchange_across<mask>(warp, x);
    detail::halve_across<mask / 2>(warp, x);
  }
}
/// Sorts runs of `size` items of a warp, all by default, bitonically. No two items are equal unless
/// they are the same.
template <class W, class Lanes, int k, int size = k* W::width>
LANEWISE_FUNCTION void sort_across(const W& warp, Lanes (&x)[k]) {
  if constexpr (size > 1) {
    detail::sort_across<W, Lanes, k, size / 2>(warp, x);
    detail::exchange_across<size - 1>(warp, x);
    detail::halve_across<size / 4>(warp, x);
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
