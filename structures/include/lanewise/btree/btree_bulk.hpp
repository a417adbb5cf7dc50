// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/btree/detail/btree_merge.hpp>

#include <optional>

// Bulk calls on B+ trees that are changed in place. Each item is an operation of its own, by one
// lane: items of one call with equal keys are worked on in any order.

LANEWISE_BEGIN_NAMESPACE

/// Options of the bulk calls on B+ trees.
using btree_options = growing_table_options;

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// The active lanes whose item belongs to the lane's subtree. Items outside [0, n) belong to none.
template <class Warp, class View, class Key>
LANEWISE_FUNCTION auto has_subtree(const Warp& warp, mask_t<Warp, std::uint32_t> active,
                                   const View& tree, const Key* keys, std::int64_t n,
                                   const lanes_t<Warp, std::uint32_t>& subtree,
                                   const lanes_t<Warp, std::int64_t>& item) {
  const auto is_item =
      active & (warp.map([n](std::int64_t i) { return i >= 0 && i < n ? 1u : 0u; }, item) == 1u);
  return tree.is_in_subtree(warp, is_item, subtree, warp.gather(is_item, keys, item, Key{}));
}
/// The active lanes whose subtree has the item that comes `distance` before or after theirs.
template <class Warp, class View, class Key>
LANEWISE_FUNCTION auto is_crowded(const Warp& warp, mask_t<Warp, std::uint32_t> active,
                                  const View& tree, const Key* keys, std::int64_t n,
                                  const lanes_t<Warp, std::uint32_t>& subtree,
                                  const lanes_t<Warp, std::int64_t>& item, int distance) {
  const lanes_t<Warp, std::int64_t> d(distance);
  return kernels::has_subtree<Warp>(warp, active, tree, keys, n, subtree, item - d) |
         kernels::has_subtree<Warp>(warp, active, tree, keys, n, subtree, item + d);
}

/// Counts the crowded ones among samples of sorted items.
template <class Table>
struct crowd_kernel {
  using policy = window_policy<1>;
  template <class Team>
  struct scratch {};
  static constexpr std::int64_t samples = 1024;
  static constexpr int distance = 6;
  /// If half of the samples are crowded, all items are left whose subtree has an item `near` apart.
  /// So few leaves are split before the merge. Else only long runs are left. Measured on an H200:
  /// 2^20 items, 8 for each leaf, take 588 us one by one and 708 merged; 12 take 1,372 and 657.
  static constexpr int near = 2, far = 16;

  typename Table::view_type tree;
  const typename Table::key_type* keys;
  std::int64_t n;
  std::uint64_t* crowded;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using key_type = typename Table::key_type;
    kernels::for_windows(
        team, samples,
        [&](const auto& warp, auto active, std::int64_t first) LANEWISE_INLINE_LAMBDA {
          // Distances between samples differ, as a batch may have a rhythm.
          const auto item = warp.map(
              [first, each = n / samples](std::uint32_t lane) {
                const std::int64_t sample = first + lane;
                return sample * each + sample * 7919 % each;
              },
              warp.lane());
          const auto key = warp.gather(active, keys, item, key_type{});
          const auto subtree = tree.template locate_active<true>(warp, active, key).subtree;
          const auto found =
              kernels::is_crowded<warp_type>(warp, active, tree, keys, n, subtree, item, distance);
          const int number = warp_type::popcount(warp.ballot(found));
          if (number > 0) warp.fetch_add(*crowded, static_cast<std::uint64_t>(number));
        });
  }
  /// How far items of a crowd are apart, given the number of crowded samples.
  static LANEWISE_FUNCTION int distance_for(std::uint64_t number) {
    return 2 * number >= static_cast<std::uint64_t>(samples) ? near : far;
  }
};

/// An operation for each item. A warp fetches the leaves of several windows of items in advance.
template <class Table, class Combine>
struct btree_kernel {
  using policy = window_policy<1>;
  template <class Team>
  struct scratch {};

  using view_type = typename Table::view_type;
  using key_type = typename Table::key_type;
  using value_type = typename view_type::value_type;
  static constexpr auto no_room = static_cast<std::uint32_t>(table_status::no_room);
  static constexpr auto find = static_cast<std::uint32_t>(table_operation::find);
  /// How often an item begins again that may be left. None makes a subtree of more than two levels.
  static constexpr std::uint32_t patience = 8;

