// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: an input is a Kokkos::View or a lanewise source

#include <lanewise/sequence/scan.hpp>

#include <vector>

void scan(const std::vector<unsigned>& in, const Kokkos::View<unsigned*, Kokkos::HostSpace>& out) {
  lanewise::exclusive_scan(Kokkos::Serial(), in, out, lanewise::plus{}, 0u);
}
