// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: this execution space cannot reach the memory of a View argument

#include <lanewise/host.hpp>
#include <lanewise/sequence/scan.hpp>

void scan(const Kokkos::View<unsigned*, Kokkos::CudaSpace>& both) {
  lanewise::inclusive_scan(Kokkos::Serial(), both, both, lanewise::plus{});
}
