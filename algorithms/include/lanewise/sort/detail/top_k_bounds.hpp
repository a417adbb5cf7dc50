// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/host/host_radix_sort.hpp>
#include <lanewise/sort/detail/radix_plan.hpp>
#include <lanewise/sort/detail/top_k_sample.hpp>
#include <lanewise/sort/detail/top_k_sort.hpp>
#include <lanewise/tile/stream/selection.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// On hosts the threshold lies between two bounds, at first those of a sample. A pass counts in
// every unit what lies beyond them, equals them or lies between. If the threshold is neither bound,
// the pass has a histogram that says narrower ones. The next pass reads units with items between
// them alone. Few items between bounds are brought together, where std::nth_element finds it. One
// thread at a time does all that follows from the counts.

/// What the threshold turned out to be.
enum class threshold_at : std::int32_t {
  between,  ///< or a bound: not known
  last,
  first
};

/// The threshold is `last`, which is as great as it may be, `first`, or between.
template <class Bits>
struct selection_bounds {
  Bits first;
  Bits last;
  std::int64_t wanted;  ///< of the items not beyond last; while anew, of all
  bool anew;            ///< the bounds are not between the bounds that were counted last
  threshold_at found;
};

/// How many items of a unit, or of all, are where.
template <class Count>
struct bounded_parts {
  Count beyond;
  Count last;
  Count between;
  Count first;
};

template <class Selection>
struct bounded_selection : Selection {
  using bounds_type = selection_bounds<typename Selection::bits>;
  struct totals_type : bounded_parts<std::uint64_t> {
    std::uint64_t finished;
  };
  bounds_type* bounds;
  totals_type* parts;
  bounded_parts<std::uint16_t>* unit_parts;
};

/// Puts the `wanted` greatest of some bits first, and returns the last of them.
template <class Bits>
LANEWISE_LOOP_FUNCTION Bits greatest_first(Bits* bits, std::int64_t wanted, std::int64_t n) {
  std::nth_element(bits, bits + (wanted - 1), bits + n, greater_first{});
  return bits[wanted - 1];
}

/// Bounds which the threshold of n items misses once in some hundred times on random data, found in
/// `sample`, which has room for `most`.
template <class Selection>
LANEWISE_LOOP_FUNCTION selection_bounds<typename Selection::bits> sample_bounds(
    const Selection& all, typename Selection::bits* sample, std::int64_t most) {
  const std::int64_t n = all.n(), wanted = all.wanted();
  selection_bounds<typename Selection::bits> bounds{
      0, decltype(Selection::key)::all, wanted, true, {}};
  std::int64_t size = 64;
  while (size * size < 16 * n) size *= 2;
  if (size > most) size = most;
  if (n < 256 || size == 0 || wanted == 0) return bounds;
  const std::int64_t stride = n / size;
  for (std::int64_t i = 0; i < size; ++i) sample[i] = all.key(all.in(sampled_place(i, stride)));
  const double part = static_cast<double>(wanted) / static_cast<double>(n);
  const double rank = part * static_cast<double>(size);
  const double margin = 3 + 3 * std::sqrt(rank * (1 - part));
  const auto above = static_cast<std::int64_t>(rank - margin);
  const auto upto = static_cast<std::int64_t>(rank + margin) + 1;
  if (upto < size) bounds.first = kernels::greatest_first(sample, upto, size);
  if (above > 0) bounds.last = kernels::greatest_first(sample, above, upto < size ? upto : size);
  return bounds;
}

/// Finds the first bounds.
template <class Selection>
struct bounds_kernel {
  using bits = typename Selection::bits;
  struct policy : launch_policy {};
  static constexpr std::int64_t most = sample_kernel<Selection>::most;
  template <class Team>
  struct scratch {
    bits sample[most];
  };

  Selection all;
  std::int64_t most_sampled;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team&, scratch<Team>& shared) const {
    *all.bounds = kernels::sample_bounds(all, shared.sample, most_sampled);
  }
};

