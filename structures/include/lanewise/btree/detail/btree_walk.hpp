// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/btree/detail/btree_node.hpp>
#include <lanewise/common/table_vocabulary.hpp>
#include <lanewise/data/memory.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// What a thread does in a B+ tree that others read and change at the same time.
//
// The tree is a forest: `roots` nodes whose number never changes, and over their least keys a
// static search tree, which says where a key belongs. A root that is full becomes an inner node
// with two children. So every subtree grows by itself, and the search tree stays as it is.
//
// Writers lock one node by the lowest bit of its state, and count in the state that they wrote it.
// Readers lock nothing: they read the state, the node, and the state again, and what they read
// counts if the state was the same and not locked. A writer decides by what it has read, and locks
// the node only if its state is still that. So an operation that changes nothing writes nothing,
// and one that does holds one lock, for as long as it takes to write a line.
//
// Where operations take effect (their linearisation points):
//
//   found, absent, present     when the leaf was read: between the two looks at its state
//   inserted, updated, erased  the store of the leaf's state that ends the write
//   no_room                    the pool was exhausted; nothing changed
//   successor, predecessor     when the leaf of the element found was read. Leaves on the way there
//                              had no such element when they were read, which was earlier
//   for_each                   leaf by leaf, each as it was at one moment
//
// A key that is there all the time is found, for this reason: the subtree that it belongs to never
// changes, and in it a key leaves a node only by a split. The split locks the node's parent for as
// long as it takes. A reader looks at the parent's state once more after it has read the child. If
// no split has begun, the child is the right one, and whole. Locks are taken from parent to child,
// and no thread waits that holds one: a thread that finds a lock taken lets go of its own and
// begins again.
//
// Memory orders. The exchange that takes a lock is acq_rel. The store that ends the write is a
// release, which the next look at the state acquires. Elements are stored relaxed after the
// exchange: it has been done where all threads see it before its result is known here, and the
// stores wait for the result. Readers acquire the elements, so that their second look at the state
// comes after them. A thread that wants to write a leaf reads it relaxed: the exchange that locks
// it is a second look, and comes after what it releases. If nothing is to be written after all, an
// exchange of the state by itself is that look.

/// The memory of a tree, as kernels have it.
template <class Layout>
struct btree_memory {
  typename Layout::node* nodes = nullptr;
  std::uint32_t capacity = 0;          ///< nodes that there is memory for
  std::uint32_t* allocated = nullptr;  ///< nodes that are in use
};

/// How long an operation other than find is tried: until it is done, or until it has begun again so
/// often, or is to split a full inner node. It then has the status no_room.
inline constexpr std::uint32_t endless_patience = ~0u;

template <class Layout, class Solo>
class btree_walk {
 public:
  using word = typename Layout::word;
  using node = typename Layout::node;
  static constexpr std::uint32_t none = ~0u;

  LANEWISE_FUNCTION explicit btree_walk(const btree_memory<Layout>& memory) : memory_(memory) {}

  /// A leaf, and where it is.
  struct leaf {
    node seen;
    std::uint32_t index;
    std::uint32_t parent = none;
    word parent_state = 0;
    bool has_lower = false, has_upper = false;  ///< in its subtree
    word lower = 0, upper = 0;                  ///< the keys that it may have
    bool acquired = true;                       ///< as it was read
    bool has_room = true;                       ///< false where a full inner node stays so

    LANEWISE_FUNCTION int count() const { return Layout::count(seen[Layout::state_at]); }
  };

  /// The leaf for keys of a subtree that are k, as it was at one moment; with `below`, for keys
  /// that are just below k.
  template <bool below = false>
  LANEWISE_FUNCTION leaf find_leaf(std::uint32_t root, word k) const {
    for (;;) {
      const leaf at = approach<below>(root, state(root), k, false, false, false);
      if (is_whole(at)) return at;
    }
  }

