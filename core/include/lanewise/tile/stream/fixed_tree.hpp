// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/fixed_tree.hpp>
#include <lanewise/tile/stream/windows.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A block of the fixed tree that a team of one warp leaves where it is, in cache, as host_tile
/// does. A row is computed in columns: column c holds place c of every pack, so that all of its
/// operations are operations on whole lanes.
template <class Team, class T, class Source>
class host_fixed_tree_tile {
 public:
  using tree = fixed_tree<T>;

  LANEWISE_FUNCTION host_fixed_tree_tile(const Team& team, const Source& source, std::int64_t first,
                                         std::int64_t n)
      : warp_(team.warp()),
        source_(source),
        first_(first),
        last_(first + tree::block < n ? first + tree::block : n) {}

  LANEWISE_FUNCTION std::int64_t count() const { return last_ > first_ ? last_ - first_ : 0; }

  template <class Op>
  LANEWISE_FUNCTION void scan(Op op) {
    lanes totals;
    int segments = 0;
    for (std::int64_t at = first_; at < last_; at += tree::segment) {
      totals.lane[segments++] = segment_total(at, op);
    }
    segment_sums_ = warp_.scan_by_doubling(totals, op, segments);
    total_ = warp_.broadcast(segment_sums_, segments > 0 ? segments - 1 : 0);
  }
  LANEWISE_FUNCTION const T& total() const { return total_; }
  static constexpr bool stores_unscanned = false;
  template <class Op>
  LANEWISE_FUNCTION void prepare(Op op) {
    scan(op);
  }
  template <class Op>
  LANEWISE_FUNCTION T end(const maybe<T>& before, Op op) const {
    return before.present ? op(before.value, total_) : total_;
  }

  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_inclusive(const Sink& sink, const maybe<T>& before, Op op) {
    store<false>(sink, before, op);
  }
  template <class Sink, class Op>
  LANEWISE_FUNCTION void store_exclusive(const Sink& sink, const maybe<T>& before, Op op) {
    store<true>(sink, before, op);
  }

 private:
  using W = typename Team::warp_type;
  using lanes = lanes_t<W, T>;
  static constexpr int v = tree::pack;
  static_assert(W::width == tree::width);

  LANEWISE_FUNCTION std::int64_t segment_end(std::int64_t begin) const {
    return begin + tree::segment < last_ ? begin + tree::segment : last_;
  }

  // What follows knows whole rows and the last one, which may be short, by the parameter full:
  // columns of whole rows stay in registers. Their packs are in the warp's own order, those of
  // other rows from the first to the last.

  template <class Op>
  LANEWISE_FUNCTION T segment_total(std::int64_t begin, Op op) const {
    const std::int64_t end = segment_end(begin);
    maybe<T> sum{{}, false};
    std::int64_t i = begin;
    for (; i + tree::row <= end; i += tree::row) sum = joined(sum, row_total<true>(i, end, op), op);
    if (i < end) sum = joined(sum, row_total<false>(i, end, op), op);
    return sum.value;
  }

  template <bool full, class Op>
  LANEWISE_FUNCTION T row_total(std::int64_t i, std::int64_t end, Op op) const {
    lanes column[v];
    read<full>(i, end, column);
    scan_packs<full>(i, end, column, op);
    return warp_.broadcast(scan_row<full>(i, end, column, op), packs<full>(i, end) - 1);
  }

  template <bool exclusive, class Sink, class Op>
  LANEWISE_FUNCTION void store(const Sink& sink, const maybe<T>& before_block, Op op) {
    maybe<T> last{{}, false};
    for (std::int64_t begin = first_; begin < last_; begin += tree::segment) {
      maybe<T> before{{}, false};
      if (begin > first_) {
        const auto segments = static_cast<int>((begin - first_) / tree::segment);
        before = {warp_.broadcast(segment_sums_, segments - 1), true};
      }
      const std::int64_t end = segment_end(begin);
      std::int64_t i = begin;
      for (; i + tree::row <= end; i += tree::row) {
        store_row<exclusive, true>(sink, i, end, before, last, before_block, op);
      }
      if (i < end) store_row<exclusive, false>(sink, i, end, before, last, before_block, op);
    }
  }

