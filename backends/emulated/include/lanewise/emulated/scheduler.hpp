// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <random>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// Lets one of several threads run at a time, and chooses by a seed which thread is next. So what
/// the threads do together is a function of the seed. Threads are known by their seats.
class scheduler {
 public:
  scheduler(std::uint32_t seed, int threads)
      : random_(seed), seats_(static_cast<std::size_t>(threads)) {
    // Some bugs need threads that alternate at every step, others a thread that runs far ahead.
    steps_per_turn_ = 1u << random_() % 6;
    running_ = choose(-1);
  }

  /// Waits for the first turn.
  void enter(int me) {
    std::unique_lock lock(mutex_);
    wait(lock, me);
  }

  /// A point where the turn may pass to another thread.
  void step(int me) {
    if (random_() % steps_per_turn_ == 0) pass_on(me, -1);
  }

  /// Somebody did what others may wait for.
  void progress() { idle_turns_ = 0; }

  /// A thread that waits for others lets them run. False when all threads have done nothing but
  /// wait for so long that it will not change.
  bool wait_a_turn(int me) {
    if (++idle_turns_ > most_idle_turns) return false;
    pass_on(me, me);
    return true;
  }

  /// Gives the turn away until a running thread calls wake(me).
  void sleep(int me) {
    seats_[static_cast<std::size_t>(me)].awake = false;
    pass_on(me, me);
  }
  void wake(int who) {
    idle_turns_ = 0;
    seats_[static_cast<std::size_t>(who)].awake = true;
  }

  void leave(int me) {
    const std::lock_guard lock(mutex_);
    idle_turns_ = 0;
    seats_[static_cast<std::size_t>(me)].awake = false;
    seats_[static_cast<std::size_t>(me)].left = true;
    give_turn(choose(me));
  }

  /// Wakes all, so that they can leave. The running thread calls it.
  void wake_all() {
    for (seat& s : seats_) s.awake = !s.left;
  }

 private:
  static constexpr int most_idle_turns = 1 << 16;
  struct seat {
    std::condition_variable turn;
    bool awake = true;
    bool left = false;
  };

  void pass_on(int me, int except) {
    std::unique_lock lock(mutex_);
    give_turn(choose(except));
    wait(lock, me);
  }
  void wait(std::unique_lock<std::mutex>& lock, int me) {
    seats_[static_cast<std::size_t>(me)].turn.wait(lock, [&] { return running_ == me; });
  }
  void give_turn(int next) {
    running_ = next;
    if (next >= 0) seats_[static_cast<std::size_t>(next)].turn.notify_one();
  }
  /// A thread that is awake, this one only if there is no other; -1 if all sleep.
  int choose(int except) {
    candidates_.clear();
    for (int i = 0; i < static_cast<int>(seats_.size()); ++i) {
      if (seats_[static_cast<std::size_t>(i)].awake && i != except) candidates_.push_back(i);
    }
    if (candidates_.empty())
      return except >= 0 && seats_[static_cast<std::size_t>(except)].awake ? except : -1;
    return candidates_[random_() % candidates_.size()];
  }

  // The running thread owns all of these; the mutex hands them over.
  std::mutex mutex_;
  std::mt19937 random_;
  std::uint32_t steps_per_turn_;
  std::vector<seat> seats_;
  std::vector<int> candidates_;
  int running_ = -1;
  int idle_turns_ = 0;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
