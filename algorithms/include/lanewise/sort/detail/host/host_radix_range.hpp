// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/host/host_radix_place.hpp>
#include <lanewise/sort/detail/host/host_radix_runs.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/team/team.hpp>
#include <lanewise/tile/expansion.hpp>
#include <lanewise/tile/stream/network.hpp>
#include <lanewise/tile/stream/partition.hpp>
#include <lanewise/tile/stream/tile.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The position after the highest bit that is set.
template <class Bits>
LANEWISE_FUNCTION constexpr int bit_length(Bits x) {
  int length = 0;
  for (int step = sizeof(Bits) * 4; step > 0; step /= 2) {
    if ((x >> step) != 0) {
      x >>= step;
      length += step;
    }
  }
  return length + (x != 0 ? 1 : 0);
}

/// Whether an item is its bits.
template <class KeyOf>
concept keeps_items = requires {
  requires KeyOf::is_identity;
};

/// What items are sorted by: bits [begin, begin + bits of mask) of bits_of(item).
///
/// plain says that nothing else is in an item: all bits count, there are no values, and items come
/// back from bits. Equal items then need not keep their order.
template <class KeyOf, class Item, bool plain>
struct sort_key {
  using bits_type = std::decay_t<decltype(std::declval<const KeyOf&>()(std::declval<Item>()))>;
  static constexpr bool is_plain = plain;
  static constexpr bool keeps_items =
      plain && detail::keeps_items<KeyOf> && std::is_same_v<Item, bits_type>;

  /// Vectors of such keys are sorted in registers; one team then sorts any number of items well.
  static constexpr bool takes_all =
      plain && (sizeof(bits_type) == 4 || sizeof(bits_type) == 8) && sizeof(Item) <= 8;

  KeyOf bits_of;
  int begin = 0;
  bits_type mask = static_cast<bits_type>(~bits_type{0});

  static sort_key by_bits(const KeyOf& bits_of, int begin, int end) {
    const int length = end - begin, unused = static_cast<int>(sizeof(bits_type) * 8) - length;
    if (length <= 0) return {bits_of, 0, 0};
    return {bits_of, begin,
            static_cast<bits_type>(static_cast<bits_type>(~bits_type{0}) >> unused)};
  }
  LANEWISE_FUNCTION bits_type operator()(const Item& x) const {
    if constexpr (plain) return bits_of(x);
    if constexpr (!plain)
      return static_cast<bits_type>(static_cast<bits_type>(bits_of(x)) >> begin) & mask;
  }
};

/// Whether bits say all about an item.
template <class KeyOf, class Item>
inline constexpr bool has_inverse = keeps_items<KeyOf> || requires(const KeyOf& f, const Item& x) {
  { f.item_of(f(x)) } -> std::same_as<Item>;
};

/// Cuts a range of keys into equal parts, in order: part (key - low) * parts / (high - low + 1),
/// by a multiplication of 32 bits.
template <class Bits>
struct key_parts {
  Bits low;
  int shift;
  std::uint64_t scale;
  std::uint32_t parts;
  bool single;  // the keys of a part are equal

  LANEWISE_FUNCTION static key_parts of(Bits low, Bits high, std::int64_t wanted) {
    const Bits range = static_cast<Bits>(high - low);
    const int length = detail::bit_length(range);
    const int shift = length > 31 ? length - 31 : 0;
    const auto top = static_cast<std::uint64_t>(range >> shift) + 1;
    const auto most = static_cast<std::uint64_t>(wanted);
    if (top <= most)
      return {low, shift, std::uint64_t{1} << 32, static_cast<std::uint32_t>(top), shift == 0};
    return {low, shift, (most << 32) / top, static_cast<std::uint32_t>(most), false};
  }
  LANEWISE_FUNCTION std::uint32_t operator()(Bits key) const {
    const auto distance = static_cast<std::uint32_t>(static_cast<Bits>(key - low) >> shift);
    return static_cast<std::uint32_t>(distance * scale >> 32);
  }
};

