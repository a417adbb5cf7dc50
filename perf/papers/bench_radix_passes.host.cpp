// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts by passes on the host spaces.

#include "lsd_radix_sort.hpp"
#include <lanewise/host.hpp>

namespace lanewise::perf {

void add_radix_passes_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_radix_passes<Kokkos::Serial, std::uint32_t, no_value>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_radix_passes<Kokkos::OpenMP, std::uint32_t, no_value>();
#endif
}

}  // namespace lanewise::perf
