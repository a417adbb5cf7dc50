// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: Views must be contiguous \(LayoutLeft or LayoutRight, not LayoutStride\)

#include <lanewise/sequence/reduce.hpp>

unsigned sum(const Kokkos::View<const unsigned*, Kokkos::LayoutStride, Kokkos::HostSpace>& in) {
  return lanewise::reduce(Kokkos::Serial(), in, lanewise::plus{}, 0u);
}
