// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/pack.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/warp/search.hpp>

#include <bit>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

namespace detail {

/// Keys of a node: 64 bytes of them, in 8 to 32.
template <class Key>
constexpr int keys_of_node() {
  constexpr std::size_t fit = 64 / sizeof(Key);
  return fit < 8 ? 8 : (fit > 32 ? 32 : static_cast<int>(std::bit_floor(fit)));
}

}  // namespace detail

/// A static search tree over a sorted array, inside kernels: copied by value, valid as long as the
/// array and the samples are.
///
/// The array is cut into nodes of 64 bytes where lines of memory begin. The last keys of all nodes
/// are the level above, cut in the same way, and so on up to a level of one node: 1/16 more memory
/// for 4-byte keys, 1/7 for keys of 8 bytes and more. A search reads one node of each level. Memory
/// of a GPU counts accesses of 64 bytes (38 G/s on an H200, 33 of 128 bytes), and four lanes read a
/// node with one instruction: a lane that read a node by itself would look up the cache four times.
template <class Key>
struct search_tree {
  using key_type = Key;
  static constexpr int node_keys = detail::keys_of_node<Key>();
  static constexpr int most_levels = 12;

  const Key* keys = nullptr;
  std::int64_t n = 0;
  const Key* samples = nullptr;     ///< level 1, and after it level 2, ..., in whole nodes
  int levels = 0;                   ///< levels of samples
  int shift = 0;                    ///< keys that the first node lacks
  std::uint32_t whole[2] = {0, 0};  ///< nodes of the array that lack no key: [first, after last)
  std::uint32_t nodes[most_levels + 1] = {0};     ///< of each level
  std::uint32_t in_front[most_levels + 1] = {0};  ///< nodes of samples before each level

  /// The shape of the tree over an array; `samples` is to be set. n is less than 2^34.
  static search_tree over(const Key* keys, std::int64_t n) {
    search_tree t;
    t.keys = keys;
    t.n = n;
    const bool fits = sizeof(Key) <= 64 && std::has_single_bit(sizeof(Key)) &&
                      reinterpret_cast<std::uintptr_t>(keys) % sizeof(Key) == 0;
    t.shift = fits ? lanewise::items_past<node_keys* static_cast<int>(sizeof(Key))>(keys) : 0;
    std::int64_t places = n + t.shift;
    if (fits) {
      t.whole[0] = t.shift > 0 ? 1 : 0;
      t.whole[1] = static_cast<std::uint32_t>(places / node_keys);
      if (t.whole[1] < t.whole[0]) t.whole[1] = t.whole[0];
    }
    std::uint32_t before = 0;
    for (;;) {
      const auto of_level =
          static_cast<std::uint32_t>(divide_up(places > 0 ? places : 1, node_keys));
      t.nodes[t.levels] = of_level;
      t.in_front[t.levels] = t.levels > 0 ? before : 0;
      if (t.levels > 0) before += of_level;
      if (of_level == 1) return t;
      places = of_level;
      ++t.levels;
    }
  }
  /// Keys of samples, the last node of every level filled up.
  std::int64_t sample_keys() const {
    return levels == 0 ? 0 : (std::int64_t{in_front[levels]} + 1) * node_keys;
  }
  /// Key i of the samples: the last of the node of the array, or of the part of the array, for
  /// which it stands. Levels are filled up with the last key of all.
  LANEWISE_FUNCTION Key sample(std::int64_t i) const {
    const auto node = static_cast<std::uint32_t>(i / node_keys);
    std::int64_t after = (i + 1) * node_keys - shift;
    if (node >= nodes[1]) {
      std::int64_t each = node_keys;
      int level = 1;
      while (level < levels && node >= in_front[level + 1]) {
        ++level;
        each *= node_keys;
      }
      after = (i - std::int64_t{in_front[level]} * node_keys + 1) * each - shift;
    }
    return keys[(after < n ? after : n) - 1];
  }
  /// How many keys a level has: the number of nodes of the level below; level > 0.
  LANEWISE_FUNCTION std::uint32_t keys_of(int level) const { return nodes[level - 1]; }
  LANEWISE_FUNCTION const Key* keys_at(int level, std::int64_t node = 0) const {
    return samples + (std::int64_t{in_front[level]} + node) * node_keys;
  }

