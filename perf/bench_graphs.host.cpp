// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "graphs.hpp"
#include <lanewise/host.hpp>

namespace lanewise::perf {

void add_graphs_host() {
#if defined(KOKKOS_ENABLE_SERIAL)
  add_graphs<Kokkos::Serial>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_graphs<Kokkos::OpenMP>();
#endif
#if defined(KOKKOS_ENABLE_THREADS)
  add_graphs<Kokkos::Threads>();
#endif
}

}  // namespace lanewise::perf
