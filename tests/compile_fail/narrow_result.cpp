// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: items would lose fractions or bytes in the type they are combined in

#include <lanewise/sequence/reduce.hpp>

void sum(const Kokkos::View<double*, Kokkos::HostSpace>& in,
         const Kokkos::View<float, Kokkos::HostSpace>& result) {
  lanewise::reduce(Kokkos::Serial(), in, result, lanewise::plus{}, 0.0);
}
