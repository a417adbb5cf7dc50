// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one place that maps Kokkos execution spaces to backends. CUDA units get the CUDA backend, all
// others that of the host; <lanewise/host.hpp> and <lanewise/emulated.hpp> add theirs.

#include <lanewise/backend/compiled.hpp>
#include <lanewise/call/execution_space.hpp>
#include <lanewise/call/resident.hpp>
#include <lanewise/call/status.hpp>
#include <lanewise/call/workspace.hpp>
#include <lanewise/emulated/space.hpp>
#include <lanewise/simd/target.hpp>

#include <Kokkos_Core.hpp>

#include <type_traits>

#if KOKKOS_VERSION < 50000 || KOKKOS_VERSION >= 50300
#error "Lanewise needs Kokkos 5.0 up to, not including, 5.3: see KOKKOS_VERSION of this one"
#endif

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
#include <lanewise/cuda/launch.hpp>
#else
#include <lanewise/backend/host_spaces.hpp>
#endif

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace detail_backend {

template <class Exec>
struct backend_of;

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
template <>
struct backend_of<Kokkos::Cuda> {
  using type = backends::cuda::backend;
};
using usual = backends::cuda::backend;
#else
using usual = backends::simd::backend;
#endif

/// Stands in where a backend is missing, so that nothing but the assertion below is an error. Not
/// to be run.
struct missing {
  static constexpr const char* name = "missing";
  static constexpr bool launch_waits = true;
  template <class Policy>
  using team = typename usual::template team<Policy>;
  template <class Exec, class Kernel>
  static void launch(const Exec&, const char*, std::int64_t, const Kernel&) {}
  template <class Exec, class Kernel>
  static void launch_resident(const Exec&, const char*, std::int64_t, const Kernel&) {}
  template <class Kernel, class Exec>
  static std::int64_t resident_teams(const Exec&) {
    return 0;
  }
  template <class Kernel, class Exec>
  static std::int64_t league_for_tiles(const Exec&, std::int64_t) {
    return 0;
  }
  template <class Kernel, class Exec>
  static std::int64_t resident_league(const Exec&, std::int64_t) {
    return 0;
  }
  template <class Exec>
  static bool sorting_pays(const Exec&, std::int64_t) {
    return false;
  }
  template <class Exec>
  static bool building_pays(const Exec&, std::int64_t, std::int64_t) {
    return false;
  }
  template <class Exec>
  static std::int64_t scratch_bytes(const Exec&) {
    return 0;
  }
  template <class Exec>
  static void* allocate(const Exec&, std::size_t) {
    return nullptr;
  }
  template <class Exec>
  static void deallocate(const Exec&, void*) noexcept {}
  template <class Exec>
  static void zero(const Exec&, void*, std::size_t) {}
  template <class Exec>
  static bool is_capturing(const Exec&) {
    return false;
  }
};

template <class Exec>
inline constexpr bool is_host_space = false
#if defined(KOKKOS_ENABLE_SERIAL)
                                      || std::is_same_v<Exec, Kokkos::Serial>
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
                                      || std::is_same_v<Exec, Kokkos::OpenMP>
#endif
#if defined(KOKKOS_ENABLE_THREADS)
                                      || std::is_same_v<Exec, Kokkos::Threads>
#endif
    ;

template <class Exec>
struct backend_of {
  static constexpr bool of_lanes = std::is_base_of_v<emulated_lanes, Exec>;
  static constexpr bool of_emulated = std::is_base_of_v<emulated, Exec> && !of_lanes;
  static_assert(!is_host_space<Exec>,
                "Lanewise: CUDA units that call on a host execution space include "
                "<lanewise/host.hpp>");
  static_assert(!of_emulated,
                "Lanewise: units that call on lanewise::emulated include <lanewise/emulated.hpp>");
  static_assert(!of_lanes,
                "Lanewise: units that call on lanewise::emulated_lanes include "
                "<lanewise/emulated_lanes.hpp>");
  static_assert(is_host_space<Exec> || std::is_base_of_v<emulated, Exec>,
                "Lanewise has no backend for this execution space");
  using type = missing;
};

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

/// How many teams of the kernel the instance can run at the same time, when it runs nothing else.
/// On CUDA these are the teams that fit all multiprocessors. On hosts it is one team per thread of
/// the instance, and one team if the caller is in a parallel region already.
template <class Kernel, execution_space Exec>
std::int64_t resident_teams(const Exec& exec) {
  return backend_of<Exec>::template resident_teams<Kernel>(exec);
}

/// As `launch`, and grants that all teams of the league run at the same time, so that they may wait
/// for each other (league_barrier.hpp). If that cannot be granted, no team has started, and it
/// throws std::invalid_argument. The exception has the label, the league and the number of teams
/// that can be resident. A league of resident_teams can be refused, too, if the OpenMP runtime has
/// fewer threads to give than the instance has. Does not block on CUDA.
template <execution_space Exec, class Kernel>
void launch_resident(const Exec& exec, const char* label, std::int64_t league,
                     const Kernel& kernel) {
  detail::expects_resident(label, league, lanewise::resident_teams<Kernel>(exec));
  backend_of<Exec>::launch_resident(exec, label, league, kernel);
}

/// Makes room in a workspace for calls of this size on this instance, so that they allocate
/// nothing.
template <execution_space Exec>
void reserve(const Exec& exec, workspace& work, const workspace_size& size) {
  work.reserve_for<backend_of<Exec>>(exec, size, "reserve");
}

LANEWISE_END_TARGET_NAMESPACE
