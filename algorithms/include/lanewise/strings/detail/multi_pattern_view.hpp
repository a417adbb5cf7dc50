// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The windows of a set's patterns: q bytes that begin at every s-th byte of memory. A pattern of
/// at least q + s - 1 bytes has one such window, wherever it lies. It is one of s neighbouring
/// windows, which the filter all knows.
///
/// Patterns of up to 3 bytes have none (short_pairs). The shortest of the others says which kind
/// all have: of 4 to 6 bytes, from 7, and from 11 bytes on. In larger sets more bytes count, as
/// fewer patterns have them. Long windows, which have room after them in their patterns, have the
/// four bytes after. Others have the bytes before and after that the shortest pattern has in any
/// case:
///
///   a pattern of 12 bytes     e x t r a t e r r i t o       q = 8, s = 4
///   its long window           = = = = = = = = + + + +
///   its others                + = = = = = = = = +
///                               + = = = = = = = = +
///                                 + = = = = = = = = +
struct window_kind {
  static constexpr int number = 3;

  int kind;

  LANEWISE_FUNCTION constexpr int stride() const { return 1 << kind; }
  LANEWISE_FUNCTION constexpr int bytes() const { return 4 + 2 * kind; }
  /// What a pattern has at least.
  LANEWISE_FUNCTION constexpr int span() const { return bytes() + stride() - 1; }
};

/// The bits that count of the words before a window and after it.
struct window_surroundings {
  std::uint32_t front = 0, after = 0;
  template <class Words>
  LANEWISE_FUNCTION Words mixed(const Words& before_window, const Words& after_window) const {
    return (before_window & Words(front)) ^ (after_window & Words(after));
  }
};

/// A window as two words. Long windows are mixed, and need not be unique, as patterns are compared.
struct window_key {
  std::uint32_t low, high;

  /// The key of q bytes, from the words in which bytes 0 to 3 and 4 to 7 are.
  static LANEWISE_FUNCTION window_key of(int kind, std::uint32_t a, std::uint32_t b) {
    return {a, high_of(kind, b)};
  }
  template <class Words>
  static LANEWISE_FUNCTION Words high_of(int kind, const Words& b) {
    if (kind == 0) return Words(0u);
    return kind == 1 ? b & Words(0xffffu) : b;
  }
  /// This key with the bytes around that count, of a long window or another.
  LANEWISE_FUNCTION window_key with(std::uint32_t around, bool is_long) const {
    return {is_long ? low_of_long(low) : low, high_with(high, around)};
  }
  template <class Words>
  static LANEWISE_FUNCTION Words low_of_long(const Words& low) {
    return low ^ Words(0x55555555u);
  }
  template <class Words>
  static LANEWISE_FUNCTION Words high_with(const Words& high, const Words& around) {
    return high ^ around * Words(0x2c1b3c6du);
  }
  LANEWISE_FUNCTION bool operator==(const window_key& other) const {
    return low == other.low && high == other.high;
  }
  /// Its high bits depend on all bits of both words.
  LANEWISE_FUNCTION std::uint32_t hash() const { return mixed(low, high); }
  template <class Words>
  static LANEWISE_FUNCTION Words mixed(const Words& low, const Words& high) {
    const Words h = low * Words(0x9e3779b1u) + high * Words(0x85ebca77u);
    return h ^ h >> 15;
  }
};

/// The filter: a table of words. The hash of a window's first q bytes chooses a word, and the hash
/// with the surroundings two bits of it. So one lookup answers for long windows and others.
struct filter_word {
  static constexpr int few_words_bits = 13, many_words_bits = 15;

