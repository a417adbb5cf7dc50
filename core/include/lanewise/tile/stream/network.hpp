// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/operators.hpp>
#include <lanewise/team/team.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Sorts up to `most` unsigned integers of 4 or 8 bytes in registers, as one thread. Rows of lanes
/// are sorted by columns first; then columns are merged in pairs, bitonically, so that in the end
/// the rows follow each other in order.
///
/// Before the merge two neighbouring groups of m lanes are in order, by rows: number r m + l is in
/// row r and lane l. A row of one group meets the mirrored row of the other from the back: the
/// lesser ones of all pairs fill half of the rows, the greater ones the others. Neither half needs
/// to know where its items came from, so that this goes on with half as many rows, and then within
/// rows.
template <class Team, class T>
class host_network {
 public:
  static constexpr int width = 64 / sizeof(T);
  static constexpr int most_rows = 8;
  static constexpr int most = width * most_rows;

  /// to[0, n) = f(from[0, n)), f of lanes. They may be the same array.
  template <class F>
  static LANEWISE_FUNCTION void map(const T* from, int n, T* to, const F& f) {
    const warp_type warp;
    for (int i = 0; i < n; i += width) {
      const auto there = warp.template first<T>(n - i);
      warp.store(there, to + i, f(warp.load(there, from + i, T{0})));
    }
    warp.fence();
  }

  /// If key(from[0, n)), key of lanes, ascends or strictly descends, to[0, n) = from[0, n) in
  /// order. Else returns false.
  template <class Key>
  static LANEWISE_LOOP_FUNCTION bool take_run(const T* from, int n, T* to, const Key& key) {
    const warp_type warp;
    bool ascends = true, descends = true;
    for (int i = 0; i < n - 1; i += width) {
      const int pairs = n - 1 - i < width ? n - 1 - i : width;
      const auto there = warp.template first<T>(pairs);
      const lanes_t<warp_type, T> a = key(warp.load(there, from + i, T{0}));
      const lanes_t<warp_type, T> b = key(warp.load(there, from + i + 1, T{0}));
      const int falls = warp.count((b < a) & there);
      ascends = ascends && falls == 0;
      descends = descends && falls == pairs;
      if (!ascends && !descends) return false;
    }
    if (ascends) {
      map(from, n, to, identity{});
    } else {
      for (int i = 0, j = n - 1; i <= j; ++i, --j) {
        const T x = from[i], y = from[j];
        to[i] = y;
        to[j] = x;
      }
    }
    return true;
  }

  /// to[0, n) = from[0, n) in order; n <= most. They may be the same array.
  static LANEWISE_FUNCTION void sort(const T* from, int n, T* to) {
    if (n > 4 * width) {
      sort_rows<8>(from, n, to);
    } else if (n > 2 * width) {
      sort_rows<4>(from, n, to);
    } else if (n > width) {
      sort_rows<2>(from, n, to);
    } else {
      sort_rows<1>(from, n, to);
    }
  }

 private:
  using warp_type = typename Team::template narrow_warp<width>;
  /// Rows hold keys of 8 bytes as signed integers, by a bit that is flipped: vectors of 32 bytes
  /// compare these with one instruction.
  using ordered = std::conditional_t<sizeof(T) == 8, std::int64_t, T>;
  using lanes = lanes_t<warp_type, ordered>;
  static constexpr auto least = std::numeric_limits<ordered>::min();
  static constexpr auto greatest = std::numeric_limits<ordered>::max();

  /// f(0), ..., f(n-1) with constants: arrays that only they index live in registers.
  template <int n, class F>
  static LANEWISE_FUNCTION void unrolled(F f) {
    [&]<int... i>(std::integer_sequence<int, i...>) LANEWISE_INLINE_LAMBDA {
      (f(std::integral_constant<int, i>{}), ...);
    }
    (std::make_integer_sequence<int, n>{});
  }

  template <int rows>
  static LANEWISE_LOOP_FUNCTION void sort_rows(const T* from, int n, T* to) {
    const warp_type warp;
    const auto* const in = reinterpret_cast<const ordered*>(from);
    auto* const out = reinterpret_cast<ordered*>(to);
    lanes row[rows];
    // The last items of the last row are greater than all others, or equal to the greatest.
    unrolled<rows>([&](auto r) LANEWISE_INLINE_LAMBDA {
      const int left = n - r * width;
      if (left >= width) {
        row[r] = warp.load(in + r * width) ^ lanes(least);
      } else {
        row[r] = lanes(greatest);
        if (left > 0) {
          const auto there = warp.template first<ordered>(left);
          row[r] = warp.load(there, in + r * width, static_cast<ordered>(~T{0})) ^ lanes(least);
        }
      }
    });
    sort_columns(warp, row);
    merge<rows, 1>(warp, row);
    warp.fence();
    unrolled<rows>([&](auto r) LANEWISE_INLINE_LAMBDA {
      const int left = n - r * width;
      if (left >= width) {
        warp.store(out + r * width, row[r] ^ lanes(least));
      } else if (left > 0) {
        warp.store(warp.template first<ordered>(left), out + r * width, row[r] ^ lanes(least));
      }
    });
    warp.fence();
  }