/// Cuts keys that gather near the least one into parts, in order, with as many of a sample each.
/// Parts are made of cells: each distance from `low` up to 31 is a cell, then each sixteenth of the
/// distances between two powers of two.
template <class Bits>
struct key_cells {
  static constexpr std::uint32_t cells = 1024;
  static constexpr std::uint32_t single = 32;  // cells whose keys are equal
  static constexpr std::uint32_t sampled = 512;

  Bits low;  // the least key of the sample
  std::uint8_t part[cells];

  static LANEWISE_FUNCTION std::uint32_t cell_of(Bits distance) {
    const int shift = static_cast<int>(std::bit_width(static_cast<Bits>(distance | 16))) - 5;
    return static_cast<std::uint32_t>(16 * shift) + static_cast<std::uint32_t>(distance >> shift);
  }
  LANEWISE_FUNCTION std::uint32_t operator()(Bits key) const {
    return part[cell_of(static_cast<Bits>(key < low ? Bits{0} : key - low))];
  }
  /// Finds parts, up to 256, by `sampled` keys. Returns false if more than `most` of them are in
  /// one cell, or half of them are equal.
  LANEWISE_LOOP_FUNCTION bool cut(const Bits* sample, std::uint32_t parts, std::uint32_t most) {
    low = sample[0];
    for (std::uint32_t i = 1; i < sampled; ++i) low = sample[i] < low ? sample[i] : low;
    std::uint16_t count[cells] = {};
    for (std::uint32_t i = 0; i < sampled; ++i)
      ++count[cell_of(static_cast<Bits>(sample[i] - low))];
    std::uint16_t equal = 0, differ = 0;
    for (std::uint32_t c = 0; c < single; ++c) equal = equal < count[c] ? count[c] : equal;
    for (std::uint32_t c = single; c < cells; ++c) differ = differ < count[c] ? count[c] : differ;
    if (equal > sampled / 2 || differ > most) return false;
    std::uint32_t before = 0;
    for (std::uint32_t c = 0; c < cells; ++c) {
      const std::uint32_t at = before < sampled ? before : sampled - 1;
      part[c] = static_cast<std::uint8_t>(at * parts / sampled);
      before += count[c];
    }
    return true;
  }
};

/// Sorts a range of items by one thread, from the most significant digits on.
///
/// A range that is larger than the nearest cache is cut into four parts by a sample, again and
/// again: in vectors, and in few streams. Many output streams of pages of 4 KiB cost a core more
/// than the vectors do. What is left is scattered once, by the range of the keys, to as many parts
/// as give pieces for a sorting network. Each part is sorted in registers. Where items must keep
/// their order or have values, the network sorts keys with positions after them. Ranges that such
/// parts do not even out are cut by samples again, or sorted by least significant digits. Cells cut
/// keys of 8 bytes that gather in one step.
template <class Team, class Item, class Value, class Key>
class host_range_sort {
 public:
  using bits_type = typename Key::bits_type;
  using place = sort_place<Item, Value>;

