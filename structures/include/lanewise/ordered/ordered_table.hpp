// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_block.hpp>
#include <lanewise/common/detail/table_warp_face.hpp>
#include <lanewise/ordered/detail/ordered_layout.hpp>
#include <lanewise/warp/search_tree.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

LANEWISE_BEGIN_NAMESPACE

// What ordered_map, ordered_set and ordered_multimap have in common: elements in the order of their
// keys, in leaves of 128 bytes, and a search tree over the leaves' first keys. The view is what
// kernels use, by the warp or by single threads; the table owns the memory.

/// A table inside kernels, for reading: copied by value, valid as long as the table, or a copy of
/// it, has not been changed.
///
/// Elements have positions 0 ... size() - 1 in the order of their keys, of equal keys in the order
/// of insertion. So a position is a cursor: the next element is at the next position, and the
/// elements with keys in [k1, k2] are those at positions [lower_bound(k1), upper_bound(k2)).
///
/// The warp face: the whole warp calls, and every active lane has a query. lanes<T> is
/// Warp::lanes<T>.
template <class Key, class Value>
class ordered_view : public detail::table_warp_face<ordered_view<Key, Value>, Key, Value> {
 public:
  using layout = detail::ordered_layout<Key, Value>;
  using word = typename layout::word;
  using value_word = typename layout::value_word;
  using value_type = detail::value_type_of<Value>;

  ordered_view() = default;
  ordered_view(const detail::ordered_leaf* leaves, const search_tree<word>& lows,
               std::uint32_t elements)
      : leaves_(leaves), lows_(lows), size_(elements) {}

  template <class Warp, class T>
  using lanes = lanes_t<Warp, T>;
  template <class Warp>
  using mask = mask_t<Warp, std::uint32_t>;

  LANEWISE_FUNCTION std::uint32_t size() const { return size_; }
  LANEWISE_FUNCTION std::uint32_t leaves() const {
    return size_ / layout::elements + (size_ % layout::elements != 0);
  }

  /// The position of the first element whose key is not less than the lane's, or size(): how many
  /// keys are less. As lanes<std::uint32_t>, 0 in inactive lanes.
  template <class Warp>
  LANEWISE_FUNCTION auto lower_bound(const Warp& warp, mask<Warp> active,
                                     const lanes<Warp, Key>& key) const {
    return bound<false, false>(warp, active, detail::bits_of<Key>(warp, key));
  }
  /// That of the first element whose key is greater, or size().
  template <class Warp>
  LANEWISE_FUNCTION auto upper_bound(const Warp& warp, mask<Warp> active,
                                     const lanes<Warp, Key>& key) const {
    return bound<true, true>(warp, active, detail::bits_of<Key>(warp, key));
  }
  /// How many keys are less than the lane's; how many are equal to it.
  template <class Warp>
  LANEWISE_FUNCTION auto rank(const Warp& warp, mask<Warp> active,
                              const lanes<Warp, Key>& key) const {
    return lower_bound(warp, active, key);
  }
  template <class Warp>
  LANEWISE_FUNCTION auto count(const Warp& warp, mask<Warp> active,
                               const lanes<Warp, Key>& key) const {
    return upper_bound(warp, active, key) - lower_bound(warp, active, key);
  }
  /// The keys, or values, at these positions, which are below size(); Key{} in inactive lanes.
  template <class Warp>
  LANEWISE_FUNCTION auto key(const Warp& warp, mask<Warp> active,
                             const lanes<Warp, std::uint32_t>& position) const {
    return warp.map(
        active, [](word w) { return lanewise::from_bits<Key>(w); }, Key{},
        key_words(warp, active, position));
  }
  template <class Warp>
  LANEWISE_FUNCTION auto value(const Warp& warp, mask<Warp> active,
                               const lanes<Warp, std::uint32_t>& position) const
      requires(layout::has_values) {
    return warp.map(
        active, [](value_word w) { return detail::from_word<value_type>(w); }, value_type{},
        value_words(warp, active, position));
  }

  // Below: what the kernels of this family are made of.

  static constexpr int teams_of_queries = 1;

