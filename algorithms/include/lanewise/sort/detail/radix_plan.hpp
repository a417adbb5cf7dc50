// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/radix_key.hpp>
#include <lanewise/data/source.hpp>
#include <lanewise/team/policy.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How keys of any type, seen as the unsigned integers that lie in memory, become integers in the
/// order that is wanted: radix_key as two words, so that kernels depend on the size of a key alone.
template <class Bits>
struct key_map {
  Bits flip{};      ///< turned around in all keys
  Bits negative{};  ///< and these in keys whose highest bit is set; not that bit itself

  LANEWISE_FUNCTION Bits operator()(Bits key) const {
    return static_cast<Bits>(key ^ flip ^ (highest(key) & negative));
  }
  LANEWISE_FUNCTION Bits item_of(Bits x) const {
    return static_cast<Bits>(x ^ flip ^ (highest(static_cast<Bits>(x ^ flip)) & negative));
  }
  LANEWISE_FUNCTION bool is_identity() const { return flip == 0 && negative == 0; }

  /// of_lanes and items_of do this for lanes.
  static constexpr bool takes_lanes = true;
  template <class Lanes>
  LANEWISE_FUNCTION Lanes of_lanes(const Lanes& key) const {
    return key ^ Lanes(flip) ^ (highest(key) & Lanes(negative));
  }
  template <class Lanes>
  LANEWISE_FUNCTION Lanes items_of(const Lanes& x) const {
    return x ^ Lanes(flip) ^ (highest(x ^ Lanes(flip)) & Lanes(negative));
  }

 private:
  /// The highest bit in all bits.
  template <class B>
  static LANEWISE_FUNCTION B highest(const B& x) {
    return static_cast<B>(B(0) - static_cast<B>(x >> (8 * static_cast<int>(sizeof(Bits)) - 1)));
  }
};

/// The map of keys of type T.
template <radix_sortable T>
key_map<radix_bits_t<T>> key_map_of(bool descending) {
  using bits = radix_bits_t<T>;
  const bits zero = radix_key<T>::to_bits(T{});
  key_map<bits> map{zero, 0};
  if constexpr (is_float_key<T>) map.negative = static_cast<bits>(~zero);
  if (descending) map.flip = static_cast<bits>(~map.flip);
  return map;
}

/// The bits [low, high) of mapped keys that order them.
struct radix_range {
  int low;
  int high;
};

template <class Bits>
LANEWISE_FUNCTION Bits ordering_bits(radix_range range) {
  constexpr int all = 8 * sizeof(Bits);
  constexpr Bits ones = static_cast<Bits>(~Bits{0});
  return static_cast<Bits>(static_cast<Bits>(ones >> (all - range.high + range.low)) << range.low);
}

/// Neighbouring keys that differ below bit `top` only, so that they need not go anywhere else, and
/// which of the sort's arrays they are in.
enum class radix_array : std::uint8_t { in, out, room };

/// Too many for one team: the next level sends them to buckets by the digit below `top`.
struct radix_segment {
  std::int64_t begin;
  std::int64_t count;
  std::uint32_t first_tile;  ///< of the level's tiles
  std::uint8_t top;
  radix_array array;
  bool stays;  ///< all have the same digit
  bool last;   ///< nothing below the digit differs
};

/// What a level has; room for `tickets` beside.
struct radix_level {
  std::uint32_t segments;
  std::uint32_t tiles;
  std::uint32_t tickets;
  std::uint32_t descents;   ///< of level 0: whether a key is less than the one before it
  std::uint32_t by_passes;  ///< of level 0: nothing is left for levels, keys are sorted by passes
  std::uint32_t stays;      ///< of level 0, whose segment is in no list
  std::uint32_t last;       ///< the same
};

/// What one team does at the end: it sorts some keys, or takes them to the output. Keys that gather
/// in few buckets gather in few bins, too.
enum class radix_work : std::uint8_t { copies, sorts, sorts_gathered };
struct block_sort_task {
  std::int64_t begin;
  std::uint32_t count;
  radix_array array;
  radix_work work;
  bool mapped;       ///< whether keys are integers in order there
  std::uint8_t top;  ///< they differ below it only
};