/// Counts what is where of items [begin, end), few enough for an int. The bits between the bounds
/// go to `between`, which has room for a window more.
template <class W, class Source, class Key>
LANEWISE_FUNCTION bounded_parts<int> count_bounded(
    const W& warp, const Source& in, const Key& key, std::int64_t begin, std::int64_t end,
    const selection_bounds<typename Key::bits>& bounds, typename Key::bits* between) {
  using bits = typename Key::bits;
  using values = lanes_t<W, bits>;
  constexpr std::int64_t width = W::width, rows = 4;
  bounded_parts<int> sum{};
  const auto count = [&](typename W::bits exists, const values& x) LANEWISE_INLINE_LAMBDA {
    const auto from_first = warp.ballot(x >= bounds.first) & exists;
    if (from_first == 0) return;
    const auto beyond = warp.ballot(x > bounds.last) & exists;
    sum.beyond += W::popcount(beyond);
    if (beyond == from_first) return;
    const auto last = warp.ballot(x == bounds.last) & exists;
    const auto first = warp.ballot(x == bounds.first) & exists & ~last;
    const auto others = from_first & ~(beyond | last | first);
    sum.last += W::popcount(last);
    sum.first += W::popcount(first);
    if (others == 0) return;
    warp.compress_store_over(between + sum.between, warp.template mask_of<bits>(others), x);
    sum.between += W::popcount(others);
  };
  std::int64_t i = begin;
  for (; i + rows * width <= end; i += rows * width) {
    values x[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j)
      x[j] = warp.map(key, kernels::load_once(warp, in, i + j * width));
    values least = x[0], greatest = x[0];
    LANEWISE_UNROLL
    for (int j = 1; j < rows; ++j) {
      least = warp.map(minimum{}, least, x[j]);
      greatest = warp.map(maximum{}, greatest, x[j]);
    }
    if (!warp.any(greatest >= bounds.first)) continue;
    // Blocks that lie beyond, or equal a bound, are frequent where neighbours are alike.
    const auto all_are = [&](int& part, const auto& differ) LANEWISE_INLINE_LAMBDA {
      const bool none = !warp.any(differ);
      if (none) part += static_cast<int>(rows * width);
      return none;
    };
    if (all_are(sum.beyond, least <= bounds.last) ||
        all_are(sum.last, (least != bounds.last) | (greatest != bounds.last)) ||
        all_are(sum.first, (least != bounds.first) | (greatest != bounds.first)))
      continue;
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) count(~typename W::bits{0}, x[j]);
  }
  kernels::for_each_window_of<1>(
      warp, in, i, end,
      [&](std::int64_t, const auto& exists, const auto& items)
          LANEWISE_INLINE_LAMBDA { count(warp.ballot(exists), warp.map(key, items)); });
  return sum;
}

/// Compares the bounds with what was counted. If the threshold is beyond either, they move there,
/// and the answer is false.
template <class Key>
LANEWISE_FUNCTION bool narrow(selection_bounds<typename Key::bits>& now,
                              const bounded_parts<std::int64_t>& is) {
  using bits = typename Key::bits;
  std::int64_t wanted = now.wanted - (now.anew ? is.beyond : 0);
  if (wanted <= 0) {
    now.first = static_cast<bits>(now.last + 1);
    now.last = Key::all;
    return false;
  }
  if (wanted > is.last + is.between + is.first) {
    now.last = static_cast<bits>(now.first - 1);
    now.first = 0;
    return false;
  }
  now.anew = false;
  if (wanted <= is.last) {
    now.found = threshold_at::last;
    now.first = now.last;
  } else if (wanted <= is.last + is.between) {
    wanted -= is.last;
  } else {
    now.found = threshold_at::first;
    now.last = now.first;
    wanted -= is.last + is.between;
  }
  now.wanted = wanted;
  return true;
}

/// Finds the threshold among the bits between the bounds.
template <class Bits>
LANEWISE_FUNCTION void choose_between(selection_bounds<Bits>& now, Bits* some,
                                      std::int64_t between) {
  const Bits at = kernels::greatest_first(some, now.wanted, between);
  now.wanted -= std::count_if(some, some + now.wanted, [at](Bits b) { return b != at; });
  now.first = now.last = at;
  now.found = threshold_at::last;
}

