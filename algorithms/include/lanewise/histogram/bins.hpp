// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/arguments.hpp>
#include <lanewise/data/pack.hpp>
#include <lanewise/data/source.hpp>
#include <lanewise/tile/fixed_tree.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// How a histogram assigns items to bins: a function object from an item to an integer, or what the
// two functions below return. An item has the same bin on every backend.

/// The most bins of a histogram.
inline constexpr std::int64_t most_bins = std::int64_t{1} << 21;

/// Bins of equal width.
template <class T>
struct even_bins_between {
  T lower;
  T upper;
};

/// Bins between neighbours of an ascending array.
template <class V>
struct bins_between {
  V edges;
};

namespace detail {

template <class T>
inline constexpr bool is_wide_unsigned = std::is_integral_v<T>&& std::is_unsigned_v<T> &&
                                         sizeof(T) == 8;

/// What holds both levels.
template <class L, class U>
struct level {
  using type = std::common_type_t<L, U>;
};
template <class L, class U>
requires(std::is_integral_v<L>&& std::is_integral_v<U>) struct level<L, U> {
  using type =
      std::conditional_t<is_wide_unsigned<L> || is_wide_unsigned<U>, std::uint64_t, std::int64_t>;
};

template <class T>
constexpr bool is_below_zero(T x) {
  if constexpr (std::is_signed_v<T>) return x < T{};
  return false;
}
/// An integer as another of 64 bits.
template <class To, class From>
To level_as(From x, const char* name) {
  const auto y = static_cast<To>(x);
  const bool fits = detail::is_below_zero(x) == detail::is_below_zero(y);
  detail::expects(fits, "even_bins: ", name, " is ", x,
                  ", which the items' type or the other's cannot be");
  return y;
}

}  // namespace detail

/// Bins of equal width from lower up to, and without, upper. How many there are, the output says.
/// An item x that is not in [lower, upper), as a NaN, has no bin.
///
/// Integers: lower and upper are integers, too, and the bin is exactly floor((x - lower) * bins /
/// (upper - lower)). Floating-point numbers: levels are rounded to the items' type, and scale =
/// bins / (upper - lower). Each operation is rounded to that type; the bin is
/// min(floor((x - lower) * scale), bins - 1).
template <class L, class U>
requires(std::is_arithmetic_v<L>&& std::is_arithmetic_v<U>) auto even_bins(L lower, U upper) {
  using T = typename detail::level<L, U>::type;
  if constexpr (std::is_integral_v<T>) {
    return even_bins_between<T>{detail::level_as<T>(lower, "lower"),
                                detail::level_as<T>(upper, "upper")};
  } else {
    return even_bins_between<T>{static_cast<T>(lower), static_cast<T>(upper)};
  }
}

/// Bins from each edge up to, and without, the next: item x is in bin b if edges(b) <= x <
/// edges(b + 1). edges is a contiguous rank-1 View of numbers, read when the call runs. They must
/// ascend, equal ones make empty bins; if they do not, items are in any of the bins, or in none.
/// Items are compared as arithmetic operators do, but never a negative integer with an unsigned one
/// of 64 bits.
template <class V>
requires(Kokkos::is_view_v<V>) auto range_bins(const V& edges) {
  return bins_between<V>{edges};
}

namespace detail {

/// The bin of an item; `bin` says nothing if it is outside.
struct placed {
  std::uint32_t bin;
  bool inside;
};

// What kernels know of bins: find(x, bin) says whether an item is inside of the bins, and in which.
// They are made on the host, by prepare() below.

/// bins * (x - lower) / range by a multiplication: with s as below, m = ceil(bins * 2^s / range) is
/// exact for all distances up to range, if 2^s >= range * range / gcd(bins, range). The product
/// grows with the distance, so that it is not less than bins beyond.
template <class Item>
struct even_integers {
  using distance = std::conditional_t<sizeof(Item) <= 4, std::uint32_t, std::uint64_t>;
  __extension__ using wide = unsigned __int128;

