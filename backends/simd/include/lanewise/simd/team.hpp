// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/resident.hpp>
#include <lanewise/data/source.hpp>
#include <lanewise/simd/warp.hpp>
#include <lanewise/team/team.hpp>

#include <Kokkos_Core.hpp>

#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

#if defined(KOKKOS_ENABLE_OPENMP)
#include <omp.h>
#endif

LANEWISE_BEGIN_NAMESPACE
namespace backends::simd {

/// Launches of one thread by itself do not come by the lock that Kokkos has in an instance; so all
/// launches on it take this one. Instances may share one.
template <class Exec>
std::recursive_mutex& order_of(const Exec& exec) {
  static std::array<std::recursive_mutex, 64> locks;
  return locks[exec.impl_instance_id() % locks.size()];
}

/// Whether the caller is in a parallel region, in which Kokkos may run what it gets on one thread.
template <class Exec>
bool in_parallel_region() {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) return omp_get_level() > 0;
#endif
  return false;
}

/// The number of threads that run a parallel_for, if Kokkos asks for `most`; one of these threads
/// calls it. OpenMP gives fewer where it may (OMP_DYNAMIC) or has to (OMP_THREAD_LIMIT).
template <class Exec>
int threads_of_region(int most) {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Exec, Kokkos::OpenMP>) return omp_get_num_threads();
#endif
  return most;
}

