// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: equal is a function object with bool operator\(\)\(key, key\) const

#include <lanewise/select/unique.hpp>

struct point {
  float x, y;
};

std::int64_t first_of_runs(const Kokkos::View<point*, Kokkos::HostSpace>& in,
                           const Kokkos::View<point*, Kokkos::HostSpace>& out) {
  return lanewise::unique(Kokkos::Serial(), in, out);
}
