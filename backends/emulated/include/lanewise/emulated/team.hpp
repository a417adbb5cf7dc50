// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/emulated/rendezvous.hpp>
#include <lanewise/emulated/resident.hpp>
#include <lanewise/emulated/signal.hpp>
#include <lanewise/emulated/space.hpp>
#include <lanewise/emulated/staging.hpp>
#include <lanewise/emulated/thread_pool.hpp>
#include <lanewise/emulated/warp.hpp>
#include <lanewise/emulated/watch.hpp>
#include <lanewise/team/team.hpp>

#include <Kokkos_Core.hpp>

#include <functional>
#include <memory>
#include <new>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

namespace backends::emulated {

/// Several warps, and one more that looks back where tiles wait for their turn.
template <int warps_, int parked_tiles_ = 0, class Warp = warp<32>>
class team {
 public:
  using warp_type = Warp;
  static constexpr int warps = warps_;
  static constexpr int parked_tiles = parked_tiles_;
  static constexpr int threads = warps + (parked_tiles > 0 ? 1 : 0);
  static constexpr int windows_in_flight = 2;
  static constexpr bool one_ticket = false;
  static constexpr bool is_single_thread = Warp::is_single_thread;
  static_assert(!is_single_thread || threads == 1, "lanewise: a host's team is one warp");
  /// Fewer lanes: see simd::team.
  template <int width>
  using narrow_warp = typename Warp::template part<width>;
  static_assert(threads <= shadow::most_warps);
  template <int raisers>
  using signal = emulated::signal<raisers, threads, Warp>;
  template <class Raw, int n>
  using staging = emulated::staging<Raw, n>;

  team(std::uint32_t index, std::uint32_t league, int warp_index, const Warp& warp,
       emulated::rendezvous& rendezvous)
      : index_(index),
        league_(league),
        warp_index_(warp_index),
        warp_(warp),
        rendezvous_(rendezvous) {}

  warp_type warp() const { return warp_; }
  int warp_index() const { return warp_index_; }
  std::uint32_t index() const { return index_; }
  std::uint32_t league() const { return league_; }
  // The built-ins name the caller, as std::source_location does where compilers agree on it.
  void barrier(int line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    warp_.together("team.barrier", [&] { rendezvous_.arrive(*this_warp(), {file, line}, warps); });
  }
  void barrier_all(int line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    warp_.together("team.barrier_all", [&] {
      rendezvous_.arrive(*this_warp(), {file, line}, threads);
    });
  }
  bool is_look_back_warp() const { return warp_index_ == warps; }
  template <class F>
  void once(F f) const {
    if (warp_index_ == 0) warp_.once([&] { f(); });
  }
  index_range share(std::int64_t n) const { return lanewise::even_share(n, index(), league()); }

