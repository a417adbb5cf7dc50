// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/merge/merge_sort.hpp>
#include <lanewise/sort/radix_sort.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Sorts keys into memory of the call's own, and indices beside them.
template <class Exec, class Source, class Indices>
void argsort(const Exec& exec, const Source& source, const Indices& indices,
             const sort_options& options) {
  using T = typename Source::value_type;
  using I = typename Indices::non_const_value_type;
  call_memory<Exec> memory(exec, static_cast<std::size_t>(source.extent) * sizeof(T), "argsort");
  const auto sorted = memory.template view<T>(source.extent);
  kernels::radix_sort(exec, source, lanewise::generated(source.extent, as_index<I>{}), sorted,
                      indices, options, "argsort");
}

/// The items of a View that may lie apart.
template <class V>
struct strided_items {
  Kokkos::View<typename V::data_type, Kokkos::LayoutStride, typename V::device_type,
               Kokkos::MemoryUnmanaged>
      items;
  LANEWISE_FUNCTION typename V::non_const_value_type operator()(std::int64_t i) const {
    return items(i);
  }
  LANEWISE_FUNCTION void operator()(std::int64_t i, const typename V::value_type& x) const {
    items(i) = x;
  }
};

template <class V>
constexpr bool is_strided() {
  if constexpr (Kokkos::is_view_v<V>)
    return V::rank() == 1 && std::is_same_v<typename V::array_layout, Kokkos::LayoutStride>;
  return false;
}

/// The source of a View's items, which may lie apart, or of a source's.
template <class Exec, class Items>
auto as_items(const Items& items) {
  if constexpr (kernels::is_strided<Items>()) {
    detail::check_reachable<Exec, Items>();
    return lanewise::generated(static_cast<std::int64_t>(items.extent(0)),
                               strided_items<Items>{items});
  } else {
    return detail::as_source<Exec>(items);
  }
}

/// Calls f with items, or, where they are strided, with a copy that goes back when f has returned.
template <class Exec, class Items, class F>
void side_by_side(const Exec& exec, const Items& items, const char* algorithm, const char* name,
                  const F& f) {
  if constexpr (kernels::is_strided<Items>()) {
    using T = typename Items::value_type;
    static_assert(!std::is_const_v<T>, "lanewise: an output View must not be const");
    const auto source = kernels::as_items<Exec>(items);
    detail::expects(source.extent == 0 || items.data() != nullptr, algorithm, ": ", name, " has ",
                    source.extent, " items and no memory");
    call_memory<Exec> memory(exec, static_cast<std::size_t>(source.extent) * sizeof(T), algorithm);
    const auto copy = memory.template view<T>(source.extent);
    lanewise::transform(exec, source, copy, identity{});
    f(copy);
    lanewise::transform(exec, copy, lanewise::consumed(source.extent, source.f), identity{});
  } else {
    f(items);
  }
}

}  // namespace kernels

/// Sorts the items of a View in place, ascending or, by options.order, descending: radix_sort,
/// which says what keys may be, how floating point is ordered, and what it costs. In place of
/// Kokkos::sort(exec, items). A View of LayoutStride is sorted in a copy, which the call allocates
/// in the order of its instance. The copy takes two more reads and writes. Does not block. Without
/// options it compiles in two thirds of the time.
template <execution_space Exec, class Items>
void sort(const Exec& exec, const Items& items, const sort_options& options) {
  kernels::side_by_side(exec, items, "sort", "items", [&](const auto& data) {
    kernels::radix_sort(exec, data, data, options, "sort");
  });
}
template <execution_space Exec, class Items>
void sort(const Exec& exec, const Items& items) {
  kernels::side_by_side(exec, items, "sort", "items", [&](const auto& data) {
    kernels::radix_sort<kernels::bit_ranges::whole>(exec, data, data, {}, "sort");
  });
}

/// Overload for any strict weak order: merge_sort, which is stable, and takes items of any type.
template <execution_space Exec, class Items, class Less>
requires(!std::is_convertible_v<Less, sort_options>) void sort(const Exec& exec, const Items& items,
                                                               const Less& less,
                                                               const call_options& options = {}) {
  kernels::side_by_side(exec, items, "sort", "items",
                        [&](const auto& data) { lanewise::merge_sort(exec, data, less, options); });
}

/// Sorts keys in place, and values with them: of equal keys in their order (stable). In place of
/// Kokkos::Experimental::sort_by_key(exec, keys, values). Either may be of LayoutStride, and is
/// copied then. Does not block.
template <execution_space Exec, class Keys, class Values>
void sort_by_key(const Exec& exec, const Keys& keys, const Values& values,
                 const sort_options& options = {}) {
  kernels::side_by_side(exec, keys, "sort_by_key", "keys", [&](const auto& key) {
    kernels::side_by_side(exec, values, "sort_by_key", "values", [&](const auto& value) {
      kernels::radix_sort(exec, key, value, key, value, options, "sort_by_key");
    });
  });
}

/// Overload for any strict weak order of keys.
template <execution_space Exec, class Keys, class Values, class Less>
requires(!std::is_convertible_v<Less, sort_options>) void sort_by_key(
    const Exec& exec, const Keys& keys, const Values& values, const Less& less,
    const call_options& options = {}) {
  kernels::side_by_side(exec, keys, "sort_by_key", "keys", [&](const auto& key) {
    kernels::side_by_side(exec, values, "sort_by_key", "values", [&](const auto& value) {
      lanewise::merge_sort_by_key(exec, key, value, less, options);
    });
  });
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
             const sort_options& options = {}) {
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
  kernels::argsort(exec, source, indices, options);
}

LANEWISE_END_TARGET_NAMESPACE
