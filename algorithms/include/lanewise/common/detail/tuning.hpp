// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/policy.hpp>

#include <cstddef>

LANEWISE_BEGIN_NAMESPACE
namespace tuning {

/// The row that items of a size use: the next power of two, at most 32.
constexpr int item_class(std::size_t bytes) {
  int row = 1;
  while (row < 32 && static_cast<std::size_t>(row) < bytes) row *= 2;
  return row;
}

/// The class of a key and a value together: smaller ones have the registers of 8 bytes.
constexpr int pair_class(std::size_t bytes) {
  return item_class(bytes < 8 ? 8 : bytes);
}

template <int item_bytes>
struct reduce;
template <int item_bytes>
struct scan;
template <int item_bytes>
struct split;
template <int item_bytes>
struct copy;
template <int item_bytes>
struct compaction;
template <int item_bytes>
struct runs;
template <int item_bytes>
struct reduce_by_key;

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
// per lane, teams per multiprocessor; host column: KiB of items in a tile. Compaction is selection
// and unique; runs are run-length coding and whatever else has more than items in its registers;
// reduce_by_key goes by the bytes of a key and a value.
// clang-format off
LANEWISE_POLICY(reduce, 1, 16, 16, 2, 128)  // sm_90: 4033 Gitems/s (reduce, n = 2^30, NVIDIA H200, 2026-11-22), kept, best of 5 is 0.1 % faster
LANEWISE_POLICY(reduce, 2, 16, 16, 2, 128)  // sm_90: 2139 Gitems/s (reduce, n = 2^29, NVIDIA H200, 2026-11-22), best of 5
LANEWISE_POLICY(reduce, 4, 16, 16, 2, 128)  // sm_90: 1087 Gitems/s (reduce, n = 2^28, NVIDIA H200, 2026-11-22), kept, best of 5 is 1.5 % faster
LANEWISE_POLICY(reduce, 8, 8, 16, 2, 128)  // sm_90: 545 Gitems/s (reduce, n = 2^27, NVIDIA H200, 2026-11-22), best of 5, 3.2 % faster than 16 x 16 x 2
LANEWISE_POLICY(reduce, 16, 16, 4, 2, 128)  // sm_90: 180 Gitems/s (reduce, n = 2^26, NVIDIA H200, 2026-11-22), kept, best of 5 is 0.5 % faster
LANEWISE_POLICY(reduce, 32, 8, 4, 2, 128)  // sm_90: 82.1 Gitems/s (reduce, n = 2^25, NVIDIA H200, 2026-11-22), best of 5, 8.6 % faster than 16 x 4 x 2
LANEWISE_POLICY(scan, 1, 8, 32, 3, 128)  // sm_90: 920 Gitems/s (exclusive_scan, n = 2^30, NVIDIA H200, 2026-11-22), best of 4
LANEWISE_POLICY(scan, 2, 12, 32, 2, 128)  // sm_90: 789 Gitems/s (exclusive_scan, n = 2^29, NVIDIA H200, 2026-11-22), best of 4, 13.7 % faster than 8 x 32 x 2
LANEWISE_POLICY(scan, 4, 8, 32, 2, 128)  // sm_90: 470 Gitems/s (exclusive_scan, n = 2^28, NVIDIA H200, 2026-11-22), best of 5
LANEWISE_POLICY(scan, 8, 8, 16, 2, 128)  // sm_90: 226 Gitems/s (exclusive_scan, n = 2^27, NVIDIA H200, 2026-11-22), best of 5
LANEWISE_POLICY(scan, 16, 12, 4, 2, 128)  // sm_90: 81.5 Gitems/s (exclusive_scan, n = 2^26, NVIDIA H200, 2026-11-22), best of 5, 7.7 % faster than 8 x 8 x 2
LANEWISE_POLICY(scan, 32, 8, 4, 2, 128)  // sm_90: 29.2 Gitems/s (exclusive_scan, n = 2^25, NVIDIA H200, 2026-11-22), kept, best of 5 is 0.7 % faster
LANEWISE_POLICY(split, 1, 8, 16, 4, 32)  // sm_90: 246 Gitems/s (multisplit.m256, n = 2^30, NVIDIA H200, 2026-11-22), best of 5, 6.9 % faster than 8 x 20 x 3
LANEWISE_POLICY(split, 2, 8, 16, 4, 64)  // sm_90: 227 Gitems/s (multisplit.m256, n = 2^29, NVIDIA H200, 2026-11-22), best of 5, 8.6 % faster than 8 x 20 x 3
LANEWISE_POLICY(split, 4, 8, 24, 3, 128)  // sm_90: 208 Gitems/s (multisplit.m256, n = 2^28, NVIDIA H200, 2026-11-22), best of 5
LANEWISE_POLICY(split, 8, 8, 12, 3, 256)  // sm_90: 104 Gitems/s (multisplit.m256, n = 2^27, NVIDIA H200, 2026-11-22), best of 5
LANEWISE_POLICY(split, 16, 8, 6, 3, 512)  // sm_90: 58.4 Gitems/s (multisplit.m256, n = 2^26, NVIDIA H200, 2026-11-22), best of 6, 6.5 % faster than 8 x 4 x 3
LANEWISE_POLICY(split, 32, 8, 4, 3, 1024)  // sm_90: 31.0 Gitems/s (multisplit.m256, n = 2^25, NVIDIA H200, 2026-11-22), best of 6
LANEWISE_POLICY(copy, 1, 8, 16, 8, 128)
LANEWISE_POLICY(copy, 2, 8, 8, 8, 128)
LANEWISE_POLICY(copy, 4, 8, 4, 8, 128)  // sm_90: 526 Gitems/s (copy, n = 2^28, NVIDIA H200, 2026-11-25), kept, best of 6 is 1.3 % faster
LANEWISE_POLICY(copy, 8, 8, 2, 8, 128)
LANEWISE_POLICY(copy, 16, 8, 1, 8, 128)
LANEWISE_POLICY(copy, 32, 8, 1, 4, 128)
LANEWISE_POLICY(compaction, 1, 8, 32, 3, 128)
LANEWISE_POLICY(compaction, 2, 8, 32, 2, 128)
LANEWISE_POLICY(compaction, 4, 16, 24, 2, 128)  // sm_90: 628 Gitems/s (select_if.p50, n = 2^28, NVIDIA H200, 2026-11-25), best of 5, up to n = 2^20 16 x 16 x 2 is 2.4 % faster
LANEWISE_POLICY(compaction, 8, 8, 16, 2, 128)
LANEWISE_POLICY(compaction, 16, 8, 8, 2, 128)
LANEWISE_POLICY(compaction, 32, 8, 4, 2, 128)
LANEWISE_POLICY(runs, 1, 8, 32, 3, 128)
LANEWISE_POLICY(runs, 2, 8, 32, 2, 128)
LANEWISE_POLICY(runs, 4, 8, 32, 2, 128)  // sm_90: 738 Gitems/s (run_length_encode.r256, n = 2^28, NVIDIA H200, 2026-11-25), best of 5
LANEWISE_POLICY(runs, 8, 8, 16, 2, 128)
LANEWISE_POLICY(runs, 16, 8, 8, 2, 128)
LANEWISE_POLICY(runs, 32, 8, 4, 2, 128)
LANEWISE_POLICY(reduce_by_key, 8, 10, 16, 2, 128)  // sm_90: 391 Gitems/s (reduce_by_key.r256, n = 2^28, NVIDIA H200, 2026-11-25), best of 5, up to n = 2^20 8 x 16 x 2 is 4.8 % faster
LANEWISE_POLICY(reduce_by_key, 16, 8, 16, 2, 128)
LANEWISE_POLICY(reduce_by_key, 32, 8, 4, 2, 128)
// clang-format on
#undef LANEWISE_POLICY

/// The items per lane of a table's row for items of `bytes` bytes. A lane has the bytes that it has
/// of items that fill their class.
template <template <int> class Table, std::size_t bytes>
constexpr int items_per_lane_of = [] {
  constexpr int row = item_class(bytes);
  constexpr int items = Table<row>::items_per_lane * row / static_cast<int>(bytes);
  return items < 1 ? 1 : items;
}();

}  // namespace tuning
LANEWISE_END_NAMESPACE
