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
/// no array of items, but can be loaded so, specialises this. It also says from how many items a
/// range on that is faster than one by one, least_items<W>(). ask_ahead<W>(source, i) asks for what
/// items a page after item i are looked up by.
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

/// Sums up ranges one after the other, as long as they are in order and none ends after item
/// `limit`. Returns the first one that is not so, or which.end. As little is done for each as can
/// be: most have a few items. If `even`, four neighbours of one length are summed up side by side:
/// one loop for four, and no sum waits for another. A function of its own has registers for all
/// that the loops need.
template <class T, class W, class Ranges, class Source, class Sink, class Op>
LANEWISE_LOOP_FUNCTION std::int64_t fold_ranges(const W& warp, const Ranges& all, index_range which,
                                                std::int64_t limit, bool even, const Source& source,
                                                const Sink& sink, const T& init, Op op) {
  constexpr std::int64_t many = 64;  // are worth a branch that is not predicted
  kept_local<Ranges> ranges = all;
  kept_local<Source> items = source;
  kept_local<Sink> sums = sink;
  const T first = init;
  const auto ask_ahead = [&]([[maybe_unused]] std::int64_t item) LANEWISE_INLINE_LAMBDA {
    using loads = loads_of_lanes<Source>;
    if constexpr (requires { loads::template ask_ahead<W>(source, item); })
      loads::template ask_ahead<W>(items, item);
  };
  // Whether range r ends n items after item i: differences tell also where offsets decrease.
  const auto ends_after = [&](std::int64_t r, std::int64_t i,
                              std::uint64_t n) LANEWISE_INLINE_LAMBDA {
    return static_cast<std::uint64_t>(ranges.offset(r + 1)) - static_cast<std::uint64_t>(i) == n;
  };
  std::int64_t i = ranges.offset(which.begin), r = which.begin;
  // Long ranges are better streamed. To ask that of each took 1.25 of the time (Zen 5, g++ 12).
  const bool by_fours = even && limit - i < many * (which.end - which.begin);
  const std::int64_t last_four = by_fours ? which.end - 4 : which.begin - 1;
  while (r < which.end) {
    const std::uint64_t n =
        static_cast<std::uint64_t>(ranges.offset(r + 1)) - static_cast<std::uint64_t>(i);
    if (n > static_cast<std::uint64_t>(limit - i)) break;
    const auto each = static_cast<std::int64_t>(n);
    const std::int64_t last = i + each;
    if (r <= last_four && ends_after(r + 1, i, 2 * n) && ends_after(r + 2, i, 3 * n) &&
        ends_after(r + 3, i, 4 * n) && ranges.offset(r + 4) <= limit) {
      T a = first, b = first, c = first, d = first;
      for (; i < last; ++i) {
        ask_ahead(4 * i + 3 * (each - last));
        a = op(a, items(i));
        b = op(b, items(i + each));
        c = op(c, items(i + 2 * each));
        d = op(d, items(i + 3 * each));
      }
      i += 3 * each;
      sums(r, a);
      sums(r + 1, b);
      sums(r + 2, c);
      sums(r + 3, d);
      r += 4;
      continue;
    }
    ask_ahead(i);
    T sum = first;
    if (each >= many) {
      sum = op(sum, detail::reduce_stream<T>(warp, source, i, last, op).value);
      i = last;
    }
    for (; i < last; ++i) sum = op(sum, items(i));
    sums(r++, sum);
  }
  return r;
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
                                  piece.end)),
        cut_(piece_.end.ends) {
    if (!piece_.is_ordered()) piece_.end = piece_.begin;
  }

  /// How many ranges that end here are bad. Where ends are out of order, a piece may end before it
  /// begins: then it takes back what other pieces count once too often.
  template <class Ranges>
  LANEWISE_FUNCTION std::uint64_t bad(const Ranges& ranges, std::int64_t, std::int64_t) const {
    const std::int64_t begin = piece_.begin.ends;
    if (in_order_) return 0;
    return begin > cut_ ? 0 - ranges.count_bad({cut_, begin}) : ranges.count_bad({begin, cut_});
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
      const std::int64_t n = whole.end - whole.begin, items = piece_.end.items - i;
      const bool even = n <= 0 || is_even(ranges, whole);
      std::int64_t r = whole.begin;
      if (!even && pays_windows<Source, Op>(n, items)) {
        if constexpr (loads_of_lanes<Source>::exist && can_pad<Op, T>) {
          if (items <= 6 * n)
            whole_ranges<8>(ranges, source, sink, init, op, i);
          else
            whole_ranges<16>(ranges, source, sink, init, op, i);
          r = whole.end;
        }
      } else if (any && ranges.offset(r) == ranges.first + i) {
        r = detail::fold_ranges(team_.warp(), ranges, whole, ranges.first + piece_.end.items, even,
                                source, sink, init, op);
        i = ranges.offset(r) - ranges.first;
        in_order_ = r == whole.end &&
                    !ranges.is_bad(ranges.offset(piece_.begin.ends), ranges.offset(whole.begin));
      }
      for (; r < whole.end; ++r) {
        const maybe<T> sum = sum_up_to(ranges(r), i, ranges.first, source, op);
        sink(r, detail::join({init, true}, sum, op).value);
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

  /// Whether most ranges are as long as the one before them, as a few of them tell.
  template <class Ranges>
  LANEWISE_FUNCTION bool is_even(const Ranges& ranges, index_range which) const {
    const std::int64_t n = which.end - which.begin, some = n < 512 ? n : 512;
    return 4 * ranges.count_uneven({which.begin, which.begin + some}) <=
           static_cast<std::uint64_t>(some);
  }

  /// Whether ranges of different lengths are better done by windows than item by item. Windows that
  /// are looked up take as long as a branch that is guessed wrong. (One core, spmv: points near by
  /// take 0.66 of a plain loop by windows and 1.1 one by one, a square lattice 1.9 and 1.1.)
  template <class Source, class Op>
  static LANEWISE_FUNCTION bool pays_windows(std::int64_t n, std::int64_t items) {
    using warp_type = typename Team::warp_type;
    if constexpr (!loads_of_lanes<Source>::exist || !can_pad<Op, T>)
      return false;
    else
      return double(items) >= loads_of_lanes<Source>::template least_items<warp_type>() * double(n);
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
  std::int64_t cut_;  // ranges that end before the next piece
  bool in_order_ = false;
  maybe<T> first_{{}, false};
  segment_carry<T> total_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
