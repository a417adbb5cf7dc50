// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/expansion.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The index at which part i of n items, in parts of `step`, is sampled. Samples are not at equal
/// distances, as all items that they take from periodic items could then be alike.
LANEWISE_FUNCTION constexpr std::int64_t sampled_at(std::int64_t i, std::int64_t step) {
  const auto fraction = static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * 0x9E3779B9u);
  // Steps beyond 2^31 are sampled in their first part.
  const std::int64_t most = step < (std::int64_t{1} << 31) ? step : (std::int64_t{1} << 31);
  return i * step +
         static_cast<std::int64_t>(
             (static_cast<std::uint64_t>(fraction) * static_cast<std::uint64_t>(most)) >> 32);
}

/// Items, and the values beside them unless Value is no_value.
template <class Item, class Value>
struct sort_place {
  Item* keys;
  Value* values;

  static constexpr bool has_values = !std::is_same_v<Value, no_value>;

  LANEWISE_FUNCTION sort_place operator+(std::int64_t i) const {
    if constexpr (has_values) return {keys + i, values + i};
    if constexpr (!has_values) return {keys + i, nullptr};
  }
  LANEWISE_FUNCTION bool operator==(const sort_place& other) const { return keys == other.keys; }
  LANEWISE_FUNCTION void take(std::int64_t to, const sort_place& from, std::int64_t i) const {
    keys[to] = from.keys[i];
    if constexpr (has_values) values[to] = from.values[i];
  }
  /// Takes the first n items. Does nothing where `from` is here.
  LANEWISE_FUNCTION void copy(const sort_place& from, std::int64_t n) const {
    if (from == *this || n <= 0) return;
    const auto size = static_cast<std::size_t>(n);
    std::memcpy(static_cast<void*>(keys), from.keys, size * sizeof(Item));
    if constexpr (has_values)
      std::memcpy(static_cast<void*>(values), from.values, size * sizeof(Value));
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
