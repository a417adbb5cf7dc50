// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/cache_tile.hpp>
#include <lanewise/detail/marks.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The lanes for which f(a...) holds.
template <class W, class F, class First, class... Lanes>
LANEWISE_FUNCTION auto lanes_where(const W& warp, F f, const First& first, const Lanes&... more) {
  using T = typename First::value_type;
  // An integer of the items' size, so that the compiler turns the loop into vector comparisons.
  using word = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>>;
  const auto holds =
      warp.map([&](const T& a, const auto&... b)
                   LANEWISE_INLINE_LAMBDA { return static_cast<word>(f(a, b...) ? 1 : 0); },
               first, more...);
  return holds != typename W::template lanes<word>(word{0});
}

/// Which of the items i, ..., i + W - 1 are kept; the neighbours asked for must exist.
template <class W, class Marks, class Source, class Lanes>
LANEWISE_FUNCTION auto kept_in_window(const W& warp, const Marks& marks, const Source& source,
                                      std::int64_t i, const Lanes& item) {
  if constexpr (is_flagged<Marks>) {
    using flag = typename decltype(marks.flags)::value_type;
    return load_window(warp, marks.flags, i) != typename W::template lanes<flag>(flag{0});
  } else if constexpr (Marks::side == 0) {
    return lanes_where(warp, marks, item);
  } else {
    return lanes_where(warp, marks, item, load_window(warp, source, i + Marks::side));
  }
}

/// A tile of which some items are kept, left where it is: a first pass counts, a second one, which
/// finds the items in cache, writes.
template <class Team, class Source, class Marks>
class cache_compaction {
 public:
  LANEWISE_FUNCTION cache_compaction(const Team& team, const Source& source, const Marks& marks,
                                     std::int64_t first, std::int64_t last, std::int64_t n)
      : team_(team), source_(source), marks_(marks), first_(first), last_(last), n_(n) {}

  /// How many items of the tile are kept, and where the last of them is: the first pass.
  template <class State>
  LANEWISE_FUNCTION State total() const {
    std::int64_t count = 0;
    std::int64_t behind_last = 0;
    for_each_window(
        [&](std::int64_t i, const auto&, const auto& kept) LANEWISE_INLINE_LAMBDA {
          const auto bits = team_.warp().ballot(kept);
          count += warp_type::popcount(bits);
          if (bits != 0) behind_last = i + warp_type::highest(bits) + 1;
        },
        [&](std::int64_t i) {
          ++count;
          behind_last = i + 1;
        },
        [](std::int64_t) {});
    return State::of(count, behind_last);
  }

  LANEWISE_FUNCTION void stage() const {}

  /// Writes the columns: start items were kept before this tile, the last of them in front of index
  /// `end`. Places beyond a sink's extent are left out. Returns how many items were kept up to the
  /// end of this tile.
  template <class First, class Second>
  LANEWISE_FUNCTION std::int64_t write(const First& one, const Second& two, std::int64_t start,
                                       std::int64_t end) const {
    std::int64_t to = start;
    // A window is written whole where every sink has room for all of its items.
    for_each_window(
        [&](std::int64_t i, const auto& item, const auto& kept) LANEWISE_INLINE_LAMBDA {
          const auto bits = team_.warp().ballot(kept);
          const int count = warp_type::popcount(bits);
          if (has_room(one, i, to, count) && has_room(two, i, to, count)) {
            put_window(one, i, item, kept, to, end);
            put_window(two, i, item, kept, to, end);
            to += count;
            if (bits != 0) end = i + warp_type::highest(bits) + 1;
          } else {
            for (int l = 0; l < width; ++l) {
              if ((bits >> l) & 1) {
                put(one, i + l, to, end);
                put(two, i + l, to, end);
                ++to;
                end = i + l + 1;
              } else {
                put_rejected(one, i + l, to);
                put_rejected(two, i + l, to);
              }
            }
          }
        },
        [&](std::int64_t i) {
          put(one, i, to, end);
          put(two, i, to, end);
          ++to;
          end = i + 1;
        },
        [&](std::int64_t i) {
          put_rejected(one, i, to);
          put_rejected(two, i, to);
        });
    return to;
  }

 private:
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  using bits_type = typename warp_type::bits;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;

  /// whole(i, items, kept) for windows whose neighbours exist, kept(i) or rejected(i) for every
  /// other item, in order.
  template <class Whole, class Kept, class Rejected>
  LANEWISE_FUNCTION void for_each_window(Whole whole, Kept kept, Rejected rejected) const {
    const auto warp = team_.warp();
    const auto one = [&](std::int64_t i) {
      if (is_kept(marks_, source_, i, n_)) {
        kept(i);
      } else {
        rejected(i);
      }
    };
    std::int64_t i = first_;
    if (Marks::side < 0 && i == 0 && i < last_) one(i++);
    const std::int64_t end = Marks::side > 0 && last_ == n_ ? last_ - 1 : last_;
    for (; i + width <= end; i += width) {
      const auto item = load_window(warp, source_, i);
      whole(i, item, kept_in_window(warp, marks_, source_, i, item));
    }
    for (; i < last_; ++i) one(i);
  }

