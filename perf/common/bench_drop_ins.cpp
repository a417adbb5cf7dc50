// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// sort, sort_by_key and bin_sort beside those of Kokkos, on every backend of this Kokkos.

#include "support.hpp"

namespace lanewise::perf {
void add_drop_ins_host();
void add_drop_ins_cuda();
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_drop_ins_cuda();
#endif
  lanewise::perf::add_drop_ins_host();
  return lanewise::perf::run(argc, argv);
}
