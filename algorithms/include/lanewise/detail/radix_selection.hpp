// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/bucket_counts.hpp>
#include <lanewise/detail/selection.hpp>
#include <lanewise/merge.hpp>
#include <lanewise/options.hpp>
#include <lanewise/radix_key.hpp>
#include <lanewise/tile.hpp>
#include <lanewise/tile_sort.hpp>

#include <algorithm>

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

// Selection by radix: which items are the k first, found by reading and counting, without sorting.
// An item's bits are its key as an unsigned integer, and the greatest bits come first
// (radix_key.hpp).
//
// The bits of the k-th item, the threshold, are found digit by digit from the top: every pass
// counts the next digit of the items that agree with the threshold so far (Merrill's counting of
// digits, 2.13, without his scatter). Then items beyond the threshold, and as many equal to it as
// are missing, earliest first, are written in input order.
//
// Where items are many and k is few, all but one of these readings are of few items. A sample says
// a floor which the threshold hardly ever lies below. One reading, the filter, notes for every unit
// of 1024 neighbouring items how many are above the floor and how many equal it, and where in the
// unit the first eight above it are. Everything behind looks at the notes, and at units with more
// than eight again. If the floor turns out to be too high, all behind looks at all items. The host
// does not wait for that: kernels read what the launches before have found.

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
    return static_cast<bits>(to_bits(key_of(item)) ^ flip);
  }
  LANEWISE_FUNCTION key_type key(bits x) const {
    return from_bits<key_type>(static_cast<bits>(x ^ flip));
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
  std::int64_t wanted;  ///< so many of the items that agree with it are selected
  std::int32_t open;    ///< the number of low bits that are not known
  std::int32_t done;    ///< nothing more needs to be known
  std::int32_t sampled;
  candidates among;
};

/// Cleared in front of every call.
struct selection_totals {
  std::uint64_t above;         // the floor
  std::uint64_t over;          // the digits that the filter counts
  std::uint64_t equal;         // to the floor
  std::uint64_t greatest;      // bits above the floor
  std::uint64_t finished[15];  // teams, of every launch that has a last one
};

/// How many items in front of a unit are beyond the threshold, and equal to it.
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
  // Of the first items above the floor: places in the unit, and bits.
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
  /// What is known in front of a pass.
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
        : key(all.key), base(now.base), at(without_low(now.at, now.open)), open(now.open) {}
    LANEWISE_FUNCTION std::uint32_t of_bits(bits x) const {
      const bits b = without_low(static_cast<bits>(x - base), open);
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
      return x >= agreeing.base && without_low(b, agreeing.open) == agreeing.at
                 ? radix_digit(b, next, agreeing.open - next)
                 : ~std::uint32_t{0};
    }
    LANEWISE_FUNCTION std::uint32_t operator()(const item& x, int = 0) const {
      return of_bits(agreeing.key(x));
    }
  };
};

/// Whether this team is the last of its league to say so. What all teams wrote before is seen
/// behind it.
template <class Team>
LANEWISE_FUNCTION bool is_last_team(const Team& team, std::uint64_t& finished, bool& shared) {
  team.barrier();
  if (team.warp_index() == 0) {
    const auto warp = team.warp();
    const std::uint64_t before = warp.template fetch_add<order::acq_rel>(finished, 1);
    warp.once([&] { shared = before + 1 == team.league(); });
  }
  team.barrier();
  return shared;
}

/// A digit, how many items have a greater one, and how many have it.
struct found_digit {
  std::uint32_t digit;
  std::uint64_t greater;
  std::uint64_t equal;
};
template <class Team>
struct digit_scratch {
  std::uint64_t sum[Team::warps];
  found_digit found;
};

/// The digit of the wanted-th item from the top, of items whose digits were counted: of those there
/// are at least as many. All warps of the team call it; the scratch is free again behind the next
/// barrier.
template <class Team, class Count>
LANEWISE_FUNCTION found_digit find_digit(const Team& team, digit_scratch<Team>& shared,
                                         const Count* counts, std::uint64_t wanted) {
  using warp_type = typename Team::warp_type;
  constexpr int width = warp_type::width;
  static_assert(digit_values % (Team::warps * width) == 0, "lanewise: whole windows of digits");
  constexpr int windows = digit_values / (Team::warps * width);
  const auto warp = team.warp();
  const int first = team.warp_index() * windows * width;
  const auto window = [&](int i) LANEWISE_INLINE_LAMBDA {
    return warp.template cast<std::uint64_t>(warp.load(counts + first + i * width));
  };
  typename warp_type::template lanes<std::uint64_t> sums(std::uint64_t{0});
  for (int i = 0; i < windows; ++i) sums = sums + window(i);
  const std::uint64_t mine = warp.reduce(sums, plus{});
  warp.once([&] { shared.sum[team.warp_index()] = mine; });
  team.barrier();
  std::uint64_t greater = 0;
  for (int w = team.warp_index() + 1; w < Team::warps; ++w) greater += shared.sum[w];
  if (greater < wanted && wanted <= greater + mine) {
    for (int i = windows - 1; i >= 0; --i) {
      const auto count = window(i);
      const auto upto = warp.inclusive_scan(count, plus{});
      const std::uint64_t total = warp.broadcast(upto, width - 1);
      if (greater + total >= wanted) {
        // Lane l has greater + total - upto items above it: the highest lane with enough at or
        // above it.
        const auto here = warp.map(
            [=](std::uint64_t u, std::uint64_t c) -> std::uint32_t {
              return greater + total - u + c >= wanted ? 1 : 0;
            },
            upto, count);
        const int l = warp_type::highest(warp.ballot(here != 0u));
        const std::uint64_t equal = warp.broadcast(count, l);
        const std::uint64_t above = greater + total - warp.broadcast(upto, l);
        warp.once([&] {
          shared.found = {static_cast<std::uint32_t>(first + i * width + l), above, equal};
        });
        break;
      }
      greater += total;
    }
  }
  team.barrier();
  return shared.found;
}

/// Goes on with that digit. exact: all digits are needed, even where all items that agree so far
/// are wanted.
template <class Plan>
LANEWISE_FUNCTION void add_digit(Plan& plan, const found_digit& found, bool exact) {
  using bits = decltype(plan.at);
  const int next = plan.open > digit_bits ? plan.open - digit_bits : 0;
  plan.at = static_cast<bits>(plan.at | static_cast<bits>(static_cast<bits>(found.digit) << next));
  plan.open = next;
  plan.wanted -= static_cast<std::int64_t>(found.greater);
  const bool all = plan.wanted == static_cast<std::int64_t>(found.equal) && !exact;
  plan.done = next == 0 || all;
}