  view_type tree;
  Combine combine;
  table_operation operation;
  table_arrays<Table> arrays;
  table_status* status;    // null for none
  status_counts* tally;    // null for none
  std::uint64_t* lacking;  // items without room are counted here; null: as the others
  bool again;              // only the items that had no room
  /// How many samples are crowded. If it is not null, crowded items are left as if without room.
  const std::uint64_t* crowded;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int ahead = Team::windows_in_flight;
    constexpr int width = warp_type::width;
    const auto warp = team.warp();
    const index_range mine =
        kernels::share_of_warp(team, lanewise::divide_up(arrays.n, std::int64_t{width}));
    warp_tally<warp_type> came;
    const int distance =
        crowded == nullptr ? 0 : crowd_kernel<Table>::distance_for(warp.load(*crowded));
    for (std::int64_t begin = mine.begin; begin < mine.end; begin += ahead) {
      typename view_type::template located<warp_type> at[ahead];
      LANEWISE_UNROLL
      for (int a = 0; a < ahead; ++a) {
        const auto active = items_of(warp, mine, begin + a);
        const auto key = warp.load(active, arrays.keys + (begin + a) * width, key_type{});
        at[a] = tree.template locate_active<true>(warp, active, key);
        if constexpr (ahead > 1) tree.fetch(warp, active, at[a].root);
      }
      lanes_t<warp_type, typename view_type::word> seen[ahead];
      LANEWISE_UNROLL
      for (int a = 0; a < ahead; ++a)
        seen[a] = tree.states_of(warp, items_of(warp, mine, begin + a), at[a].root);
      for (int a = 0; a < ahead; ++a)
        window(warp, items_of(warp, mine, begin + a), at[a], seen[a], (begin + a) * width, distance,
               came);
    }
    came.add_up(warp, tally, lacking);
  }

 private:
  template <class Warp>
  LANEWISE_FUNCTION auto items_of(const Warp& warp, const index_range& mine,
                                  std::int64_t window) const {
    const std::int64_t left = window < mine.end ? arrays.n - window * Warp::width : 0;
    return warp.first(left);
  }
  template <class Warp, class Mask, class Located, class Words>
  LANEWISE_FUNCTION void window(const Warp& warp, Mask items, const Located& at, const Words& seen,
                                std::int64_t first, int distance, warp_tally<Warp>& came) const {
    using Numbers = lanes_t<Warp, std::uint32_t>;
    auto active = items;
    if (again) {
      active = active &
               (detail::numbers_of<Warp>(warp, warp.load(items, status + first,
                                                         table_status::none)) == Numbers(no_room));
      if (!warp.any(active)) return;
    }
    const auto key = warp.load(active, arrays.keys + first, key_type{});
    lanes_t<Warp, value_type> value(value_type{});
    if (arrays.given != nullptr) value = warp.load(active, arrays.given + first, value_type{});
    Numbers kind(static_cast<std::uint32_t>(operation));
    if (arrays.operations != nullptr)
      kind = warp.map([](table_operation o) { return static_cast<std::uint32_t>(o); },
                      warp.load(active, arrays.operations + first, table_operation::find));
    auto left = warp.first(0);
    if (distance > 0)
      left = crowd(warp, active, at.subtree, first, distance) & (kind != Numbers(find));
    const auto result = lanewise::select(
        left, typename Warp::template lanes<table_status>(table_status::no_room),
        tree.operate_in(warp, active & !left, at.root, seen, kind, key, value, combine,
                        distance > 0 ? std::uint32_t{patience} : detail::endless_patience));
    const auto number = detail::numbers_of<Warp>(warp, result);
    if (arrays.found != nullptr)
      warp.store(active & (number == Numbers(static_cast<std::uint32_t>(table_status::found))),
                 arrays.found + first, value);
    if (status != nullptr) warp.store(active, status + first, result);
    if (tally != nullptr || lacking != nullptr) came.add(warp, active, number);
  }
  /// The lanes whose items are left to be merged.
  template <class Warp, class Mask, class Numbers>
  LANEWISE_FUNCTION auto crowd(const Warp& warp, Mask active, const Numbers& subtree,
                               std::int64_t first, int distance) const {
    using mask = mask_t<Warp, std::uint32_t>;
    const auto lane = warp.lane();
    const auto before = (lane > 0u) & (subtree == warp.shuffle_up(subtree, 1));
    const auto after = (lane < Warp::width - 1u) & (subtree == warp.shuffle_down(subtree, 1));
    if (!warp.any(active & (before | after))) return mask(warp.first(0));
    const auto item = warp.map([first](std::uint32_t l) { return first + std::int64_t{l}; }, lane);
    return mask(kernels::is_crowded<Warp>(warp, active, tree, arrays.keys, arrays.n, subtree, item,
                                          distance));
  }
};

