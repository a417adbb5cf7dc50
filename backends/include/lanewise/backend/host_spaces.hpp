// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/simd/target.hpp>

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_SERIAL) || defined(KOKKOS_ENABLE_OPENMP) || defined(KOKKOS_ENABLE_THREADS)
#include <lanewise/simd/team.hpp>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace detail_backend {

template <class Exec>
struct backend_of;

#if defined(KOKKOS_ENABLE_SERIAL)
template <>
struct backend_of<Kokkos::Serial> {
  using type = backends::simd::backend;
};
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
template <>
struct backend_of<Kokkos::OpenMP> {
  using type = backends::simd::backend;
};
#endif
#if defined(KOKKOS_ENABLE_THREADS)
template <>
struct backend_of<Kokkos::Threads> {
  using type = backends::simd::backend;
};
#endif

}  // namespace detail_backend
LANEWISE_END_TARGET_NAMESPACE
#endif
