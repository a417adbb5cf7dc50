// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/fixed_tree.hpp>
#include <lanewise/detail/open_sum.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The sums of ranges that are few and short, by teams of several warps, for which a search for
/// equal pieces of the path through ends and items, and waiting for what other teams hand on, would
/// take longer than the items. Teams take ranges as they are.
template <class Team, class T, int items_per_lane>
class register_whole {
  using warp_type = typename Team::warp_type;
  using bits = typename warp_type::bits;
  template <class U>
  using lanes = typename warp_type::template lanes<U>;
  static constexpr int width = warp_type::width;
  static constexpr std::int64_t tile = items_per_lane * width;
  static constexpr int v = pack_items<T, items_per_lane>;
  static constexpr int rows = items_per_lane / v;

 public:
  struct scratch {
    raw_array<T, Team::warps> part;
    std::uint32_t uneven[Team::warps];
  };

  /// Ranges are taken whole if none has more items, nor have as many together as there are for an
  /// offset that is looked at beforehand: a team reads them in four goes.
  static constexpr std::int64_t most_items = 4 * tile * Team::warps;
  /// How many ranges a team takes at a time where it takes them whole, so that nothing is searched
  /// for and nobody waits for others: 0 where there are more ranges or items than the teams that
  /// are resident would be through with after a few, or so short ones that a piece of the path has
  /// many.
  static std::int64_t ranges_at_once(std::int64_t ranges, std::int64_t items,
                                     std::int64_t resident) {
    constexpr std::int64_t rounds = 3;
    const std::int64_t in_a_round = resident * Team::warps;
    if (ranges > rounds * in_a_round || items > rounds * in_a_round * tile ||
        items < ranges * width)
      return 0;
    const std::int64_t each = divide_up(ranges, resident);
    return each < Team::warps ? each : Team::warps;
  }

  /// Reduces whole ranges, so many at a time, and returns true; or does nothing, and returns false
  /// in every team, where ranges would keep a team busy for long. Counts the bad ones. A warp takes
  /// short ranges, the team longer ones.
  template <class Ranges, class Source, class Sink, class Op>
  static LANEWISE_FUNCTION bool reduce(const Team& team, scratch& shared, const Ranges& ranges,
                                       std::int64_t at_once, const Source& source, const Sink& sink,
                                       const T& init, Op op, std::uint64_t& bad) {
    const auto warp = team.warp();
    std::int64_t r = team.index() * at_once;
    whole_ranges some(warp, ranges, r, at_once);
    const bool uneven = any_uneven(team, ranges);
    warp.once([&] { shared.uneven[team.warp_index()] = uneven; });
    team.barrier();
    const auto found =
        warp.load(warp.template first<std::uint32_t>(Team::warps), shared.uneven, 0u);
    if (warp.any(found != lanes<std::uint32_t>(0u))) return false;
    while (r < ranges.count) {
      if (team.warp_index() == 0) bad += some.bad;
      some.reduce(team, shared, r, source, sink, init, op);
      r += team.league() * at_once;
      some = whole_ranges(warp, ranges, r, at_once);
    }
    return true;
  }

 private:
  /// Whether a team would be busy for long: asked of so many neighbouring ranges together that a
  /// warp looks at few offsets.
  template <class Ranges>
  static LANEWISE_FUNCTION bool any_uneven(const Team& team, const Ranges& ranges) {
    constexpr int looks = 4;
    const auto warp = team.warp();
    const std::int64_t stride = divide_up(ranges.count, std::int64_t{Team::warps} * looks * width);
    const std::int64_t first = std::int64_t{team.warp_index()} * looks * width;
    lanes<std::int64_t> begin[looks], end[looks];
    const auto ask = [&](int k, int ahead) {
      return warp.map(
          [&](std::uint32_t l) {
            const std::int64_t r = (first + k * width + l + ahead) * stride;
            return ranges.offset(r < ranges.count ? r : ranges.count);
          },
          warp.lane());
    };
    LANEWISE_UNROLL
    for (int k = 0; k < looks; ++k) begin[k] = ask(k, 0);
    LANEWISE_UNROLL
    for (int k = 0; k < looks; ++k) end[k] = ask(k, 1);
    lanes<std::uint32_t> uneven(0u);
    LANEWISE_UNROLL
    for (int k = 0; k < looks; ++k) {
      uneven = uneven | warp.map(
                            [&](std::int64_t b, std::int64_t e) {
                              const auto n = static_cast<std::uint64_t>(e - b);  // or out of order
                              return std::uint32_t{n > std::uint64_t{most_items}};
                            },
                            begin[k], end[k]);
    }
    return warp.any(uneven != lanes<std::uint32_t>(0u));
  }