  /// Every active lane gets the index of the first key that is not less than its own; if upper, of
  /// the first key that is greater. It is n if there is no such key. Indices are
  /// lanes<std::int64_t>; inactive lanes get any number. `less` is called with keys of the array
  /// and of active lanes. A node of every level is read for every lane.
  template <bool upper, class W, class Mask, class Less = less>
  LANEWISE_FUNCTION auto bound(const W& warp, const Mask& active, const lanes_t<W, Key>& key,
                               Less less = {}) const {
    lanes_t<W, std::uint32_t> node[1] = {typename W::template lanes<std::uint32_t>(0u)};
    lanes_t<W, std::int64_t> place[1] = {typename W::template lanes<std::int64_t>(0)};
    const auto there = warp.ballot(active);
    if (there == 0) return place[0];
    const lanes_t<W, Key> all[1] = {lanewise::select(
        active, key, typename W::template lanes<Key>(warp.broadcast(key, W::lowest(there))))};
    descend<upper, 1>(warp, all, node, levels, place, less);
    return place[0];
  }
  /// As `bound`, by a thread on its own, under any divergence. W is a warp of one lane.
  template <bool upper, class W, class Less = less>
  LANEWISE_FUNCTION std::int64_t bound_of(const Key& key, Less less = {}) const {
    const W solo;
    return solo.broadcast(
        bound<upper>(solo, solo.first(1), typename W::template lanes<Key>(key), less), 0);
  }

  /// The part of a search below a level: node[a] are numbers of nodes of the level `from`, for k
  /// windows of keys, and place[a] become the indices. All lanes have keys.
  template <bool upper, int k, class W, class Less>
  LANEWISE_FUNCTION void descend(const W& warp, const lanes_t<W, Key> (&key)[k],
                                 lanes_t<W, std::uint32_t> (&node)[k], int from,
                                 lanes_t<W, std::int64_t> (&place)[k], const Less& less) const {
    using numbers = lanes_t<W, std::uint32_t>;
    for (int level = from; level > 0; --level) {
      const Key* const at = keys_at(level);
      const Key* const below = level > 1 ? keys_at(level - 1) : keys - shift;
      const std::uint32_t last = nodes[level - 1] - 1;
      LANEWISE_UNROLL
      for (int a = 0; a < k; ++a) {
        const numbers rank = ranks<upper>(warp, at, node[a], key[a], less);
        node[a] = warp.map(
            [last](std::uint32_t parent, std::uint32_t r) LANEWISE_INLINE_LAMBDA {
              const std::uint32_t next = parent * node_keys + r;
              return next < last ? next : last;
            },
            node[a], rank);
        if constexpr (k > 1) prefetch(warp, below, node[a]);
      }
    }
    LANEWISE_UNROLL
    for (int a = 0; a < k; ++a) place[a] = places<upper>(warp, node[a], key[a], less);
  }

 private:
  template <bool upper, class Less>
  static LANEWISE_FUNCTION bool holds(const Key& x, const Key& key, const Less& less) {
    if constexpr (upper) {
      return !less(key, x);
    } else {
      return less(x, key);
    }
  }

  template <class W>
  static LANEWISE_FUNCTION void prefetch(const W& warp, const Key* level,
                                         const lanes_t<W, std::uint32_t>& node) {
    warp.prefetch(warp.first(W::width), level,
                  warp.map([](std::uint32_t i)
                               LANEWISE_INLINE_LAMBDA { return std::uint64_t{i} * node_keys; },
                           node));
  }

 public:
  /// How many keys of a lane's node come before its key: keys [node node_keys, (node + 1)
  /// node_keys) after `level`. All lanes have nodes and keys. Sub-warps read the nodes of their
  /// lanes one after the other.
  template <bool upper, class W, class Less>
  static LANEWISE_FUNCTION auto ranks(const W& warp, const Key* level,
                                      const lanes_t<W, std::uint32_t>& node,
                                      const lanes_t<W, Key>& key, const Less& less) {
    lanes_t<W, std::uint32_t> rank(0u);
    constexpr int most = W::line_width < W::width ? W::line_width : W::width;
    constexpr int lanes = most < node_keys ? most : node_keys;
    warp.template split_in_step<lanes>([&](const auto& sub) LANEWISE_INLINE_LAMBDA {
      sub.put(rank, ranks_by<upper, lanes>(sub, level, sub.take(node), sub.take(key), less));
    });
    return rank;
  }

