// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/sort/detail/radix_plan.hpp>
#include <lanewise/team/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Ranks of a lane's keys among those of their bucket in a team, by one atomic addition for each
/// key: not in the order of the keys, which cannot be told from equal ones. Two ranks share a
/// register.
template <class Team, int rows>
class unstable_ranks {
  using warp_type = typename Team::warp_type;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using u32s = lanes<std::uint32_t>;

 public:
  unstable_ranks() = default;
  /// bucket(j) are the buckets of row j; what does not exist has one of its own. Rows for which
  /// some(j) does not hold are left out by the warp. count has a counter for each bucket, which
  /// is 0.
  template <class BucketOf, class Some>
  LANEWISE_FUNCTION unstable_ranks(const warp_type& warp, std::uint32_t* count, BucketOf bucket,
                                   Some some) {
    // Additions to one counter wait for each other. Where a row has many of one bucket, the first
    // lane adds for all of its bucket. Two rows are looked at, as asking every row costs a fifth.
    if (warp.anywhere(is_crowded(warp, bucket(0)) || is_crowded(warp, bucket(rows / 2)))) {
      rank<true>(warp, count, bucket, some);
    } else {
      rank<false>(warp, count, bucket, some);
    }
  }

  LANEWISE_FUNCTION u32s operator()(int j) const {
    return j % 2 == 0 ? pair_[j / 2] & u32s(0xffffu) : pair_[j / 2] >> u32s(16u);
  }

 private:
  using bits = typename warp_type::bits;
  u32s pair_[(rows + 1) / 2];

  static LANEWISE_FUNCTION std::uint32_t size_of(bits set) {
    return static_cast<std::uint32_t>(warp_type::popcount(set));
  }
  /// Whether more than a quarter of a row are of the first lane's bucket.
  static LANEWISE_FUNCTION bool is_crowded(const warp_type& warp, const u32s& bucket) {
    return warp.count(bucket == warp.broadcast(bucket, 0)) > warp_type::width / 4;
  }

  template <bool together, class BucketOf, class Some>
  LANEWISE_FUNCTION void rank(const warp_type& warp, std::uint32_t* count, BucketOf bucket,
                              Some some) {
    const auto all = warp.first(warp_type::width);
    LANEWISE_UNROLL
    for (int j = 0; j < rows; ++j) {
      u32s rank(0u);
      if (some(j)) {
        const auto b = bucket(j);
        if constexpr (together) {
          const auto first = warp.lane() == std::uint32_t{0};
          const auto same = b == warp.broadcast(b, 0);
          const bits set = warp.ballot(same);
          const auto before = warp.template fetch_add<order::relaxed, scope::team>(
              first | !same, count, b, lanewise::select(first, u32s(size_of(set)), u32s(1u)));
          const auto in_front =
              warp.map([set](bits below) { return size_of(static_cast<bits>(set & below)); },
                       warp.lanes_below());
          rank = lanewise::select(same, u32s(warp.broadcast(before, 0)) + in_front, before);
        } else {
          rank = warp.template fetch_add<order::relaxed, scope::team>(all, count, b, u32s(1u));
        }
      }
      pair_[j / 2] = j % 2 == 0 ? rank : pair_[j / 2] | (rank << u32s(16u));
    }
  }
};

/// Sends a tile of a segment to its buckets, in any order within a bucket: the tile is brought into
/// the order of buckets in scratch, and every run takes the next places of its bucket.
template <class Team, class Bits, class Counter, int items_per_lane>
class unstable_split {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static constexpr int threads = Team::warps * width;
  static constexpr int groups = radix_buckets / width;
  static constexpr int groups_per_warp = (groups + Team::warps - 1) / Team::warps;
  template <class U>
  using lanes = lanes_t<warp_type, U>;
  using u32s = lanes<std::uint32_t>;

 public:
  static constexpr int items = threads * items_per_lane;
  static_assert(items < 1 << 16);

  struct scratch {
    /// Counts, then where runs begin in the tile; one more for what does not exist.
    std::uint32_t slot[radix_buckets + 1];
    Counter base[radix_buckets];  ///< what to add to a slot to get a place
    // Apart from `base`: loads of four words look like a race to compute-sanitizer.
    alignas(16) std::uint32_t group_total[groups];
    alignas(16) Bits staged[items];
  };

  /// Places keys [first, last), at most `items`, which are read by `reads` and written by `writes`.
  template <class Digit>
  static LANEWISE_FUNCTION void place(const Team& team, scratch& shared, const Bits* from, Bits* to,
                                      std::int64_t first, std::int64_t last, const Digit& digit,
                                      const key_map<Bits>& reads, const key_map<Bits>& writes,
                                      Counter* next) {
    if (last - first >= items) {
      place_tile<true>(team, shared, from, to, first, items, digit, reads, writes, next);
    } else {
      place_tile<false>(team, shared, from, to, first, static_cast<int>(last - first), digit, reads,
                        writes, next);
    }
  }

