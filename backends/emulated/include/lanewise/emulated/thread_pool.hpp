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
class thread_pool {
 public:
  thread_pool() = default;
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;
  ~thread_pool() {
    for (worker& m : idle_) m.dismiss();
  }

  /// Calls work(0), ..., work(seats - 1), each on a thread of its own, and returns when all have
  /// ended. work must not throw. Where the threads cannot all be had it throws, and has called
  /// nothing. Several threads may call it.
  void run(int seats, const std::function<void(int)>& work) {
    std::list<worker> workers = hired(seats);
    job now(work, seats);
    int seat = 0;
    for (worker& m : workers) m.begin(now, seat++);
    now.wait();
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.begin(), workers);
  }

 private:
  class job {
   public:
    job(const std::function<void(int)>& work, int seats) : work_(work), working_(seats) {}
    void run(int seat) {
      work_(seat);
      // The job is gone once the last has unlocked it.
      const std::lock_guard lock(mutex_);
      if (--working_ == 0) over_.notify_one();
    }
    void wait() {
      std::unique_lock lock(mutex_);
      over_.wait(lock, [this] { return working_ == 0; });
    }

   private:
    const std::function<void(int)>& work_;
    int working_;
    std::mutex mutex_;
    std::condition_variable over_;
  };

  class worker {
   public:
    worker() : thread_([this] { live(); }) {}
    ~worker() { thread_.join(); }
    void begin(job& next, int seat) {
      seat_ = seat;
      call(&next);
    }
    void dismiss() { call(nullptr); }

   private:
    void call(job* next) {
      const std::lock_guard lock(mutex_);
      next_ = next;
      is_called_ = true;
      called_.notify_one();
    }
    job* wait() {
      std::unique_lock lock(mutex_);
      called_.wait(lock, [this] { return is_called_; });
      is_called_ = false;
      return next_;
    }
    void live() {
      while (job* const now = wait()) now->run(seat_);
    }

    // One for each thread: a shared one would order, for ThreadSanitizer, a thread that begins late
    // after one that has ended.
    std::mutex mutex_;
    std::condition_variable called_;
    bool is_called_ = false;
    job* next_ = nullptr;
    int seat_ = 0;
    std::thread thread_;  // the last: it looks at the others
  };

  std::list<worker> hired(int seats) {
    std::list<worker> workers;
    const std::lock_guard lock(mutex_);
    while (static_cast<int>(idle_.size()) < seats) idle_.emplace_front();
    workers.splice(workers.begin(), idle_, idle_.begin(), std::next(idle_.begin(), seats));
    return workers;
  }

  std::mutex mutex_;
  std::list<worker> idle_;
};

/// The thread pool of a process. It is never destroyed: static destructors may launch.
struct process_pool {
  thread_pool all;
  /// A forked child has the memory of its parent's pool and none of the threads. Kept, so
  /// that no tool takes it for a leak.
  process_pool* parent;
  std::atomic<bool> left_after = false;
};
inline std::atomic<process_pool*>& current_pool() {
  static std::atomic<process_pool*> pool = nullptr;
  return pool;
}
inline void leave_pool_after() {
  if (process_pool* const pool = current_pool().load(); pool != nullptr) pool->left_after = true;
}

/// The thread pool of this process.
inline thread_pool& pool_of_process() {
  process_pool* pool = current_pool().load();
  while (pool == nullptr || pool->left_after) {
    auto fresh = std::make_unique<process_pool>();
    fresh->parent = pool;
    // Once is enough; more than once, where several threads come here, does no harm.
    if (pool == nullptr && pthread_atfork(nullptr, nullptr, &leave_pool_after) != 0)
      throw std::bad_alloc();
    if (current_pool().compare_exchange_strong(pool, fresh.get())) pool = fresh.release();
  }
  return pool->all;
}

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