/// Calls f(at, exists, items) for windows of items [first, last), several of them in flight.
template <int rows = 8, class W, class Source, class F>
LANEWISE_FUNCTION void for_each_window_of(const W& warp, const Source& in, std::int64_t first,
                                          std::int64_t last, F f) {
  constexpr std::int64_t width = W::width;
  using items = typename W::template lanes<typename Source::value_type>;
  std::int64_t i = first;
  for (; i + rows * width <= last; i += rows * width) {
    items row[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) row[j] = detail::load_window(warp, in, i + j * width);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) f(i + j * width, warp.first(static_cast<int>(width)), row[j]);
  }
  for (; i < last; i += width) {
    const auto exists = warp.first(static_cast<int>(last - i < width ? last - i : width));
    f(i, exists,
      warp.map(
          exists, [&](std::uint32_t l) LANEWISE_INLINE_LAMBDA { return in(i + l); },
          typename Source::value_type{}, warp.lane()));
  }
}

/// A window of items that nobody looks at again soon.
template <class W, class Source>
LANEWISE_FUNCTION auto load_once(const W& warp, const Source& in, std::int64_t i) {
  if constexpr (Source::contiguous) {
    return detail::apply_by_lanes(warp, in.f, warp.load_streaming(in.data + i));
  } else {
    return detail::load_window(warp, in, i);
  }
}

/// Units in the lanes of a warp, in groups of four that lie far from each other: neighbouring units
/// often are alike, and would keep one warp busy while others have nothing to do.
template <class W>
struct units_in_lanes {
  typename W::template lanes<std::int64_t> unit;
  typename W::template mask_for<std::uint32_t> exist;

  LANEWISE_FUNCTION units_in_lanes(const W& warp, std::int64_t window, std::int64_t windows,
                                   std::int64_t units)
      : unit(warp.map(
            [=](std::uint32_t l) -> std::int64_t { return (l / 4 * windows + window) * 4 + l % 4; },
            warp.lane())),
        exist(unit < typename W::template lanes<std::int64_t>(units)) {}
};

/// Calls f(units in lanes) for this team's part of all units.
template <class Team, class F>
LANEWISE_FUNCTION void for_each_units(const Team& team, std::int64_t units, F f) {
  using warp_type = typename Team::warp_type;
  const std::int64_t windows = divide_up(units, warp_type::width);
  const index_range mine = team.share(windows);
  for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps)
    f(units_in_lanes<warp_type>(team.warp(), w, windows, units));
}

/// Calls f(unit) for every active lane's, one after the other, with the whole warp.
template <class W, class Mask, class F>
LANEWISE_FUNCTION void for_each_whole_unit(const W& warp, const Mask& active,
                                           const typename W::template lanes<std::int64_t>& unit,
                                           F f) {
  for (auto todo = warp.ballot(active); todo != 0; todo &= todo - 1) {
    const int lane = W::lowest(todo);
    f(warp.broadcast(unit, lane), lane);
  }
}

/// What is noted of the items above the floor of units in lanes: row[s] has the bits of the s-th,
/// where there is one.
template <class W, class Selection>
struct noted_items {
  using bits = typename Selection::bits;
  typename W::template lanes<bits> row[unit_slots];

  template <class Mask>
  LANEWISE_FUNCTION noted_items(const W& warp, const Selection& all, const Mask& active,
                                const typename W::template lanes<std::uint32_t>& count,
                                const typename W::template lanes<std::int64_t>& unit) {
    LANEWISE_UNROLL
    for (int s = 0; s < unit_slots; ++s)
      row[s] = warp.gather(active & (count > static_cast<std::uint32_t>(s)), all.noted,
                           slot_of(warp, unit, s), bits{});
  }
  static LANEWISE_FUNCTION auto slot_of(const W& warp,
                                        const typename W::template lanes<std::int64_t>& unit,
                                        int s) {
    return warp.map([s](std::int64_t u) -> std::int64_t { return u * unit_slots + s; }, unit);
  }
};

/// The place of sample i: in every stride another one, so that data with a period are no worse than
/// others.
LANEWISE_FUNCTION std::int64_t sampled_place(std::int64_t i, std::int64_t stride) {
  const std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u;
  return i * stride + static_cast<std::int64_t>((x >> 32) % static_cast<std::uint64_t>(stride));
}

/// Finds the floor: the q-th greatest of a sample, of which about r = k s / n belong to the k first
/// of all. q lies so far beyond r that the floor is too high once in 10^5 times, on random data.
/// Also says how many binary digits tell items above the floor apart, as far as the sample knows.
template <class Selection>
struct sample_kernel {
  using bits = typename Selection::bits;
  struct policy : launch_policy {
    static constexpr int warps = 32;
  };
  /// 64 KiB, so that the kernel fits every GPU.
  static constexpr std::int64_t most = sizeof(bits) <= 4 ? 1 << 14 : 1 << 13;
  template <class Team>
  struct scratch {
    bucket_counters<1, digit_values> counters;
    digit_scratch<Team> digit;
    bits greatest[Team::warps];
    bits sample[most];
  };

