// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: items must not be aligned to more than 256 bytes

#include <lanewise/sequence/transform.hpp>

struct alignas(4096) page {
  int value;
};
void copy(const Kokkos::View<page*, Kokkos::HostSpace>& in,
          const Kokkos::View<page*, Kokkos::HostSpace>& out) {
  lanewise::transform(Kokkos::Serial(), in, out, lanewise::identity{});
}
