// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/btree/detail/btree_walk.hpp>
#include <lanewise/common/detail/table_warp_face.hpp>
#include <lanewise/warp/search_tree.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

/// A B+ tree inside kernels, which any number of warps and threads read and change at the same
/// time: copied by value, valid until the tree that it is of grows, is compacted, or ends.
///
/// The warp face: the whole warp calls, and every active lane has an operation on a key of its own.
/// Lanes find the subtrees of their keys together, with one node of 64 bytes for every level of the
/// static search tree. Then each lane works by itself: it reads its leaf, and writes it where it
/// changes it. lanes<T> is Warp::lanes<T>. Functions return lanes<table_status>, none in inactive
/// lanes. btree/detail/btree_walk.hpp says when operations take effect.
template <class Key, class Value, int node_bytes = 128>
class btree_view : public detail::table_warp_face<btree_view<Key, Value, node_bytes>, Key, Value> {
 public:
  using layout = detail::btree_layout<Key, Value, node_bytes>;
  using word = typename layout::word;
  using key_word = typename layout::key_word;
  using value_type = detail::value_type_of<Value>;

  template <class Warp, class T>
  using lanes = lanes_t<Warp, T>;
  template <class Warp>
  using mask = mask_t<Warp, std::uint32_t>;

  btree_view() = default;
  /// root_nodes is null where root i is node i.
  btree_view(const detail::btree_memory<layout>& memory, const search_tree<key_word>& lows,
             const std::uint32_t* root_nodes)
      : memory_(memory), lows_(lows), root_nodes_(root_nodes) {}

  /// Puts pairs there unless the key is there: inserted, present (value becomes what is there), or
  /// no_room.
  template <class Warp>
  LANEWISE_FUNCTION auto insert(const Warp& warp, mask<Warp> active, const lanes<Warp, Key>& key,
                                lanes<Warp, value_type>& value) const {
    return operate(warp, active, same(warp, table_operation::insert), key, value,
                   detail::keep_given{});
  }
  /// Puts pairs there, or replaces the values of keys that are there: inserted, updated, no_room.
  template <class Warp>
  LANEWISE_FUNCTION auto assign(const Warp& warp, mask<Warp> active, const lanes<Warp, Key>& key,
                                lanes<Warp, value_type>& value) const requires(layout::has_values) {
    return operate(warp, active, same(warp, table_operation::assign), key, value,
                   detail::keep_given{});
  }
  /// Puts pairs there; where a key is there, its value becomes combine(value there, value given).
  /// combine is pure and runs once for every change, with the leaf locked.
  template <class Warp, class Combine>
  LANEWISE_FUNCTION auto upsert(const Warp& warp, mask<Warp> active, const lanes<Warp, Key>& key,
                                lanes<Warp, value_type>& value, const Combine& combine) const
      requires(layout::has_values) {
    return operate(warp, active, same(warp, table_operation::combine), key, value, combine);
  }
  /// Deletes keys; value becomes what it was: erased, or absent.
  template <class Warp>
  LANEWISE_FUNCTION auto erase(const Warp& warp, mask<Warp> active, const lanes<Warp, Key>& key,
                               lanes<Warp, value_type>& value) const {
    return operate(warp, active, same(warp, table_operation::erase), key, value,
                   detail::keep_given{});
  }
  /// An operation of its own for every lane, given as numbers of table_operation: find, insert,
  /// assign, combine or erase.
  template <class Warp, class Combine = detail::keep_given>
  LANEWISE_FUNCTION auto apply(const Warp& warp, mask<Warp> active,
                               const lanes<Warp, std::uint32_t>& operation,
                               const lanes<Warp, Key>& key, lanes<Warp, value_type>& value,
                               const Combine& combine = {}) const {
    return operate(warp, active, operation, key, value, combine);
  }