  /// `before` is what the block has before the row, `last` the block's scan up to there; both
  /// become those of the next row.
  template <bool exclusive, bool full, class Sink, class Op>
  LANEWISE_FUNCTION void store_row(const Sink& sink, std::int64_t i, std::int64_t end,
                                   maybe<T>& before, maybe<T>& last, const maybe<T>& before_block,
                                   Op op) {
    lanes column[v];
    read<full>(i, end, column);
    scan_packs<full>(i, end, column, op);
    const int count = packs<full>(i, end);
    const lanes sums = scan_row<full>(i, end, column, op);
    const auto is_first = warp_.template first<T>(1);
    lanes prefix = one_up<full>(sums);
    if (before.present) {
      const lanes all(before.value);
      prefix = lanewise::select(is_first, all, combine<full>(count, all, prefix, op));
    }
    for (int c = v - 1; c >= 0; --c) {
      const lanes all = combine<full>(packs_with<full>(c, i, end), prefix, column[c], op);
      column[c] = before.present ? all : lanewise::select(is_first, column[c], all);
    }
    before = joined(before, warp_.broadcast(sums, count - 1), op);
    if constexpr (exclusive) {
      // Every item moves one place on.
      const lanes neighbour =
          lanewise::select(is_first, lanes(last.value), one_up<full>(column[v - 1]));
      if constexpr (full) last.value = warp_.broadcast(column[v - 1], count - 1);
      for (int c = v - 1; c > 0; --c) column[c] = column[c - 1];
      column[0] = neighbour;
    }
    if (before_block.present) {
      const lanes block(before_block.value);
      for (int c = 0; c < v; ++c) {
        const lanes all = combine<full>(packs_with<full>(c, i, end), block, column[c], op);
        // Nothing but the blocks in front is before the first item.
        const bool starts = exclusive && c == 0 && !last.present;
        column[c] = starts ? lanewise::select(is_first, block, all) : all;
      }
    }
    last.present = true;
    write<full>(sink, i, end, column);
  }

  /// Every lane's left neighbour's.
  template <bool full>
  LANEWISE_FUNCTION lanes one_up(const lanes& a) const {
    if constexpr (full) {
      return warp_.template column_up<v>(a);
    } else {
      return warp_.shuffle_up(a, 1);
    }
  }

  template <class Op>
  static LANEWISE_FUNCTION maybe<T> joined(const maybe<T>& a, const T& b, Op op) {
    return {a.present ? op(a.value, b) : b, true};
  }

  /// Packs of the row at i that have an item c.
  template <bool full>
  static LANEWISE_FUNCTION int packs_with(int c, std::int64_t i, std::int64_t end) {
    return full ? tree::width : static_cast<int>(divide_up(end - i - c, v));
  }
  template <bool full>
  static LANEWISE_FUNCTION int packs(std::int64_t i, std::int64_t end) {
    return packs_with<full>(0, i, end);
  }

  /// Folds packs from left to right.
  template <bool full, class Op>
  LANEWISE_FUNCTION void scan_packs(std::int64_t i, std::int64_t end, lanes (&column)[v],
                                    Op op) const {
    for (int c = 1; c < v; ++c) {
      column[c] = combine<full>(packs_with<full>(c, i, end), column[c - 1], column[c], op);
    }
  }

  /// The doubled totals of the packs.
  template <bool full, class Op>
  LANEWISE_FUNCTION lanes scan_row(std::int64_t i, std::int64_t end, const lanes (&column)[v],
                                   Op op) const {
    if constexpr (full) {
      return warp_.template scan_column<v>(column[v - 1], op);
    } else {
      lanes totals = column[v - 1];
      const int last = packs<full>(i, end) - 1;
      if ((end - i) % v != 0) totals.lane[last] = column[(end - i) % v - 1].lane[last];
      return warp_.scan_by_doubling(totals, op, last + 1);
    }
  }

  /// a op b in the first n lanes.
  template <bool full, class Op>
  LANEWISE_FUNCTION lanes combine(int n, const lanes& a, const lanes& b, Op op) const {
    if constexpr (full) {
      return warp_.map(op, a, b);
    } else {
      lanes r = b;
      for (int l = 0; l < n; ++l) r.lane[l] = op(a.lane[l], b.lane[l]);
      return r;
    }
  }

  template <bool full>
  LANEWISE_FUNCTION void read(std::int64_t i, std::int64_t end, lanes (&column)[v]) const {
    if constexpr (!full) {
      for (std::int64_t j = 0; j < end - i; ++j) {
        column[j % v].lane[j / v] = detail::rounded(T(source_(i + j)));
      }
    } else if constexpr (requires { source_.f.is_identity; }) {
      warp_.load_columns(source_.data + i, column);
    } else {
      alignas(64) alignas(T) T items[tree::row];
      for (int at = 0; at < tree::row; at += tree::width) {
        warp_.store(items + at, detail::load_window(warp_, source_, i + at));
      }
      // As rounded() does, for all of them. nvcc looks at it for the device, too, where an address
      // does not fit the constraint.
      KOKKOS_IF_ON_HOST((asm volatile("" : : "r"(items) : "memory");))
      warp_.load_columns(items, column);
    }
  }

  template <bool full, class Sink>
  LANEWISE_FUNCTION void write(const Sink& sink, std::int64_t i, std::int64_t end,
                               const lanes (&column)[v]) const {
    if constexpr (!full) {
      for (std::int64_t j = 0; j < end - i; ++j) sink(i + j, column[j % v].lane[j / v]);
    } else if constexpr (std::is_same_v<typename sink_value<Sink>::type, T>) {
      warp_.store_columns(sink.data + i, column);
    } else {
      alignas(64) alignas(T) T items[tree::row];
      warp_.store_columns(items, column);
      for (int j = 0; j < tree::row; ++j) sink(i + j, items[j]);
    }
  }

  const W warp_;
  const Source& source_;
  std::int64_t first_;
  std::int64_t last_;
  lanes segment_sums_;
  T total_{};
};

}  // namespace detail
LANEWISE_END_NAMESPACE
