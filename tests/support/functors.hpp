// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

// Function objects for sources and sinks that notice calls which must not happen.

namespace test {

struct plus_three {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x) const {
    return x + 3;
  }
};

struct u32_plus_three {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i + 3);
  }
};

/// plus_three that raises a flag when it meets the bytes around a test::array.
struct trap_poison {
  int* trapped;
  KOKKOS_FUNCTION std::uint64_t operator()(const std::uint64_t& x) const {
    if (x == 0xa5a5a5a5a5a5a5a5u) *trapped = 1;
    return x + 3;
  }
};

/// i -> i * i, counting the calls for every i. A call outside [0, n) would damage a guard of the
/// counters.
struct counting_square {
  int* calls;
  std::int64_t n;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    if (i < 0 || i >= n) {
      calls[i < 0 ? -1 : n] = 1;
      return 0;
    }
    ++calls[i];
    return static_cast<std::uint64_t>(i * i);
  }
};

/// i -> i * i, for sources whose items may be read by several lanes at once. A call outside [0, n)
/// raises a flag.
struct trapping_square {
  int* trapped;
  std::int64_t n;
  KOKKOS_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    if (i < 0 || i >= n) *trapped = 1;
    return static_cast<std::uint64_t>(i * i);
  }
};

/// Stores results, counting the calls for every place.
struct counting_store {
  int* calls;
  std::int64_t n;
  std::uint64_t* out;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint64_t x) const {
    if (i < 0 || i >= n) {
      calls[i < 0 ? -1 : n] = 1;
      return;
    }
    ++calls[i];
    out[i] = x;
  }
};

}  // namespace test
