// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

// The name of the SIMD target that the flags of this unit choose. Highway's own name, but found
// without Highway, which takes nvcc seconds: simd/warp.hpp refuses a unit where the two differ.

// Units that override Highway's choice, and other processors than x86, get it from Highway.
#if defined(__x86_64__) && !defined(__AVX10_2__) && !defined(HWY_BASELINE_TARGETS) &&    \
    !defined(HWY_DISABLED_TARGETS) && !defined(HWY_BROKEN_TARGETS) &&                    \
    !defined(HWY_COMPILE_ONLY_SCALAR) && !defined(HWY_COMPILE_ONLY_EMU128) &&            \
    !defined(HWY_DISABLE_PCLMUL_AES) && !defined(HWY_DISABLE_BMI2_FMA) &&                \
    !defined(HWY_DISABLE_F16C) && !defined(HWY_WANT_SSE2) && !defined(HWY_WANT_SSSE3) && \
    !defined(HWY_WANT_SSE4) && !defined(HWY_WANT_AVX3_ZEN4)

#if defined(__SSE4_1__) && defined(__SSE4_2__) && defined(__AES__) && defined(__PCLMUL__)
#if defined(__AVX2__) && defined(__BMI2__) && defined(__FMA__) && defined(__F16C__)
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#if defined(__AVX512VNNI__) && defined(__VAES__) && defined(__VPCLMULQDQ__) &&          \
    defined(__AVX512VBMI__) && defined(__AVX512VBMI2__) && defined(__AVX512BITALG__) && \
    defined(__AVX512VPOPCNTDQ__)
// highway.hpp disables this target under nvcc.
#if defined(__AVX512BF16__) && defined(__AVX512FP16__) && !defined(__CUDACC__)
#define LANEWISE_TARGET N_AVX3_SPR
#else
#define LANEWISE_TARGET N_AVX3_DL
#endif
#else
#define LANEWISE_TARGET N_AVX3
#endif
#else
#define LANEWISE_TARGET N_AVX2
#endif
#else
#define LANEWISE_TARGET N_SSE4
#endif
#elif defined(__SSSE3__)
#define LANEWISE_TARGET N_SSSE3
#elif !defined(__CUDACC__)
#define LANEWISE_TARGET N_SSE2
#else
#define LANEWISE_TARGET N_EMU128  // highway.hpp disables SSE2 under nvcc
#endif

#elif __has_include(<hwy/highway.h>)
#include <lanewise/simd/highway.hpp>
#define LANEWISE_TARGET HWY_NAMESPACE
#else
#define LANEWISE_TARGET no_simd
#endif

// Everything whose code depends on the SIMD flags of the including unit lives in an inline
// namespace named by the target. So units compiled with different flags link into one program
// without picking each other's instructions.
#define LANEWISE_BEGIN_TARGET_NAMESPACE LANEWISE_BEGIN_NAMESPACE inline namespace LANEWISE_TARGET {
#define LANEWISE_END_TARGET_NAMESPACE \
  }                                   \
  LANEWISE_END_NAMESPACE
