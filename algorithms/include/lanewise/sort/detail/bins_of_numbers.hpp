// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>

#include <cstdint>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Numbers in the order of bins, where bins begin, and the bin of a place.
template <class BinOf>
struct binned_numbers {
  const std::uint32_t* numbers;
  const std::uint32_t* offsets;
  BinOf bin_of;
  std::int64_t most_items;  ///< of a small bin

  LANEWISE_FUNCTION std::int64_t items(std::int64_t bin) const {
    return static_cast<std::int64_t>(offsets[bin + 1]) - offsets[bin];
  }
  /// Whether a place is in a large bin.
  LANEWISE_FUNCTION bool operator()(const std::uint32_t& place) const {
    return items(bin_of(place)) > most_items;
  }
};

/// The order of places by bins, and within bins by the items.
template <class BinOf, class Less>
struct less_of_places {
  binned_numbers<BinOf> given;
  Less less;
  LANEWISE_FUNCTION bool operator()(const std::uint32_t& p, const std::uint32_t& q) const {
    const auto a = given.bin_of(p), b = given.bin_of(q);
    return a == b ? less(given.numbers[p], given.numbers[q]) : a < b;
  }
};

/// Numbers of a list of places go to the places of another.
struct numbers_to_places {
  const std::uint32_t* numbers;
  const std::uint32_t* places;
  std::uint32_t* to;
  LANEWISE_FUNCTION void operator()(std::int64_t i, const std::uint32_t& from) const {
    to[places[i]] = numbers[from];
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