  distance lower;
  distance last;    // upper - lower - 1
  std::uint64_t m;  // of 2^s, s = 32 + shift; of 2^64 where distances are wide
  std::uint32_t bins;
  int shift;
  bool distances_are_wide;

  LANEWISE_FUNCTION bool find(const Item& x, std::uint32_t& bin) const {
    const auto d = static_cast<distance>(static_cast<distance>(x) - lower);
    if constexpr (sizeof(distance) == 8) {
      bin = distances_are_wide ? by_estimate(d) : by_product(static_cast<std::uint32_t>(d));
    } else {
      bin = by_product(d);
    }
    return d <= last;
  }

 private:
  LANEWISE_FUNCTION std::uint32_t by_product(std::uint32_t d) const {
    const std::uint64_t low = std::uint64_t{d} * static_cast<std::uint32_t>(m);
    const std::uint64_t high = std::uint64_t{d} * static_cast<std::uint32_t>(m >> 32);
    return static_cast<std::uint32_t>((high + (low >> 32)) >> shift);
  }
  /// The estimate is the bin, or one less.
  LANEWISE_FUNCTION std::uint32_t by_estimate(std::uint64_t d) const {
    const auto b = static_cast<std::uint64_t>(static_cast<wide>(d) * m >> 64);
    const wide rest = static_cast<wide>(d) * bins - static_cast<wide>(b) * (wide{last} + 1);
    return static_cast<std::uint32_t>(b + (rest > last ? 1 : 0));
  }
};

/// As even_bins says.
template <class Item>
struct even_floats {
  Item lower;
  Item upper;
  Item scale;
  std::uint32_t last;

  LANEWISE_FUNCTION bool find(const Item& x, std::uint32_t& bin) const {
    // No branch and no arithmetic that depends on one, so that hosts do it by vectors.
    const bool inside = (x >= lower) & (x < upper);
    const Item y = inside ? x : lower;
    const auto b = static_cast<std::uint32_t>(static_cast<std::int32_t>((y - lower) * scale));
    bin = b < last ? b : last;
    return inside;
  }
};

/// What items and edges are compared as.
template <class Item, class Edge>
using compared = typename std::conditional_t<std::is_integral_v<Item> && std::is_integral_v<Edge>,
                                             level<Item, Edge>, std::common_type<Item, Edge>>::type;

/// The last edge that is not greater, by as many steps for each item.
template <class Item, class Edge>
struct searched_edges {
  using common = compared<Item, Edge>;

  const Edge* edges;
  std::uint32_t bins;

  LANEWISE_FUNCTION bool find(const Item& x, std::uint32_t& bin) const {
    const auto y = static_cast<common>(x);
    std::uint32_t in_front = 0;  // edges that are known not to be greater
    for (std::uint32_t left = bins + 1; left > 0;) {
      const std::uint32_t half = (left + 1) / 2;
      // A product: compilers make no branch of it, which would be predicted wrong half of the time.
      in_front +=
          half * static_cast<std::uint32_t>(static_cast<common>(edges[in_front + half - 1]) <= y);
      left -= half;
    }
    bin = in_front - 1;
    return bin < bins;
  }
  /// For items [first, first + k) of a source: their searches take the same steps, so that a host
  /// takes every step for all of them, by vectors.
  template <int k, class Source>
  LANEWISE_FUNCTION void find_many(const Source& in, std::int64_t first, std::uint32_t* bin) const {
    common y[k];
    for (int c = 0; c < k; ++c) y[c] = static_cast<common>(in(first + c));
    for (int c = 0; c < k; ++c) bin[c] = 0;
    for (std::uint32_t left = bins + 1; left > 0;) {
      const std::uint32_t half = (left + 1) / 2;
      for (int c = 0; c < k; ++c)
        bin[c] += half *
                  static_cast<std::uint32_t>(static_cast<common>(edges[bin[c] + half - 1]) <= y[c]);
      left -= half;
    }
    for (int c = 0; c < k; ++c) bin[c] -= 1;
  }
};

/// As `searched_edges`, in a search tree that a team has in scratch, level after level: the nodes
/// below node i are 2 i and 2 i + 1. Lanes that ask for different nodes of the first levels find
/// them in different banks.
template <class Item, class Edge>
struct edge_tree {
  using common = compared<Item, Edge>;

