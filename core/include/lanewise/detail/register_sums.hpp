// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/fixed_tree.hpp>
#include <lanewise/detail/open_sum.hpp>
#include <lanewise/detail/register_expansion.hpp>

#include <bit>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The sums of the ranges that end in a piece of the path through ends and items, by a team of
/// several warps, each of which walks through a piece of its own and waits for no other before the
/// end.
///
/// A warp takes a tile of items at a time. A tile in which no range ends is added to a sum in every
/// lane as it comes. In others the last item of every range is marked; every lane sums up
/// neighbouring items from mark to mark, a segmented scan over the lanes hands on what is left
/// open, and the sums take the places of the marked items, where their ranges find them.
template <class Team, class T, int items_per_lane>
class register_sums {
 public:
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr std::int64_t tile = items_per_lane * width;
  /// What a team should have at least.
  static constexpr std::int64_t steps = tile * Team::warps;
  using state = open_sum<T>;

  /// One piece for every team of the league.
  static LANEWISE_FUNCTION std::int64_t pieces(std::int64_t path, std::int64_t league) {
    const std::int64_t most = divide_up(path, steps);
    return most < league ? most : league;
  }

 private:
  static_assert(items_per_lane <= 32, "a lane's marks are one word");
  // Behind every 128 bytes a place is left out, so that lanes that walk side by side meet different
  // banks.
  static constexpr std::uint32_t line = sizeof(T) <= 64 ? std::bit_floor(128 / sizeof(T)) : tile;
  static LANEWISE_FUNCTION constexpr std::uint32_t place(std::uint32_t item) {
    return item + item / line;
  }

  /// The places of a lane's items behind the first of them: a constant where none is left out.
  static LANEWISE_FUNCTION constexpr std::uint32_t within(std::uint32_t l, std::uint32_t c) {
    if (line % items_per_lane == 0) return c;
    return place(l * items_per_lane + c) - place(l * items_per_lane);
  }

  // A byte per item, of which a lane reads four at a time.
  static_assert(items_per_lane % 4 == 0);
  using marks = pack<std::uint32_t, items_per_lane / 4>;
  struct warp_scratch {
    raw_array<T, tile + tile / line> value;
    alignas(16) raw_array<std::uint8_t, tile> mark;
  };

 public:
  struct scratch {
    warp_scratch warp[Team::warps];
    raw_array<state, Team::warps> per_warp;
  };

  template <class Ranges>
  LANEWISE_FUNCTION register_sums(const Team& team, scratch& shared, const Ranges& ranges,
                                  index_range piece)
      : team_(team),
        shared_(shared),
        here_(shared.warp[team.warp_index()]),
        piece_(piece_of_warp(team, ranges, ranges.count, ranges.items, piece)),
        range_(piece_.begin.ends),
        at_(piece_.begin.items) {}

  /// Sums up what is here, and writes the ranges that began in this warp's piece.
  template <class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void reduce(const Ranges& ranges, const Source& source, const Sink& sink,
                                const T& init, Op op) {
    if (piece_.is_ordered()) {
      walk(ranges, source, sink, init, op);
    } else {
      bad_ = 1;
    }
    const auto warp = team_.warp();
    const auto mine = state::of(piece_.is_ordered() && piece_.begin.ends < piece_.end.ends, open_);
    state* per_warp = shared_.per_warp.data();
    warp.once([&] { per_warp[team_.warp_index()] = mine; });
    team_.barrier();
    fold_warps(team_, per_warp, Team::warps, join_sums<T, Op>{op}, before_, total_);
  }

  LANEWISE_FUNCTION const state& total() const { return total_; }

  /// How many of the ranges that this warp has seen are bad; one where they are so bad that the
  /// path has no order.
  LANEWISE_FUNCTION std::uint64_t bad() const { return bad_; }

