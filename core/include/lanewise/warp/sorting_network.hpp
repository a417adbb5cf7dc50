// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>
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

}  // namespace detail
LANEWISE_END_NAMESPACE
