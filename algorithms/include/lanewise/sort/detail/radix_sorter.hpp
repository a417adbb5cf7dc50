// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/detail/device/device_radix_sort.hpp>
#include <lanewise/sort/detail/host/host_sort_layout.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Sorts of hosts by the contract below.
template <class Bits, class Value, bool ordered>
struct host_radix_sorter {
  using layout = host_sort_layout<Bits, Value>;

  template <class Exec>
  static workspace_size workspace(std::int64_t n, detail::radix_range, bool overwrites) {
    return layout(n, !overwrites).size();
  }
  template <class Exec>
  static void sort(const Exec& exec, detail::radix_arrays<Bits> keys,
                   detail::radix_arrays<Value> values, item_count n,
                   const detail::key_map<Bits>& map, detail::radix_range range,
                   const workspace_ref& given) {
    const layout parts(n.bound, !keys.overwrites());
    auto work = call_workspace::make<backend_of<Exec>>(exec, given, parts.size(), "radix_sort");
    char* const memory = parts.rest.data(work.get());
    if (!keys.overwrites()) {
      keys.room = parts.keys.data(work.get());
      values.room = parts.values.data(work.get());
    }
    const host_sort_arrays<Bits, Value> arrays{keys.in,   keys.out,   keys.room,
                                               values.in, values.out, values.room};
    const auto sort_by = [&](const auto& key) {
      kernels::host_sort_by(exec, arrays, n, key, memory);
    };
    using key = detail::sort_key<detail::key_map<Bits>, Bits, !ordered>;
    if constexpr (ordered) sort_by(key::by_bits(map, range.low, range.high));
    if constexpr (!ordered) sort_by(key{map});
  }
};

/// How a space sorts keys that are unsigned integers in memory, and values that move with them:
/// Value is no_value or an unsigned integer. ordered: keys that agree in the range's bits keep
/// their order; otherwise nothing moves with keys, and they have the same bits outside the range.
/// Members, all static:
///
///   workspace<Exec>(n, range, overwrites)          what it needs for up to n keys;
///   sort(exec, keys, values, n, map, range, work)  out may be in, of keys or of values. The room
///                                                  of both is `in`, and `out` is not, or null
template <class Exec, class Bits, class Value, bool ordered>
using radix_sort_t = std::conditional_t<team_t<Exec, launch_policy>::is_single_thread,
                                        host_radix_sorter<Bits, Value, ordered>,
                                        device_radix_sort<Bits, Value, ordered>>;

/// Whether some bits of keys alone are sorted faster where the order of equal ones is not kept.
template <class Exec>
inline constexpr bool gains_by_any_order = !team_t<Exec, launch_policy>::is_single_thread;

/// Copies what is sorted by no bit.
template <class Exec, class T>
void copy_sorted(const Exec& exec, const detail::radix_arrays<T>& arrays, item_count n) {
  if constexpr (!std::is_empty_v<T>) {
    if (arrays.in == arrays.out) return;
    kernels::store_all(exec, "Lanewise::radix_sort::copy",
                       array_source<T, identity>{arrays.in, n.bound, {}},
                       array_sink<T>{arrays.out, n.bound}, n);
  }
}

/// Calls sort of radix_sort_t. Lanewise::compiled holds instantiations for common sizes.
template <class Exec, class Bits, class Value, bool ordered>
void sort_bits(const Exec& exec, const detail::radix_arrays<Bits>& keys,
               const detail::radix_arrays<Value>& values, item_count n,
               const detail::key_map<Bits>& map, detail::radix_range range,
               const workspace_ref& work) {
  if (range.low < range.high)
    return radix_sort_t<Exec, Bits, Value, ordered>::sort(exec, keys, values, n, map, range, work);
  kernels::copy_sorted(exec, keys, n);
  kernels::copy_sorted(exec, values, n);
}

#if defined(LANEWISE_COMPILED_TEMPLATE)
#define LANEWISE_COMPILED_SORT(Exec, Bits, Value, ordered)                                \
  LANEWISE_COMPILED_TEMPLATE void sort_bits<Exec, Bits, Value, ordered>(                  \
      const Exec&, const detail::radix_arrays<Bits>&, const detail::radix_arrays<Value>&, \
      item_count, const detail::key_map<Bits>&, detail::radix_range, const workspace_ref&);
#define LANEWISE_COMPILED_KEYS(Exec, Bits)            \
  LANEWISE_COMPILED_SORT(Exec, Bits, no_value, false) \
  LANEWISE_COMPILED_SORT(Exec, Bits, no_value, true)
#define LANEWISE_COMPILED_PAIRS(Exec, Bits)               \
  LANEWISE_COMPILED_SORT(Exec, Bits, std::uint32_t, true) \
  LANEWISE_COMPILED_SORT(Exec, Bits, std::uint64_t, true)
// The component has units for some of them.
#if !defined(LANEWISE_COMPILED_SORTS)
#define LANEWISE_COMPILED_SORTS(Exec)          \
  LANEWISE_COMPILED_KEYS(Exec, std::uint32_t)  \
  LANEWISE_COMPILED_KEYS(Exec, std::uint64_t)  \
  LANEWISE_COMPILED_PAIRS(Exec, std::uint32_t) \
  LANEWISE_COMPILED_PAIRS(Exec, std::uint64_t)
#endif
LANEWISE_FOR_ALL_SPACES(LANEWISE_COMPILED_SORTS)
#undef LANEWISE_COMPILED_SORTS
#undef LANEWISE_COMPILED_PAIRS
#undef LANEWISE_COMPILED_KEYS
#undef LANEWISE_COMPILED_SORT
#endif

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
