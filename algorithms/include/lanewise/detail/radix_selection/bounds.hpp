// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/host_selection.hpp>
#include <lanewise/detail/radix_selection/sample.hpp>
#include <lanewise/detail/radix_selection/sort.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

// On hosts the threshold lies between two bounds, at first those of a sample. A pass counts in
// every unit what lies beyond them, equals them or lies between. If the threshold is neither bound,
// the pass has a histogram that says narrower ones. The next pass reads units with items between
// them alone. One thread at a time does all that follows from the counts.

/// Where the threshold turned out to be.
enum class threshold_at : std::int32_t {
  between,  ///< or a bound: not known
  last,
  first,
  any  ///< as all items of the bounds and between them are selected
};

/// The threshold is `last`, which is as great as it may be, `first`, or between.
template <class Bits>
struct selection_bounds {
  Bits first;
  Bits last;
  std::int64_t wanted;  ///< of the items not beyond last; while anew, of all
  bool anew;            ///< the bounds are not between those that were counted last
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
  selection_bounds<typename Selection::bits> bounds{0, decltype(Selection::key)::all, wanted, true, {}};
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

/// Where the items of a window are, in bits of its lanes.
template <class W, class Selection>
struct bounded_window {
  using bits = typename W::bits;
  bits beyond, last, between, first;

  template <class Mask, class Items>
  LANEWISE_FUNCTION bounded_window(const W& warp, const Mask& exists, const Items& x,
                                   const selection_bounds<typename Selection::bits>& bounds) {
    const bits from_first = warp.ballot(exists & (x >= bounds.first));
    const bits from_last = warp.ballot(exists & (x >= bounds.last));
    beyond = warp.ballot(exists & (x > bounds.last));
    const bits over = warp.ballot(exists & (x > bounds.first)) | from_last;
    last = from_last & ~beyond;
    between = over & ~from_last;
    first = from_first & ~over;
  }
};

/// One pass: counts, and the last team says narrower bounds.
template <class Selection>
struct bounds_pass_kernel {
  using item = typename Selection::item;
  using bits = typename Selection::bits;
  using bounds_type = typename Selection::bounds_type;
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  // Neighbouring lanes count in different counters, as neighbouring items often are alike.
  static constexpr int digit_bits = 9, copies = digit_values >> digit_bits;
  /// Digits of the narrowest key, a pass anew, and one of a single value.
  static constexpr int passes = (decltype(Selection::key)::width + digit_bits - 1) / digit_bits + 2;
  using counters = bucket_counters<1, digit_values>;
  template <class Team>
  struct scratch {
    bounds_pass_kernel::counters counters;
    bool last;
  };

  Selection all;
  typename decltype(Selection::key)::key_type* result;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    bounds_type now = *all.bounds;
    if (now.found != threshold_at::between || now.wanted == 0) return;
    count(team, shared, now, team.share(all.units()));
    if (!kernels::is_last_team(team, all.parts->finished, shared.last)) return;
    // What few units have takes less than another launch.
    while (narrow(now) <= all.units() / 8 && now.found == threshold_at::between)
      count(team, shared, now, {0, all.units()});
    all.parts->finished = 0;
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

  template <class Team>
  LANEWISE_FUNCTION void count(const Team& team, scratch<Team>& shared, const bounds_type& now,
                               index_range units) const {
    const auto warp = team.warp();
    lanewise::clear(team, shared.counters);
    team.barrier();
    bounded_parts<std::uint64_t> sum{};
    for (std::int64_t u = units.begin; u < units.end; ++u) {
      auto& parts = all.unit_parts[u];
      if (!now.anew && parts.between == 0) {
        parts = {static_cast<std::uint16_t>(parts.beyond + parts.last), 0, 0, 0};
        continue;
      }
      parts = count_unit(warp, shared.counters, now, u);
      sum = {sum.beyond + parts.beyond, sum.last + parts.last, sum.between + parts.between,
             sum.first + parts.first};
    }
    warp.fetch_add(all.parts->beyond, sum.beyond);
    warp.fetch_add(all.parts->last, sum.last);
    warp.fetch_add(all.parts->between, sum.between);
    warp.fetch_add(all.parts->first, sum.first);
    if (sum.between == 0) return;
    lanewise::for_each_window(team, shared.counters, [&](int first, const auto& counts) {
      warp.fetch_add(counts != 0u, all.histograms + first, warp.lane(),
                     warp.template cast<std::uint64_t>(counts));
    });
  }