  /// Which word, of a table of 2^bits.
  template <class Words>
  static LANEWISE_FUNCTION Words word(const Words& hash, int bits) {
    return hash >> (32 - bits);
  }
  /// Whether both bits are set: 1 or 0.
  template <class Words>
  static LANEWISE_FUNCTION Words bits_set(const Words& word, const Words& hash) {
    return word >> (hash & Words(31u)) & word >> (hash >> 5 & Words(31u)) & Words(1u);
  }
  static std::uint32_t bits(std::uint32_t hash) {
    return 1u << (hash & 31) | 1u << (hash >> 5 & 31);
  }
  /// Returns the hash that chooses the bits of a window with its surroundings. The product makes
  /// them independent of the high bits, which choose the word.
  template <class Words>
  static LANEWISE_FUNCTION Words with(const Words& hash, const Words& bytes) {
    return (bytes * Words(0xc2b2ae35u) + hash * Words(0x27d4eb2fu)) >> 20;
  }
};

/// A slot of the table of windows, with open addressing: which patterns have one. In a slot without
/// a window, and only there, `number` is 0.
struct alignas(16) window_slot {
  window_key key;
  std::uint32_t first;   ///< of several patterns, of `entries`; of one, its record
  std::uint32_t number;  ///< << 8; | offset, of one

  template <class Words>
  static LANEWISE_FUNCTION Words index(const Words& hash, int bits) {
    return (hash * Words(0x2545f491u) ^ hash) >> (32 - bits);
  }
};
/// A pattern that has a window, and where in it.
struct window_entry {
  std::uint32_t record;
  std::uint32_t offset;
};

/// The windows of a set's patterns on devices: q bytes that begin at every fourth byte of memory,
/// or at every byte. A pattern of q + 3 bytes has one that begins at a fourth byte, wherever the
/// pattern is. In larger sets two more bytes count. They lie after a window that begins with its
/// pattern or a byte later, and before others:
///
///   a pattern of 12 bytes     e x t r a t e r r i t o       q = 9
///                             = = = = = = = = = + +
///                               = = = = = = = = = + +
///                             + + = = = = = = = = =
///                               + + = = = = = = = = =
///
/// The filter is a table of words. A window's hash chooses a word and the distance of two bits in
/// it. The hash with the bytes at a side, if they count, says where the bits are. So one lookup
/// answers for both sides. A GPU has time for one lookup at every fourth byte.
struct stride4_windows {
  /// with_after: at every byte; of longer patterns two more bytes after the window count.
  enum class kind : std::uint32_t { none, every_byte, every_word, with_sides, with_after };
  static constexpr int most_bytes = 12, side = 2;

  kind how;
  std::uint32_t letters;     ///< the bits of a word that count
  std::uint32_t of_hash[3];  ///< factors of a window's words; bytes after it are shifted out
  std::uint32_t of_after[2];
  int filter_bits;  ///< the filter has 2^filter_bits words

  static LANEWISE_FUNCTION constexpr int stride(kind k) {
    return k == kind::every_byte || k == kind::with_after ? 1 : 4;
  }
  /// Whether windows of a list have more bytes at a side.
  static LANEWISE_FUNCTION constexpr bool has_side(kind k, int list) {
    return k == kind::with_sides || (k == kind::with_after && list == 1);
  }

