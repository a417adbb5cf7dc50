// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/simd/target.hpp>

#include <Kokkos_Core.hpp>

// The templates that a unit finds compiled in the CMake target Lanewise::compiled. The target
// defines LANEWISE_COMPILED, and LANEWISE_COMPILED_<target> for each SIMD target that it was built
// for. Units of another SIMD target compile all templates by themselves.

#define LANEWISE_COMPILED_FOR_NAME(target) LANEWISE_COMPILED_##target
#define LANEWISE_COMPILED_FOR(target) LANEWISE_COMPILED_FOR_NAME(target)

// A list of explicit instantiations begins with LANEWISE_COMPILED_TEMPLATE, where there is one. The
// component's own units define it before all headers.
#if !defined(LANEWISE_COMPILED_TEMPLATE) && defined(LANEWISE_COMPILED)
#if LANEWISE_COMPILED_FOR(LANEWISE_TARGET)
#define LANEWISE_COMPILED_TEMPLATE extern template
#endif
#endif

// Calls instantiate(space) for each execution space of this Kokkos.
#if defined(KOKKOS_ENABLE_SERIAL)
#define LANEWISE_FOR_SERIAL(instantiate) instantiate(Kokkos::Serial)
#else
#define LANEWISE_FOR_SERIAL(instantiate)
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
#define LANEWISE_FOR_OPENMP(instantiate) instantiate(Kokkos::OpenMP)
#else
#define LANEWISE_FOR_OPENMP(instantiate)
#endif
#if defined(KOKKOS_ENABLE_THREADS)
#define LANEWISE_FOR_THREADS(instantiate) instantiate(Kokkos::Threads)
#else
#define LANEWISE_FOR_THREADS(instantiate)
#endif
#if defined(KOKKOS_ENABLE_CUDA)
#define LANEWISE_FOR_CUDA(instantiate) instantiate(Kokkos::Cuda)
#else
#define LANEWISE_FOR_CUDA(instantiate)
#endif
#define LANEWISE_FOR_ALL_SPACES(instantiate) \
  LANEWISE_FOR_SERIAL(instantiate)           \
  LANEWISE_FOR_OPENMP(instantiate)           \
  LANEWISE_FOR_THREADS(instantiate)          \
  LANEWISE_FOR_CUDA(instantiate)

// Calls instantiate(space, type) for each type of numbers of 4 and 8 bytes.
#define LANEWISE_FOR_NUMBERS(instantiate, space)                                                   \
  instantiate(space, std::int32_t) instantiate(space, std::uint32_t)                               \
      instantiate(space, std::int64_t) instantiate(space, std::uint64_t) instantiate(space, float) \
          instantiate(space, double)
