// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/by_lanes.hpp>
#include <lanewise/data/functors.hpp>
#include <lanewise/data/natural_wins.hpp>
#include <lanewise/data/operators.hpp>

#include <Kokkos_Core.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace backends::cuda {

// nvcc compiles a host and device function that calls a host function, to code that does something
// else on the device. In a device function the same call is an error that names both: so the
// functions below, which are never called, call what kernels will. They leave no code on the
// device.

template <class F, class... Args>
__device__ void needs_KOKKOS_FUNCTION([[maybe_unused]] const F& f,
                                      [[maybe_unused]] const Args&... args) {
  static_cast<void>(f(args...));
}

// The library's own function objects are host and device functions; what they call is the items'.
#define LANEWISE_CALLED_ON_ITEMS(functor, expression)                                \
  template <class T>                                                                 \
  __device__ void needs_KOKKOS_FUNCTION(const functor&, [[maybe_unused]] const T& a, \
                                        [[maybe_unused]] const T& b) {               \
    static_cast<void>(expression);                                                   \
  }
// clang-format off
LANEWISE_CALLED_ON_ITEMS(plus, a + b)
LANEWISE_CALLED_ON_ITEMS(minus, a - b)
LANEWISE_CALLED_ON_ITEMS(multiplies, a * b)
LANEWISE_CALLED_ON_ITEMS(minimum, b < a)
LANEWISE_CALLED_ON_ITEMS(maximum, a < b)
LANEWISE_CALLED_ON_ITEMS(bit_and, a & b)
LANEWISE_CALLED_ON_ITEMS(bit_or, a | b)
LANEWISE_CALLED_ON_ITEMS(bit_xor, a ^ b)
LANEWISE_CALLED_ON_ITEMS(equal_to, a == b)
LANEWISE_CALLED_ON_ITEMS(lanewise::detail::smaller_wins, (a < b) | ((a == a) & (a != b)))
LANEWISE_CALLED_ON_ITEMS(lanewise::detail::larger_wins, (a < b) | ((a == a) & (a != b)))
// clang-format on
#undef LANEWISE_CALLED_ON_ITEMS

template <class F, class T>
__device__ void needs_KOKKOS_FUNCTION([[maybe_unused]] const lanes_functor<F>& f,
                                      [[maybe_unused]] const T& x) {
  static_cast<void>(f.f(lone_lane(), lone_lane::lanes<T>(x)));
}

template <class F, class... Args>
__device__ void call([[maybe_unused]] const F* f, [[maybe_unused]] const Args*... args) {
  backends::cuda::needs_KOKKOS_FUNCTION(*f, *args...);
}
/// nvcc looks at device functions that code for the host refers to. A reference in a constant
/// expression is none, and functions that are used stay.
template <class F, class... Args>
__attribute__((used)) void refer_to_call() {
  static_cast<void>(&call<F, Args...>);
}

}  // namespace backends::cuda

namespace detail {
template <>
struct functor_rules<Kokkos::Cuda> {
  template <class F, class... Args>
  static constexpr void called_with() {
    static_cast<void>(&backends::cuda::refer_to_call<F, Args...>);
  }
};
}  // namespace detail
LANEWISE_END_NAMESPACE
