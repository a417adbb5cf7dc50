// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

LANEWISE_BEGIN_NAMESPACE

namespace detail {

template <std::size_t i, class T>
struct tuple_leaf {
  T value;
};
template <class Indices, class... T>
struct tuple_leaves;
template <std::size_t... i, class... T>
struct tuple_leaves<std::index_sequence<i...>, T...> : tuple_leaf<i, T>... {};

template <std::size_t i, class T>
LANEWISE_FUNCTION constexpr T& value_of_leaf(tuple_leaf<i, T>& leaf) {
  return leaf.value;
}
template <std::size_t i, class T>
LANEWISE_FUNCTION constexpr const T& value_of_leaf(const tuple_leaf<i, T>& leaf) {
  return leaf.value;
}

}  // namespace detail

/// Some values together, for kernels: trivially copyable where they are. get<i>(t) is value i, and
/// `const auto [a, b] = t` names them. Equality is that of all values; < compares the first that
/// differ.
template <class... T>
struct tuple : detail::tuple_leaves<std::index_sequence_for<T...>, T...> {
  tuple() = default;
  LANEWISE_FUNCTION constexpr tuple(const T&... x)
      : detail::tuple_leaves<std::index_sequence_for<T...>, T...>{{x}...} {}
};
template <class... T>
tuple(const T&...) -> tuple<T...>;

template <std::size_t i, class... T>
LANEWISE_FUNCTION constexpr auto& get(tuple<T...>& t) {
  return detail::value_of_leaf<i>(t);
}
template <std::size_t i, class... T>
LANEWISE_FUNCTION constexpr const auto& get(const tuple<T...>& t) {
  return detail::value_of_leaf<i>(t);
}

namespace detail {

template <class T>
inline constexpr bool is_tuple = false;
template <class... T>
inline constexpr bool is_tuple<tuple<T...>> = true;

template <class F, class... T, std::size_t... i>
LANEWISE_FUNCTION constexpr decltype(auto) call_with(const F& f, const tuple<T...>& t,
                                                     std::index_sequence<i...>) {
  return f(lanewise::get<i>(t)...);
}
/// f of the values.
template <class F, class... T>
LANEWISE_FUNCTION constexpr decltype(auto) call_with(const F& f, const tuple<T...>& t) {
  return detail::call_with(f, t, std::index_sequence_for<T...>());
}

template <class... T, std::size_t... i>
LANEWISE_FUNCTION constexpr bool are_equal(const tuple<T...>& a, const tuple<T...>& b,
                                           std::index_sequence<i...>) {
  return ((lanewise::get<i>(a) == lanewise::get<i>(b)) && ...);
}
template <std::size_t i, class... T>
LANEWISE_FUNCTION constexpr bool is_less_from(const tuple<T...>& a, const tuple<T...>& b) {
  if constexpr (i == sizeof...(T)) {
    return false;
  } else {
    if (lanewise::get<i>(a) < lanewise::get<i>(b)) return true;
    return !(lanewise::get<i>(b) < lanewise::get<i>(a)) && detail::is_less_from<i + 1>(a, b);
  }
}

}  // namespace detail

template <class... T>
LANEWISE_FUNCTION constexpr bool operator==(const tuple<T...>& a, const tuple<T...>& b) {
  return detail::are_equal(a, b, std::index_sequence_for<T...>());
}
template <class... T>
LANEWISE_FUNCTION constexpr bool operator<(const tuple<T...>& a, const tuple<T...>& b) {
  return detail::is_less_from<0>(a, b);
}

LANEWISE_END_NAMESPACE

template <class... T>
struct std::tuple_size<lanewise::tuple<T...>> : std::integral_constant<std::size_t, sizeof...(T)> {
};
template <std::size_t i, class... T>
struct std::tuple_element<i, lanewise::tuple<T...>> {
  using type = std::decay_t<decltype(lanewise::get<i>(std::declval<lanewise::tuple<T...>&>()))>;
};