/// One pass: counts, and the last team says narrower bounds.
template <class Selection>
struct bounds_pass_kernel {
  using item = typename Selection::item;
  using bits = typename Selection::bits;
  using key = decltype(Selection::key);
  using bounds_type = typename Selection::bounds_type;
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  // Neighbours count in different counters, as they often are alike.
  static constexpr int digit_bits = 9, copies = digit_values >> digit_bits;
  /// A pass for each digit of a key, one with bounds that moved, and one of a single value.
  static constexpr int passes = (key::width + digit_bits - 1) / digit_bits + 2;
  /// One thread brings up to most_together items together. It brings at most one for units_for_one
  /// units, as it may have to read a unit for each.
  static constexpr std::int64_t most_together = 2048, units_for_one = 8;
  template <class Team>
  struct scratch {
    bucket_counters<1, digit_values> counters;
    bits some[most_together + Team::warp_type::width];
    bool last;
  };

  Selection all;
  typename key::key_type* result;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    bounds_type now = *all.bounds;
    if (now.found != threshold_at::between || now.wanted == 0) return;
    count(team, shared, now, team.share(all.units()), nullptr);
    if (!kernels::is_last_team(team, all.parts->finished, shared.last)) return;
    narrow(team, shared, now);
    *all.parts = {};
    *all.bounds = now;
    if (now.found == threshold_at::between) return;
    if (result != nullptr) {
      *result = all.key.key(now.first);
    } else {
      place_units(now.found);
    }
  }

 private:
  /// The lowest bit of the next digit of what lies between bounds.
  static LANEWISE_FUNCTION int low_bit(const bounds_type& now) {
    const int open = sample_kernel<Selection>::digits_of(static_cast<bits>(now.last - now.first));
    return open > digit_bits ? open - digit_bits : 0;
  }

  /// Counts items of some units that lay between the last bounds. The bits between these go to
  /// `together`, or into the histogram.
  template <class Team>
  LANEWISE_LOOP_FUNCTION void count(const Team& team, scratch<Team>& shared, const bounds_type& now,
                                    index_range units, bits* together) const {
    const auto warp = team.warp();
    const int low = low_bit(now);
    lanewise::clear(team, shared.counters);
    bounded_parts<std::uint64_t> sum{};
    for (std::int64_t u = units.begin; u < units.end; ++u) {
      auto& parts = all.unit_parts[u];
      bits* const noted = all.noted + u * unit_slots;
      bits* const some = together != nullptr ? together : shared.some;
      bounded_parts<int> here{};
      if (now.anew || parts.between > unit_slots) {
        const std::int64_t n = all.n(), end = (u + 1) * unit_items;
        here = kernels::count_bounded(warp, all.in, all.key, u * unit_items, end < n ? end : n, now,
                                      some);
      } else {
        if (parts.between != 0)
          here = kernels::count_bounded(warp, array_source<bits, identity>{noted, unit_slots, {}},
                                        bits_as_they_are{}, 0, parts.between, now, some);
        here.beyond += parts.beyond + parts.last;
      }
      std::copy(some, some + (here.between < unit_slots ? here.between : unit_slots), noted);
      if (together != nullptr) {
        together += here.between;
      } else {
        for (int i = 0; i < here.between; ++i)
          ++shared.counters
                .count[static_cast<int>(static_cast<bits>(some[i] - now.first) >> low) * copies +
                       i % copies];
      }
      parts = {static_cast<std::uint16_t>(here.beyond), static_cast<std::uint16_t>(here.last),
               static_cast<std::uint16_t>(here.between), static_cast<std::uint16_t>(here.first)};
      sum = {sum.beyond + parts.beyond, sum.last + parts.last, sum.between + parts.between,
             sum.first + parts.first};
    }
    warp.fetch_add(all.parts->beyond, sum.beyond);
    warp.fetch_add(all.parts->last, sum.last);
    warp.fetch_add(all.parts->between, sum.between);
    warp.fetch_add(all.parts->first, sum.first);
    if (sum.between == 0 || together != nullptr) return;
    lanewise::for_each_window(team, shared.counters, [&](int first, const auto& counts) {
      warp.fetch_add(counts != 0u, all.histograms + first, warp.lane(),
                     warp.template cast<std::uint64_t>(counts));
    });
  }
  struct bits_as_they_are {
    using bits = typename Selection::bits;
    LANEWISE_FUNCTION bits operator()(bits b) const { return b; }
  };

  LANEWISE_FUNCTION bounded_parts<std::int64_t> counted() const {
    const auto number = [](std::uint64_t x) { return static_cast<std::int64_t>(x); };
    return {number(all.parts->beyond), number(all.parts->last), number(all.parts->between),
            number(all.parts->first)};
  }

  /// The bounds after a pass.
  template <class Team>
  LANEWISE_LOOP_FUNCTION void narrow(const Team& team, scratch<Team>& shared,
                                     bounds_type& now) const {
    if (kernels::narrow<key>(now, counted()) && now.found == threshold_at::between) {
      const std::int64_t left = choose_digit(now);
      if (left <= most_together && left <= 256 + all.units() / units_for_one) {
        const index_range every{0, all.units()};
        *all.parts = {};
        count(team, shared, now, every, shared.some);
        kernels::narrow<key>(now, counted());
        if (now.found == threshold_at::between) {
          kernels::choose_between(now, shared.some, counted().between);
          count(team, shared, now, every, shared.some);
        }
      }
    }
    std::fill(all.histograms, all.histograms + digit_values, std::uint64_t{0});
  }

  /// The bounds become those of a digit. Returns how many items have it.
  LANEWISE_FUNCTION std::int64_t choose_digit(bounds_type& now) const {
    const int low = low_bit(now);
    for (int digit = (1 << digit_bits) - 1;; --digit) {
      const std::uint64_t* const counters = all.histograms + digit * copies;
      const auto here =
          static_cast<std::int64_t>(std::accumulate(counters, counters + copies, std::uint64_t{0}));
      if (now.wanted > here) {
        now.wanted -= here;
        continue;
      }
      // The first digit has the bound itself, and the last one may have more than the other.
      const auto first = static_cast<bits>(now.first + static_cast<bits>(bits(digit) << low));
      const auto upto = static_cast<bits>(static_cast<bits>(bits{1} << low) - 1);
      const auto beyond = static_cast<bits>(now.last - first);
      now.last = upto < beyond ? static_cast<bits>(first + upto) : static_cast<bits>(now.last - 1);
      now.first = digit == 0 ? static_cast<bits>(first + 1) : first;
      return here;
    }
  }

  /// Finds where every unit's items go; `last` then counts items that equal the threshold.
  LANEWISE_LOOP_FUNCTION void place_units(threshold_at found) const {
    selection_offset before{0, 0};
    for (std::int64_t u = 0; u < all.units(); ++u) {
      const auto is = all.unit_parts[u];
      const bool at_first = found == threshold_at::first;
      const int beyond = at_first ? is.beyond + is.last + is.between : is.beyond;
      const int equal = at_first ? is.first : is.last;
      all.unit_parts[u] = {static_cast<std::uint16_t>(beyond), static_cast<std::uint16_t>(equal), 0,
                           0};
      all.offsets[u] = before;
      before = {before.beyond + beyond, before.equal + equal};
    }
  }
};