// How many nodes n insertions take at most, whatever their keys are.
//
// A split of a full node leaves kept = u + 1 elements in the lower half and u in the upper one. Let
// a node with c elements weigh max(c - u, 0). An insertion adds at most 1 to the weight of all
// leaves, and a split takes u of it, from u + 1 to 1. So n insertions into leaves that weigh w
// together split at most (n + w) / u times. Erasures only take weight. The same holds for inner
// nodes, where a child is an element, and a split one level below is an insertion. A split takes
// one more node, and two where a root is split, whose halves become its children. A thread that
// splits a node holds its lock before it takes another one, so that insertions at the same time
// waste none.

/// u insertions need a node at least, so that more of them than this fit into no tree.
template <class Table>
void expects_insertions(const char* name, std::int64_t insertions) {
  using layout = typename Table::layout;
  constexpr std::int64_t most = Table::most_nodes * std::int64_t{layout::most - layout::kept};
  detail::expects(insertions >= 0, name, ": insertions is ", insertions, ", less than 0");
  detail::expects(insertions <= most, name, ": insertions is ", insertions, ", the most is ", most);
}
/// The nodes that insertions may need in a tree that was just built: a root is split after most -
/// fill + 1 insertions, and weighs fill - u <= u, so that s <= n / u other leaves are split. A root
/// above them has 2u - 1 more children before it is split, so that inner nodes are at most s (1 +
/// 2 / (2u - 1)) / (u - 1).
template <class Table>
std::int64_t nodes_for(std::int64_t insertions, std::int64_t roots) {
  using layout = typename Table::layout;
  constexpr std::int64_t u = layout::most - layout::kept;
  static_assert(u >= 3 && Table::fill <= 2 * u);
  const std::int64_t first = lanewise::divide_up(insertions, layout::most - Table::fill + 1);
  const std::int64_t later = lanewise::divide_up(insertions, u);
  return 2 * std::min(first, roots) + later + lanewise::divide_up(3 * later, 2 * (u - 1)) + 2;
}
/// The nodes that insertions may need in a tree that was changed: every node on the way to an
/// insertion may be full. Of e such nodes each is split once, and weighs 1 afterwards. All levels
/// together there are at most (n + e (u + 1)) / (u - 1) splits: one in 2u - 1, and the first e, are
/// a root's.
template <class Table>
std::int64_t nodes_for_more(std::int64_t insertions, std::int64_t roots, std::int64_t used) {
  using layout = typename Table::layout;
  constexpr std::int64_t u = layout::most - layout::kept;
  // Inner nodes have u children or more, roots two: this bounds the number of their levels.
  const std::int64_t split_off = used - roots;
  std::int64_t levels = 0;
  for (std::int64_t reach = 1; reach < split_off; reach *= u) ++levels;
  const std::int64_t full = std::min(insertions, used) + std::min(insertions * levels, split_off);
  const std::int64_t splits = lanewise::divide_up(insertions + full * (u + 1), u - 1);
  return splits + lanewise::divide_up(splits, 2 * u - 1) + full + 2;
}
/// Makes the tree one of the `elements` elements of a source, with nodes for `insertions`
/// insertions. It has nodes for more than a quarter of the leaves in any case.
template <class Exec, class Table, class Source>
void build_btree(const Exec& exec, const char* name, Table& tree, std::int64_t elements,
                 const Source& source, std::int64_t insertions) {
  kernels::expects_insertions<Table>(name, insertions);
  const std::int64_t roots =
      std::max(divide_up(elements, std::int64_t{Table::fill}), std::int64_t{1});
  Table fresh =
      kernels::make_btree<Table>(exec, name, elements, source,
                                 std::max(kernels::nodes_for<Table>(insertions, roots), roots / 4));
  exec.fence("Lanewise::btree: the nodes are written");
  tree = std::move(fresh);
}
/// Makes it one of its own elements.
template <class Exec, class Table>
void rebuild_btree(const Exec& exec, const char* name, Table& tree, std::int64_t insertions,
                   workspace_ref work) {
  btree_leaves<Exec, Table> leaves(exec, tree, work, name);
  leaves.count(exec);
  kernels::build_btree(exec, name, tree, leaves.elements(), leaves.lines(), insertions);
}

