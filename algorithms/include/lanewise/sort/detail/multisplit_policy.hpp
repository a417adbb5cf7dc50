// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/common/detail/tuning.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// On the host a tile is 2^15 keys: staged with as many values of 8 bytes it takes half a
/// second-level cache.
template <class Key>
struct split_policy : tuning::split<tuning::item_class(sizeof(Key))> {
  // Below, what comes next finds the results in a cache (docs/measurements.md).
  static constexpr std::int64_t host_bytes_past_caches = 16 << 20;
  // 16 cores beside an H200, 2^26 u32, m = 8 and 256: 5.3 and 4.8 Gkeys/s, with one team per thread
  // 4.5 and 3.6.
  static constexpr int host_teams_per_thread = 4;
};

/// For pairs values wait in registers beside keys. With two teams, each thread has enough registers
/// for a tile that is larger by a third, if keys and values are of 4 bytes. More items then go to
/// each bucket at a time. Larger keys or values go to more warps.
template <class Key, int value_bytes>
struct split_pairs_policy : split_policy<Key> {
  static constexpr int own_warps = split_policy<Key>::warps;
  static constexpr int own_items = split_policy<Key>::items_per_lane;
  static constexpr int per_warp = own_warps * own_items;
  static constexpr bool grows = sizeof(Key) == 4 && value_bytes <= 4 && own_items % 3 == 0;
  static constexpr bool divides = per_warp % 12 == 0;
  static constexpr int warps = grows || !divides ? own_warps : 12;
  static constexpr int items_per_lane = grows     ? own_items / 3 * 4
                                        : divides ? per_warp / 12
                                                  : own_items;
  static constexpr int teams_per_multiprocessor =
      grows || divides ? 2 : split_policy<Key>::teams_per_multiprocessor;
};

/// If ids of buckets take the place of keys, what moves beside them says how large a tile is.
template <class Id, int value_bytes>
struct split_ids_policy : split_policy<Id> {
  static constexpr int warps = 8;
  static constexpr int items_per_lane = value_bytes <= 4 ? 32 : (value_bytes <= 8 ? 16 : 8);
  static constexpr int teams_per_multiprocessor = 2;
};

template <class Key, std::size_t value_bytes, bool are_ids>
using split_policy_for =
    std::conditional_t<are_ids, split_ids_policy<Key, static_cast<int>(value_bytes)>,
                       std::conditional_t<value_bytes == 0, split_policy<Key>,
                                          split_pairs_policy<Key, static_cast<int>(value_bytes)>>>;

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