  /// Every active lane calls f(key, value, state) for the elements with keys in [first, last], in
  /// order. state is the lane's own, which f may change.
  template <class Warp, class States, class F>
  LANEWISE_FUNCTION void for_each(const Warp& warp, mask<Warp> active,
                                  const lanes<Warp, Key>& first, const lanes<Warp, Key>& last,
                                  States& state, const F& f) const {
    auto root = subtrees_of(warp, active, first);
    auto from = first, to = last;
    warp.each(
        active,
        [&](std::uint32_t& r, Key& k1, Key& k2, auto& s) {
          const typename walk_of<Warp>::type walk(memory_);
          visit(walk, r, widen(k1), widen(k2),
                [&](word k, word v) { f(narrow(k), value_of(v), s); });
        },
        root, from, to, state);
  }

  // Below: what the kernels of this family are made of.

  static constexpr int teams_of_queries = 1;

  LANEWISE_FUNCTION const detail::btree_memory<layout>& memory() const { return memory_; }
  LANEWISE_FUNCTION std::uint32_t roots() const { return static_cast<std::uint32_t>(lows_.n); }
  static LANEWISE_FUNCTION word widen(const Key& k) { return lanewise::to_bits(k); }
  static LANEWISE_FUNCTION Key narrow(word k) {
    return lanewise::from_bits<Key>(static_cast<key_word>(k));
  }
  static LANEWISE_FUNCTION value_type value_of(word v) {
    if constexpr (layout::has_values) {
      return detail::from_word<value_type>(v);
    } else {
      return static_cast<value_type>(v);
    }
  }

