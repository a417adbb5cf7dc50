// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Searches in sorted keys beside their peers, on every backend of this Kokkos.

#include "search.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_searches_cuda();
#endif
  lanewise::perf::add_searches_host();
  return lanewise::perf::run(argc, argv);
}