  template <class W>
  LANEWISE_FUNCTION bounded_parts<std::uint16_t> count_unit(const W& warp, counters& counters,
                                                            const bounds_type& now,
                                                            std::int64_t u) const {
    constexpr std::int64_t width = W::width, rows = 4;
    const std::int64_t n = all.n(), end = (u + 1) * unit_items < n ? (u + 1) * unit_items : n;
    bounded_parts<int> sum{};
    const int low = low_bit(now);
    const auto note = [&](std::int64_t, const auto& exists, const auto& items)
                          LANEWISE_INLINE_LAMBDA {
      const auto x = warp.map(all.key, items);
      const bounded_window<W, Selection> is(warp, exists, x, now);
      sum.beyond += W::popcount(is.beyond);
      sum.last += W::popcount(is.last);
      sum.first += W::popcount(is.first);
      if (is.between == 0) return;
      sum.between += W::popcount(is.between);
      const auto counter = warp.map(
          [=, first = now.first](bits b, std::uint32_t l) {
            return static_cast<std::uint32_t>(static_cast<bits>(b - first) >> low) * copies +
                   l % copies;
          },
          x, warp.lane());
      warp.template fetch_add<order::relaxed, scope::team>(
          warp.template mask_of<std::uint32_t>(is.between), counters.count, counter,
          typename W::template lanes<std::uint32_t>(1u));
    };
    std::int64_t i = u * unit_items;
    for (; i + rows * width <= end; i += rows * width) {
      typename W::template lanes<item> row[rows];
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) row[j] = kernels::load_once(warp, all.in, i + j * width);
      auto least = warp.map(all.key, row[0]), greatest = least;
      LANEWISE_UNROLL
      for (int j = 1; j < rows; ++j) {
        const auto x = warp.map(all.key, row[j]);
        least = warp.map(minimum{}, least, x);
        greatest = warp.map(maximum{}, greatest, x);
      }
      if (!warp.any(greatest >= now.first)) continue;
      if (!warp.any(least <= now.last)) {
        sum.beyond += static_cast<int>(rows * width);
        continue;
      }
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) note(0, warp.first(static_cast<int>(width)), row[j]);
    }
    kernels::for_each_window_of<1>(warp, all.in, i, end, note);
    return {static_cast<std::uint16_t>(sum.beyond), static_cast<std::uint16_t>(sum.last),
            static_cast<std::uint16_t>(sum.between), static_cast<std::uint16_t>(sum.first)};
  }

  /// The bounds after a pass. Returns how many items lie between them or equal them.
  LANEWISE_LOOP_FUNCTION std::int64_t narrow(bounds_type& now) const {
    const auto signed_of = [](std::uint64_t x) { return static_cast<std::int64_t>(x); };
    const std::int64_t last = signed_of(all.parts->last), first = signed_of(all.parts->first);
    const std::int64_t between = signed_of(all.parts->between), inside = last + between + first;
    std::int64_t wanted = now.wanted - (now.anew ? signed_of(all.parts->beyond) : 0);
    std::int64_t left = inside;
    if (wanted <= 0) {
      now.first = static_cast<bits>(now.last + 1);
      now.last = decltype(Selection::key)::all;
      left = all.n();
    } else if (wanted > inside) {
      now.last = static_cast<bits>(now.first - 1);
      now.first = 0;
      left = all.n();
    } else {
      now.anew = false;
      if (wanted <= last) {
        now.found = threshold_at::last;
        now.first = now.last;
      } else if (wanted > last + between) {
        now.found = threshold_at::first;
        now.last = now.first;
        wanted -= last + between;
      } else if (wanted == inside && result == nullptr) {
        now.found = threshold_at::any;
      } else {
        wanted -= last;
        left = choose_digit(now, wanted);
      }
      now.wanted = wanted;
    }
    std::fill(all.histograms, all.histograms + digit_values, std::uint64_t{0});
    static_cast<bounded_parts<std::uint64_t>&>(*all.parts) = {};
    return left;
  }

  LANEWISE_FUNCTION std::int64_t choose_digit(bounds_type& now, std::int64_t& wanted) const {
    const int low = low_bit(now);
    for (int digit = (1 << digit_bits) - 1;; --digit) {
      std::int64_t here = 0;
      for (int c = 0; c < copies; ++c)
        here += static_cast<std::int64_t>(all.histograms[digit * copies + c]);
      if (wanted > here) {
        wanted -= here;
        continue;
      }
      const auto first = static_cast<bits>(now.first + (static_cast<bits>(digit) << low));
      const auto last = static_cast<bits>(first + ((bits{1} << low) - 1));
      // The first digit has the bound itself, and the last one may have more than the other.
      now.first = digit == 0 ? static_cast<bits>(first + 1) : first;
      now.last = last < first || last >= now.last ? static_cast<bits>(now.last - 1) : last;
      return here;
    }
  }

  /// Where every unit's items go; `last` then counts those that equal the threshold.
  LANEWISE_LOOP_FUNCTION void place_units(threshold_at found) const {
    selection_offset before{0, 0};
    for (std::int64_t u = 0; u < all.units(); ++u) {
      const auto is = all.unit_parts[u];
      int beyond = is.beyond, equal = is.last;
      if (found == threshold_at::first) {
        beyond += is.last + is.between;
        equal = is.first;
      } else if (found == threshold_at::any) {
        equal += is.between + is.first;
      }
      all.unit_parts[u] = {static_cast<std::uint16_t>(beyond), static_cast<std::uint16_t>(equal), 0, 0};
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
        auto chosen = warp.ballot(exists & (x >= bounds.first));
        if (chosen == 0) return;
        const auto beyond = warp.ballot(exists & (x > bounds.last));
        auto equal = chosen & ~beyond;
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
    if (!find(warp, shared.between, now)) {
      now = {0, decltype(Selection::key)::all, limit, true, {}};
      find(warp, shared.between, now);
    }
    if (result != nullptr) {
      *result = all.key.key(now.first);
    } else {
      kernels::write_bounded(warp, all, 0, n, now, now.wanted, 0, limit, put);
    }
  }

 private:
  /// Makes both bounds the threshold, if it is there.
  template <class W>
  LANEWISE_FUNCTION bool find(const W& warp, bits* some, selection_bounds<bits>& now) const {
    std::int64_t beyond = 0, last = 0, between = 0, first = 0;
    kernels::for_each_window_of<4>(
        warp, all.in, 0, all.n(),
        [&](std::int64_t, const auto& exists, const auto& items) LANEWISE_INLINE_LAMBDA {
          const auto x = warp.map(all.key, items);
          const bounded_window<W, Selection> is(warp, exists, x, now);
          beyond += W::popcount(is.beyond);
          last += W::popcount(is.last);
          first += W::popcount(is.first);
          if (is.between != 0)
            warp.compress_store_over(some + between, warp.template mask_of<bits>(is.between), x);
          between += W::popcount(is.between);
        });
    now.wanted -= beyond;
    if (now.wanted <= 0 || now.wanted > last + between + first) return false;
    if (now.wanted <= last) {
      now.first = now.last;
    } else if (now.wanted > last + between) {
      now.last = now.first;
      now.wanted -= last + between;
    } else {
      now.wanted -= last;
      const bits at = kernels::greatest_first(some, now.wanted, between);
      now.first = now.last = at;
      now.wanted -= std::count_if(some, some + now.wanted, [at](bits b) { return b != at; });
    }
    return true;
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
