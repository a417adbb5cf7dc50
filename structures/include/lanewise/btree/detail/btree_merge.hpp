// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/btree/detail/btree_build.hpp>
#include <lanewise/ordered/ordered_bulk.hpp>
#include <lanewise/search/sorted_search.hpp>

// How many items that meet in the same leaves are put into a B+ tree at once.
//
//   1. The leaves that the items belong to are found: the touched ones.
//   2. Their elements become an ordered table, and a bulk call of that table takes the items.
//   3. What lies between the least keys of two touched leaves is a run. A run of more elements than
//      a leaf holds is cut into leaves of `fill` elements at most, as in building a tree. The first
//      stays in the old node, the others are new nodes.
//   4. Least keys and nodes of all leaves, old and new, become the new top of the tree: each leaf
//      is a root. No other leaf is read or written.
//
// In an example with room for 15 and fill 12, 40 keys come after the last of leaves a b c:
//
//   roots before   a b c        c has 12 elements
//   run            52 elements, cut into 5 leaves: c d e f g, of 11 elements, and 8
//   roots after    a b c d e f g

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Marks the leaf of each item, given how many leaves have least keys that are not greater. Solo is
/// a warp of one lane.
template <class Solo>
struct mark_leaf {
  std::uint32_t* marks;
  LANEWISE_FUNCTION void operator()(std::int64_t, std::int64_t after) const {
    std::uint32_t& mark = marks[after > 0 ? after - 1 : 0];
    if (Solo().template load<order::relaxed>(mark) == 0)
      Solo().template store<order::relaxed>(mark, 1u);
  }
};
struct is_marked {
  const std::uint32_t* marks;
  LANEWISE_FUNCTION bool operator()(const std::uint32_t& i) const { return marks[i] != 0; }
};
template <class Key>
struct bits_of_item {
  const Key* keys;
  LANEWISE_FUNCTION auto operator()(std::int64_t i) const { return lanewise::to_bits(keys[i]); }
};
template <class Key, class Word>
struct least_key_at {
  const Word* lows;
  LANEWISE_FUNCTION Key operator()(const std::uint32_t& i) const {
    return lanewise::from_bits<Key>(lows[i]);
  }
};

/// Runs of elements: each run becomes some leaves.
template <class Layout, int fill>
struct leaf_runs {
  std::int64_t n;
  std::int64_t elements;          // of all runs
  const std::int64_t* positions;  // where each but the first begins

  LANEWISE_FUNCTION std::int64_t begin(std::int64_t run) const {
    return run == 0 ? 0 : run < n ? positions[run] : elements;
  }
  LANEWISE_FUNCTION std::int64_t leaves(std::int64_t run) const {
    const std::int64_t size = begin(run + 1) - begin(run);
    return size <= Layout::most ? 1 : lanewise::divide_up(size, std::int64_t{fill});
  }
  /// Elements of leaf i of a run, which is cut evenly.
  LANEWISE_FUNCTION index_range leaf(std::int64_t run, std::int64_t i) const {
    const std::int64_t first = begin(run), end = begin(run + 1);
    const std::int64_t each = lanewise::divide_up(end - first, leaves(run));
    const auto at = [&](std::int64_t x) { return first + x * each < end ? first + x * each : end; };
    return {at(i), at(i + 1)};
  }
};
/// How many new leaves come of a run; after the last none.
template <class Runs>
struct new_leaves_of {
  Runs runs;
  LANEWISE_FUNCTION std::uint32_t operator()(std::int64_t run) const {
    return run < runs.n ? static_cast<std::uint32_t>(runs.leaves(run) - 1) : 0;
  }
};

/// The roots of a tree after new leaves were put after touched ones.
template <class Word>
struct new_roots {
  std::int64_t n;                          // touched leaves
  const std::uint32_t* touched;            // which of the old roots, ascending
  const std::uint32_t* new_leaves_before;  // n + 1: before the new leaves of each touched one
  Word* lows;
  std::uint32_t* nodes;

  /// The root that an old one becomes.
  LANEWISE_FUNCTION std::uint32_t root(std::uint32_t old) const {
    std::int64_t begin = 0, end = n;
    while (begin < end) {
      const std::int64_t middle = (begin + end) / 2;
      if (touched[middle] < old) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return old + new_leaves_before[begin];
  }
  /// The touched leaf that leaf number q of all runs comes of.
  LANEWISE_FUNCTION std::int64_t run_of(std::int64_t q) const {
    std::int64_t begin = 0, end = n;
    while (end - begin > 1) {
      const std::int64_t middle = (begin + end) / 2;
      if (new_leaves_before[middle] + middle <= q) {
        begin = middle;
      } else {
        end = middle;
      }
    }
    return begin;
  }
};
template <class Word>
struct move_root {
  new_roots<Word> to;
  const Word* lows;
  const std::uint32_t* nodes;
  LANEWISE_FUNCTION void operator()(std::int64_t, std::uint32_t old) const {
    const std::uint32_t root = to.root(old);
    to.lows[root] = lows[old];
    to.nodes[root] = nodes[old];
  }
};

/// Writes the leaves of all runs, and the roots that the new ones are.
template <class Table>
struct write_runs_kernel {
  using policy = window_policy<1>;
  template <class Team>
  struct scratch {};

