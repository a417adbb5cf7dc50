// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/kept_local.hpp>
#include <lanewise/segments/detail/range_carry.hpp>
#include <lanewise/tile/stream/tile.hpp>
#include <lanewise/warp/search.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

template <class Op, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<Op, Others> || ...);

/// Operators for which there is an item that changes nothing in a combination with init.
template <class Op, class T>
inline constexpr bool can_pad = std::is_arithmetic_v<T>&&
    is_one_of<Op, plus, multiplies, minimum, maximum, bit_and, bit_or, bit_xor>;
template <class Op, class T>
LANEWISE_FUNCTION T padding(const T& init) {
  if constexpr (is_one_of<Op, plus, bit_xor>) return T(0);
  if constexpr (is_one_of<Op, multiplies>) return T(1);
  return init;
}

/// Items i, ..., i + n - 1 of a source in the first n <= W lanes.
template <class W, class Source, class T>
LANEWISE_FUNCTION auto load_part(const W& warp, const Source& source, std::int64_t i,
                                 std::int64_t n, const T& otherwise) {
  using raw = typename Source::raw_type;
  const auto exists = warp.template first<raw>(static_cast<int>(n));
  if constexpr (requires { source.f.is_identity; }) {
    return warp.load(exists, source.data + i, otherwise);
  } else {
    return warp.map(
        exists, [&](const raw& x) LANEWISE_INLINE_LAMBDA { return source.from_raw(x); }, otherwise,
        warp.load(exists, source.data + i, raw{}));
  }
}

/// How a host loads some items of a source at once, the others being `otherwise`. A source that has
/// no array of items, but can be loaded so, specialises this.
template <class Source>
struct loads_of_lanes {
  static constexpr bool exist = Source::contiguous;

  template <class W, class T>
  static LANEWISE_FUNCTION auto part(const W& warp, const Source& source, std::int64_t i,
                                     std::int64_t n, const T& otherwise) {
    return detail::load_part(warp, source, i, n, otherwise);
  }
  template <class W, class T>
  static LANEWISE_FUNCTION auto whole(const W& warp, const Source& source, std::int64_t i,
                                      const T&) {
    return detail::load_window<true>(warp, source, i);
  }
};

/// Reduces n items from item i on, and padding. Where they fit a window, no branch depends on how
/// many they are: lengths of neighbouring ranges cannot be predicted.
template <class T, class W, class Source, class Op>
LANEWISE_FUNCTION T reduce_padded(const W& warp, const Source& source, std::int64_t i,
                                  std::int64_t n, Op op, const T& pad) {
  constexpr std::int64_t width = W::width;
  using loads = loads_of_lanes<Source>;
  if (n <= width) return warp.reduce(loads::part(warp, source, i, n, pad), op);
  auto sum = loads::whole(warp, source, i, pad);
  const std::int64_t last = i + n;
  for (i += width; i + width <= last; i += width)
    sum = warp.map(op, sum, loads::whole(warp, source, i, pad));
  return warp.reduce(warp.map(op, sum, loads::part(warp, source, i, last - i, pad)), op);
}

/// Sums up ranges that are in order, one by one. As little is done for each as can be: most have a
/// few items. A function of its own has registers for all that the loop needs.
template <class T, class W, class Ranges, class Source, class Sink, class Op>
LANEWISE_LOOP_FUNCTION void fold_ranges(const W& warp, const Ranges& all, index_range which,
                                        const Source& source, const Sink& sink, const T& init,
                                        Op op) {
  constexpr std::int64_t many = 64;  // are worth a branch that is not predicted
  kept_local<Ranges> ranges = all;
  kept_local<Source> items = source;
  kept_local<Sink> sums = sink;
  const T first = init;
  std::int64_t i = ranges.offset(which.begin);
  for (std::int64_t r = which.begin; r < which.end; ++r) {
    const std::int64_t last = ranges.offset(r + 1);
    T sum = first;
    if (last - i >= many) {
      sum = op(sum, detail::reduce_stream<T>(warp, source, i, last, op).value);
      i = last;
    }
    for (; i < last; ++i) sum = op(sum, items(i));
    sums(r, sum);
  }
}

