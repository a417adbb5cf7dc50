// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/data/source.hpp>

#include <cstdint>
#include <type_traits>

// Arrays that are arguments of calls on structures.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A View of T that calls of Exec can reach.
template <class T, class Exec, class V>
array_sink<T> array_of(const char* name, const char* which, const V& view) {
  static_assert(Kokkos::is_view_v<V> && std::is_convertible_v<typename V::pointer_type, T*>,
                "lanewise: an array argument is a View of the structure's type of keys or values");
  detail::check_view_type<V>();
  detail::check_reachable<Exec, V>();
  const array_sink<T> array{view.data(), static_cast<std::int64_t>(view.extent(0))};
  detail::expects_memory(array, name, which);
  return array;
}
/// One of as many items as there are keys.
template <class T, class Exec, class V>
T* array_of(const char* name, const char* which, const V& view, std::int64_t n) {
  const auto array = kernels::array_of<T, Exec>(name, which, view);
  detail::expects(array.extent >= n, name, ": ", which, " has ", array.extent, " items, keys has ",
                  n);
  return array.data;
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
