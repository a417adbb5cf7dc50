// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/simd/warp.hpp>
#include <lanewise/team.hpp>

#include <Kokkos_Core.hpp>

#include <atomic>
#include <cstring>
#include <new>

LANEWISE_BEGIN_NAMESPACE
namespace backends::simd {

inline namespace HWY_NAMESPACE {

/// One thread with one warp.
class team {
 public:
  using warp_type = simd::warp<32>;
  /// Fewer lanes, for what fits fewer vectors.
  template <int width>
  using narrow_warp = simd::warp<width>;
  static constexpr int warps = 1;
  static constexpr int tiles_behind = 0;
  static constexpr int windows_in_flight = 4;
  static constexpr bool one_ticket = false;
  static constexpr bool in_registers = false;

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

/// Every thread runs neighbours, whose memory it may have touched first, and then helps the others.
template <class Kernel>
struct run {
  Kernel kernel;
  std::uint32_t league;
  neighbours* all;
  int runs;

  // A struct and not a lambda: nvcc calls extended lambdas through a function pointer on the host.
  KOKKOS_FUNCTION void operator()(const int thread) const {
    KOKKOS_IF_ON_HOST((const int several = static_cast<std::uint32_t>(runs) < league ? runs : 1;
                       for (int i = 0; i < several; ++i) run_some(all[(thread + i) % runs]);))
  }

 private:
  void run_some(neighbours& some) const {
    const std::atomic_ref<std::int64_t> next(some.next);
    std::int64_t index;
    while ((index = next.fetch_add(1, std::memory_order_relaxed)) < some.end) {
      using scratch = typename Kernel::template scratch<team>;
      alignas(64) alignas(scratch) scratch shared;
      kernel(team(static_cast<std::uint32_t>(index), league), shared);
      // Stores past the caches are not ordered by what ends a parallel_for.
      hwy::FlushStream();
    }
  }
};

/// What algorithms ask of the backend, for the host execution spaces of Kokkos.
struct backend {
  static constexpr const char* name = "simd";
  /// launch() returns when the kernel has ended, or throws what ended it.
  static constexpr bool launch_waits = true;
  template <class Policy>
  using team = simd::team;

  /// One index of a parallel_for on the instance per thread. It returns when all is done, as on all
  /// host spaces of Kokkos.
  template <class Exec, class Kernel>
  static void launch(const Exec& exec, const char* label, std::int64_t league,
                     const Kernel& kernel) {
    if (league == 0) return;
    using policy_type =
        Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<int>>;
    constexpr int most_runs = 256;
    neighbours all[most_runs];
    const int threads = static_cast<int>(Kokkos::min<std::int64_t>(league, exec.concurrency()));
    const int runs = Kokkos::min(threads, most_runs);
    for (int i = 0; i < runs; ++i) {
      const index_range mine = even_share(league, i, runs);
      all[i] = {mine.begin, mine.end};
    }
    Kokkos::parallel_for(label, policy_type(exec, 0, threads, Kokkos::ChunkSize(1)),
                         run<Kernel>{kernel, static_cast<std::uint32_t>(league), all, runs});
  }

  /// A thread gets several teams where the kernel's policy says so and each has a few tiles:
  /// smaller arrays are better off in the caches of the threads that had them before.
  template <class Kernel, class Exec>
  static std::int64_t league_for_tiles(const Exec& exec, std::int64_t tiles) {
    constexpr std::int64_t tiles_per_team = 4, most = Kernel::policy::host_teams_per_thread;
    const std::int64_t threads = exec.concurrency();
    const std::int64_t there = threads > 1 ? tiles / (threads * tiles_per_team) : 1;
    const std::int64_t teams = threads * (there < 1 ? 1 : (there < most ? there : most));
    return tiles < teams ? tiles : teams;
  }
  template <class Kernel, class Exec>
  static std::int64_t resident_league(const Exec& exec, std::int64_t tiles) {
    return league_for_tiles<Kernel>(exec, tiles);
  }

  /// Whether items of random accesses to a table of that many bytes are worth sorting by regions of
  /// the table. They are not on one core of a Zen 5: 2^24 finds that hit 65 -> 41, insertions 44 ->
  /// 25 M/s (prefetching hides the same latency, and the sorting is paid for); finds that miss 54
  /// -> 67.
  template <class Exec>
  static bool sorting_pays(const Exec&, std::int64_t) {
    return false;
  }

  /// Whether so many new elements for a slab table of so many lists are worth sorting by pieces of
  /// the table. Not for the memory that it takes: on one core, of a machine with more work than
  /// cores, 2^22 and 2^24 pairs took 0.85 to 1.0 times as long.
  template <class Exec>
  static bool building_pays(const Exec&, std::int64_t, std::int64_t) {
    return false;
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
