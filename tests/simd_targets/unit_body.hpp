// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// The body of unit_a.cpp and unit_b.cpp, included once by each: the same source under different
// SIMD flags. UNIT_NEEDS and UNIT_RUN name what this unit defines.

#include <lanewise/simd/warp.hpp>
#if __has_include(<Kokkos_Core.hpp>) && __has_include(<lanewise/sort/multisplit.hpp>)
#include <lanewise/host.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sort/multisplit.hpp>

#include <Kokkos_Core.hpp>
#define UNIT_HAS_ALGORITHMS 1
#endif

#include "unit.hpp"

#include <cstdint>
#include <cstdio>
#include <vector>

namespace simd_targets {

extern const unsigned UNIT_NEEDS = 0
#if defined(__SSE4_2__)
                                   | sse4
#endif
#if defined(__AVX2__)
                                   | avx2
#endif
#if defined(__AVX512F__)
                                   | avx512
#endif
#if defined(__AVX512VBMI2__)
                                   | avx512_icelake
#endif
    ;

namespace {

using lanewise::backends::simd::warp;
using std::uint32_t;

const char* target_name() {
  return hwy::TargetName(HWY_STATIC_TARGET);
}

int expect(bool good, const char* what) {
  if (!good) std::printf("FAILED simd_targets: %s: %s\n", target_name(), what);
  return good ? 0 : 1;
}

uint32_t number(uint32_t i) {
  return (i * 2654435761u) ^ (i >> 7);
}

int check_warp() {
  const warp<32> w;
  int failures = 0;
  for (uint32_t round = 0; round < 100; ++round) {
    uint32_t a[32], scanned[32], packed[33], doubled[32];
    for (uint32_t i = 0; i < 32; ++i) a[i] = number(32 * round + i);
    for (uint32_t& p : packed) p = 77;
    const auto x = w.load(a);
    const auto even = (x & warp<32>::lanes<uint32_t>(1u)) == warp<32>::lanes<uint32_t>(0u);
    w.store(scanned, w.inclusive_scan(x, lanewise::plus{}));
    w.store(doubled, select(even, x + x, x));
    const int n = w.compress_store(packed, even, x);
    const uint32_t votes = w.ballot(even);
    uint32_t sum = 0, greatest = 0, expected_votes = 0, at = 0;
    bool good = true;
    for (uint32_t i = 0; i < 32; ++i) {
      const bool is_even = a[i] % 2 == 0;
      sum += a[i];
      greatest = greatest < a[i] ? a[i] : greatest;
      good = good && scanned[i] == sum && doubled[i] == (is_even ? a[i] + a[i] : a[i]);
      if (is_even) {
        good = good && packed[at++] == a[i];
        expected_votes |= 1u << i;
      }
    }
    for (uint32_t i = at; i < 33; ++i) good = good && packed[i] == 77;
    good = good && votes == expected_votes && static_cast<uint32_t>(n) == at;
    good = good && w.reduce(x, lanewise::plus{}) == sum &&
           w.reduce(x, lanewise::maximum{}) == greatest;
    failures += expect(good, "warp operations");
  }
  return failures;
}

#if defined(UNIT_HAS_ALGORITHMS)
using space = Kokkos::DefaultHostExecutionSpace;
using numbers = Kokkos::View<uint32_t*, Kokkos::HostSpace>;

int check_algorithms() {
  constexpr uint32_t n = 100003;
  const space exec;
  numbers in("in", n), scanned("scanned", n), split("split", n);
  for (uint32_t i = 0; i < n; ++i) in(i) = number(i);
  lanewise::inclusive_scan(exec, in, scanned, lanewise::plus{});
  lanewise::multisplit(exec, in, split, lanewise::at_most<256>{16}, by_low_bits());
  exec.fence();
  int failures = 0;
  uint32_t sum = 0;
  bool good = true;
  for (uint32_t i = 0; i < n; ++i) good = good && scanned(i) == (sum += in(i));
  failures += expect(good, "inclusive_scan");
  good = true;
  uint32_t at = 0;
  for (uint32_t bucket = 0; bucket < 16; ++bucket) {
    for (uint32_t i = 0; i < n; ++i) {
      if ((in(i)&15) == bucket) good = good && split(at++) == in(i);
    }
  }
  failures += expect(good, "multisplit");
  return failures;
}
#endif

}  // namespace

/// As a function of the library would be: the same name in both units but for the type of the warp.
template <class Warp>
__attribute__((noinline)) uint32_t library_function(const Warp& w, const uint32_t* p) {
  return w.reduce(w.load(p), lanewise::plus{});
}

unit_result UNIT_RUN() {
  unit_result r{target_name(), check_warp(), nullptr, nullptr};
  r.warp_function = reinterpret_cast<const void*>(&library_function<warp<32>>);
#if defined(UNIT_HAS_ALGORITHMS)
  r.failures += check_algorithms();
  using algorithm = void (*)(const space&, const numbers&, const numbers&, const lanewise::plus&,
                             const lanewise::call_options&);
  r.algorithm = reinterpret_cast<const void*>(
      static_cast<algorithm>(&lanewise::inclusive_scan<space, numbers, numbers, lanewise::plus>));
#endif
  return r;
}

}  // namespace simd_targets