  using layout = typename Table::layout;
  using node_word = typename layout::word;
  using key_word = typename layout::key_word;
  static constexpr int slots = layout::half;

  typename Table::ordered_type::view_type elements;
  leaf_runs<layout, Table::fill> runs;
  new_roots<key_word> roots;
  const std::uint32_t* old_nodes;
  typename layout::node* nodes;
  std::uint32_t* allocated;
  std::uint32_t used;  // nodes, before
  std::int64_t leaves;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = slots < warp_type::width ? slots : warp_type::width;
    constexpr int leaves_of_warp = warp_type::width / width;
    const auto warp = team.warp();
    if (team.index() == 0 && team.warp_index() == 0)
      warp.store(*allocated, used + static_cast<std::uint32_t>(leaves - runs.n));
    const index_range mine =
        kernels::share_of_warp(team, lanewise::divide_up(leaves, std::int64_t{leaves_of_warp}));
    const auto number = warp.map([](std::uint32_t lane) { return lane / width; }, warp.lane());
    for (std::int64_t w = mine.begin; w < mine.end; ++w)
      warp.template split<width>([&](const auto& sub) LANEWISE_INLINE_LAMBDA {
        const std::int64_t leaf = w * leaves_of_warp + sub.broadcast(sub.take(number), 0);
        if (leaf < leaves) write(sub, leaf);
      });
  }

 private:
  template <class Warp>
  LANEWISE_FUNCTION void write(const Warp& warp, std::int64_t q) const {
    const std::int64_t run = roots.run_of(q);
    const std::uint32_t before = roots.new_leaves_before[run], old = roots.touched[run];
    const auto i = static_cast<std::uint32_t>(q - before - run);
    const std::uint32_t node = i == 0 ? old_nodes[old] : used + before + i - 1;
    const index_range part = runs.leaf(run, i);
    const auto count = static_cast<int>(part.end - part.begin);
    node_word* const to = reinterpret_cast<node_word*>(nodes + node);
    for (int from = 0; from < count; from += Warp::width) {
      const auto exists = warp.first(count - from);
      const auto position = warp.lane() + typename Warp::template lanes<std::uint32_t>(
                                              static_cast<std::uint32_t>(part.begin + from));
      const auto key = elements.key_words(warp, exists, position);
      warp.store(exists, to + from, warp.template cast<node_word>(key));
      if constexpr (layout::has_values)
        warp.store(exists, to + layout::half + from,
                   warp.template cast<node_word>(elements.value_words(warp, exists, position)));
      // The first leaf of all may have got keys below its least one.
      if (from == 0 && (i > 0 || old == 0)) {
        warp.store(roots.lows[old + before + i], warp.broadcast(key, 0));
        warp.store(roots.nodes[old + before + i], node);
      }
    }
    warp.store(nodes[node][layout::state_at], layout::with_count(0, count));
  }
};

/// Some numbers for each leaf of a tree, and a key and a position for each touched leaf.
template <class Exec, class Table>
class merge_memory {
 public:
  using key_type = typename Table::key_type;
  template <class T>
  using view = items_view<T, Exec>;

  merge_memory(const Exec& exec, std::int64_t leaves, std::int64_t touched, const char* name)
      : leaves_(leaves + 1),
        keys_(parts_.add<key_type>(touched)),
        positions_(parts_.add<std::int64_t>(touched)),
        numbers_(parts_.add<std::uint32_t>(4 * leaves_)),
        work_(call_workspace::make<backend_of<Exec>>(exec, nullptr, parts_.size(), name)) {}

  view<std::uint32_t> marks() { return number(0); }
  view<std::uint32_t> touched() { return number(1); }
  view<std::uint32_t> nodes() { return number(2); }
  view<std::uint32_t> counts_before() { return number(3); }
  view<key_type> keys() { return keys_.template view<Exec>(work_.get()); }
  view<std::int64_t> positions() { return positions_.template view<Exec>(work_.get()); }

 private:
  view<std::uint32_t> number(std::int64_t i) {
    return view<std::uint32_t>(numbers_.data(work_.get()) + i * leaves_,
                               static_cast<std::size_t>(leaves_));
  }

