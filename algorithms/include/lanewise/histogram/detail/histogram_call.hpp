// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/histogram/bins.hpp>
#include <lanewise/team/policy.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Stands for no weights: every item counts 1.
struct no_weights {
  using value_type = std::uint8_t;
  static constexpr bool contiguous = false;
  LANEWISE_FUNCTION std::uint8_t operator()(std::int64_t) const { return 1; }
};

/// Neighbouring items, one for each channel.
template <class T, int channels>
struct channel_items {
  T item[channels];
};

/// How many values items have, if they are few; else 0.
template <class T>
inline constexpr int few_values = sizeof(T) == 1 && std::is_integral_v<T> ? 256 : 0;
template <class T, int channels>
inline constexpr int few_values<channel_items<T, channels>> = few_values<T>;

/// An item's value as its bin. Values of several channels have numbers of their own.
struct value_of_item {
  template <class T>
  LANEWISE_FUNCTION bool find(const T& x, int, std::uint32_t& bin) const {
    bin = static_cast<std::uint8_t>(x);
    return true;
  }
  template <class T, int channels>
  LANEWISE_FUNCTION bool find(const channel_items<T, channels>& x, int t,
                              std::uint32_t& bin) const {
    bin = static_cast<std::uint32_t>(t) * few_values<T> + static_cast<std::uint8_t>(x.item[t]);
    return true;
  }
};

/// One way to assign bins to items.
template <class Bins>
struct single_bins {
  static constexpr int count = 1;
  Bins bins;

  template <class Item>
  LANEWISE_FUNCTION bool find(const Item& x, int, std::uint32_t& bin) const {
    return bins.find(x, bin);
  }
  template <int k, class Source>
  LANEWISE_FUNCTION void find_many(const Source& in, std::int64_t first,
                                   std::uint32_t* bin) const requires requires {
    bins.template find_many<k>(in, first, bin);
  }
  { bins.template find_many<k>(in, first, bin); }
};

/// One for each of the first channels of an item. All their bins have numbers of their own.
template <class Bins, int active>
struct channel_bins {
  static constexpr int count = active;
  Bins bins[active];
  std::uint32_t first[active];

  template <class T, int channels>
  LANEWISE_FUNCTION bool find(const channel_items<T, channels>& x, int t,
                              std::uint32_t& bin) const {
    const bool inside = bins[t].find(x.item[t], bin);
    bin += first[t];
    return inside;
  }
};

template <class Bins, class Item>
LANEWISE_FUNCTION placed place(const Bins& bins, const Item& x, int t) {
  placed r;
  r.inside = bins.find(x, t, r.bin);
  return r;
}
/// The bin of an item of that value.
template <class Item, class Bins>
LANEWISE_FUNCTION placed place_value(const Bins& bins, std::uint32_t value, int t) {
  if constexpr (std::is_integral_v<Item>) {
    return detail::place(bins, static_cast<Item>(value), t);
  } else {
    Item x{};
    x.item[t] = static_cast<std::decay_t<decltype(x.item[0])>>(value);
    return detail::place(bins, x, t);
  }
}

/// The bins of neighbouring items. All of the items exist.
template <int k, class Bins, class Item>
LANEWISE_FUNCTION void place_all(const Bins& bins, const pack<Item, k>& x, int t, placed* r) {
  LANEWISE_UNROLL
  for (int c = 0; c < k; ++c) r[c] = detail::place(bins, x[c], t);
}
template <int k, class Item, class Edge>
LANEWISE_FUNCTION void place_all(const single_bins<edge_tree<Item, Edge>>& tree,
                                 const pack<Item, k>& x, int, placed* r) {
  tree.bins.find_all(x, r);
}

/// What a kernel counts. The bins of all outputs are numbered in a row.
template <class Source, class Weights, class Bins, class Result>
struct histogram_call {
  using item = typename Source::value_type;
  using weight = typename Weights::value_type;
  using result = Result;
  static constexpr bool has_weights = !std::is_same_v<Weights, no_weights>;
  static constexpr int bins_per_item = Bins::count;
  /// A team's counters. No team has more than 2^32 items.
  using counter = std::conditional_t<has_weights, Result, std::uint32_t>;

  Source in;
  Weights weights;
  item_count n;
  Bins bins_of;
  std::uint32_t bins;
  Result* out[bins_per_item];
  std::uint32_t first[bins_per_item + 1];  // of the bins of an output; after all, bins
  status* errors;
  bool is_alone;    // one team has all items, and overwrites the output
  counter* tables;  // on hosts, of all teams
};

}  // namespace detail
LANEWISE_END_NAMESPACE
