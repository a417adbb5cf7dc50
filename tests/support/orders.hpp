// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <support/generators.hpp>

#include <algorithm>
#include <vector>

// Orders of items, and sorted items.

namespace test {

/// Affine maps by their factor: others that count as equal differ.
struct by_factor {
  KOKKOS_FUNCTION bool operator()(const affine& x, const affine& y) const { return x.a < y.a; }
};
struct backward {
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x, const T& y) const {
    return y < x;
  }
};

/// The order in which items of type T are tested.
template <class T>
using order_of =
    std::conditional_t<std::is_same_v<T, affine>, by_factor,
                       std::conditional_t<std::is_same_v<T, double>, backward, lanewise::less>>;

/// Items with about `distinct` different ones in the order, each of them another item where T can
/// tell.
template <class T>
std::vector<T> items_with_equals(std::int64_t n, std::uint64_t distinct, std::uint64_t salt) {
  auto random = make_random(salt);
  std::vector<T> result;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t key = random_number(random, distinct - 1);
    if constexpr (std::is_same_v<T, affine>) {
      result.push_back({static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(i),
                        static_cast<std::uint32_t>(salt)});
    } else {
      result.push_back(item_of<T>(key));
    }
  }
  return result;
}
template <class T>
std::vector<T> sorted_items(std::int64_t n, std::uint64_t distinct, std::uint64_t salt) {
  auto result = items_with_equals<T>(n, distinct, salt);
  std::stable_sort(result.begin(), result.end(), order_of<T>{});
  return result;
}

}  // namespace test
