// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/top_k_plan.hpp>
#include <lanewise/team/bucket_counts.hpp>
#include <lanewise/tile/tile.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Whether this team is the last of its league to say so. What all teams wrote before is seen
/// after it.
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
/// are at least as many. All warps of the team call it; the scratch is free again after the next
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
  lanes_t<warp_type, std::uint64_t> sums(std::uint64_t{0});
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
  using items = lanes_t<W, typename Source::value_type>;
  std::int64_t i = first;
  for (; i + rows * width <= last; i += rows * width) {
    items row[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) row[j] = detail::load_window(warp, in, i + j * width);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) f(i + j * width, warp.first(static_cast<int>(width)), row[j]);
  }
  for (; i < last; i += width) {
    const auto exists = warp.first(last - i);
    f(i, exists,
      warp.map(
          exists, [&](std::uint32_t l) LANEWISE_INLINE_LAMBDA { return in(i + l); },
          typename Source::value_type{}, warp.lane()));
  }
}

/// A window of items that is not read again soon.
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
  lanes_t<W, std::int64_t> unit;
  mask_t<W, std::uint32_t> exist;

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
  const std::int64_t windows = lanewise::divide_up(units, warp_type::width);
  const index_range mine = team.share(windows);
  for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps)
    f(units_in_lanes<warp_type>(team.warp(), w, windows, units));
}

/// Calls f(unit) for every active lane's, one after the other, with the whole warp.
template <class W, class Mask, class F>
LANEWISE_FUNCTION void for_each_whole_unit(const W& warp, const Mask& active,
                                           const lanes_t<W, std::int64_t>& unit, F f) {
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
  lanes_t<W, bits> row[unit_slots];

  template <class Mask>
  LANEWISE_FUNCTION noted_items(const W& warp, const Selection& all, const Mask& active,
                                const lanes_t<W, std::uint32_t>& count,
                                const lanes_t<W, std::int64_t>& unit) {
    LANEWISE_UNROLL
    for (int s = 0; s < unit_slots; ++s)
      row[s] = warp.gather(active & (count > static_cast<std::uint32_t>(s)), all.noted,
                           slot_of(warp, unit, s), bits{});
  }
  static LANEWISE_FUNCTION auto slot_of(const W& warp, const lanes_t<W, std::int64_t>& unit,
                                        int s) {
    return warp.map([s](std::int64_t u) -> std::int64_t { return u * unit_slots + s; }, unit);
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
