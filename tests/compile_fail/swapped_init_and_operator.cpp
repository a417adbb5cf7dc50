// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: op comes before init

#include <lanewise/sequence/reduce.hpp>

void sum(const Kokkos::View<double*, Kokkos::HostSpace>& in) {
  lanewise::reduce(Kokkos::Serial(), in, 0.0, lanewise::plus{});
}
