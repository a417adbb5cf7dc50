// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/emulated/watch.hpp>
#include <lanewise/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <ucontext.h>
#if LANEWISE_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// A stack and what is kept of it while another one runs. AddressSanitizer has to be told.
struct execution {
  ucontext_t context;
  const void* stack = nullptr;
  std::size_t bytes = 0;
  void* asan_frames = nullptr;

  /// Goes on there; returns when somebody comes back here.
  void switch_to(execution& there) {
    before_switch(&asan_frames, there);
    swapcontext(&context, &there.context);
    after_switch(asan_frames, nullptr);
  }
  /// Goes on there for good.
  static void leave_for(execution& there) {
    before_switch(nullptr, there);
    setcontext(&there.context);
  }
  static void before_switch([[maybe_unused]] void** frames, [[maybe_unused]] execution& there) {
#if LANEWISE_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(frames, there.stack, there.bytes);
#endif
  }
  /// came_from learns its stack.
  static void after_switch([[maybe_unused]] void* frames, [[maybe_unused]] execution* came_from) {
#if LANEWISE_ADDRESS_SANITIZER
    const void* stack;
    std::size_t bytes;
    __sanitizer_finish_switch_fiber(frames, &stack, &bytes);
    if (came_from != nullptr) {
      came_from->stack = stack;
      came_from->bytes = bytes;
    }
#endif
  }
};

/// Runs one function once per lane of a warp, as a GPU does: every lane has a stack of its own, and
/// they take turns on one thread. A lane goes on until it needs the others, at a rendezvous. There
/// all lanes must have come by the same way: what they noted since they last met, the warp-uniform
/// arguments of their calls, must agree.
class lockstep {
 public:
  /// Calls body(*this, lane) for every lane. Throws what the first lane to fail threw; the stacks
  /// of the others are dropped as they are.
  static void run(int lanes, std::uint32_t seed, const std::function<void(lockstep&, int)>& body) {
    lockstep all(lanes, seed, body);
    all.caller_.switch_to(all.fibers_[all.order_.front()].own);
    if (all.error_) std::rethrow_exception(all.error_);
  }

  /// A call that all lanes of a (sub-)warp of that width make with the same argument.
  void note(int lane, int width, const char* call, std::uint64_t argument) {
    fibers_[static_cast<std::size_t>(lane)].notes.push_back({call, width, argument});
  }

  /// Waits for the other lanes of the (sub-)warp. Returns where the bytes that each of them brought
  /// lie, in the order of lanes, until the rendezvous after the next.
  const unsigned char* meet(int lane, int width, const char* call, std::uint64_t argument,
                            const void* brought, std::size_t bytes) {
    note(lane, width, call, argument);
    group& here = groups_[static_cast<std::size_t>((lanes() + lane) / width)];
    const unsigned now = here.meetings;
    auto& table = here.table[now % 2];
    if (table.size() < static_cast<std::size_t>(width) * bytes)
      table.resize(static_cast<std::size_t>(width) * bytes);
    if (bytes > 0)
      std::memcpy(table.data() + static_cast<std::size_t>(lane % width) * bytes, brought, bytes);
    if (++here.arrived == width) {
      compare_notes(lane / width * width, width);
      here.arrived = 0;
      ++here.meetings;
      idle_turns_ = 0;
    } else {
      while (here.meetings == now) wait(lane, width);
    }
    return table.data();
  }

 private:
  struct noted {
    const char* call;
    int width;
    std::uint64_t argument;
  };
  struct fiber {
    execution own;
    std::unique_ptr<char[]> stack;
    std::vector<noted> notes;
    bool ended = false;
  };
  struct group {
    int arrived = 0;
    unsigned meetings = 0;
    std::vector<unsigned char> table[2];
  };
  /// AddressSanitizer maps and unmaps every block of more than 128 KiB, with what it keeps beside.
  static constexpr std::size_t stack_bytes = 120 << 10;

  lockstep(int lanes, std::uint32_t seed, const std::function<void(lockstep&, int)>& body)
      : body_(body), fibers_(static_cast<std::size_t>(lanes)), groups_(2 * fibers_.size()) {
    const std::uint32_t stride = 2 * (seed >> 8) + 1;
    for (std::uint32_t i = 0; i < fibers_.size(); ++i)
      order_.push_back((i * stride + seed) % fibers_.size());
    for (fiber& f : fibers_) {
      f.stack.reset(new char[stack_bytes]);
      f.own.stack = f.stack.get();
      f.own.bytes = stack_bytes;
      getcontext(&f.own.context);
      f.own.context.uc_stack.ss_sp = f.stack.get();
      f.own.context.uc_stack.ss_size = stack_bytes;
      f.own.context.uc_link = nullptr;
      makecontext(&f.own.context, &lockstep::enter, 0);
    }
    running() = this;
  }
  lockstep(const lockstep&) = delete;
  lockstep& operator=(const lockstep&) = delete;

