// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/btree_table.hpp>
#include <lanewise/detail/arrays_behind.hpp>
#include <lanewise/detail/ordered_leaves.hpp>
#include <lanewise/radix_sort.hpp>
#include <lanewise/reduce.hpp>
#include <lanewise/scan.hpp>
#include <lanewise/select.hpp>

#include <algorithm>

// How B+ trees are made of elements in order, and elements in order of trees: one lane for every
// element, which asks a source what stands at a place (detail/ordered_leaves.hpp).

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Element i is that of an ordered table.
template <class Key, class Value>
struct table_as_elements {
  using view_type = ordered_view<Key, Value>;
  using layout = typename view_type::layout;
  view_type table;

  template <class Warp>
  LANEWISE_FUNCTION std::int64_t begin(const Warp&, std::uint32_t) const {
    return 0;
  }
  template <class Warp>
  LANEWISE_FUNCTION void load(
      const Warp& warp, std::int64_t&, typename Warp::template mask_for<std::uint32_t> there,
      std::uint32_t first, typename Warp::template lanes<typename layout::word>& key,
      typename Warp::template lanes<typename layout::value_word>& value) const {
    const auto place = warp.lane() + typename Warp::template lanes<std::uint32_t>(first);
    key = table.key_words(warp, there, place);
    if constexpr (layout::has_values) value = table.value_words(warp, there, place);
  }
};

/// Element i is that of the leaves of a tree, which are given in order with the number of elements
/// in front of each.
template <class Table>
struct leaves_as_elements {
  using tree_layout = typename Table::layout;
  using layout = typename tree_layout::elements;
  const typename tree_layout::node* nodes;
  const std::uint32_t* leaf;
  const std::uint32_t* in_front;
  std::int64_t n;

  LANEWISE_FUNCTION places_passed<std::uint32_t> places() const { return {in_front, n}; }
  template <class Warp>
  LANEWISE_FUNCTION std::int64_t begin(const Warp& warp, std::uint32_t first) const {
    return places().begin(warp, first);
  }
  template <class Warp>
  LANEWISE_FUNCTION void load(
      const Warp& warp, std::int64_t& passed, typename Warp::template mask_for<std::uint32_t> there,
      std::uint32_t first, typename Warp::template lanes<typename layout::word>& key,
      typename Warp::template lanes<typename layout::value_word>& value) const {
    using numbers = typename Warp::template lanes<std::uint32_t>;
    const numbers place = warp.lane() + numbers(first);
    const numbers at = places().next(warp, passed, place, first + (Warp::width - 1)) - numbers(1u);
    const numbers i = place - warp.gather(there, in_front, at, 0u);
    const auto word = warp.map(
        there,
        [](std::uint32_t l, std::uint32_t j) { return std::uint64_t{l} * tree_layout::words + j; },
        std::uint64_t{0}, warp.gather(there, leaf, at, 0u), i);
    const auto* const words = reinterpret_cast<const typename tree_layout::word*>(nodes);
    key = warp.map(
        there, [](auto w) { return static_cast<typename layout::word>(w); }, layout::padding,
        warp.gather(there, words, word, typename tree_layout::word{0}));
    if constexpr (layout::has_values)
      value = warp.map(
          [](auto w) { return static_cast<typename layout::value_word>(w); },
          warp.gather(there, words + tree_layout::half, word, typename tree_layout::word{0}));
  }
};

/// Writes the roots of a tree, with `fill` elements each, and their least keys.
template <class Table, class Source>
struct write_roots_kernel {
  struct policy : launch_policy {
    static constexpr int host_teams_per_thread = 16;
  };
  template <class Team>
  struct scratch {};

  using layout = typename Table::layout;
  using word = typename layout::word;
  using key_word = typename layout::key_word;
  using value_word = typename layout::value_word;

  Source source;
  typename layout::node* nodes;
  key_word* lows;
  std::uint32_t* allocated;
  std::uint32_t elements;
  std::uint32_t roots;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using numbers = typename warp_type::template lanes<std::uint32_t>;
    constexpr std::uint32_t width = warp_type::width, fill = Table::fill;
    const auto warp = team.warp();
    if (team.index() == 0 && team.warp_index() == 0) warp.store(*allocated, roots);
    const std::int64_t id = std::int64_t{team.index()} * Team::warps + team.warp_index();
    // The root of an empty tree is written, too.
    const std::uint32_t places = elements == 0 ? 1 : elements;
    const index_range mine = even_share(divide_up(std::int64_t{places}, std::int64_t{width}), id,
                                        std::int64_t{team.league()} * Team::warps);
    if (mine.begin >= mine.end) return;
    auto at = source.begin(warp, static_cast<std::uint32_t>(mine.begin) * width);
    for (std::int64_t w = mine.begin; w < mine.end; ++w) {
      const auto first = static_cast<std::uint32_t>(w) * width;
      const auto there = below(warp, elements, first);
      typename warp_type::template lanes<key_word> key(key_word{0});
      typename warp_type::template lanes<value_word> value(value_word{0});
      source.load(warp, at, there, first, key, value);
      const numbers place = warp.lane() + numbers(first);
      const numbers root = warp.map([](std::uint32_t p) { return p / fill; }, place);
      const auto to = warp.map(
          [](std::uint32_t p, std::uint32_t r) {
            return std::uint64_t{r} * layout::words + (p - r * fill);
          },
          place, root);
      word* const words = reinterpret_cast<word*>(nodes);
      warp.scatter(there, words, to, warp.template cast<word>(key));
      warp.scatter(there, words + layout::half, to, warp.template cast<word>(value));
      const auto begins = below(warp, places, first) & (place == root * numbers(fill));
      warp.scatter(begins, lows, root, key);
      warp.scatter(begins, words + layout::state_at, to,
                   warp.map(
                       [n = elements](std::uint32_t p) {
                         return layout::with_count(
                             0, static_cast<int>(n - p < fill ? n - p : std::uint32_t{fill}));
                       },
                       place));
    }
  }

 private:
  template <class Warp>
  static LANEWISE_FUNCTION auto below(const Warp& warp, std::uint32_t n, std::uint32_t first) {
    return warp.first(static_cast<int>(
        n <= first ? 0 : (n - first < Warp::width ? n - first : std::uint32_t{Warp::width})));
  }
};

