// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/common/detail/table_call.hpp>
#include <lanewise/lsm/detail/lsm_cursor.hpp>
#include <lanewise/sequence/reduce.hpp>

#include <cstdint>
#include <type_traits>

// What calls on LSMs have in common.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// How many tombstones there are in word i of those of all levels.
template <class Key, class Value, class Warp>
struct lsm_dead_in_word {
  detail::lsm_levels_of<Key, Value> all;
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    for (int j = 0; j < all.count; ++j) {
      const std::int64_t words = words_of(all.level[j]);
      if (i < words) return Warp::popcount(all.level[j].dead[i]);
      i -= words;
    }
    return 0;
  }
  static LANEWISE_FUNCTION std::int64_t words_of(const detail::lsm_level<Key, Value>& level) {
    return level.dead == nullptr ? 0 : lanewise::divide_up(level.size(), 32);
  }
};

/// How many tombstones all levels have. **Blocks** where bits are counted.
template <class Exec, class Key, class Value>
std::int64_t lsm_tombstones(const Exec& exec, const detail::lsm_levels_of<Key, Value>& all,
                            workspace_ref work) {
  using count = lsm_dead_in_word<Key, Value, warp_t<Exec>>;
  std::int64_t known = 0, words = 0;
  for (int j = 0; j < all.count; ++j) {
    const auto& level = all.level[j];
    words += count::words_of(level);
    if (level.dead == nullptr && level.values == nullptr) known += level.size();
  }
  if (words == 0) return known;
  return known + lanewise::reduce(exec, lanewise::generated(words, count{all}), plus{},
                                  std::int64_t{0}, {.work = work});
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