 private:
  template <bool upper, int lanes, class Sub, class Less>
  static LANEWISE_FUNCTION auto ranks_by(const Sub& sub, const Key* level,
                                         const lanes_t<Sub, std::uint32_t>& node,
                                         const lanes_t<Sub, Key>& key, const Less& less) {
    using keys_type = lanes_t<Sub, Key>;
    constexpr int each = node_keys / lanes;
    using part = pack<Key, each>;
    const auto node_of = [&](int r) LANEWISE_INLINE_LAMBDA {
      return level + std::int64_t{sub.broadcast(node, r)} * node_keys;
    };
    if constexpr (each == 1) {
      // One comparison of vectors for each node.
      std::uint32_t counts[lanes];
      const auto all = sub.template first<Key>(lanes);
      for (int r = 0; r < lanes; ++r) {
        const keys_type k(sub.broadcast(key, r)), x = sub.load(node_of(r));
        const mask_t<Sub, Key> smaller =
            less_by_lanes<Less>(sub, all, less, upper ? k : x, upper ? x : k);
        counts[r] = static_cast<std::uint32_t>(sub.count(upper ? all & !smaller : smaller));
      }
      return sub.map([&](std::uint32_t l) LANEWISE_INLINE_LAMBDA { return counts[l]; }, sub.lane());
    } else if constexpr (lanes > 8) {
      std::uint32_t counts[lanes];
      for (int r = 0; r < lanes; ++r)
        counts[r] = sub.reduce(sub.map(
                                   [&](const part& p, const Key& k) LANEWISE_INLINE_LAMBDA {
                                     return count_of<upper, std::uint32_t>(p, k, less, 0);
                                   },
                                   sub.load(reinterpret_cast<const part*>(node_of(r))),
                                   keys_type(sub.broadcast(key, r))),
                               plus{});
      return sub.map([&](std::uint32_t l) LANEWISE_INLINE_LAMBDA { return counts[l]; }, sub.lane());
    } else {
      // The lanes' counts for all nodes travel together, a byte for each.
      using word = std::conditional_t<lanes <= 4, std::uint32_t, std::uint64_t>;
      lanes_t<Sub, part> x[lanes];
      LANEWISE_UNROLL
      for (int r = 0; r < lanes; ++r) x[r] = sub.load(reinterpret_cast<const part*>(node_of(r)));
      lanes_t<Sub, word> counts(word{0});
      LANEWISE_UNROLL
      for (int r = 0; r < lanes; ++r) {
        counts =
            counts +
            sub.map([&](const part& p, const Key& k)
                        LANEWISE_INLINE_LAMBDA { return count_of<upper, word>(p, k, less, 8 * r); },
                    x[r], keys_type(sub.broadcast(key, r)));
      }
      LANEWISE_UNROLL
      for (int d = 1; d < lanes; d *= 2) counts = counts + sub.shuffle_xor(counts, d);
      return sub.map(
          [](word c, std::uint32_t l)
              LANEWISE_INLINE_LAMBDA { return static_cast<std::uint32_t>(c >> (8 * l)) & 0xFF; },
          counts, sub.lane());
    }
  }
  /// How many keys of a part hold, times 2^shift.
  template <bool upper, class Word, class Part, class Less>
  static LANEWISE_FUNCTION Word count_of(const Part& p, const Key& key, const Less& less,
                                         int shift) {
    Word c = 0;
    LANEWISE_UNROLL
    for (int i = 0; i < Part::size; ++i)
      c += holds<upper>(p[i], key, less) ? Word{1} << shift : Word{0};
    return c;
  }
  template <class Less, class Sub, class Mask, class L>
  static LANEWISE_FUNCTION auto less_by_lanes(const Sub& sub, const Mask& m, const Less& less,
                                              const L& a, const L& b) {
    return detail::less_by_lanes<Sub, Mask, Less, Key>(sub, m, less, a, b);
  }

  /// The indices of keys whose nodes of the array are given. A node that the array fills in part is
  /// searched by the lane on its own.
  template <bool upper, class W, class Less>
  LANEWISE_FUNCTION auto places(const W& warp, const lanes_t<W, std::uint32_t>& node,
                                const lanes_t<W, Key>& key, const Less& less) const {
    using numbers = lanes_t<W, std::uint32_t>;
    numbers rank(0u);
    const std::uint32_t first = whole[0], last = whole[1];
    if (first < last) {
      rank = ranks<upper>(
          warp, keys - shift,
          warp.map([=](std::uint32_t i)
                       LANEWISE_INLINE_LAMBDA { return i < first || i >= last ? first : i; },
                   node),
          key, less);
    }
    const auto in_part = (node < numbers(first)) | !(node < numbers(last));
    if (warp.any(in_part)) {
      rank = lanewise::select(
          in_part,
          warp.map(
              in_part,
              [&](std::uint32_t i, const Key& k) -> std::uint32_t {
                const std::int64_t at = std::int64_t{i} * node_keys - shift;
                const std::int64_t begin = at < 0 ? 0 : at;
                const std::int64_t end = at + node_keys < n ? at + node_keys : n;
                return static_cast<std::uint32_t>(
                    lanewise::partition_point(
                        begin, end,
                        [&](std::int64_t j) { return holds<upper>(keys[j], k, less); }) -
                    at);
              },
              0u, node, key),
          rank);
    }
    return warp.map([s = shift](std::uint32_t i, std::uint32_t r)
                        LANEWISE_INLINE_LAMBDA { return std::int64_t{i} * node_keys + r - s; },
                    node, rank);
  }
};

LANEWISE_END_NAMESPACE
