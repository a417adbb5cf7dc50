// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: Lanewise has no backend for this execution space

#include <lanewise/transform.hpp>

struct elsewhere {
  using memory_space = Kokkos::HostSpace;
};

void copy(const Kokkos::View<unsigned*, Kokkos::HostSpace>& in,
          const Kokkos::View<unsigned*, Kokkos::HostSpace>& out) {
  lanewise::transform(elsewhere(), in, out, lanewise::identity{});
}
