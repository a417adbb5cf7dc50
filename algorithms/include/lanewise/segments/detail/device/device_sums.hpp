// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/segments/detail/device/few_segments_reduction.hpp>
#include <lanewise/segments/detail/range_carry.hpp>
#include <lanewise/tile/expansion.hpp>
#include <lanewise/tile/fixed_tree.hpp>

#include <bit>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The sums of the ranges that end in a piece of the path through ends and items, by a team of
/// several warps. Each warp walks through a piece of its own and waits for no other before the end.
///
/// A warp looks at many ends at once and takes a tile of items at a time. A tile in which no range
/// ends is added to a sum in every lane as it comes. In other tiles the last item of every range is
/// marked. Every lane sums up neighbouring items from mark to mark, and a segmented scan over the
/// lanes hands on what is left open. The sums take the places of the marked items, where their
/// ranges find them. Where ranges without items follow each other, nothing but their ends is read.
template <class Team, class T, int items_per_lane>
class device_sums {
 public:
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr std::int64_t tile = items_per_lane * width;
  /// What a team should have at least: where items are few, it pays to give many warps some.
  static constexpr std::int64_t steps = tile / 2 * Team::warps;
  using state = segment_carry<T>;
  /// For ranges that are few and short.
  using whole = few_segments_reduction<Team, T, items_per_lane>;

  /// An end comes with 8 bytes of offset and with a result: `weight` is the number of items that
  /// are as many bytes. With small items it is not bytes that take time.
  static constexpr int weight = 1 + (sizeof(T) < 4 ? 2 : static_cast<int>(8 / sizeof(T)));
  static LANEWISE_FUNCTION std::int64_t path(std::int64_t ranges, std::int64_t items) {
    return weight * ranges + items;
  }
  /// One piece for every team of the league.
  static LANEWISE_FUNCTION std::int64_t pieces(std::int64_t path, std::int64_t league) {
    const std::int64_t most = divide_up(path, steps);
    return most < league ? most : league;
  }

 private:
  /// A tile by this warp alone.
  using rows = register_tile<lone_warp<warp_type>, T, items_per_lane>;
  static constexpr int v = rows::v;
  using packs = pack<T, v>;
  // After every 128 bytes the place of a pack is left out, so that lanes that walk side by side
  // meet different banks.
  static constexpr std::uint32_t line =
      sizeof(packs) <= 64 ? std::bit_floor(128 / sizeof(packs)) : tile / v;
  static LANEWISE_FUNCTION constexpr std::uint32_t place(std::uint32_t p) { return p + p / line; }
  /// The places of a lane's packs after the first of them: a constant where none is left out.
  static LANEWISE_FUNCTION constexpr std::uint32_t within(std::uint32_t l, std::uint32_t p) {
    if (line % rows::rows == 0) return p;
    return place(l * rows::rows + p) - place(l * rows::rows);
  }

  // A byte per item. A lane reads four bytes at a time.
  static_assert(items_per_lane % 4 == 0 && items_per_lane <= 32, "a lane's marks are one word");
  using marks = pack<std::uint32_t, items_per_lane / 4>;

  /// The ends that a warp looks at: the number that the items of a tile can have. It asks for
  /// rows_at_once rows of them together.
  static constexpr int window = items_per_lane * width;
  static constexpr int rows_at_once = items_per_lane < 8 ? items_per_lane : 8;
  /// Ends are counted from a near item on, in 16 bits; this is what all that lie farther away are.
  static constexpr std::uint32_t far = 0xffff;
  static_assert(std::has_single_bit(static_cast<std::uint64_t>(tile)) && 2 * tile < far / 2);

  struct warp_scratch {
    raw_array<packs, tile / v + tile / v / line> value;
    alignas(16) raw_array<std::uint8_t, tile> mark;
    /// The begin of the window's first range, then the ends of its ranges.
    raw_array<std::uint16_t, window + 1> end;
  };

 public:
  struct scratch {
    warp_scratch warp[Team::warps];
    raw_array<state, Team::warps> per_warp;
    typename whole::scratch apart;
  };

