// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: op is a function object with T operator\(\)\(T, T\) const

#include <lanewise/segments/segmented_reduce.hpp>

struct point {
  float x, y;
};

void sum(const Kokkos::View<point*, Kokkos::HostSpace>& in,
         const Kokkos::View<int*, Kokkos::HostSpace>& offsets,
         const Kokkos::View<point*, Kokkos::HostSpace>& out) {
  lanewise::segmented_reduce(Kokkos::Serial(), in, offsets, out, lanewise::plus{}, point{});
}
