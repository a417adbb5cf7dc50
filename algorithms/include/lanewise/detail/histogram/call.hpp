// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/bins.hpp>
#include <lanewise/policy.hpp>
#include <lanewise/status.hpp>

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

/// One way to assign bins to items.
template <class Bins>
struct single_bins {
  static constexpr int count = 1;
  Bins bins;

  template <class Item>
  LANEWISE_FUNCTION placed of(const Item& x, int) const {
    return bins.of(x);
  }
};

/// One for each of the first channels of an item. All their bins have numbers of their own.
template <class Bins, int active>
struct channel_bins {
  static constexpr int count = active;
  Bins bins[active];
  std::uint32_t first[active];

  template <class T, int channels>
  LANEWISE_FUNCTION placed of(const channel_items<T, channels>& x, int t) const {
    const placed p = bins[t].of(x.item[t]);
    return {first[t] + p.bin, p.inside};
  }
};

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
  std::uint32_t first[bins_per_item + 1];  // of the bins of an output; behind all, bins
  status* errors;
  bool is_alone;    // one team has all items, and overwrites the output
  counter* tables;  // on hosts, of all teams

  LANEWISE_FUNCTION placed bin_of(const item& x, int t) const { return bins_of.of(x, t); }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