/// Writes those of items [begin, end) that are beyond the bounds, and the earliest `wanted` others
/// from the first bound on, to places [to, limit).
template <class W, class Selection, class Put>
LANEWISE_FUNCTION void write_bounded(const W& warp, const Selection& all, std::int64_t begin,
                                     std::int64_t end,
                                     const selection_bounds<typename Selection::bits>& bounds,
                                     std::int64_t wanted, std::int64_t to, std::int64_t limit,
                                     const Put& put) {
  kernels::for_each_window_of<4>(
      warp, all.in, begin, end,
      [&](std::int64_t at, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
        const auto x = warp.map(all.key, items);
        auto chosen = warp.ballot(x >= bounds.first) & warp.ballot(exists);
        if (chosen == 0 || to == limit) return;
        const auto beyond = warp.ballot(x > bounds.last) & chosen;
        auto equal = chosen & ~beyond;
        if (wanted == 0) equal = 0;
        std::int64_t surplus = W::popcount(equal) - wanted;
        wanted = surplus > 0 ? 0 : -surplus;
        for (; surplus > 0; --surplus) equal &= ~(typename W::bits{1} << W::highest(equal));
        chosen = beyond | equal;
        if (to + W::width <= limit) {
          put.window(warp, to, chosen, at, items);
          to += W::popcount(chosen);
        } else {
          for (; chosen != 0; chosen &= chosen - 1) {
            const std::int64_t i = at + W::lowest(chosen);
            put(to++, i, all.in(i));
          }
        }
      });
}

