// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge_sort.hpp>
#include <lanewise/radix_sort.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Sorts keys into memory of the call's own, and indices beside them.
template <class Exec, class Source, class Indices>
void argsort(const Exec& exec, const Source& source, const Indices& indices,
             const sort_options& with) {
  using T = typename Source::value_type;
  using I = typename Indices::non_const_value_type;
  call_memory<Exec> memory(exec, static_cast<std::size_t>(source.extent) * sizeof(T), "argsort");
  const auto sorted = memory.template view<T>(source.extent);
  radix_sort(exec, source, generated(source.extent, as_index<I>{}), sorted, indices, with,
             "argsort");
}

}  // namespace kernels

/// Sorts the items of a View in place, ascending or, by options.order, descending: radix_sort,
/// which says what keys may be, how floating point is ordered, and what it costs. In place of
/// Kokkos::sort(exec, items). Does not block.
template <execution_space Exec, class Items>
void sort(const Exec& exec, const Items& items, const sort_options& with = {}) {
  kernels::radix_sort(exec, items, items, with, "sort");
}

/// The same by any strict weak order: merge_sort, which is stable, and takes items of any type.
template <execution_space Exec, class Items, class Less>
requires(!std::is_convertible_v<Less, sort_options>) void sort(const Exec& exec, const Items& items,
                                                               const Less& less,
                                                               const options& with = {}) {
  merge_sort(exec, items, less, with);
}

/// Sorts keys in place, and values with them: of equal keys in their order (stable). In place of
/// Kokkos::Experimental::sort_by_key(exec, keys, values). Does not block.
template <execution_space Exec, class Keys, class Values>
void sort_by_key(const Exec& exec, const Keys& keys, const Values& values,
                 const sort_options& with = {}) {
  kernels::radix_sort(exec, keys, values, keys, values, with, "sort_by_key");
}

/// The same by any strict weak order of keys.
template <execution_space Exec, class Keys, class Values, class Less>
requires(!std::is_convertible_v<Less, sort_options>) void sort_by_key(const Exec& exec,
                                                                      const Keys& keys,
                                                                      const Values& values,
                                                                      const Less& less,
                                                                      const options& with = {}) {
  merge_sort_by_key(exec, keys, values, less, with);
}

/// indices(r) is the number of the key that comes at place r when keys are sorted, the first of
/// equal ones first: gathering keys by indices sorts them (a permutation, NumPy's argsort).
///
/// keys is a View or a source of what radix_sort takes, and is not changed; indices is a View of
/// integers of 4 or 8 bytes, at least as long, which have to hold the number of keys. Costs a
/// radix_sort of pairs, and memory for the keys, which the call allocates in the order of its
/// instance. Does not block. Throws as radix_sort does.
template <execution_space Exec, class Keys, class Indices>
void argsort(const Exec& exec, const Keys& keys, const Indices& indices,
             const sort_options& with = {}) {
  using I = typename Indices::non_const_value_type;
  static_assert(std::is_integral_v<I> && sizeof(I) >= 4,
                "lanewise::argsort: indices are integers of 4 or 8 bytes");
  const auto source = detail::as_source<Exec>(keys);
  detail::expects(
      source.extent == 0 || static_cast<std::uint64_t>(source.extent - 1) <=
                                static_cast<std::uint64_t>(std::numeric_limits<I>::max()),
      "argsort: keys has ", source.extent, " items, indices go up to ",
      std::numeric_limits<I>::max());
  detail::expects(static_cast<std::int64_t>(indices.extent(0)) >= source.extent,
                  "argsort: indices has ", indices.extent(0), " places, keys has ", source.extent,
                  " items");
  kernels::argsort(exec, source, indices, with);
}

LANEWISE_END_TARGET_NAMESPACE