  /// The node that is the root of a subtree.
  LANEWISE_FUNCTION std::uint32_t node_of(std::uint32_t root) const {
    return root_nodes_ == nullptr ? root : root_nodes_[root];
  }
  /// What locate finds: subtrees, and the nodes that are their roots.
  template <class Warp>
  struct located {
    lanes<Warp, std::uint32_t> subtree, root;
  };
  template <bool, class Warp>
  LANEWISE_FUNCTION located<Warp> locate_active(const Warp& warp, mask<Warp> active,
                                                const lanes<Warp, Key>& key) const {
    const auto subtree = subtrees_of(warp, active, key);
    return {subtree, root_nodes_ == nullptr
                         ? subtree
                         : warp.gather(active, root_nodes_, subtree, std::uint32_t{0})};
  }
  /// The active lanes whose key belongs to that subtree.
  template <class Warp>
  LANEWISE_FUNCTION auto is_in_subtree(const Warp& warp, mask<Warp> active,
                                       const lanes<Warp, std::uint32_t>& subtree,
                                       const lanes<Warp, Key>& key) const {
    const auto low = warp.gather(active & (subtree != 0u), lows_.keys, subtree, key_word{0});
    const auto next = subtree + lanes<Warp, std::uint32_t>(1u);
    const auto end = warp.gather(active & (next < roots()), lows_.keys, next, key_word{0});
    const auto inside = warp.map(
        [last = roots() - 1](const Key& k, key_word from, key_word to, std::uint32_t i) {
          const auto word = static_cast<key_word>(widen(k));
          return word >= from && (i == last || word < to) ? 1u : 0u;
        },
        key, low, end, subtree);
    return active & (inside == 1u);
  }
  /// For k windows of keys: all of their lanes have one. Hosts wait for all roots at once.
  template <bool, int k, class Warp>
  LANEWISE_FUNCTION void locate(const Warp& warp, const lanes<Warp, Key> (&key)[k],
                                located<Warp> (&at)[k]) const {
    const auto all = warp.template first<std::uint32_t>(Warp::width);
    LANEWISE_UNROLL
    for (int a = 0; a < k; ++a) {
      at[a] = locate_active<true>(warp, all, key[a]);
      if constexpr (k > 1) fetch(warp, all, at[a].root);
    }
  }
  template <class Warp>
  LANEWISE_FUNCTION auto find_at(const Warp& warp, mask<Warp> active, const located<Warp>& at,
                                 const lanes<Warp, Key>& key,
                                 lanes<Warp, value_type>& value) const {
    return operate_in(warp, active, at.root, states_of(warp, active, at.root),
                      same(warp, table_operation::find), key, value, detail::keep_given{});
  }
  template <bool forward, bool strict, class Warp>
  LANEWISE_FUNCTION auto neighbour_at(const Warp& warp, mask<Warp> active, const located<Warp>& at,
                                      const lanes<Warp, Key>& key, lanes<Warp, Key>& found,
                                      lanes<Warp, value_type>& value) const {
    lanes<Warp, std::uint32_t> status(0u);
    auto root = at.subtree;
    auto of = key;
    warp.each(
        active,
        [&](std::uint32_t& r, Key& k, Key& f, value_type& v, std::uint32_t& s) {
          const typename walk_of<Warp>::type walk(memory_);
          word w = 0;
          neighbour_key nearest{};
          if constexpr (forward) {
            nearest = above<strict>(walk, r, widen(k), w);
          } else {
            nearest = below<strict>(walk, r, widen(k), w);
          }
          if (nearest.is_there) {
            f = narrow(nearest.key);
            v = value_of(w);
          }
          s = static_cast<std::uint32_t>(nearest.is_there ? table_status::found
                                                          : table_status::absent);
        },
        root, of, found, value, status);
    return detail::statuses_of<Warp>(warp, status);
  }
  /// The subtree of every active lane's key; 0 in inactive lanes.
  template <class Warp>
  LANEWISE_FUNCTION auto subtrees_of(const Warp& warp, mask<Warp> active,
                                     const lanes<Warp, Key>& key) const {
    return detail::last_of<Warp>(
        warp, active, lows_.template bound<true>(warp, active, detail::bits_of<Key>(warp, key)));
  }
  /// Loads a word of every line of these roots, so that a host waits for all of them at once. It
  /// has to be loads: an EPYC drops most prefetches here, presumably as they miss the TLB, and an
  /// insertion into 10^7 pairs took 125 ns in place of 73.
  template <class Warp>
  LANEWISE_FUNCTION void fetch(const Warp& warp, mask<Warp> active,
                               const lanes<Warp, std::uint32_t>& root) const {
    for (std::uint64_t line = 0; line < node_bytes; line += 64)
      (void)warp.load_relaxed(active, reinterpret_cast<const word*>(memory_.nodes),
                              warp.map(
                                  [line](std::uint32_t r) {
                                    return (std::uint64_t{r} * node_bytes + line) / sizeof(word);
                                  },
                                  root),
                              word{0});
  }
  /// The states of these roots.
  template <class Warp>
  LANEWISE_FUNCTION auto states_of(const Warp& warp, mask<Warp> active,
                                   const lanes<Warp, std::uint32_t>& root) const {
    return warp.load_acquire(
        active, reinterpret_cast<const word*>(memory_.nodes),
        warp.map(
            [](std::uint32_t r) { return std::uint64_t{r} * layout::words + layout::state_at; },
            root),
        word{0});
  }
  /// Operations in subtrees that are known, with roots that were in these states.
  template <class Warp, class Combine>
  LANEWISE_FUNCTION auto operate_in(const Warp& warp, mask<Warp> active,
                                    lanes<Warp, std::uint32_t> root, lanes<Warp, word> seen,
                                    lanes<Warp, std::uint32_t> operation,
                                    const lanes<Warp, Key>& key, lanes<Warp, value_type>& value,
                                    const Combine& combine,
                                    std::uint32_t patience = detail::endless_patience) const {
    lanes<Warp, std::uint32_t> status(0u);
    auto of = key;
    warp.each(
        active,
        [&](std::uint32_t& r, word& n, std::uint32_t& o, Key& k, value_type& v, std::uint32_t& s) {
          const typename walk_of<Warp>::type walk(memory_);
          word w = detail::to_word<word>(v);
          const table_status came =
              walk.change(static_cast<table_operation>(o), r, n, widen(k), w,
                          detail::combine_words<value_type, word, Combine>{combine}, patience);
          v = value_of(w);
          s = static_cast<std::uint32_t>(came);
        },
        root, seen, operation, of, value, status);
    return detail::statuses_of<Warp>(warp, status);
  }

