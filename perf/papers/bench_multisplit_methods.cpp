// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The papers' methods of multisplit beside the library's, on every backend of this Kokkos.

#include "multisplit_methods.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_methods_cuda();
#endif
  lanewise::perf::add_methods_host();
  return lanewise::perf::run(argc, argv);
}