  static lockstep*& running() {
    static thread_local lockstep* all = nullptr;
    return all;
  }
  static void enter() {
    lockstep& all = *running();
    execution::after_switch(nullptr, all.started_ == 0 ? &all.caller_ : nullptr);
    const std::size_t lane = all.order_[all.started_++];
    try {
      all.body_(all, static_cast<int>(lane));
      const int width = all.lanes();
      all.meet(static_cast<int>(lane), width, "the end of the kernel", 0, nullptr, 0);
    } catch (...) {
      all.error_ = std::current_exception();
    }
    all.fibers_[lane].ended = true;
    all.idle_turns_ = 0;
    if (!all.error_) all.next_after(lane);
    // The first failure ends the warp; the end of the last lane does, too.
    execution::leave_for(all.caller_);
  }

  int lanes() const { return static_cast<int>(fibers_.size()); }

  /// Lets the next lane run that has not ended; returns when it is this one's turn again.
  void next_after(std::size_t lane) {
    std::size_t at = 0;
    while (order_[at] != lane) ++at;
    for (std::size_t i = 1; i < order_.size(); ++i) {
      const std::size_t next = order_[(at + i) % order_.size()];
      if (fibers_[next].ended) continue;
      fibers_[lane].own.switch_to(fibers_[next].own);
      return;
    }
  }

  void wait(int lane, int width) {
    if (++idle_turns_ > 4 * lanes()) {
      std::string text = "its lanes wait for each other:";
      for (int i = 0; i < lanes(); ++i) {
        const auto& notes = fibers_[static_cast<std::size_t>(i)].notes;
        if (i == 0 || i == lane || i == lane / width * width)
          text +=
              " lane " + std::to_string(i) + " at " + (notes.empty() ? "none" : notes.back().call);
      }
      fail(text);
    }
    next_after(static_cast<std::size_t>(lane));
  }

  /// Compares the notes of lanes [first, first + width). The notes of narrower sub-warps were
  /// compared within these sub-warps.
  void compare_notes(int first, int width) {
    // Every rendezvous comes here: no allocations, and no names unless they are told.
    const auto read = [&](int lane, std::vector<noted>& result) {
      result.clear();
      for (const noted& n : fibers_[static_cast<std::size_t>(lane)].notes) {
        if (n.width >= width) result.push_back(n);
      }
    };
    const auto who = [](int lane) { return "lane " + std::to_string(lane); };
    auto& [expected, notes] = compared_;
    read(first, expected);
    for (int lane = first + 1; lane < first + width; ++lane) {
      read(lane, notes);
      for (std::size_t i = 0; i < notes.size() && i < expected.size(); ++i) {
        const noted& a = expected[i];
        const noted& b = notes[i];
        if (std::strcmp(a.call, b.call) != 0)
          fail("its lanes disagree: " + who(first) + " calls " + a.call + ", " + who(lane) +
               " calls " + b.call);
        if (a.argument != b.argument)
          fail("its lanes disagree about what they pass to " + std::string(a.call) + ": " +
               who(first) + " " + std::to_string(a.argument) + ", " + who(lane) + " " +
               std::to_string(b.argument));
      }
      if (notes.size() != expected.size())
        fail("its lanes disagree: " + who(first) + " made " + std::to_string(expected.size()) +
             " calls since they last met, " + who(lane) + " " + std::to_string(notes.size()));
    }
    for (int lane = first; lane < first + width; ++lane)
      fibers_[static_cast<std::size_t>(lane)].notes.clear();
  }

  const std::function<void(lockstep&, int)>& body_;
  std::vector<fiber> fibers_;
  /// The sub-warp of width w that begins with lane i is number (lanes + i) / w.
  std::vector<group> groups_;
  std::vector<std::size_t> order_;
  std::vector<noted> compared_[2];
  std::size_t started_ = 0;
  int idle_turns_ = 0;
  execution caller_;
  std::exception_ptr error_;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