/// An operation on all items of a tree that does not grow.
template <class Exec, class Table, class Combine, class Options>
void btree_call(const Exec& exec, const Table& tree, table_operation operation,
                const table_arrays<Table>& arrays, const Combine& combine, const Options& options) {
  using kernel = btree_kernel<Table, Combine>;
  lanewise::launch(exec, "Lanewise::btree::operate",
                   kernels::league_for_windows<kernel>(exec, arrays.n),
                   kernel{tree.view(), combine, operation, arrays, options.status.data(),
                          options.tally.data(), nullptr, false, nullptr});
}
/// A tree while a call works on what is there: an empty one if it has no memory.
template <class Exec, any_btree Tree>
class table_reader<Exec, Tree> {
 public:
  table_reader(const Exec& exec, const char* name, const Tree& tree) : tree_(tree) {
    using elements = table_as_lines<typename Tree::key_type, typename Tree::mapped_type>;
    if (tree.roots() == 0) empty_ = kernels::make_btree<Tree>(exec, name, 0, elements{}, 0);
  }
  const Tree& table() const { return tree_.roots() == 0 ? empty_ : tree_; }

 private:
  const Tree& tree_;
  Tree empty_;
};
/// Whether `items` items that meet in the same leaves are merged with these at once: fewer are
/// waited for. A merge costs a GPU about 20 launches, and reads and writes the least keys of all
/// roots.
template <class Table>
bool is_crowd(const Table& tree, std::int64_t items) {
  return items >= 1 << 13 && items >= tree.roots() / 64;
}
struct put_status {
  table_status* status;
  const std::uint32_t* item;
  const table_status* came;
  LANEWISE_FUNCTION void operator()(std::int64_t, std::uint32_t i) const {
    status[item[i]] = came[i];
  }
};
struct has_no_room {
  const table_status* status;
  LANEWISE_FUNCTION bool operator()(const std::uint32_t& i) const {
    return status[i] == table_status::no_room;
  }
};
/// Puts the items that have the status no_room into the tree, all at once.
template <class Exec, class Table, class Bulk>
void merge_items_left(const Exec& exec, const char* name, Table& tree,
                      const table_arrays<Table>& of, table_status* status, std::int64_t n,
                      const btree_options& options, const Bulk& bulk) {
  const bool has_statuses = options.status.is_given() || options.tally.is_given();
  using key_type = typename Table::key_type;
  using value_type = kernels::table_value<Table>;
  workspace_layout parts;
  const auto numbers = parts.add<std::uint32_t>(n);
  const auto keys = parts.add<key_type>(n);
  const auto values = parts.add<value_type>(of.given == nullptr ? 0 : n);
  const auto kinds = parts.add<table_operation>(of.operations == nullptr ? 0 : n);
  const auto statuses = parts.add<table_status>(has_statuses ? n : 0);
  auto work = call_workspace::make<backend_of<Exec>>(exec, nullptr, parts.size(), name);
  const auto item = numbers.template view<Exec>(work.get());
  const auto came = statuses.template view<Exec>(work.get());
  (void)lanewise::select_if(exec, lanewise::generated(of.n, number_of_item{}), item,
                            has_no_room{status});
  table_arrays<Table> left;
  left.n = n;
  const auto take = [&]<class T>(const T* from, const workspace_array<T>& at) {
    const auto to = at.template view<Exec>(work.get());
    lanewise::transform(exec, item, to, item_at<T>{from});
    return to.data();
  };
  left.keys = take(of.keys, keys);
  if (of.given != nullptr) left.given = left.found = take(of.given, values);
  if (of.operations != nullptr) left.operations = take(of.operations, kinds);
  const auto put = [&](auto& all) {
    bulk(all, left, has_statuses ? table_options{.status = came} : table_options{});
  };
  while (!kernels::merge_into_leaves(exec, name, tree, left.keys, n, put)) {
    kernels::rebuild_btree(exec, name, tree, n, nullptr);
    if (left.given != nullptr) (void)take(of.given, values);
  }
  if (has_statuses) {
    lanewise::transform(exec, generated(n, number_of_item{}),
                        lanewise::consumed(n, put_status{status, item.data(), came.data()}),
                        identity{});
    kernels::tally_statuses(exec, came.data(), n, options.tally.data());
  }
  exec.fence("Lanewise::btree: the items left are in");
}
/// An operation on all items. Items that meet many others in their leaves are merged, and items
/// without room have their turn when the tree has grown.
template <class Exec, class Table, class Combine, class Bulk>
void btree_call_and_grow(const Exec& exec, const char* name, Table& tree, table_operation operation,
                         const table_arrays<Table>& arrays, const Combine& combine,
                         const btree_options& options, const Bulk& bulk) {
  using kernel = btree_kernel<Table, Combine>;
  table_status* status = options.status.data();
  const std::size_t own = status == nullptr ? static_cast<std::size_t>(arrays.n) : 0;
  auto work = call_workspace::make<backend_of<Exec>>(exec, options.work, {0, 64 + own}, name);
  char* const memory = static_cast<char*>(work.get().plain());
  auto* const lacking = reinterpret_cast<std::uint64_t*>(memory);
  std::uint64_t* const crowded = lacking + 1;
  if (own > 0) status = reinterpret_cast<table_status*>(memory + 64);
  bool leaves_crowds = kernels::is_crowd(tree, arrays.n);
  if (leaves_crowds) {
    using sampling = crowd_kernel<Table>;
    backend_of<Exec>::zero(exec, crowded, sizeof(std::uint64_t));
    lanewise::launch(exec, "Lanewise::btree::crowd",
                     kernels::league_for_windows<sampling>(exec, sampling::samples),
                     sampling{tree.view(), arrays.keys, arrays.n, crowded});
  }
  for (bool again = false;; again = true) {
    backend_of<Exec>::zero(exec, lacking, sizeof(std::uint64_t));
    lanewise::launch(exec, "Lanewise::btree::operate",
                     kernels::league_for_windows<kernel>(exec, arrays.n),
                     kernel{tree.view(), combine, operation, arrays, status, options.tally.data(),
                            lacking, again, leaves_crowds ? crowded : nullptr});
    std::uint64_t count = 0;
    detail::copy_to_host<std::uint64_t>(exec, &count, lacking);
    const auto left = static_cast<std::int64_t>(count);
    if (left == 0) return;
    // A split takes two nodes at most: while two are left, items were left for their crowd.
    if (!leaves_crowds || kernels::nodes_in_use(exec, tree) + 2 > tree.capacity()) {
      // The workspace has the statuses.
      kernels::rebuild_btree(exec, name, tree, left, nullptr);
    } else if (kernels::is_crowd(tree, left)) {
      kernels::merge_items_left(exec, name, tree, arrays, status, left, options, bulk);
      return;
    } else {
      leaves_crowds = false;
    }
  }
}

}  // namespace kernels

