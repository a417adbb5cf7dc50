// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/emulated/watch.hpp>
#include <lanewise/macros.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// Where in the source a barrier stands.
struct place {
  const char* file;
  int line;
  std::string text() const { return std::string(file) + ":" + std::to_string(line); }
};

/// The barrier of one team. It knows which warps wait where and which have left the kernel, and
/// fails where a GPU would hang, or would let warps meet that stand at different barriers.
class meeting {
 public:
  meeting(int warps, int first_seat)
      : first_seat_(first_seat), waits_(static_cast<std::size_t>(warps), false) {}

  /// A barrier that so many warps of the team pass.
  void arrive(running_warp& me, place here, int warps) {
    me.leave_if_stopped();
    std::unique_lock lock(mutex_);
    if (left_ > 0)
      me.fail("it waits at team.barrier() in " + here.text() + ", which " + std::to_string(left_) +
              " of the team's warps passed by when they left the kernel");
    if (waiting_ > 0 && (here.line != where_.line || std::string(here.file) != where_.file))
      me.fail("it waits at team.barrier() in " + here.text() + ", but warp" + names() + " in " +
              where_.text());
    where_ = here;
    ++waiting_;
    meet(lock, me, waiting_, warps, [] {});
  }

  /// The end of a team. last() is called when all have come, before any of them goes on.
  void leave(running_warp& me, const std::function<void()>& last) {
    me.leave_if_stopped();
    std::unique_lock lock(mutex_);
    if (waiting_ > 0)
      me.fail("it left the kernel, but warp" + names() + " at team.barrier() in " + where_.text());
    ++left_;
    meet(lock, me, left_, static_cast<int>(waits_.size()), last);
  }

  /// Lets those who wait look whether the launch was stopped.
  void wake_all() {
    const std::lock_guard lock(mutex_);
    all_here_.notify_all();
  }

 private:
  void meet(std::unique_lock<std::mutex>& lock, running_warp& me, int& here, int all,
            const std::function<void()>& last) {
    scheduler* order = me.launch.order();
    if (here == all) {
      last();
      here = 0;
      ++barriers_;
      for (std::size_t w = 0; w < waits_.size(); ++w) {
        if (waits_[w] && order != nullptr) order->wake(first_seat_ + static_cast<int>(w));
        waits_[w] = false;
      }
      all_here_.notify_all();
      lock.unlock();
      if (order != nullptr) order->step(me.seat);
    } else {
      waits_[static_cast<std::size_t>(me.warp_index)] = true;
      const std::uint32_t before = barriers_;
      if (order != nullptr) {
        lock.unlock();
        order->sleep(me.seat);
        me.leave_if_stopped();
      } else {
        all_here_.wait(lock, [&] { return barriers_ != before || me.launch.stopped(); });
        if (barriers_ == before) throw cancelled{};
      }
    }
    ++me.now.barriers;
  }
  std::string names() const {
    std::string text;
    for (std::size_t w = 0; w < waits_.size(); ++w) {
      if (waits_[w]) text += (text.empty() ? " " : ", ") + std::to_string(w);
    }
    return text + (waiting_ > 1 ? " wait" : " waits");
  }

  const int first_seat_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<bool> waits_;
  int waiting_ = 0;
  int left_ = 0;
  place where_{"", 0};
  std::uint32_t barriers_ = 0;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
