// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// transform, reduce, scans and multisplit beside their peers, on every backend of this Kokkos.

#include "algorithms.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_cuda();
#endif
  lanewise::perf::add_host();
  return lanewise::perf::run(argc, argv);
}