 private:
  static constexpr bool has_values = place::has_values;
  using word = std::conditional_t<sizeof(bits_type) == 8, std::uint64_t, std::uint32_t>;
  using small_network = host_network<Team, std::uint32_t>;
  using wide_network = host_network<Team, std::uint64_t>;
  using plain_network = host_network<Team, word>;
  static constexpr int most_network = small_network::most;
  static constexpr bool keeps_words = Key::keeps_items && std::is_same_v<Item, word>;
  /// Whether lanes of words become lanes of keys.
  static constexpr bool maps_words =
      Key::is_plain && std::is_same_v<Item, word> && requires(const Key& key) {
    requires std::decay_t<decltype(key.bits_of)>::takes_lanes;
  };
  /// Whether vectors can be cut into parts.
  static constexpr bool cuts = sizeof(bits_type) <= 8 && sizeof(Item) <= 8;
  static constexpr bool in_network = Key::takes_all;
  static constexpr std::int64_t most_parts = 1024;
  static constexpr int arena = 4096;
  static constexpr int most_digit = 8;
  static constexpr std::int64_t near = (std::int64_t{1} << 15) / sizeof(Item);
  static constexpr int most_depth = 40;  // of a range that is cut by samples
  /// Parts that a range is cut into at a time. (One core of a Xeon, u32, twice as many items as the
  /// sixteenth part of the second-level cache: 3.6 ns a key; with eight parts 5.4.)
  static constexpr int parts_at_once = 4;
  /// If keys are spread evenly they need not be counted first. Every part gets room for 1.7 times
  /// its share, in lines of its own number, so that neighbours begin in different cache sets. One
  /// part of a hundred has more than the network takes. (Zen 5, 2^16 keys to 630 parts: 1.1 ns a
  /// key for all, as 2^12 to 40 take; cut by a sample before 1.5.)
  static constexpr std::int64_t most_even =
      in_network ? (std::int64_t{9} << 15) / static_cast<std::int64_t>(sizeof(word)) : 0;
  static constexpr int even_piece = plain_network::most * (sizeof(word) == 4 ? 26 : 24) / 32;
  static constexpr int slots = plain_network::most * 5 / 4 + plain_network::width;
  static constexpr std::uint32_t spread_rounds = 8;
  /// Keys of 8 bytes that gather are cut by cells: by four parts at a time takes more steps than it
  /// does for 4 bytes. (Zen 5, AVX2, 2^12 keys: log-uniform 6.8 ns a key, by four parts 12.2; two
  /// heavy values, which cells refuse, 5.6 and 5.2.)
  static constexpr bool by_cells = in_network && sizeof(word) == 8;
  static constexpr std::int64_t few_in_cells = 2048;
  static constexpr std::int64_t most_even_parts = most_even / even_piece + 1;
  /// A part that gets too much is noticed after a round.
  static constexpr std::int64_t most_slots =
      in_network ? most_even_parts * slots + most_even / std::int64_t{spread_rounds} + 64 : 1;
  static_assert(most_even_parts <= most_parts);

 public:
  struct scratch {
    std::uint32_t next[arena];
    std::uint32_t count[most_parts];
    std::int64_t digit[4][1 << most_digit];
    std::uint64_t few[most_network];
    alignas(64) word slot[most_slots];
    alignas(Item) unsigned char keys[most_network * sizeof(Item)];
    alignas(Value) unsigned char values[most_network * sizeof(Value)];
  };

  LANEWISE_FUNCTION host_range_sort(const Team& team, scratch& shared, const Key& key)
      : warp_(team.warp()), shared_(shared), key_(key) {}

  /// to[0, n) = from[0, n) in order. `from` is `to`, `other` or neither; what is there and in
  /// `other` is lost but for an array that is neither.
  LANEWISE_FUNCTION void sort(const place& from, std::int64_t n, const place& to,
                              const place& other) const {
    if (n > most_network ? sort_runs(from, n, to, other)
                         : take_run(from.keys, static_cast<int>(n), to.keys))
      return;
    sort(from, n, to, other, 0);
  }

  /// As `sort`, for items that lie in few runs. Returns false if they do not, and has done nothing
  /// then.
  LANEWISE_FUNCTION bool sort_runs(const place& from, std::int64_t n, const place& to,
                                   const place& other) const {
    return host_runs<Item, Value, Key>(key_).sort(from, n, to, other);
  }
  /// As `sort_runs`, for keys that are spread evenly.
  LANEWISE_FUNCTION bool sort_evenly(const place& from, std::int64_t n, const place& to) const {
    if constexpr (in_network) {
      if (n > most_even) return false;
      bits_type low, high;
      find_range(from.keys, n, low, high);
      return low < high && sort_evenly(from.keys, n, to.keys, low, high);
    }
    return false;
  }

  /// How many items from the first on are in order: n, or fewer than n.
  LANEWISE_FUNCTION std::int64_t in_order(const Item* items, std::int64_t n) const {
    constexpr std::int64_t block = 64;
    for (std::int64_t i = 1; i < n; i += block) {
      const std::int64_t end = i + block < n ? i + block : n;
      if (!block_in_order(items, i, end)) return i;
    }
    return n;
  }

