// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: results would lose fractions or bytes in the items of out

#include <lanewise/sequence/scan.hpp>

void scan(const Kokkos::View<std::uint64_t*, Kokkos::HostSpace>& in,
          const Kokkos::View<std::uint32_t*, Kokkos::HostSpace>& out) {
  lanewise::inclusive_scan(Kokkos::Serial(), in, out, lanewise::plus{});
}