  Selection all;
  std::int64_t size;
  std::int64_t most_per_unit;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    const std::int64_t n = all.n(), stride = n / size;
    const std::int64_t belonging = stride > 0 ? divide_up(all.wanted(), stride) : 0;
    const std::int64_t rank = belonging + belonging / 2 + 12;
    typename Selection::plan_type plan = all.first_plan();
    // Units with more of them than slots are read again.
    if (stride < 8 || plan.done != 0 || rank * unit_items > size * most_per_unit) {
      team.once([&] { *all.plan = plan; });
      return;
    }
    const bits most_here = take(team, shared.sample, stride);
    warp.once([&] { shared.greatest[team.warp_index()] = most_here; });
    team.barrier();
    bits greatest = 0;
    for (int w = 0; w < Team::warps; ++w)
      greatest = shared.greatest[w] > greatest ? shared.greatest[w] : greatest;
    plan.wanted = rank;
    const array_source<bits, identity> sample{shared.sample, size, {}};
    while (plan.done == 0) {
      const int open = plan.open, next = open > digit_bits ? open - digit_bits : 0;
      const bits at = without_low(plan.at, open);
      clear(team, shared.counters);
      team.barrier();
      count(team, shared.counters, sample, 0, size, [=](bits b, int) {
        return without_low(b, open) == at ? radix_digit(b, next, open - next) : ~std::uint32_t{0};
      });
      team.barrier();
      add_digit(plan,
                find_digit(team, shared.digit, shared.counters.count,
                           static_cast<std::uint64_t>(plan.wanted)),
                true);
    }
    team.once([&] {
      auto first = all.first_plan();
      first.floor = plan.at;
      first.base = static_cast<bits>(plan.at + 1);
      first.open = 1;
      if (greatest > plan.at) first.open = digits_of(static_cast<bits>(greatest - first.base));
      first.sampled = 1;
      *all.plan = first;
    });
  }

  /// The number of binary digits, at least 1.
  static LANEWISE_FUNCTION int digits_of(bits x) {
    int digits = 1;
    while (without_low(x, digits) != 0) ++digits;
    return digits;
  }

 private:
  /// Takes the sample, many at once, as each is far away. Returns the greatest of this warp's.
  template <class Team>
  LANEWISE_FUNCTION bits take(const Team& team, bits* sample, std::int64_t stride) const {
    using warp_type = typename Team::warp_type;
    using values = typename warp_type::template lanes<bits>;
    constexpr int width = warp_type::width, at_once = Team::in_registers ? 16 : 1;
    const auto warp = team.warp();
    values greatest(bits{0});
    for (std::int64_t i = std::int64_t{team.warp_index()} * width; i < size;
         i += at_once * Team::warps * width) {
      values x[at_once];
      LANEWISE_UNROLL
      for (int j = 0; j < at_once; ++j) {
        const std::int64_t first = i + std::int64_t{j} * Team::warps * width, left = size - first;
        x[j] = warp.map(
            warp.first(static_cast<int>(left < width ? left : width)),
            [&](std::uint32_t l) LANEWISE_INLINE_LAMBDA {
              return all.key(all.in(sampled_place(first + l, stride)));
            },
            bits{}, warp.lane());
      }
      LANEWISE_UNROLL
      for (int j = 0; j < at_once; ++j) {
        const std::int64_t first = i + std::int64_t{j} * Team::warps * width, left = size - first;
        greatest = warp.map(maximum{}, greatest, x[j]);
        if (left > 0)
          warp.store(warp.template first<bits>(static_cast<int>(left < width ? left : width)),
                     sample + first, x[j]);
      }
    }
    return warp.reduce(greatest, maximum{});
  }
};

/// The one reading of all items: notes of every unit, and a first count of digits above the floor.
template <class Selection>
struct filter_kernel {
  using item = typename Selection::item;
  using bits = typename Selection::bits;
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 2;
    static constexpr int host_teams_per_thread = 16;
  };
  /// 64 bytes in flight for every lane.
  static constexpr int rows = sizeof(item) <= 4 ? 16 : (sizeof(item) <= 8 ? 8 : 4);
  using counters = bucket_counters<1, digit_values>;
  template <class Team>
  struct scratch {
    filter_kernel::counters counters;
    digit_scratch<Team> digit;
    selection_totals warp[Team::warps];
    bool last;
  };

  Selection all;
  typename decltype(Selection::key)::key_type* result;

  /// What a warp has seen of a unit, and of all its units.
  template <class W>
  struct seen {
    std::uint32_t above = 0;
    std::uint32_t equal = 0;
    std::uint64_t over = 0;
    typename W::template lanes<bits> greatest{bits{0}};
  };

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const typename Selection::plan_type plan = *all.plan;
    if (plan.sampled == 0) return;
    clear(team, shared.counters);
    team.barrier();
    const std::int64_t n = all.n();
    const index_range mine = team.share(all.units());
    std::uint64_t above = 0, equal = 0;
    seen<warp_type> now;
    for (std::int64_t u = mine.begin + team.warp_index(); u < mine.end; u += Team::warps) {
      now.above = now.equal = 0;
      std::int64_t i = u * unit_items;
      const std::int64_t end = i + unit_items < n ? i + unit_items : n;
      for (; i + rows * width <= end; i += rows * width) {
        typename warp_type::template lanes<item> row[rows];
        LANEWISE_UNROLL
        for (int j = 0; j < rows; ++j) row[j] = load_once(warp, all.in, i + j * width);
        auto reach = warp.map(all.key, row[0]) >= plan.floor;
        LANEWISE_UNROLL
        for (int j = 1; j < rows; ++j) reach = reach | (warp.map(all.key, row[j]) >= plan.floor);
        if (!warp.any(reach)) continue;
        // Reading them again took 330 us for 2^28 u32 on an H200, and from registers, before digits
        // were counted here, 265.
        LANEWISE_UNROLL
        for (int j = 0; j < rows; ++j)
          note(warp, shared.counters, u, i + j * width, warp.first(static_cast<int>(width)), row[j],
               plan, now);
      }
      for_each_window_of<1>(warp, all.in, i, end,
                            [&](std::int64_t at, const auto& exists, const auto& items)
                                LANEWISE_INLINE_LAMBDA {
                                  note(warp, shared.counters, u, at, exists, items, plan, now);
                                });
      warp.once([&] { all.notes[u] = now.above | now.equal << 16; });
      above += now.above;
      equal += now.equal;
    }
    const auto greatest = static_cast<std::uint64_t>(warp.reduce(now.greatest, maximum{}));
    warp.once([&] {
      auto& totals = shared.warp[team.warp_index()];
      totals.above = above;
      totals.over = now.over;
      totals.equal = equal;
      totals.greatest = greatest;
    });
    team.barrier();
    std::uint64_t* const histogram = all.histograms;
    for_each_window(team, shared.counters, [&](int first, const auto& counts) {
      warp.fetch_add(counts != 0u, histogram + first, warp.lane(),
                     warp.template cast<std::uint64_t>(counts));
    });
    if (team.warp_index() == 0) {
      std::uint64_t most = 0, over = 0;
      above = equal = 0;
      for (int w = 0; w < Team::warps; ++w) {
        above += shared.warp[w].above;
        over += shared.warp[w].over;
        equal += shared.warp[w].equal;
        if (most < shared.warp[w].greatest) most = shared.warp[w].greatest;
      }
      if (above != 0) {
        warp.fetch_add(all.totals->above, above);
        warp.fetch_max(all.totals->greatest, most);
      }
      if (over != 0) warp.fetch_add(all.totals->over, over);
      if (equal != 0) warp.fetch_add(all.totals->equal, equal);
    }
    if (is_last_team(team, all.totals->finished[0], shared.last)) decide(team, shared, plan);
  }

 private:
  template <class W, class Mask, class Items>
  LANEWISE_FUNCTION void note(const W& warp, counters& counts, std::int64_t unit, std::int64_t at,
                              const Mask& exists, const Items& items,
                              const typename Selection::plan_type& plan, seen<W>& now) const {
    using numbers = typename W::template lanes<std::uint32_t>;
    using values = typename W::template lanes<bits>;
    const values x = warp.map(all.key, items);
    const auto reach = exists & (x >= plan.floor);
    const auto reaching = warp.ballot(reach);
    if (reaching == 0) return;
    const auto same = warp.ballot(exists & (x == plan.floor));
    const auto more = reaching & ~same;
    now.equal += static_cast<std::uint32_t>(W::popcount(same));
    if (more == 0) return;
    const auto above = warp.template mask_of<std::uint32_t>(more);
    now.greatest = warp.map(maximum{}, now.greatest, select(reach, x, values(bits{0})));
    const int next = plan.open > digit_bits ? plan.open - digit_bits : 0;
    const auto digit = warp.map(
        [base = plan.base, open = plan.open, next](bits b) -> std::uint32_t {
          const auto y = static_cast<bits>(b - base);
          return without_low(y, open) == 0 ? radix_digit(y, next, open - next)
                                           : static_cast<std::uint32_t>(digit_values);
        },
        x);
    const auto in_range = digit < static_cast<std::uint32_t>(digit_values);
    warp.template fetch_add<order::relaxed, scope::team>(above & in_range, counts.count, digit,
                                                         numbers(1u));
    now.over += static_cast<std::uint64_t>(warp.count(above & !in_range));
    if (now.above < unit_slots) {
      const auto rank = warp.map(
          [more, before = now.above](typename W::bits below) -> std::uint32_t {
            return before + static_cast<std::uint32_t>(W::popcount(more & below));
          },
          warp.lanes_below());
      const auto place = warp.lane() + numbers(static_cast<std::uint32_t>(at - unit * unit_items));
      const auto noted = above & (rank < static_cast<std::uint32_t>(unit_slots));
      warp.scatter(noted, all.places + unit * unit_slots, rank,
                   warp.template cast<std::uint16_t>(place));
      warp.scatter(noted, all.noted + unit * unit_slots, rank, x);
    }
    now.above += static_cast<std::uint32_t>(W::popcount(more));
  }

  /// By the last team.
  template <class Team>
  LANEWISE_FUNCTION void decide(const Team& team, scratch<Team>& shared,
                                typename Selection::plan_type plan) const {
    const auto above = static_cast<std::int64_t>(all.totals->above);
    const auto over = static_cast<std::int64_t>(all.totals->over);
    const auto equal = static_cast<std::int64_t>(all.totals->equal);
    if (above >= plan.wanted) {
      plan.among = candidates::above_floor;
      if (over < plan.wanted) {
        plan.wanted -= over;
        add_digit(
            plan,
            find_digit(team, shared.digit, all.histograms, static_cast<std::uint64_t>(plan.wanted)),
            result != nullptr);
      } else {
        // The sample has not seen how great they get.
        plan.open = sample_kernel<Selection>::digits_of(
            static_cast<bits>(static_cast<bits>(all.totals->greatest) - plan.base));
      }
    } else if (above + equal >= plan.wanted) {
      plan.among = candidates::floor;
      plan.base = 0;
      plan.at = plan.floor;
      plan.open = 0;
      plan.done = 1;
      plan.wanted -= above;
    } else {
      plan = all.first_plan();
    }
    team.once([&] {
      *all.plan = plan;
      if (result != nullptr && plan.done != 0)
        *result = all.key.key(static_cast<bits>(plan.base + plan.at));
    });
  }
};