  /// Some ranges, one in a lane.
  struct whole_ranges {
    lanes<std::int64_t> begin, end;
    int count;
    std::int64_t alone;  // what a warp takes at most
    int bad;

    template <class Ranges>
    LANEWISE_FUNCTION whole_ranges(const warp_type& warp, const Ranges& ranges, std::int64_t first,
                                   std::int64_t at_once) {
      // The more warps have a range, the longer ones they take.
      alone = tile * at_once;
      const std::int64_t left = ranges.count - first;
      count = static_cast<int>(left < 0 ? 0 : (left < at_once ? left : at_once));
      const auto exist = warp.template first<std::uint32_t>(count);
      const auto ask = [&](int ahead) {
        return warp.map(
            exist, [&](std::uint32_t l) { return ranges.offset(first + l + ahead); },
            std::int64_t{0}, warp.lane());
      };
      begin = ask(0);
      end = ask(1);
      // Bad ones are left empty.
      const auto is_bad = warp.map(
          [&](std::int64_t b, std::int64_t e) { return std::uint32_t{ranges.is_bad(b, e)}; }, begin,
          end);
      const auto bad_ones = is_bad != lanes<std::uint32_t>(0u);
      end = select(bad_ones, begin, end);
      bad = warp.count(bad_ones);
    }

    /// Reduces them; the first is range r.
    template <class Source, class Sink, class Op>
    LANEWISE_FUNCTION void reduce(const Team& team, scratch& shared, std::int64_t r,
                                  const Source& source, const Sink& sink, const T& init,
                                  Op op) const {
      const auto warp = team.warp();
      const int me = team.warp_index();
      if (me < count) {
        const std::int64_t b = warp.broadcast(begin, me), e = warp.broadcast(end, me);
        if (e - b <= alone) {
          const T result = join({init, true}, total_of(warp, source, b, e, op), op).value;
          warp.once([&] { sink(r + me, result); });
        }
      }
      bits longer = warp.ballot(end - begin > lanes<std::int64_t>(alone));
      for (; longer != 0; longer &= longer - 1) {
        const int q = warp_type::lowest(longer);
        const std::int64_t b = warp.broadcast(begin, q), e = warp.broadcast(end, q);
        const index_range mine = even_share(e - b, me, Team::warps);
        const T part = total_of(warp, source, b + mine.begin, b + mine.end, op).value;
        warp.once([&] { shared.part.data()[me] = part; });
        team.barrier();
        if (me == 0) {
          const auto parts =
              warp.load(warp.template first<T>(Team::warps), shared.part.data(), T{});
          const T result = op(init, warp.reduce(parts, op, Team::warps));
          warp.once([&] { sink(r + q, result); });
        }
        team.barrier();
      }
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
          const std::int64_t behind = body + count * v;
          const std::int64_t loose = (body - first) + (last - behind);
          for (std::int64_t at = 0; at < loose; at += width) {
            warp.each(
                warp.template first<T>(static_cast<int>(loose - at)),
                [&](T& s, std::uint32_t l) {
                  const std::int64_t i = at + l;
                  s = op(s, source(i < body - first ? first + i : behind + i - (body - first)));
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
          sum = join(sum, maybe<T>{warp.reduce(in[k], op, left < width ? left : width), true}, op);
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
          [&](std::uint32_t l) { return at[j * width + l]; }, raw{}, warp.lane());
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

  /// So many items that may begin anywhere, a lane's being a warp's width apart.
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