/// A tree of so many elements of a source, with room for so many nodes beside the roots.
template <class Table, class Exec, class Source>
Table make_btree(const Exec& exec, const char* name, std::int64_t elements, const Source& source,
                 std::int64_t spare) {
  static_assert(std::is_same_v<typename Exec::memory_space, typename Table::memory_space>,
                "lanewise: a B+ tree is changed by instances whose memory space is its own");
  using kernel = write_roots_kernel<Table, Source>;
  const std::int64_t roots =
      std::max(divide_up(elements, std::int64_t{Table::fill}), std::int64_t{1});
  detail::expects(roots + spare <= Table::most_nodes, name, ": the tree would have ", roots,
                  " nodes and room for ", spare, ", the most is ", Table::most_nodes);
  const auto n = static_cast<std::uint32_t>(roots);
  const auto capacity = static_cast<std::uint32_t>(roots + spare);
  const std::size_t bytes = Table::bytes_for(n, capacity);
  void* const block = backend_of<Exec>::allocate(exec, bytes);
  Table table(n, capacity, block, std::shared_ptr<void>(block, [exec](void* p) {
                backend_of<Exec>::deallocate(exec, p);
              }));
  detail::use_huge_pages<typename Table::memory_space>(block, bytes);
  launch(exec, "Lanewise::btree::write_roots",
         league_for_windows<kernel>(exec, std::max(elements, std::int64_t{1})),
         kernel{source, table.nodes(), table.lows(), table.allocated(),
                static_cast<std::uint32_t>(elements), n});
  auto tree = table.tree();
  sample_keys(exec, tree, table.lows() + (tree.samples - table.lows()));
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
/// How many elements the leaves of a list have; behind the last none.
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
struct node_number {
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(i);
  }
};

/// Nodes in use. **Blocks.**
template <class Exec, class Table>
std::int64_t nodes_in_use(const Exec& exec, const Table& table) {
  if (table.roots() == 0) return 0;
  std::uint32_t used = 0;
  detail::copy_to_host<std::uint32_t>(exec, &used, table.allocated());
  // Who finds no room may have counted on.
  return std::min(std::int64_t{used}, table.capacity());
}

/// The leaves of a tree in the order of their keys: a radix_sort of their least keys.
template <class Exec, class Table>
class btree_leaves {
 public:
  using layout = typename Table::layout;
  using key_word = typename layout::key_word;

  btree_leaves(const Exec& exec, const Table& table, workspace_ref given, const char* name)
      : nodes_(table.nodes()),
        most_(nodes_in_use(exec, table)),
        keys_(parts_.add<key_word>(2 * most_)),
        numbers_(parts_.add<std::uint32_t>(3 * most_ + 1)),
        work_(call_workspace::make<backend_of<Exec>>(exec, given, parts_.size(), name)) {
    if (most_ == 0) return;
    const auto some = number(0);
    n_ = select_if(exec, generated(most_, node_number{}), some,
                   is_leaf_with_elements<layout>{nodes_});
    if (n_ == 0) return;
    const auto first = [this](const auto& v) {
      return Kokkos::subview(v, Kokkos::make_pair(std::int64_t{0}, n_));
    };
    const auto leaf = first(number(1));
    const auto keys = arrays_behind::view<key_word, Exec>(work_.get(), keys_, 2 * most_);
    const auto unsorted = first(keys);
    lanewise::transform(exec, first(some), unsorted, least_key_of<layout>{nodes_});
    lanewise::radix_sort(exec, unsorted, first(some),
                         Kokkos::subview(keys, Kokkos::make_pair(most_, most_ + n_)), leaf);
    leaf_ = leaf.data();
    std::uint32_t* const in_front = number(2).data();
    exclusive_scan(
        exec, generated(n_ + 1, elements_of_leaf<layout>{nodes_, leaf_, n_}),
        Kokkos::View<std::uint32_t*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(in_front,
                                                                                           n_ + 1),
        plus{}, 0u);
    in_front_ = in_front;
    std::uint32_t all = 0;
    detail::copy_to_host<std::uint32_t>(exec, &all, in_front + n_);
    elements_ = all;
  }
  std::int64_t elements() const { return elements_; }
  leaves_as_elements<Table> source() const { return {nodes_, leaf_, in_front_, n_}; }

 private:
  auto number(std::int64_t i) {
    return arrays_behind::view<std::uint32_t, Exec>(
        work_.get(), numbers_ + static_cast<std::size_t>(i * most_) * sizeof(std::uint32_t), most_);
  }

  arrays_behind parts_{workspace_size{}};
  const typename layout::node* nodes_;
  std::int64_t most_;
  std::size_t keys_, numbers_;
  call_workspace work_;
  std::int64_t n_ = 0;
  const std::uint32_t* leaf_ = nullptr;
  const std::uint32_t* in_front_ = nullptr;
  std::int64_t elements_ = 0;
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
