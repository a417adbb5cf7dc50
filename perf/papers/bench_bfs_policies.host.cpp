// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "bfs_policies.hpp"
#include <lanewise/host.hpp>

namespace lanewise::perf {

void add_bfs_policies_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_bfs_policies<Kokkos::Serial>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_bfs_policies<Kokkos::OpenMP>();
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  add_bfs_policies<Kokkos::Threads>();
#endif
}

}  // namespace lanewise::perf
