// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Radix sorts by passes of every width (Merrill, chapter 5), on every backend of this Kokkos.

#include "lsd_radix_sort.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_radix_passes_cuda();
#endif
  lanewise::perf::add_radix_passes_host();
  return lanewise::perf::run(argc, argv);
}
