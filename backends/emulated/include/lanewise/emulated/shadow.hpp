// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// Where a warp is, and what of the other warps' work is in order before what it does now. A warp's
/// work is numbered by epochs, from 1: one ends where others may learn of it, which is at a barrier
/// and where it raises a signal.
struct phase {
  phase(int warp_index, int warps) : warp(warp_index), known(static_cast<std::size_t>(warps)) {
    next_epoch();
  }

  std::uint32_t epoch() const { return known_of(warp); }
  std::uint32_t known_of(int w) const { return known[static_cast<std::size_t>(w)]; }
  /// What is in order before somebody's work now is so before this warp's, too.
  template <class Known>
  void learn(const Known& others) {
    for (std::size_t w = 0; w < known.size(); ++w) {
      if (known[w] < others[w]) known[w] = others[w];
    }
    ++fences;
  }
  void next_epoch() { ++known[static_cast<std::size_t>(warp)]; }

  int warp;
  /// Up to which epoch; in this warp's own place the epoch that it is in.
  std::vector<std::uint32_t> known;
  std::uint32_t fences = 0;
};

/// Remembers for every byte of a team's scratch who last wrote it and how every warp last read it
/// since, to find accesses that nothing orders.
///
/// The records are relaxed atomics: they neither race nor order anything, so ThreadSanitizer sees
/// the kernel as if they were not there. They outlive teams, because epochs count on.
class shadow {
 public:
  struct accessor {
    int warp;
    int lane;
  };
  static constexpr int most_warps = 64;
  /// Several lanes of a warp, of which the first is the one that asks.
  static constexpr int unknown = -1;
  struct conflict {
    bool found;
    bool wrote;
    accessor who;
  };

  /// So many guard bytes are on either side.
  shadow(const void* begin, std::size_t bytes, std::size_t guard_bytes, int warps)
      : begin_(reinterpret_cast<std::uintptr_t>(begin)),
        bytes_(bytes),
        guard_bytes_(guard_bytes),
        warps_(static_cast<std::size_t>(warps)),
        written_(new std::atomic<std::uint64_t>[bytes]()),
        readers_(new std::atomic<std::uint64_t>[bytes]()),
        read_(new std::uint64_t[bytes * warps_]) {}

  std::size_t bytes() const { return bytes_; }
  /// Whether it points into scratch or its guards.
  bool covers(const void* p) const { return offset(p) + guard_bytes_ < bytes_ + 2 * guard_bytes_; }
  /// From the first byte of scratch; huge for those in front.
  std::size_t offset(const void* p) const { return reinterpret_cast<std::uintptr_t>(p) - begin_; }
  bool has_room(const void* p, std::size_t n) const {
    return n <= bytes_ && offset(p) <= bytes_ - n;
  }

  conflict read(const void* p, std::size_t n, int lane, const phase& now) {
    conflict found{};
    const std::uint64_t mine = record(lane, now);
    for (std::size_t i = offset(p), end = i + n; i < end; ++i) {
      const std::uint64_t other = written_[i].load(std::memory_order_relaxed);
      if (unordered(other, mine, now)) found = {true, true, who(other)};
      note_reader(i, mine);
    }
    return found;
  }

  conflict write(const void* p, std::size_t n, int lane, const phase& now) {
    conflict found{};
    const std::uint64_t mine = record(lane, now);
    for (std::size_t i = offset(p), end = i + n; i < end; ++i) {
      // That two lanes of a warp write to one place is allowed; across warps it is a race.
      const std::uint64_t other = written_[i].load(std::memory_order_relaxed);
      if (warp_of(other) != now.warp && unordered(other, mine, now))
        found = {true, true, who(other)};
      const std::uint64_t readers = readers_[i].load(std::memory_order_relaxed);
      for (std::uint64_t left = readers; left != 0; left &= left - 1) {
        const std::uint64_t reader = last_read(i, std::countr_zero(left));
        if (!unordered(reader, mine, now)) continue;
        found = {true, false, who(reader)};
        if (warp_of(reader) == now.warp && found.who.lane == lane) found.who.lane = unknown;
      }
      // Who comes after this write comes after what other warps read before it.
      if (readers != 0)
        readers_[i].store(readers & std::uint64_t{1} << now.warp, std::memory_order_relaxed);
      written_[i].store(mine, std::memory_order_relaxed);
    }
    return found;
  }

 private:
  // From the lowest bit: lane 6, warp 8, several lanes 1, fences 17, epoch 32.
  static constexpr std::uint64_t several_bit = std::uint64_t{1} << 14;
  static std::uint64_t record(int lane, const phase& now) {
    return static_cast<std::uint64_t>(lane) | static_cast<std::uint64_t>(now.warp) << 6 |
           std::uint64_t{now.fences & 0x1ffffu} << 15 | std::uint64_t{now.epoch()} << 32;
  }
  static int warp_of(std::uint64_t r) { return static_cast<int>(r >> 6 & 0xff); }
  static int lane_of(std::uint64_t r) { return static_cast<int>(r & 0x3f); }
  static bool several(std::uint64_t r) { return (r & several_bit) != 0; }
  static std::uint64_t phase_of(std::uint64_t r) { return r >> 15; }
  static accessor who(std::uint64_t r) { return {warp_of(r), lane_of(r)}; }

  /// Whether another lane did that, and nothing stands between it and now.
  static bool unordered(std::uint64_t other, std::uint64_t mine, const phase& now) {
    if (warp_of(other) != now.warp) return other >> 32 > now.known_of(warp_of(other));
    return phase_of(other) == phase_of(mine) && (several(other) || lane_of(other) != lane_of(mine));
  }

  std::atomic_ref<std::uint64_t> read_of(std::size_t i, int warp) {
    return std::atomic_ref(read_[i * warps_ + static_cast<std::size_t>(warp)]);
  }
  std::uint64_t last_read(std::size_t i, int warp) {
    return read_of(i, warp).load(std::memory_order_relaxed);
  }
  void note_reader(std::size_t i, std::uint64_t mine) {
    const int warp = warp_of(mine);
    const std::uint64_t bit = std::uint64_t{1} << warp;
    if ((readers_[i].load(std::memory_order_relaxed) & bit) == 0) {
      readers_[i].fetch_or(bit, std::memory_order_relaxed);
    } else if (const std::uint64_t before = last_read(i, warp);
               phase_of(before) == phase_of(mine)) {
      // Of several lanes that read in one phase the record keeps the first.
      mine = lane_of(before) == lane_of(mine) ? before : before | several_bit;
    }
    read_of(i, warp).store(mine, std::memory_order_relaxed);
  }

  std::uintptr_t begin_;
  std::size_t bytes_;
  std::size_t guard_bytes_;
  std::size_t warps_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> written_;
  /// Bit w: warp w has read the byte since it was last written.
  std::unique_ptr<std::atomic<std::uint64_t>[]> readers_;
  /// Of every byte every warp's last read, where readers_ says that there is one.
  std::unique_ptr<std::uint64_t[]> read_;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
