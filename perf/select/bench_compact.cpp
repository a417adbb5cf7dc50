// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Selection, unique, run-length coding, reduction and scan by key beside their peers, on every
// backend of this Kokkos.

#include "compact.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_compact_cuda();
#endif
  lanewise::perf::add_compact_host();
  return lanewise::perf::run(argc, argv);
}
