// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/open_sum.hpp>
#include <lanewise/detail/register_expansion.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Finds both ends of a piece of the path, by two warps of the team at once. All warps call it;
/// before the barrier that must follow, nothing else reads or writes cut.
template <class Team, class Ends>
LANEWISE_FUNCTION void cut_path(const Team& team, path_point<std::int64_t> (&cut)[2],
                                const Ends& end_of, std::int64_t ranges, std::int64_t items,
                                std::int64_t first_step, std::int64_t last_step) {
  const auto warp = team.warp();
  for (int side = team.warp_index(); side < 2; side += Team::warps) {
    const auto point = split_path(warp, end_of, ranges, items, side == 0 ? first_step : last_step);
    warp.once([&] { cut[side] = point; });
  }
}

/// The sums of the ranges that end in a piece of the path through ends and items, by a team of
/// several warps. Every lane walks an equally long piece of the tile's path in scratch; what it
/// leaves open goes to the lanes behind it in a scan. (The decomposition is that of Merrill and
/// Garland's merge-based sparse matrix-vector product.)
template <class Team, class T, int items_per_lane>
class register_sums {
 public:
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr std::int64_t steps = items_per_lane * width * Team::warps;
  using state = open_sum<T>;
  static_assert(steps < 1 << 16, "ends within a tile are 16 bits wide");

  struct scratch {
    path_point<std::int64_t> cut[2];
    raw_array<T, steps> value;  // the items, and behind them the ranges' results
    std::uint16_t end[steps];   // in front of which of the tile's items every range ends
    raw_array<state, Team::warps> per_warp;
    maybe<T> first;
  };

  template <class Ranges>
  LANEWISE_FUNCTION register_sums(const Team& team, scratch& shared, const Ranges& ranges,
                                  std::int64_t tile)
      : team_(team), shared_(shared) {
    const std::int64_t all = ranges.count + ranges.items;
    cut_path(team, shared.cut, ranges, ranges.count, ranges.items, tile * steps,
             (tile + 1) * steps < all ? (tile + 1) * steps : all);
    team.barrier();
    begin_ = shared.cut[0];
    const auto end = shared.cut[1];
    ordered_ = begin_.ends <= end.ends && begin_.items <= end.items;
    if (!ordered_) return;
    ends_ = static_cast<std::uint32_t>(end.ends - begin_.ends);
    items_ = static_cast<std::uint32_t>(end.items - begin_.items);
  }

  /// How many ranges end here and are bad, as far as this warp has looked; one where they are so
  /// bad that the path has no order.
  template <class Ranges>
  LANEWISE_FUNCTION std::uint64_t bad(const Ranges& ranges) const {
    if (!ordered_) return team_.warp_index() == 0 ? 1 : 0;
    const auto warp = team_.warp();
    std::uint64_t count = 0;
    for (std::uint32_t k = team_.warp_index() * width; k < ends_; k += Team::warps * width) {
      const auto range = warp.lane() + k;
      const auto found = warp.map(
          range < ends_,
          [&](std::uint32_t r) {
            return static_cast<std::uint32_t>(ranges.is_bad(begin_.ends + r));
          },
          std::uint32_t{0}, range);
      count += warp.count(found != lanes<std::uint32_t>(0u));
    }
    return count;
  }

  /// Sums up what is here, and brings the results together in scratch.
  template <class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void reduce(const Ranges& ranges, const Source& source, const Sink&,
                                const T& init, Op op) {
    T* value = shared_.value.data();
    for_each_index(team_, items_,
                   [&](std::uint32_t k) { value[k] = source(ranges.first + begin_.items + k); });
    for_each_index(team_, ends_, [&](std::uint32_t k) {
      const std::int64_t end = ranges(begin_.ends + k) - begin_.items;
      shared_.end[k] = static_cast<std::uint16_t>(end < 0 ? 0 : (end < items_ ? end : items_));
    });
    team_.barrier();
    walk(init, op);
    scan(init, op);
    team_.barrier();
  }

  LANEWISE_FUNCTION const state& total() const { return total_; }

