// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: the counts of a histogram are integers of 32 or 64 bits

#include <lanewise/histogram/histogram.hpp>

void count(const Kokkos::View<unsigned*, Kokkos::HostSpace>& in,
           const Kokkos::View<unsigned char*, Kokkos::HostSpace>& counts) {
  lanewise::histogram(Kokkos::Serial(), in, counts, lanewise::even_bins(0, 100));
}