/// The elements of a tree as an ordered table: a snapshot, and whatever bulk calls on these do.
///
/// Lists the leaves, sorts them by their least keys, and reads and writes every element once.
/// Nothing may be changing the tree. **Blocks.** Throws what allocations throw.
template <class Exec, any_btree Tree>
auto to_ordered(const Exec& exec, const Tree& tree, workspace_ref work = {}) {
  using ordered_type = typename Tree::ordered_type;
  kernels::btree_leaves<Exec, Tree> leaves(exec, tree, work, "to_ordered");
  leaves.count(exec);
  ordered_type result = kernels::make_table_of_lines<ordered_type>(
      exec, "to_ordered", leaves.elements(), leaves.lines());
  exec.fence("Lanewise::btree: the leaves are written");
  return result;
}

/// Makes the tree one of the elements of a table. It has room for at least `insertions` insertions
/// whatever their keys are, and spare nodes for a quarter of the leaves. Reads and writes every
/// element once. **Blocks.**
template <class Exec, any_btree Tree>
void build(const Exec& exec, Tree& tree, const typename Tree::ordered_type& elements,
           std::int64_t insertions = 0) {
  kernels::build_btree(
      exec, "build", tree, elements.size(),
      kernels::table_as_lines<typename Tree::key_type, typename Tree::mapped_type>{elements.view()},
      insertions);
}