  const common* nodes;
  int levels;
  std::uint32_t bins;

  static LANEWISE_FUNCTION int levels_for(std::uint32_t bins) {
    int levels = 1;
    while ((std::uint32_t{1} << levels) <= bins + 1) ++levels;
    return levels;
  }
  static LANEWISE_FUNCTION std::int64_t bytes_for(std::uint32_t bins) {
    return (std::int64_t{1} << levels_for(bins)) * static_cast<std::int64_t>(sizeof(common));
  }
  /// Node i of the tree of `levels` levels. What is in no bin goes to the right of all edges.
  static LANEWISE_FUNCTION common node(const searched_edges<Item, Edge>& from, int levels,
                                       std::uint32_t i) {
    int depth = 0;
    while (i >> (depth + 1) != 0) ++depth;
    const std::uint32_t in_level = i - (std::uint32_t{1} << depth);
    const std::uint32_t place = ((2 * in_level + 1) << (levels - 1 - depth)) - 1;
    return i > 0 && place <= from.bins ? static_cast<common>(from.edges[place]) : greatest;
  }

  LANEWISE_FUNCTION bool find(const Item& x, std::uint32_t& bin) const {
    placed r;
    find_all<1>(pack<Item, 1>{{x}}, &r);
    bin = r.bin;
    return r.inside;
  }
  /// Finds several items together, which do not wait for each other.
  template <int k>
  LANEWISE_FUNCTION void find_all(const pack<Item, k>& x, placed* r) const {
    std::uint32_t i[k];
    LANEWISE_UNROLL
    for (int c = 0; c < k; ++c) i[c] = 1;
    for (int level = 0; level < levels; ++level) {
      LANEWISE_UNROLL
      for (int c = 0; c < k; ++c)
        i[c] = 2 * i[c] + (nodes[i[c]] <= static_cast<common>(x[c]) ? 1 : 0);
    }
    LANEWISE_UNROLL
    for (int c = 0; c < k; ++c) {
      const std::uint32_t bin = i[c] - (std::uint32_t{1} << levels) - 1;
      r[c] = {bin, bin < bins};
    }
  }

 private:
  static constexpr common greatest = std::is_floating_point_v<common>
                                         ? std::numeric_limits<common>::infinity()
                                         : std::numeric_limits<common>::max();
};

/// By a function of the caller's.
template <class BinOf>
struct bins_by {
  BinOf f;
  std::uint32_t bins;