  static LANEWISE_FUNCTION bool has_room(const no_column&, std::int64_t, std::int64_t, int) {
    return true;
  }
  template <class Column>
  static LANEWISE_FUNCTION bool has_room(const Column& column, std::int64_t i, std::int64_t to,
                                         int count) {
    return Column::needs_rejected ? i + width - to - count <= column.sink.extent
                                  : to + count <= column.sink.extent;
  }

  /// The kept lanes of a, in order, to places from `to` on.
  template <class Sink, class Mask, class Lanes>
  LANEWISE_FUNCTION void compress(const Sink& sink, std::int64_t to, const Mask& kept,
                                  const Lanes& a) const {
    if constexpr (Sink::contiguous &&
                  std::is_same_v<typename Lanes::value_type, typename sink_value<Sink>::type>) {
      team_.warp().compress_store(sink.data + to, kept, a);
    } else {
      for (auto todo = team_.warp().ballot(kept); todo != 0; todo &= todo - 1)
        sink(to++, team_.warp().broadcast(a, warp_type::lowest(todo)));
    }
  }

  template <class Lanes, class Mask>
  LANEWISE_FUNCTION void put_window(const no_column&, std::int64_t, const Lanes&, const Mask&,
                                    std::int64_t, std::int64_t) const {}
  template <class Sink, class Lanes, class Mask>
  LANEWISE_FUNCTION void put_window(const kept_items<Sink>& column, std::int64_t, const Lanes& item,
                                    const Mask& kept, std::int64_t to, std::int64_t) const {
    compress(column.sink, to, kept, item);
  }
  template <class Sink, class Lanes, class Mask>
  LANEWISE_FUNCTION void put_window(const rejected_items<Sink>& column, std::int64_t i,
                                    const Lanes& item, const Mask& kept, std::int64_t to,
                                    std::int64_t) const {
    compress(column.sink, i - to, !kept, item);
  }
  template <class Values, class Sink, class Lanes, class Mask>
  LANEWISE_FUNCTION void put_window(const kept_values<Values, Sink>& column, std::int64_t i,
                                    const Lanes&, const Mask& kept, std::int64_t to,
                                    std::int64_t) const {
    compress(column.sink, to, kept, load_window(team_.warp(), column.source, i));
  }
  template <class Sink, class Lanes, class Mask>
  LANEWISE_FUNCTION void put_window(const kept_distances<Sink>& column, std::int64_t i,
                                    const Lanes&, const Mask& kept, std::int64_t to,
                                    std::int64_t end) const {
    const auto warp = team_.warp();
    // Kept lanes brought together, behind a place for the one before: distances are differences of
    // neighbours.
    alignas(64) std::uint32_t lane_of[2 * width];
    const int count = warp.compress_store(lane_of + width, kept, warp.lane());
    if (count == 0) return;
    lane_of[width - 1] = lane_of[width];
    const auto distance = warp.load(lane_of + width) - warp.load(lane_of + width - 1);
    if constexpr (Sink::contiguous) {
      using out = typename sink_value<Sink>::type;
      warp.store(warp.template first<out>(count), column.sink.data + to,
                 warp.template cast<out>(distance));
    } else {
      for (int k = 1; k < count; ++k) column.sink(to + k, warp.broadcast(distance, k));
    }
    column.sink(to, i + lane_of[width] + 1 - end);
  }

  LANEWISE_FUNCTION void put(const no_column&, std::int64_t, std::int64_t, std::int64_t) const {}
  template <class Sink>
  LANEWISE_FUNCTION void put(const kept_items<Sink>& column, std::int64_t i, std::int64_t to,
                             std::int64_t) const {
    if (to < column.sink.extent) column.sink(to, source_(i));
  }
  template <class Sink>
  LANEWISE_FUNCTION void put(const rejected_items<Sink>&, std::int64_t, std::int64_t,
                             std::int64_t) const {}
  template <class Values, class Sink>
  LANEWISE_FUNCTION void put(const kept_values<Values, Sink>& column, std::int64_t i,
                             std::int64_t to, std::int64_t) const {
    if (to < column.sink.extent) column.sink(to, column.source(i));
  }
  template <class Sink>
  LANEWISE_FUNCTION void put(const kept_distances<Sink>& column, std::int64_t i, std::int64_t to,
                             std::int64_t end) const {
    if (to < column.sink.extent) column.sink(to, i + 1 - end);
  }
  template <class Column>
  LANEWISE_FUNCTION void put_rejected(const Column&, std::int64_t, std::int64_t) const {}
  template <class Sink>
  LANEWISE_FUNCTION void put_rejected(const rejected_items<Sink>& column, std::int64_t i,
                                      std::int64_t to) const {
    if (i - to < column.sink.extent) column.sink(i - to, source_(i));
  }

  const Team& team_;
  const Source& source_;
  const Marks& marks_;
  std::int64_t first_;
  std::int64_t last_;
  std::int64_t n_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
