// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// Nanoseconds per warp operation on every SIMD target that this machine has, beside versions
// written with intrinsics by hand: the functions whose instructions tests/codegen counts, over data
// in the first-level cache.

#include "support.hpp"

#include <codegen/operations.hpp>
#include <ctime>

namespace lanewise::perf {
namespace {

using u32 = std::uint32_t;
using operation = void (*)(const u32* a, const u32* b, u32* out, long warps);

#define LANEWISE_PERF_DECLARE(kind, target, op) \
  extern "C" void kind##_##target##_##op(const u32*, const u32*, u32*, long);
#define LANEWISE_PERF_ALL(op)                 \
  LANEWISE_PERF_DECLARE(lanewise, avx512, op) \
  LANEWISE_PERF_DECLARE(lanewise, avx2, op)   \
  LANEWISE_PERF_DECLARE(lanewise, sse4, op)
#define LANEWISE_PERF_WRITTEN(op)               \
  LANEWISE_PERF_DECLARE(intrinsics, avx512, op) \
  LANEWISE_PERF_DECLARE(intrinsics, avx2, op)   \
  LANEWISE_PERF_DECLARE(intrinsics, sse4, op)
LANEWISE_CODEGEN_OPERATIONS(LANEWISE_PERF_ALL)
LANEWISE_CODEGEN_WRITTEN(LANEWISE_PERF_WRITTEN)

constexpr long warps = 32;  // 4 KiB an array

/// Processor time of this thread: other work on the machine counts less.
double now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// The least time of many rounds.
double seconds_per_warp(operation f, bool bucket_numbers) {
  alignas(64) static u32 a[32 * warps], b[32 * warps], out[32 * warps];
  for (long i = 0; i < 32 * warps; ++i) {
    // Half of the lanes are equal in a and b; b holds lane and bucket numbers.
    b[i] = static_cast<u32>(hash(static_cast<std::uint64_t>(i)) % (bucket_numbers ? 8 : 32));
    a[i] = hash(static_cast<std::uint64_t>(~i)) % 2 == 0 ? b[i] : ~b[i];
  }
  constexpr int calls = 200, rounds = 200;
  double least = 1;
  for (int round = 0; round < rounds; ++round) {
    const double begin = now();
    for (int call = 0; call < calls; ++call) f(a, b, out, warps);
    least = std::min(least, now() - begin);
  }
  return least / (calls * warps);
}

void add_operation(const char* target, const char* name, const char* variant, operation f) {
  const std::string algorithm = std::string("warp.") + name;
  const bool bucket_numbers = algorithm.ends_with("_8");
  add(row{algorithm, target, variant, "u32", "uniform", 32}, [=](benchmark::State& state) {
    const double seconds = seconds_per_warp(f, bucket_numbers);
    for (auto _ : state) state.SetIterationTime(seconds);
    state.SetItemsProcessed(32);
    state.counters["ns_per_warp"] = 1e9 * seconds;
    state.counters["bw_util"] = 0;  // nothing leaves the cache
  });
}

#define LANEWISE_PERF_ADD(target)                                \
  void add_##target() {                                          \
    LANEWISE_CODEGEN_OPERATIONS(LANEWISE_PERF_ADD_##target)      \
    LANEWISE_CODEGEN_WRITTEN(LANEWISE_PERF_ADD_WRITTEN_##target) \
  }
#define LANEWISE_PERF_ADD_avx512(op) add_operation("avx512", #op, "lanewise", lanewise_avx512_##op);
#define LANEWISE_PERF_ADD_avx2(op) add_operation("avx2", #op, "lanewise", lanewise_avx2_##op);
#define LANEWISE_PERF_ADD_sse4(op) add_operation("sse4", #op, "lanewise", lanewise_sse4_##op);
#define LANEWISE_PERF_ADD_WRITTEN_avx512(op) \
  add_operation("avx512", #op, "intrinsics", intrinsics_avx512_##op);
#define LANEWISE_PERF_ADD_WRITTEN_avx2(op) \
  add_operation("avx2", #op, "intrinsics", intrinsics_avx2_##op);
#define LANEWISE_PERF_ADD_WRITTEN_sse4(op) \
  add_operation("sse4", #op, "intrinsics", intrinsics_sse4_##op);
LANEWISE_PERF_ADD(avx512)
LANEWISE_PERF_ADD(avx2)
LANEWISE_PERF_ADD(sse4)

}  // namespace
}  // namespace lanewise::perf

int main(int argc, char** argv) {
  using namespace lanewise::perf;
  Kokkos::ScopeGuard kokkos(argc, argv);
  if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq"))
    add_avx512();
  if (__builtin_cpu_supports("avx2")) add_avx2();
  if (__builtin_cpu_supports("sse4.2")) add_sse4();
  return run(argc, argv);
}
