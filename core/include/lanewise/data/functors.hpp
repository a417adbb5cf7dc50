// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <concepts>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// What calls ask of the functors they are given, before a kernel is instantiated with them: a
// functor that does not fit inside a kernel is 150 lines of errors.

/// Item type of an argument that has been refused. Checks of other arguments say nothing about it,
/// and the kernel is not instantiated, so that the first error stays the only one.
struct refused {};
template <class... T>
inline constexpr bool is_refused = (std::is_same_v<T, refused> || ...);

/// A backend specialises it for its execution space if the compiler accepts functors that kernels
/// cannot call: called_with<F, Args...>() then is an error for these.
template <class Exec>
struct functor_rules {
  template <class F, class... Args>
  static constexpr void called_with() {}
};

template <class F, class R, class... Args>
concept returns_from = requires(const F& f, const Args&... args) {
  { f(args...) } -> std::convertible_to<R>;
};
template <class F, class... Args>
concept takes = requires(const F& f, const Args&... args) {
  f(args...);
};

/// Whether a kernel on this space can call a functor, and what it returns becomes R (void: is not
/// asked for).
template <class Exec, class R, class F, class... Args>
constexpr bool fits() {
  if constexpr (is_refused<R, F, Args...>) {
    return false;
  } else if constexpr (std::is_void_v<R> ? !takes<F, Args...> : !returns_from<F, R, Args...>) {
    return false;
  } else {
    functor_rules<Exec>::template called_with<F, Args...>();
    return true;
  }
}

/// Whether From loses more than precision as a To: fractions, or bytes.
template <class From, class To>
constexpr bool narrows() {
  if constexpr (!std::is_arithmetic_v<From> || !std::is_arithmetic_v<To>) {
    return false;
  } else if constexpr (std::is_floating_point_v<From> == std::is_floating_point_v<To>) {
    return sizeof(To) < sizeof(From);
  } else {
    return std::is_floating_point_v<From>;
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
