// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/host_tile.hpp>
#include <lanewise/detail/sums/carry.hpp>
#include <lanewise/search.hpp>

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

/// Reduces n items from item i on, and padding. Where they fit a window, no branch depends on how
/// many they are: lengths of neighbouring ranges cannot be predicted.
template <class T, class W, class Source, class Op>
LANEWISE_FUNCTION T reduce_padded(const W& warp, const Source& source, std::int64_t i,
                                  std::int64_t n, Op op, const T& pad) {
  constexpr std::int64_t width = W::width;
  if (n <= width) return warp.reduce(detail::load_part(warp, source, i, n, pad), op);
  auto sum = detail::load_window<true>(warp, source, i);
  const std::int64_t last = i + n;
  for (i += width; i + width <= last; i += width)
    sum = warp.map(op, sum, detail::load_window<true>(warp, source, i));
  return warp.reduce(warp.map(op, sum, detail::load_part(warp, source, i, last - i, pad)), op);
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
    const index_range mine = lanewise::even_share(ranges.count, piece, pieces);
    std::uint64_t n = 0;
    for (std::int64_t r = mine.begin; r < mine.end; ++r)
      n += ranges.is_bad(ranges.offset(r), ranges.offset(r + 1)) ? 1 : 0;
    return n;
  }

  /// Sums up what is here, and writes the ranges that began here.
  template <class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void reduce(const Ranges& ranges, const Source& source, const Sink& sink,
                                const T& init, Op op) {
    std::int64_t i = piece_.begin.items;
    const bool any = piece_.begin.ends < piece_.end.ends;
    if (any) first_ = sum_up_to(ranges(piece_.begin.ends), i, ranges.first, source, op);
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
      for (std::int64_t r = piece_.begin.ends + 1; r < piece_.end.ends; ++r) {
        const maybe<T> sum = sum_up_to(ranges(r), i, ranges.first, source, op);
        sink(r, detail::join({init, true}, sum, op).value);
      }
    }
    total_ = segment_carry<T>::of(any, sum_up_to(piece_.end.items, i, ranges.first, source, op));
  }

  LANEWISE_FUNCTION const segment_carry<T>& total() const { return total_; }

  /// Writes the range that may have begun in front of the tile.
  template <class Sink, class Op>
  LANEWISE_FUNCTION void write_first(const Sink& sink, const maybe<segment_carry<T>>& before,
                                     const T& init, Op op) const {
    if (piece_.end.ends == piece_.begin.ends) return;
    const maybe<T> sum = before.present ? detail::join(before.value.value(), first_, op) : first_;
    sink(piece_.begin.ends, detail::join({init, true}, sum, op).value);
  }

 private:
  /// Of items that are not in order nothing is taken twice.
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

  template <int width, class Ranges, class Source, class Sink, class Op>
  LANEWISE_FUNCTION void whole_ranges(const Ranges& ranges, const Source& source, const Sink& sink,
                                      const T& init, Op op, std::int64_t& i) const {
    const typename Team::template narrow_warp<width> window;
    const T pad = detail::padding<Op>(init);
    constexpr std::int64_t ahead = page_bytes / sizeof(typename Source::raw_type);
    for (std::int64_t r = piece_.begin.ends + 1; r < piece_.end.ends; ++r) {
      const std::int64_t last = cut(ranges(r), i);
      const std::int64_t n = last - i;
      const std::int64_t at = ranges.first + i;
      i = last;
      // Processors look ahead less far while they compute.
      window.prefetch(window.template first<std::uint32_t>(1), source.data + at + ahead,
                      window.lane());
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