/// One pass: the next digit of the threshold.
template <class Selection>
struct digit_kernel {
  using item = typename Selection::item;
  using digits = typename Selection::digits;
  struct policy : launch_policy {
    static constexpr int warps = 16;
    static constexpr int teams_per_multiprocessor = 2;
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {
    bucket_counters<1, digit_values> counters;
    digit_scratch<Team> digit;
    bool last;
  };

  Selection all;
  int pass;
  typename decltype(Selection::key)::key_type* result;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    auto plan = all.known(pass);
    if (plan.done != 0) {
      if (pass == 0 && !all.samples) team.once([&] { *all.plan = plan; });  // of no items
      return;
    }
    clear(team, shared.counters);
    team.barrier();
    const digits digit(all, plan);
    if (plan.among == candidates::all) {
      const index_range mine = team.share(all.n());
      count(team, shared.counters, all.in, mine.begin, mine.end, digit);
    } else {
      count_noted(team, shared.counters, digit);
    }
    team.barrier();
    std::uint64_t* const histogram = all.histograms + (1 + pass) * digit_values;
    for_each_window(team, shared.counters, [&](int first, const auto& counts) {
      warp.fetch_add(counts != 0u, histogram + first, warp.lane(),
                     warp.template cast<std::uint64_t>(counts));
    });
    if (!is_last_team(team, all.totals->finished[1 + pass], shared.last)) return;
    add_digit(plan,
              find_digit(team, shared.digit, histogram, static_cast<std::uint64_t>(plan.wanted)),
              result != nullptr);
    team.once([&] {
      *all.plan = plan;
      if (result != nullptr && plan.done != 0)
        *result = all.key.key(static_cast<typename Selection::bits>(plan.base + plan.at));
    });
  }

 private:
  template <class Team>
  LANEWISE_FUNCTION void count_noted(const Team& team, bucket_counters<1, digit_values>& counters,
                                     const digits& digit) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    for_each_units(team, all.units(), [&](const auto& lanes) LANEWISE_INLINE_LAMBDA {
      const auto note = warp.gather(lanes.exist, all.notes, lanes.unit, 0u);
      const auto above = note & typename warp_type::template lanes<std::uint32_t>(0xffffu);
      const auto few = lanes.exist & (above > 0u) & (above <= std::uint32_t{unit_slots});
      if (warp.any(few)) {
        const noted_items<warp_type, Selection> noted(warp, all, few, above, lanes.unit);
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s)
          detail::count_window<false>(warp, counters, few & (above > static_cast<std::uint32_t>(s)),
                                      noted.row[s],
                                      [&](typename Selection::bits x, int)
                                          LANEWISE_INLINE_LAMBDA { return digit.of_bits(x); });
      }
      for_each_whole_unit(
          warp, lanes.exist & (above > std::uint32_t{unit_slots}), lanes.unit,
          [&](std::int64_t u, int) LANEWISE_INLINE_LAMBDA {
            const std::int64_t n = all.n(), end = (u + 1) * unit_items;
            for_each_window_of(
                warp, all.in, u * unit_items, end < n ? end : n,
                [&](std::int64_t, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
                  detail::count_window<false>(warp, counters, exists, items, digit);
                });
          });
    });
  }
};

