// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Function qualifiers and the few compiler differences that the "written once" code has to know.

// Whether a sanitizer looks at what is compiled. g++ and clang say so in different ways.
#if defined(__has_feature)
#define LANEWISE_HAS_FEATURE(name) __has_feature(name)
#else
#define LANEWISE_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || LANEWISE_HAS_FEATURE(address_sanitizer)
#define LANEWISE_ADDRESS_SANITIZER 1
#else
#define LANEWISE_ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__) || LANEWISE_HAS_FEATURE(thread_sanitizer)
#define LANEWISE_THREAD_SANITIZER 1
#else
#define LANEWISE_THREAD_SANITIZER 0
#endif

// Whether hosts inline the functions of kernels by force, as loops over lanes become vector code
// only where they are inlined. Without, the compiler chooses: it takes a half to a tenth of the
// time, and programs are slower. So it is where nothing is optimised, and under sanitizers.
#if !defined(LANEWISE_FORCE_INLINE)
#if defined(__OPTIMIZE__) && !LANEWISE_ADDRESS_SANITIZER && !LANEWISE_THREAD_SANITIZER
#define LANEWISE_FORCE_INLINE 1
#else
#define LANEWISE_FORCE_INLINE 0
#endif
#endif

#if defined(__CUDACC__)
// If nvcc does not optimise (-G), the variables of all functions that are inlined lie side by side
// on the stack: a kernel then needs up to 107 KB of stack a thread.
#if defined(__CUDACC_DEBUG__) || (!defined(__CUDA_ARCH__) && !LANEWISE_FORCE_INLINE)
#define LANEWISE_FUNCTION __host__ __device__ inline
#else
#define LANEWISE_FUNCTION __host__ __device__ __forceinline__
#endif
// A kernel's body that nvcc 13.0 leaves a function, as it finds it too large, may find no registers
// ("C7600"). On hosts only compile time would be lost.
#if defined(__CUDA_ARCH__)
#define LANEWISE_KERNEL_FUNCTION __host__ __device__ __forceinline__
#define LANEWISE_RARE_FUNCTION __host__ __device__ __forceinline__
#else
#define LANEWISE_KERNEL_FUNCTION __host__ __device__ inline
#define LANEWISE_RARE_FUNCTION __host__ __device__ __attribute__((noinline))
#endif
#define LANEWISE_LOOP_FUNCTION __host__ __device__ __noinline__
#define LANEWISE_SEPARATE_FUNCTION __host__ __device__ __noinline__
// One template serves the device and the host, so each instantiation calls functions of one side
// only. nvcc reports the call on the other side as 20011 and 20014, or 20013 and 20015 where it is
// constexpr; they are silenced for this library's headers alone. What kernels on a device cannot
// call is refused before they are launched (data/functors.hpp).
#define LANEWISE_BEGIN_NAMESPACE \
  _Pragma("nv_diagnostic push")  \
      _Pragma("nv_diag_suppress 20011,20013,20014,20015") namespace lanewise {
#define LANEWISE_END_NAMESPACE \
  }                            \
  _Pragma("nv_diagnostic pop")
#else
#if LANEWISE_FORCE_INLINE
#define LANEWISE_FUNCTION inline __attribute__((always_inline))
#else
#define LANEWISE_FUNCTION inline
#endif
#define LANEWISE_KERNEL_FUNCTION inline
#define LANEWISE_RARE_FUNCTION __attribute__((noinline))
#define LANEWISE_LOOP_FUNCTION __attribute__((noinline))
#define LANEWISE_SEPARATE_FUNCTION __attribute__((noinline))
// g++ 12 warns of the sign of every array bound that depends on a template's int, as in `T x[k]`.
// It also warns of parameters that have the name of a user's global, if a template is instantiated
// after the global. clang has neither fault, and the tests ask it.
#if defined(__GNUC__) && !defined(__clang__)
#define LANEWISE_BEGIN_NAMESPACE                                                         \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wsign-conversion\"") \
      _Pragma("GCC diagnostic ignored \"-Wshadow\"") namespace lanewise {
#define LANEWISE_END_NAMESPACE \
  }                            \
  _Pragma("GCC diagnostic pop")
#else
#define LANEWISE_BEGIN_NAMESPACE namespace lanewise {
#define LANEWISE_END_NAMESPACE }
#endif
#endif

// LANEWISE_KERNEL_FUNCTION: a kernel's body, and steps so large that inlining by force gains hosts
// nothing. A unit of bfs compiles in 0.66 of the time without.
//
// LANEWISE_RARE_FUNCTION: what a kernel seldom does. Inlined on hosts, it makes a kernel so large
// that with nvcc, where Highway's functions are not forced inline, g++ leaves them calls.
//
// LANEWISE_SEPARATE_FUNCTION: one that stays a function on devices, too. Inlined, what is seldom
// needed takes registers from what is always done, or has it spilled; and nvcc takes long.
//
// LANEWISE_LOOP_FUNCTION: a host's innermost loop over many items, which takes what it needs by
// value. Inlined into a kernel that holds much else, g++ 12 keeps its invariants in memory:
// counting keys by bucket took 0.75 ns per key instead of 0.33 (Zen 4).

// Register arrays on the device need constant indices. On the host the same arrays are memory, and
// unrolling only costs compile time.
#if defined(__CUDA_ARCH__)
#define LANEWISE_UNROLL _Pragma("unroll")
#else
#define LANEWISE_UNROLL
#endif

// Lambdas inside kernels must be inlined into the vector code around them.
#if defined(__CUDA_ARCH__) || LANEWISE_FORCE_INLINE
#define LANEWISE_INLINE_LAMBDA __attribute__((always_inline))
#else
#define LANEWISE_INLINE_LAMBDA
#endif