  /// The probes of windows of `bytes` bytes.
  static stride4_windows make(kind how, int bytes, std::uint32_t letters) {
    stride4_windows p{how, letters, {}, {}, 0};
    const auto cut = [](std::uint32_t factor, int there) {
      return there <= 0 ? 0 : there >= 4 ? factor : factor << 8 * (4 - there);
    };
    p.of_hash[0] = cut(0x9e3779b1u, bytes);
    p.of_hash[1] = cut(0x85ebca77u, bytes - 4);
    p.of_hash[2] = cut(0xc2b2ae3du, bytes - 8);
    p.of_after[0] = cut(0x27d4eb2fu, bytes + side - 4);
    p.of_after[1] = cut(0x165667b1u, bytes + side - 8);
    return p;
  }
  /// The high bits depend on all bytes, the low ones on the first of each word.
  template <class Words>
  LANEWISE_FUNCTION Words hash(const Words& a, const Words& b, const Words& c) const {
    return a * Words(of_hash[0]) + b * Words(of_hash[1]) + c * Words(of_hash[2]);
  }
  template <class Words>
  LANEWISE_FUNCTION Words with_after(const Words& hash, const Words& b, const Words& c) const {
    return hash + b * Words(of_after[0]) + c * Words(of_after[1]);
  }
  /// front: the two bytes before, and the window's first two.
  template <class Words>
  static LANEWISE_FUNCTION Words with_front(const Words& hash, const Words& front) {
    return hash + front * Words(0x2c1b3c6du);
  }
  template <class Words>
  LANEWISE_FUNCTION Words word(const Words& hash) const {
    return hash >> (32 - filter_bits);
  }
  /// Returns the bits of a word that are set together with the bits `hash` further down, modulo 32.
  static LANEWISE_FUNCTION std::uint32_t both_set(std::uint32_t word, std::uint32_t hash) {
    return word & (word << (hash & 31) | word >> ((0 - hash) & 31));
  }
  /// The last five bits say which of these bits is a window's. hash: with a side, if it has one.
  static LANEWISE_FUNCTION std::uint32_t bit(bool has_side, std::uint32_t hash) {
    return has_side ? hash >> 27 : hash >> 5;
  }
  /// The bits of a window with hash `hash`. `all` is the hash with the side that it may have.
  static std::uint32_t bits(std::uint32_t hash, std::uint32_t all, bool has_side) {
    const std::uint32_t at = bit(has_side, all);
    return 1u << (at & 31) | 1u << ((at - hash) & 31);
  }
  /// Returns the first slot of a window's pair. Slots are read in pairs, as one load has two, and
  /// lanes wait for the longest lookup.
  static LANEWISE_FUNCTION std::uint32_t slot(const window_key& key, int slots_bits) {
    return window_slot::index(key.hash(), slots_bits) & ~1u;
  }
  /// The key of a window in the table: words as above, list as in each_probe.
  LANEWISE_FUNCTION window_key key(std::uint32_t front, std::uint32_t a, std::uint32_t b,
                                   std::uint32_t c, int list) const {
    const std::uint32_t h = hash(a, b, c);
    const std::uint32_t other = a * (of_hash[0] * 0x2545f491u) + b * (of_hash[1] * 0x9e3779b1u) +
                                c * (of_hash[2] * 0x85ebca77u);
    if (!has_side(how, list)) return {h, other ^ other >> 15};
    if (how == kind::with_sides && list == 1)
      return {with_front(h, front), (other ^ other >> 15) + front * 0xc2b2ae35u + 1};
    const std::uint32_t after = b * (of_after[0] * 0x6b43a9b5u) + c * (of_after[1] * 0xc2b2ae35u);
    return {with_after(h, b, c),
            (other ^ other >> 15) + (after ^ after >> 15) + static_cast<std::uint32_t>(list)};
  }
};

/// A filter of a few bytes. Strings are in up to 32 buckets. A table for each byte index says which
/// buckets have strings with a byte there. Bytes are known by their last five bits, which letters
/// of either case share. A position passes if some bucket has all of its bytes.
///
///   be, by | the | to       of byte 0: b 001, t 110; of byte 1: e, y 001, h 010, o 100;
///                           of byte 2: e 011, others 001 and 100
///
/// Each lane of a warp keeps a row of each table, so a lookup is a shuffle.
struct byte_buckets {
  static constexpr std::uint32_t rows = 32, most = 32;

  const std::uint32_t* row;  ///< of all tables, one after the other
  int number;                ///< of buckets
};

/// Tables for patterns of 1 to 3 bytes. Buckets say where any may begin. A table of all pairs of
/// bytes has the rank of the longest pattern, or 0, and whether patterns of 3 bytes begin with the
/// pair. These have slots by a hash.
struct short_pairs {
  static constexpr std::uint32_t most_bytes = 3;
  static constexpr std::uint32_t begins_triple = 1u << 31;  ///< in the table of pairs

  /// The key of three bytes: not 0.
  template <class Words>
  static LANEWISE_FUNCTION Words key(const Words& bytes) {
    return bytes | Words(1u << 24);
  }
  template <class Words>
  static LANEWISE_FUNCTION Words slot(const Words& key, int bits) {
    return key * Words(0x9e3779b1u) >> (32 - bits);
  }
};
/// If there is none, the key is 0.
struct short_triple {
  std::uint32_t key, rank;
};