/// Words that hold the bits of a key.
template <class Bits>
inline constexpr int radix_words = sizeof(Bits) > 8 ? 2 : 1;
template <class Bits>
LANEWISE_FUNCTION std::uint64_t radix_word(Bits x, int w) {
  if constexpr (sizeof(Bits) > 8) return static_cast<std::uint64_t>(x >> (64 * w));
  return static_cast<std::uint64_t>(x);
}
template <class Bits>
LANEWISE_FUNCTION Bits radix_bits_of_words(const std::uint64_t* word) {
  if constexpr (sizeof(Bits) > 8) return static_cast<Bits>(word[1]) << 64 | word[0];
  return static_cast<Bits>(word[0]);
}
/// The number of the highest bit that is set, from 1 on; 0: none is.
template <class Bits>
LANEWISE_FUNCTION int radix_bit_width(Bits x) {
  if constexpr (sizeof(Bits) > 8) {
    const std::uint64_t high = detail::radix_word(x, 1);
    if (high != 0) return 128 - Kokkos::countl_zero(high);
  }
  return 64 - Kokkos::countl_zero(static_cast<std::uint64_t>(x));
}

/// The range of the bits that are set, at least one; without any an empty one.
template <class Bits>
LANEWISE_FUNCTION radix_range radix_range_of(Bits x) {
  const int high = detail::radix_bit_width(x);
  const auto lowest = static_cast<Bits>(x & static_cast<Bits>(Bits{0} - x));
  return {high > 0 ? detail::radix_bit_width(lowest) - 1 : 0, high};
}

/// The jobs that a launch does: all, the jobs that another launch has left, one job of all keys, or
/// a job for each segment of a list.
enum class block_sort_tasks : std::uint8_t { all, left, one, segments };

/// Digits of eight bits.
inline constexpr int radix_digit_bits = 8;
inline constexpr int radix_buckets = 1 << radix_digit_bits;

/// A digit of mapped keys.
template <class Bits>
struct radix_digit_of {
  int shift;
  std::uint32_t mask;
  LANEWISE_FUNCTION std::uint32_t operator()(Bits x) const {
    return static_cast<std::uint32_t>(x >> shift) & mask;
  }
};

/// How many digits a range has, and its p-th one from the lowest up, which may be a part of one.
LANEWISE_FUNCTION int radix_digits(const radix_range& range) {
  return (range.high - range.low + radix_digit_bits - 1) / radix_digit_bits;
}
template <class Bits>
LANEWISE_FUNCTION radix_digit_of<Bits> radix_digit_at(const radix_range& range, int p) {
  const int end = range.high - (radix_digits(range) - 1 - p) * radix_digit_bits;
  const int low = end - radix_digit_bits > range.low ? end - radix_digit_bits : range.low;
  return {low, (std::uint32_t{1} << (end - low)) - 1};
}

/// A pass over a digit, as teams find it; in a line of its own, as all take tickets of it.
struct alignas(128) radix_pass {
  std::uint32_t tickets;  ///< of its tiles
  std::uint32_t moves;    ///< 0: keys do not differ in the digit, or there are none
  std::uint32_t tiles;
  std::uint32_t mask;  ///< of the digit
  std::uint8_t shift;
  std::uint8_t number;  ///< of passes that move keys before this one
  radix_array from;
  radix_array to;
};

/// The arrays of keys or of what moves with them. `out` or `room` may be `in`; `room` is null until
/// there is memory for it.
template <class T>
struct radix_arrays {
  const T* in;
  T* out;
  T* room;
  LANEWISE_FUNCTION const T* operator()(radix_array a) const {
    return a == radix_array::in ? in : (a == radix_array::out ? out : room);
  }
  /// The array to which keys go from there, if the input is not the room.
  static LANEWISE_FUNCTION radix_array other(radix_array a) {
    return a == radix_array::room ? radix_array::out : radix_array::room;
  }
  LANEWISE_FUNCTION radix_array next(radix_array a) const {
    return a == radix_array::in && overwrites() ? radix_array::out : other(a);
  }
  /// Whether the input is the room, too.
  LANEWISE_FUNCTION bool overwrites() const { return room == in; }
  LANEWISE_FUNCTION T* to(radix_array a) const { return a == radix_array::out ? out : room; }
};

