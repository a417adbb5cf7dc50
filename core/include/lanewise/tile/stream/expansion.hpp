// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>
#include <lanewise/warp/ranges_in_lanes.hpp>
#include <lanewise/warp/search.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Short ranges together, by one thread, whose scratch is cache. A range's value is written there
/// for whole vectors, also over what is written next: up to a warp of items there is no branch that
/// depends on the length, which could not be predicted.
template <class Team, class T>
struct host_windows {
  using warp_type = typename Team::warp_type;
  using bits = typename warp_type::bits;
  static constexpr int width = warp_type::width;
  using lanes = lanes_t<warp_type, T>;
  static constexpr int room = 8 * width;

  struct scratch {
    raw_array<T, room + ranges_in_lanes<warp_type, T>::many + width> value;
  };

  /// Those ranges of the batch that are here; they follow each other and have some items each.
  template <class Body>
  static LANEWISE_FUNCTION void take_together(const Team& team, scratch& shared, const Body& body,
                                              const ranges_in_lanes<warp_type, T>& batch,
                                              bits here) {
    const auto warp = team.warp();
    T* const value = shared.value.data();
    const std::int64_t at = warp.broadcast(batch.begin, warp_type::lowest(here));
    std::int64_t line = at / width * width;
    int first = static_cast<int>(at - line), count = first;  // items in scratch
    for (bits todo = here; todo != 0; todo &= todo - 1) {
      const int l = warp_type::lowest(todo);
      const lanes all(warp.broadcast(batch.value, l));
      const auto n =
          static_cast<int>(warp.broadcast(batch.end, l) - warp.broadcast(batch.begin, l));
      for (int k = 0; k < n; k += width) warp.store(value + count + k, all);
      count += n;
      const bool last = (todo & (todo - 1)) == 0;
      if (count < room && !last) continue;
      warp.fence();
      int i = 0;
      for (; i + width <= count || (last && i < count); i += width) {
        const auto there = warp.template first<T>(count - i) & !warp.template first<T>(first - i);
        body(warp, there, warp.load(there, value + i, T{}), line + i);
      }
      const auto rest_exists = warp.template first<T>(count - i);
      const auto rest = warp.load(rest_exists, value + i, T{});
      warp.fence();
      warp.store(rest_exists, value, rest);
      line += i;
      count -= i;
      first = 0;
    }
  }
};

/// A piece of the path, for a body whose last call wins. The body gets every range's value for
/// whole vectors, also for items that it gets again, and scratch is not needed.
template <class Team, class T, class Ends, class Value, class Body>
LANEWISE_FUNCTION void expand_over(const Team& team, const path_piece& mine, const Ends& end_of,
                                   const Value& value, const Body& body) {
  using warp_type = typename Team::warp_type;
  constexpr int width = warp_type::width;
  const auto warp = team.warp();
  const std::int64_t limit = mine.end.items;
  std::int64_t at = mine.begin.items;
  for (std::int64_t range = mine.begin.ends; at < limit; ++range) {
    const std::int64_t last = range < mine.end.ends ? end_of(range) : limit;
    if (at + width <= limit) {
      const lanes_t<warp_type, T> all(value(range));
      do {
        body.whole(warp, all, at);
        at += width;
      } while (at < last && at + width <= limit);
    }
    if (at < last)
      body(warp, warp.template first<T>(static_cast<int>(last - at)),
           typename warp_type::template lanes<T>(value(range)), at);
    at = last;
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