/// A state of the automaton, which reads a text backwards: the longest prefix of a pattern's first
/// most_depth bytes, read so, that the text has from a byte on. Its children have one byte more,
/// the one before, and are neighbours in the order of that byte.
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

/// The automaton as a table, for sets whose patterns are at many positions of a text. A state has a
/// row, and a row has an entry for each class of bytes: the next state's row, and how many patterns
/// begin at the byte. Bytes that are in no pattern are one class. After the entries comes the rank
/// of the state itself.
struct byte_transitions {
  static constexpr int row_bits = 24;
  static constexpr std::uint32_t most_entries = 1u << row_bits, most_number = 255;
  static constexpr int most_depth = 64;

  std::uint32_t number;          ///< of entries: 0 where there is no table
  std::uint32_t row;             ///< entries
  std::uint32_t other;           ///< a byte that is in no pattern
  int depth;                     ///< a state depends on no more bytes
  const std::uint32_t* classes;  ///< of each byte
  const std::uint32_t* entries;

  static constexpr std::uint32_t entry(std::uint32_t row, std::uint32_t patterns) {
    return row | patterns << row_bits;
  }
  /// At which entry the next state's row begins.
  template <class Words>
  static LANEWISE_FUNCTION Words row_of(const Words& entry) {
    return entry & Words(most_entries - 1);
  }
  template <class Words>
  static LANEWISE_FUNCTION Words patterns_of(const Words& entry) {
    return entry >> row_bits;
  }
};

/// A set as kernels have it. Different patterns have ranks from 1 on, in the order of their
/// lengths; 0 is none.
struct pattern_set_view {
  std::uint32_t ranks;  ///< the greatest
  std::uint32_t kinds;  ///< bit k: there are windows of kind k, of patterns of 4 bytes and more
  bool uses_surroundings;
  window_surroundings around;  ///< of windows that are not long
  std::uint32_t letters;       ///< the bits of a word that count in windows
  bool folds_case;             ///< and then the patterns' letters are small
  bool has_many;               ///< windows, so that the larger table pays
  int depth;                   ///< of the automaton
  int slots_bits;
  int triples_bits;
  stride4_windows probes;  ///< of devices, unless they are of no kind
  int probes_slots_bits;
  const std::uint32_t* size;      ///< of each rank: its bytes
  const std::uint32_t* record;    ///< the number of its first word in `records`, a multiple of 4
  const std::uint32_t* prefix;    ///< the rank of the longest pattern that it begins with
  const std::uint32_t* number;    ///< how many patterns it begins with, itself and equal ones too
  const std::uint32_t* ids_from;  ///< its ids, which are those of equal patterns
  const std::uint32_t* ids;
  const std::uint32_t* rank_of;  ///< id
  const std::uint32_t* records;  ///< a pattern's rank, its size, its bytes, and 0 after them
  const std::uint32_t* filter;   ///< its table
  const window_slot* slots;
  const window_entry* entries;
  const std::uint32_t* probes_filter;
  const window_slot* probes_slots;
  const window_entry* probes_entries;
  byte_buckets window_buckets;  ///< of few windows of 4 bytes; else none
  byte_buckets short_buckets;   ///< none where no pattern has 1 to 3 bytes
  const std::uint32_t* pairs;   ///< as short_pairs has them
  const short_triple* triples;
  const set_state* states;
  const unsigned char* labels;  ///< of each state, the byte by which it is reached
  const std::uint32_t* roots;   ///< the root's child by each byte
  const long_group* groups;
  const std::uint32_t* longs;
  byte_transitions transitions;

  LANEWISE_FUNCTION bool has_probes() const { return probes.how != stride4_windows::kind::none; }
  LANEWISE_FUNCTION bool has_transitions() const { return transitions.number != 0; }
  /// Patterns of 1 to 3 bytes.
  LANEWISE_FUNCTION bool has_shorts() const { return short_buckets.number != 0; }
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