  template <class Ranges>
  LANEWISE_FUNCTION device_sums(const Team& team, scratch& shared, const Ranges& ranges,
                                index_range piece)
      : team_(team),
        shared_(shared),
        here_(shared.warp[team.warp_index()]),
        piece_(detail::piece_of_warp<weight>(team, team.warp_index(), ranges, ranges.count,
                                             ranges.items, piece)),
        seen_begin_(piece_.begin.ends),
        near_(piece_.begin.items) {}

  /// Sums up what is here, and writes the ranges that began in this warp's piece.
  template <class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void reduce(const Ranges& ranges, const Source& source, const Sink& sink,
                                const T& init, Op op) {
    if (piece_.is_ordered()) {
      walk(ranges, source, sink, init, op);
    } else {
      saw_bad_ = true;
    }
    const auto warp = team_.warp();
    const auto mine = state::of(piece_.is_ordered() && piece_.begin.ends < piece_.end.ends, open_);
    state* per_warp = shared_.per_warp.data();
    warp.once([&] { per_warp[team_.warp_index()] = mine; });
    team_.barrier();
    detail::fold_warps(team_, per_warp, Team::warps, join_carries<T, Op>{op}, before_, total_);
  }

  LANEWISE_FUNCTION const state& total() const { return total_; }

  /// How many ranges are bad and this warp's to count, where the team has that one of the pieces.
  /// Cuts of ends that are out of order may be so, too: of the warps whose pieces go beyond a range
  /// the first one counts it. Only a warp that has seen a bad range reads where the others' pieces
  /// end.
  template <class Ranges>
  LANEWISE_FUNCTION std::uint64_t bad(const Ranges& ranges, std::int64_t piece,
                                      std::int64_t pieces) const {
    if (!saw_bad_) return 0;
    const auto warp = team_.warp();
    std::int64_t r = piece_.begin.ends;
    for (std::int64_t p = 0; p <= piece && r < piece_.end.ends; ++p) {
      const index_range of_team = lanewise::even_share(path(ranges.count, ranges.items), p, pieces);
      const int warps = p < piece ? Team::warps : team_.warp_index();
      for (int w = 0; w < warps; ++w) {
        const std::int64_t end =
            detail::piece_of_warp<weight>(team_, w, ranges, ranges.count, ranges.items, of_team)
                .end.ends;
        if (r < end) r = end;
      }
    }
    std::uint64_t n = 0;
    for (; r < piece_.end.ends; r += width) {
      const std::int64_t left = piece_.end.ends - r;
      const auto is_bad = warp.map(
          warp.template first<std::uint32_t>(left),
          [&](std::uint32_t l) {
            return std::uint32_t{ranges.is_bad(ranges.offset(r + l), ranges.offset(r + l + 1))};
          },
          0u, lane_);
      n += static_cast<std::uint64_t>(warp.count(is_bad != lanes<std::uint32_t>(0u)));
    }
    return n;
  }