/// The sums of the ranges that end in a piece of the path through ends and items, by one thread:
/// range by range, each of them streamed.
template <class Team, class T, std::int64_t steps_>
class host_sums {
 public:
  static constexpr std::int64_t steps = steps_;
  /// Ranges are cut into pieces always: a thread that comes to few of them has little to wait for.
  struct whole {
    static constexpr std::int64_t most_beyond = 0;
  };
  struct scratch {};

  static LANEWISE_FUNCTION std::int64_t path(std::int64_t ranges, std::int64_t items) {
    return ranges + items;
  }
  /// As many pieces as tiles, which threads take as they come to them.
  static LANEWISE_FUNCTION std::int64_t pieces(std::int64_t path, std::int64_t) {
    return divide_up(path, steps);
  }

  template <class Ranges>
  LANEWISE_FUNCTION host_sums(const Team& team, scratch&, const Ranges& ranges, index_range piece)
      : team_(team),
        piece_(lanewise::cut_path(team.warp(), ranges, ranges.count, ranges.items, piece.begin,
                                  piece.end)) {
    if (!piece_.is_ordered()) piece_.end = piece_.begin;
  }

  /// How many ranges are bad of this piece's share of them. Which ones end here is another
  /// question, whose answers overlap where ends are out of order.
  template <class Ranges>
  LANEWISE_FUNCTION std::uint64_t bad(const Ranges& ranges, std::int64_t piece,
                                      std::int64_t pieces) const {
    return ranges.count_bad(lanewise::even_share(ranges.count, piece, pieces));
  }

  /// Sums up what is here, and writes the ranges that began here.
  template <class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void reduce(const Ranges& ranges, const Source& source, const Sink& sink,
                                const T& init, Op op) {
    std::int64_t i = piece_.begin.items;
    const bool any = piece_.begin.ends < piece_.end.ends;
    if (any) first_ = sum_up_to(ranges(piece_.begin.ends), i, ranges.first, source, op);
    const index_range whole{piece_.begin.ends + 1, piece_.end.ends};
    if constexpr (Source::contiguous && can_pad<Op, T>) {
      // Windows that hold most of the ranges whole. (Zen 5: 3 to 5 ns per short range.)
      const std::int64_t ends = piece_.end.ends - piece_.begin.ends;
      const std::int64_t items = piece_.end.items - piece_.begin.items;
      if (items <= 4 * ends) {
        whole_ranges<8>(ranges, source, sink, init, op, i);
      } else if (items <= 10 * ends || sizeof(T) > 4) {
        whole_ranges<16>(ranges, source, sink, init, op, i);
      } else {
        whole_ranges<32>(ranges, source, sink, init, op, i);
      }
    } else {
      const bool in_order = is_in_order(ranges, whole, i);
      const std::int64_t last = in_order ? ranges.offset(whole.end) - ranges.first : i;
      if (in_order && pays_windows<Source, Op>(ranges, whole, last - i)) {
        if constexpr (loads_of_lanes<Source>::exist && can_pad<Op, T>) {
          if (last - i <= 6 * (whole.end - whole.begin))
            whole_ranges<8>(ranges, source, sink, init, op, i);
          else
            whole_ranges<16>(ranges, source, sink, init, op, i);
        }
      } else if (in_order) {
        detail::fold_ranges(team_.warp(), ranges, whole, source, sink, init, op);
        i = last;
      } else {
        for (std::int64_t r = whole.begin; r < whole.end; ++r) {
          const maybe<T> sum = sum_up_to(ranges(r), i, ranges.first, source, op);
          sink(r, detail::join({init, true}, sum, op).value);
        }
      }
    }
    total_ = segment_carry<T>::of(any, sum_up_to(piece_.end.items, i, ranges.first, source, op));
  }

