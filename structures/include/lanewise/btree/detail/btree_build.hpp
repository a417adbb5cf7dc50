// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/btree/btree_table.hpp>
#include <lanewise/call/workspace_layout.hpp>
#include <lanewise/ordered/detail/ordered_leaf_builder.hpp>
#include <lanewise/select/select.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sort/radix_sort.hpp>

#include <algorithm>

// How B+ trees are made of elements in order, and elements in order of trees, line by line
// (ordered/detail/ordered_leaf_builder.hpp).

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The leaves of a tree, which are given in order with the number of elements before each, and
/// that of all.
template <class Table>
struct leaves_as_lines {
  using tree_layout = typename Table::layout;
  using layout = typename tree_layout::elements;
  static constexpr int width = tree_layout::half;
  const typename tree_layout::node* nodes;
  const std::uint32_t* leaf;
  const std::uint32_t* elements_before;
  std::int64_t n;

  LANEWISE_FUNCTION std::int64_t lines() const { return n; }
  template <class Warp>
  LANEWISE_FUNCTION line_part load(const Warp& warp, std::int64_t line, int from,
                                   lanes_t<Warp, typename layout::word>& key,
                                   lanes_t<Warp, typename layout::value_word>& value) const {
    using word = typename tree_layout::word;
    const std::uint32_t position = elements_before[line];
    const auto part =
        line_part{position, static_cast<int>(elements_before[line + 1] - position)}.cut(
            from, Warp::width);
    const word* const words = reinterpret_cast<const word*>(nodes + leaf[line]) + from;
    const auto exists = warp.first(part.count);
    key = warp.template cast<typename layout::word>(warp.load(exists, words, word{0}));
    if constexpr (layout::has_values)
      value = warp.template cast<typename layout::value_word>(
          warp.load(exists, words + tree_layout::half, word{0}));
    return part;
  }
};

/// The roots of a tree, with `fill` elements each.
template <class Table>
struct roots_target {
  using layout = typename Table::layout;
  using node_word = typename layout::word;
  using word = typename layout::key_word;
  using value_word = typename layout::value_word;
  static constexpr std::uint32_t elements = Table::fill;
  typename layout::node* nodes;
  word* lows;
  std::uint32_t* allocated;
  std::uint32_t n;
  std::uint32_t roots;

  /// The root of an empty tree is written, too.
  template <class Warp>
  LANEWISE_FUNCTION void begin(const Warp& warp) const {
    warp.store(*allocated, roots);
    if (n > 0) return;
    warp.store(lows[0], word{0});
    begin_leaf(warp, 0);
  }
  /// Lane first_lane + j has element i + j of a root.
  template <class Warp, class Mask, class Keys, class Values>
  LANEWISE_FUNCTION void store(const Warp& warp, Mask exists, std::uint32_t root, std::uint32_t i,
                               int first_lane, const Keys& key, const Values& value) const {
    node_word* const to = reinterpret_cast<node_word*>(nodes + root) + i;
    warp.store(exists, to - first_lane, warp.template cast<node_word>(key));
    if constexpr (layout::has_values)
      warp.store(exists, to + layout::half - first_lane, warp.template cast<node_word>(value));
  }
  template <class Warp>
  LANEWISE_FUNCTION void begin_leaf(const Warp& warp, std::uint32_t root) const {
    const std::uint32_t left = n - root * elements;
    warp.store(nodes[root][layout::state_at],
               layout::with_count(0, static_cast<int>(left < elements ? left : elements)));
  }
};

/// A tree of the `elements` elements in the lines of a source, with room for `spare` nodes beside
/// the roots.
template <class Table, class Exec, class Source>
Table make_btree(const Exec& exec, const char* name, std::int64_t elements, const Source& source,
                 std::int64_t spare) {
  static_assert(std::is_same_v<typename Exec::memory_space, typename Table::memory_space>,
                "lanewise: a B+ tree is changed by instances whose memory space is its own");
  const std::int64_t roots =
      std::max(divide_up(elements, std::int64_t{Table::fill}), std::int64_t{1});
  detail::expects(roots + spare <= Table::most_nodes, name, ": the tree would have ", roots,
                  " nodes and room for ", spare, ", the most is ", Table::most_nodes);
  const auto n = static_cast<std::uint32_t>(roots);
  const auto capacity = static_cast<std::uint32_t>(roots + spare);
  Table table(n, capacity, kernels::table_block(exec, Table::bytes_for(n, capacity)));
  kernels::move_lines(exec, "Lanewise::btree::move_lines", source,
                      roots_target<Table>{table.nodes(), table.lows(), table.allocated(),
                                          static_cast<std::uint32_t>(elements), n});
  kernels::sample_lows(exec, table);
  return table;
}