namespace kernels {

/// A call that may put elements into a tree. Many items at once, relative to the number of
/// elements, are merged with these by `bulk(ordered table, arrays, options)`: the tree is written
/// once.
template <class Exec, class Table, class Combine, class Bulk>
void btree_growing_call(const Exec& exec, const char* name, Table& tree, table_operation operation,
                        const table_arrays<Table>& arrays, const Combine& combine,
                        const btree_options& options, const Bulk& bulk) {
  kernels::expects_options<Exec>(name, options, arrays.n);
  if (arrays.n == 0) return;
  if (options.grow && arrays.n > std::int64_t{tree.roots()} * Table::fill / 4) {
    auto all = lanewise::to_ordered(exec, tree, options.work);
    bulk(all, arrays, options);
    lanewise::build(exec, tree, all);
  } else if (options.grow) {
    kernels::btree_call_and_grow(exec, name, tree, operation, arrays, combine, options, bulk);
  } else {
    detail::expects(tree.roots() > 0, name, ": the tree has no memory; reserve gives it some");
    kernels::btree_call(exec, tree, operation, arrays, combine, options);
  }
}

}  // namespace kernels

/// Rebuilds the tree, with `fill` elements in each leaf, and with room for at least `insertions`
/// insertions. **Blocks**; nothing else may be using the tree.
template <class Exec, any_btree Tree>
void compact(const Exec& exec, Tree& tree, std::int64_t insertions = 0, workspace_ref work = {}) {
  kernels::rebuild_btree(exec, "compact", tree, insertions, work);
}
/// Makes room for `insertions` insertions, whatever their keys and their order are: none of the
/// next `insertions` operations that may insert (insert, assign, upsert) has the status no_room.
/// Operations that find their key count, too, as they split full nodes on their way. Call it before
/// each kernel that inserts. Rebuilds the tree unless the nodes to spare suffice. **Blocks**;
/// nothing else may be using the tree.
///
/// Memory, in nodes for each insertion, of a tree that is rebuilt: 0.7 with nodes of 15 slots, 1.6
/// with 7, 0.33 with 31. So much is needed where each leaf gets just enough to be split.
template <class Exec, any_btree Tree>
void reserve(const Exec& exec, Tree& tree, std::int64_t insertions, workspace_ref work = {}) {
  kernels::expects_insertions<Tree>("reserve", insertions);
  const std::int64_t used = kernels::nodes_in_use(exec, tree);
  const std::int64_t wanted = kernels::nodes_for_more<Tree>(insertions, tree.roots(), used);
  if (tree.roots() == 0 || tree.capacity() - used < wanted)
    kernels::rebuild_btree(exec, "reserve", tree, insertions, work);
}
/// Empties the tree and frees its memory.
template <class Exec, any_btree Tree>
void clear(const Exec& exec, Tree& tree) {
  exec.fence("Lanewise::btree: the tree is cleared");
  tree = Tree();
}

