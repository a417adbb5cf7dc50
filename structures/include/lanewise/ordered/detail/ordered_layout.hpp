// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_words.hpp>
#include <lanewise/data/radix_key.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How a leaf, a line of 128 bytes, holds its elements: first the keys, then the values. So a
/// search reads one half of the line, and a lane that finds its key has the value beside it.
///
///   key, value   4, -    8, -    4, 4    8, 8    others
///   elements     32      16      16      8       10
///
/// Keys are kept as unsigned integers in the same order (radix_key.hpp), values as their bytes. All
/// leaves but the last are full: element i of the map is element i % elements of leaf i / elements.
/// So a leaf needs no count and no link, and its right neighbour is the next line. Slots after
/// the last element hold the largest word as key.
template <class Key, class Value>
struct ordered_layout {
  static constexpr std::size_t key_bytes = sizeof(Key);
  static constexpr std::size_t value_bytes = bytes_of_type<Value>;
  static constexpr bool has_values = value_bytes != 0;
  static_assert(radix_sortable<Key> && (key_bytes == 4 || key_bytes == 8),
                "lanewise: keys of ordered structures are integers, enumerations or floating-point "
                "numbers of 4 or 8 bytes");
  static_assert(!has_values || value_bytes == 4 || value_bytes == 8,
                "lanewise: values of ordered structures are trivially copyable and have 4 or 8 "
                "bytes");

  using word = radix_bits_t<Key>;
  using value_word = std::conditional_t<value_bytes == 8, std::uint64_t, std::uint32_t>;
  static constexpr std::uint32_t bytes = 128;
  static constexpr std::uint32_t elements = bytes / (key_bytes + value_bytes);
  static constexpr word padding = static_cast<word>(~word{0});

  /// The offsets of the key and the value of an element. They are counted in words of their size
  /// from the first key and the first value of all leaves.
  static LANEWISE_FUNCTION std::uint64_t key_at(std::uint32_t i) {
    return std::uint64_t{i / elements} * (bytes / key_bytes) + i % elements;
  }
  static LANEWISE_FUNCTION std::uint64_t value_at(std::uint32_t i) {
    return std::uint64_t{i / elements} * (bytes / sizeof(value_word)) + i % elements;
  }
};

/// A line of memory.
struct alignas(128) ordered_leaf {
  std::uint64_t words[16];
};

}  // namespace detail
LANEWISE_END_NAMESPACE