 private:
  template <class Warp>
  struct walk_of {
    using type = detail::btree_walk<layout, typename Warp::template part<1>>;
  };

  template <class Warp>
  static LANEWISE_FUNCTION auto same(const Warp&, table_operation operation) {
    return lanes<Warp, std::uint32_t>(static_cast<std::uint32_t>(operation));
  }
  template <class Warp, class Combine>
  LANEWISE_FUNCTION auto operate(const Warp& warp, mask<Warp> active,
                                 const lanes<Warp, std::uint32_t>& operation,
                                 const lanes<Warp, Key>& key, lanes<Warp, value_type>& value,
                                 const Combine& combine) const {
    const auto root = locate_active<true>(warp, active, key).root;
    return operate_in(warp, active, root, states_of(warp, active, root), operation, key, value,
                      combine);
  }

  struct neighbour_key {
    bool is_there;
    word key = 0;
  };
  template <bool strict, class Walk>
  LANEWISE_FUNCTION neighbour_key above(const Walk& walk, std::uint32_t root, word k,
                                        word& value) const {
    for (bool is_strict = strict;; is_strict = false) {
      const auto leaf = walk.find_leaf(node_of(root), k);
      const int i = is_strict ? layout::template rank<true>(leaf.seen, k)
                              : layout::template rank<false>(leaf.seen, k);
      if (i < leaf.count()) {
        value = layout::item(leaf.seen, i);
        return {true, layout::key(leaf.seen, i)};
      }
      if (!next_leaf(leaf, root, k)) return {false};
    }
  }
  template <bool strict, class Walk>
  LANEWISE_FUNCTION neighbour_key below(const Walk& walk, std::uint32_t root, word k,
                                        word& value) const {
    for (bool is_strict = strict;; is_strict = true) {
      const auto leaf = is_strict ? walk.template find_leaf<true>(node_of(root), k)
                                  : walk.find_leaf(node_of(root), k);
      const int i = is_strict ? layout::template rank<false>(leaf.seen, k)
                              : layout::template rank<true>(leaf.seen, k);
      if (i > 0) {
        value = layout::item(leaf.seen, i - 1);
        return {true, layout::key(leaf.seen, i - 1)};
      }
      if (leaf.has_lower) {
        k = leaf.lower;
      } else {
        if (root == 0) return {false};
        k = lows_.keys[root--];
      }
    }
  }
  /// Makes k the least key that the next leaf may have. False if there is none.
  template <class Leaf>
  LANEWISE_FUNCTION bool next_leaf(const Leaf& leaf, std::uint32_t& root, word& k) const {
    if (leaf.has_upper) {
      k = leaf.upper;
      return true;
    }
    if (++root >= roots()) return false;
    k = lows_.keys[root];
    return true;
  }
  template <class Walk, class F>
  LANEWISE_FUNCTION void visit(const Walk& walk, std::uint32_t root, word first, word last,
                               const F& f) const {
    while (first <= last) {
      const auto leaf = walk.find_leaf(node_of(root), first);
      const int end = layout::template rank<true>(leaf.seen, last);
      for (int i = layout::template rank<false>(leaf.seen, first); i < end; ++i)
        f(layout::key(leaf.seen, i), layout::item(leaf.seen, i));
      if (end < leaf.count() || !next_leaf(leaf, root, first)) return;
    }
  }

  detail::btree_memory<layout> memory_;
  search_tree<key_word> lows_;
  const std::uint32_t* root_nodes_ = nullptr;
};

LANEWISE_END_NAMESPACE
