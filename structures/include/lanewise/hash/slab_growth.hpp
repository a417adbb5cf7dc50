// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/detail/slab_estimate.hpp>
#include <lanewise/hash/detail/slab_maintenance.hpp>

#include <algorithm>

// How slab tables get more lists and units: rehash, reserve, slab_hash_table::grow, and what bulk
// calls do where items find no room.

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// Puts every element into another table, whose keys it cannot have yet.
template <class Key, class View>
struct move_action {
  View to;
  std::uint64_t* lacking;

  template <class Sub>
  LANEWISE_FUNCTION slab_resident<Sub> begin(const Sub& sub, std::uint64_t id) const {
    return {sub, id};
  }
  template <class Sub>
  LANEWISE_FUNCTION void end(const Sub&, const slab_resident<Sub>&) const {}

  template <class Sub, class Walk>
  LANEWISE_FUNCTION void operator()(const Sub& sub, const Walk& walk, slab_resident<Sub>& resident,
                                    const View& from, std::uint32_t bucket) const {
    using word = typename Walk::word;
    for (slab_unit* s = from.head(bucket); s != nullptr; s = walk.next(from.units(), s)) {
      walk.visit(s, [&](const auto& exists, const auto& names, auto values) {
        const auto keys =
            sub.map([&](word k) { return from.where().template key_of<Key>(bucket, k); }, names);
        // One by one, or a lane that sees a newer slab than the lane before could overtake it:
        // equal keys keep their order.
        const auto status = to.operate(
            sub, resident, exists, to.locate(sub, exists, keys), values,
            detail::same_operation<table_operation::add, !View::unique>{}, detail::keep_given{});
        const int left =
            sub.count(exists & (status == static_cast<std::uint32_t>(table_status::no_room)));
        if (left != 0) sub.fetch_add(*lacking, static_cast<std::uint64_t>(left));
      });
    }
  }
};

/// Moves all elements into as many lists, with a pool of `units` units, or more if they need more.
template <class Exec, class Table>
void move_to_lists(const Exec& exec, Table& table, std::int64_t buckets, std::int64_t units) {
  for (;; units *= 2) {
    Table larger(exec, {.buckets = buckets, .units = units}, table.hash());
    const counters<Exec> lacking(exec);
    kernels::for_lists(exec, "Lanewise::slab_hash::rehash", table,
                       move_action<typename Table::key_type, typename Table::view_type>{
                           larger.view(), lacking.data()});
    if (lacking.read(exec)[0] == 0) return table.take_lists(std::move(larger));
  }
}

}  // namespace kernels

/// Moves all elements into as many lists as given. Not to run beside any other operation on the
/// table. Needs the memory of both tables. **Blocks.** Throws std::invalid_argument where there
/// cannot be `buckets` lists.
template <class Exec, any_slab_table Table>
void rehash(const Exec& exec, Table& table, std::int64_t buckets) {
  constexpr auto most = slab_table_options::most_buckets;
  detail::expects(buckets > 0 && buckets <= most, "rehash: buckets is ", buckets,
                  ", it must be 1 to ", most);
  kernels::move_to_lists(exec, table, buckets, table.pool().units());
}

/// Makes room for `expected` elements in all, for kernels that insert. The table gets the number of
/// lists that a table made for `expected` elements has, unless buckets were given. Its pool is
/// enough whatever the keys are, also if they all share one list. Deleted elements whose slots are
/// not free yet have room beside them; where they are more than the elements, the table is flushed.
/// Where there is all that, nothing changes; neither lists nor pool ever become smaller.
///
/// The pool has a unit for every slab that expected elements fill: 0.65 per list at the default
/// load, where a table that is made for them begins with 0.125. Insertions that come to the end of
/// one list at a time have a unit each for a moment. So a pool that is full but for those can still
/// have none for an insertion; it finds one when it is tried again.
///
/// Not to run beside any other operation on the table. Reads all slabs, and moves all elements if
/// there have to be more lists, which needs the memory of both tables. **Blocks.** Throws
/// std::invalid_argument where there cannot be `expected` elements. Whatever it throws, the table
/// is as before.
template <class Exec, any_slab_table Table>
void reserve(const Exec& exec, Table& table, std::int64_t expected) {
  constexpr std::int64_t per_slab = Table::layout::elements;
  constexpr std::int64_t most = Table::allocator_type::most_units * per_slab;
  detail::expects(expected >= 0 && expected <= most, "reserve: expected is ", expected,
                  ", it must be 0 to ", most);
  slab_statistics s = lanewise::statistics(exec, table);
  const std::int64_t lists =
      table.load() > 0 ? detail::lists_for("reserve: expected", expected, table.load(), per_slab)
                       : 0;
  if (lists > table.buckets()) {
    const std::int64_t units = divide_up(expected, per_slab);
    kernels::move_to_lists(exec, table, lists, std::max(units, table.pool().units()));
    return table.set_taken(s.elements);
  }
  if (s.deleted > s.elements) {
    lanewise::flush(exec, table);
    s.deleted = 0;
  }
  const std::int64_t units = divide_up(expected + s.deleted, per_slab) - table.pool().units();
  if (units > 0) table.grow_pool(exec, units);
  table.set_taken(s.elements + s.deleted);
}

