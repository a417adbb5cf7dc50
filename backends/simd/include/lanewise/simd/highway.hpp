// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Highway, set up so that g++ and nvcc accept the same unit. Include this instead of
// <hwy/highway.h>.

#if defined(__CUDACC__)
#if defined(HIGHWAY_HWY_BASE_H_) && !HWY_IS_DEBUG_BUILD
#error "include lanewise before hwy/highway.h"
#endif

// Outside debug builds Highway casts between vector types in ways that only GCC's own front end
// understands.
#undef HWY_IS_DEBUG_BUILD
#define HWY_IS_DEBUG_BUILD 1

// nvcc does not parse the 16-bit floating point of these targets, nor the bare SSE2 target.
#if !defined(HWY_DISABLED_TARGETS)
#if defined(__x86_64__) && !defined(__SSSE3__)
#define HWY_DISABLED_TARGETS (HWY_AVX10_2 | HWY_AVX3_SPR | HWY_SSE2)
#else
#define HWY_DISABLED_TARGETS (HWY_AVX10_2 | HWY_AVX3_SPR)
#endif
#endif

#pragma nv_diagnostic push
#pragma nv_diag_suppress 191
#endif

// Without vector instructions GCC would get one lane per vector; the emulation of 16 bytes keeps
// one code path.
#if !defined(HWY_BROKEN_EMU128)
#define HWY_BROKEN_EMU128 0
#endif

#if defined(__CUDACC__)
#include <hwy/base.h>
// Debug builds also check every table index at run time.
#undef HWY_DASSERT
#undef HWY_DASSERT_M
#define HWY_DASSERT(condition) static_cast<void>(true || (condition))
#define HWY_DASSERT_M(condition, message) HWY_DASSERT(condition)
#endif
#include <hwy/highway.h>
#if defined(__CUDACC__)
#pragma nv_diagnostic pop
#endif

// Better targets have lower numbers. A message and no warning: -Werror must not turn it into an
// error. Once under nvcc too.
#if HWY_ARCH_X86 && HWY_STATIC_TARGET > HWY_SSE4 && !defined(__CUDA_ARCH__) && \
    !defined(LANEWISE_ALLOW_SLOW_SIMD)
#pragma message(                                                                      \
    "Lanewise's host code is compiled without SSE4.2, AES and PCLMUL: that is slow. " \
    "In CMake link Lanewise::avx2, else add -march=haswell -maes -mpclmul. "          \
    "LANEWISE_ALLOW_SLOW_SIMD silences this.")
#endif

static_assert(!HWY_HAVE_SCALABLE, "lanewise needs a SIMD target whose vectors have a fixed size");
