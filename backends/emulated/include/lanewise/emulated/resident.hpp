// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/emulated/meeting.hpp>
#include <lanewise/emulated/shadow.hpp>
#include <lanewise/emulated/watch.hpp>
#include <lanewise/macros.hpp>

#include <cstring>
#include <string>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// What the teams that run one after the other in one slot use: barrier, and scratch between
/// guards.
template <class Scratch>
class resident {
 public:
  resident(std::uint32_t seed, std::int64_t first_team, int warps, int first_seat)
      : meeting_(warps, first_seat), shadow_(memory_.scratch, sizeof(Scratch)), seed_(seed) {
    std::memset(memory_.before, guard, guard_bytes);
    std::memset(memory_.after, guard, guard_bytes);
    poison(first_team);
  }

  Scratch& scratch() { return *reinterpret_cast<Scratch*>(memory_.scratch); }
  emulated::meeting& meeting() { return meeting_; }
  emulated::shadow& shadow() { return shadow_; }

  /// Scratch is uninitialised, so it holds something else in every team.
  void poison(std::int64_t team) {
    std::minstd_rand random(seed_ + static_cast<std::uint32_t>(team) * 2654435761u);
    for (std::size_t i = 0; i < sizeof(Scratch); i += sizeof(std::uint32_t)) {
      const auto word = static_cast<std::uint32_t>(random()) << 1;
      const std::size_t left = sizeof(Scratch) - i;
      std::memcpy(memory_.scratch + i, &word, left < sizeof(word) ? left : sizeof(word));
    }
  }

  void check_guards(const running_warp& me) const {
    for (std::size_t i = 0; i < guard_bytes; ++i) {
      if (memory_.after[i] != guard)
        me.fail("the team's scratch has " + std::to_string(sizeof(Scratch)) + " bytes, and byte " +
                std::to_string(sizeof(Scratch) + i) + " was written");
      if (memory_.before[guard_bytes - 1 - i] != guard)
        me.fail("byte -" + std::to_string(1 + i) + " of the team's scratch was written");
    }
  }

 private:
  static constexpr unsigned char guard = 0xc7;
  static constexpr std::size_t guard_bytes = 256;
  struct layout {
    alignas(64) unsigned char before[guard_bytes];
    alignas(64) unsigned char scratch[sizeof(Scratch)];
    unsigned char after[guard_bytes];  // no gap: the first byte beyond is guarded
  };

  layout memory_;
  emulated::meeting meeting_;
  emulated::shadow shadow_;
  std::uint32_t seed_;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
