// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// top_k and nth_element beside their peers, on every backend of this Kokkos.

#include "top_k.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_top_k_cuda();
#endif
  lanewise::perf::add_top_k_host();
  return lanewise::perf::run(argc, argv);
}
