// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// Where a warp is: how many barriers its slot has seen (from 1), how many fences the warp.
struct phase {
  std::uint32_t barriers = 1;
  std::uint32_t fences = 0;
};

/// Remembers for every byte of a team's scratch who last wrote it and which warp last read it, and
/// in which phase, to find accesses that nothing orders.
///
/// The records are relaxed atomics: they neither race nor order anything, so ThreadSanitizer sees
/// the kernel as if they were not there. They outlive teams, because barriers count on.
class shadow {
 public:
  struct accessor {
    int warp;
    int lane;
  };
  /// A warp that read beside the recorded one.
  static constexpr int unknown = -1;
  struct conflict {
    bool found;
    bool wrote;
    accessor who;
  };

  shadow(const void* begin, std::size_t bytes)
      : begin_(reinterpret_cast<std::uintptr_t>(begin)),
        bytes_(bytes),
        written_(new std::atomic<std::uint64_t>[bytes]()),
        read_(new std::atomic<std::uint64_t>[bytes]()) {}

  bool covers(const void* p) const { return offset(p) < bytes_; }
  std::size_t offset(const void* p) const { return reinterpret_cast<std::uintptr_t>(p) - begin_; }

  conflict read(const void* p, std::size_t n, accessor me, phase now) {
    conflict found{};
    const std::uint64_t mine = record(me, now);
    for (std::size_t i = offset(p); n > 0 && i < bytes_; ++i, --n) {
      found = unordered_write(i, mine, found);
      // Of several warps that read in one phase the record keeps the first.
      const std::uint64_t before = read_[i].load(std::memory_order_relaxed);
      if (barriers_of(before) != barriers_of(mine)) {
        read_[i].store(mine, std::memory_order_relaxed);
      } else if (warp_of(before) != me.warp) {
        read_[i].store(before | several_bit, std::memory_order_relaxed);
      }
    }
    return found;
  }

  conflict write(const void* p, std::size_t n, accessor me, phase now) {
    conflict found{};
    const std::uint64_t mine = record(me, now);
    for (std::size_t i = offset(p); n > 0 && i < bytes_; ++i, --n) {
      // That two lanes of a warp write to one place is allowed; across warps it is a race.
      const std::uint64_t other = written_[i].load(std::memory_order_relaxed);
      if (barriers_of(other) == barriers_of(mine) && warp_of(other) != me.warp)
        found = {true, true, who(other)};
      const std::uint64_t reader = read_[i].load(std::memory_order_relaxed);
      if (barriers_of(reader) == barriers_of(mine) &&
          (several(reader) || warp_of(reader) != me.warp)) {
        found = {true, false, who(reader)};
        if (found.who.warp == me.warp) found.who.warp = unknown;
      }
      written_[i].store(mine, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  // From the lowest bit: lane 6, warp 8, several readers 1, fences 24, barriers 25.
  static constexpr std::uint64_t several_bit = std::uint64_t{1} << 14;
  static std::uint64_t record(accessor me, phase now) {
    return static_cast<std::uint64_t>(me.lane) | static_cast<std::uint64_t>(me.warp) << 6 |
           std::uint64_t{now.fences & 0xffffffu} << 15 |
           std::uint64_t{now.barriers & 0x1ffffffu} << 39;
  }
  static int warp_of(std::uint64_t r) { return static_cast<int>(r >> 6 & 0xff); }
  static bool several(std::uint64_t r) { return (r & several_bit) != 0; }
  static std::uint64_t barriers_of(std::uint64_t r) { return r >> 39; }
  static std::uint64_t phase_of(std::uint64_t r) { return r >> 15; }
  static accessor who(std::uint64_t r) { return {warp_of(r), static_cast<int>(r & 0x3f)}; }

  conflict unordered_write(std::size_t i, std::uint64_t mine, conflict found) const {
    const std::uint64_t other = written_[i].load(std::memory_order_relaxed);
    const bool same_warp = warp_of(other) == warp_of(mine);
    const bool unordered =
        same_warp ? phase_of(other) == phase_of(mine) && who(other).lane != who(mine).lane
                  : barriers_of(other) == barriers_of(mine);
    return unordered ? conflict{true, true, who(other)} : found;
  }

  std::uintptr_t begin_;
  std::size_t bytes_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> written_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> read_;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