 private:
  LANEWISE_LOOP_FUNCTION bool block_in_order(const Item* items, std::int64_t begin,
                                             std::int64_t end) const {
    const Key key = key_;
    int wrong = 0;
    for (std::int64_t i = begin; i < end; ++i) wrong |= key(items[i]) < key(items[i - 1]) ? 1 : 0;
    return wrong == 0;
  }

  /// used: how many entries of `next` are in use, or how often the range was cut by samples.
  LANEWISE_LOOP_FUNCTION void sort(const place& from, std::int64_t n, const place& to,
                                   const place& other, int used) const {
    if (n <= 1) return to.copy(from, n);
    if constexpr (in_network) {
      if (n <= plain_network::most) return sort_plain(from.keys, static_cast<int>(n), to.keys);
    }
    bits_type low, high;
    find_range(from.keys, n, low, high);
    if (low == high) return to.copy(from, n);
    const int length = detail::bit_length(static_cast<bits_type>(high - low));
    std::int64_t piece = plain_network::most * 5 / 8;
    if constexpr (in_network) {
      if (n <= most_even && sort_evenly(from.keys, n, to.keys, low, high)) return;
    }
    if constexpr (by_cells) {
      if (n >= few_in_cells && n <= most_even && sort_by_cells(from, n, to, other, used + 1))
        return;
    }
    if constexpr (cuts) {
      if (in_network || n > 4 * near) return sort_parts(from, n, to, other, low, high, used + 1);
    }
    if constexpr (!in_network) {
      if (n <= most_network && sort_numbered(from, static_cast<int>(n), to, low, length)) return;
      if (n <= 16) return insert(from, n, to);
      // What the network takes depends on what is left of the keys.
      const int left = length - bit_length(n / 80);
      piece = left <= 25 ? 80 : left <= 58 ? 40 : 8;
    }
    std::int64_t wanted = n / piece;
    if (wanted < 2) wanted = 2;
    // Larger ranges are cut into ranges that the nearest cache holds.
    if (n > 4 * near) wanted = n / near < most_parts ? n / near : most_parts;
    const auto parts = key_parts<bits_type>::of(low, high, wanted);
    if (used + static_cast<int>(parts.parts) > arena || n >= (std::int64_t{1} << 32))
      return sort_by_digits(from, n, to, other);
    std::uint32_t* const next = shared_.next + used;
    count(from.keys, n, parts, parts.parts, next);
    const bool ends = parts.single && !(from == to);
    const place& there = ends || from == other ? to : other;
    scatter(from, n, parts, next, there);
    if (parts.single) return to.copy(there, n);
    used += static_cast<int>(parts.parts);
    std::int64_t begin = 0;
    for (std::uint32_t p = 0; p < parts.parts; ++p) {
      const std::int64_t end = next[p], size = end - begin;
      if (size > n / 2 && size > most_network) {
        sort_by_digits(there + begin, size, to + begin, other + begin);
      } else if (size > 1) {
        sort(there + begin, size, to + begin, other + begin, used);
      } else {
        (to + begin).copy(there + begin, size);
      }
      begin = end;
    }
  }

  /// Cuts keys into parts by cells, and sorts these. Returns false if that would be uneven, and has
  /// done nothing then.
  LANEWISE_LOOP_FUNCTION bool sort_by_cells(const place& from, std::int64_t n, const place& to,
                                            const place& other, int depth) const {
    constexpr std::int64_t some = key_cells<bits_type>::sampled, most = 256;
    auto* const found = reinterpret_cast<bits_type*>(shared_.slot);
    for (std::int64_t i = 0; i < some; ++i)
      found[i] = key_(from.keys[detail::sampled_at(i, n / some)]);
    const std::int64_t wanted = n / (plain_network::most * 5 / 8);
    const auto parts = static_cast<std::uint32_t>(wanted < most ? wanted : most);
    key_cells<bits_type> cells;
    if (depth > most_depth || !cells.cut(found, parts, some / 8)) return false;
    std::uint32_t next[most];
    count(from.keys, n, cells, parts, next);
    const place& there = from == other ? to : other;
    scatter(from, n, cells, next, there);
    std::int64_t begin = 0;
    for (std::uint32_t p = 0; p < parts; ++p) {
      const std::int64_t end = next[p];
      sort(there + begin, end - begin, to + begin, other + begin, depth);
      begin = end;
    }
    return true;
  }

