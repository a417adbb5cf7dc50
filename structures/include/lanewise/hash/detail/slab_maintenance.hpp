// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/detail/slab_lists.hpp>

// Calls on whole slab tables that change no sizes: for_each, flush, clear.

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

struct flush_action : stateless_action {
  template <class Sub, class Walk, class View>
  LANEWISE_FUNCTION void operator()(const Sub&, const Walk& walk, nothing&, const View& table,
                                    std::uint32_t bucket) const {
    walk.flush(table.units(), table.head(bucket));
  }
};

struct clear_action : stateless_action {
  template <class Sub, class Walk, class View>
  LANEWISE_FUNCTION void operator()(const Sub&, const Walk& walk, nothing&, const View& table,
                                    std::uint32_t bucket) const {
    walk.clear(table.units(), table.head(bucket));
  }
};

/// f(key, value) for every element.
template <class Key, class Value, class F>
struct visit_action : stateless_action {
  F f;
  explicit visit_action(const F& g) : f(g) {}

  template <class Sub, class Walk, class View>
  LANEWISE_FUNCTION void operator()(const Sub& sub, const Walk& walk, nothing&, const View& table,
                                    std::uint32_t bucket) const {
    using word = typename Walk::word;
    for (slab_unit* s = table.head(bucket); s != nullptr; s = walk.next(table.units(), s)) {
      walk.visit(s, [&](const auto& exists, auto keys, auto values) {
        sub.each(
            exists,
            [&](word& k, word& v) {
              const Key key = table.where().template key_of<Key>(bucket, k);
              if constexpr (std::is_void_v<Value>) {
                f(key);
              } else {
                f(key, detail::from_word<Value>(v));
              }
            },
            keys, values);
      });
    }
  }
};

}  // namespace kernels

/// Calls f(key, value), or f(key) for a set, for every element, in any order and by many threads.
/// No kernel may be changing the table. Reads all slabs. Does not block.
template <class Exec, any_slab_table Table, class F>
void for_each(const Exec& exec, const Table& table, const F& f) {
  using key = typename Table::key_type;
  using value = typename Table::mapped_type;
  constexpr bool fitting = [] {
    if constexpr (std::is_void_v<value>) {
      return detail::fits<Exec, void, F, key>();
    } else {
      return detail::fits<Exec, void, F, key, value>();
    }
  }();
  static_assert(fitting,
                "lanewise::for_each: f is a function object that is called with a key and its "
                "value, of a set with a key, and its operator() is const");
  if constexpr (fitting)
    kernels::for_lists(exec, "Lanewise::slab_hash::for_each", table,
                       kernels::visit_action<key, value, F>(f));
}

/// Closes the gaps that deletions have left: every list then has as few slabs as it needs. Gives
/// the other slabs back to the pool. Not to run beside any other operation on the table, reading
/// ones included. Reads all slabs, writes those with gaps. Does not block. (Ashkiani, 5.3: FLUSH.)
template <class Exec, any_slab_table Table>
void flush(const Exec& exec, Table& table) {
  kernels::for_lists(exec, "Lanewise::slab_hash::flush", table, kernels::flush_action{});
}

/// Removes all elements; the pool keeps its size. Not to run beside any other operation on the
/// table. Does not block.
template <class Exec, any_slab_table Table>
void clear(const Exec& exec, Table& table) {
  kernels::for_lists(exec, "Lanewise::slab_hash::clear", table, kernels::clear_action{});
  table.set_taken(0);
}

LANEWISE_END_TARGET_NAMESPACE
