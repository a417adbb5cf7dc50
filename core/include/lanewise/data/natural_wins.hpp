// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// Which of two items wins. Of numbers every one wins over NaN.

/// Whether a wins over b, where `precedes` says that a comes first in the order: a number wins over
/// NaN. && and || would be branches in every lane.
template <class T>
LANEWISE_FUNCTION constexpr bool wins_over(bool precedes, const T& a, const T& b) {
  const bool a_is_number = a == a, b_is_nan = b != b;
  return (int{precedes} | (int{a_is_number} & int{b_is_nan})) != 0;
}

struct smaller_wins {
  using vectors = minimum;
  template <class T>
  requires requires(const T& a, const T& b) {
    a < b;
    a == b;
  }
  LANEWISE_FUNCTION constexpr bool operator()(const T& a, const T& b) const {
    return detail::wins_over(a < b, a, b);
  }
};
struct larger_wins {
  using vectors = maximum;
  template <class T>
  requires requires(const T& a, const T& b) {
    a < b;
    a == b;
  }
  LANEWISE_FUNCTION constexpr bool operator()(const T& a, const T& b) const {
    return detail::wins_over(b < a, a, b);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
