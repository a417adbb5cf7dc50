// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Every candidate policy on every backend of this Kokkos. Run by perf/tune.

#include "tune.hpp"

namespace lanewise::perf {

void add_cuda_candidates();  // in bench_tune.cuda.cpp

namespace {

template <class Exec>
void add_host_candidates() {
  using list =
      candidates<candidate<8, 16, 1, 32>, candidate<8, 16, 1, 64>, candidate<8, 16, 1, 128>,
                 candidate<8, 16, 1, 256>, candidate<8, 16, 1, 512>>;
  add_tuned_sums<Exec>(list{});
  add_tuned_splits<Exec>(list{});
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  add_cuda_candidates();
#endif
#if defined(KOKKOS_ENABLE_SERIAL)
  add_host_candidates<Kokkos::Serial>();
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
  add_host_candidates<Kokkos::OpenMP>();
#endif
  return run(argc, argv);
}
