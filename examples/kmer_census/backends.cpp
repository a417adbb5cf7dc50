// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#include "runs.hpp"

#include <string>

namespace kmer_census {
namespace {

/// The name of a space in options, and what it runs on.
template <class ExecutionSpace>
struct about {
  static constexpr const char* name = "emulated";
  static constexpr bool by_default = false;
  static std::string machine() { return "host, teams as on a GPU"; }
};

template <class ExecutionSpace>
std::string threads_of() {
  const int threads = ExecutionSpace{}.concurrency();
  return "host, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

#ifdef KOKKOS_ENABLE_SERIAL
template <>
struct about<Kokkos::Serial> {
  static constexpr const char* name = "serial";
  static constexpr bool by_default = true;
  static std::string machine() { return threads_of<Kokkos::Serial>(); }
};
#endif
#ifdef KOKKOS_ENABLE_OPENMP
template <>
struct about<Kokkos::OpenMP> {
  static constexpr const char* name = "openmp";
  static constexpr bool by_default = true;
  static std::string machine() { return threads_of<Kokkos::OpenMP>(); }
};
#endif
#ifdef KOKKOS_ENABLE_THREADS
template <>
struct about<Kokkos::Threads> {
  static constexpr const char* name = "threads";
  static constexpr bool by_default = true;
  static std::string machine() { return threads_of<Kokkos::Threads>(); }
};
#endif
#ifdef KOKKOS_ENABLE_CUDA
template <>
struct about<Kokkos::Cuda> {
  static constexpr const char* name = "cuda";
  static constexpr bool by_default = true;
  static std::string machine() { return Kokkos::Cuda{}.cuda_device_prop().name; }
};
#endif

template <class... ExecutionSpaces>
std::vector<backend> backends_of(space_list<ExecutionSpaces...>) {
  const auto by_sort = runs_by_sort(), by_radix = runs_by_radix(), by_hash = runs_by_hash();
  std::vector<backend> list;
  const auto add = [&]<class About>(About) {
    const std::size_t i = list.size();
    list.push_back({About::name, About::by_default, About::machine,
                    [sort = by_sort[i], radix = by_radix[i], hash = by_hash[i]](
                        method how, std::string_view letters, int k, std::size_t top) {
                      const run_function run = how == method::sort    ? sort
                                               : how == method::radix ? radix
                                                                      : hash;
                      return run(letters, k, top);
                    }});
  };
  (add(about<ExecutionSpaces>{}), ...);
  return list;
}

}  // namespace

std::vector<backend> backends() {
  return backends_of(spaces{});
}

}  // namespace kmer_census