 private:
  template <bool full, class Digit>
  static LANEWISE_FUNCTION void place_tile(const Team& team, scratch& shared, const Bits* from,
                                           Bits* to, std::int64_t first, int n, const Digit& digit,
                                           const key_map<Bits>& reads, const key_map<Bits>& writes,
                                           Counter* next) {
    const auto warp = team.warp();
    const int mine = team.warp_index() * width;
    const auto exists = [&](int j) LANEWISE_INLINE_LAMBDA {
      return full ? warp.first(width) : warp.first(n - j * threads - mine);
    };
    for (int g = team.warp_index(); g < groups; g += Team::warps)
      warp.store(shared.slot + g * width, u32s(0u));
    team.once([&] { shared.slot[radix_buckets] = 0; });
    lanes<Bits> key[items_per_lane];
    const Bits* const at = from + first + mine;
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j)
      key[j] = warp.load(exists(j), at + j * threads, Bits{});
    if (!reads.is_identity()) {
      LANEWISE_UNROLL
      for (int j = 0; j < items_per_lane; ++j) key[j] = warp.map(reads, key[j]);
    }
    team.barrier();
    const auto bucket = [&](int j) LANEWISE_INLINE_LAMBDA {
      const auto d = warp.map(digit, key[j]);
      if constexpr (full) return d;
      if constexpr (!full)
        return lanewise::select(exists(j), d, u32s(static_cast<std::uint32_t>(radix_buckets)));
    };
    const auto some = [&](int j) LANEWISE_INLINE_LAMBDA { return full || j * threads + mine < n; };
    const unstable_ranks<Team, items_per_lane> rank(warp, shared.slot, bucket, some);
    team.barrier();
    find_runs(team, shared, next);
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      const auto there = exists(j);
      const auto slot = warp.gather(shared.slot, bucket(j)) + rank(j);
      warp.scatter(there, shared.staged, slot, key[j]);
    }
    team.barrier();
    if (writes.is_identity()) {
      write<full>(warp, shared, mine, n, to, digit, identity{});
    } else {
      write<full>(warp, shared, mine, n, to, digit, [&](Bits b) { return writes.item_of(b); });
    }
  }
  template <bool full, class Digit, class Writes>
  static LANEWISE_FUNCTION void write(const warp_type& warp, const scratch& shared, int mine, int n,
                                      Bits* to, const Digit& digit, const Writes& writes) {
    LANEWISE_UNROLL
    for (int j = 0; j < items_per_lane; ++j) {
      const int slot = j * threads + mine;
      const auto there = full ? warp.first(width) : warp.first(n - slot);
      auto x = warp.load(there, shared.staged + slot, Bits{});
      auto lane = warp.lane();
      warp.each(
          there,
          [&](Bits b, std::uint32_t l) {
            const auto place =
                static_cast<Counter>(shared.base[digit(b)] + static_cast<std::uint32_t>(slot) + l);
            to[place] = writes(b);
          },
          x, lane);
    }
  }

  /// Turns counts into first slots, and takes the places of every run.
  static LANEWISE_FUNCTION void find_runs(const Team& team, scratch& shared, Counter* next) {
    const auto warp = team.warp();
    u32s count[groups_per_warp], upto[groups_per_warp];
    lanes<Counter> place[groups_per_warp];
    LANEWISE_UNROLL
    for (int q = 0; q < groups_per_warp; ++q) {
      const int g = q * Team::warps + team.warp_index();
      if (g >= groups) continue;
      count[q] = warp.load(shared.slot + g * width);
      place[q] = warp.fetch_add(count[q] != 0u, next + g * width, warp.lane(),
                                warp.template cast<Counter>(count[q]));
      upto[q] = warp.inclusive_scan(count[q], plus{});
      const std::uint32_t total = warp.broadcast(upto[q], width - 1);
      warp.once([&] { shared.group_total[g] = total; });
    }
    team.barrier();
    LANEWISE_UNROLL
    for (int q = 0; q < groups_per_warp; ++q) {
      const int g = q * Team::warps + team.warp_index();
      if (g >= groups) continue;
      std::uint32_t before = 0;
      for (int p = 0; p < g; ++p) before += shared.group_total[p];
      const auto slot = upto[q] - count[q] + u32s(before);
      warp.store(shared.slot + g * width, slot);
      warp.store(shared.base + g * width, place[q] - warp.template cast<Counter>(slot));
    }
    team.barrier();
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