  /// Cuts keys into parts by a sample, and sorts these.
  LANEWISE_FUNCTION void sort_parts(const place& from, std::int64_t n, const place& to,
                                    const place& other, bits_type low, bits_type high,
                                    int depth) const {
    constexpr int parts = parts_at_once;
    if (depth > most_depth) return sort_by_digits(from, n, to, other);
    bits_type limit[parts - 1];
    sample(from.keys, n, low, high, limit);
    const place& there = from == other ? to : other;
    std::int64_t begin[parts + 1];
    host_partition<Team, Key, parts>::split(warp_, key_, from.keys, from.values, n, limit,
                                            there.keys, there.values, begin);
    for (int p = 0; p < parts; ++p) {
      const std::int64_t at = begin[p];
      sort(there + at, begin[p + 1] - at, to + at, other + at, depth);
    }
  }
  /// Limits that cut a sample into equal parts, but differ from each other, and from `low`: what is
  /// in many items gets a part of its own.
  template <int limits>
  LANEWISE_LOOP_FUNCTION void sample(const Item* items, std::int64_t n, bits_type low,
                                     bits_type high, bits_type (&limit)[limits]) const {
    constexpr int some = plain_network::most / 2;
    auto* const found = reinterpret_cast<word*>(shared_.few);
    const std::int64_t step = n / some;
    for (int i = 0; i < some; ++i)
      found[i] = static_cast<word>(key_(items[detail::sampled_at(i, step)]));
    plain_network::sort(found, some, found);
    bits_type before = low;
    for (int p = 0; p < limits; ++p) {
      const bits_type least = before < high ? static_cast<bits_type>(before + 1) : high;
      const auto x = static_cast<bits_type>(found[(p + 1) * some / (limits + 1)]);
      limit[p] = before = x < least ? least : x;
    }
  }

