// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends.hpp"
#include <lanewise/emulated.hpp>
#include <lanewise/host.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

// Each method is a unit of its own, so that they compile side by side. The emulated backend, which
// checks and is not fast, has one for all methods, which is little optimised.
namespace kmer_census {

template <class... ExecutionSpaces>
struct space_list {};
using spaces = space_list<
#ifdef KOKKOS_ENABLE_SERIAL
    Kokkos::Serial,
#endif
#ifdef KOKKOS_ENABLE_OPENMP
    Kokkos::OpenMP,
#endif
#ifdef KOKKOS_ENABLE_THREADS
    Kokkos::Threads,
#endif
#ifdef KOKKOS_ENABLE_CUDA
    Kokkos::Cuda,
#endif
    lanewise::emulated>;

using run_function = census_times (*)(std::string_view letters, int k, std::size_t top);

/// What runs a method on each of the spaces, in their order.
std::vector<run_function> runs_by_sort();
std::vector<run_function> runs_by_radix();
std::vector<run_function> runs_by_hash();

template <class Census, class ExecutionSpace>
census_times run_census(std::string_view letters, int k, std::size_t top) {
  Census run{ExecutionSpace{}};
  census_result result = run.run(letters, k, top);
  return {std::move(result), run.stages()};
}

template <template <class> class Census, class... ExecutionSpaces>
std::vector<run_function> runs_of(space_list<ExecutionSpaces...>) {
  return {run_census<Census<ExecutionSpaces>, ExecutionSpaces>...};
}

}  // namespace kmer_census