/// How many items of every unit are beyond the threshold, and how many equal it.
template <class Selection>
struct choose_kernel {
  using item = typename Selection::item;
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  Selection all;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = typename warp_type::template lanes<std::uint32_t>;
    const auto warp = team.warp();
    const typename Selection::plan_type plan = *all.plan;
    const typename Selection::classes class_of(all, plan);
    if (plan.among == candidates::floor) return;  // the notes say it
    const std::int64_t n = all.n();
    const auto chosen_of = [&](std::int64_t u) LANEWISE_INLINE_LAMBDA {
      const std::int64_t end = (u + 1) * unit_items;
      std::uint32_t beyond = 0, equal = 0;
      for_each_window_of(
          warp, all.in, u * unit_items, end < n ? end : n,
          [&](std::int64_t, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
            const auto is = warp.map(class_of, items);
            beyond +=
                static_cast<std::uint32_t>(warp_type::popcount(warp.ballot(exists & (is == 2u))));
            equal +=
                static_cast<std::uint32_t>(warp_type::popcount(warp.ballot(exists & (is == 1u))));
          });
      return beyond | equal << 16;
    };
    if (plan.among == candidates::all) {
      const index_range mine = team.share(all.units());
      for (std::int64_t u = mine.begin + team.warp_index(); u < mine.end; u += Team::warps) {
        const std::uint32_t here = chosen_of(u);
        warp.once([&] { all.chosen[u] = here; });
      }
      return;
    }
    for_each_units(team, all.units(), [&](const auto& lanes) LANEWISE_INLINE_LAMBDA {
      const auto above = warp.gather(lanes.exist, all.notes, lanes.unit, 0u) & numbers(0xffffu);
      const auto few = lanes.exist & (above > 0u) & (above <= std::uint32_t{unit_slots});
      numbers here(0u);
      if (warp.any(few)) {
        const noted_items<warp_type, Selection> noted(warp, all, few, above, lanes.unit);
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s)
          here = here + warp.map(
                            few & (above > static_cast<std::uint32_t>(s)),
                            [&](typename Selection::bits x) LANEWISE_INLINE_LAMBDA {
                              const std::uint32_t is = class_of.of_bits(x);
                              return is == 2 ? 1u : is << 16;
                            },
                            0u, noted.row[s]);
      }
      for_each_whole_unit(warp, lanes.exist & (above > std::uint32_t{unit_slots}), lanes.unit,
                          [&](std::int64_t u, int lane) LANEWISE_INLINE_LAMBDA {
                            here = select(warp.lane() == static_cast<std::uint32_t>(lane),
                                          numbers(chosen_of(u)), here);
                          });
      warp.scatter(lanes.exist, all.chosen, lanes.unit, here);
    });
  }
};

/// Where every unit's items go.
struct add_selection_offsets {
  LANEWISE_FUNCTION detail::selection_state operator()(const detail::selection_state& a,
                                                       const detail::selection_state& b) const {
    return detail::selection_state::of(a.count() + b.count(), a.end() + b.end());
  }
};
template <class Selection>
struct offsets_kernel {
  using state = detail::selection_state;
  struct policy : launch_policy {};
  static constexpr std::int64_t tile_units = selection_tile_units;
  template <class Team>
  struct scratch {
    look_back_scratch<state> link;
    selection_offset warp[Team::warps];
  };

  Selection all;
  look_back_chain<state> link;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    using words = typename warp_type::template lanes<std::uint64_t>;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const std::int64_t units = all.units();
    const std::uint32_t* const from = all.plan->among == candidates::floor ? all.notes : all.chosen;
    const auto tiles = static_cast<std::uint32_t>(divide_up(units, tile_units));
    for_each_ticket(team, link, tiles, shared.link, [&](auto mine) LANEWISE_INLINE_LAMBDA {
      const std::int64_t begin = std::int64_t{mine.ticket} * tile_units;
      const std::int64_t end = begin + tile_units < units ? begin + tile_units : units;
      const index_range part =
          even_share(divide_up(end - begin, width), team.warp_index(), Team::warps);
      const auto window = [&](std::int64_t w) LANEWISE_INLINE_LAMBDA {
        const std::int64_t left = end - begin - w * width;
        const auto exist = warp.first(static_cast<int>(left < width ? left : width));
        // Both counts in one word: they come to at most 2^31 in a tile.
        return warp.map(
            [](std::uint32_t x) -> std::uint64_t {
              return std::uint64_t{x & 0xffffu} | std::uint64_t{x >> 16} << 32;
            },
            warp.load(exist, from + begin + w * width, 0u));
      };
      words sums(std::uint64_t{0});
      for (std::int64_t w = part.begin; w < part.end; ++w) sums = sums + window(w);
      const std::uint64_t sum = warp.reduce(sums, plus{});
      warp.once([&] {
        shared.warp[team.warp_index()] = {static_cast<std::int64_t>(sum & 0xffffffffu),
                                          static_cast<std::int64_t>(sum >> 32)};
      });
      team.barrier();
      selection_offset before{0, 0}, total{0, 0};
      for (int w = 0; w < Team::warps; ++w) {
        const selection_offset here = shared.warp[w];
        if (w < team.warp_index())
          before = {before.beyond + here.beyond, before.equal + here.equal};
        total = {total.beyond + here.beyond, total.equal + here.equal};
      }
      const auto in_front =
          publish_and_look_back(team, link, mine, shared.link, state::of(total.beyond, total.equal),
                                add_selection_offsets{}, maybe<state>{state::of(0, 0), true});
      before = {before.beyond + in_front.value.count(), before.equal + in_front.value.end()};
      for (std::int64_t w = part.begin; w < part.end; ++w) {
        const auto counts = window(w);
        const auto upto = warp.inclusive_scan(counts, plus{});
        auto offset = warp.map(
            [before](std::uint64_t x) {
              return selection_offset{before.beyond + static_cast<std::int64_t>(x & 0xffffffffu),
                                      before.equal + static_cast<std::int64_t>(x >> 32)};
            },
            upto - counts);
        const std::int64_t left = end - begin - w * width;
        warp.store(warp.first(static_cast<int>(left < width ? left : width)),
                   all.offsets + begin + w * width, offset);
        const std::uint64_t last = warp.broadcast(upto, width - 1);
        before = {before.beyond + static_cast<std::int64_t>(last & 0xffffffffu),
                  before.equal + static_cast<std::int64_t>(last >> 32)};
      }
    });
  }
};