  LANEWISE_FUNCTION const segment_carry<T>& total() const { return total_; }

  /// Writes the range that may have begun before the tile.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void write_first(const Sink& sink, const maybe<segment_carry<T>>& before,
                                     const T& init, Op op) const {
    if (piece_.end.ends == piece_.begin.ends) return;
    const maybe<T> sum = before.present ? detail::join(before.value.value(), first_, op) : first_;
    sink(piece_.begin.ends, detail::join({init, true}, sum, op).value);
  }

 private:
  /// If items are not in order, nothing is taken twice.
  LANEWISE_FUNCTION std::int64_t cut(std::int64_t last, std::int64_t i) const {
    return last < i ? i : (last < piece_.end.items ? last : piece_.end.items);
  }

  /// Sums up items [i, last) and goes on to last.
  template <class Source, class Op>
  LANEWISE_FUNCTION maybe<T> sum_up_to(std::int64_t last, std::int64_t& i, std::int64_t shift,
                                       const Source& source, Op op) const {
    last = cut(last, i);
    const auto sum = detail::reduce_stream<T>(team_.warp(), source, shift + i, shift + last, op);
    i = last;
    return sum;
  }

  /// Whether ranges go on from item i as far as the piece goes.
  template <class Ranges>
  LANEWISE_FUNCTION bool is_in_order(const Ranges& ranges, index_range which,
                                     std::int64_t i) const {
    return which.begin < which.end && ranges.offset(which.begin) == ranges.first + i &&
           ranges.offset(which.end) <= ranges.first + piece_.end.items &&
           ranges.count_bad(which) == 0;
  }

  /// Whether ranges are better done by windows than item by item. Windows that are looked up take
  /// as long as a branch that is guessed wrong. So they pay where lengths differ from one range to
  /// the next; a few ranges tell whether they do. (One core, spmv: points near by take 0.66 of a
  /// plain loop by windows and 1.1 one by one, a square lattice 1.9 and 1.1.)
  template <class Source, class Op, class Ranges>
  LANEWISE_FUNCTION bool pays_windows(const Ranges& ranges, index_range which,
                                      std::int64_t items) const {
    if constexpr (!loads_of_lanes<Source>::exist || !can_pad<Op, T>) return false;
    const std::int64_t n = which.end - which.begin;
    if (2 * items < 5 * n) return false;
    const std::int64_t some = n < 512 ? n : 512;
    return 4 * ranges.count_uneven({which.begin, which.begin + some}) >
           static_cast<std::uint64_t>(some);
  }

  template <int width, class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void whole_ranges(const Ranges& ranges, const Source& source, const Sink& sink,
                                      const T& init, Op op, std::int64_t& i) const {
    const typename Team::template narrow_warp<width> window;
    const T pad = detail::padding<Op>(init);
    for (std::int64_t r = piece_.begin.ends + 1; r < piece_.end.ends; ++r) {
      const std::int64_t last = cut(ranges(r), i);
      const std::int64_t n = last - i;
      const std::int64_t at = ranges.first + i;
      i = last;
      if constexpr (Source::contiguous) {
        // Processors look ahead less far while they compute.
        constexpr std::int64_t ahead = page_bytes / sizeof(typename Source::raw_type);
        window.prefetch(window.template first<std::uint32_t>(1), source.data + at + ahead,
                        window.lane());
      }
      if (n < 16 * width) {
        sink(r, op(init, detail::reduce_padded(window, source, at, n, op, pad)));
      } else {
        sink(r, op(init, detail::reduce_stream<T>(team_.warp(), source, at, at + n, op).value));
      }
    }
  }

  const Team& team_;
  path_piece piece_;
  maybe<T> first_{{}, false};
  segment_carry<T> total_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