  /// Writes the range that may have begun before this warp's piece.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void write_first(const Sink& sink, const maybe<state>& before, const T& init,
                                     Op op) const {
    if (!piece_.is_ordered() || piece_.begin.ends == piece_.end.ends) return;
    maybe<T> sum = first_;
    if (before_.present) sum = detail::join(before_.value.value(), sum, op);
    if (before.present && !(before_.present && before_.value.ended()))
      sum = detail::join(before.value.value(), sum, op);
    const T result = detail::join({init, true}, sum, op).value;
    team_.warp().once([&] { sink(piece_.begin.ends, result); });
  }

 private:
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using bits = typename warp_type::bits;
  static constexpr int tile_items = tile;

  template <class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void walk(const Ranges& ranges, const Source& source, const Sink& sink,
                              const T& init, Op op) {
    // Tiles end where packs of the array do.
    const std::int64_t shift = ranges.first + items_in_front_of_pack(source);
    for (;;) {
      if (sees_too_little()) look_at_ends(ranges);
      if (sees_all_ && next_ == seen_ && at_ == last_) break;
      // A tile goes no farther than the ends that are known.
      const int left =
          static_cast<int>(sees_all_ ? last_ : end_of_seen(seen_ - 1)) - static_cast<int>(at_);
      const auto past_line =
          static_cast<int>(static_cast<std::uint64_t>(near_ + at_ + shift) % tile);
      int count = left < tile_items ? (left < 0 ? 0 : left) : tile_items;
      // If ends are dense, what matters is that there are few tiles.
      if (left > tile_items && (sees_all_ || left > 2 * tile_items)) count -= past_line;
      // Asked of the unclamped number, as in register_tile.
      const bool is_whole = past_line == 0 && left >= tile_items;
      const std::uint32_t next_end = next_ < seen_ ? end_of_seen(next_) : last_ + 1;
      if (is_commutative<Op, T> && is_whole && next_end > at_ + tile_items) {
        add_whole_tiles(source, ranges.first + near_, next_end, op);
        continue;
      }
      const int before = next_;
      sum_up_tile(source, ranges.first + near_, sink, count, is_whole, init, op);
      if (count == 0) {
        if (next_ == before) {  // ends are out of order
          saw_bad_ = true;
          break;
        }
        write_empty(ranges, sink, init);
      }
    }
    close_lanes(op);
  }

  /// A quarter of a window of known ends is kept, so that few tiles are cut.
  LANEWISE_FUNCTION bool sees_too_little() const {
    return (!sees_all_ && seen_ - next_ <= window / 4) || at_ > far / 2;
  }
  LANEWISE_FUNCTION std::uint32_t end_of_seen(int i) const { return here_.end.data()[i + 1]; }

  /// Looks at a window of ends, and whether ranges are bad.
  template <class Ranges>
  LANEWISE_FUNCTION void look_at_ends(const Ranges& ranges) {
    const auto warp = team_.warp();
    seen_begin_ += next_;
    near_ += at_;
    next_ = 0;
    at_ = 0;
    const std::int64_t ends = piece_.end.ends - seen_begin_;
    const std::int64_t items = piece_.end.items - near_;
    seen_ = static_cast<int>(ends < window ? ends : window);
    sees_all_ = ends <= window;
    last_ = static_cast<std::uint32_t>(items < far ? items : far);
    warp.fence();
    lanes<std::uint32_t> bad(0u);
    constexpr int together = rows_at_once * width;
    for (int from = 0; from < seen_; from += together) {
      if (from + together <= seen_) {
        look_at_rows<true>(ranges, from, bad);
      } else {
        look_at_rows<false>(ranges, from, bad);
      }
    }
    warp.once([&] { here_.end.data()[0] = 0; });
    if (warp.any(bad != lanes<std::uint32_t>(0u))) saw_bad_ = true;
    warp.fence();
  }

  /// Looks at some rows of them. All rows are asked for before one is waited for.
  template <bool full, class Ranges>
  LANEWISE_FUNCTION void look_at_rows(const Ranges& ranges, int from,
                                      lanes<std::uint32_t>& bad) const {
    const auto warp = team_.warp();
    const std::int64_t first = seen_begin_ + from;
    const auto ask = [&](int k, int ahead) {
      return warp.map(
          warp.template first<std::uint32_t>(full ? width : seen_ - from - k * width),
          [&](std::uint32_t l) { return ranges.offset(first + k * width + l + ahead); },
          std::int64_t{0}, lane_);
    };
    lanes<std::int64_t> begin[rows_at_once], end[rows_at_once];
    LANEWISE_UNROLL
    for (int k = 0; k < rows_at_once; ++k) end[k] = ask(k, 1);
    // These come from the nearest cache. Compilers that keep registers free would ask for them, and
    // wait, before they ask for all of the others.
    warp.fence();
    LANEWISE_UNROLL
    for (int k = 0; k < rows_at_once; ++k) begin[k] = ask(k, 0);
    // Ends after the piece are cut, and so are ends that are out of order.
    const auto origin = static_cast<std::uint64_t>(ranges.first + near_);
    std::uint16_t* const to = here_.end.data() + 1 + from;
    LANEWISE_UNROLL
    for (int k = 0; k < rows_at_once; ++k) {
      warp.store(to + k * width, warp.map(
                                     [&](std::int64_t e) {
                                       const std::uint64_t n =
                                           static_cast<std::uint64_t>(e) - origin;
                                       return static_cast<std::uint16_t>(n < last_ ? n : last_);
                                     },
                                     end[k]));
      bad = bad | warp.map(
                      [&](std::int64_t b, std::int64_t e) {
                        return static_cast<std::uint32_t>(ranges.is_bad(b, e));
                      },
                      begin[k], end[k]);
    }
  }

  /// Writes ranges without items as long as there are many, which takes nothing but their ends.
  template <class Ranges, class Sink>
  LANEWISE_FUNCTION void write_empty(const Ranges& ranges, const Sink& sink, const T& init) {
    const auto warp = team_.warp();
    // Nothing else is in registers.
    constexpr int rows_here = 2 * rows_at_once;
    const std::int64_t here = ranges.first + near_ + at_;
    std::int64_t r = seen_begin_ + next_;
    if (ranges.offset(r) != here) return;
    for (; piece_.end.ends - r >= rows_here * width; r += rows_here * width) {
      lanes<std::int64_t> end[rows_here];
      LANEWISE_UNROLL
      for (int k = 0; k < rows_here; ++k) {
        end[k] =
            warp.map([&](std::uint32_t l) { return ranges.offset(r + k * width + l + 1); }, lane_);
      }
      warp.fence();  // as above
      lanes<std::uint32_t> is_other(0u);
      LANEWISE_UNROLL
      for (int k = 0; k < rows_here; ++k) {
        is_other =
            is_other | warp.map([&](std::int64_t e) { return std::uint32_t{e != here}; }, end[k]);
      }
      if (warp.any(is_other != lanes<std::uint32_t>(0u))) break;
      LANEWISE_UNROLL
      for (int k = 0; k < rows_here; ++k)
        warp.each([&](std::uint32_t l) { sink(r + k * width + l, init); }, lane_);
    }
    if (r == seen_begin_ + next_) return;
    // The window lies after.
    seen_begin_ = r;
    seen_ = next_ = 0;
    sees_all_ = false;
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

  /// Adds the tiles before that end to every lane's sum.
  template <class Source, class Op>
  LANEWISE_FUNCTION void add_whole_tiles(const Source& source, std::int64_t first,
                                         std::uint32_t end, Op op) {
    const auto warp = team_.warp();
    const lone_warp<warp_type> alone{team_.warp()};
    for (; at_ + tile_items < end; at_ += tile_items) {
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
      open_ = detail::join(open_, maybe<T>{team_.warp().reduce(lane_sum_, op), true}, op);
      lanes_open_ = false;
    }
  }

  /// Sums up `count` items, and writes what ends up to there as far as it is seen.
  template <class Source, class Sink, class Op>
  LANEWISE_FUNCTION void sum_up_tile(const Source& source, std::int64_t first, const Sink& sink,
                                     int count, bool is_whole, const T& init, Op op) {
    const auto warp = team_.warp();
    int after = 0;
    close_lanes(op);
    if (count > 0) warp.store(reinterpret_cast<marks*>(here_.mark.data()), lanes<marks>(marks{}));
    warp.fence();
    const auto mark = [&] {
      after = first_after(at_ + static_cast<std::uint32_t>(count));
      mark_ends(after);
    };
    if (is_whole) {
      stage_whole(source, first + at_, mark);
      warp.fence();
      sum_up_lanes<true>(static_cast<std::uint32_t>(count), op);
    } else {
      stage_some(source, first + at_, count, mark);
      warp.fence();
      const auto items = static_cast<std::uint32_t>(count);
      if (count > 0) sum_up_some(items, here_.end.data()[after] == at_ + items, op);
    }
    warp.fence();
    write_ended(sink, after, init, op);
    warp.fence();
    next_ = after;
    at_ += static_cast<std::uint32_t>(count);
  }

  /// Lays out the tile's items in scratch, and does something else until they come.
  template <class Source, class F>
  LANEWISE_FUNCTION void stage_whole(const Source& source, std::int64_t first, F meanwhile) const {
    const lone_warp<warp_type> alone{team_.warp()};
    const rows in(alone, source, first, first + tile);
    meanwhile();
    packs* const value = here_.value.data();
    LANEWISE_UNROLL
    for (int j = 0; j < rows::rows; ++j) {
      team_.warp().each(
          [&](std::uint32_t l, const packs& p) {
            value[place(static_cast<std::uint32_t>(j * width) + l)] = p;
          },
          lane_, in.row(j));
    }
  }
  template <class Source, class F>
  LANEWISE_FUNCTION void stage_some(const Source& source, std::int64_t first, int count,
                                    F meanwhile) const {
    const auto warp = team_.warp();
    lanes<T> in[items_per_lane];
    const auto load = [&](int k) {
      return [&source, at = first + k * width](std::uint32_t l) -> T { return source(at + l); };
    };
    if (count == tile_items) {
      LANEWISE_UNROLL
      for (int k = 0; k < items_per_lane; ++k) in[k] = warp.map(load(k), lane_);
    } else {
      LANEWISE_UNROLL
      for (int k = 0; k < items_per_lane; ++k) {
        in[k] =
            warp.map(warp.template first<std::uint32_t>(count - k * width), load(k), T{}, lane_);
      }
    }
    meanwhile();
    LANEWISE_UNROLL
    for (int k = 0; k < items_per_lane; ++k) {
      warp.each(
          [&](std::uint32_t l, const T& x) { item(static_cast<std::uint32_t>(k * width) + l) = x; },
          lane_, in[k]);
    }
  }
  /// The place at which an item of the tile is laid out.
  LANEWISE_FUNCTION T& item(std::uint32_t i) const {
    constexpr std::uint32_t in_line = line * v;
    return reinterpret_cast<T*>(here_.value.bytes)[i + i / in_line * v];
  }

  /// The number of the window's first range that does not end up to there.
  LANEWISE_FUNCTION int first_after(std::uint32_t to) const {
    const auto warp = team_.warp();
    const std::uint16_t* const end = here_.end.data() + 1;
    if (next_ == seen_ || end[seen_ - 1] <= to) return seen_;
    for (int i = next_;; i += width) {
      const auto beyond =
          warp.ballot(warp.map(
                          warp.template first<std::uint32_t>(seen_ - i),
                          [&](std::uint32_t l) {
                            return std::uint32_t{end[static_cast<std::uint32_t>(i) + l]};
                          },
                          ~0u, lane_) > lanes<std::uint32_t>(to));
      if (beyond != 0) return i + warp_type::lowest(beyond);
    }
  }

  /// Calls f(r, k) in lanes for the window's ranges from i on and before `after`. The k ranges of
  /// a lane are r and the following ones at distances of a warp's width.
  template <class F>
  LANEWISE_FUNCTION void for_seen(int i, int after, F f) const {
    const auto warp = team_.warp();
    constexpr int many = 4;
    for (; i + many * width <= after; i += many * width) {
      warp.each(
          [&](std::uint32_t l) { f(i + static_cast<int>(l), std::integral_constant<int, many>{}); },
          lane_);
    }
    for (; i < after; i += width) {
      warp.each(
          warp.template first<std::uint32_t>(after - i),
          [&](std::uint32_t l) { f(i + static_cast<int>(l), std::integral_constant<int, 1>{}); },
          lane_);
    }
  }

  /// Marks the last items of the window's ranges before `after`.
  LANEWISE_FUNCTION void mark_ends(int after) const {
    const std::uint16_t* const end = here_.end.data() + 1;
    std::uint8_t* const mark = here_.mark.data();
    for_seen(next_, after, [&](int r, auto together) {
      // All are read before one is written.
      std::uint32_t last[together.value];
      LANEWISE_UNROLL
      for (int k = 0; k < together.value; ++k) last[k] = end[r + k * width] - at_ - 1;
      // Ranges without items mark the last item before them, which is marked already.
      LANEWISE_UNROLL
      for (int k = 0; k < together.value; ++k) {
        if (last[k] < static_cast<std::uint32_t>(tile_items)) mark[last[k]] = 1;
      }
    });
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

  /// sum_up_lanes for some of the items, and whether a range ends after them.
  template <class Op>
  LANEWISE_FUNCTION void sum_up_some(std::uint32_t count, bool is_end, Op op) {
    if constexpr (is_commutative<Op, T>) {
      // Known operators do no harm to what does not count, which is after a mark.
      const auto warp = team_.warp();
      warp.once([&] { here_.mark.data()[count - 1] = 1; });
      warp.fence();
      sum_up_lanes<true>(count, op);
      warp.fence();
      open_ = {item(count - 1), !is_end};
    } else {
      sum_up_lanes<false>(count, op);
    }
  }

  /// Every lane sums up its items from mark to mark; the sums take the marked items' places, and
  /// what is after the last mark becomes open_.
  template <bool full, class Op>
  LANEWISE_FUNCTION void sum_up_lanes(std::uint32_t count, Op op) {
    const auto warp = team_.warp();
    packs* const value = here_.value.data();
    lanes<T> sum;
    lanes<std::uint32_t> open;
    const auto ends = warp.map([](const marks& m) { return bits_of(m); },
                               warp.load(reinterpret_cast<const marks*>(here_.mark.data())));
    warp.each(
        [&](T& s, std::uint32_t& is_open, std::uint32_t ends_here, std::uint32_t l) {
          // The first lane goes on with what the tiles in front left open.
          s = open_.value;
          bool present = l == 0 && open_.present;
          packs* const mine = value + place(l * rows::rows);
          LANEWISE_UNROLL
          for (int q = 0; q < rows::rows; ++q) {
            packs p = mine[within(l, static_cast<std::uint32_t>(q))];
            LANEWISE_UNROLL
            for (int c = 0; c < v; ++c) {
              if (!full && l * items_per_lane + static_cast<std::uint32_t>(q * v + c) >= count)
                continue;
              if constexpr (is_commutative<Op, T>) {
                // Known operators do no harm to values that do not count.
                const T joined = op(s, p[c]);
                s = present ? joined : p[c];
              } else {
                s = present ? op(s, p[c]) : p[c];
              }
              p[c] = s;
              present = ((ends_here >> (q * v + c)) & 1) == 0;
            }
            mine[within(l, static_cast<std::uint32_t>(q))] = p;
          }
          is_open = present ? 1 : 0;
        },
        sum, open, ends, lane_);
    // A lane begins anew after one that left nothing open.
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
          T& first = item(l * items_per_lane + c);
          first = op(in_front, first);
        },
        left, ends, lane_);
    const int last = used - 1;
    open_ = {warp.broadcast(upto, last), ((is_open >> last) & 1) != 0};
  }

  /// Writes the results of the window's ranges before `after`, which find their sums in the
  /// tile. The first range of the piece is kept.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void write_ended(const Sink& sink, int after, const T& init, Op op) {
    const std::uint16_t* const begin = here_.end.data();
    int i = next_;
    const auto sum_of = [&](int r) -> maybe<T> {
      const std::uint32_t last = begin[r + 1] - at_ - 1;
      const bool has_items =
          begin[r] < begin[r + 1] && last < static_cast<std::uint32_t>(tile_items);
      return {item(has_items ? last : 0), has_items};
    };
    if (seen_begin_ + i == piece_.begin.ends && i < after) first_ = sum_of(i++);
    for_seen(i, after, [&](int r, auto together) {
      maybe<T> sum[together.value];
      LANEWISE_UNROLL
      for (int k = 0; k < together.value; ++k) sum[k] = sum_of(r + k * width);
      LANEWISE_UNROLL
      for (int k = 0; k < together.value; ++k)
        sink(seen_begin_ + r + k * width, sum[k].present ? op(init, sum[k].value) : init);
    });
  }

  const Team& team_;
  scratch& shared_;
  warp_scratch& here_;
  const path_piece piece_;
  const lanes<std::uint32_t> lane_ = team_.warp().lane();
  /// The window: its first range, how many there are, which of them is the next to end, and whether
  /// none is left over them.
  std::int64_t seen_begin_;
  int seen_ = 0;
  int next_ = 0;
  bool sees_all_ = false;
  /// The item from which on ends are counted. From there on: where the warp is, and its last item.
  std::int64_t near_;
  std::uint32_t at_ = 0;
  std::uint32_t last_ = 0;
  /// What the items after the last end come to, and those of whole tiles after them.
  maybe<T> open_{{}, false};
  lanes<T> lane_sum_;
  bool lanes_open_ = false;
  /// What the range that ends first has in this piece.
  maybe<T> first_{{}, false};
  bool saw_bad_ = false;
  /// What the warps before this one hand on.
  maybe<state> before_{{}, false};
  state total_ = state::of(false, {{}, false});
};

}  // namespace detail
LANEWISE_END_NAMESPACE