/// Writes what was selected: calls put(place, index, item).
template <class Selection, class Put>
struct selected_kernel {
  using item = typename Selection::item;
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  Selection all;
  Put put;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = typename warp_type::template lanes<std::uint32_t>;
    using places = typename warp_type::template lanes<std::int64_t>;
    const auto warp = team.warp();
    const typename Selection::plan_type plan = *all.plan;
    const typename Selection::classes class_of(all, plan);
    const std::int64_t n = all.n(), wanted = plan.wanted;
    const auto write_unit = [&](std::int64_t u, selection_offset before) LANEWISE_INLINE_LAMBDA {
      const std::int64_t end = (u + 1) * unit_items;
      write_items(warp, all.in, u * unit_items, end < n ? end : n, class_of, wanted, before, put);
    };
    const std::uint32_t* const from = plan.among == candidates::floor ? all.notes : all.chosen;
    if (plan.among == candidates::all) {
      const index_range mine = team.share(all.units());
      for (std::int64_t u = mine.begin + team.warp_index(); u < mine.end; u += Team::warps) {
        const std::uint32_t here = from[u];
        const selection_offset before = all.offsets[u];
        if ((here & 0xffffu) != 0 || (here >> 16 != 0 && before.equal < wanted))
          write_unit(u, before);
      }
      return;
    }
    for_each_units(team, all.units(), [&](const auto& lanes) LANEWISE_INLINE_LAMBDA {
      const auto note = warp.gather(lanes.exist, all.notes, lanes.unit, 0u);
      const auto here = warp.gather(lanes.exist, from, lanes.unit, 0u);
      const auto some = lanes.exist & (here != 0u);
      if (!warp.any(some)) return;
      const auto above = note & numbers(0xffffu);
      const auto before = warp.gather(some, all.offsets, lanes.unit, selection_offset{});
      auto beyond = warp.map([](const selection_offset& o) { return o.beyond; }, before);
      auto equal = warp.map([](const selection_offset& o) { return o.equal; }, before);
      // Items that equal the floor have no slots.
      const auto whole =
          some & ((above > std::uint32_t{unit_slots}) |
                  (numbers(warp.map(
                       [=](std::uint32_t x, std::int64_t e) -> std::uint32_t {
                         return plan.among == candidates::floor && x >> 16 != 0 && e < wanted;
                       },
                       here, equal)) != 0u));
      const auto few = some & !whole & (above > 0u);
      if (warp.any(few)) {
        using noted_type = noted_items<warp_type, Selection>;
        const noted_type noted(warp, all, few, above, lanes.unit);
        numbers is[unit_slots];
        places index[unit_slots];
        typename warp_type::template lanes<item> x[unit_slots];
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s) {
          is[s] = warp.map(
              few & (above > static_cast<std::uint32_t>(s)),
              [&](typename Selection::bits b)
                  LANEWISE_INLINE_LAMBDA { return class_of.of_bits(b); },
              0u, noted.row[s]);
          index[s] = lanes.unit * places(unit_items) +
                     warp.template cast<std::int64_t>(
                         warp.gather(is[s] != 0u, all.places,
                                     noted_type::slot_of(warp, lanes.unit, s), std::uint16_t{0}));
        }
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s)
          x[s] = warp.map(
              is[s] != 0u, [&](std::int64_t i) LANEWISE_INLINE_LAMBDA { return all.in(i); }, item{},
              index[s]);
        LANEWISE_UNROLL
        for (int s = 0; s < unit_slots; ++s)
          warp.each(
              is[s] != 0u,
              [&](const item& i, std::int64_t at, std::uint32_t c, std::int64_t& b, std::int64_t& e)
                  LANEWISE_INLINE_LAMBDA {
                    if (c == 2 || e < wanted) put(b + (e < wanted ? e : wanted), at, i);
                    b += c == 2;
                    e += c == 1;
                  },
              x[s], index[s], is[s], beyond, equal);
      }
      for_each_whole_unit(
          warp, whole, lanes.unit, [&](std::int64_t u, int lane) LANEWISE_INLINE_LAMBDA {
            write_unit(u, {warp.broadcast(beyond, lane), warp.broadcast(equal, lane)});
          });
    });
  }

  /// Those of items [first, last), by one warp, behind so many that were beyond the threshold or
  /// equal to it. Returns how many there are up to last.
  template <class W, class Source, class Classes>
  static LANEWISE_FUNCTION void write_items(const W& warp, const Source& in, std::int64_t first,
                                            std::int64_t last, const Classes& class_of,
                                            std::int64_t wanted, selection_offset before,
                                            const Put& put) {
    for_each_window_of(
        warp, in, first, last,
        [&](std::int64_t at, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
          const auto is = warp.map(class_of, items);
          const auto beyond = warp.ballot(exists & (is == 2u));
          const auto equal = warp.ballot(exists & (is == 1u));
          auto x = items;
          auto below = warp.lanes_below();
          auto lane = warp.lane();
          warp.each(
              exists & (is != 0u),
              [&](const item& i, typename W::bits b, std::uint32_t l) LANEWISE_INLINE_LAMBDA {
                const std::int64_t equals = before.equal + W::popcount(equal & b);
                const bool greater = ((beyond >> l) & 1) != 0;
                if (greater || equals < wanted)
                  put(before.beyond + W::popcount(beyond & b) + (equals < wanted ? equals : wanted),
                      at + l, i);
              },
              x, below, lane);
          before.beyond += W::popcount(beyond);
          before.equal += W::popcount(equal);
        });
  }
};

/// All of it for few items, by one team.
template <class Selection, class Put>
struct small_selection_kernel {
  using item = typename Selection::item;
  struct policy : launch_policy {
    static constexpr int warps = 16;
  };
  template <class Team>
  struct scratch {
    bucket_counters<1, digit_values> counters;
    digit_scratch<Team> digit;
    selection_offset warp[Team::warps];
  };