  static LANEWISE_FUNCTION void order(const warp_type& warp, lanes& a, lanes& b) {
    const lanes less = warp.map(minimum{}, a, b);
    b = warp.map(maximum{}, a, b);
    a = less;
  }

  /// Batcher's odd-even merge sort, by columns.
  template <int rows>
  static LANEWISE_FUNCTION void sort_columns(const warp_type& warp, lanes (&row)[rows]) {
    constexpr auto pairs = comparisons<rows>();
    unrolled<static_cast<int>(pairs.size())>([&](auto i) LANEWISE_INLINE_LAMBDA {
      constexpr auto p = comparisons<rows>()[i];
      order(warp, row[p.first], row[p.second]);
    });
  }
  template <int rows>
  static constexpr int count_comparisons() {
    int count = 0;
    for_each_comparison(rows, [&](int, int) { ++count; });
    return count;
  }
  template <int rows>
  static constexpr auto comparisons() {
    std::array<std::pair<int, int>, count_comparisons<rows>()> result{};
    std::size_t i = 0;
    for_each_comparison(rows, [&](int a, int b) { result[i++] = {a, b}; });
    return result;
  }
  template <class F>
  static constexpr void for_each_comparison(int n, F f) {
    for (int p = 1; p < n; p *= 2) {
      for (int k = p; k >= 1; k /= 2) {
        for (int j = k % p; j + k < n; j += 2 * k) {
          for (int i = j; i < j + k && i + k < n; ++i) {
            if (i / (2 * p) == (i + k) / (2 * p)) f(i, i + k);
          }
        }
      }
    }
  }

  /// Merges groups of m lanes in pairs, then the merged groups, up to one group.
  template <int rows, int m>
  static LANEWISE_FUNCTION void merge(const warp_type& warp, lanes (&row)[rows]) {
    if constexpr (m < width) {
      mirror<rows, 2 * m>(warp, row);
      unrolled<rows>([&](auto r) LANEWISE_INLINE_LAMBDA {
        exchange<2 * m - 1, m>(warp, row[r]);
        halve<m / 2>(warp, row[r]);
      });
      merge<rows, 2 * m>(warp, row);
    }
  }

  /// In every block of `block` rows a row meets the mirrored row from the back.
  template <int block, int group, int rows>
  static LANEWISE_FUNCTION void mirror(const warp_type& warp, lanes (&row)[rows]) {
    if constexpr (block > 1) {
      unrolled<rows / 2>([&](auto i) LANEWISE_INLINE_LAMBDA {
        constexpr int half = block / 2, first = i / half * block, at = i % half;
        lanes& a = row[first + at];
        lanes& b = row[first + block - 1 - at];
        const lanes mirrored = warp.shuffle_xor(b, group - 1);
        b = warp.map(maximum{}, a, mirrored);
        a = warp.map(minimum{}, a, mirrored);
      });
      mirror<block / 2, group>(warp, row);
    }
  }

  template <int m>
  static LANEWISE_FUNCTION void halve(const warp_type& warp, lanes& a) {
    if constexpr (m > 0) {
      exchange<m, m>(warp, a);
      halve<m / 2>(warp, a);
    }
  }

  /// A lane meets lane ^ mask; the one without this bit keeps the lesser one.
  template <int mask, int bit>
  static LANEWISE_FUNCTION void exchange(const warp_type& warp, lanes& a) {
    const lanes other = warp.shuffle_xor(a, mask);
    const auto lower = warp.template mask_of<ordered>(lower_lanes(bit));
    a = lanewise::select(lower, warp.map(minimum{}, a, other), warp.map(maximum{}, a, other));
  }
  static constexpr typename warp_type::bits lower_lanes(int bit) {
    typename warp_type::bits result = 0;
    for (int l = 0; l < width; ++l) {
      if ((l & bit) == 0) result |= typename warp_type::bits{1} << l;
    }
    return result;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
