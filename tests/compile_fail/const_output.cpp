// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: an output View must not be const

#include <lanewise/sequence/scan.hpp>

void scan(const Kokkos::View<const unsigned*, Kokkos::HostSpace>& in,
          const Kokkos::View<const unsigned*, Kokkos::HostSpace>& out) {
  lanewise::inclusive_scan(Kokkos::Serial(), in, out, lanewise::plus{});
}