  Selection all;
  typename decltype(Selection::key)::key_type* result;
  Put put;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using warp_type = typename Team::warp_type;
    const auto warp = team.warp();
    const std::int64_t n = all.n();
    auto plan = all.first_plan();
    while (plan.done == 0) {
      clear(team, shared.counters);
      team.barrier();
      count(team, shared.counters, all.in, 0, n, typename Selection::digits(all, plan));
      team.barrier();
      add_digit(plan,
                find_digit(team, shared.digit, shared.counters.count,
                           static_cast<std::uint64_t>(plan.wanted)),
                result != nullptr);
    }
    if (n == 0) return;
    if (result != nullptr) {
      team.once([&] { *result = all.key.key(plan.at); });
      return;
    }
    const typename Selection::classes class_of(all, plan);
    const index_range windows =
        even_share(divide_up(n, warp_type::width), team.warp_index(), Team::warps);
    const std::int64_t first = windows.begin * warp_type::width,
                       end = windows.end * warp_type::width;
    const std::int64_t last = end < n ? end : n;
    selection_offset mine{0, 0};
    for_each_window_of(warp, all.in, first, last,
                       [&](std::int64_t, const auto& exists, const auto& items)
                           LANEWISE_INLINE_LAMBDA {
                             const auto is = warp.map(class_of, items);
                             mine.beyond += warp_type::popcount(warp.ballot(exists & (is == 2u)));
                             mine.equal += warp_type::popcount(warp.ballot(exists & (is == 1u)));
                           });
    warp.once([&] { shared.warp[team.warp_index()] = mine; });
    team.barrier();
    selection_offset before{0, 0};
    for (int w = 0; w < team.warp_index(); ++w)
      before = {before.beyond + shared.warp[w].beyond, before.equal + shared.warp[w].equal};
    selected_kernel<Selection, Put>::write_items(warp, all.in, first, last, class_of, plan.wanted,
                                                 before, put);
  }
};

/// Where results go: to columns, or their indices to a list that is sorted afterwards.
template <class Columns>
struct put_selected {
  Columns columns;
  std::int64_t* indices;

  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t place, std::int64_t index, const T& item) const {
    if (indices != nullptr) {
      indices[place] = index;
    } else {
      columns(place, index, item);
    }
  }
};

/// The bits of a selected item, and where it was.
template <class Bits>
struct ranked_index {
  Bits bits;
  std::int64_t index;
};

struct greater_first {
  template <class T>
  LANEWISE_FUNCTION bool operator()(const T& a, const T& b) const {
    if constexpr (requires { a.bits; }) {
      return b.bits < a.bits;
    } else {
      return b < a;
    }
  }
};

/// Sorts runs of up to sorted_run selected items, which come in input order, stably by their bits.
/// One run is written to the columns.
template <class Selection, class Columns>
struct sort_selected_kernel {
  using bits = typename Selection::bits;
  struct policy : launch_policy {
    static constexpr int warps = 16;
  };
  template <class Team>
  struct scratch {
    sort_scratch<Team, bits, static_cast<int>(sorted_run)> sort;
    bits item[sorted_run];
  };

  Selection all;
  Columns columns;
  const std::int64_t* indices;
  ranked_index<bits>* runs;  // null where there is one

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    constexpr std::int64_t width = Team::warp_type::width;
    const auto warp = team.warp();
    const std::int64_t k = all.wanted();
    const index_range mine = team.share(divide_up(k, sorted_run));
    for (std::int64_t r = mine.begin; r < mine.end; ++r) {
      const std::int64_t first = r * sorted_run;
      const std::int64_t here = k - first < sorted_run ? k - first : sorted_run;
      for (std::int64_t i = team.warp_index() * width; i < here; i += Team::warps * width) {
        const auto exist = warp.first(static_cast<int>(here - i < width ? here - i : width));
        warp.store(exist, shared.item + i,
                   warp.map(
                       exist,
                       [&](std::uint32_t l) LANEWISE_INLINE_LAMBDA {
                         return all.key(all.in(indices[first + i + l]));
                       },
                       bits{}, warp.lane()));
      }
      sort(team, shared.sort, shared.item, static_cast<int>(here), greater_first{},
           [&](int i, const bits& x, int from) {
             const std::int64_t at = indices[first + from];
             if (runs != nullptr) {
               runs[first + i] = {x, at};
             } else {
               columns(i, at, all.in(at));
             }
           });
    }
  }
};

/// Merges neighbouring runs in pairs. The last pass writes to the columns.
template <class Selection, class Columns>
struct merge_selected_kernel {
  using ranked = ranked_index<typename Selection::bits>;
  struct policy : launch_policy {
    static constexpr int warps = 4;
    static constexpr int items_per_lane = 9;
  };
  template <class Team>
  using tile = merge_tile_t<Team, ranked, policy>;
  template <class Team>
  struct scratch {
    typename tile<Team>::scratch merge;
  };

  Selection all;
  Columns columns;
  const ranked* from;
  ranked* to;  // null in the last pass
  std::int64_t run;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    // Pieces of pairs of runs, each within one.
    constexpr std::int64_t piece = [] {
      std::int64_t items = sorted_run;
      while (items > tile<Team>::items) items /= 2;
      return items;
    }();
    const std::int64_t k = all.wanted();
    const index_range mine = team.share(divide_up(k, piece));
    for (std::int64_t p = mine.begin; p < mine.end; ++p) {
      const std::int64_t first = p * piece, pair = first / (2 * run) * (2 * run);
      const std::int64_t last = first + piece < k ? first + piece : k;
      const std::int64_t n_a = k - pair < run ? k - pair : run;
      const std::int64_t n_b = k - pair - n_a < run ? k - pair - n_a : run;
      using source = array_source<ranked, identity>;
      merge_tile<ranked, policy>(
          team, shared.merge, source{from + pair, n_a, {}}, n_a, source{from + pair + n_a, n_b, {}},
          n_b, first - pair, last - pair,
          [&](std::int64_t i, const ranked& x) {
            if (to != nullptr) {
              to[pair + i] = x;
            } else {
              columns(pair + i, x.index, all.in(x.index));
            }
          },
          greater_first{});
    }
  }
};

/// The labels of the launches, and the name in messages.
struct selection_names {
  const char* algorithm;
  const char* whole;
  const char* sample;
  const char* filter;
  const char* digit;
  const char* choose;
  const char* offsets;
  const char* write;
  const char* sort;
  const char* merge;
};

/// Where everything lies in the workspace.
struct selection_layout {
  std::size_t cleared, histograms, plan, notes, places, noted, chosen, offsets, indices, runs[2],
      payload, bytes;
  std::int64_t tiles;