  /// Writes the ranges that began here.
  template <class Sink>
  LANEWISE_FUNCTION void write(const Sink& sink) const {
    const T* result = shared_.value.data() + items_;
    for_each_index(team_, ends_, [&](std::uint32_t k) {
      if (k > 0) sink(begin_.ends + k, result[k]);
    });
  }

  /// Writes the range that may have begun in front of the tile.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void write_first(const Sink& sink, const maybe<T>& before, const T& init,
                                     Op op) const {
    if (ends_ == 0) return;
    team_.once([&] {
      sink(begin_.ends, join({init, true}, join(before, shared_.first, op), op).value);
    });
  }

 private:
  template <class U>
  using lanes = typename warp_type::template lanes<U>;

  /// Every lane sums up its piece of the path. The range that ends first in it may have begun in
  /// front of it.
  template <class Op>
  LANEWISE_FUNCTION void walk(const T& init, Op op) {
    T* const value = shared_.value.data();
    const std::uint16_t* const end = shared_.end;
    const std::uint32_t items = items_, ends = ends_;
    team_.warp().each(
        [&](std::uint32_t l, state& open, maybe<T>& first, std::uint32_t& first_range) {
          const std::uint32_t all = items + ends;
          const std::uint32_t begin = l * items_per_lane < all ? l * items_per_lane : all;
          auto at = split_path([&](std::uint32_t r) { return std::uint32_t{end[r]}; }, ends, items,
                               begin);
          maybe<T> sum{{}, false};
          bool ended = false;
          first_range = at.ends;
          LANEWISE_UNROLL
          for (std::uint32_t step = 0; step < items_per_lane; ++step) {
            if (begin + step >= all) continue;
            if (at.ends < ends && (at.items >= items || end[at.ends] <= at.items)) {
              if (ended) {
                value[items + at.ends] = join({init, true}, sum, op).value;
              } else {
                first = sum;
              }
              ended = true;
              sum.present = false;
              ++at.ends;
            } else {
              sum = {sum.present ? op(sum.value, value[at.items]) : value[at.items], true};
              ++at.items;
            }
          }
          open = state::of(ended, sum);
        },
        lane_, open_, first_, first_range_);
  }

  /// Hands on what lanes left open, and completes the ranges that end first in every lane.
  template <class Op>
  LANEWISE_FUNCTION void scan(const T& init, Op op) {
    const auto warp = team_.warp();
    const join_sums<T, Op> joined{op};
    const auto upto = warp.inclusive_scan(open_, joined);
    state* per_warp = shared_.per_warp.data();
    const state mine = warp.broadcast(upto, width - 1);
    warp.once([&] { per_warp[team_.warp_index()] = mine; });
    team_.barrier();
    maybe<state> before{state::of(false, {{}, false}), false};
    fold_warps(team_, per_warp, Team::warps, joined, before, total_);
    const auto left = warp.shuffle_up(upto, 1);
    T* const result = shared_.value.data() + items_;
    const state front = before.value;
    warp.each(
        [&](std::uint32_t l, const state& open, const state& previous, const maybe<T>& first,
            std::uint32_t range) {
          if (!open.ended()) return;
          const state in_front = l % width == 0 ? front : joined(front, previous);
          const maybe<T> sum = join(in_front.value(), first, op);
          if (in_front.ended()) {
            result[range] = join({init, true}, sum, op).value;
          } else {
            shared_.first = sum;
          }
        },
        lane_, open_, left, first_, first_range_);
  }

  const Team& team_;
  scratch& shared_;
  path_point<std::int64_t> begin_;
  bool ordered_;
  std::uint32_t ends_ = 0;
  std::uint32_t items_ = 0;
  /// This lane's number in the team.
  const lanes<std::uint32_t> lane_ =
      team_.warp().lane() + static_cast<std::uint32_t>(team_.warp_index() * width);
  lanes<state> open_;
  lanes<maybe<T>> first_;
  lanes<std::uint32_t> first_range_;
  state total_ = state::of(false, {{}, false});
};

}  // namespace detail
LANEWISE_END_NAMESPACE
