// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// expect: deterministic operators need warps of 32 lanes

#include <lanewise/emulated.hpp>
#include <lanewise/sequence/scan.hpp>

void scan(const Kokkos::View<const float*, Kokkos::HostSpace>& in,
          const Kokkos::View<float*, Kokkos::HostSpace>& out) {
  lanewise::inclusive_scan(lanewise::emulated_with_width<8>(), in, out,
                           lanewise::deterministic(lanewise::plus{}));
}
