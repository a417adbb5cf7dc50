// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/team.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Brings items into `parts` parts by one thread, each part in its order: part p has the items with
/// limit[p - 1] <= key < limit[p]. Limits ascend, keys are unsigned integers. Whole vectors are
/// compared with each limit and compressed into the parts' streams. So few streams are written side
/// by side, and no branch and no address depends on a key.
template <class Team, class Key, int parts>
class host_partition {
  using warp_type = typename Team::warp_type;
  using bits_type = typename Key::bits_type;
  using bits = lanes_t<warp_type, bits_type>;
  static constexpr int width = warp_type::width;

 public:
  /// to[begin[p], begin[p + 1]) becomes part p of items [0, n), and values, unless they are null,
  /// go the same way. The arrays do not overlap.
  template <class Item, class Value>
  static LANEWISE_LOOP_FUNCTION void split(const warp_type& warp, Key key, const Item* items,
                                           const Value* values, std::int64_t n,
                                           const bits_type (&limit)[parts - 1], Item* to,
                                           Value* values_to, std::int64_t (&begin)[parts + 1]) {
    std::int64_t below[parts] = {};
    for_each_window(n, [&](std::int64_t i, auto whole) LANEWISE_INLINE_LAMBDA {
      const auto exist = warp.template first<bits_type>(left(i, n));
      const bits k = keys(warp, key, load<whole>(warp, items, i, n));
      LANEWISE_UNROLL
      for (int p = 0; p < parts - 1; ++p) {
        const auto less = k < bits(limit[p]);
        if constexpr (whole) below[p] += warp.count(less);
        if constexpr (!whole) below[p] += warp.count(less & exist);
      }
    });
    below[parts - 1] = n;
    std::int64_t next[parts];
    begin[0] = next[0] = 0;
    for (int p = 1; p < parts; ++p) begin[p] = next[p] = below[p - 1];
    begin[parts] = n;
    warp.fence();
    for_each_window(n, [&](std::int64_t i, auto whole) LANEWISE_INLINE_LAMBDA {
      const auto x = load<whole>(warp, items, i, n);
      const bits k = keys(warp, key, x);
      auto left_over = warp.template first<bits_type>(left(i, n));
      const auto put = [&](int p, const auto& here) LANEWISE_INLINE_LAMBDA {
        // After the stream the next part begins, and some of its items are there already.
        const std::int64_t at = next[p];
        const bool inside = at + width <= below[p];
        next[p] += inside ? warp.compress_store_over(to + at, here, x)
                          : warp.compress_store(to + at, here, x);
        if constexpr (has_values<Value>) {
          const auto v = load<whole>(warp, values, i, n);
          if (inside) {
            warp.compress_store_over(values_to + at, here, v);
          } else {
            warp.compress_store(values_to + at, here, v);
          }
        }
      };
      LANEWISE_UNROLL
      for (int p = 0; p < parts - 1; ++p) {
        const auto less = k < bits(limit[p]);
        put(p, left_over & less);
        left_over = left_over & !less;
      }
      put(parts - 1, left_over);
    });
    warp.fence();
  }

 private:
  template <class Value>
  static constexpr bool has_values = !std::is_empty_v<Value>;

  static LANEWISE_FUNCTION int left(std::int64_t i, std::int64_t n) {
    return static_cast<int>(n - i < width ? n - i : width);
  }
  template <class F>
  static LANEWISE_FUNCTION void for_each_window(std::int64_t n, const F& f) {
    std::int64_t i = 0;
    for (; i + width <= n; i += width) f(i, std::true_type{});
    if (i < n) f(i, std::false_type{});
  }
  template <bool whole, class T>
  static LANEWISE_FUNCTION auto load(const warp_type& warp, const T* p, std::int64_t i,
                                     std::int64_t n) {
    if constexpr (whole) return warp.load(p + i);
    if constexpr (!whole) return warp.load(warp.template first<T>(left(i, n)), p + i, T{});
  }
  template <class Items>
  static LANEWISE_FUNCTION bits keys(const warp_type& warp, const Key& key, const Items& x) {
    if constexpr (Key::keeps_items) return x;
    if constexpr (!Key::keeps_items) return warp.map(key, x);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
