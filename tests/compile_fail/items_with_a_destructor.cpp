// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: items must be trivially copyable

#include <lanewise/sequence/transform.hpp>

#include <string>

void copy(const Kokkos::View<std::string*, Kokkos::HostSpace>& in,
          const Kokkos::View<std::string*, Kokkos::HostSpace>& out) {
  lanewise::transform(Kokkos::Serial(), in, out, lanewise::identity{});
}
