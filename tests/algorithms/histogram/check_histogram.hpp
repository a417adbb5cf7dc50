// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/histogram/histogram.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cmath>

namespace test {

/// The bin of an item, or -1: the definitions of bins.hpp, spelled out.
template <class T>
struct even_oracle {
  T lower;
  T upper;

  template <class Item>
  std::int64_t operator()(const Item& x, std::int64_t bins) const {
    if constexpr (std::is_floating_point_v<Item>) {
      const auto low = static_cast<Item>(lower), high = static_cast<Item>(upper);
      const Item width = high - low;
      const Item scale = static_cast<Item>(bins) / width;
      if (!(x >= low && x < high)) return -1;
      const Item distance = x - low;
      const Item place = distance * scale;
      return std::min(static_cast<std::int64_t>(std::floor(place)), bins - 1);
    } else {
      __extension__ using wide = __int128;
      if (wide{x} < wide{lower} || wide{x} >= wide{upper}) return -1;
      return static_cast<std::int64_t>((wide{x} - lower) * bins / (wide{upper} - lower));
    }
  }
};
template <class Edge>
struct range_oracle {
  std::vector<Edge> edges;

  template <class Item>
  std::int64_t operator()(const Item& x, std::int64_t bins) const {
    std::int64_t bin = -1;
    if (!(edges.front() <= x && x < edges.back())) return -1;
    for (std::int64_t b = 0; b < bins; ++b) {
      if (edges[static_cast<std::size_t>(b)] <= x) bin = b;
    }
    return bin;
  }
};
template <class F>
struct functor_oracle {
  F f;
  template <class Item>
  std::int64_t operator()(const Item& x, std::int64_t bins) const {
    const auto b = static_cast<std::int64_t>(f(x));
    return b < bins ? b : -1;
  }
};

/// Counts, and how many items are in no bin.
struct histogram_result {
  std::vector<std::uint64_t> counts;
  std::uint64_t outside;
};
template <class Item, class Oracle>
histogram_result histogram_of(const std::vector<Item>& items, std::int64_t bins, Oracle bin_of) {
  histogram_result r{std::vector<std::uint64_t>(static_cast<std::size_t>(bins), 0), 0};
  for (const Item& x : items) {
    const std::int64_t b = bin_of(x, bins);
    if (b < 0) {
      ++r.outside;
    } else {
      ++r.counts[static_cast<std::size_t>(b)];
    }
  }
  return r;
}

/// Counts of type T are those of the oracle, and so is the number of items outside.
template <class T = std::uint32_t, class Item, class Bins, class Oracle>
void check_histogram(const std::vector<Item>& items, std::int64_t bins, const Bins& bins_of,
                     Oracle oracle, int shift = 0) {
  const array<Item> in(items, shift);
  const array<T> counts(bins, T{77}, 1);
  const cell<lanewise::status> errors;

  lanewise::histogram(make_space(), in.const_view(), counts.view(), bins_of,
                      {.errors = errors.view()});

  const histogram_result expected = histogram_of(items, bins, oracle);
  CHECK(difference(counts.items(),
                   std::vector<T>(expected.counts.begin(), expected.counts.end())) == "");
  CHECK(errors.get().bad_items == expected.outside);
  CHECK(counts.guards_intact());
  CHECK(in.unchanged());
}
template <class T = std::uint32_t, class Item, class L>
void check_even(const std::vector<Item>& items, std::int64_t bins, L lower, L upper,
                int shift = 0) {
  CAPTURE(bins, lower, upper);
  check_histogram<T>(items, bins, lanewise::even_bins(lower, upper), even_oracle<L>{lower, upper},
                     shift);
}
template <class T = std::uint32_t, class Item, class Edge>
void check_range(const std::vector<Item>& items, const std::vector<Edge>& edges) {
  const auto bins = static_cast<std::int64_t>(edges.size()) - 1;
  CAPTURE(bins);
  const array<Edge> given(edges);
  check_histogram<T>(items, bins, lanewise::range_bins(given.const_view()),
                     range_oracle<Edge>{edges});
  CHECK(given.unchanged());
}
template <class Item>
void check_modulo(const std::vector<Item>& items, std::int64_t bins, std::uint32_t divisor) {
  CAPTURE(bins, divisor);
  check_histogram(items, bins, modulo{divisor}, functor_oracle<modulo>{{divisor}});
}

}  // namespace test