template <class Layout>
struct is_leaf_with_elements {
  const typename Layout::node* nodes;
  LANEWISE_FUNCTION bool operator()(const std::uint32_t& i) const {
    const auto state = nodes[i][Layout::state_at];
    return !Layout::is_inner(state) && Layout::count(state) > 0;
  }
};
template <class Layout>
struct least_key_of {
  const typename Layout::node* nodes;
  LANEWISE_FUNCTION typename Layout::key_word operator()(std::uint32_t i) const {
    return static_cast<typename Layout::key_word>(nodes[i][0]);
  }
};
/// How many elements the leaves of a list have; after the last none.
template <class Layout>
struct elements_of_leaf {
  const typename Layout::node* nodes;
  const std::uint32_t* leaf;
  std::int64_t n;
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return i < n ? static_cast<std::uint32_t>(Layout::count(nodes[leaf[i]][Layout::state_at])) : 0;
  }
};
template <class Layout>
struct elements_of_node {
  const typename Layout::node* nodes;
  LANEWISE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    const auto state = nodes[i][Layout::state_at];
    return Layout::is_inner(state) ? 0 : Layout::count(state);
  }
};

/// Nodes in use. **Blocks.**
template <class Exec, class Table>
std::int64_t nodes_in_use(const Exec& exec, const Table& table) {
  if (table.roots() == 0) return 0;
  std::uint32_t used = 0;
  detail::copy_to_host<std::uint32_t>(exec, &used, table.allocated());
  // A thread that finds no room may have counted on.
  return std::min(std::int64_t{used}, table.capacity());
}

/// The leaves of a tree in the order of their keys: a radix_sort of their least keys. Where all
/// nodes are roots they are in order as they are, and leaves without elements are among them.
template <class Exec, class Table>
class btree_leaves {
 public:
  using layout = typename Table::layout;
  using key_word = typename layout::key_word;

  btree_leaves(const Exec& exec, const Table& table, workspace_ref given, const char* name)
      : nodes_(table.nodes()),
        most_(kernels::nodes_in_use(exec, table)),
        keys_(parts_.add<key_word>(2 * most_)),
        numbers_(parts_.add<std::uint32_t>(3 * most_ + 1)),
        work_(call_workspace::make<backend_of<Exec>>(exec, given, parts_.size(), name)) {
    if (most_ == 0) return;
    if (most_ == table.roots()) {
      n_ = most_;
      keys_in_order_ = table.lows();
      leaf_ = table.root_nodes();
      if (leaf_ == nullptr) {
        lanewise::transform(exec, generated(n_, number_of_item{}), number(1), identity{});
        leaf_ = number(1).data();
      }
    } else {
      sort(exec);
    }
  }
  std::int64_t size() const { return n_; }
  const std::uint32_t* nodes() const { return leaf_; }
  /// Keys of a leaf, but for the first, are not less than its own here, and less than the next.
  const key_word* keys() const { return keys_in_order_; }
  /// Counts the elements. Call it before elements() and lines(). **Blocks.**
  void count(const Exec& exec) {
    if (n_ == 0) return;
    std::uint32_t* const elements_before = number(2).data();
    lanewise::exclusive_scan(
        exec, lanewise::generated(n_ + 1, elements_of_leaf<layout>{nodes_, leaf_, n_}),
        items_view<std::uint32_t, Exec>(elements_before, n_ + 1), plus{}, 0u);
    elements_before_ = elements_before;
    std::uint32_t elements = 0;
    detail::copy_to_host<std::uint32_t>(exec, &elements, elements_before + n_);
    elements_ = elements;
  }
  std::int64_t elements() const { return elements_; }
  leaves_as_lines<Table> lines() const { return {nodes_, leaf_, elements_before_, n_}; }

 private:
  void sort(const Exec& exec) {
    const auto some = number(0);
    n_ = lanewise::select_if(exec, generated(most_, number_of_item{}), some,
                             is_leaf_with_elements<layout>{nodes_});
    if (n_ == 0) return;
    const auto leaf = kernels::first_items(number(1), n_), used = kernels::first_items(some, n_);
    const auto keys = keys_.template view<Exec>(work_.get());
    const auto unsorted = kernels::first_items(keys, n_),
               sorted = Kokkos::subview(keys, Kokkos::make_pair(most_, most_ + n_));
    lanewise::transform(exec, used, unsorted, least_key_of<layout>{nodes_});
    lanewise::radix_sort(exec, unsorted, used, sorted, leaf);
    keys_in_order_ = sorted.data();
    leaf_ = leaf.data();
  }
  auto number(std::int64_t i) {
    return Kokkos::View<std::uint32_t*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
        numbers_.data(work_.get()) + i * most_, most_);
  }

  workspace_layout parts_;
  const typename layout::node* nodes_;
  std::int64_t most_;
  workspace_array<key_word> keys_;
  workspace_array<std::uint32_t> numbers_;
  call_workspace work_;
  std::int64_t n_ = 0;
  const key_word* keys_in_order_ = nullptr;
  const std::uint32_t* leaf_ = nullptr;
  const std::uint32_t* elements_before_ = nullptr;
  std::int64_t elements_ = 0;
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
