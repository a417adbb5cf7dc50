// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/memory.hpp>
#include <lanewise/emulated/rendezvous.hpp>
#include <lanewise/emulated/shadow.hpp>
#include <lanewise/emulated/watch.hpp>
#include <lanewise/macros.hpp>
#include <lanewise/team/policy.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// What the teams that run one after the other in one slot use: barrier, and scratch between
/// guards.
class resident {
 public:
  static constexpr std::size_t alignment = most_alignment;

  resident(std::size_t scratch_bytes, std::uint32_t seed, std::int64_t first_team, int warps,
           int first_seat)
      : bytes_(scratch_bytes),
        lines_(new line[(guard_bytes + bytes_ + guard_bytes + alignment - 1) / alignment]),
        rendezvous_(warps, first_seat),
        shadow_(scratch(), bytes_, guard_bytes, warps),
        seed_(seed) {
    std::memset(scratch() - guard_bytes, guard, guard_bytes);
    std::memset(scratch() + bytes_, guard, guard_bytes);
    poison(first_team);
  }

  unsigned char* scratch() { return reinterpret_cast<unsigned char*>(lines_.get()) + guard_bytes; }
  emulated::rendezvous& rendezvous() { return rendezvous_; }
  emulated::shadow& shadow() { return shadow_; }

  /// Scratch is uninitialised, so it holds something else in every team.
  void poison(std::int64_t team) {
    std::minstd_rand random(seed_ + static_cast<std::uint32_t>(team) * 2654435761u);
    std::uint32_t words[61];  // a prime number: words at distances of powers of two differ
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random()) << 1;
    for (std::size_t i = 0; i < bytes_; i += sizeof(words))
      std::memcpy(scratch() + i, words, std::min(sizeof(words), bytes_ - i));
  }

  void check_guards(const running_warp& me) {
    const unsigned char* const after = scratch() + bytes_;
    for (std::size_t i = 0; i < guard_bytes; ++i) {
      if (after[i] != guard)
        me.fail("the team's scratch has " + std::to_string(bytes_) + " bytes, and byte " +
                std::to_string(bytes_ + i) + " was written");
      if (*(scratch() - 1 - i) != guard)
        me.fail("byte -" + std::to_string(1 + i) + " of the team's scratch was written");
    }
  }

 private:
  static constexpr unsigned char guard = 0xc7;
  static constexpr std::size_t guard_bytes = alignment;  // no gap: the first byte beyond is guarded
  struct alignas(alignment) line {
    unsigned char bytes[alignment];
  };

  std::size_t bytes_;
  std::unique_ptr<line[]> lines_;
  emulated::rendezvous rendezvous_;
  emulated::shadow shadow_;
  std::uint32_t seed_;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
