// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The windows by which a set's patterns are looked for: q bytes that begin at every s-th byte of
/// memory. A pattern of at least q + s - 1 bytes has one such window, wherever it lies: of s
/// neighbouring ones, all of which the filter knows.
///
/// The longer a window, the fewer patterns have it. But the filter shall not look at too many: it
/// looks at the window that a longer one begins with, and what is known of that window (`also`)
/// tells whether to look at more.
struct window_kind {
  int bytes, stride;
  int first;  ///< the kind that the filter looks at
  constexpr int span() const { return bytes + stride - 1; }
};
/// Of patterns of 1, 2, 3 bytes, of 4 to 6, from 7 and from 11 bytes on; where there are many, also
/// from 15 and 19, and (beside those of 7) 11 bytes on. The last two are what all neighbouring
/// windows of 6 and of 8 bytes lie in, where too many patterns have one of these.
inline constexpr window_kind window_kinds[] = {{1, 1, 0},  {2, 1, 1}, {3, 1, 2},  {4, 1, 3},
                                               {6, 2, 4},  {8, 4, 5}, {12, 4, 5}, {16, 4, 5},
                                               {10, 2, 4}, {7, 1, 4}, {11, 1, 5}};
inline constexpr int long_kinds_begin = 6, long_kinds_end = 9;
/// The kind around windows of kind 4 or 5, and how many of these it has.
LANEWISE_FUNCTION constexpr int kind_around(int kind) {
  return kind + 5;
}
LANEWISE_FUNCTION constexpr int windows_around(int kind) {
  return kind == 5 ? 4 : 2;
}
/// The bit that says that there are patterns with longer windows of a kind, or such around.
LANEWISE_FUNCTION constexpr std::uint32_t also_of(int kind) {
  return kind < long_kinds_end ? 1u << (kind - long_kinds_begin) : 8u;
}

/// A window as two words: bytes 0 to 3 and 4 to 7, of which only its own are set; of more bytes
/// mixtures, which need not be unique, as patterns are compared.
struct window_key {
  std::uint32_t low, high;

  static LANEWISE_FUNCTION std::uint32_t mixed(std::uint32_t near, std::uint32_t far) {
    return near * 0x2c1b3c6du + far;
  }
  /// Of a kind, from words, of which word(i) has bytes 4 i to 4 i + 3.
  template <class F>
  static LANEWISE_FUNCTION window_key of(int kind, F word) {
    const std::uint32_t a = word(0), salt = static_cast<std::uint32_t>(kind) * 0x6b43a9b5u;
    if (kind < 4) return {(a & ~0u >> (24 - 8 * kind)) ^ salt, 0};
    const std::uint32_t b = word(1);
    switch (kind) {
      case 4:
        return {a ^ salt, b & 0xffff};
      case 5:
        return {a ^ salt, b};
      case 6:
        return {mixed(a, word(2)) ^ salt, b};
      case 7:
        return {mixed(a, word(2)) ^ salt, mixed(b, word(3))};
      case 8:
        return {mixed(a, word(2) & 0xffff) ^ salt, b};
      case 9:
        return {a ^ salt, b & 0xffffff};
      default:
        return {mixed(a, word(2) & 0xffffff) ^ salt, b};
    }
  }
  LANEWISE_FUNCTION bool operator==(const window_key& other) const {
    return low == other.low && high == other.high;
  }
  /// Its high bits depend on all bits of both words.
  LANEWISE_FUNCTION std::uint32_t hash() const {
    const std::uint32_t h = low * 0x9e3779b1u + high * 0x85ebca77u;
    return h ^ h >> 15;
  }
};

/// The filter: a table of words, in which two bits of a word are set for every window.
struct filter_place {
  static constexpr int few_words_bits = 12, many_words_bits = 14;

  /// Which word, of a table of 2^bits.
  static LANEWISE_FUNCTION std::uint32_t word(std::uint32_t hash, int bits) {
    return hash >> (32 - bits);
  }
  /// Whether both bits are set: 1 or 0.
  static LANEWISE_FUNCTION std::uint32_t bits_set(std::uint32_t word, std::uint32_t hash) {
    return word >> (hash & 31) & word >> (hash >> 5 & 31) & 1;
  }
  static std::uint32_t bits(std::uint32_t hash) {
    return 1u << (hash & 31) | 1u << (hash >> 5 & 31);
  }
};

/// Of the table of windows, with open addressing: where the list of its patterns begins. In a slot
/// without a window, and only there, that is 0.
struct alignas(16) window_slot {
  window_key key;
  std::uint32_t first;
  std::uint32_t length_and_also;  ///< length << 8 | also

  static LANEWISE_FUNCTION std::uint32_t place(std::uint32_t hash, int bits) {
    return (hash * 0x2545f491u ^ hash) >> (32 - bits);
  }
};
/// A pattern that has a window, and where in it.
struct window_entry {
  std::uint32_t rank;
  std::uint32_t offset;
};

/// A state of the automaton, which reads a text backwards: the longest of all beginnings of
/// patterns (of the first most_depth bytes) that the text has from a byte on. Its children are one
/// byte of the text further in front, and neighbours in the order of that byte.
struct alignas(16) set_state {
  static constexpr int most_depth = 1024;
  /// In `value`: a number of a long_group, and not a rank.
  static constexpr std::uint32_t is_group = 1u << 31;

  std::uint32_t first;  ///< child
  std::uint32_t shorter;
  std::uint32_t value;  ///< the rank of the longest pattern that begins here
  std::uint32_t children;
};
/// Patterns of more than most_depth bytes that begin with the same ones: ranks [begin, end) of a
/// list, longer ones first, and which it is if it is none of them.
struct long_group {
  std::uint32_t begin, end, otherwise;
};

/// A set as kernels have it. Different patterns have ranks from 1 on, in the order of their
/// lengths; 0 is none.
struct pattern_set_view {
  std::uint32_t ranks;    ///< the greatest
  std::uint32_t probed;   ///< bit k: the filter looks at windows of kind k first
  std::uint32_t letters;  ///< the bits of a word that count in windows
  bool folds_case;        ///< and then the patterns' letters are small
  bool has_many;          ///< windows, so that the larger table is worth its place
  int depth;              ///< of the automaton
  int slots_bits;
  const std::uint32_t* size;      ///< of each rank: its bytes
  const std::uint32_t* words;     ///< the number of its first word in `bytes`
  const std::uint32_t* prefix;    ///< the rank of the longest pattern that it begins with
  const std::uint32_t* number;    ///< how many patterns it begins with, itself and equal ones too
  const std::uint32_t* ids_from;  ///< its ids, which are those of equal patterns
  const std::uint32_t* ids;
  const std::uint32_t* rank_of;  ///< id
  const std::uint32_t* bytes;    ///< 0 behind the last one
  const std::uint32_t* few;      ///< the filter's table, short and long
  const std::uint32_t* many;
  const window_slot* slots;
  const window_entry* entries;
  const set_state* states;
  const unsigned char* labels;  ///< of each state, the byte by which it is reached
  const std::uint32_t* roots;   ///< the root's child by each byte
  const long_group* groups;
  const std::uint32_t* longs;
};

/// Letters of a word, small ones made of capitals.
LANEWISE_FUNCTION std::uint32_t small_letters(std::uint32_t word) {
  const std::uint32_t low = word & 0x7f7f7f7fu;
  const std::uint32_t is_capital =
      ((low + 0x3f3f3f3fu) ^ (low + 0x25252525u)) & ~word & 0x80808080u;
  return word | is_capital >> 2;
}

}  // namespace detail
LANEWISE_END_NAMESPACE