  /// Sorts keys that are spread evenly. Returns false if they are not, and has done nothing then.
  LANEWISE_FUNCTION bool sort_evenly(const Item* from, std::int64_t n, Item* to, bits_type low,
                                     bits_type high) const {
    const auto parts = key_parts<bits_type>::of(low, high, n / even_piece + 1);
    const std::uint32_t most = spread_all<true>(from, n, parts);
    // No part got more than it takes: keys may be in order.
    if (most > slots || (most > 0 && spread_all<false>(from, n, parts) > 0)) return false;
    word* slot = shared_.slot;
    for (std::uint32_t p = 0; p < parts.parts; ++p, slot += slots) {
      const int size = static_cast<int>(shared_.count[p] - p * slots);
      if constexpr (keeps_words) {
        sort_slots(slot, size, to);
      } else {
        auto* const bits = reinterpret_cast<word*>(shared_.few);
        sort_slots(slot, size, bits);
        for (int i = 0; i < size; ++i)
          to[i] = key_.bits_of.item_of(static_cast<bits_type>(bits[i]));
      }
      to += size;
    }
    return true;
  }
  LANEWISE_FUNCTION std::uint32_t most_in_part(std::uint32_t parts) const {
    std::uint32_t most = 0;
    for (std::uint32_t p = 0; p < parts; ++p) {
      const std::uint32_t here = shared_.count[p] - p * slots;
      most = most < here ? here : most;
    }
    return most;
  }
  /// What the network does not take at once is sorted in two runs, which are merged.
  static LANEWISE_FUNCTION void sort_slots(word* slot, int n, word* to) {
    if (n <= plain_network::most) return plain_network::sort(slot, n, to);
    plain_network::sort(slot, plain_network::most, slot);
    plain_network::sort(slot + plain_network::most, n - plain_network::most,
                        slot + plain_network::most);
    merge_runs(slot, plain_network::most, n, to);
  }
  static LANEWISE_LOOP_FUNCTION void merge_runs(const word* from, int half, int n, word* to) {
    for (int a = 0, b = half, i = 0; i < n; ++i) {
      const bool second = a == half || (b < n && from[b] < from[a]);
      to[i] = from[second ? b : a];
      (second ? b : a) += 1;
    }
  }
  /// Spreads keys in rounds. Returns 0, or, as soon as a round shows that a part gets too many, how
  /// many it got.
  ///
  /// A round takes the next keys, which is what prefetchers like, or a line of each block. In these
  /// it sees all parts, also where keys are sorted; lines at equal distances would not where they
  /// are periodic.
  template <bool by_next>
  LANEWISE_FUNCTION std::uint32_t spread_all(const Item* items, std::int64_t n,
                                             key_parts<bits_type> part) const {
    for (std::uint32_t p = 0; p < part.parts; ++p) shared_.count[p] = p * slots;
    for (std::uint32_t r = 0; r < spread_rounds; ++r) {
      if constexpr (by_next) {
        spread(items, {n * r / spread_rounds, n * (r + 1) / spread_rounds}, part);
      } else {
        spread_lines(items, n, r, part);
      }
      const std::uint32_t most = most_in_part(part.parts);
      if (most > (r == 0 ? slots / 4 : slots)) return most;
    }
    return 0;
  }
  LANEWISE_LOOP_FUNCTION void spread(const Item* items, index_range range,
                                     key_parts<bits_type> part) const {
    const Key key = key_;
    std::uint32_t* const next = shared_.count;
    word* const slot = shared_.slot;
    detail::for_each_by_four(range, [&](std::int64_t i, int) LANEWISE_INLINE_LAMBDA {
      const bits_type k = key(items[i]);
      slot[next[part(k)]++] = static_cast<word>(k);
    });
  }
  LANEWISE_FUNCTION void spread_lines(const Item* items, std::int64_t n, std::uint32_t round,
                                      const key_parts<bits_type>& part) const {
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(Item));
    const std::int64_t blocks = n / (line * spread_rounds);
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::uint32_t turn = static_cast<std::uint32_t>(b) * 0x9E3779B9u >> 29;
      const std::int64_t begin = (b * spread_rounds + (round + turn) % spread_rounds) * line;
      spread(items, {begin, begin + line}, part);
    }
    const std::int64_t begin = (blocks * spread_rounds + round) * line, end = begin + line;
    if (begin < n) spread(items, {begin, end < n ? end : n}, part);
  }

  LANEWISE_LOOP_FUNCTION void find_range(const Item* items, std::int64_t n, bits_type& low,
                                         bits_type& high) const {
    const Key key = key_;
    bits_type least = key(items[0]), greatest = least;
    for (std::int64_t i = 1; i < n; ++i) {
      const bits_type k = key(items[i]);
      least = k < least ? k : least;
      greatest = greatest < k ? k : greatest;
    }
    low = least;
    high = greatest;
  }

  /// Leaves in next where each part begins.
  template <class Parts>
  LANEWISE_LOOP_FUNCTION void count(const Item* items, std::int64_t n, Parts part,
                                    std::uint32_t parts, std::uint32_t* next) const {
    const Key key = key_;
    std::uint32_t* const other = shared_.count;
    for (std::uint32_t p = 0; p < parts; ++p) next[p] = other[p] = 0;
    detail::for_each_by_four({0, n}, [&](std::int64_t i, int t) LANEWISE_INLINE_LAMBDA {
      ++(t % 2 == 0 ? next : other)[part(key(items[i]))];
    });
    std::uint32_t before = 0;
    for (std::uint32_t p = 0; p < parts; ++p) {
      const std::uint32_t here = next[p] + other[p];
      next[p] = before;
      before += here;
    }
  }

  template <class Parts>
  LANEWISE_LOOP_FUNCTION void scatter(place from, std::int64_t n, Parts part, std::uint32_t* next,
                                      place to) const {
    const Key key = key_;
    detail::for_each_by_four({0, n}, [&](std::int64_t i, int) LANEWISE_INLINE_LAMBDA {
      to.take(next[part(key(from.keys[i]))]++, from, i);
    });
  }

  /// Few keys that ascend or strictly descend; returns false where they do not.
  LANEWISE_FUNCTION bool take_run(const Item* from, int n, Item* to) const {
    if constexpr (keeps_words) {
      return plain_network::take_run(from, n, to, identity{});
    } else if constexpr (maps_words) {
      return plain_network::take_run(from, n, to, key_of_lanes());
    } else {
      return false;
    }
  }
  LANEWISE_FUNCTION auto key_of_lanes() const {
    return [of = key_.bits_of](const auto& x) LANEWISE_INLINE_LAMBDA { return of.of_lanes(x); };
  }
  LANEWISE_LOOP_FUNCTION void sort_plain(const Item* from, int n, Item* to) const {
    if constexpr (keeps_words) {
      plain_network::sort(from, n, to);
    } else {
      auto* const bits = reinterpret_cast<word*>(shared_.few);
      const auto of = key_.bits_of;
      if constexpr (maps_words) {
        plain_network::map(from, n, bits, key_of_lanes());
      } else {
        for (int i = 0; i < n; ++i) bits[i] = of(from[i]);
      }
      plain_network::sort(bits, n, bits);
      if constexpr (maps_words) {
        const auto item = [&](const auto& x) LANEWISE_INLINE_LAMBDA { return of.items_of(x); };
        plain_network::map(bits, n, to, item);
      } else {
        for (int i = 0; i < n; ++i) to[i] = of.item_of(static_cast<bits_type>(bits[i]));
      }
    }
  }

  /// By keys with positions after them; false if these are too long.
  LANEWISE_FUNCTION bool sort_numbered(const place& from, int n, const place& to, bits_type low,
                                       int length) const {
    if (length <= 25) {
      sort_numbered_as<std::uint32_t>(from, n, to, low);
      return true;
    }
    if (length <= 58 && n <= wide_network::most) {
      sort_numbered_as<std::uint64_t>(from, n, to, low);
      return true;
    }
    return false;
  }
  template <class T>
  LANEWISE_LOOP_FUNCTION void sort_numbered_as(place from, int n, place to, bits_type low) const {
    constexpr int places = sizeof(T) == 4 ? 7 : 6;
    const Key key = key_;
    auto* const numbered = reinterpret_cast<T*>(shared_.few);
    for (int i = 0; i < n; ++i) {
      numbered[i] =
          static_cast<T>(static_cast<T>(static_cast<bits_type>(key(from.keys[i]) - low)) << places |
                         static_cast<T>(i));
    }
    host_network<Team, T>::sort(numbered, n, numbered);
    if (from == to) {
      const place copied{reinterpret_cast<Item*>(shared_.keys),
                         reinterpret_cast<Value*>(shared_.values)};
      copied.copy(from, n);
      from = copied;
    }
    for (int i = 0; i < n; ++i)
      to.take(i, from, static_cast<std::int64_t>(numbered[i] & ((T{1} << places) - 1)));
  }

  LANEWISE_LOOP_FUNCTION void insert(place from, std::int64_t n, place to) const {
    const Key key = key_;
    for (std::int64_t i = 0; i < n; ++i) {
      const Item x = from.keys[i];
      const bits_type k = key(x);
      std::int64_t at = i;
      if constexpr (has_values) {
        const Value v = from.values[i];
        for (; at > 0 && k < key(to.keys[at - 1]); --at) to.take(at, to, at - 1);
        to.values[at] = v;
      } else {
        for (; at > 0 && k < key(to.keys[at - 1]); --at) to.take(at, to, at - 1);
      }
      to.keys[at] = x;
    }
  }

  /// A digit: where it begins, and how many bits it has.
  struct digit {
    int begin;
    int bits;
  };

  /// The next digit from a bit on: digits begin with a bit that differs.
  LANEWISE_FUNCTION static digit next_digit(bits_type differ, int from, int bits) {
    const bits_type left = static_cast<bits_type>(differ >> from);
    const int begin = from + detail::bit_length(static_cast<bits_type>(left & (~left + 1))) - 1;
    const int length = detail::bit_length(static_cast<bits_type>(differ >> begin));
    return {begin, length < bits ? length : bits};
  }
  LANEWISE_FUNCTION static int count_digits(bits_type differ, int bits) {
    int digits = 0;
    for (int from = 0; from < static_cast<int>(sizeof(bits_type) * 8) &&
                       static_cast<bits_type>(differ >> from) != 0;
         ++digits) {
      const digit d = next_digit(differ, from, bits);
      from = d.begin + d.bits;
    }
    return digits;
  }

  /// By least significant digits; four of them are counted at a time. Constant bits between the
  /// others cost nothing.
  LANEWISE_LOOP_FUNCTION void sort_by_digits(place from, std::int64_t n, place to,
                                             place other) const {
    const bits_type differ = differing_bits(from.keys, n);
    if (differ == 0) return to.copy(from, n);
    // As few passes as with the widest digits, and counters as few as that takes.
    int bits = most_digit;
    const int passes = count_digits(differ, bits);
    while (bits > 1 && count_digits(differ, bits - 1) == passes) --bits;
    // Passes go back and forth, the last one to `to` if the first one can begin there.
    place target = passes % 2 == 1 ? to : other;
    if (target == from) target = passes % 2 == 1 ? other : to;
    int at = 0;
    for (int done = 0; done < passes;) {
      digit digits[4];
      const int some = passes - done < 4 ? passes - done : 4;
      for (int d = 0; d < some; ++d) {
        digits[d] = next_digit(differ, at, bits);
        at = digits[d].begin + digits[d].bits;
      }
      count_digits(from.keys, n, digits, some);
      for (int d = 0; d < some; ++d) {
        scatter_digit(from, n, digits[d], shared_.digit[d], target);
        from = target;
        target = from == to ? other : to;
      }
      done += some;
    }
    to.copy(from, n);
  }

  LANEWISE_LOOP_FUNCTION bits_type differing_bits(const Item* items, std::int64_t n) const {
    const Key key = key_;
    bits_type some = 0, all = static_cast<bits_type>(~bits_type{0});
    for (std::int64_t i = 0; i < n; ++i) {
      const bits_type k = key(items[i]);
      some |= k;
      all &= k;
    }
    return static_cast<bits_type>(some ^ all);
  }

  LANEWISE_FUNCTION void count_digits(const Item* items, std::int64_t n, const digit (&digits)[4],
                                      int some) const {
    for (int d = 0; d < some; ++d) {
      for (std::int64_t& c : shared_.digit[d]) c = 0;
    }
    if (some == 1) count_some<1>(items, n, digits);
    if (some == 2) count_some<2>(items, n, digits);
    if (some == 3) count_some<3>(items, n, digits);
    if (some == 4) count_some<4>(items, n, digits);
    for (int d = 0; d < some; ++d) {
      std::int64_t before = 0;
      for (std::int64_t& c : shared_.digit[d]) {
        const std::int64_t here = c;
        c = before;
        before += here;
      }
    }
  }
  LANEWISE_FUNCTION static std::uint32_t digit_of(bits_type k, digit d) {
    return static_cast<std::uint32_t>(k >> d.begin) & ((1u << d.bits) - 1);
  }
  template <int some>
  LANEWISE_LOOP_FUNCTION void count_some(const Item* items, std::int64_t n,
                                         const digit (&of)[4]) const {
    const Key key = key_;
    digit digits[some];
    for (int d = 0; d < some; ++d) digits[d] = of[d];
    auto& count = shared_.digit;
    for (std::int64_t i = 0; i < n; ++i) {
      const bits_type k = key(items[i]);
      for (int d = 0; d < some; ++d) ++count[d][digit_of(k, digits[d])];
    }
  }
  LANEWISE_LOOP_FUNCTION void scatter_digit(place from, std::int64_t n, digit d, std::int64_t* next,
                                            place to) const {
    const Key key = key_;
    detail::for_each_by_four({0, n}, [&](std::int64_t i, int) LANEWISE_INLINE_LAMBDA {
      to.take(next[digit_of(key(from.keys[i]), d)]++, from, i);
    });
  }

  typename Team::warp_type warp_;
  scratch& shared_;
  Key key_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
