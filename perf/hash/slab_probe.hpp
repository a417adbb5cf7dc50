// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A read-only probe of a table of 128-byte slabs, written once: the spike that settled split and
// cooperate.
//
// A slab is 16 words of 64 bits: 15 pairs (key below, value above) and, in the last word, the index
// of the next slab or `end`. Bucket b starts at slab b. Key 0 marks an empty slot.

#include <lanewise/backend.hpp>

#include <cstdint>
#include <vector>

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace probe {

struct slab {
  static constexpr int words = 16;
  static constexpr int pairs = 15;
  static constexpr std::uint32_t end = ~std::uint32_t{0};
};

LANEWISE_FUNCTION std::uint32_t hash(std::uint32_t key) {
  key *= 0x9E3779B1u;
  return (key ^ (key >> 15)) * 0x85EBCA77u;
}

LANEWISE_FUNCTION std::uint32_t bucket_of(std::uint32_t key, std::uint32_t buckets) {
  return static_cast<std::uint32_t>((std::uint64_t{hash(key)} * buckets) >> 32);
}

/// values(i) = value of queries(i), or `missing`.
template <int sub_width, int depth>
struct probe_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  const std::uint64_t* table;
  std::uint32_t buckets;
  const std::uint32_t* queries;
  std::uint32_t* values;
  std::int64_t n;
  static constexpr std::uint32_t missing = ~std::uint32_t{0};

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using words = typename warp_type::template lanes<std::uint32_t>;
    constexpr int ahead = Team::windows_in_flight;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const std::int64_t windows = divide_up(n, width);
    const std::int64_t warps = std::int64_t{team.league()} * Team::warps;
    const index_range mine =
        even_share(windows, std::int64_t{team.index()} * Team::warps + team.warp_index(), warps);
    for (std::int64_t begin = mine.begin; begin < mine.end; begin += ahead) {
      words key[ahead], address[ahead];
      LANEWISE_UNROLL
      for (int a = 0; a < ahead; ++a) {
        const auto active = active_lanes(warp, mine, begin + a);
        key[a] = warp.load(active, queries + (begin + a) * width, std::uint32_t{0});
        address[a] = warp.map([m = buckets](std::uint32_t k) { return bucket_of(k, m); }, key[a]);
        warp.prefetch(
            active, table,
            warp.map([](std::uint32_t s) { return std::uint64_t{s} * slab::words; }, address[a]));
        warp.prefetch(active, table,
                      warp.map([](std::uint32_t s) { return std::uint64_t{s} * slab::words + 8; },
                               address[a]));
      }
      for (int a = 0; a < ahead; ++a) {
        const auto active = active_lanes(warp, mine, begin + a);
        words value(missing);
        warp.template split_in_step<sub_width>([&](const auto& sub) {
          auto v = sub.take(value);
          find(sub, sub.take(active), sub.take(key[a]), sub.take(address[a]), v);
          sub.put(value, v);
        });
        warp.store(active, values + (begin + a) * width, value);
      }
    }
  }

 private:
  template <class W>
  LANEWISE_FUNCTION auto active_lanes(const W& warp, const index_range& mine,
                                      std::int64_t window) const {
    const std::int64_t left = window < mine.end ? n - window * W::width : 0;
    return warp.first(left);
  }

  /// Every active lane's key is looked up by the whole sub-warp, one line of the table at a time.
  /// Sub-warps keep step: what they do together is in no branch.
  template <class Sub, class Mask, class Words>
  LANEWISE_FUNCTION void find(const Sub& sub, const Mask& active, const Words& key, Words address,
                              Words& value) const {
    constexpr int per_lane = slab::words / Sub::width;
    using line_part = pack<std::uint64_t, per_lane>;
    sub.template cooperate_in_step<depth>(
        active,
        [&](int source) {
          const std::uint64_t first = std::uint64_t{sub.broadcast(address, source)} * slab::words;
          return sub.load(reinterpret_cast<const line_part*>(table + first));
        },
        [&](int source, const auto& line, bool live) {
          const std::uint32_t wanted = sub.broadcast(key, source);
          const Words hit = sub.map(
              [wanted](const line_part& p) {
                std::uint32_t v = missing;
                LANEWISE_UNROLL
                for (int i = 0; i < line_part::size; ++i) {
                  if (static_cast<std::uint32_t>(p[i]) == wanted)
                    v = static_cast<std::uint32_t>(p[i] >> 32);
                }
                return v;
              },
              line);
          const auto found = sub.ballot(hit != Words(missing));
          const std::uint32_t there = sub.broadcast(hit, found != 0 ? Sub::lowest(found) : 0);
          // Only the word that is needed: a broadcast moves 32 bits per instruction.
          const auto last = sub.map(
              [](const line_part& p) { return static_cast<std::uint32_t>(p[line_part::size - 1]); },
              line);
          const std::uint32_t next = sub.broadcast(last, Sub::width - 1);
          const auto me =
              sub.lane() == Words(static_cast<std::uint32_t>(live ? source : Sub::width));
          if (found != 0) {
            value = select(me, Words(there), value);
            return true;
          }
          if (next == slab::end) return true;
          address = select(me, Words(next), address);
          return false;
        });
  }
};

/// A table of the given keys, filled one after the other; value = key * 3 + 1. utilisation counts
/// the pairs of the base slabs only.
struct slab_table {
  std::uint32_t buckets;
  std::vector<std::uint64_t> words;

  slab_table(const std::vector<std::uint32_t>& keys, double utilisation)
      : buckets(static_cast<std::uint32_t>(static_cast<double>(keys.size()) /
                                           (slab::pairs * utilisation)) +
                1),
        words(std::size_t{buckets} * slab::words, 0) {
    for (std::uint32_t b = 0; b < buckets; ++b)
      words[std::size_t{b} * slab::words + slab::pairs] = slab::end;
    std::vector<std::uint8_t> used(buckets, 0);
    for (const std::uint32_t k : keys) {
      std::size_t s = bucket_of(k, buckets);
      while (used[s] == slab::pairs) {
        std::uint64_t& next = words[s * slab::words + slab::pairs];
        if (static_cast<std::uint32_t>(next) == slab::end) {
          next = used.size();
          s = used.size();
          used.push_back(0);
          words.resize(words.size() + slab::words, 0);
          words.back() = slab::end;
        } else {
          s = static_cast<std::uint32_t>(next);
        }
      }
      words[s * slab::words + used[s]++] = std::uint64_t{k * 3 + 1} << 32 | k;
    }
  }
};

}  // namespace probe
LANEWISE_END_TARGET_NAMESPACE
