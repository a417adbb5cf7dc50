// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sequence/detail/extremum.hpp>
#include <lanewise/tile/stream/windows.hpp>

#include <limits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// NaN as a number that loses against all others but itself.
template <class T, class Wins>
struct nan_loses {
  static constexpr T worst =
      Wins()(-1, 1) ? std::numeric_limits<T>::infinity() : -std::numeric_limits<T>::infinity();
  LANEWISE_FUNCTION T operator()(const T& x) const { return x == x ? x : worst; }
};

template <class T, class Source, class Wins>
LANEWISE_FUNCTION maybe<T> winner_of_each(const numbered_source<Source>& source, std::int64_t first,
                                          std::int64_t last, const winner<Wins>& op) {
  maybe<T> best{source(first), true};
  for (std::int64_t i = first + 1; i < last; ++i) best.value = op(best.value, source(i));
  return best;
}

/// The first of items [first, last) that equals value, which one of them does.
template <class T, class W, class Source, class V>
LANEWISE_FUNCTION T first_equal(const W& warp, const numbered_source<Source>& source,
                                std::int64_t first, std::int64_t last, const V& value) {
  std::int64_t i = first;
  for (; i + W::width <= last; i += W::width) {
    const auto found = warp.ballot(detail::load_window(warp, source.items(), i) ==
                                   typename W::template lanes<V>(value));
    if (found != 0) return source(i + W::lowest(found));
  }
  while (!(source.items()(i) == value)) ++i;
  return source(i);
}

/// The winner of items [first, last): the winning value of a block by vectors, and only where that
/// beats the blocks before, its place.
template <class Source>
struct stream_reduction<numbered_source<Source>> {
  template <class T, class W, class Wins>
  static LANEWISE_FUNCTION maybe<T> reduce(const W& warp, const numbered_source<Source>& source,
                                           std::int64_t first, std::int64_t last,
                                           const winner<Wins>& op) {
    if (first >= last) return {{}, false};
    using item = typename Source::value_type;
    if constexpr (std::is_arithmetic_v<item> && requires { typename Wins::vectors; }) {
      constexpr std::int64_t block = 4096;  // small enough to stay in the first-level cache
      maybe<T> best{{}, false};
      for (std::int64_t at = first; at < last; at += block) {
        const std::int64_t end = at + block < last ? at + block : last;
        item value;
        bool all_lose = false;
        if constexpr (std::is_floating_point_v<item>) {
          using comparable = nan_loses<item, Wins>;
          value = detail::reduce_stream<item>(warp, detail::compose(source.items(), comparable{}),
                                              at, end, typename Wins::vectors{})
                      .value;
          all_lose = value == comparable::worst;  // infinite, or only NaN
        } else {
          value =
              detail::reduce_stream<item>(warp, source.items(), at, end, typename Wins::vectors{})
                  .value;
        }
        if (all_lose) {
          const T here = detail::winner_of_each<T>(source, at, end, op).value;
          best.value = best.present ? op(best.value, here) : here;
        } else if (!best.present || op.wins(value, best.value.value)) {
          best.value = detail::first_equal<T>(warp, source, at, end, value);
        }
        best.present = true;
      }
      return best;
    } else {
      return detail::winner_of_each<T>(source, first, last, op);
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
