// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
// Carries the name of the static SIMD target in the binary, where configure reads it: no need to
// run it.
#include <hwy/detect_targets.h>

#if HWY_STATIC_TARGET == HWY_AVX3_SPR
#define NAME "AVX3_SPR"
#elif HWY_STATIC_TARGET == HWY_AVX3_ZEN4
#define NAME "AVX3_ZEN4"
#elif HWY_STATIC_TARGET == HWY_AVX3_DL
#define NAME "AVX3_DL"
#elif HWY_STATIC_TARGET == HWY_AVX3
#define NAME "AVX3"
#elif HWY_STATIC_TARGET == HWY_AVX2
#define NAME "AVX2"
#elif HWY_STATIC_TARGET == HWY_SSE4
#define NAME "SSE4"
#elif HWY_STATIC_TARGET == HWY_SSSE3
#define NAME "SSSE3"
#elif HWY_STATIC_TARGET == HWY_SSE2
#define NAME "SSE2"
#elif HWY_STATIC_TARGET == HWY_NEON || HWY_STATIC_TARGET == HWY_NEON_BF16
#define NAME "NEON"
#elif HWY_STATIC_TARGET == HWY_EMU128
#define NAME "EMU128"
#elif HWY_STATIC_TARGET == HWY_SCALAR
#define NAME "SCALAR"
#else
#define NAME "OTHER"
#endif

volatile char const target[] = "lanewise_simd_target:" NAME;

int main() {
  return target[0] == '\0';
}