  template <class Warp>
  LANEWISE_FUNCTION auto key_words(const Warp& warp, mask<Warp> active,
                                   const lanes<Warp, std::uint32_t>& position) const {
    return warp.gather(active, reinterpret_cast<const word*>(leaves_),
                       warp.map([](std::uint32_t i) { return layout::key_at(i); }, position),
                       layout::padding);
  }
  /// The keys and the values of a leaf, from those of a position on.
  LANEWISE_FUNCTION const word* keys_from(std::uint32_t position) const {
    return reinterpret_cast<const word*>(leaves_) + layout::key_at(position);
  }
  LANEWISE_FUNCTION const value_word* values_from(std::uint32_t position) const {
    return first_value() + layout::value_at(position);
  }
  template <class Warp>
  LANEWISE_FUNCTION auto value_words(const Warp& warp, mask<Warp> active,
                                     const lanes<Warp, std::uint32_t>& position) const {
    return warp.gather(active, first_value(),
                       warp.map([](std::uint32_t i) { return layout::value_at(i); }, position),
                       value_word{0});
  }
  /// The active lanes whose key stands at that position, which may be size().
  template <class Warp>
  LANEWISE_FUNCTION auto is_at(const Warp& warp, mask<Warp> active, const lanes<Warp, word>& key,
                               const lanes<Warp, std::uint32_t>& position) const {
    const auto exists = active & (position < size_);
    const mask<Warp> equal = key_words(warp, exists, position) == key;
    return exists & equal;
  }
  /// The leaf to look into for a key: the last one whose first key is less; with `right`, not
  /// greater. The first, where there is none.
  template <bool right, class Warp>
  LANEWISE_FUNCTION lanes<Warp, std::uint32_t> leaf_of(const Warp& warp, mask<Warp> active,
                                                       const lanes<Warp, word>& key) const {
    if (size_ == 0) return lanes<Warp, std::uint32_t>(0u);
    return detail::last_of<Warp>(warp, active, lows_.template bound<right>(warp, active, key));
  }
  /// What locate finds: the leaf to look into.
  template <class Warp>
  using located = lanes<Warp, std::uint32_t>;
  template <bool right, class Warp>
  LANEWISE_FUNCTION located<Warp> locate_active(const Warp& warp, mask<Warp> active,
                                                const lanes<Warp, Key>& key) const {
    return leaf_of<right>(warp, active, detail::bits_of<Key>(warp, key));
  }
  /// For k windows of keys: all of their lanes have one. Hosts wait for all nodes of a level at
  /// once, and then for all leaves.
  template <bool right, int k, class Warp>
  LANEWISE_FUNCTION void locate(const Warp& warp, const lanes<Warp, Key> (&key)[k],
                                lanes<Warp, std::uint32_t> (&leaf)[k]) const {
    lanes<Warp, word> words[k];
    lanes<Warp, std::int64_t> after[k];
    LANEWISE_UNROLL
    for (int a = 0; a < k; ++a) {
      words[a] = detail::bits_of<Key>(warp, key[a]);
      leaf[a] = lanes<Warp, std::uint32_t>(0u);
    }
    if (size_ == 0) return;
    lows_.template descend<right, k>(warp, words, leaf, lows_.levels, after, less{});
    const auto all = warp.template first<std::uint32_t>(Warp::width);
    LANEWISE_UNROLL
    for (int a = 0; a < k; ++a) {
      leaf[a] = detail::last_of<Warp>(warp, all, after[a]);
      if constexpr (k > 1) fetch(warp, leaf[a]);
    }
  }
  /// bound, find and neighbours with the leaves at hand: leaf_of<false> for lower bounds and find,
  /// leaf_of<true> for upper bounds, leaf_of<forward == strict> for neighbours.
  template <bool upper, class Warp>
  LANEWISE_FUNCTION auto bound_at(const Warp& warp, mask<Warp> active,
                                  const lanes<Warp, std::uint32_t>& leaf,
                                  const lanes<Warp, Key>& key) const {
    return position_in<upper>(warp, active, leaf, detail::bits_of<Key>(warp, key));
  }
  template <class Warp>
  LANEWISE_FUNCTION auto find_at(const Warp& warp, mask<Warp> active,
                                 const lanes<Warp, std::uint32_t>& leaf,
                                 const lanes<Warp, Key>& key,
                                 lanes<Warp, value_type>& value) const {
    const auto words = detail::bits_of<Key>(warp, key);
    const auto position = position_in<false>(warp, active, leaf, words);
    const auto hit = is_at(warp, active, words, position);
    take_value(warp, hit, position, value);
    return detail::found_where<Warp>(warp, active, hit);
  }
  template <bool forward, bool strict, class Warp>
  LANEWISE_FUNCTION auto neighbour_at(const Warp& warp, mask<Warp> active,
                                      const lanes<Warp, std::uint32_t>& leaf,
                                      const lanes<Warp, Key>& key, lanes<Warp, Key>& found,
                                      lanes<Warp, value_type>& value) const {
    const auto after = bound_at<forward == strict>(warp, active, leaf, key);
    const mask<Warp> hit = active & (forward ? after < size_ : after > 0u);
    const auto position = forward ? after : after - lanes<Warp, std::uint32_t>(1u);
    found = lanewise::select(hit, this->key(warp, hit, position), found);
    take_value(warp, hit, position, value);
    return detail::found_where<Warp>(warp, active, hit);
  }
  /// How many keys are less than the lane's; with `upper`, not greater. `right` as leaf_of has it:
  /// where keys are unique and the lane's is there, a lower bound may look into either leaf.
  template <bool upper, bool right, class Warp>
  LANEWISE_FUNCTION lanes<Warp, std::uint32_t> bound(const Warp& warp, mask<Warp> active,
                                                     const lanes<Warp, word>& key) const {
    return position_in<upper>(warp, active, leaf_of<right>(warp, active, key), key);
  }