namespace kernels {

/// Places that the elements of a table may take before its lists become too long: three times those
/// of the first slabs.
template <class Table>
std::int64_t slots_before_long(const Table& table) {
  return static_cast<std::int64_t>(std::max(3.0, 2 * table.load()) *
                                   static_cast<double>(table.slots()));
}

/// The lists that a table needs for `elements` elements.
template <class Table>
std::int64_t lists_for(const Table& table, std::int64_t elements) {
  return detail::lists_for("slab_hash_table: the number of elements", elements, table.load(),
                           Table::layout::elements);
}

template <class Exec, class Table>
void grow_table(const Exec& exec, Table& table, std::int64_t units) {
  table.pool().expects_growth(units);
  if (table.load() > 0) {
    const slab_statistics s = lanewise::statistics(exec, table);
    const std::int64_t all = s.elements + units * Table::layout::elements;
    if (all > kernels::slots_before_long(table)) {
      kernels::move_to_lists(exec, table, kernels::lists_for(table, all),
                             table.pool().units() + units);
      return table.set_taken(s.elements);
    }
    table.set_taken(s.elements + s.deleted);
  }
  table.grow_pool(exec, units);
}

/// Makes the lists of a table shorter that chooses how many it has. Their number becomes what it
/// needs, if its elements and `coming` further ones are too many. Lists become free of gaps if more
/// elements were deleted than are there. Returns whether anything was done.
template <class Exec, class Table>
bool shorten_lists(const Exec& exec, Table& table, std::int64_t coming) {
  const slab_statistics s = lanewise::statistics(exec, table);
  const std::int64_t all = s.elements + coming;
  table.set_taken(all + s.deleted);
  if (all > kernels::slots_before_long(table)) {
    lanewise::rehash(exec, table, kernels::lists_for(table, all));
  } else if (s.deleted > s.elements) {
    lanewise::flush(exec, table);
  } else {
    return false;
  }
  table.set_taken(all);  // deleted ones count until they are gone: both calls may throw
  return true;
}

/// How many items a call works on at a time. Their keys may all be the same, so lists for all of
/// them could be too many.
template <class Table>
std::int64_t items_at_a_time(const Table& table) {
  constexpr std::int64_t least = 1 << 16;
  return std::max(least, 2 * table.slots());
}

/// Lists for all that n keys may bring, where that is much more than there is: otherwise a table
/// that begins with few lists is moved to three times as many again and again. Keys that may be
/// there already wait until lists are long. Returns how many elements may come, about.
template <class Exec, class Table>
std::int64_t make_lists_for(const Exec& exec, const char* name, Table& table,
                            const typename Table::key_type* keys, std::int64_t n) {
  if (n <= kernels::items_at_a_time(table)) return n;
  const std::int64_t coming =
      Table::view_type::unique ? kernels::different_keys(exec, name, keys, n) : n;
  const std::int64_t stored = lanewise::statistics(exec, table).elements;
  const std::int64_t all = stored + coming;
  if (coming > 2 * stored && all > kernels::slots_before_long(table)) {
    const std::int64_t lists = kernels::lists_for(table, all);
    kernels::move_to_lists(exec, table, lists, std::max(table.pool().units(), lists / 8));
    table.set_taken(stored);
  }
  return coming;
}

/// Room for items that have found none: shorter lists, or a larger pool.
template <class Exec, class Table>
void make_room(const Exec& exec, Table& table, std::int64_t lacking) {
  if (table.load() > 0 && kernels::shorten_lists(exec, table, lacking)) return;
  // Enough for what is lacking if it is spread evenly, and at least half of what there is: units of
  // a pool that is almost full take long to find.
  constexpr std::int64_t elements = Table::layout::elements;
  table.grow_pool(exec, std::max(lacking / elements + 1, table.pool().units() / 2));
}

}  // namespace kernels

LANEWISE_END_TARGET_NAMESPACE

LANEWISE_BEGIN_NAMESPACE

template <class Key, class Value, key_multiplicity kind_, class MemorySpace, class Hash>
template <class Exec, class Target>
void slab_hash_table<Key, Value, kind_, MemorySpace, Hash>::grow(const Exec& exec,
                                                                 std::int64_t units) {
  kernels::grow_table(exec, *this, units);
}

LANEWISE_END_NAMESPACE
