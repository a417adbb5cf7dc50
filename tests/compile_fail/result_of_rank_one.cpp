// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: the result is a View of rank 0

#include <lanewise/sequence/reduce.hpp>

void sum(const Kokkos::View<unsigned*, Kokkos::HostSpace>& in,
         const Kokkos::View<unsigned*, Kokkos::HostSpace>& result) {
  lanewise::reduce(Kokkos::Serial(), in, result, lanewise::plus{}, 0u);
}
