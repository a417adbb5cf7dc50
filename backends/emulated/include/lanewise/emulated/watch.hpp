// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/emulated/interleaving.hpp>
#include <lanewise/emulated/scheduler.hpp>
#include <lanewise/emulated/shadow.hpp>
#include <lanewise/emulated/wavefronts.hpp>
#include <lanewise/macros.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

LANEWISE_BEGIN_NAMESPACE

/// A kernel broke a rule of the warp or team layer on the emulated backend. The text names the
/// kernel, the seed, the team and the warp. What the kernel worked on is left as it was then; the
/// next call with its workspace clears that.
class emulation_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace backends::emulated {

/// Thrown in the warps that have to end because another one failed: where they wait, and between
/// teams. Elsewhere they go on, so that no change of a structure remains half done, which later
/// calls would wait for.
struct cancelled {};

/// What all warps of a launch share.
class launch_state {
 public:
  launch_state(const char* label, std::uint32_t seed, interleaving mode, int threads)
      : label_(label), seed_(seed), delayed_(mode == interleaving::delayed) {
    if (mode == interleaving::seeded) order_ = std::make_unique<scheduler>(seed, threads);
  }

  const std::string& label() const { return label_; }
  std::uint32_t seed() const { return seed_; }
  bool delayed() const { return delayed_; }
  /// Null where warps run at the same time.
  scheduler* order() { return order_.get(); }

  /// Relaxed: it must not order what the warps do otherwise, or ThreadSanitizer would miss races.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// The first failure is the one that the caller learns of.
  void stop(std::exception_ptr why) {
    const std::lock_guard lock(mutex_);
    if (!why_) why_ = why;
    stopped_.store(true, std::memory_order_relaxed);
    if (order_ != nullptr) order_->wake_all();
  }
  void rethrow() const {
    if (why_) std::rethrow_exception(why_);
  }

 private:
  std::string label_;
  std::uint32_t seed_;
  bool delayed_;
  std::unique_ptr<scheduler> order_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::exception_ptr why_;
};

/// What a warp's thread knows about itself while it runs a kernel.
struct running_warp {
  launch_state& launch;
  shadow& memory;
  int seat;
  int warp_index;
  std::int64_t team_index = 0;
  std::int64_t league = 0;
  phase now;
  std::minstd_rand random{};

  [[noreturn]] void fail(const std::string& what) const {
    throw emulation_error("lanewise: kernel '" + launch.label() + "' (seed " +
                          std::to_string(launch.seed()) + ", team " + std::to_string(team_index) +
                          " of " + std::to_string(league) + ", warp " + std::to_string(warp_index) +
                          "): " + what);
  }

  /// Stands before every access that may race.
  void step() {
    if (launch.order() != nullptr) {
      launch.order()->step(seat);
    } else if (launch.delayed() && random() % 8 == 0) {
      if (random() % 8 == 0) {
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 100));
      } else {
        std::this_thread::yield();
      }
    }
  }
  void pause() {
    leave_if_stopped();
    if (launch.order() == nullptr) {
      std::this_thread::yield();
    } else if (!launch.order()->wait_a_turn(seat)) {
      fail("it waits for something that no warp is going to do");
    }
    leave_if_stopped();
  }
  void leave_if_stopped() const {
    if (launch.stopped()) throw cancelled{};
  }
};

/// The warp whose kernel this thread runs; null elsewhere.
inline running_warp*& this_warp() {
  static thread_local running_warp* warp = nullptr;
  return warp;
}

/// Makes it so while it lives.
class runs_here {
 public:
  explicit runs_here(running_warp& warp) { this_warp() = &warp; }
  ~runs_here() { this_warp() = nullptr; }
  runs_here(const runs_here&) = delete;
  runs_here& operator=(const runs_here&) = delete;
};

[[noreturn]] inline void fail(const std::string& what) {
  if (this_warp() != nullptr) this_warp()->fail(what);
  throw emulation_error("lanewise: outside of a kernel: " + what);
}

/// Refuses numbers outside [least, most].
template <class I>
void check_range(const char* operation, const char* what, I x, I least, I most) {
  if (x < least || x > most)
    backends::emulated::fail(std::string(operation) + ": " + what + " is " + std::to_string(x) +
                             ", not in [" + std::to_string(least) + ", " + std::to_string(most) +
                             "]");
}

inline void racing_step() {
  if (this_warp() != nullptr) this_warp()->step();
}

inline void racing_change() {
  if (this_warp() != nullptr && this_warp()->launch.order() != nullptr)
    this_warp()->launch.order()->progress();
}

/// Reports one warp operation's plain accesses to the shadow of the team's scratch.
class watched {
 public:
  explicit watched(const char* operation, int first_lane)
      : warp_(this_warp()), operation_(operation), first_lane_(first_lane) {}
  ~watched() {
    if (reads_ > 0) count_->add(at_, reads_);
  }
  watched(const watched&) = delete;
  watched& operator=(const watched&) = delete;
  template <class T>
  const T& read(const T* p, int lane) const {
    if (scratch_has(p, sizeof(T), lane, "reads")) {
      refuse(p, lane, "reads", warp_->memory.read(p, sizeof(T), first_lane_ + lane, warp_->now));
      if (count_ != nullptr && reads_ < most_reads)
        at_[reads_++] = static_cast<std::int64_t>(warp_->memory.offset(p));
    }
    return *p;
  }
  template <class T>
  void write(T* p, int lane, const T& x) const {
    if (scratch_has(p, sizeof(T), lane, "writes"))
      refuse(p, lane, "writes", warp_->memory.write(p, sizeof(T), first_lane_ + lane, warp_->now));
    *p = x;
  }

 private:
  /// Refuses what is beside scratch.
  __attribute__((always_inline)) bool scratch_has(const void* p, std::size_t n, int lane,
                                                  const char* does) const {
    if (warp_ == nullptr || !warp_->memory.covers(p)) return false;
    if (!warp_->memory.has_room(p, n))
      warp_->fail(access(p, lane, does) + ", which has " + std::to_string(warp_->memory.bytes()) +
                  " bytes");
    return true;
  }
  std::string access(const void* p, int lane, const char* does) const {
    return std::string(operation_) + ": lane " + std::to_string(first_lane_ + lane) + " " + does +
           " byte " + std::to_string(static_cast<std::ptrdiff_t>(warp_->memory.offset(p))) +
           " of the team's scratch";
  }
  __attribute__((always_inline)) void refuse(const void* p, int lane, const char* does,
                                             const shadow::conflict& other) const {
    if (other.found) fail(p, lane, does, other);
  }
  [[noreturn]] void fail(const void* p, int lane, const char* does,
                         const shadow::conflict& other) const {
    const bool same_warp = other.who.warp == warp_->warp_index;
    const std::string them = !same_warp ? "warp " + std::to_string(other.who.warp)
                             : other.who.lane == shadow::unknown
                                 ? "another lane"
                                 : "lane " + std::to_string(other.who.lane);
    warp_->fail(access(p, lane, does) + ", which " + them + (other.wrote ? " wrote" : " read") +
                " with no " + (same_warp ? "warp.fence()" : "team.barrier()") + " between");
  }

  static constexpr int most_reads = 64;  // lanes of the widest warp

  running_warp* warp_;
  const char* operation_;
  int first_lane_;
  wavefront_count* count_ = wavefront_count::current().load(std::memory_order_relaxed);
  mutable int reads_ = 0;
  mutable std::int64_t at_[most_reads];
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