  workspace_layout parts_;
  std::int64_t leaves_;
  workspace_array<key_type> keys_;
  workspace_array<std::int64_t> positions_;
  workspace_array<std::uint32_t> numbers_;
  call_workspace work_;
};

/// Puts n items with these keys into the tree: `bulk(table)` puts them into an ordered table. False
/// if there are too few nodes to spare, or no leaves; the tree is then as before. **Blocks.**
template <class Exec, class Table, class Bulk>
bool merge_into_leaves(const Exec& exec, const char* name, Table& tree,
                       const typename Table::key_type* keys, std::int64_t n, const Bulk& bulk) {
  using layout = typename Table::layout;
  using key_type = typename Table::key_type;
  using key_word = typename Table::key_word;
  using ordered_type = typename Table::ordered_type;
  using runs_type = leaf_runs<layout, Table::fill>;
  using kernel = write_runs_kernel<Table>;
  const btree_leaves<Exec, Table> leaves(exec, tree, nullptr, name);
  if (leaves.size() == 0) return false;
  const std::int64_t old_roots = leaves.size();
  merge_memory<Exec, Table> memory(exec, old_roots, std::min(old_roots, n), name);
  const auto old_leaves = lanewise::generated(old_roots, number_of_item{});

  const auto marks = memory.marks();
  backend_of<Exec>::zero(exec, marks.data(), marks.size() * sizeof(std::uint32_t));
  lanewise::upper_bound(
      exec, items_view<const key_word, Exec>(leaves.keys(), old_roots),
      lanewise::generated(n, bits_of_item<key_type>{keys}),
      lanewise::consumed(n, mark_leaf<typename warp_t<Exec>::template part<1>>{marks.data()}));
  const std::int64_t touched_count =
      lanewise::select_if(exec, old_leaves, memory.touched(), is_marked{marks.data()});
  const auto touched = kernels::first_items(memory.touched(), touched_count);
  const auto nodes = kernels::first_items(memory.nodes(), touched_count);
  const auto elements_before = kernels::first_items(memory.counts_before(), touched_count + 1);
  lanewise::transform(exec, touched, nodes, item_at<std::uint32_t>{leaves.nodes()});
  lanewise::exclusive_scan(
      exec,
      lanewise::generated(touched_count + 1,
                          elements_of_leaf<layout>{tree.nodes(), nodes.data(), touched_count}),
      elements_before, plus{}, 0u);
  std::uint32_t elements = 0;
  detail::copy_to_host<std::uint32_t>(exec, &elements, elements_before.data() + touched_count);
  auto all = kernels::make_table_of_lines<ordered_type>(
      exec, name, elements,
      leaves_as_lines<Table>{tree.nodes(), nodes.data(), elements_before.data(), touched_count});
  bulk(all);

  const auto run_keys = kernels::first_items(memory.keys(), touched_count);
  const auto positions = kernels::first_items(memory.positions(), touched_count);
  lanewise::transform(exec, touched, run_keys, least_key_at<key_type, key_word>{leaves.keys()});
  lanewise::lower_bound(exec, all, run_keys, positions);
  const runs_type runs{touched_count, all.size(), positions.data()};
  const auto new_leaves_before = elements_before;
  lanewise::exclusive_scan(exec,
                           lanewise::generated(touched_count + 1, new_leaves_of<runs_type>{runs}),
                           new_leaves_before, plus{}, 0u);
  std::uint32_t new_leaves = 0;
  detail::copy_to_host<std::uint32_t>(exec, &new_leaves, new_leaves_before.data() + touched_count);
  const std::int64_t used = kernels::nodes_in_use(exec, tree);
  if (used + new_leaves > tree.capacity()) return false;

  const auto roots = static_cast<std::uint32_t>(old_roots + new_leaves);
  Table changed = tree.with_top(roots, kernels::table_block(exec, Table::top_bytes_for(roots)));
  const new_roots<key_word> to{touched_count, touched.data(), new_leaves_before.data(),
                               changed.lows(), changed.root_nodes()};
  lanewise::transform(
      exec, old_leaves,
      lanewise::consumed(old_roots, move_root<key_word>{to, leaves.keys(), leaves.nodes()}),
      identity{});
  lanewise::launch(
      exec, "Lanewise::btree::write_runs",
      kernels::league_for_windows<kernel>(exec, (touched_count + new_leaves) * kernel::slots),
      kernel{all.view(), runs, to, leaves.nodes(), tree.nodes(), tree.allocated(),
             static_cast<std::uint32_t>(used), touched_count + new_leaves});
  kernels::sample_lows(exec, changed);
  exec.fence("Lanewise::btree: the leaves are written");
  tree = std::move(changed);
  return true;
}

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
