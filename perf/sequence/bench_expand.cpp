// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Allocation, run-length decoding, reduction of segments, differences, reverse scans and least
// items beside their peers, on every backend of this Kokkos.

#include "expand.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_expand_cuda();
#endif
  lanewise::perf::add_expand_host();
  return lanewise::perf::run(argc, argv);
}
