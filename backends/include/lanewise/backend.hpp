// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that maps Kokkos execution spaces to backends.

#include <lanewise/emulated.hpp>
#include <lanewise/execution_space.hpp>
#include <lanewise/status.hpp>
#include <lanewise/workspace.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#include <lanewise/cuda/launch.hpp>
#endif
#if defined(KOKKOS_ENABLE_SERIAL) || defined(KOKKOS_ENABLE_OPENMP) || defined(KOKKOS_ENABLE_THREADS)
#include <lanewise/simd/team.hpp>
#endif

// Everything whose code depends on the SIMD flags of the including unit lives in an inline
// namespace named by the target, so that units compiled with different flags link into one program
// without picking each other's instructions.
#if defined(HWY_NAMESPACE)
#define LANEWISE_TARGET HWY_NAMESPACE
#else
#define LANEWISE_TARGET no_simd
#endif
#define LANEWISE_BEGIN_TARGET_NAMESPACE LANEWISE_BEGIN_NAMESPACE inline namespace LANEWISE_TARGET {
#define LANEWISE_END_TARGET_NAMESPACE \
  }                                   \
  LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace detail_backend {

template <class Exec>
struct backend_of {
  static_assert(sizeof(Exec) == 0, "Lanewise has no backend for this execution space");
};
template <>
struct backend_of<emulated> {
  using type = backends::emulated::backend;
};
template <int width>
struct backend_of<emulated_with_width<width>> {
  using type = backends::emulated::backend_with<backends::emulated::warp<width>>;
};
template <>
struct backend_of<emulated_host> {
  using type = backends::emulated::backend_with<backends::emulated::warp<32>, false>;
};
#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
template <>
struct backend_of<Kokkos::Cuda> {
  using type = backends::cuda::backend;
};
#endif
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

template <class Exec>
using backend_of = typename detail_backend::backend_of<Exec>::type;

/// The team of a kernel with this policy on this execution space, and its warp: for kernels that
/// are lambdas over named types.
template <class Exec, class Policy = launch_policy>
using team_t = typename backend_of<Exec>::template team<Policy>;
template <class Exec>
using warp_t = typename team_t<Exec>::warp_type;

/// The warp that the calling thread of a Kokkos team is: inside kernels of a TeamPolicy. On CUDA
/// the policy's vector length must be 32 (warp_lanes), and every lane of a team's thread calls warp
/// operations outside of ThreadVectorRange and single; on the host a team's thread is a warp by
/// itself, whatever the vector length.
template <class Member>
LANEWISE_FUNCTION warp_t<typename Member::execution_space> warp_of(const Member&) {
  return {};
}
/// The vector length of a TeamPolicy for kernels that use warp_of.
inline constexpr int warp_lanes = 32;

/// Starts league teams of a kernel (see team.hpp) on the instance. Does not block on CUDA.
template <execution_space Exec, class Kernel>
void launch(const Exec& exec, const char* label, std::int64_t league, const Kernel& kernel) {
  backend_of<Exec>::launch(exec, label, league, kernel);
}

/// Makes room in a workspace for calls of this size on this instance, so that they allocate
/// nothing.
template <execution_space Exec>
void reserve(const Exec& exec, workspace& work, const workspace_size& size) {
  work.reserve_for<backend_of<Exec>>(exec, size, "reserve");
}

LANEWISE_END_TARGET_NAMESPACE
