// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Two units compiled for different SIMD targets in one program. Built without SIMD flags: this part
// decides, on a processor of any kind, what may run. Links with unit_a.cpp, unit_b.cpp, libhwy and,
// where there is one, Kokkos.

#if __has_include(<Kokkos_Core.hpp>)
#include <Kokkos_Core.hpp>
#define MAIN_HAS_KOKKOS 1
#endif

#include "unit.hpp"

#include <cstdio>
#include <cstring>

namespace {

using namespace simd_targets;

bool supported(unsigned what) {
  bool good = true;
  if (what & sse4)
    good = good && __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  if (what & avx2) {
    good = good && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma");
  }
  if (what & avx512) {
    good = good && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  }
  if (what & avx512_icelake) {
    good = good && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("vpclmulqdq");
  }
  return good;
}

int run() {
  unit_result a{}, b{};
  const bool has_a = supported(unit_a_needs), has_b = supported(unit_b_needs);
  if (has_a) a = run_unit_a();
  if (has_b) b = run_unit_b();
  // The other unit's functions are still there, and still the first one's own.
  if (has_a) a.failures += run_unit_a().failures;
  int failures = a.failures + b.failures;
  std::printf("simd_targets: unit_a %s, unit_b %s\n", has_a ? a.target : "not here (processor)",
              has_b ? b.target : "not here (processor)");
  if (has_a && has_b) {
    const bool differ = std::strcmp(a.target, b.target) != 0;
    if (!differ && (unit_a_needs & avx2) && failures == 0) {
      std::printf("simd_targets: not here: the compiler adds flags to those of unit_a\n");
      return 77;
    }
    const bool own_warps = a.warp_function != b.warp_function;
    const bool own_algorithms = a.algorithm == nullptr || a.algorithm != b.algorithm;
    if (!differ) std::printf("FAILED simd_targets: both units were compiled for %s\n", a.target);
    if (!own_warps) std::printf("FAILED simd_targets: the units share functions of the warp\n");
    if (!own_algorithms) std::printf("FAILED simd_targets: the units share an algorithm\n");
    failures += !differ + !own_warps + !own_algorithms;
  }
  std::printf("simd_targets: %s, algorithms %s\n", failures == 0 ? "passed" : "failed",
              a.algorithm != nullptr || b.algorithm != nullptr ? "ran" : "not here (no Kokkos)");
  return failures != 0;
}

}  // namespace

int main(int argc, char** argv) {
#if defined(MAIN_HAS_KOKKOS)
  const Kokkos::ScopeGuard kokkos(argc, argv);
#else
  static_cast<void>(argc);
  static_cast<void>(argv);
#endif
  return run();
}
