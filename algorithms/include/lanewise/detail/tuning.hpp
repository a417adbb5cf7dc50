// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/policy.hpp>

#include <cstddef>

LANEWISE_BEGIN_NAMESPACE
namespace tuning {

/// The row that items of a size use: the next power of two, at most 32.
constexpr int item_class(std::size_t bytes) {
  int row = 1;
  while (row < 32 && static_cast<std::size_t>(row) < bytes) row *= 2;
  return row;
}

template <int item_bytes>
struct reduce;
template <int item_bytes>
struct scan;
template <int item_bytes>
struct split;

#define LANEWISE_POLICY(algorithm, item_bytes, w, per_lane, teams, host_kib)      \
  template <>                                                                     \
  struct algorithm<item_bytes> : launch_policy {                                  \
    static constexpr int warps = w;                                               \
    static constexpr int items_per_lane = per_lane;                               \
    static constexpr int teams_per_multiprocessor = teams;                        \
    static constexpr std::int64_t host_tile_bytes = std::int64_t{host_kib} << 10; \
  };

// Rows are rewritten by perf/tune, which measured what their comments say. Where a comment says
// nothing about a backend, its columns were chosen and not measured. Device columns: warps, items
// per lane, teams per multiprocessor; host column: KiB of items in a tile.
// clang-format off
LANEWISE_POLICY(reduce, 1, 16, 16, 2, 128)
LANEWISE_POLICY(reduce, 2, 16, 16, 2, 128)
LANEWISE_POLICY(reduce, 4, 16, 16, 2, 128)  // sm_90: as first chosen, 1097 Gitems/s
LANEWISE_POLICY(reduce, 8, 16, 16, 2, 128)
LANEWISE_POLICY(reduce, 16, 16, 4, 2, 128)
LANEWISE_POLICY(reduce, 32, 16, 4, 2, 128)
LANEWISE_POLICY(scan, 1, 8, 32, 3, 128)
LANEWISE_POLICY(scan, 2, 8, 32, 2, 128)
LANEWISE_POLICY(scan, 4, 8, 32, 2, 128)
LANEWISE_POLICY(scan, 8, 8, 16, 2, 128)
LANEWISE_POLICY(scan, 16, 8, 8, 2, 128)
LANEWISE_POLICY(scan, 32, 8, 4, 2, 128)
LANEWISE_POLICY(split, 1, 8, 20, 3, 32)
LANEWISE_POLICY(split, 2, 8, 20, 3, 64)
LANEWISE_POLICY(split, 4, 8, 24, 3, 128)
LANEWISE_POLICY(split, 8, 8, 12, 3, 256)
LANEWISE_POLICY(split, 16, 8, 4, 3, 512)
LANEWISE_POLICY(split, 32, 8, 4, 3, 1024)
// clang-format on
#undef LANEWISE_POLICY

}  // namespace tuning
LANEWISE_END_NAMESPACE