inline namespace HWY_NAMESPACE {

/// One thread with one warp.
class team {
 public:
  using warp_type = simd::warp<32>;
  /// Fewer lanes, for what fits fewer vectors.
  template <int width>
  using narrow_warp = simd::warp<width>;
  static constexpr int warps = 1;
  static constexpr int parked_tiles = 0;
  static constexpr int windows_in_flight = 4;
  static constexpr bool one_ticket = false;
  static constexpr bool is_single_thread = true;

  team(std::uint32_t index, std::uint32_t league) : index_(index), league_(league) {}

  warp_type warp() const { return {}; }
  int warp_index() const { return 0; }
  std::uint32_t index() const { return index_; }
  std::uint32_t league() const { return league_; }
  void barrier() const {}
  template <class F>
  void once(F f) const {
    f();
  }
  index_range share(std::int64_t n) const { return even_share(n, index(), league()); }

  /// Items stay where they are: the caches are the closest memory.
  template <class Raw, int n>
  class staging {
   public:
    void init(const team&) {}
    template <class F>
    void load_async(const team&, const array_source<Raw, F>&, std::int64_t first,
                    std::int64_t count) {
      first_ = first;
      count_ = count;
    }
    template <class F>
    array_source<Raw, F> wait(const team&, const array_source<Raw, F>& source,
                              std::uint32_t) const {
      return {source.data + first_, count_, source.f};
    }

   private:
    std::int64_t first_;
    std::int64_t count_;
  };

 private:
  std::uint32_t index_;
  std::uint32_t league_;
};

/// Neighbouring teams of a league, and which of them is begun next.
struct alignas(64) neighbours {
  std::int64_t next;
  std::int64_t end;
};

/// A kernel without its type: what surrounds it, Kokkos' parallel_for included, is compiled once
/// for every execution space and not once for every kernel.
struct any_kernel {
  const void* kernel;
  void (*run_team)(const void* kernel, std::uint32_t index, std::uint32_t league);
  std::uint32_t league;

  template <class Kernel>
  static void run(const void* kernel, std::uint32_t index, std::uint32_t league) {
    using scratch = typename Kernel::template scratch<team>;
    alignas(64) alignas(scratch) scratch shared;
    (*static_cast<const Kernel*>(kernel))(team(index, league), shared);
    // Stores past the caches are not ordered by what ends a parallel_for.
    hwy::FlushStream();
  }
  template <class Kernel>
  static any_kernel of(const Kernel& kernel, std::int64_t league) {
    return {&kernel, &run<Kernel>, static_cast<std::uint32_t>(league)};
  }
  void operator()(std::int64_t index) const {
    run_team(kernel, static_cast<std::uint32_t>(index), league);
  }
};

/// Every thread runs neighbours, whose memory it may have touched first, and then helps the others.
struct run_neighbours {
  any_kernel kernel;
  neighbours* all;
  int runs;

  // A struct and not a lambda: nvcc calls extended lambdas through a function pointer on the host.
  KOKKOS_FUNCTION void operator()(const int thread) const {
    KOKKOS_IF_ON_HOST(
        (const int several = static_cast<std::uint32_t>(runs) < kernel.league ? runs : 1;
         for (int i = 0; i < several; ++i) run_some(all[(thread + i) % runs]);))
  }

 private:
  void run_some(neighbours& some) const {
    const std::atomic_ref<std::int64_t> next(some.next);
    std::int64_t index;
    while ((index = next.fetch_add(1, std::memory_order_relaxed)) < some.end) kernel(index);
  }
};

/// All teams, one after the other, on the calling thread. To tools it is a parallel_for.
template <class Exec>
void run_alone(const Exec& exec, const char* label, const any_kernel& kernel) {
  const struct told {
    bool begun = Kokkos::Tools::profileLibraryLoaded();
    std::uint64_t id = 0;
    told(const Exec& on, const char* name) {
      if (begun)
        Kokkos::Tools::beginParallelFor(name, Kokkos::Tools::Experimental::device_id(on), &id);
    }
    ~told() {
      if (begun) Kokkos::Tools::endParallelFor(id);
    }
  } tools(exec, label);
  for (std::int64_t index = 0; index < kernel.league; ++index) kernel(index);
}

/// Teams on all threads of the instance: one index of a parallel_for for each. It returns when all
/// is done, as on all host spaces of Kokkos.
template <class Exec>
void run_on_threads(const Exec& exec, const char* label, const any_kernel& kernel, int threads) {
  using policy_type =
      Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<int>>;
  constexpr int most_runs = 256;
  neighbours all[most_runs];
  const int runs = Kokkos::min(threads, most_runs);
  for (int i = 0; i < runs; ++i) {
    const index_range mine = even_share(kernel.league, i, runs);
    all[i] = {mine.begin, mine.end};
  }
  Kokkos::parallel_for(label, policy_type(exec, 0, threads, Kokkos::ChunkSize(1)),
                       run_neighbours{kernel, all, runs});
}

/// One team on each of the first threads, if there are as many threads as teams.
struct run_resident {
  any_kernel kernel;
  int asked;  // threads
  int (*threads_of_region)(int asked);
  int* found;

  KOKKOS_FUNCTION void operator()([[maybe_unused]] const int index) const {
    KOKKOS_IF_ON_HOST((run(index);))
  }

 private:
  void run(int index) const {
    const int threads = threads_of_region(asked);
    // Every thread finds the same number: all begin, or none.
    if (static_cast<std::uint32_t>(threads) >= kernel.league) {
      kernel(index);
    } else if (index == 0) {
      *found = threads;
    }
  }
};

/// Every team on a thread of its own. Returns the number of threads where these are too few, and
/// then no team has run.
template <class Exec>
int run_resident_on_threads(const Exec& exec, const char* label, const any_kernel& kernel,
                            int threads) {
  using policy_type =
      Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<int>>;
  int found = threads;
  const auto league = static_cast<int>(kernel.league);
  Kokkos::parallel_for(label, policy_type(exec, 0, league, Kokkos::ChunkSize(1)),
                       run_resident{kernel, threads, &threads_of_region<Exec>, &found});
  return found;
}

/// What algorithms ask of the backend, for the host execution spaces of Kokkos.
struct backend {
  static constexpr const char* name = "simd";
  /// launch() returns when the kernel has ended, or throws what ended it.
  static constexpr bool launch_waits = true;
  template <class Policy>
  using team = simd::team;

  /// If threads wait for work, waking them takes some microseconds. One team is not worth that.
  template <class Exec, class Kernel>
  static void launch(const Exec& exec, const char* label, std::int64_t league,
                     const Kernel& kernel) {
    if (league == 0) return;
    const int threads = static_cast<int>(Kokkos::min<std::int64_t>(league, exec.concurrency()));
    const auto any = any_kernel::of(kernel, league);
    const std::lock_guard lock(backends::simd::order_of(exec));
    if (threads == 1) {
      backends::simd::run_alone(exec, label, any);
    } else {
      backends::simd::run_on_threads(exec, label, any, threads);
    }
  }

  /// The league is at most resident_teams.
  template <class Exec, class Kernel>
  static void launch_resident(const Exec& exec, const char* label, std::int64_t league,
                              const Kernel& kernel) {
    if (league == 0) return;
    const auto any = any_kernel::of(kernel, league);
    const std::lock_guard lock(backends::simd::order_of(exec));
    if (league == 1) {
      backends::simd::run_alone(exec, label, any);
    } else {
      lanewise::detail::expects_resident(
          label, league,
          backends::simd::run_resident_on_threads(exec, label, any, exec.concurrency()));
    }
  }
  template <class Kernel, class Exec>
  static std::int64_t resident_teams(const Exec& exec) {
    return backends::simd::in_parallel_region<Exec>() ? 1 : exec.concurrency();
  }

  /// A thread gets several teams where the kernel's policy says so and each has a few tiles:
  /// smaller arrays are better off in the caches of the threads that had them before.
  template <class Kernel, class Exec>
  static std::int64_t league_for_tiles(const Exec& exec, std::int64_t tiles) {
    constexpr std::int64_t tiles_per_team = 4, most = Kernel::policy::host_teams_per_thread;
    const std::int64_t threads = exec.concurrency();
    // Waking threads takes 0.4 us for each of them (OpenMP: 0.8 us for 2 threads, 7 for 16), and a
    // tile takes one of them 2.5 us.
    if (tiles <= 1 + threads / 6) return tiles < 1 ? tiles : 1;
    const std::int64_t there = threads > 1 ? tiles / (threads * tiles_per_team) : 1;
    const std::int64_t teams = threads * (there < 1 ? 1 : (there < most ? there : most));
    return tiles < teams ? tiles : teams;
  }
  template <class Kernel, class Exec>
  static std::int64_t resident_league(const Exec& exec, std::int64_t tiles) {
    return league_for_tiles<Kernel>(exec, tiles);
  }

  template <class Exec>
  static void* allocate(const Exec&, std::size_t bytes) {
    return ::operator new (bytes, std::align_val_t{most_alignment});
  }
  template <class Exec>
  static void deallocate(const Exec&, void* p) noexcept {
    ::operator delete (p, std::align_val_t{most_alignment});
  }
  template <class Exec>
  static void zero(const Exec&, void* p, std::size_t bytes) {
    std::memset(p, 0, bytes);
  }
  template <class Exec>
  static bool is_capturing(const Exec&) {
    return false;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace backends::simd
LANEWISE_END_NAMESPACE
