// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/segments/detail/range_carry.hpp>
#include <lanewise/tile/fixed_tree.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The sums of ranges that are few. Two things would take longer than the items: a search for equal
/// pieces of the path through ends and items, and waiting for what other teams hand on. Every team
/// of several warps takes as many neighbouring ranges, one in a lane of each warp, and its warps
/// equal parts of their items.
template <class Team, class T, int items_per_lane>
class few_segments_reduction {
  using warp_type = typename Team::warp_type;
  using bits = typename warp_type::bits;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  static constexpr int width = warp_type::width;
  static constexpr std::int64_t tile = items_per_lane * width;
  static constexpr int v = pack_items<T, items_per_lane>;
  static constexpr int rows = items_per_lane / v;

 public:
  /// Items that a team may have beyond its part of all: more take longer than the search.
  static constexpr std::int64_t most_beyond = 4 * tile * Team::warps;

  struct scratch {
    // A warp's part of a range is at the sum of their numbers.
    raw_array<T, Team::warps + width> part;
    std::uint32_t uneven[Team::warps];
  };

  static range_shares equal_shares(std::int64_t ranges, std::int64_t items, std::int64_t resident) {
    const std::int64_t each = divide_up(ranges, resident);
    // A piece of the path has many short ranges, unless warps have one or two each.
    if (each > width || (items < ranges * width && each > 2 * Team::warps)) return {0, 0};
    return {each, items / resident + most_beyond};
  }

  /// Reduces the ranges and returns true, but for those of teams that find bad ones among theirs;
  /// or does nothing, and returns false in every team, where a team would have more items than it
  /// may. Counts the bad ones.
  template <class Ranges, class Source, class Sink, class Op>
  static LANEWISE_FUNCTION bool reduce(const Team& team, scratch& shared, const Ranges& ranges,
                                       const range_shares& equal, const Source& source,
                                       const Sink& sink, const T& init, Op op, std::uint64_t& bad) {
    const auto warp = team.warp();
    // Asked for here, and looked at when the others have come, too.
    const some_ranges mine(warp, ranges, team.index() * equal.ranges, equal.ranges);
    // Good ranges do not have more items than there are.
    if (ranges.extent > equal.most_items) {
      const bool uneven = any_uneven(team, ranges, equal);
      warp.once([&] { shared.uneven[team.warp_index()] = uneven; });
      team.barrier();
      const auto found =
          warp.load(warp.template first<std::uint32_t>(Team::warps), shared.uneven, 0u);
      if (warp.any(found != lanes<std::uint32_t>(0u))) return false;
    }
    const int bad_ones = mine.bad(warp, ranges);
    if (bad_ones == 0) {
      mine.reduce(team, shared, source, sink, init, op);
    } else if (team.warp_index() == 0) {
      bad += static_cast<std::uint64_t>(bad_ones);
    }
    return true;
  }

 private:
  /// Whether a team would have too many items. All teams see the same.
  template <class Ranges>
  static LANEWISE_FUNCTION bool any_uneven(const Team& team, const Ranges& ranges,
                                           const range_shares& equal) {
    const auto warp = team.warp();
    const auto lane = warp.lane();
    lanes<std::uint32_t> uneven(0u);
    for (std::int64_t first = std::int64_t{team.warp_index()} * width;
         first * equal.ranges < ranges.count; first += Team::warps * width) {
      warp.each(
          [&](std::uint32_t& is_uneven, std::uint32_t l) {
            const std::int64_t begin = (first + l) * equal.ranges, end = begin + equal.ranges;
            const auto at = [&](std::int64_t r) {
              return ranges.offset(r < ranges.count ? r : ranges.count);
            };
            // Offsets may be out of order, or anything.
            const std::uint64_t n =
                static_cast<std::uint64_t>(at(end)) - static_cast<std::uint64_t>(at(begin));
            is_uneven |= n > static_cast<std::uint64_t>(equal.most_items) ? 1 : 0;
          },
          uneven, lane);
    }
    return warp.any(uneven != lanes<std::uint32_t>(0u));
  }

  /// Ranges of a team, one in a lane.
  struct some_ranges {
    std::int64_t first;  // range
    int count;
    lanes<std::int64_t> begin, end;

