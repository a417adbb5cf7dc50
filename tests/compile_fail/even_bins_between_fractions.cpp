// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: even bins of integers lie between integers

#include <lanewise/histogram/histogram.hpp>

void count(const Kokkos::View<unsigned*, Kokkos::HostSpace>& in,
           const Kokkos::View<unsigned*, Kokkos::HostSpace>& counts) {
  lanewise::histogram(Kokkos::Serial(), in, counts, lanewise::even_bins(0.5, 100.5));
}
