// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: init is a floating-point number, and the result an integer

#include <lanewise/sequence/reduce.hpp>

void sum(const Kokkos::View<int*, Kokkos::HostSpace>& in,
         const Kokkos::View<int, Kokkos::HostSpace>& result) {
  lanewise::reduce(Kokkos::Serial(), in, result, lanewise::plus{}, 0.5);
}
