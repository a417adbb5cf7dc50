// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/lsm/detail/lsm_runs.hpp>
#include <lanewise/warp/search.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// The most levels that a map has. Each has at least twice the elements of the next newer one. So
/// maps with fewer than 2^31 times the elements of the newest level have no more.
inline constexpr int lsm_most_levels = 32;

namespace detail {

/// The levels, newest first.
template <class Key, class Value>
struct lsm_levels_of {
  lsm_level<Key, Value> level[lsm_most_levels];
  int count = 0;
  bool is_clean = false;  ///< at most one level, with every key once and no tombstone
};

/// A merge of parts of all levels by one lane, in memory of its own: a position in each level, and
/// where its part ends or begins.
template <class Key, class Value>
struct lsm_cursor {
  using levels = lsm_levels_of<Key, Value>;

  std::int64_t at[lsm_most_levels];
  std::int64_t end[lsm_most_levels];

  /// Steps over the least key that is left, unless there is none or it is not below `stop`. The
  /// element that counts is `index` of `level`; it may be a tombstone.
  LANEWISE_FUNCTION bool next(const levels& all, bool has_stop, Key stop, Key& key, int& level,
                              std::int64_t& index) {
    level = -1;
    for (int j = 0; j < all.count; ++j) {
      if (at[j] >= end[j]) continue;
      const Key x = all.level[j].keys()[at[j]];
      if (level < 0 || x < key) {
        key = x;
        level = j;
      }
    }
    if (level < 0 || (has_stop && !(key < stop))) return false;
    index = at[level];
    for (int j = level; j < all.count; ++j) {
      const Key* const keys = all.level[j].keys();
      while (at[j] < end[j] && keys[at[j]] == key) ++at[j];
    }
    return true;
  }
  /// As `next`, over tombstones.
  LANEWISE_FUNCTION bool next_live(const levels& all, bool has_stop, Key stop, Key& key, int& level,
                                   std::int64_t& index) {
    while (next(all, has_stop, stop, key, level, index))
      if (!all.level[level].is_dead(index)) return true;
    return false;
  }

  /// Steps back over keys, from the greatest before all positions on, until one is live.
  LANEWISE_FUNCTION bool previous_live(const levels& all, Key& key, int& level,
                                       std::int64_t& index) {
    for (;;) {
      level = -1;
      for (int j = 0; j < all.count; ++j) {
        if (at[j] == 0) continue;
        const Key x = all.level[j].keys()[at[j] - 1];
        if (level < 0 || key < x) {
          key = x;
          level = j;
        }
      }
      if (level < 0) return false;
      // The first of equal keys counts: it is where the newest level's cursor stops.
      for (int j = level; j < all.count; ++j) {
        const Key* const keys = all.level[j].keys();
        while (at[j] > 0 && keys[at[j] - 1] == key) --at[j];
      }
      index = at[level];
      if (!all.level[level].is_dead(index)) return true;
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
