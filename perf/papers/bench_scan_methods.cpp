// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Exclusive scans in Merrill's ways (4.3) beside the single pass: by two sweeps, and by recursion
// over blocks, a tile each.

#include "sequence/algorithms.hpp"
#include <lanewise/host.hpp>
#include <lanewise/papers/scan_recursive.hpp>

namespace lanewise::perf {
namespace {

template <class Exec, class T>
void add_recursive_scans() {
  using problem = scan_problem<Exec, T, true>;
  add<problem>("lanewise.reduce_then_scan", [](problem& p, auto time) {
    lanewise::workspace work;
    time([&] {
      papers::reduce_then_scan::exclusive_scan(p.exec, p.in, p.out, plus{}, T{}, {.work = &work});
    });
  });
  add<problem>("lanewise.scan_then_propagate", [](problem& p, auto time) {
    lanewise::workspace work;
    time([&] {
      papers::scan_then_propagate::exclusive_scan(p.exec, p.in, p.out, plus{}, T{},
                                                  {.work = &work});
    });
  });
}

template <class Exec, class T>
void add_methods() {
  add_lanewise_scan<scan_problem<Exec, T, true>>();
  add_two_level_scan<Exec, T>();
  add_recursive_scans<Exec, T>();
}

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
  for_each_backend([](auto exec) {
    using Exec = decltype(exec);
    add_methods<Exec, std::uint32_t>();
    add_methods<Exec, double>();
  });
#if defined(KOKKOS_ENABLE_CUDA)
  add_cuda();
#endif
  return run(argc, argv);
}