/// Everything that the kernels of a sort share. Counter holds numbers of items.
template <class Bits, class Counter>
struct radix_plan {
  radix_arrays<Bits> keys;
  key_map<Bits> map;
  radix_range range;
  item_count n;
  std::int64_t tile_items;
  bool values_apart;  ///< the values' input is not their output, whatever the keys' is

  radix_level* levels;
  radix_segment* segments[2];      ///< of levels 0, 2, ... and 1, 3, ...
  std::uint32_t* tile_segment[2];  ///< which segment a tile is part of
  Counter* counts[2];              ///< a segment's counts by bucket, then where buckets go on
  std::uint64_t* differing[2];     ///< which bits differ in a segment, in radix_words words
  block_sort_task* jobs;
  std::uint32_t* job_count;
  std::uint32_t* unsorted_jobs;  ///< numbers of jobs that were left
  std::uint32_t* unsorted_count;

  /// This plan for code that takes counts for integers of another type.
  template <class Other>
  LANEWISE_FUNCTION radix_plan<Bits, Other> with_counters() const {
    const auto as_other = [](Counter* of) { return reinterpret_cast<Other*>(of); };
    return {keys,
            map,
            range,
            n,
            tile_items,
            values_apart,
            levels,
            {segments[0], segments[1]},
            {tile_segment[0], tile_segment[1]},
            {as_other(counts[0]), as_other(counts[1])},
            {differing[0], differing[1]},
            jobs,
            job_count,
            unsorted_jobs,
            unsorted_count};
  }
  /// Segment s of a level. Level 0 has one: all items.
  LANEWISE_FUNCTION radix_segment segment(int level, std::uint32_t s) const {
    if (level > 0) return segments[level & 1][s];
    return {0,
            n(),
            0,
            static_cast<std::uint8_t>(range.high),
            radix_array::in,
            levels[0].stays != 0,
            levels[0].last != 0};
  }
  LANEWISE_FUNCTION std::uint32_t segment_count(int level) const {
    return level > 0 ? levels[level].segments : 1;
  }
  LANEWISE_FUNCTION std::uint32_t tile_count(int level) const {
    return level > 0 ? levels[level].tiles : static_cast<std::uint32_t>(divide_up(n(), tile_items));
  }
  LANEWISE_FUNCTION std::uint32_t segment_of(int level, std::uint32_t tile) const {
    return level > 0 ? tile_segment[level & 1][tile] : 0;
  }
  /// The items of a tile.
  LANEWISE_FUNCTION std::int64_t tile_begin(const radix_segment& s, std::uint32_t tile) const {
    return s.begin + static_cast<std::int64_t>(tile - s.first_tile) * tile_items;
  }
  LANEWISE_FUNCTION std::int64_t tile_end(const radix_segment& s, std::int64_t begin) const {
    const std::int64_t end = s.begin + s.count;
    return begin + tile_items < end ? begin + tile_items : end;
  }
  /// What lies below the digits that the level looks at.
  LANEWISE_FUNCTION int bottom(const radix_segment& s) const {
    return s.top - radix_digit_bits > range.low ? s.top - radix_digit_bits : range.low;
  }
  LANEWISE_FUNCTION radix_digit_of<Bits> digit(const radix_segment& s) const {
    const int shift = bottom(s);
    return {shift, (std::uint32_t{1} << (s.top - shift)) - 1};
  }
  /// Below which bit, at most `end`, keys differ that agree from there on; range.low: nowhere.
  LANEWISE_FUNCTION int differ_below(int level, std::uint32_t s, int end) const {
    const Bits all =
        detail::radix_bits_of_words<Bits>(differing[level & 1] + s * radix_words<Bits>);
    if (end == range.low) return end;
    const Bits below = static_cast<Bits>(all & detail::ordering_bits<Bits>({range.low, end}));
    const int top = detail::radix_bit_width(below);
    return top > range.low ? top : range.low;
  }
  /// How keys of a segment are read.
  LANEWISE_FUNCTION key_map<Bits> reads(radix_array a) const {
    return a == radix_array::in ? map : key_map<Bits>{};
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
