// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// What is composed of sorts and multisplits, beside its peers, on every backend of this Kokkos.

#include "composed.hpp"
#include <lanewise/host.hpp>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
#if defined(KOKKOS_ENABLE_CUDA)
  lanewise::perf::add_cuda();
#endif
  lanewise::perf::for_each_backend([](const auto& exec) {
    using space = std::decay_t<decltype(exec)>;
    if constexpr (lanewise::perf::on_host<space>) lanewise::perf::add_composed<space>();
  });
  return lanewise::perf::run(argc, argv);
}