 private:
  std::uint32_t index_;
  std::uint32_t league_;
  int warp_index_;
  warp_type warp_;
  emulated::rendezvous& rendezvous_;
};

/// What one warp does for its team. Kernels' types end here: what runs around them is compiled
/// once.
using team_part =
    std::function<void(const running_warp&, std::uint32_t lane_order, resident& here)>;

/// The life of one warp's thread: its part of every team that runs in this slot.
inline void run_warp(running_warp me, std::int64_t slot, std::int64_t at_once,
                     std::vector<std::unique_ptr<resident>>& slots, const team_part& part) {
  resident& here = *slots[static_cast<std::size_t>(slot)];
  scheduler* order = me.launch.order();
  if (order != nullptr) order->enter(me.seat);
  const runs_here now(me);
  try {
    for (me.team_index = slot; me.team_index < me.league; me.team_index += at_once) {
      const auto lane_order = me.launch.seed() * 2654435761u +
                              static_cast<std::uint32_t>(me.team_index) * 97u +
                              static_cast<std::uint32_t>(me.warp_index);
      me.random.seed(lane_order);
      part(me, lane_order, here);
      here.rendezvous().leave(me, [&] {
        here.check_guards(me);
        here.poison(me.team_index + at_once);
      });
    }
  } catch (const cancelled&) {
  } catch (...) {
    me.launch.stop(std::current_exception());
    for (const auto& s : slots) s->rendezvous().wake_all();
  }
  if (order != nullptr) order->leave(me.seat);
}

/// Runs teams of `warps` warps, a few teams at a time, every warp on a thread of its own. Throws
/// what a warp threw, when all have ended.
inline void run_league(const lanewise::emulated& exec, const char* label, std::int64_t league,
                       int warps, std::size_t scratch_bytes, const team_part& part) {
  const std::int64_t at_once = league < exec.concurrent_teams() ? league : exec.concurrent_teams();
  launch_state state(label, exec.seed(), exec.mode(), static_cast<int>(at_once) * warps);
  std::vector<std::unique_ptr<resident>> slots;
  for (std::int64_t slot = 0; slot < at_once; ++slot) {
    slots.push_back(std::make_unique<resident>(scratch_bytes, exec.seed(), slot, warps,
                                               static_cast<int>(slot) * warps));
  }
  pool_of_process().run(static_cast<int>(at_once) * warps, [&](int seat) {
    const int slot = seat / warps;
    run_warp(running_warp{state, slots[static_cast<std::size_t>(slot)]->shadow(), seat,
                          seat % warps, slot, league, phase(seat % warps, warps)},
             slot, at_once, slots, part);
  });
  state.rethrow();
}

template <class Warp>
struct backend_with {
  static constexpr const char* name = "emulated";
  static constexpr bool launch_waits = true;
  /// No more warps than lanes: one warp combines what the others found.
  template <class Policy>
  using team = emulated::team < Warp::is_single_thread
                   ? 1
                   : Policy::warps<Warp::width ? Policy::warps : Warp::width,
                                   Warp::is_single_thread ? 0 : Policy::parked_tiles, Warp>;

  template <class Kernel>
  static void launch(const lanewise::emulated& exec, const char* label, std::int64_t league,
                     const Kernel& kernel) {
    using team_type = team<typename Kernel::policy>;
    using scratch = typename Kernel::template scratch<team_type>;
    static_assert(alignof(scratch) <= resident::alignment);
    backends::emulated::run_league(
        exec, label, league, team_type::threads, sizeof(scratch),
        [&kernel](const running_warp& me, std::uint32_t lane_order, resident& here) {
          Warp::run(lane_order, [&](const Warp& warp) {
            kernel(team_type(static_cast<std::uint32_t>(me.team_index),
                             static_cast<std::uint32_t>(me.league), me.warp_index, warp,
                             here.rendezvous()),
                   *reinterpret_cast<scratch*>(here.scratch()));
          });
        });
  }

  /// The league is at most resident_teams: every warp of it has a thread from the start.
  template <class Kernel>
  static void launch_resident(const lanewise::emulated& exec, const char* label,
                              std::int64_t league, const Kernel& kernel) {
    launch(exec, label, league, kernel);
  }
  template <class Kernel>
  static std::int64_t resident_teams(const lanewise::emulated& exec) {
    return exec.concurrent_teams();
  }

  /// Teams draw tickets until there are none left.
  template <class Kernel>
  static std::int64_t league_for_tiles(const lanewise::emulated& exec, std::int64_t tiles) {
    return tiles < exec.concurrent_teams() ? tiles : exec.concurrent_teams();
  }
  template <class Kernel>
  static std::int64_t resident_league(const lanewise::emulated& exec, std::int64_t tiles) {
    return league_for_tiles<Kernel>(exec, tiles);
  }

  /// The bytes of the last cache before the memory: few, so that tests reach the code for more.
  static std::int64_t cache_bytes(const lanewise::emulated&) { return 30'000; }

  /// The most that a team can have: as on an H100.
  static std::int64_t scratch_bytes(const lanewise::emulated&) { return 227 << 10; }

  static void* allocate(const lanewise::emulated&, std::size_t bytes) {
    return ::operator new (bytes, std::align_val_t{most_alignment});
  }
  static void deallocate(const lanewise::emulated&, void* p) noexcept {
    ::operator delete (p, std::align_val_t{most_alignment});
  }
  static void zero(const lanewise::emulated&, void* p, std::size_t bytes) {
    std::memset(p, 0, bytes);
  }
  static bool is_capturing(const lanewise::emulated&) { return false; }
};
using backend = backend_with<warp<32>>;

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
