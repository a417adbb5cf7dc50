// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Sorts of many segments beside their peers, on every backend of this Kokkos.

#include "segmented_sort.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_segmented_sort_cuda();
#endif
  lanewise::perf::add_segmented_sort_host();
  return lanewise::perf::run(argc, argv);
}
