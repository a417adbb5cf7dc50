// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge/merge_sort.hpp>
#include <lanewise/select/unique.hpp>
#include <lanewise/sort/radix_sort.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Whether keys are compared by the same bits.
template <class T>
struct same_radix_key {
  radix_bits_t<T> ordering;
  LANEWISE_FUNCTION bool operator()(const T& a, const T& b) const {
    return ((radix_key<T>::to_bits(a) ^ radix_key<T>::to_bits(b)) & ordering) == 0;
  }
};
/// Whether neither of two items is less.
template <class Less>
struct equally_ordered {
  Less less;
  template <class T>
  LANEWISE_FUNCTION bool operator()(const T& a, const T& b) const {
    return !less(a, b) && !less(b, a);
  }
};

/// Keeps the first of every run of the first n items of out.
template <class Exec, class T, class Count, class Equal>
void unique_in_place(const Exec& exec, const array_sink<T>& out, std::int64_t n, const Count& count,
                     const Equal& equal, const call_options& options) {
  const Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged> items(out.data, n);
  lanewise::unique(exec, items, items, count, equal, options);
}

}  // namespace kernels

/// The workspace that sorted_unique needs for n keys of type T in the order of radix_sort. Needs no
/// device.
template <class T, class Exec>
workspace_size sorted_unique_workspace(std::int64_t n) {
  return lanewise::max(lanewise::radix_sort_workspace<T, Exec>(n),
                       lanewise::compact_workspace<T, Exec>(n));
}

/// Writes the set of the keys: out has each of them once, in the order of radix_sort, and the
/// rank-0 View count of integers receives how many there are.
///
/// keys and out are as radix_sort takes them, and may be the same View; out has a place for every
/// key, and what is after the set is unspecified. Keys are the same where they are the same in
/// bits [begin_bit, end_bit): so -0.0 and +0.0 are two keys, and NaN is kept once for each of its
/// bit patterns. Of keys that differ in other bits the first one is kept. A radix_sort and a unique
/// in place: their launches, work and traffic. The result is the same on every backend. Does not
/// block. Throws std::invalid_argument as they do. (Merrill, 2.13 and 3.3.)
template <execution_space Exec, class Keys, class Out, class C, class... P>
void sorted_unique(const Exec& exec, const Keys& keys, const Out& out,
                   const Kokkos::View<C, P...>& count, const sort_options& options = {}) {
  kernels::radix_sort(exec, keys, out, options, "sorted_unique");
  const auto source = detail::as_source<Exec>(keys);
  using T = typename decltype(source)::value_type;
  if constexpr (radix_sortable<T>) {
    const detail::radix_range range = kernels::range_of<T>(options, "sorted_unique");
    const auto bits = range.low == range.high ? radix_bits_t<T>{0}
                                              : detail::ordering_bits<radix_bits_t<T>>(range);
    kernels::unique_in_place(exec, detail::as_sink<Exec>(out), source.extent, count,
                             kernels::same_radix_key<T>{bits}, {options.work, options.count});
  }
}

/// Overload for any strict weak order, and for items of any type: merge_sort and unique. Items are
/// the same where neither is less; the first one is kept.
template <execution_space Exec, class In, class Out, class C, class... P, class Less>
requires(!std::is_convertible_v<Less, sort_options>) void sorted_unique(
    const Exec& exec, const In& in, const Out& out, const Kokkos::View<C, P...>& count,
    const Less& less, const call_options& options = {}) {
  lanewise::merge_sort(exec, in, out, less, options);
  kernels::unique_in_place(exec, detail::as_sink<Exec>(out), detail::as_source<Exec>(in).extent,
                           count, kernels::equally_ordered<Less>{less}, options);
}

LANEWISE_END_TARGET_NAMESPACE
