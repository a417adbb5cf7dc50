// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <thread>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// Threads that stay for the next launch: under sanitizers new ones cost more than small kernels.
class crew {
 public:
  crew() = default;
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew() {
    for (member& m : idle_) m.dismiss();
  }

  /// Calls work(0), ..., work(seats - 1), each on a thread of its own, and returns when all have
  /// ended. work must not throw. Where the threads cannot all be had it throws, and has called
  /// nothing. Several threads may call it.
  void run(int seats, const std::function<void(int)>& work) {
    std::list<member> team = called_in(seats);
    shift now(work, seats);
    int seat = 0;
    for (member& m : team) m.begin(now, seat++);
    now.wait();
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.begin(), team);
  }

 private:
  class shift {
   public:
    shift(const std::function<void(int)>& work, int seats) : work_(work), at_work_(seats) {}
    void run(int seat) {
      work_(seat);
      // The shift is gone once the last has unlocked it.
      const std::lock_guard lock(mutex_);
      if (--at_work_ == 0) over_.notify_one();
    }
    void wait() {
      std::unique_lock lock(mutex_);
      over_.wait(lock, [this] { return at_work_ == 0; });
    }

   private:
    const std::function<void(int)>& work_;
    int at_work_;
    std::mutex mutex_;
    std::condition_variable over_;
  };

  class member {
   public:
    member() : thread_([this] { live(); }) {}
    ~member() { thread_.join(); }
    void begin(shift& next, int seat) {
      seat_ = seat;
      call(&next);
    }
    void dismiss() { call(nullptr); }

   private:
    void call(shift* next) {
      const std::lock_guard lock(mutex_);
      next_ = next;
      is_called_ = true;
      called_.notify_one();
    }
    shift* wait() {
      std::unique_lock lock(mutex_);
      called_.wait(lock, [this] { return is_called_; });
      is_called_ = false;
      return next_;
    }
    void live() {
      while (shift* const now = wait()) now->run(seat_);
    }

    // Everybody's own: a shared one would order, for ThreadSanitizer, who begins late behind who
    // has ended.
    std::mutex mutex_;
    std::condition_variable called_;
    bool is_called_ = false;
    shift* next_ = nullptr;
    int seat_ = 0;
    std::thread thread_;  // the last: it looks at the others
  };

  std::list<member> called_in(int seats) {
    std::list<member> team;
    const std::lock_guard lock(mutex_);
    while (static_cast<int>(idle_.size()) < seats) idle_.emplace_front();
    team.splice(team.begin(), idle_, idle_.begin(), std::next(idle_.begin(), seats));
    return team;
  }

  std::mutex mutex_;
  std::list<member> idle_;
};

/// The crew of a process. It is never destroyed: static destructors may launch.
struct posted_crew {
  crew all;
  /// A forked child has the memory of its parent's crew and none of the threads. Kept, so that no
  /// tool takes it for a leak.
  posted_crew* parents;
  std::atomic<bool> left_behind = false;
};
inline std::atomic<posted_crew*>& crew_on_post() {
  static std::atomic<posted_crew*> post = nullptr;
  return post;
}
inline void leave_crew_behind() {
  if (posted_crew* const post = crew_on_post().load(); post != nullptr) post->left_behind = true;
}

/// The crew of this process.
inline crew& crew_of_process() {
  posted_crew* post = crew_on_post().load();
  while (post == nullptr || post->left_behind) {
    auto fresh = std::make_unique<posted_crew>();
    fresh->parents = post;
    // Once is enough; more than once, where several threads come here, does no harm.
    if (post == nullptr && pthread_atfork(nullptr, nullptr, &leave_crew_behind) != 0)
      throw std::bad_alloc();
    if (crew_on_post().compare_exchange_strong(post, fresh.get())) post = fresh.release();
  }
  return post->all;
}

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
