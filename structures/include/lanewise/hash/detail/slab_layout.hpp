// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_words.hpp>
#include <lanewise/data/pack.hpp>
#include <lanewise/hash/slab_allocator.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How a slab, one unit of a pool, holds its elements: keys, or pairs of key and value, each a word
/// of 4 bytes, or of 8 where either needs them. From the first byte on come as many elements as
/// fit; the last 4 bytes are the link to the next slab, the 4 before are unused.
///
///   key, value   4, -    8, -    4, 4    other pairs
///   elements     30      15      15      7
///
/// Words are little-endian, as on every machine that Lanewise runs on. An element is exchanged as
/// one word of 4, 8 or 16 bytes. All ones, that is an empty slab, is the state of a unit that was
/// never used.
template <class Key, class Value>
struct slab_layout {
  static constexpr std::size_t key_bytes = sizeof(Key);
  static constexpr std::size_t value_bytes = bytes_of_type<Value>;
  static constexpr bool has_values = value_bytes != 0;
  static_assert(std::is_trivially_copyable_v<Key> && (key_bytes == 4 || key_bytes == 8),
                "lanewise: keys of slab structures are trivially copyable and have 4 or 8 bytes");
  static_assert(!has_values || value_bytes == 4 || value_bytes == 8,
                "lanewise: values of slab structures are trivially copyable and have 4 or 8 bytes");

  using word = std::conditional_t<key_bytes == 8 || value_bytes == 8, std::uint64_t, std::uint32_t>;
  static constexpr int words = has_values ? 2 : 1;
  static constexpr int element_bytes = words * static_cast<int>(sizeof(word));
  static constexpr int elements = (128 - 8) / element_bytes;
  /// Larger than the atomics of every machine.
  static constexpr bool wide = element_bytes == 16;

  /// What is read in one piece everywhere.
  using unit = std::conditional_t<element_bytes == 4, std::uint32_t, std::uint64_t>;
  static constexpr int units_per_element = element_bytes / static_cast<int>(sizeof(unit));

  /// What is exchanged in one piece.
  struct alignas(16) wide_element {
    std::uint64_t key;
    std::uint64_t value;
    friend LANEWISE_FUNCTION bool operator==(const wide_element& a, const wide_element& b) {
      return a.key == b.key && a.value == b.value;
    }
  };
  using element = std::conditional_t<wide, wide_element, unit>;

  // States of a slot that are no key of an element. Users' keys with these values live under other
  // names; see slab_table_view.
  static constexpr word empty = ~word{0};
  static constexpr word deleted = ~word{1};
  static constexpr word claimed = ~word{2};  ///< taken, and its key not yet written
  static constexpr word least_reserved = claimed;

  /// Whether a unit of a slab has a key, and which.
  static LANEWISE_FUNCTION constexpr bool has_key(std::uint32_t u) {
    return u < static_cast<std::uint32_t>(elements * units_per_element) &&
           u % static_cast<std::uint32_t>(units_per_element) == 0;
  }
  static LANEWISE_FUNCTION constexpr word key_of(unit u) { return static_cast<word>(u); }

  static LANEWISE_FUNCTION element make(word key, word value) {
    if constexpr (wide) {
      return {key, value};
    } else if constexpr (has_values) {
      return unit{value} << 32 | key;
    } else {
      return key;
    }
  }
  static LANEWISE_FUNCTION word key_of(const wide_element& e) { return e.key; }
  static LANEWISE_FUNCTION word value_of(const element& e) {
    if constexpr (wide) {
      return e.value;
    } else if constexpr (has_values) {
      return static_cast<word>(e >> 32);
    } else {
      return 0;
    }
  }
  static LANEWISE_FUNCTION element empty_element() { return make(empty, empty); }

  static LANEWISE_FUNCTION word* key_at(slab_unit* slab, std::uint32_t u) {
    return reinterpret_cast<word*>(reinterpret_cast<unit*>(slab) + u);
  }
  static LANEWISE_FUNCTION word* value_at(slab_unit* slab, std::uint32_t u) {
    return key_at(slab, u) + 1;
  }
  static LANEWISE_FUNCTION element* element_at(slab_unit* slab, std::uint32_t u) {
    return reinterpret_cast<element*>(reinterpret_cast<unit*>(slab) + u);
  }
  static LANEWISE_FUNCTION std::uint32_t& link_of(slab_unit* slab) { return slab->word[31]; }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
