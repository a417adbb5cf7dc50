// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// The most buckets that one multisplit distributes over.
inline constexpr int most_buckets = 256;

namespace detail {

/// What a bucket function returned as a number that is below most_buckets only if the result was:
/// wide results are not cut off.
template <class B>
LANEWISE_FUNCTION constexpr std::uint32_t bucket_number(B b) {
  if constexpr (sizeof(B) > sizeof(std::uint32_t)) {
    return static_cast<std::uint64_t>(b) < most_buckets ? static_cast<std::uint32_t>(b)
                                                        : ~std::uint32_t{0};
  } else {
    return static_cast<std::uint32_t>(b);
  }
}

/// The type of a source's items; of what stands for no source, some type.
template <class Values>
struct value_of {
  using type = typename Values::value_type;
};
template <>
struct value_of<std::nullptr_t> {
  using type = char;
};

/// The size of a source's items; 0 for what stands for no source.
template <class Values>
inline constexpr int value_bytes = static_cast<int>(sizeof(typename Values::value_type));
template <>
inline constexpr int value_bytes<std::nullptr_t> = 0;

}  // namespace detail
LANEWISE_END_NAMESPACE
