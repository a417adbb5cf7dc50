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
  /// places are left for insertions.
  static constexpr int fill = layout::most - (layout::most + 3) / 4 + 1;

  /// An empty tree, without memory; kernels' insertions into it have no room. See reserve.
  btree_table() = default;
  btree_table(btree_table&& other) noexcept { swap(other); }
  btree_table& operator=(btree_table&& other) noexcept {
    btree_table(std::move(other)).swap(*this);
    return *this;
  }
  void swap(btree_table& other) noexcept {
    std::swap(roots_, other.roots_);
    std::swap(capacity_, other.capacity_);
    std::swap(block_, other.block_);
    std::swap(owner_, other.owner_);
    std::swap(first_roots_, other.first_roots_);
    std::swap(top_, other.top_);
    std::swap(top_owner_, other.top_owner_);
  }

  /// For kernels, until the tree grows, is compacted, or ends.
  view_type view() const { return {{nodes(), capacity_, allocated()}, tree(), root_nodes()}; }
  /// Bytes of nodes, whether they are in use or not, and of the search tree.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(bytes_for(first_roots_, capacity_) +
                                     (top_ == nullptr ? 0 : top_bytes_for(roots_)));
  }
  /// Nodes that there is memory for.
  std::int64_t capacity() const { return capacity_; }

  // Below: for the calls of this family.

  /// One whose nodes, least keys and counter are to be written, in a block of bytes_for(...) bytes.
  btree_table(std::uint32_t roots, std::uint32_t capacity, void* block, std::shared_ptr<void> owner)
      : roots_(roots),
        capacity_(capacity),
        block_(static_cast<char*>(block)),
        owner_(std::move(owner)),
        first_roots_(roots) {}
  /// A table of these nodes under other roots, whose least keys, samples and nodes are to be
  /// written, in a block of top_bytes_for(roots) bytes.
  btree_table with_top(std::uint32_t roots, void* top, std::shared_ptr<void> top_owner) const {
    btree_table t(first_roots_, capacity_, block_, owner_);
    t.roots_ = roots;
    t.top_ = static_cast<char*>(top);
    t.top_owner_ = std::move(top_owner);
    return t;
  }
  static std::size_t bytes_for(std::uint32_t roots, std::uint32_t capacity) {
    const btree_table shape(roots, capacity, nullptr, nullptr);
    return roots == 0 ? 0 : shape.lows_begin() + shape.search_words() * sizeof(key_word);
  }
  static std::size_t top_bytes_for(std::uint32_t roots) {
    const btree_table shape(roots, 0, nullptr, nullptr);
    return shape.search_words() * sizeof(key_word) + std::size_t{roots} * sizeof(std::uint32_t);
  }
  std::uint32_t roots() const { return roots_; }
  node* nodes() const { return at<node>(256); }
  std::uint32_t* allocated() const { return at<std::uint32_t>(0); }
  key_word* lows() const {
    return top_ == nullptr ? at<key_word>(lows_begin()) : reinterpret_cast<key_word*>(top_);
  }
  /// The node of every root; null where root i is node i.
  std::uint32_t* root_nodes() const {
    return top_ == nullptr ? nullptr : reinterpret_cast<std::uint32_t*>(lows() + search_words());
  }
  search_tree<key_word> tree() const {
    auto t = search_tree<key_word>::over(lows(), roots_);
    t.samples = lows() == nullptr ? nullptr : lows() + samples_begin();
    return t;
  }

 private:
  template <class T>
  T* at(std::size_t offset) const {
    return block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_ + offset);
  }
  std::size_t lows_begin() const {
    return 256 + static_cast<std::size_t>(capacity_) * sizeof(node);
  }
  /// Counted in words, a whole number of nodes of the search tree.
  std::size_t samples_begin() const {
    constexpr std::int64_t node_keys = search_tree<key_word>::node_keys;
    return static_cast<std::size_t>(divide_up(std::int64_t{roots_}, node_keys) * node_keys);
  }

  /// Least keys and samples.
  std::size_t search_words() const {
    return samples_begin() + static_cast<std::size_t>(tree().sample_keys());
  }

  std::uint32_t roots_ = 0;
  std::uint32_t capacity_ = 0;
  char* block_ = nullptr;
  std::shared_ptr<void> owner_;
  std::uint32_t first_roots_ = 0;  // those whose least keys the block has room for
  char* top_ = nullptr;
  std::shared_ptr<void> top_owner_;
};

namespace detail {

template <class T>
inline constexpr bool is_btree = false;
template <class Key, class Value, class Memory, int bytes>
inline constexpr bool is_btree<btree_table<Key, Value, Memory, bytes>> = true;

}  // namespace detail

template <class T>
concept any_btree = detail::is_btree<T>;

LANEWISE_END_NAMESPACE
