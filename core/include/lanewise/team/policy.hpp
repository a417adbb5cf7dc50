// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/integers.hpp>
#include <lanewise/macros.hpp>

#include <cstddef>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// How a kernel is cut into teams and tiles. A kernel's policy derives from this and redefines what
/// it chooses. Device backends use the first four numbers, the host the others.
struct launch_policy {
  static constexpr int warps = 8;            ///< warps per team
  static constexpr int items_per_lane = 16;  ///< items of a tile held by one lane
  static constexpr int teams_per_multiprocessor =
      1;  ///< resident teams asked of the register allocator
  static constexpr int parked_tiles =
      0;  ///< tiles that wait for their turn: see decoupled_look_back
  static constexpr std::int64_t host_tile_bytes = 128 << 10;  ///< bytes of items in a host tile
  /// Bytes of results from which on they are written past the caches. That saves reading the lines
  /// that are written (Zen 5, one core: 51 GB/s instead of 35 in a copy of 256 MiB), and pays only
  /// where no later call finds them in a cache.
  static constexpr std::int64_t host_bytes_past_caches = 32 << 20;
  /// Bytes of results from which on tiles that are split are brought into order before they are
  /// written: output streams drive each other out of the caches at once where buckets begin in the
  /// same cache sets. (One core of a Xeon with 2 MiB of second-level cache, 256 buckets: 2^17 to
  /// 2^21 keys take 1.6 to 1.8 ns instead of 4.1 to 7.1. 1.3 times as many take at most 1.3 times
  /// as long for it.)
  static constexpr std::int64_t host_bytes_staged = 512 << 10;
  /// More than one where teams take even shares of the items and none waits for another: threads
  /// that are done then help slower threads.
  static constexpr int host_teams_per_thread = 1;
  /// Whether runs of pairs that are split begin in scratch where they do in a sector of the output.
  static constexpr bool aligns_runs = true;
  static constexpr bool deterministic = false;  ///< tiles are blocks of the fixed tree
};

/// How many tiles of tile_bytes bytes can wait in 96 KiB of scratch. That leaves room for two teams
/// on a multiprocessor of an H200, and for one on GPUs with less.
constexpr int tiles_that_wait(std::int64_t tile_bytes) {
  const std::int64_t tiles = (96 << 10) / tile_bytes;
  return tiles > 5 ? 5 : static_cast<int>(tiles);
}

/// The items per lane of a tile that waits in scratch: `wanted`, or fewer if items are so large
/// that these would take more than 96 KiB.
constexpr int items_that_fit(int wanted, int warps, std::size_t item_bytes) {
  const std::size_t of_lane = item_bytes * 32 * static_cast<std::size_t>(warps);
  while (wanted > 1 && of_lane * static_cast<std::size_t>(wanted) > (96 << 10)) wanted /= 2;
  return wanted;
}

/// The bytes of an item that is read, or of what becomes of it, whichever are fewer.
template <class Source>
constexpr std::size_t bytes_in_passing() {
  std::size_t bytes = sizeof(typename Source::value_type);
  if constexpr (requires { typename Source::raw_type; }) {
    if (sizeof(typename Source::raw_type) < bytes) bytes = sizeof(typename Source::raw_type);
  }
  return bytes;
}

/// Items per lane of a tile that comes and goes as it is, for which a warp needs nothing but many
/// others beside it: 16 bytes.
template <class Source>
constexpr int items_in_passing() {
  constexpr std::size_t bytes = lanewise::bytes_in_passing<Source>();
  return bytes < 16 ? static_cast<int>(16 / bytes) : 1;
}

/// How many items an algorithm has: known to the host, or read from device memory with the extent
/// as upper bound.
struct item_count {
  std::int64_t bound;
  detail::integers resident = {};

  LANEWISE_FUNCTION std::int64_t operator()() const {
    if (!resident.exist()) return bound;
    const std::int64_t n = resident.get();
    return n < 0 ? 0 : (n < bound ? n : bound);
  }
};

LANEWISE_FUNCTION constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

LANEWISE_END_NAMESPACE
