// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect only: call on a host execution space include <lanewise/host.hpp>

#include <lanewise/sequence/reduce.hpp>

unsigned sum(const Kokkos::View<const unsigned*, Kokkos::HostSpace>& in) {
  return lanewise::reduce(Kokkos::DefaultHostExecutionSpace(), in, lanewise::plus{}, 0u);
}
