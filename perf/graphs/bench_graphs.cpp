// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Searches, components, ranks and the building of graphs, on every backend of this Kokkos.

#include "graphs.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_graphs_cuda();
#endif
  lanewise::perf::add_graphs_host();
  return lanewise::perf::run(argc, argv);
}