  /// An operation on the key k of a subtree, whose root was seen in a state. value is given, and
  /// returned: find gets what is there, insert what it found, erase what there was.
  template <class Combine>
  LANEWISE_FUNCTION table_status change(table_operation operation, std::uint32_t root, word seen,
                                        word k, word& value, const Combine& combine,
                                        std::uint32_t patience) const {
    for (std::uint32_t tried = 0;; seen = state(root), ++tried) {
      if (tried >= patience && operation != table_operation::find) return table_status::no_room;
      leaf at = approach<false>(root, seen, k, operation != table_operation::find,
                                needs_room(operation), patience == endless_patience);
      if (!at.has_room) return table_status::no_room;
      const word before = at.seen[Layout::state_at];
      const int i = Layout::template rank<false>(at.seen, k);
      const bool is_stored = Layout::is_at(at.seen, i, k);
      const word old = Layout::item(at.seen, i);
      const table_status wanted = outcome(operation, is_stored);
      if (wanted < table_status::inserted || wanted == table_status::present) {
        if (!is_whole(at)) continue;
        if (is_stored) value = old;
        return wanted;
      }
      if (wanted == table_status::inserted && at.count() == Layout::most) {
        if (!split(at)) return table_status::no_room;
        continue;
      }
      if (!lock(at.index, before)) continue;
      if (wanted == table_status::updated) {
        const word x = operation == table_operation::combine ? combine(old, value) : value;
        solo_.store(memory_.nodes[at.index][Layout::half + i], x);
      } else if (wanted == table_status::inserted) {
        write(at.index, Layout::with_element(at.seen, i, k, value));
      } else {
        write(at.index, Layout::without_element(at.seen, i));
        value = old;
      }
      const int more = wanted == table_status::inserted ? 1
                       : wanted == table_status::erased ? -1
                                                        : 0;
      unlock(at.index, Layout::written(Layout::with_count(before, at.count() + more)));
      return wanted;
    }
  }

 private:
  /// The leaf for keys, as another thread may have been writing it: it is good for is_whole or
  /// lock. changes: for lock rather than for is_whole. inserts: inner nodes that are full on the
  /// way are split, or, unless `splits`, end it.
  template <bool below>
  LANEWISE_FUNCTION leaf approach(std::uint32_t root, word seen, word k, bool changes, bool inserts,
                                  bool splits) const {
    leaf at;
    for (start(at, root);; seen = state(at.index)) {
      read(at, seen, changes);
      const word now = at.seen[Layout::state_at];
      const bool is_leaf = !Layout::is_inner(now);
      if (at.parent == none && is_leaf) return at;
      // The second look at the node comes before that at its parent: no split began before it.
      if (!is_whole(at) || (at.parent != none && state(at.parent) != at.parent_state)) {
        start(at, root);
      } else if (is_leaf) {
        return at;
      } else if (inserts && Layout::count(now) == Layout::most) {
        if (!splits || !split(at)) {
          at.has_room = false;
          return at;
        }
        start(at, root);
      } else {
        descend<below>(at, k);
      }
    }
  }
  /// Reads the node at the index, in the state that it was seen in, or a later one that is not
  /// locked.
  LANEWISE_FUNCTION void read(leaf& at, word before, bool changes) const {
    for (; (before & Layout::writing) != 0; before = state(at.index)) solo_.pause();
    at.acquired = !changes || Layout::is_inner(before);
    const node* const from = memory_.nodes + at.index;
    at.seen = solo_.broadcast(at.acquired ? solo_.load_acquire(from) : solo_.load_relaxed(from), 0);
    at.seen[Layout::state_at] = before;
  }
  /// Whether what was read is a node as it was at one moment.
  LANEWISE_FUNCTION bool is_whole(const leaf& at) const {
    const word now = at.acquired ? state(at.index)
                                 : solo_.template fetch_or<order::acq_rel>(state_of(at.index), 0);
    return now == at.seen[Layout::state_at];
  }

  static LANEWISE_FUNCTION table_status outcome(table_operation operation, bool is_stored) {
    switch (operation) {
      case table_operation::find:
        return is_stored ? table_status::found : table_status::absent;
      case table_operation::erase:
        return is_stored ? table_status::erased : table_status::absent;
      case table_operation::insert:
        return is_stored ? table_status::present : table_status::inserted;
      default:
        return is_stored ? table_status::updated : table_status::inserted;
    }
  }