/// Puts pairs into a map, or keys into a set, unless the key is there. Of several items with one
/// key any one is put there.
///
/// keys and values are Views of the tree's types; values is std::nullopt for sets. A search and a
/// read and write of one node for each item; where there are more than a quarter of the elements,
/// one sort of the items and one read and write of everything. Throws std::invalid_argument on
/// wrong extents, Views with items and no memory, and options that cannot be reached; and what
/// allocations throw, with the items so far in the tree.
template <class Exec, any_btree Tree, class Keys, class Values = std::nullopt_t>
void insert(const Exec& exec, Tree& tree, const Keys& keys, const Values& values = std::nullopt,
            const btree_options& options = {}) {
  kernels::btree_growing_call(
      exec, "insert", tree, table_operation::insert,
      kernels::pairs_of<Exec, Tree>("insert", keys, values), detail::keep_given{}, options,
      [&](auto& all, const auto& a, const table_options& o) {
        kernels::change_by_key<kernels::insert_change>(exec, "insert", all, a, true, o);
      });
}
/// Puts pairs into a map; they replace the values of keys that are there. Of several items with one
/// key any one stays. As insert.
template <class Exec, any_btree Tree, class Keys, class Values>
void assign(const Exec& exec, Tree& tree, const Keys& keys, const Values& values,
            const btree_options& options = {}) {
  const auto arrays = kernels::pairs_of<Exec, Tree>("assign", keys, values);
  kernels::btree_growing_call(
      exec, "assign", tree, table_operation::assign, arrays, detail::keep_given{}, options,
      [&](auto& all, const auto& a, const table_options& o) {
        kernels::change_by_key<kernels::assign_change>(exec, "assign", all, a, true, o);
      });
}
/// Puts pairs into a map; where a key is there, its value becomes combine(value there, value
/// given). combine is a pure scalar function object, associative and commutative. As insert.
template <class Exec, any_btree Tree, class Keys, class Values, class Combine>
void upsert(const Exec& exec, Tree& tree, const Keys& keys, const Values& values,
            const Combine& combine, const btree_options& options = {}) {
  kernels::expects_combine<Exec, kernels::table_value<Tree>, Combine>();
  const auto arrays = kernels::pairs_of<Exec, Tree>("upsert", keys, values);
  kernels::btree_growing_call(exec, "upsert", tree, table_operation::combine, arrays, combine,
                              options, [&](auto& all, const auto& a, const table_options& o) {
                                kernels::combine_by_key(exec, all, a, combine, o);
                              });
}
/// Deletes keys. A search, and a read and write of one node for each item. Does not block.
template <class Exec, any_btree Tree, class Keys>
void erase(const Exec& exec, Tree& tree, const Keys& keys, const table_options& options = {}) {
  const auto arrays = kernels::arrays_of<Exec, Tree>("erase", keys);
  kernels::expects_options<Exec>("erase", options, arrays.n);
  if (arrays.n == 0) return;
  const kernels::table_reader<Exec, Tree> reader(exec, "erase", tree);
  kernels::btree_call(exec, reader.table(), table_operation::erase, arrays, detail::keep_given{},
                      options);
}
/// An operation of its own for every item: find, insert, assign, combine (with the function object)
/// or erase. values(i) is given, and returned by find. As insert.
template <class Exec, any_btree Tree, class Operations, class Keys, class Values,
          class Combine = detail::keep_given>
void apply(const Exec& exec, Tree& tree, const Operations& operations, const Keys& keys,
           const Values& values, const btree_options& options = {}, const Combine& combine = {}) {
  const auto arrays = kernels::arrays_of_apply<Exec, Tree>(operations, keys, values);
  kernels::btree_growing_call(exec, "apply", tree, table_operation::find, arrays, combine, options,
                              [&](auto& all, const auto& a, const table_options& o) {
                                kernels::apply_by_key(exec, all, a, combine, o);
                              });
}

/// How many elements there are: reads the states of all nodes. Nothing may be changing the tree.
/// **Blocks.**
template <class Exec, any_btree Tree>
std::int64_t size(const Exec& exec, const Tree& tree) {
  using layout = typename Tree::layout;
  const std::int64_t used = kernels::nodes_in_use(exec, tree);
  if (used == 0) return 0;
  return lanewise::reduce(
      exec, lanewise::generated(used, kernels::elements_of_node<layout>{tree.nodes()}), plus{},
      std::int64_t{0});
}

/// How a tree is filled.
struct btree_statistics {
  std::int64_t elements = 0;
  std::int64_t roots = 0;     ///< subtrees
  std::int64_t nodes = 0;     ///< in use
  std::int64_t capacity = 0;  ///< nodes that there is memory for
  int levels = 0;             ///< of the search tree over the roots
  std::int64_t bytes = 0;     ///< of all that
  double bytes_per_element = 0;
  double fill = 0;  ///< elements / slots of the nodes in use
};
/// **Blocks.**
template <class Exec, any_btree Tree>
btree_statistics statistics(const Exec& exec, const Tree& tree) {
  using layout = typename Tree::layout;
  btree_statistics s;
  s.elements = lanewise::size(exec, tree);
  s.roots = tree.roots();
  s.nodes = kernels::nodes_in_use(exec, tree);
  s.capacity = tree.capacity();
  s.levels = tree.roots() == 0 ? 0 : tree.tree().levels + 1;
  s.bytes = tree.bytes();
  if (s.elements > 0) {
    s.bytes_per_element = static_cast<double>(s.bytes) / static_cast<double>(s.elements);
    s.fill = static_cast<double>(s.elements) / static_cast<double>(s.nodes * layout::most);
  }
  return s;
}

LANEWISE_END_TARGET_NAMESPACE
