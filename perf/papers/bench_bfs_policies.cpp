// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The strategies, gatherings and culls of breadth-first searches by frontiers, on every backend of
// this Kokkos.

#include "bfs_policies.hpp"

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_bfs_policies_cuda();
#endif
  lanewise::perf::add_bfs_policies_host();
  return lanewise::perf::run(argc, argv);
}
