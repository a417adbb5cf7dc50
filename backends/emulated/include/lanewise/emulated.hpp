// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/register_split.hpp>
#include <lanewise/detail/register_tile.hpp>
#include <lanewise/emulated/warp.hpp>
#include <lanewise/team.hpp>

#include <Kokkos_Core.hpp>

#include <barrier>
#include <memory>
#include <new>
#include <thread>
#include <vector>

LANEWISE_BEGIN_NAMESPACE

/// An execution space without a device: teams of several warps run on std::threads exactly as they
/// would on a GPU, with plain loops for lanes. It exists to test GPU-shaped code where sanitizers
/// work; it is not fast. Views live in HostSpace, calls block. Lanes take effect in an order that
/// the seed chooses.
class emulated {
 public:
  using memory_space = Kokkos::HostSpace;

  emulated() = default;
  explicit emulated(std::uint32_t seed, int concurrent_teams = 2)
      : seed_(seed), concurrent_teams_(concurrent_teams) {}

  std::uint32_t seed() const { return seed_; }
  int concurrent_teams() const { return concurrent_teams_; }
  void fence(const std::string& = "") const {}
  std::uint32_t impl_instance_id() const { return 0; }
  static const char* name() { return "emulated"; }
  /// There is one instance, with different settings.
  friend bool operator==(const emulated&, const emulated&) { return true; }

 private:
  std::uint32_t seed_ = 1;
  int concurrent_teams_ = 2;
};

namespace backends::emulated {

template <int warps_>
class team {
 public:
  using warp_type = emulated::warp<32>;
  static constexpr int warps = warps_;
  static constexpr int windows_in_flight = 2;
  static constexpr bool one_ticket = false;

  team(std::uint32_t index, std::uint32_t league, int warp_index, std::uint32_t seed,
       std::barrier<>& meeting)
      : index_(index), league_(league), warp_index_(warp_index), warp_(seed), meeting_(meeting) {}

  warp_type warp() const { return warp_; }
  int warp_index() const { return warp_index_; }
  std::uint32_t index() const { return index_; }
  std::uint32_t league() const { return league_; }
  void barrier() const { meeting_.arrive_and_wait(); }
  template <class F>
  void once(F f) const {
    if (warp_index_ == 0) f();
  }
  index_range share(std::int64_t n) const { return even_share(n, index(), league()); }

  template <class T, class Policy>
  using tile = lanewise::detail::register_tile<team, T, Policy::items_per_lane>;
  template <class T, class Policy, class Source>
  tile<T, Policy> load(typename tile<T, Policy>::scratch& shared, const Source& source,
                       std::int64_t first, std::int64_t n) const {
    return {*this, shared, source, first, n};
  }
  template <class Key, class Policy>
  using split = lanewise::detail::register_split<team, Key, Policy::items_per_lane>;

  template <class T>
  struct reduce_scratch {
    lanewise::detail::raw_array<T, warps> per_warp;
  };
  template <class T, class Policy, class Source, class Op>
  maybe<T> reduce_range(reduce_scratch<T>& shared, const Source& source, std::int64_t first,
                        std::int64_t last, Op op) const {
    return lanewise::detail::reduce_range_in_registers<T, Policy::items_per_lane>(
        *this, shared.per_warp.data(), source, first, last, op);
  }

 private:
  std::uint32_t index_;
  std::uint32_t league_;
  int warp_index_;
  warp_type warp_;
  std::barrier<>& meeting_;
};

/// What one team at a time uses.
template <class Scratch>
struct resident {
  explicit resident(int warps) : meeting(warps) {}
  std::barrier<> meeting;
  alignas(64) unsigned char bytes[sizeof(Scratch)];
};

/// The life of one warp's thread: its part of every team that runs in this slot.
template <class Team, class Kernel, class Scratch>
void run_warp(std::uint32_t seed, std::int64_t slot, std::int64_t at_once, std::int64_t league,
              int warp_index, resident<Scratch>& here, const Kernel& kernel) {
  for (std::int64_t i = slot; i < league; i += at_once) {
    const auto order = seed * 2654435761u + static_cast<std::uint32_t>(i) * 97u +
                       static_cast<std::uint32_t>(warp_index);
    kernel(Team(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(league), warp_index,
                order, here.meeting),
           *reinterpret_cast<Scratch*>(here.bytes));
    here.meeting.arrive_and_wait();
  }
}

struct backend {
  static constexpr const char* name = "emulated";
  template <class Policy>
  using team = emulated::team<Policy::warps>;

  /// Runs the teams, a few at a time, every warp on a thread of its own.
  template <class Kernel>
  static void launch(const lanewise::emulated& exec, const char*, std::int64_t league,
                     const Kernel& kernel) {
    using team_type = emulated::team<Kernel::policy::warps>;
    using scratch = typename Kernel::template scratch<team_type>;
    const std::int64_t at_once =
        league < exec.concurrent_teams() ? league : exec.concurrent_teams();
    std::vector<std::unique_ptr<resident<scratch>>> slots;
    std::vector<std::thread> threads;
    for (std::int64_t slot = 0; slot < at_once; ++slot) {
      slots.push_back(std::make_unique<resident<scratch>>(team_type::warps));
      for (int w = 0; w < team_type::warps; ++w) {
        threads.emplace_back(run_warp<team_type, Kernel, scratch>, exec.seed(), slot, at_once,
                             league, w, std::ref(*slots.back()), std::cref(kernel));
      }
    }
    for (auto& t : threads) t.join();
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

  static void* allocate(const lanewise::emulated&, std::size_t bytes) {
    return ::operator new (bytes, std::align_val_t{64});
  }
  static void deallocate(const lanewise::emulated&, void* p) noexcept {
    ::operator delete (p, std::align_val_t{64});
  }
  static void zero(const lanewise::emulated&, void* p, std::size_t bytes) {
    std::memset(p, 0, bytes);
  }
  static bool is_capturing(const lanewise::emulated&) { return false; }
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