/// Writes what was selected.
template <class Selection, class Put>
struct bounded_write_kernel {
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  Selection all;
  Put put;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto bounds = *all.bounds;
    if (bounds.wanted == 0) return;
    const std::int64_t n = all.n();
    const index_range mine = team.share(all.units());
    for (std::int64_t u = mine.begin; u < mine.end; ++u) {
      const auto parts = all.unit_parts[u];
      const selection_offset before = all.offsets[u];
      const std::int64_t left = bounds.wanted > before.equal ? bounds.wanted - before.equal : 0;
      const std::int64_t equal = left < parts.last ? left : parts.last;
      const std::int64_t to = before.beyond + bounds.wanted - left, end = (u + 1) * unit_items;
      if (parts.beyond + equal > 0)
        kernels::write_bounded(team.warp(), all, u * unit_items, end < n ? end : n, bounds, equal,
                               to, to + parts.beyond + equal, put);
    }
  }
};

/// All of it for few items, by one thread: what lies between the bounds is brought together.
template <class Selection, class Put>
struct few_bounded_kernel {
  using bits = typename Selection::bits;
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {
    bits between[selection_limits{}.one_team + Team::warp_type::width];
  };

  Selection all;
  typename decltype(Selection::key)::key_type* result;
  Put put;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    const std::int64_t n = all.n();
    auto now = kernels::sample_bounds(all, shared.between, 512);
    const std::int64_t limit = now.wanted;
    if (limit == 0) return;
    bounded_parts<int> parts;
    do {
      parts = kernels::count_bounded(warp, all.in, all.key, 0, n, now, shared.between);
    } while (!kernels::narrow<decltype(Selection::key)>(
        now, {parts.beyond, parts.last, parts.between, parts.first}));
    if (now.found == threshold_at::between)
      kernels::choose_between(now, shared.between, parts.between);
    if (result != nullptr) {
      *result = all.key.key(now.first);
    } else {
      kernels::write_bounded(warp, all, 0, n, now, now.wanted, 0, limit, put);
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

/// Calls f(i) for all i below n.
template <class F>
struct selected_loop_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  item_count n;
  F f;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const index_range mine = team.share(n());
    for (std::int64_t i = mine.begin; i < mine.end; ++i) f(i);
  }
};

/// The memory in which hosts sort. Narrow keys have the room of wider ones, so that few sorts are
/// compiled.
template <class Bits>
struct selected_sort_memory {
  using word = std::conditional_t<sizeof(Bits) <= 4, std::uint32_t, std::uint64_t>;
  using map = detail::key_map<word>;
  word* keys;
  word* keys_sorted;
  std::uint64_t* indices_sorted;
  void* board;
  static std::size_t board_bytes(std::int64_t k) {
    return kernels::host_radix_sort_bytes<map, word, std::uint64_t>(k);
  }
};

/// Writes the selected items in their order. `indices` has their indices in input order.
template <class Exec, class Selection, class Columns>
void sort_by_bits(const Exec& exec, const selection_names& names, const Selection& all,
                  const Columns& columns, std::uint64_t* indices,
                  const selected_sort_memory<typename Selection::bits>& memory) {
  using word = typename selected_sort_memory<typename Selection::bits>::word;
  using map = detail::key_map<word>;
  const item_count k{all.k, all.n.resident};
  const auto loop = [&](const char* name, auto f) {
    using kernel = selected_loop_kernel<decltype(f)>;
    lanewise::launch(exec, name,
                     backend_of<Exec>::template resident_league<kernel>(
                         exec, lanewise::divide_up(all.k, unit_items)),
                     kernel{k, f});
  };
  constexpr auto greatest = decltype(all.key)::all;
  loop(names.sort, [=, keys = memory.keys](std::int64_t i) {
    keys[i] = static_cast<word>(greatest ^ all.key(all.in(static_cast<std::int64_t>(indices[i]))));
  });
  const host_sort_arrays<word, std::uint64_t> arrays{
      memory.keys, memory.keys_sorted, memory.keys, indices, memory.indices_sorted, indices};
  kernels::host_sort_by(
      exec, arrays, k,
      detail::sort_key<map, word, false>::by_bits(map{}, 0, decltype(all.key)::width),
      memory.board);
  loop(names.merge, [=, order = memory.indices_sorted](std::int64_t i) {
    const auto from = static_cast<std::int64_t>(order[i]);
    columns(i, from, all.in(from));
  });
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
