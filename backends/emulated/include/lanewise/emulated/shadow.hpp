// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// A warp's position, and the other warps' work that is in order before what it does now. A warp's
/// work is numbered by epochs, from 1. An epoch ends where other warps may learn of it: at a
/// barrier, and where the warp raises a signal.
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

/// Remembers for every byte of a team's scratch which warp last wrote it, and how every warp last
/// read it since. So it finds accesses that nothing orders.
///
/// The records are relaxed atomics: they neither race nor order anything, so ThreadSanitizer sees
/// the kernel as if they were not there. They outlive teams, because epochs count on. read() and
/// write() take places that has_room() allows, so that AddressSanitizer need not look at records.
class shadow {
 public:
  struct accessor {
    int warp;
    int lane;
  };
  static constexpr int most_warps = 64;
  /// Stands for several lanes of a warp; the first of them is the lane that asks.
  static constexpr int unknown = -1;
  struct conflict {
    bool found;
    bool wrote;
    accessor who;
  };

  /// guard_bytes: how many guard bytes are on either side.
  shadow(const void* begin, std::size_t bytes, std::size_t guard_bytes, int warps)
      : begin_(reinterpret_cast<std::uintptr_t>(begin)),
        bytes_(bytes),
        guard_bytes_(guard_bytes),
        warps_(static_cast<std::size_t>(warps)),
        of_bytes_(static_cast<of_byte*>(std::calloc(bytes + 1, sizeof(of_byte)))),
        reads_(new std::uint64_t[bytes * warps_]) {
    if (of_bytes_ == nullptr) throw std::bad_alloc();
  }

  std::size_t bytes() const { return bytes_; }
  /// Whether it points into scratch or its guards.
  __attribute__((always_inline)) bool covers(const void* p) const {
    return offset(p) + guard_bytes_ < bytes_ + 2 * guard_bytes_;
  }
  /// From the first byte of scratch; huge for those in front.
  __attribute__((always_inline)) std::size_t offset(const void* p) const {
    return reinterpret_cast<std::uintptr_t>(p) - begin_;
  }
  __attribute__((always_inline)) bool has_room(const void* p, std::size_t n) const {
    return n <= bytes_ && offset(p) <= bytes_ - n;
  }

  __attribute__((no_sanitize("address"))) conflict read(const void* p, std::size_t n, int lane,
                                                        const phase& now) {
    conflict found{};
    const std::uint64_t mine = record(lane, now);
    const std::size_t first = offset(p);
    of_byte* byte = of_bytes_.get() + first;
    std::uint64_t* my_read = reads_.get() + first * warps_ + static_cast<std::size_t>(now.warp);
    std::uint64_t seen = 0;
    for (const of_byte* const end = byte + n; byte < end; ++byte, my_read += warps_) {
      const std::uint64_t other = load(byte->written);
      if (other != seen && unordered(other, mine, now)) found = {true, true, who(other)};
      seen = other;
      note_reader(*byte, *my_read, mine, now);
    }
    return found;
  }

  __attribute__((no_sanitize("address"))) conflict write(const void* p, std::size_t n, int lane,
                                                         const phase& now) {
    conflict found{};
    const std::uint64_t mine = record(lane, now);
    const std::size_t first = offset(p);
    of_byte* byte = of_bytes_.get() + first;
    std::uint64_t* reads = reads_.get() + first * warps_;
    std::uint64_t seen = 0;
    for (const of_byte* const end = byte + n; byte < end; ++byte, reads += warps_) {
      // That two lanes of a warp write to one place is allowed; across warps it is a race.
      const std::uint64_t other = load(byte->written);
      if (other != seen && warp_of(other) != now.warp && unordered(other, mine, now))
        found = {true, true, who(other)};
      seen = other;
      const std::uint64_t readers = load(byte->readers);
      for (std::uint64_t left = readers; left != 0; left &= left - 1) {
        const std::uint64_t reader = load(reads[__builtin_ctzll(left)]);
        if (!unordered(reader, mine, now)) continue;
        found = {true, false, who(reader)};
        if (warp_of(reader) == now.warp && found.who.lane == lane) found.who.lane = unknown;
      }
      // Who comes after this write comes after what other warps read before it.
      if (readers != 0) store(byte->readers, readers & std::uint64_t{1} << now.warp);
      store(byte->written, mine);
    }
    return found;
  }

 private:
  struct of_byte {
    std::uint64_t written;
    /// Bit w: warp w has read the byte since it was last written.
    std::uint64_t readers;
  };
  /// Launches touch little of their scratch: calloc's pages take no time until then.
  struct freed {
    void operator()(void* p) const { std::free(p); }
  };
  // Sanitized tests are not optimised. Members of std::atomic_ref would be calls, and take these
  // tests as long as all else.
  __attribute__((always_inline)) static std::uint64_t load(const std::uint64_t& word) {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
  }
  __attribute__((always_inline)) static void store(std::uint64_t& word, std::uint64_t x) {
    __atomic_store_n(&word, x, __ATOMIC_RELAXED);
  }

  // From the lowest bit: lane 6, warp 8, several lanes 1, fences 17, epoch 32.
  static constexpr std::uint64_t several_bit = std::uint64_t{1} << 14;
  static std::uint64_t record(int lane, const phase& now) {
    return static_cast<std::uint64_t>(lane) | static_cast<std::uint64_t>(now.warp) << 6 |
           std::uint64_t{now.fences & 0x1ffffu} << 15 | std::uint64_t{now.epoch()} << 32;
  }
  __attribute__((always_inline)) static int warp_of(std::uint64_t r) {
    return static_cast<int>(r >> 6 & 0xff);
  }
  __attribute__((always_inline)) static int lane_of(std::uint64_t r) {
    return static_cast<int>(r & 0x3f);
  }
  __attribute__((always_inline)) static bool several(std::uint64_t r) {
    return (r & several_bit) != 0;
  }
  __attribute__((always_inline)) static std::uint64_t phase_of(std::uint64_t r) { return r >> 15; }
  static accessor who(std::uint64_t r) { return {warp_of(r), lane_of(r)}; }

  /// Whether another lane did that, and nothing stands between it and now.
  __attribute__((always_inline)) static bool unordered(std::uint64_t other, std::uint64_t mine,
                                                       const phase& now) {
    if (warp_of(other) != now.warp) return other >> 32 > now.known_of(warp_of(other));
    return phase_of(other) == phase_of(mine) && (several(other) || lane_of(other) != lane_of(mine));
  }

  __attribute__((always_inline)) static void note_reader(of_byte& byte, std::uint64_t& my_read,
                                                         std::uint64_t mine, const phase& now) {
    const std::uint64_t bit = std::uint64_t{1} << now.warp;
    if ((load(byte.readers) & bit) == 0) {
      __atomic_fetch_or(&byte.readers, bit, __ATOMIC_RELAXED);
    } else if (const std::uint64_t before = load(my_read); phase_of(before) == phase_of(mine)) {
      // If several lanes read in one phase, the record keeps the first.
      mine = lane_of(before) == lane_of(mine) ? before : before | several_bit;
    }
    store(my_read, mine);
  }

  std::uintptr_t begin_;
  std::size_t bytes_;
  std::size_t guard_bytes_;
  std::size_t warps_;
  std::unique_ptr<of_byte[], freed> of_bytes_;
  /// Every warp's last read of every byte, where the byte's readers say that there is one.
  std::unique_ptr<std::uint64_t[]> reads_;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
