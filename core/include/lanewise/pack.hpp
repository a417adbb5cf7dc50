// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>

LANEWISE_BEGIN_NAMESPACE

namespace detail {
constexpr std::size_t pack_alignment(std::size_t bytes) {
  const std::size_t limit = bytes < 16 ? bytes : 16;
  return (bytes & (bytes - 1)) == 0 ? limit : 1;
}
}  // namespace detail

/// k neighbouring items that travel together as one lane element, so that narrow items use whole
/// memory accesses. Aligned to its size up to 16 bytes when the size is a power of two.
template <class T, int k>
struct alignas(detail::pack_alignment(k * sizeof(T)) < alignof(T)
                   ? alignof(T)
                   : detail::pack_alignment(k * sizeof(T))) pack {
  using value_type = T;
  static constexpr int size = k;

  T item[k];

  LANEWISE_FUNCTION constexpr T& operator[](int i) { return item[i]; }
  LANEWISE_FUNCTION constexpr const T& operator[](int i) const { return item[i]; }
  friend LANEWISE_FUNCTION constexpr bool operator==(const pack& a, const pack& b) {
    bool equal = true;
    LANEWISE_UNROLL
    for (int i = 0; i < k; ++i) equal = equal && a.item[i] == b.item[i];
    return equal;
  }
};

LANEWISE_END_NAMESPACE