  template <class Item>
  LANEWISE_FUNCTION bool find(const Item& x, std::uint32_t& bin) const {
    const auto b = f(x);
    bin = static_cast<std::uint32_t>(b);
    if constexpr (sizeof(b) > sizeof(std::uint32_t)) {
      return static_cast<std::uint64_t>(b) < bins;
    } else {
      return bin < bins;
    }
  }
};

/// Whether bins fit items of a type, as the other checks of arguments.
template <class Exec, class Item, class T>
constexpr bool check_bins(const even_bins_between<T>*) {
  constexpr bool numbers = std::is_arithmetic_v<Item>;
  constexpr bool same = !(std::is_integral_v<Item> && std::is_floating_point_v<T>);
  static_assert(numbers || is_refused<Item>, "lanewise: even bins are of numbers");
  static_assert(same || !numbers, "lanewise: even bins of integers lie between integers");
  return numbers && same;
}
template <class Exec, class Item, class V>
constexpr bool check_bins(const bins_between<V>*) {
  using edge = typename V::non_const_value_type;
  constexpr bool numbers = std::is_arithmetic_v<Item> && std::is_arithmetic_v<edge>;
  static_assert(numbers || is_refused<Item>, "lanewise: ranges of bins are of numbers");
  if constexpr (numbers && std::is_integral_v<Item> && std::is_integral_v<edge>) {
    constexpr bool comparable = !((is_wide_unsigned<Item> && std::is_signed_v<edge>) ||
                                  (is_wide_unsigned<edge> && std::is_signed_v<Item>));
    static_assert(comparable,
                  "lanewise: unsigned integers of 64 bits are compared with unsigned ones");
    return comparable;
  }
  detail::check_reachable<Exec, V>();
  return detail::check_view_type<V>() && numbers;
}
template <class Exec, class Item, class BinOf>
constexpr bool check_bins(const BinOf*) {
  return detail::check_bucket_of<Exec, BinOf, Item>();
}

template <class Item, class T>
auto prepare(const even_bins_between<T>& even, std::int64_t bins, const char* algorithm) {
  detail::expects(even.lower < even.upper, algorithm, ": the bins' lower is ", even.lower,
                  ", not less than upper, ", even.upper);
  if constexpr (std::is_floating_point_v<Item>) {
    const auto lower = static_cast<Item>(even.lower), upper = static_cast<Item>(even.upper);
    const Item scale = static_cast<Item>(bins) / (upper - lower);
    detail::expects(std::isfinite(lower) && std::isfinite(upper - lower) && std::isfinite(scale),
                    algorithm, ": ", bins, " bins between ", even.lower, " and ", even.upper,
                    " are out of the range of the items' type");
    return even_floats<Item>{lower, upper, scale, static_cast<std::uint32_t>(bins - 1)};
  } else {
    using even_bins = even_integers<Item>;
    using wide = typename even_bins::wide;
    using own = std::conditional_t<is_wide_unsigned<Item>, std::uint64_t, std::int64_t>;
    const auto lower = detail::level_as<own>(even.lower, "lower");
    const auto upper = detail::level_as<own>(even.upper, "upper");
    const std::uint64_t range =
        static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
    if constexpr (sizeof(Item) <= 4) {
      // Distances are computed in 32 bits, and must not come round.
      constexpr auto least = static_cast<std::int64_t>(std::numeric_limits<Item>::min());
      constexpr auto most = static_cast<std::int64_t>(std::numeric_limits<Item>::max());
      constexpr std::int64_t round = std::int64_t{1} << 32;
      detail::expects(upper <= least + round && lower > most - round, algorithm,
                      ": the bins are in [", lower, ", ", upper, "), but items in [", least, ", ",
                      most, "]");
    }
    even_bins r{static_cast<typename even_bins::distance>(lower),
                static_cast<typename even_bins::distance>(range - 1),
                0,
                static_cast<std::uint32_t>(bins),
                0,
                range > std::uint64_t{1} << 32};
    if (r.distances_are_wide) {
      r.m = static_cast<std::uint64_t>((static_cast<wide>(bins) << 64) / range);
    } else {
      const std::uint64_t divisor = std::gcd(static_cast<std::uint64_t>(bins), range);
      const wide needed = static_cast<wide>(range / divisor) * range;
      while ((wide{1} << (32 + r.shift)) < needed) ++r.shift;
      const std::uint64_t q = range / divisor;
      const wide p = static_cast<wide>(static_cast<std::uint64_t>(bins) / divisor)
                     << (32 + r.shift);
      r.m = static_cast<std::uint64_t>((p + q - 1) / q);
    }
    return r;
  }
}
template <class Item, class V>
auto prepare(const bins_between<V>& range, std::int64_t bins, const char* algorithm) {
  const auto edges = static_cast<std::int64_t>(range.edges.extent(0));
  expects(edges == bins + 1, algorithm, ": there are ", edges, " edges, of ", bins,
          " bins, which have one more");
  detail::expects(range.edges.data() != nullptr, algorithm, ": edges has ", edges,
                  " items and no memory");
  return searched_edges<Item, typename V::non_const_value_type>{range.edges.data(),
                                                                static_cast<std::uint32_t>(bins)};
}
template <class Item, class BinOf>
auto prepare(const BinOf& bin_of, std::int64_t bins, const char*) {
  return bins_by<BinOf>{bin_of, static_cast<std::uint32_t>(bins)};
}

}  // namespace detail
LANEWISE_END_NAMESPACE