    template <class Ranges>
    LANEWISE_FUNCTION some_ranges(const warp_type& warp, const Ranges& ranges,
                                  std::int64_t first_range, std::int64_t most)
        : first(first_range) {
      const std::int64_t left = ranges.count - first;
      count = static_cast<int>(left < 0 ? 0 : (left < most ? left : most));
      const auto exist = warp.template first<std::uint32_t>(count);
      const auto ask = [&](int ahead) {
        return warp.map(
            exist, [&](std::uint32_t l) { return ranges.offset(first + l + ahead); },
            std::int64_t{0}, warp.lane());
      };
      begin = ask(0);
      end = ask(1);
    }

    template <class Ranges>
    LANEWISE_FUNCTION int bad(const warp_type& warp, const Ranges& ranges) const {
      const auto is_bad = warp.map(
          [&](std::int64_t b, std::int64_t e) { return std::uint32_t{ranges.is_bad(b, e)}; }, begin,
          end);
      return warp.count(is_bad != lanes<std::uint32_t>(0u));
    }

    /// Good ones.
    template <class Source, class Sink, class Op>
    LANEWISE_FUNCTION void reduce(const Team& team, scratch& shared, const Source& source,
                                  const Sink& sink, const T& init, Op op) const {
      if (count == 0) return;
      const auto warp = team.warp();
      const std::int64_t items = warp.broadcast(end, count - 1) - warp.broadcast(begin, 0);
      if (items <= (count == 1 ? 1 : 2) * count * tile) {
        reduce_short(team, source, sink, init, op);
      } else {
        reduce_long(team, shared.part.data(), source, sink, init, op);
      }
    }

    /// A warp takes a range after the other.
    template <class Source, class Sink, class Op>
    LANEWISE_FUNCTION void reduce_short(const Team& team, const Source& source, const Sink& sink,
                                        const T& init, Op op) const {
      const auto warp = team.warp();
      for (int q = team.warp_index(); q < count; q += Team::warps) {
        const std::int64_t b = warp.broadcast(begin, q), e = warp.broadcast(end, q);
        const T result = detail::join({init, true}, total_of(warp, source, b, e, op), op).value;
        warp.once([&] { sink(first + q, result); });
      }
    }

    /// All warps take equally many items, from where a row of packs would begin.
    template <class Source, class Sink, class Op>
    LANEWISE_FUNCTION void reduce_long(const Team& team, T* part, const Source& source,
                                       const Sink& sink, const T& init, Op op) const {
      const auto warp = team.warp();
      const int me = team.warp_index();
      constexpr std::int64_t row = v * width;
      const std::int64_t from = warp.broadcast(begin, 0) / row * row;
      const std::int64_t items = warp.broadcast(end, count - 1) - from;
      const std::int64_t each = lanewise::divide_up(items, row * Team::warps) * row;
      const std::int64_t lo = from + me * each, hi = lo + each;
      bits here = warp.ballot((begin < end) & (begin < lanes<std::int64_t>(hi)) &
                              (end > lanes<std::int64_t>(lo)));
      for (; here != 0; here &= here - 1) {
        const int q = warp_type::lowest(here);
        const std::int64_t b = warp.broadcast(begin, q), e = warp.broadcast(end, q);
        const T sum = total_of(warp, source, b < lo ? lo : b, e < hi ? e : hi, op).value;
        warp.once([&] { part[me + q] = sum; });
      }
      team.barrier();
      if (me != 0) return;
      const auto lane = warp.lane();
      warp.each(
          warp.template first<std::uint32_t>(count),
          [&](std::uint32_t l, std::int64_t b, std::int64_t e) {
            T sum = init;
            LANEWISE_UNROLL
            for (int w = 0; w < Team::warps; ++w) {
              const std::int64_t least = from + w * each;
              if (b < e && b < least + each && e > least)
                sum = op(sum, part[static_cast<std::uint32_t>(w) + l]);
            }
            sink(first + l, sum);
          },
          lane, begin, end);
    }
  };

