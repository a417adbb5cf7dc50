// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "backends.hpp"

#include "census.hpp"
#include "hash_census.hpp"
#include "radix_census.hpp"
#include <lanewise/emulated.hpp>
#include <lanewise/host.hpp>

#include <Kokkos_Core.hpp>

namespace kmer_census {
namespace {

template <class Census>
census_times run_census(Census run, std::string_view letters, int k, std::size_t top) {
  census_result result = run.run(letters, k, top);
  return {std::move(result), run.stages()};
}

template <class ExecutionSpace>
census_times run_on(method how, std::string_view letters, int k, std::size_t top) {
  const ExecutionSpace exec{};
  switch (how) {
    case method::sort:
      return run_census(census<ExecutionSpace>(exec), letters, k, top);
    case method::radix:
      return run_census(radix_census<ExecutionSpace>(exec), letters, k, top);
    default:
      return run_census(hash_census<ExecutionSpace>(exec), letters, k, top);
  }
}

template <class ExecutionSpace>
std::string threads_of() {
  const int threads = ExecutionSpace{}.concurrency();
  return "host, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace

std::vector<backend> backends() {
  std::vector<backend> list;
#ifdef KOKKOS_ENABLE_SERIAL
  list.push_back({"serial", true, threads_of<Kokkos::Serial>, run_on<Kokkos::Serial>});
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  list.push_back({"openmp", true, threads_of<Kokkos::OpenMP>, run_on<Kokkos::OpenMP>});
#endif
#ifdef KOKKOS_ENABLE_THREADS
  list.push_back({"threads", true, threads_of<Kokkos::Threads>, run_on<Kokkos::Threads>});
#endif
#ifdef KOKKOS_ENABLE_CUDA
  list.push_back({"cuda", true, [] { return std::string(Kokkos::Cuda{}.cuda_device_prop().name); },
                  run_on<Kokkos::Cuda>});
#endif
  list.push_back({"emulated", false, [] { return std::string("host, teams as on a GPU"); },
                  run_on<lanewise::emulated>});
  return list;
}

}  // namespace kmer_census