 private:
  LANEWISE_FUNCTION const value_word* first_value() const {
    return reinterpret_cast<const value_word*>(reinterpret_cast<const char*>(leaves_) +
                                               layout::elements * layout::key_bytes);
  }
  /// Loads a word of the first line of each of these leaves, and asks for the other one. An EPYC
  /// drops most prefetches of lines so far apart (btree_view says more), but not of a line whose
  /// page it just found.
  template <class Warp>
  LANEWISE_FUNCTION void fetch(const Warp& warp, const lanes<Warp, std::uint32_t>& leaf) const {
    const auto all = warp.template first<std::uint32_t>(Warp::width);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(leaves_);
    const auto at = warp.map(
        [](std::uint32_t l) { return std::uint64_t{l} * layout::bytes / sizeof(std::uint32_t); },
        leaf);
    (void)warp.load_relaxed(all, words, at, 0u);
    warp.prefetch(all, words + 64 / sizeof(std::uint32_t), at);
  }
  /// Positions of the lanes' keys, which are in these leaves, or after them.
  template <bool upper, class Warp>
  LANEWISE_FUNCTION lanes<Warp, std::uint32_t> position_in(const Warp& warp, mask<Warp> active,
                                                           const lanes<Warp, std::uint32_t>& leaf,
                                                           const lanes<Warp, word>& key) const {
    using numbers = lanes<Warp, std::uint32_t>;
    if (size_ == 0) return numbers(0u);
    const numbers position =
        leaf * numbers(layout::elements) + in_leaf<upper>(warp, active, leaf, key);
    // The padding of the last leaf may count as not greater.
    return lanewise::select(active, lanewise::select(position < size_, position, numbers(size_)),
                            numbers(0u));
  }
  /// How many keys of the leaf are less, or not greater.
  template <bool upper, class Warp>
  LANEWISE_FUNCTION auto in_leaf(const Warp& warp, mask<Warp> active,
                                 const lanes<Warp, std::uint32_t>& leaf,
                                 const lanes<Warp, word>& key) const {
    using numbers = lanes<Warp, std::uint32_t>;
    using tree = search_tree<word>;
    const auto* const keys = reinterpret_cast<const word*>(leaves_);
    if constexpr (layout::elements == tree::node_keys) {
      // The keys are a node of 64 bytes, and every other node of the leaves is one of keys.
      return tree::template ranks<upper>(warp, keys, leaf + leaf, key, less{});
    } else {
      // As many keys are left for every lane.
      using offsets = lanes<Warp, std::uint64_t>;
      offsets at = warp.template cast<std::uint64_t>(leaf) *
                   offsets(std::uint64_t{layout::bytes / layout::key_bytes});
      numbers rank(0u);
      for (std::uint32_t left = layout::elements; left > 0;) {
        const std::uint32_t half = left - left / 2;
        const auto x = warp.gather(active, keys + (half - 1), at, layout::padding);
        const mask<Warp> before = upper ? x <= key : x < key;
        rank = lanewise::select(before, rank + numbers(half), rank);
        at = lanewise::select(before, at + offsets(std::uint64_t{half}), at);
        left -= half;
      }
      return rank;
    }
  }
  template <class Warp>
  LANEWISE_FUNCTION void take_value([[maybe_unused]] const Warp& warp,
                                    [[maybe_unused]] mask<Warp> hit,
                                    [[maybe_unused]] const lanes<Warp, std::uint32_t>& position,
                                    [[maybe_unused]] lanes<Warp, value_type>& to) const {
    if constexpr (layout::has_values) to = lanewise::select(hit, value(warp, hit, position), to);
  }
  const detail::ordered_leaf* leaves_ = nullptr;
  search_tree<word> lows_;
  std::uint32_t size_ = 0;
};

