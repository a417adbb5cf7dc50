// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/emulated/watch.hpp>
#include <lanewise/macros.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// The place of a barrier in the source.
struct place {
  const char* file;
  int line;
  std::string text() const { return std::string(file) + ":" + std::to_string(line); }
  bool operator==(const place& other) const {
    return line == other.line && std::string_view(file) == other.file;
  }
};

/// The barriers of one team: one for all its warps, and one without the warp that looks back for
/// the others. It knows which warps wait where, and which have left the kernel. It fails where a
/// GPU would hang, or would let warps meet that stand at different barriers.
class rendezvous {
 public:
  rendezvous(int warps, int first_seat)
      : first_seat_(first_seat), all_(warps), some_(warps), left_(warps) {}

  /// A barrier that the first `warps` warps of the team pass.
  void arrive(running_warp& me, place here, int warps) {
    me.leave_if_stopped();
    std::unique_lock lock(mutex_);
    gathering& mine = warps == all_.members ? all_ : some_;
    mine.members = warps;
    const auto waits = [&] { return "it waits at team.barrier() in " + here.text() + ", "; };
    if (const int gone = left_.waiting_below(warps); gone > 0)
      me.fail(waits() + "which " + std::to_string(gone) +
              " of the team's warps passed by when they left the kernel");
    for (const gathering* other : {&all_, &some_}) {
      const bool elsewhere = other != &mine || here != other->where;
      if (elsewhere && needs(*other, me, warps))
        me.fail(waits() + "but warp" + other->names() + " in " + other->where.text());
    }
    mine.where = here;
    meet(lock, me, mine, [] {});
  }

  /// The end of a team. last() is called when all have come, before any of them goes on.
  void leave(running_warp& me, const std::function<void()>& last) {
    me.leave_if_stopped();
    std::unique_lock lock(mutex_);
    for (const gathering* other : {&all_, &some_}) {
      if (needs(*other, me, all_.members))
        me.fail("it left the kernel, but warp" + other->names() + " at team.barrier() in " +
                other->where.text());
    }
    meet(lock, me, left_, last);
  }

  /// Lets waiting threads read whether the launch was stopped.
  void wake_all() {
    const std::lock_guard lock(mutex_);
    all_here_.notify_all();
  }

 private:
  /// The meeting place of warps [0, members).
  struct gathering {
    explicit gathering(int warps) : members(warps), waits(static_cast<std::size_t>(warps)) {}
    int waiting_below(int warps) const {
      int n = 0;
      for (int w = 0; w < warps; ++w) n += waits[static_cast<std::size_t>(w)] != nullptr;
      return n;
    }
    std::string names() const {
      std::string text;
      for (std::size_t w = 0; w < waits.size(); ++w) {
        if (waits[w] != nullptr) text += (text.empty() ? " " : ", ") + std::to_string(w);
      }
      return text + (waiting_below(members) > 1 ? " wait" : " waits");
    }

    int members;
    std::vector<running_warp*> waits;  // null: it has not come
    place where{"", 0};
    std::uint32_t times = 0;
  };

  /// `me` waits for the first `warps` warps. Returns whether any of these waits at `there` for
  /// `me`.
  static bool needs(const gathering& there, const running_warp& me, int warps) {
    return me.warp_index < there.members &&
           there.waiting_below(warps < there.members ? warps : there.members) > 0;
  }

  void meet(std::unique_lock<std::mutex>& lock, running_warp& me, gathering& here,
            const std::function<void()>& last) {
    scheduler* order = me.launch.order();
    here.waits[static_cast<std::size_t>(me.warp_index)] = &me;
    if (here.waiting_below(here.members) == here.members) {
      last();
      go_on(here, order);
      lock.unlock();
      if (order != nullptr) order->step(me.seat);
      return;
    }
    const std::uint32_t before = here.times;
    if (order != nullptr) {
      lock.unlock();
      order->sleep(me.seat);
      lock.lock();
    } else {
      all_here_.wait(lock, [&] { return here.times != before || me.launch.stopped(); });
    }
    if (here.times == before) {
      here.waits[static_cast<std::size_t>(me.warp_index)] = nullptr;
      throw cancelled{};
    }
  }
  /// All are here, and each learns what the others know.
  void go_on(gathering& here, scheduler* order) {
    auto& first = here.waits[0]->now;
    for (int w = 1; w < here.members; ++w)
      first.learn(here.waits[static_cast<std::size_t>(w)]->now.known);
    const auto known = first.known;
    for (int w = 0; w < here.members; ++w) {
      auto& warp = here.waits[static_cast<std::size_t>(w)];
      warp->now.learn(known);
      warp->now.next_epoch();
      if (order != nullptr) order->wake(first_seat_ + w);
      warp = nullptr;
    }
    ++here.times;
    all_here_.notify_all();
  }

  const int first_seat_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  gathering all_, some_, left_;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
