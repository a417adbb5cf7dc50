// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What bench_tune tries on GPUs.

#include "tune.hpp"

namespace lanewise::perf {

/// The row that ships, and these: warps, bytes of items per lane, teams per multiprocessor.
template <class Shipped, int item_bytes, std::size_t count>
constexpr candidate_rows<count> register_tile(const int (&others)[count][3]) {
  std::array<table_row, count> rows{};
  for (std::size_t i = 0; i < count; ++i) {
    // Small items take a register each: a lane has no use for more than 32.
    const int fit = others[i][1] / item_bytes;
    rows[i] = {others[i][0], fit < 1 ? 1 : (fit > 32 ? 32 : fit), others[i][2],
               row_of<Shipped>.host_kib};
  }
  return {row_of<Shipped>, rows};
}

struct device_lists {
  /// Enough bytes on their way are all that counts.
  template <class Shipped, int item_bytes>
  struct copy {
    static constexpr auto list = register_tile<Shipped, item_bytes>(
        {{8, 32, 8}, {8, 32, 4}, {4, 16, 16}, {16, 16, 4}, {8, 64, 4}});
  };
  template <class Shipped, int item_bytes>
  struct reduce {
    static constexpr auto list = register_tile<Shipped, item_bytes>(
        {{8, 64, 4}, {8, 128, 2}, {16, 32, 4}, {16, 64, 2}, {16, 128, 2}});
  };
  /// Tiles that wait for their turn take the scratch: two or three teams fit a multiprocessor.
  template <class Shipped, int item_bytes>
  struct scan {
    static constexpr auto list = register_tile<Shipped, item_bytes>(
        {{8, 64, 3}, {8, 128, 2}, {8, 128, 3}, {12, 64, 2}, {16, 64, 2}});
  };
  /// Keys are staged in scratch: more per lane than fit 227 KiB of a multiprocessor are no use.
  /// Narrow keys take as much work as those of 4 bytes.
  template <class Shipped, int item_bytes>
  struct split {
    static constexpr auto list = register_tile<Shipped, (item_bytes < 4 ? 4 : item_bytes)>(
        {{8, 48, 4}, {8, 64, 4}, {8, 80, 3}, {8, 96, 3}, {12, 64, 2}});
  };
  /// Tiles wait as those of scans do, and marks of a lane are one word.
  template <class Shipped, int item_bytes>
  struct compaction {
    static constexpr auto list = register_tile<Shipped, item_bytes>(
        {{8, 128, 2}, {8, 64, 4}, {12, 96, 2}, {16, 64, 2}, {16, 96, 2}});
  };
  template <class Shipped, int item_bytes>
  using runs = compaction<Shipped, item_bytes>;
  /// For keys and values together.
  template <class Shipped, int item_bytes>
  struct by_key {
    static constexpr auto list = register_tile<Shipped, item_bytes>(
        {{8, 128, 2}, {8, 256, 2}, {10, 128, 2}, {12, 128, 2}, {16, 64, 2}});
  };
};

}  // namespace lanewise::perf