  static LANEWISE_FUNCTION void start(leaf& at, std::uint32_t root) {
    at.index = root;
    at.parent = none;
    at.has_lower = at.has_upper = false;
  }
  /// From an inner node to the child.
  template <bool below>
  static LANEWISE_FUNCTION void descend(leaf& at, word k) {
    const int i = Layout::template rank<!below, 1>(at.seen, k);
    if (i > 0) {
      at.has_lower = true;
      at.lower = Layout::key(at.seen, i);
    }
    if (i + 1 < at.count()) {
      at.has_upper = true;
      at.upper = Layout::key(at.seen, i + 1);
    }
    at.parent = at.index;
    at.parent_state = at.seen[Layout::state_at];
    at.index = static_cast<std::uint32_t>(Layout::item(at.seen, i));
  }

  /// Halves a full node. False where there is no memory for that; else, whether it was halved or
  /// another thread was faster, the search is to begin again. A root moves both halves into
  /// children; the upper half of another node becomes its right neighbour. A parent has room: it
  /// would have been split on the way.
  LANEWISE_FUNCTION bool split(const leaf& at) const {
    const bool is_root = at.parent == none;
    if (!is_root && !lock(at.parent, at.parent_state)) return true;
    const word before = at.seen[Layout::state_at];
    if (!lock(at.index, before)) {
      if (!is_root) unlock(at.parent, at.parent_state);
      return true;
    }
    const std::uint32_t fresh = allocate(is_root ? 2 : 1);
    if (fresh == none) {
      unlock(at.index, before);
      if (!is_root) unlock(at.parent, at.parent_state);
      return false;
    }
    const node upper = Layout::upper_half(at.seen);
    if (is_root) {
      node lower = at.seen, root = at.seen;
      lower[Layout::state_at] = Layout::with_count(before & Layout::inner, Layout::kept);
      create(fresh, lower);
      create(fresh + 1, upper);
      root[1] = upper[0];
      root[Layout::half] = static_cast<word>(fresh);
      root[Layout::half + 1] = static_cast<word>(fresh + 1);
      write(at.index, root);
      unlock(at.index, Layout::written(Layout::with_count(before, 2) | Layout::inner));
    } else {
      create(fresh, upper);
      unlock(at.index, Layout::written(Layout::with_count(before, Layout::kept)));
      node parent = solo_.broadcast(solo_.load_relaxed(memory_.nodes + at.parent), 0);
      const int i = 1 + Layout::template rank<true, 1>(parent, upper[0]);
      parent = Layout::with_element(parent, i, upper[0], static_cast<word>(fresh));
      write(at.parent, parent);
      unlock(at.parent, Layout::written(parent[Layout::state_at]));
    }
    return true;
  }

  LANEWISE_FUNCTION word& state_of(std::uint32_t index) const {
    return memory_.nodes[index][Layout::state_at];
  }
  LANEWISE_FUNCTION word state(std::uint32_t index) const {
    return solo_.template load<order::acquire>(state_of(index));
  }
  LANEWISE_FUNCTION bool lock(std::uint32_t index, word seen) const {
    return solo_.template compare_exchange<order::acq_rel>(
               state_of(index), seen, static_cast<word>(seen | Layout::writing)) == seen;
  }
  LANEWISE_FUNCTION void unlock(std::uint32_t index, word state) const {
    solo_.template store<order::release>(state_of(index), state);
  }
  /// Stores all words of a node that is locked, and stays so.
  LANEWISE_FUNCTION void write(std::uint32_t index, node n) const {
    n[Layout::state_at] |= Layout::writing;
    create(index, n);
  }
  /// Writes a node that no other thread knows of yet.
  LANEWISE_FUNCTION void create(std::uint32_t index, const node& n) const {
    solo_.store_relaxed(memory_.nodes + index, typename Solo::template lanes<node>(n));
  }
  /// Some nodes in a row, or none.
  LANEWISE_FUNCTION std::uint32_t allocate(std::uint32_t count) const {
    // A thread that looks first does not count on when there are none.
    if (solo_.load(*memory_.allocated) + count > memory_.capacity) return none;
    const std::uint32_t first = solo_.fetch_add(*memory_.allocated, count);
    if (first + count <= memory_.capacity) return first;
    // The last node, where two were wanted, is in use from now on: as an empty leaf.
    for (std::uint32_t i = first; i < memory_.capacity; ++i) solo_.store(state_of(i), word{0});
    return none;
  }

  btree_memory<Layout> memory_;
  Solo solo_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