  /// What the items come to, by this warp.
  template <class Source, class Op>
  static LANEWISE_FUNCTION maybe<T> total_of(const warp_type& warp, const Source& source,
                                             std::int64_t first, std::int64_t last, Op op) {
    if (first >= last) return {{}, false};
    if constexpr (is_commutative<Op, T>) {
      const auto lane = warp.lane();
      lanes<T> sum;
      const std::int64_t n = last - first;
      if constexpr (Source::contiguous) {
        using raw = pack<typename Source::raw_type, v>;
        const auto past = reinterpret_cast<std::uintptr_t>(source.data + first) % alignof(raw);
        // Enough for a pack in every lane.
        if (n >= (v + 1) * width && past % sizeof(typename Source::raw_type) == 0) {
          const std::int64_t body =
              first + static_cast<std::int64_t>((alignof(raw) - past) % alignof(raw) /
                                                sizeof(typename Source::raw_type));
          const std::int64_t count = (last - body) / v;
          for (std::int64_t at = 0; at < count; at += rows * width)
            add_packs(warp, source, body + at * v, count - at, at == 0, sum, op);
          const std::int64_t after = body + count * v;
          const std::int64_t loose = (body - first) + (last - after);
          for (std::int64_t at = 0; at < loose; at += width) {
            warp.each(
                warp.template first<T>(static_cast<int>(loose - at)),
                [&](T& s, std::uint32_t l) {
                  const std::int64_t i = at + l;
                  s = op(s, source(i < body - first ? first + i : after + i - (body - first)));
                },
                sum, lane);
          }
          return {warp.reduce(sum, op), true};
        }
      }
      constexpr int some = items_per_lane < 8 ? items_per_lane : 8;
      for (std::int64_t at = first; at < last; at += some * width)
        add_rows<some>(warp, source, at, last - at, at == first, sum, op);
      return {warp.reduce(sum, op, static_cast<int>(n < width ? n : width)), true};
    } else {
      maybe<T> sum{{}, false};
      for (; first < last; first += tile) {
        const int count = static_cast<int>(last - first < tile ? last - first : tile);
        lanes<T> in[items_per_lane];
        load_rows(warp, source, first, count, in);
        LANEWISE_UNROLL
        for (int k = 0; k < items_per_lane; ++k) {
          const int left = count - k * width;
          if (left <= 0) continue;
          sum = detail::join(
              sum, maybe<T>{warp.reduce(in[k], op, left < width ? left : width), true}, op);
        }
      }
      return sum;
    }
  }

  /// Adds up to a tile of packs to every lane's sum, or begins it with the first row, which is
  /// full.
  template <class Source, class Op>
  static LANEWISE_FUNCTION void add_packs(const warp_type& warp, const Source& source,
                                          std::int64_t first, std::int64_t left, bool begins,
                                          lanes<T>& sum, Op op) {
    using raw = pack<typename Source::raw_type, v>;
    const raw* const at = reinterpret_cast<const raw*>(source.data + first);
    const int count = static_cast<int>(left < rows * width ? left : std::int64_t{rows * width});
    lanes<raw> in[rows];
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      in[j] = warp.map(
          warp.template first<std::uint32_t>(count - j * width),
          [&](std::uint32_t l) { return at[static_cast<std::uint32_t>(j * width) + l]; }, raw{},
          warp.lane());
    }
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      const bool fresh = j == 0 && begins;
      warp.each(
          warp.template first<T>(count - j * width),
          [&](T& s, const raw& r) {
            s = fresh ? source.from_raw(r[0]) : op(s, source.from_raw(r[0]));
            LANEWISE_UNROLL
            for (int c = 1; c < v; ++c) s = op(s, source.from_raw(r[c]));
          },
          sum, in[j]);
    }
  }

  /// Loads `count` items that may begin anywhere. The items of a lane are a warp's width apart.
  template <int n, class Source>
  static LANEWISE_FUNCTION void load_rows(const warp_type& warp, const Source& source,
                                          std::int64_t first, int count, lanes<T> (&in)[n]) {
    LANEWISE_UNROLL
    for (int k = 0; k < n; ++k) {
      in[k] = warp.map(
          warp.template first<std::uint32_t>(count - k * width),
          [&](std::uint32_t l) -> T { return source(first + k * width + l); }, T{}, warp.lane());
    }
  }

  /// Adds up to n rows of such items to every lane's sum, or begins it with them.
  template <int n, class Source, class Op>
  static LANEWISE_FUNCTION void add_rows(const warp_type& warp, const Source& source,
                                         std::int64_t first, std::int64_t left, bool begins,
                                         lanes<T>& sum, Op op) {
    const int count = static_cast<int>(left < n * width ? left : std::int64_t{n * width});
    lanes<T> in[n];
    load_rows(warp, source, first, count, in);
    LANEWISE_UNROLL
    for (int k = 0; k < n; ++k) {
      const bool fresh = k == 0 && begins;
      warp.each(
          warp.template first<T>(count - k * width),
          [&](T& s, const T& x) { s = fresh ? x : op(s, x); }, sum, in[k]);
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
