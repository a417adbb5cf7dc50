// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/btree/btree_view.hpp>
#include <lanewise/ordered/ordered_table.hpp>

#include <memory>
#include <utility>

LANEWISE_BEGIN_NAMESPACE

/// Owns a B+ tree that is changed in place. See btree_map.hpp.
///
/// There is one block of memory: nodes, the roots' least keys, the samples of the search tree over
/// these, and the number of nodes in use. The first nodes are the roots of subtrees; the nodes
/// after them are taken when nodes are split. Where leaves were put between the roots, least keys,
/// samples and the numbers of the roots' nodes lie in a block of their own. Trees can be moved and
/// not copied: to_ordered() makes a snapshot.
template <class Key, class Value, class MemorySpace, int node_bytes>
class btree_table {
 public:
  static constexpr auto family = table_family::btree;
  using key_type = Key;
  using mapped_type = Value;
  using memory_space = MemorySpace;
  using view_type = btree_view<Key, Value, node_bytes>;
  using layout = typename view_type::layout;
  using node = typename layout::node;
  using key_word = typename layout::key_word;
  using ordered_type = ordered_table<Key, Value, key_multiplicity::unique, MemorySpace>;
  static constexpr std::int64_t most_nodes = std::int64_t{1} << 31;
  /// How many elements a leaf has when the tree was built: 12 of 15, 24 of 31, 6 of 7. The other
  /// slots are left for insertions.
  static constexpr int fill = layout::most - (layout::most + 3) / 4 + 1;

  /// An empty tree, without memory; kernels' insertions into it have no room. See reserve.
  btree_table() = default;
  btree_table(btree_table&&) noexcept = default;
  btree_table& operator=(btree_table&&) noexcept = default;

  /// For kernels, until the tree grows, is compacted, or ends.
  view_type view() const { return {{nodes(), my_.capacity, allocated()}, tree(), root_nodes()}; }
  /// Bytes of nodes, whether they are in use or not, and of the search tree.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(bytes_for(my_.first_roots, my_.capacity) +
                                     (my_.top == nullptr ? 0 : top_bytes_for(my_.roots)));
  }
  /// Nodes that there is memory for.
  std::int64_t capacity() const { return my_.capacity; }

  // Below: for the calls of this family.

  /// One whose nodes, least keys and counter are to be written, in a block of bytes_for(...) bytes.
  btree_table(std::uint32_t roots, std::uint32_t capacity, std::shared_ptr<char> block)
      : my_({roots, capacity, roots, std::move(block), nullptr}) {}
  /// A table of these nodes under other roots, whose least keys, samples and nodes are to be
  /// written, in a block of top_bytes_for(roots) bytes.
  btree_table with_top(std::uint32_t roots, std::shared_ptr<char> top) const {
    btree_table t(my_.first_roots, my_.capacity, my_.block);
    t.my_.roots = roots;
    t.my_.top = std::move(top);
    return t;
  }
  static std::size_t bytes_for(std::uint32_t roots, std::uint32_t capacity) {
    return roots == 0 ? 0 : lows_begin(capacity) + lows_bytes(roots);
  }
  static std::size_t top_bytes_for(std::uint32_t roots) {
    return lows_bytes(roots) + std::size_t{roots} * sizeof(std::uint32_t);
  }
  std::uint32_t roots() const { return my_.roots; }
  node* nodes() const { return detail::at_offset<node>(my_.block, 256); }
  std::uint32_t* allocated() const { return detail::at_offset<std::uint32_t>(my_.block, 0); }
  /// The roots' least keys.
  detail::sampled_keys<key_word> sampled_lows() const {
    return {my_.top == nullptr ? detail::at_offset<key_word>(my_.block, lows_begin(my_.capacity))
                               : detail::at_offset<key_word>(my_.top, 0),
            my_.roots};
  }
  key_word* lows() const { return sampled_lows().keys; }
  /// The node of every root; null where root i is node i.
  std::uint32_t* root_nodes() const {
    return detail::at_offset<std::uint32_t>(my_.top, lows_bytes(my_.roots));
  }
  search_tree<key_word> tree() const { return sampled_lows().tree(); }

 private:
  static std::size_t lows_begin(std::uint32_t capacity) {
    return 256 + std::size_t{capacity} * sizeof(node);
  }
  static std::size_t lows_bytes(std::uint32_t roots) {
    return detail::sampled_keys<key_word>{nullptr, roots}.bytes();
  }

  struct members {
    std::uint32_t roots = 0;
    std::uint32_t capacity = 0;
    std::uint32_t first_roots = 0;  // those whose least keys the block has room for
    std::shared_ptr<char> block;
    std::shared_ptr<char> top;  // null where root i is node i
  };
  detail::emptied_by_move<members> my_;
};

template <class T>
concept any_btree = table_of_family<T, table_family::btree>;

LANEWISE_END_NAMESPACE