/// Owns a table. See ordered_map.hpp, ordered_set.hpp, ordered_multimap.hpp.
///
/// Bulk calls never change what is there: they write the new leaves beside the old ones, and then
/// exchange them. So a copy of a table costs nothing, as both share the leaves until one is
/// changed; and it is a snapshot, which kernels of other instances read while the table is changed.
template <class Key, class Value, key_multiplicity kind_, class MemorySpace>
class ordered_table {
 public:
  static constexpr auto family = table_family::ordered;
  static constexpr key_multiplicity kind = kind_;
  using key_type = Key;
  using mapped_type = Value;
  using memory_space = MemorySpace;
  using view_type = ordered_view<Key, Value>;
  using layout = typename view_type::layout;
  using word = typename layout::word;
  /// As many elements are one too many: positions are numbers of 32 bits, with some to spare.
  static constexpr std::int64_t most_elements = (std::int64_t{1} << 32) - 64;

  /// An empty table, without memory.
  ordered_table() = default;
  // Copies share the elements. A table that was moved from is empty.

  /// For kernels. Valid until the table and all its copies are changed or end.
  view_type view() const { return {leaves(), tree(), my_.size}; }
  std::int64_t size() const { return my_.size; }
  /// Nodes that a search reads, the leaf included.
  int height() const { return my_.size == 0 ? 0 : tree().levels + 2; }
  /// Bytes of leaves and index.
  std::int64_t bytes() const { return static_cast<std::int64_t>(bytes_for(my_.size)); }

  /// This table in another memory space. **Blocks.**
  template <class Other, class Exec>
  ordered_table<Key, Value, kind, Other> copy_to(const Exec& exec) const {
    exec.fence("Lanewise::ordered_table: the table is copied");
    using other = ordered_table<Key, Value, kind, Other>;
    if (my_.size == 0) return other();
    const other copy = other::allocated("Lanewise::ordered_table", my_.size);
    Kokkos::deep_copy(copy.block(), block());
    return copy;
  }

  // Below: for the calls of this family.

  /// A table of `elements` elements, whose leaves and first keys are to be written. They are in a
  /// block of bytes_for(elements) bytes, aligned as leaves are.
  ordered_table(std::uint32_t elements, std::shared_ptr<char> block)
      : my_({elements, std::move(block)}) {}

  /// One in the memory of a View. **Blocks.**
  static ordered_table allocated(const std::string& label, std::uint32_t elements) {
    return {elements, detail::block_of_view<MemorySpace>(label, bytes_for(elements))};
  }

  static std::size_t bytes_for(std::uint32_t elements) {
    const std::int64_t leaves = leaves_for(elements);
    return elements == 0 ? 0
                         : lows_begin(leaves) + detail::sampled_keys<word>{nullptr, leaves}.bytes();
  }
  detail::memory_array<char, MemorySpace> block() const {
    return detail::memory_array<char, MemorySpace>(my_.block.get(), bytes_for(my_.size));
  }
  detail::ordered_leaf* leaves() const {
    return detail::at_offset<detail::ordered_leaf>(my_.block, 0);
  }
  /// The leaves' first keys.
  detail::sampled_keys<word> sampled_lows() const {
    const std::int64_t leaves = number_of_leaves();
    return {detail::at_offset<word>(my_.block, lows_begin(leaves)), leaves};
  }
  word* lows() const { return sampled_lows().keys; }
  search_tree<word> tree() const { return sampled_lows().tree(); }
  std::int64_t number_of_leaves() const { return leaves_for(my_.size); }

 private:
  static std::int64_t leaves_for(std::uint32_t elements) {
    return divide_up(std::int64_t{elements}, std::int64_t{layout::elements});
  }
  static std::size_t lows_begin(std::int64_t leaves) {
    return static_cast<std::size_t>(leaves) * sizeof(detail::ordered_leaf);
  }

  struct members {
    std::uint32_t size = 0;
    std::shared_ptr<char> block;
  };
  detail::emptied_by_move<members> my_;
};

template <class T>
concept any_ordered_table = table_of_family<T, table_family::ordered>;
/// A map or a set.
template <class T>
concept unique_ordered_table = any_ordered_table<T> && table_of_unique_keys<T>;
/// A multimap.
template <class T>
concept repeated_ordered_table = any_ordered_table<T> && table_of_repeated_keys<T>;

LANEWISE_END_NAMESPACE
