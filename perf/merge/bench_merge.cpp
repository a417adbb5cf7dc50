// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Merge sorts, merges and set operations beside their peers, on every backend of this Kokkos.

#include "merging.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_merges_cuda();
#endif
  lanewise::perf::add_merges_host();
  return lanewise::perf::run(argc, argv);
}