  /// Writes the range that may have begun in front of this warp's piece.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void write_first(const Sink& sink, const maybe<state>& before, const T& init,
                                     Op op) const {
    if (!piece_.is_ordered() || piece_.begin.ends == piece_.end.ends) return;
    maybe<T> sum = first_;
    if (before_.present) sum = join(before_.value.value(), sum, op);
    if (before.present && !(before_.present && before_.value.ended()))
      sum = join(before.value.value(), sum, op);
    const T result = join({init, true}, sum, op).value;
    team_.warp().once([&] { sink(piece_.begin.ends, result); });
  }

 private:
  template <class U>
  using lanes = typename warp_type::template lanes<U>;
  using bits = typename warp_type::bits;
  static constexpr std::int64_t nowhere = std::int64_t{1} << 62;

  /// As many ranges' ends as are asked for together, one in each lane at a time, as they are in
  /// memory: what is done with them waits for them.
  static constexpr int at_once = 2;
  struct raw_ends {
    lanes<std::int64_t> end[at_once];
  };
  template <class Ranges>
  LANEWISE_FUNCTION raw_ends ask_for_ends(const Ranges& ranges, std::int64_t r) const {
    raw_ends some;
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) some.end[k] = ask_for_end(ranges, r + k * width);
    return some;
  }
  template <class Ranges>
  LANEWISE_FUNCTION lanes<std::int64_t> ask_for_end(const Ranges& ranges, std::int64_t r) const {
    return team_.warp().map(
        [&](std::uint32_t l) {
          return r + l < piece_.end.ends ? ranges.raw(r + l) : std::int64_t{0};
        },
        lane_);
  }
  /// Where ranges r, r + 1, ... end; nowhere behind the last of the piece.
  template <class Ranges>
  LANEWISE_FUNCTION lanes<std::int64_t> ends_of(const Ranges& ranges, std::int64_t r,
                                                const lanes<std::int64_t>& raw) const {
    return team_.warp().map(
        [&](std::uint32_t l, std::int64_t offset) {
          // Ends that are out of order are cut.
          const std::int64_t end = ranges.from_raw(offset);
          const std::int64_t in_piece = end < piece_.end.items ? end : piece_.end.items;
          return r + l < piece_.end.ends ? in_piece : nowhere;
        },
        lane_, raw);
  }

  template <class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void walk(const Ranges& ranges, const Source& source, const Sink& sink,
                              const T& init, Op op) {
    // Tiles end where packs of the array do.
    const std::int64_t shift = ranges.first + items_in_front_of_pack(source);
    std::int64_t next_end =
        team_.warp().broadcast(ends_of(ranges, range_, ask_for_end(ranges, range_)), 0);
    do {
      const std::int64_t behind = ((at_ + shift) / tile + 1) * tile - shift;
      const std::int64_t limit = behind < piece_.end.items ? behind : piece_.end.items;
      if (next_end > limit && limit - at_ == tile && is_commutative<Op, T>) {
        add_whole_tiles(source, ranges.first, next_end, op);
      } else {
        next_end = sum_up_tile(ranges, source, sink, limit, init, op);
      }
    } while (at_ < piece_.end.items);
    close_lanes(op);
  }

  template <class Source>
  static LANEWISE_FUNCTION std::int64_t items_in_front_of_pack(const Source& source) {
    if constexpr (Source::contiguous) {
      using raw = typename Source::raw_type;
      constexpr std::uintptr_t bytes = sizeof(pack<raw, pack_items<T, items_per_lane>>);
      return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(source.data) % bytes /
                                       sizeof(raw));
    } else {
      return 0;
    }
  }

  /// A tile by this warp alone.
  using rows = register_rows<lone_warp<warp_type>, T, items_per_lane>;

  /// Adds the tiles in front of that end to every lane's sum.
  template <class Source, class Op>
  LANEWISE_FUNCTION void add_whole_tiles(const Source& source, std::int64_t first, std::int64_t end,
                                         Op op) {
    const auto warp = team_.warp();
    const lone_warp<warp_type> alone{team_.warp()};
    const std::int64_t last = end <= piece_.end.items ? end - 1 : piece_.end.items;
    for (; at_ + tile <= last; at_ += tile) {
      const rows in(alone, source, first + at_, first + at_ + tile);
      LANEWISE_UNROLL
      for (int j = 0; j < rows::rows; ++j) {
        const bool fresh = j == 0 && !lanes_open_;
        warp.each(
            [&](T& sum, const auto& p) {
              sum = fresh ? p[0] : op(sum, p[0]);
              LANEWISE_UNROLL
              for (int c = 1; c < rows::v; ++c) sum = op(sum, p[c]);
            },
            lane_sum_, in.row(j));
      }
      lanes_open_ = true;
    }
  }

  /// Takes the lanes' sums together.
  template <class Op>
  LANEWISE_FUNCTION void close_lanes(Op op) {
    if constexpr (is_commutative<Op, T>) {
      if (!lanes_open_) return;
      open_ = join(open_, maybe<T>{team_.warp().reduce(lane_sum_, op), true}, op);
      lanes_open_ = false;
    }
  }

  /// Sums up the items in front of limit and what ends up to there, and returns where the next
  /// range ends.
  template <class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION std::int64_t sum_up_tile(const Ranges& ranges, const Source& source,
                                             const Sink& sink, std::int64_t limit, const T& init,
                                             Op op) {
    const auto warp = team_.warp();
    const auto count = static_cast<std::uint32_t>(limit - at_);
    close_lanes(op);
    // Asked for together with the items.
    const raw_ends some = ask_for_ends(ranges, range_);
    warp.store(reinterpret_cast<marks*>(here_.mark.data()), lanes<marks>(marks{}));
    if (count == tile) {
      stage_whole(source, ranges.first + at_);
    } else {
      stage_some(source, ranges.first + at_, count);
    }
    warp.fence();
    std::int64_t next_end;
    const std::int64_t behind = mark_ends(ranges, some, limit, next_end);
    warp.fence();
    if (count == tile) {
      sum_up_lanes<true>(count, op);
    } else if (count > 0) {
      sum_up_lanes<false>(count, op);
    }
    warp.fence();
    write_ended(ranges, sink, behind, limit, init, op);
    warp.fence();
    range_ = behind;
    at_ = limit;
    return next_end;
  }

  template <class Source>
  LANEWISE_FUNCTION void stage_whole(const Source& source, std::int64_t first) const {
    const lone_warp<warp_type> alone{team_.warp()};
    const rows in(alone, source, first, first + tile);
    T* const value = here_.value.data();
    LANEWISE_UNROLL
    for (int j = 0; j < rows::rows; ++j) {
      team_.warp().each(
          [&](std::uint32_t l, const auto& p) {
            LANEWISE_UNROLL
            for (int c = 0; c < rows::v; ++c)
              value[place(j * rows::row_items + l * rows::v + c)] = p[c];
          },
          lane_, in.row(j));
    }
  }
  template <class Source>
  LANEWISE_FUNCTION void stage_some(const Source& source, std::int64_t first,
                                    std::uint32_t count) const {
    T* const value = here_.value.data();
    team_.warp().each(
        [&](std::uint32_t l) {
          LANEWISE_UNROLL
          for (std::uint32_t i = l; i < tile; i += width) {
            if (i < count) value[place(i)] = source(first + i);
          }
        },
        lane_);
  }

  /// Marks the last items of the ranges that end up to limit, of which the first are known. Returns
  /// the first range that does not, and where that one ends.
  template <class Ranges>
  LANEWISE_FUNCTION std::int64_t mark_ends(const Ranges& ranges, raw_ends some, std::int64_t limit,
                                           std::int64_t& next_end) {
    const auto warp = team_.warp();
    std::int64_t before = at_;
    for (std::int64_t r = range_;; some = ask_for_ends(ranges, r)) {
      LANEWISE_UNROLL
      for (int k = 0; k < at_once; ++k) {
        const auto end = ends_of(ranges, r, some.end[k]);
        const bits beyond = warp.ballot(end > lanes<std::int64_t>(limit));
        const int ended = beyond != 0 ? warp_type::lowest(beyond) : width;
        if (ended > 0) {
          mark_some(ranges, r, ended, before, end);
          before = warp.broadcast(end, ended - 1);
          r += ended;
        }
        if (ended < width) {
          next_end = warp.broadcast(end, ended);
          return r;
        }
      }
    }
  }
  /// The same of ranges r, ..., r + count - 1, and counts the bad ones.
  template <class Ranges>
  LANEWISE_FUNCTION void mark_some(const Ranges& ranges, std::int64_t r, int count,
                                   std::int64_t before, const lanes<std::int64_t>& end) {
    const auto warp = team_.warp();
    std::uint8_t* const mark = here_.mark.data();
    const auto begin = select(lane_ == 0u, lanes<std::int64_t>(before), warp.shuffle_up(end, 1));
    warp.each(
        warp.template first<std::int64_t>(count) & (begin < end),
        [&](std::int64_t e) {
          if (e > at_) mark[e - at_ - 1] = 1;
        },
        end);
    const auto bad = warp.map(
        warp.template first<std::uint32_t>(count),
        [&](std::uint32_t l) { return static_cast<std::uint32_t>(ranges.is_bad(r + l)); },
        std::uint32_t{0}, lane_);
    bad_ += warp.count(bad != lanes<std::uint32_t>(0u));
  }

  /// The marks of a lane's items as bits.
  static LANEWISE_FUNCTION std::uint32_t bits_of(const marks& m) {
    std::uint32_t all = 0;
    LANEWISE_UNROLL
    for (int k = 0; k < marks::size; ++k) {
      // The four bytes, 0 or 1 each, meet in the highest byte of the product.
      all |= (m[k] * 0x01020408u) >> 24 << (4 * k);
    }
    return all;
  }

  /// Every lane sums up its items from mark to mark; the sums take the marked items' places, and
  /// what is behind the last mark becomes open_.
  template <bool full, class Op>
  LANEWISE_FUNCTION void sum_up_lanes(std::uint32_t count, Op op) {
    const auto warp = team_.warp();
    T* const value = here_.value.data();
    lanes<T> sum;
    lanes<std::uint32_t> open;
    const auto ends = warp.map([](const marks& m) { return bits_of(m); },
                               warp.load(reinterpret_cast<const marks*>(here_.mark.data())));
    warp.each(
        [&](T& s, std::uint32_t& is_open, std::uint32_t ends_here, std::uint32_t l) {
          // The first lane goes on with what the tiles in front left open.
          s = open_.value;
          bool present = l == 0 && open_.present;
          T* const mine = value + place(l * items_per_lane);
          LANEWISE_UNROLL
          for (int c = 0; c < items_per_lane; ++c) {
            if (!full && l * items_per_lane + c >= count) continue;
            T& item = mine[within(l, c)];
            const T x = item;
            if constexpr (is_commutative<Op, T>) {
              // Known operators do no harm to values that do not count.
              const T joined = op(s, x);
              s = present ? joined : x;
            } else {
              s = present ? op(s, x) : x;
            }
            item = s;
            present = ((ends_here >> c) & 1) == 0;
          }
          is_open = present ? 1 : 0;
        },
        sum, open, ends, lane_);
    // A lane begins anew behind one that left nothing open.
    const int used = full ? width : static_cast<int>((count + items_per_lane - 1) / items_per_lane);
    const bits is_ended = warp.ballot(ends != lanes<std::uint32_t>(0u));
    const bits is_open = warp.ballot(open != lanes<std::uint32_t>(0u));
    const auto upto = warp.segmented_scan(sum, is_ended | ~is_open << 1, op, used);
    const auto left = warp.shuffle_up(upto, 1);
    // The first sum of a lane has begun in the lanes in front, if those left it open.
    warp.each(
        warp.template mask_of<T>(is_ended & is_open << 1),
        [&](const T& in_front, std::uint32_t ends_here, std::uint32_t l) {
          const auto c = static_cast<std::uint32_t>(warp_type::lowest(ends_here));
          T& first = value[place(l * items_per_lane + c)];
          first = op(in_front, first);
        },
        left, ends, lane_);
    const int last = used - 1;
    open_ = {warp.broadcast(upto, last), ((is_open >> last) & 1) != 0};
  }

  /// Writes the results of the ranges up to `behind`. The first range of the piece is kept.
  template <class Ranges, class Sink, class Op>
  LANEWISE_FUNCTION void write_ended(const Ranges& ranges, const Sink& sink, std::int64_t behind,
                                     std::int64_t limit, const T& init, Op op) {
    const auto warp = team_.warp();
    T* const value = here_.value.data();
    std::int64_t before = at_;
    for (std::int64_t r = range_; r < behind; r += width) {
      const auto end = ends_of(ranges, r, ask_for_end(ranges, r));
      const auto begin = select(lane_ == 0u, lanes<std::int64_t>(before), warp.shuffle_up(end, 1));
      lanes<maybe<T>> sum;
      warp.each(
          [&](maybe<T>& s, std::int64_t b, std::int64_t e, std::uint32_t l) {
            s = {{}, false};
            if (r + l >= behind) return;
            if (b < e && e > at_ && e <= limit)
              s = {value[place(static_cast<std::uint32_t>(e - at_ - 1))], true};
            if (r + l > piece_.begin.ends) sink(r + l, join({init, true}, s, op).value);
          },
          sum, begin, end, lane_);
      if (r == piece_.begin.ends) first_ = warp.broadcast(sum, 0);
      before = warp.broadcast(end, width - 1);
    }
  }

  const Team& team_;
  scratch& shared_;
  warp_scratch& here_;
  const path_piece piece_;
  const lanes<std::uint32_t> lane_ = team_.warp().lane();
  /// How far the warp has come.
  std::int64_t range_;
  std::int64_t at_;
  /// What the items behind the last end come to, and those of whole tiles behind them.
  maybe<T> open_{{}, false};
  lanes<T> lane_sum_;
  bool lanes_open_ = false;
  /// What the range that ends first has in this piece.
  maybe<T> first_{{}, false};
  std::uint64_t bad_ = 0;
  /// What the warps in front of this one hand on.
  maybe<state> before_{{}, false};
  state total_ = state::of(false, {{}, false});
};

}  // namespace detail
LANEWISE_END_NAMESPACE