  /// Key: a selection_bits. selects: more than the key of the k-th is wanted.
  template <class Key>
  static selection_layout of(std::int64_t n, std::int64_t k, bool selects, bool sorted,
                             const selection_limits& limits) {
    constexpr std::size_t run_bytes = sizeof(ranked_index<typename Key::bits>);
    const bool small = n <= limits.one_team;
    const std::int64_t units = small ? 0 : divide_up(n, unit_items);
    selection_layout at{};
    std::size_t end = 0;
    const auto room = [&end](std::int64_t count, std::size_t item_bytes) {
      const std::size_t begin = end;
      end += (static_cast<std::size_t>(count) * item_bytes + 255) / 256 * 256;
      return begin;
    };
    if (!small) {
      room(1, sizeof(selection_totals));
      at.histograms = room((Key::passes + 1) * digit_values, sizeof(std::uint64_t));
      at.cleared = end;
      at.plan = room(1, sizeof(selection_plan<typename Key::bits>));
    }
    at.notes = room(units, sizeof(std::uint32_t));
    at.places = room(units, unit_slots * sizeof(std::uint16_t));
    at.noted = room(units, unit_slots * sizeof(typename Key::bits));
    at.chosen = room(selects ? units : 0, sizeof(std::uint32_t));
    at.offsets = room(selects ? units : 0, sizeof(selection_offset));
    at.indices = room(sorted ? k : 0, sizeof(std::int64_t));
    for (std::size_t& runs : at.runs) runs = room(sorted && k > sorted_run ? k : 0, run_bytes);
    at.tiles = selects ? divide_up(units, selection_tile_units) : 0;
    at.payload = end;
    at.bytes = end + look_back_chain<detail::selection_state>::payload_bytes(at.tiles);
    return at;
  }
};

/// Writes the selected items, of which `indices` has the indices in input order, in their order.
template <class Exec, class Selection, class Columns>
void sort_selected(const Exec& exec, const selection_names& names, const Selection& all,
                   const Columns& columns, const std::int64_t* indices,
                   ranked_index<typename Selection::bits>* runs,
                   ranked_index<typename Selection::bits>* others) {
  using backend = backend_of<Exec>;
  using sort_runs = sort_selected_kernel<Selection, Columns>;
  using merge_runs = merge_selected_kernel<Selection, Columns>;
  const bool several = all.k > sorted_run;
  launch(exec, names.sort,
         backend::template resident_league<sort_runs>(exec, divide_up(all.k, sorted_run)),
         sort_runs{all, columns, indices, several ? runs : nullptr});
  for (std::int64_t run = sorted_run; run < all.k; run *= 2, std::swap(runs, others))
    launch(exec, names.merge,
           backend::template resident_league<merge_runs>(exec, divide_up(all.k, 1024)),
           merge_runs{all, columns, runs, 2 * run < all.k ? others : nullptr, run});
}

/// Selects the first k of n items, in the order of key, greatest bits first. result: only the key
/// of the k-th is wanted.
template <class Exec, class Source, class Key, class Columns>
void select_first(const Exec& exec, const selection_names& names, const Source& source,
                  const Key& key, std::int64_t k, const Columns& columns, bool sorted,
                  typename Key::key_type* result, const options& with,
                  const selection_limits& limits) {
  using backend = backend_of<Exec>;
  using all_type = selection<Source, Key>;
  using put = put_selected<Columns>;
  const item_count n = detail::count_of<Exec>(source.extent, with, names.algorithm);
  if (k == 0 || n.bound == 0) return;
  const bool selects = result == nullptr;
  const auto layout = selection_layout::of<Key>(n.bound, k, selects, sorted, limits);
  auto work =
      call_workspace::make<backend>(exec, with.work, {layout.tiles, layout.bytes}, names.algorithm);
  auto* const memory = static_cast<char*>(work.get().plain());
  const auto at = [&]<class T>(T*& place, std::size_t offset) {
    place = reinterpret_cast<T*>(memory + offset);
  };
  all_type all{source, key, n, k};
  at(all.totals, 0);
  at(all.histograms, layout.histograms);
  at(all.plan, layout.plan);
  at(all.notes, layout.notes);
  at(all.places, layout.places);
  at(all.noted, layout.noted);
  at(all.chosen, layout.chosen);
  at(all.offsets, layout.offsets);
  std::int64_t* indices = nullptr;
  if (sorted) at(indices, layout.indices);
  const put results{columns, indices};
  if (n.bound <= limits.one_team) {
    launch(exec, names.whole, 1, small_selection_kernel<all_type, put>{all, result, results});
  } else {
    const std::int64_t units = divide_up(n.bound, unit_items);
    const auto league = [&]<class Kernel>(std::type_identity<Kernel>, std::int64_t per_team) {
      return backend::template resident_league<Kernel>(exec, divide_up(units, per_team));
    };
    backend::zero(exec, memory, layout.cleared);
    if constexpr (Key::can_sample) {
      using sample = sample_kernel<all_type>;
      using filter = filter_kernel<all_type>;
      all.samples = n.bound >= limits.sampled_from;
      if (all.samples) {
        launch(exec, names.sample, 1,
               sample{all, std::min(limits.most_sampled, sample::most), limits.most_per_unit});
        launch(exec, names.filter, league(std::type_identity<filter>{}, 16), filter{all, result});
      }
    }
    using digit = digit_kernel<all_type>;
    for (int pass = 0; pass < Key::passes; ++pass)
      launch(exec, names.digit, league(std::type_identity<digit>{}, 16), digit{all, pass, result});
    if (selects) {
      using choose = choose_kernel<all_type>;
      using offsets = offsets_kernel<all_type>;
      using selected = selected_kernel<all_type, put>;
      launch(exec, names.choose, league(std::type_identity<choose>{}, 8), choose{all});
      launch(exec, names.offsets, backend::template league_for_tiles<offsets>(exec, layout.tiles),
             offsets{all, work.get().template make_look_back_chain<detail::selection_state>(
                              layout.payload)});
      launch(exec, names.write, league(std::type_identity<selected>{}, 8), selected{all, results});
    }
  }
  if (sorted) {
    ranked_index<typename Key::bits>* runs[2];
    for (int r = 0; r < 2; ++r) at(runs[r], layout.runs[r]);
    sort_selected(exec, names, all, columns, indices, runs[0], runs[1]);
  }
}

}  // namespace kernels

LANEWISE_END_TARGET_NAMESPACE
