// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: an output is a Kokkos::View or a lanewise sink

#include <lanewise/sequence/transform.hpp>

#include <vector>

void copy(const Kokkos::View<unsigned*, Kokkos::HostSpace>& in, std::vector<unsigned>& out) {
  lanewise::transform(Kokkos::Serial(), in, out, lanewise::identity{});
}
