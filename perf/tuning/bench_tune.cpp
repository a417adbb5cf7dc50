// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Every candidate policy on the GPU, or, without CUDA, on the host. Run by perf/tune.

#include "tune.hpp"

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  add_device_copies();
  add_device_rows();
  add_device_compactions();
  add_device_runs();
  add_device_reductions_by_key();
#else
  add_host_rows();
  add_host_compactions();
#endif
  return run(argc, argv);
}
