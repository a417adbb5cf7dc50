// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/cache_tile.hpp>
#include <lanewise/detail/open_sum.hpp>
#include <lanewise/search.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The sums of the ranges that end in a piece of the path through ends and items, by one thread:
/// range by range, each of them streamed.
template <class Team, class T, std::int64_t steps_>
class cache_sums {
 public:
  static constexpr std::int64_t steps = steps_;
  struct scratch {};

  template <class Ranges>
  LANEWISE_FUNCTION cache_sums(const Team& team, scratch&, const Ranges& ranges, std::int64_t tile)
      : team_(team) {
    const auto warp = team.warp();
    const std::int64_t all = ranges.count + ranges.items;
    const std::int64_t last = (tile + 1) * steps < all ? (tile + 1) * steps : all;
    begin_ = split_path(warp, ranges, ranges.count, ranges.items, tile * steps);
    end_ = split_path(warp, ranges, ranges.count, ranges.items, last);
    ordered_ = begin_.ends <= end_.ends && begin_.items <= end_.items;
    if (!ordered_) end_ = begin_;
  }

  /// How many ranges end here and are bad; one where they are so bad that the path has no order.
  template <class Ranges>
  LANEWISE_FUNCTION std::uint64_t bad(const Ranges& ranges) const {
    std::uint64_t count = ordered_ ? 0 : 1;
    for (std::int64_t r = begin_.ends; r < end_.ends; ++r) count += ranges.is_bad(r) ? 1 : 0;
    return count;
  }

  /// Sums up what is here, and writes the ranges that began here.
  template <class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void reduce(const Ranges& ranges, const Source& source, const Sink& sink,
                                const T& init, Op op) {
    std::int64_t i = begin_.items;
    const auto up_to = [&](std::int64_t last) {
      if (last > end_.items) last = end_.items;
      const auto sum =
          reduce_stream<T>(team_.warp(), source, ranges.first + i, ranges.first + last, op);
      if (last > i) i = last;
      return sum;
    };
    for (std::int64_t r = begin_.ends; r < end_.ends; ++r) {
      const maybe<T> sum = up_to(ranges(r));
      if (r == begin_.ends) {
        first_ = sum;
      } else {
        sink(r, join({init, true}, sum, op).value);
      }
    }
    total_ = open_sum<T>::of(end_.ends > begin_.ends, up_to(end_.items));
  }

  LANEWISE_FUNCTION const open_sum<T>& total() const { return total_; }

  template <class Sink>
  LANEWISE_FUNCTION void write(const Sink&) const {}

  /// Writes the range that may have begun in front of the tile.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void write_first(const Sink& sink, const maybe<T>& before, const T& init,
                                     Op op) const {
    if (end_.ends > begin_.ends)
      sink(begin_.ends, join({init, true}, join(before, first_, op), op).value);
  }

 private:
  const Team& team_;
  path_point<std::int64_t> begin_;
  path_point<std::int64_t> end_;
  bool ordered_;
  maybe<T> first_{{}, false};
  open_sum<T> total_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
