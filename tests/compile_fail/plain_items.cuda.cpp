// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: calling a __host__ function\("operator \+.*needs_KOKKOS_FUNCTION.*is not allowed

#include <lanewise/sequence/reduce.hpp>

struct point {
  float x, y;
  friend point operator+(const point& a, const point& b) { return {a.x + b.x, a.y + b.y}; }
};

void sum(const Kokkos::View<point*, Kokkos::CudaSpace>& in,
         const Kokkos::View<point, Kokkos::CudaSpace>& result) {
  lanewise::reduce(Kokkos::Cuda(), in, result, lanewise::plus{}, point{});
}
