// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/source.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Room for n items that are not constructed.
template <class T, int n>
struct alignas(T) raw_array {
  unsigned char bytes[n * sizeof(T)];
  LANEWISE_FUNCTION T* data() { return reinterpret_cast<T*>(bytes); }
};

/// An array in the team's scratch, as a source and a sink. Streaming accesses are for global
/// memory.
template <class T>
struct scratch_array {
  using raw_type = T;
  using value_type = T;
  static constexpr bool contiguous = true;

  T* data;
  std::int64_t extent;

  LANEWISE_FUNCTION const T& from_raw(const T& raw) const { return raw; }
  LANEWISE_FUNCTION const T& operator()(std::int64_t i) const { return data[i]; }
  LANEWISE_FUNCTION void operator()(std::int64_t i, const T& x) const { data[i] = x; }
};
/// Items of an array that were copied to the team's scratch, each passed through f when it is read.
template <class Raw, class F>
struct staged_source : array_source<Raw, F> {};
template <class S>
inline constexpr bool is_in_scratch = false;
template <class T>
inline constexpr bool is_in_scratch<scratch_array<T>> = true;
template <class Raw, class F>
inline constexpr bool is_in_scratch<staged_source<Raw, F>> = true;

}  // namespace detail
LANEWISE_END_NAMESPACE
