// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The blocks that lists of threads need for `vertices` vertices, `block` in each block, if each
/// thread has one that is not full.
constexpr std::int64_t blocks_of_threads(std::int64_t vertices, std::int64_t block,
                                         std::int64_t threads) {
  return vertices / block + threads + 1;
}

/// Blocks that all threads of a host take from. `taken` counts them, `before` says for each which
/// one its thread has filled before.
template <class Vertex>
struct block_pool {
  static constexpr int block = 256;  ///< vertices

  std::uint64_t* taken;
  std::uint64_t* before;
  Vertex* items;
};

/// A list of one thread, in blocks.
template <class Team, class Vertex>
class block_list {
  static constexpr int block = block_pool<Vertex>::block;

 public:
  /// Returns how many blocks of the pool this takes. The pool's counter was `base` before any of
  /// the lists in it took a block.
  LANEWISE_FUNCTION std::uint64_t push(const Team& team, const block_pool<Vertex>& pool,
                                       std::uint64_t base, Vertex v) {
    const bool is_full = count_ % block == 0;
    if (is_full) {
      const std::uint64_t k = team.warp().fetch_add(*pool.taken, std::uint64_t{1}) - base;
      pool.before[k] = last_;
      last_ = k;
    }
    pool.items[last_ * block + count_++ % block] = v;
    return is_full ? 1 : 0;
  }
  /// f(vertices, count) for the blocks, the last one first.
  template <class F>
  LANEWISE_FUNCTION void for_each_block(const block_pool<Vertex>& pool, const F& f) const {
    std::uint64_t k = last_;
    for (std::uint64_t left = count_; left != 0; k = pool.before[k]) {
      const auto part = static_cast<int>((left - 1) % block) + 1;
      f(pool.items + k * block, part);
      left -= static_cast<std::uint64_t>(part);
    }
  }

 private:
  std::uint64_t last_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
