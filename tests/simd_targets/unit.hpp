// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the units of different SIMD targets in this program tell main.cpp. Nothing here depends on a
// target.

namespace simd_targets {

/// Instruction sets beyond the baseline that a unit's flags allow its compiler to use.
enum needs : unsigned { sse4 = 1, avx2 = 2, avx512 = 4, avx512_icelake = 8 };

struct unit_result {
  const char* target;  // Highway's name of the target
  int failures;        // checks that went wrong
  const void*
      warp_function;      // addresses of one instantiation of the library: another one in each unit
  const void* algorithm;  // null without Kokkos
};

extern const unsigned unit_a_needs;
extern const unsigned unit_b_needs;
unit_result run_unit_a();
unit_result run_unit_b();

/// Both units hand this type to the library, so that its functions have the same arguments in both.
struct by_low_bits {
  unsigned operator()(unsigned key) const { return key & 15; }
};

}  // namespace simd_targets
