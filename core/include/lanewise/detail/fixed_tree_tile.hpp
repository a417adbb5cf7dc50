// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/cache_tile.hpp>
#include <lanewise/detail/fixed_tree.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A block of the fixed tree that a team of one warp leaves where it is, in cache, as cache_tile
/// does. A row is computed in columns: column c holds place c of every pack, so that all of its
/// operations are operations on whole lanes.
template <class Team, class T, class Source>
class fixed_tree_tile {
 public:
  using tree = fixed_tree<T>;

  LANEWISE_FUNCTION fixed_tree_tile(const Team& team, const Source& source, std::int64_t first,
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
  using lanes = typename W::template lanes<T>;
  static constexpr int v = tree::pack;
  static_assert(W::width == tree::width);

  LANEWISE_FUNCTION std::int64_t segment_end(std::int64_t begin) const {
    return begin + tree::segment < last_ ? begin + tree::segment : last_;
  }

  template <class Op>
  LANEWISE_FUNCTION T segment_total(std::int64_t begin, Op op) const {
    const std::int64_t end = segment_end(begin);
    maybe<T> sum{{}, false};
    lanes column[v];
    for (std::int64_t i = begin; i < end; i += tree::row) {
      const int packs = scan_packs(i, end, column, op);
      const lanes sums = warp_.scan_by_doubling(last_of_packs(i, end, column), op, packs);
      const T total = warp_.broadcast(sums, packs - 1);
      sum = {sum.present ? op(sum.value, total) : total, true};
    }
    return sum.value;
  }

  template <bool exclusive, class Sink, class Op>
  LANEWISE_FUNCTION void store(const Sink& sink, const maybe<T>& before_block, Op op) {
    for (std::int64_t begin = first_; begin < last_; begin += tree::segment) {
      maybe<T> before = before_block;
      if (begin > first_) {
        const T earlier =
            warp_.broadcast(segment_sums_, static_cast<int>((begin - first_) / tree::segment) - 1);
        before = {before.present ? op(before.value, earlier) : earlier, true};
      }
      const std::int64_t end = segment_end(begin);
      for (std::int64_t i = begin; i < end; i += tree::row) {
        before = store_row<exclusive>(sink, i, end, before, op);
      }
    }
  }

  /// Returns what precedes the next row.
  template <bool exclusive, class Sink, class Op>
  LANEWISE_FUNCTION maybe<T> store_row(const Sink& sink, std::int64_t i, std::int64_t end,
                                       const maybe<T>& before, Op op) {
    lanes column[v];
    const int packs = scan_packs(i, end, column, op);
    const lanes sums = warp_.scan_by_doubling(last_of_packs(i, end, column), op, packs);
    const T total = warp_.broadcast(sums, packs - 1);
    const auto is_first = warp_.template first<T>(1);
    lanes prefix = warp_.shuffle_up(sums, 1);
    if (before.present) {
      prefix =
          select(is_first, lanes(before.value), combine(packs, lanes(before.value), prefix, op));
    }
    for (int c = v - 1; c >= 0; --c) {
      const int exist = static_cast<int>(divide_up(end - i - c, v));
      if (exclusive && c == 0) {
        column[0] = prefix;
      } else {
        const lanes mine = column[exclusive ? c - 1 : c];
        const lanes all = combine(exist, prefix, mine, op);
        column[c] = before.present ? all : select(is_first, mine, all);
      }
    }
    write(sink, i, end, column);
    return {before.present ? op(before.value, total) : total, true};
  }

  /// Loads a row and folds its packs from left to right. Returns how many packs there are.
  template <class Op>
  LANEWISE_FUNCTION int scan_packs(std::int64_t i, std::int64_t end, lanes (&column)[v],
                                   Op op) const {
    read(i, end, column);
    for (int c = 1; c < v; ++c) {
      column[c] =
          combine(static_cast<int>(divide_up(end - i - c, v)), column[c - 1], column[c], op);
    }
    return end - i >= tree::row ? tree::width : static_cast<int>(divide_up(end - i, v));
  }

  /// The totals of the packs; the last pack of all may be short.
  LANEWISE_FUNCTION lanes last_of_packs(std::int64_t i, std::int64_t end,
                                        const lanes (&column)[v]) const {
    lanes totals = column[v - 1];
    if (end - i < tree::row && (end - i) % v != 0) {
      const auto pack = (end - i) / v;
      totals.lane[pack] = column[(end - i) % v - 1].lane[pack];
    }
    return totals;
  }

  /// a op b in the first n lanes at least; nowhere else unless op is an operator of the library.
  template <class Op>
  LANEWISE_FUNCTION lanes combine(int n, const lanes& a, const lanes& b, Op op) const {
    if (n >= tree::width) return warp_.map(op, a, b);
    lanes r = b;
    for (int l = 0; l < n; ++l) r.lane[l] = op(a.lane[l], b.lane[l]);
    return r;
  }

  LANEWISE_FUNCTION void read(std::int64_t i, std::int64_t end, lanes (&column)[v]) const {
    if (end - i < tree::row) {
      for (std::int64_t j = 0; j < end - i; ++j) {
        column[j % v].lane[j / v] = rounded(T(source_(i + j)));
      }
      return;
    }
    if constexpr (requires { source_.f.is_identity; }) {
      warp_.load_columns(source_.data + i, column);
    } else {
      alignas(64) T items[tree::row];
      for (int at = 0; at < tree::row; at += tree::width) {
        warp_.store(items + at, load_window<pass::light>(warp_, source_, i + at));
      }
      asm volatile("" : : "r"(items) : "memory");  // as rounded() does, for all of them
      warp_.load_columns(items, column);
    }
  }

  template <class Sink>
  LANEWISE_FUNCTION void write(const Sink& sink, std::int64_t i, std::int64_t end,
                               const lanes (&column)[v]) const {
    if constexpr (std::is_same_v<typename sink_value<Sink>::type, T>) {
      if (end - i >= tree::row) return warp_.store_columns(sink.data + i, column);
    }
    const std::int64_t count = end - i < tree::row ? end - i : tree::row;
    for (std::int64_t j = 0; j < count; ++j) sink(i + j, column[j % v].lane[j / v]);
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
