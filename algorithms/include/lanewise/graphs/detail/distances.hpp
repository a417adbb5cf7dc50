// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Distances as bits that are in the order of numbers: those of numbers that are not negative.
template <class T>
struct distances {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8,
                "lanewise: weights are integers or floating-point numbers of 32 or 64 bits");
  using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr bool is_floating = std::is_floating_point_v<T>;

  static LANEWISE_FUNCTION bits of(T x) {
    bits b;
    std::memcpy(&b, &x, sizeof(b));
    return b;
  }
  static LANEWISE_FUNCTION T value(bits b) {
    T x;
    std::memcpy(&x, &b, sizeof(b));
    return x;
  }
  /// The distance of what is not reached. As a kernel sees it: the library's constants are those of
  /// the host.
  static constexpr T most_value =
      is_floating ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  static LANEWISE_FUNCTION bits most() {
    const T x = most_value;
    return of(x);
  }
  /// Negative, or no number.
  static LANEWISE_FUNCTION bool is_bad(T weight) {
    if constexpr (std::is_unsigned_v<T>)
      return false;
    else
      return !(weight >= T{0});
  }
  /// A distance and a weight, or the greatest number where the sum is greater.
  static LANEWISE_FUNCTION bits sum(bits distance, T weight) {
    if constexpr (is_floating) {
      // -0.0 would be greater than all others.
      return of(static_cast<T>(value(distance) + weight) + T{0});
    } else {
      const bits w = of(weight), limit = most();
      return w > limit - distance ? limit : static_cast<bits>(distance + w);
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
