// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/options.hpp>
#include <lanewise/data/radix_key.hpp>
#include <lanewise/team/team.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// Selection by radix: which items are the k first, found by reading and counting, without sorting.
// An item's bits are its key as an unsigned integer, and the greatest bits come first
// (radix_key.hpp).
//
// The bits of the k-th item, the threshold, are found digit by digit from the top. Every pass
// counts the next digit of the items that agree with the threshold so far (Merrill's counting of
// digits, 2.13, without his scatter). Then the items beyond the threshold are written in input
// order, and with them as many equal to it as are missing, earliest first.
//
// Where items are many and k is few, all but one of these readings are of few items. A sample says
// a floor which the threshold hardly ever lies below. One reading, the filter, makes notes for
// every unit of 1024 neighbouring items. They say how many are above the floor and how many equal
// it, and where in the unit the first eight above it are. Everything after looks at the notes, and
// at units with more than eight again. If the floor turns out to be too high, all after looks at
// all items. The host does not wait for that: kernels read what the launches before have found.
//
// Hosts find the threshold between bounds instead (bounds.hpp), but for keys of 128 bits.

inline constexpr int digit_bits = 11, digit_values = 1 << digit_bits;
inline constexpr std::int64_t unit_items = 1024;
inline constexpr int unit_slots = 8;
inline constexpr std::int64_t selection_tile_units = 2048;
/// What one team sorts.
inline constexpr std::int64_t sorted_run = 4096;

/// From how many items on a call takes more than one launch, and a sample; the most of the sample,
/// and of the items above the floor that a unit should have. Tests have others.
struct selection_limits {
  std::int64_t one_team = 8192;
  std::int64_t sampled_from = 1 << 22;
  std::int64_t most_sampled = 1 << 14;
  std::int64_t most_per_unit = 4;
};

/// The bits of items; flip turns the order around.
template <class KeyOf, class Item>
struct selection_bits {
  using key_type = std::decay_t<std::invoke_result_t<const KeyOf&, const Item&>>;
  using bits = radix_bits_t<key_type>;
  static constexpr int width = radix_key<key_type>::width;
  static constexpr bits all =
      static_cast<bits>(static_cast<bits>(~bits{0}) >> (8 * sizeof(bits) - width));
  static constexpr int passes = (width + digit_bits - 1) / digit_bits;
  /// 128-bit words are no lanes that compare.
  static constexpr bool can_sample = sizeof(bits) <= 8;

  KeyOf key_of;
  bits flip;

  LANEWISE_FUNCTION bits operator()(const Item& item) const {
    return static_cast<bits>(lanewise::to_bits(key_of(item)) ^ flip);
  }
  LANEWISE_FUNCTION key_type key(bits x) const {
    return lanewise::from_bits<key_type>(static_cast<bits>(x ^ flip));
  }
};

template <class Bits>
LANEWISE_FUNCTION constexpr Bits without_low(Bits x, int count) {
  return count < static_cast<int>(8 * sizeof(Bits)) ? static_cast<Bits>(x >> count) : Bits{0};
}

/// Which items may still equal the threshold.
enum class candidates : std::int32_t {
  all,          ///< any
  above_floor,  ///< those above the floor
  floor         ///< the threshold is the floor
};

/// What is known of the threshold.
template <class Bits>
struct selection_plan {
  Bits base;            ///< digits are those of bits - base, of bits that are at least base
  Bits at;              ///< its digits, zeros where they are not known
  Bits floor;           ///< where there is a sample
  std::int64_t wanted;  ///< number of the items that agree with it and are selected
  std::int32_t open;    ///< the number of low bits that are not known
  std::int32_t done;    ///< nothing more needs to be known
  std::int32_t sampled;
  candidates among;
};

/// Cleared before every call.
struct selection_totals {
  std::uint64_t above;         // the floor
  std::uint64_t over;          // the digits that the filter counts
  std::uint64_t equal;         // to the floor
  std::uint64_t greatest;      // bits above the floor
  std::uint64_t finished[15];  // teams, of every launch that has a last one
};

/// How many items before a unit are beyond the threshold, and equal to it.
struct selection_offset {
  std::int64_t beyond;
  std::int64_t equal;
};

/// What all launches of a call share.
template <class Source, class Key>
struct selection {
  using item = typename Source::value_type;
  using bits = typename Key::bits;
  using plan_type = selection_plan<bits>;

  Source in;
  Key key;
  item_count n;
  std::int64_t k;
  plan_type* plan = nullptr;
  selection_totals* totals = nullptr;
  std::uint64_t* histograms = nullptr;  // one per pass, and one of the filter
  // Per unit: items above the floor, and from bit 16 on equal to it.
  std::uint32_t* notes = nullptr;
  // Places in the unit, and bits, of the first items above the floor.
  std::uint16_t* places = nullptr;
  bits* noted = nullptr;
  std::uint32_t* chosen = nullptr;      // per unit: items beyond the threshold, and equal to it
  selection_offset* offsets = nullptr;  // per unit
  bool samples = false;

  LANEWISE_FUNCTION std::int64_t wanted() const {
    const std::int64_t count = n();
    return k < count ? k : count;
  }
  LANEWISE_FUNCTION plan_type first_plan() const {
    return {0, 0, 0, wanted(), Key::width, wanted() == 0, 0, candidates::all};
  }
  /// What is known before a pass.
  LANEWISE_FUNCTION plan_type known(int pass) const {
    return pass == 0 && !samples ? first_plan() : *plan;
  }
  LANEWISE_FUNCTION std::int64_t units() const { return divide_up(n(), unit_items); }

  /// 2: beyond what is known of the threshold, 1: equal to it, 0: neither.
  struct classes {
    Key key;
    bits base;
    bits at;
    int open;
    LANEWISE_FUNCTION classes(const selection& all, const plan_type& now)
        : key(all.key),
          base(now.base),
          at(kernels::without_low(now.at, now.open)),
          open(now.open) {}
    LANEWISE_FUNCTION std::uint32_t of_bits(bits x) const {
      const bits b = kernels::without_low(static_cast<bits>(x - base), open);
      return x < base ? 0 : (b > at ? 2 : (b == at ? 1 : 0));
    }
    LANEWISE_FUNCTION std::uint32_t operator()(const item& x) const { return of_bits(key(x)); }
  };
  /// The next digit of items that agree with what is known.
  struct digits {
    classes agreeing;
    int next;
    LANEWISE_FUNCTION digits(const selection& all, const plan_type& now)
        : agreeing(all, now), next(now.open > digit_bits ? now.open - digit_bits : 0) {}
    LANEWISE_FUNCTION std::uint32_t of_bits(bits x) const {
      const auto b = static_cast<bits>(x - agreeing.base);
      return x >= agreeing.base && kernels::without_low(b, agreeing.open) == agreeing.at
                 ? lanewise::radix_digit(b, next, agreeing.open - next)
                 : ~std::uint32_t{0};
    }
    LANEWISE_FUNCTION std::uint32_t operator()(const item& x, int = 0) const {
      return of_bits(agreeing.key(x));
    }
  };
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
