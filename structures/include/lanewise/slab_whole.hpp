// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/backend.hpp>
#include <lanewise/slab_hash_table.hpp>

#include <algorithm>

// Calls on whole slab tables: for_each, flush, clear, rehash, statistics, size, reserve, and the
// growth of a table. Sub-warps take lists, each for itself.

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

template <class Exec, class Table>
constexpr void expects_reachable_table() {
  static_assert(Kokkos::SpaceAccessibility<typename Exec::memory_space,
                                           typename Table::memory_space>::accessible,
                "lanewise: this execution space cannot reach the memory of a slab table");
}

/// Calls action(sub, walk, bucket) for every list, by sub-warps that have it for themselves.
template <class View, class Action>
struct slab_lists_kernel {
  struct policy : launch_policy {};
  template <class Team>
  struct scratch {};

  View table;
  Action action;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int width = warp_type::line_width;
    constexpr int parts = warp_type::width / width;
    const auto warp = team.warp();
    const std::int64_t id = std::int64_t{team.index()} * Team::warps + team.warp_index();
    const std::int64_t lists = std::int64_t{table.buckets()} + 1;
    const index_range mine = even_share(lists, id, std::int64_t{team.league()} * Team::warps);
    const auto lane = warp.lane();
    warp.template split<width>([&](const auto& sub) {
      using sub_type = std::decay_t<decltype(sub)>;
      const std::int64_t part = sub.broadcast(sub.take(lane), 0) / width;
      const detail::slab_walk<typename View::layout, sub_type> walk(sub);
      auto local = action.begin(sub, static_cast<std::uint64_t>(id * parts + part));
      for (std::int64_t b = mine.begin + part; b < mine.end; b += parts)
        action(sub, walk, local, table, static_cast<std::uint32_t>(b));
      action.end(sub, local);
    });
  }
};

/// Actions have a state for each sub-warp, made by begin and handed to end.
struct stateless_action {
  struct nothing {};
  template <class Sub>
  LANEWISE_FUNCTION nothing begin(const Sub&, std::uint64_t) const {
    return {};
  }
  template <class Sub>
  LANEWISE_FUNCTION void end(const Sub&, const nothing&) const {}
};

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
      walk.visit(s, [&](const auto& there, auto keys, auto values) {
        sub.each(
            there,
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
      walk.visit(s, [&](const auto& there, const auto& names, auto values) {
        const auto keys =
            sub.map([&](word k) { return from.where().template key_of<Key>(bucket, k); }, names);
        // One by one, or a lane that sees a newer slab than the lane before could overtake it:
        // equal keys keep their order.
        const auto status = to.operate(sub, resident, there, to.locate(sub, there, keys), values,
                                       detail::same_operation<slab_operation::add, !View::unique>{},
                                       detail::keep_given{});
        const int left =
            sub.count(there & (status == static_cast<std::uint32_t>(slab_status::no_room)));
        if (left != 0) sub.fetch_add(*lacking, static_cast<std::uint64_t>(left));
      });
    }
  }
};

struct statistics_action {
  static constexpr int lengths = 8;
  std::uint64_t* slabs;  // slabs, elements, deleted, longest, and lists by their length

  struct counts {
    std::uint64_t slabs = 0, elements = 0, taken = 0, longest = 0;
    std::uint64_t lists[lengths] = {};
  };
  template <class Sub>
  LANEWISE_FUNCTION counts begin(const Sub&, std::uint64_t) const {
    return {};
  }
  template <class Sub, class Walk, class View>
  LANEWISE_FUNCTION void operator()(const Sub& sub, const Walk& walk, counts& c, const View& table,
                                    std::uint32_t bucket) const {
    using layout = typename View::layout;
    std::uint64_t length = 0;
    for (slab_unit* s = table.head(bucket); s != nullptr; s = walk.next(table.units(), s)) {
      ++length;
      walk.visit(s, [&](const auto& there, const auto& keys, const auto&) {
        c.elements += static_cast<std::uint64_t>(sub.count(there));
        c.taken += static_cast<std::uint64_t>(
            sub.count(there | (keys == static_cast<typename Walk::word>(layout::deleted))));
      });
    }
    c.slabs += length;
    c.longest = length > c.longest ? length : c.longest;
    LANEWISE_UNROLL
    for (std::uint64_t l = 1; l < lengths; ++l) c.lists[l - 1] += length == l;
    c.lists[lengths - 1] += length >= lengths;
  }
  template <class Sub>
  LANEWISE_FUNCTION void end(const Sub& sub, const counts& c) const {
    sub.fetch_add(slabs[0], c.slabs);
    sub.fetch_add(slabs[1], c.elements);
    sub.fetch_add(slabs[2], c.taken - c.elements);
    for (int l = 0; l < lengths; ++l) sub.fetch_add(slabs[4 + l], c.lists[l]);
    std::uint64_t seen = sub.load(slabs[3]);
    while (seen < c.longest) {
      const std::uint64_t before = sub.compare_exchange(slabs[3], seen, c.longest);
      if (before == seen) break;
      seen = before;
    }
  }
};

template <class Exec, class Table, class Action>
void for_lists(const Exec& exec, const char* label, const Table& table, const Action& action) {
  expects_reachable_table<Exec, Table>();
  using kernel = slab_lists_kernel<typename Table::view_type, Action>;
  using team = team_t<Exec, typename kernel::policy>;
  const std::int64_t lists = std::int64_t{table.buckets()} + 1;
  const auto league = backend_of<Exec>::template resident_league<kernel>(
      exec, divide_up(lists, team::warps * (warp_t<Exec>::width / warp_t<Exec>::line_width)));
  launch(exec, label, league, kernel{table.view(), action});
}

/// Counters that a kernel adds to and the host then reads.
template <class Exec, int n>
struct counters {
  Kokkos::View<std::uint64_t[n], typename Exec::memory_space> view{"Lanewise::slab::counters"};

  std::uint64_t* data() const { return view.data(); }
  Kokkos::Array<std::uint64_t, n> read(const Exec& exec) const {
    exec.fence("Lanewise::slab: counters are read");
    Kokkos::Array<std::uint64_t, n> values{};
    Kokkos::deep_copy(
        Kokkos::View<std::uint64_t[n], Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(values.data()),
        view);
    return values;
  }
};

}  // namespace kernels

/// Calls f(key, value), or f(key) for a set, for every element, in any order and by many threads.
/// No kernel may be changing the table. Reads all slabs. Does not block.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash, class F>
void for_each(const Exec& exec, const slab_hash_table<Key, Value, kind, Memory, Hash>& table,
              const F& f) {
  constexpr bool fitting = [] {
    if constexpr (std::is_void_v<Value>) {
      return detail::fits<Exec, void, F, Key>();
    } else {
      return detail::fits<Exec, void, F, Key, Value>();
    }
  }();
  static_assert(fitting,
                "lanewise::for_each: f is a function object that is called with a key and its "
                "value, of a set with a key, and its operator() is const");
  if constexpr (fitting)
    kernels::for_lists(exec, "Lanewise::slab_hash::for_each", table,
                       kernels::visit_action<Key, Value, F>(f));
}

/// Closes the gaps that deletions have left, so that every list has as few slabs as it needs, and
/// gives the others back to the pool. Not to run beside any other operation on the table, reading
/// ones included. Reads all slabs, writes those with gaps. Does not block. (Ashkiani, 5.3: FLUSH.)
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash>
void flush(const Exec& exec, slab_hash_table<Key, Value, kind, Memory, Hash>& table) {
  kernels::for_lists(exec, "Lanewise::slab_hash::flush", table, kernels::flush_action{});
}

/// Removes all elements; the pool keeps its size. Not to run beside any other operation on the
/// table. Does not block.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash>
void clear(const Exec& exec, slab_hash_table<Key, Value, kind, Memory, Hash>& table) {
  kernels::for_lists(exec, "Lanewise::slab_hash::clear", table, kernels::clear_action{});
  table.set_taken(0);
}

namespace kernels {

/// Moves all elements into as many lists, with a pool of `units` units, or more if they need more.
template <class Exec, class Table>
void move_to_lists(const Exec& exec, Table& table, std::int64_t buckets, std::int64_t units) {
  for (;; units *= 2) {
    Table larger(exec, {.buckets = buckets, .units = units}, table.hash());
    const counters<Exec, 1> lacking;
    for_lists(exec, "Lanewise::slab_hash::rehash", table,
              move_action<typename Table::key_type, typename Table::view_type>{larger.view(),
                                                                               lacking.data()});
    if (lacking.read(exec)[0] == 0) return table.take_lists(std::move(larger));
  }
}

}  // namespace kernels

/// Moves all elements into as many lists as given. Not to run beside any other operation on the
/// table. Needs the memory of both tables. **Blocks.** Throws std::invalid_argument where there
/// cannot be so many lists.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash>
void rehash(const Exec& exec, slab_hash_table<Key, Value, kind, Memory, Hash>& table,
            std::int64_t buckets) {
  constexpr auto most = slab_table_options::most_buckets;
  detail::expects(buckets > 0 && buckets <= most, "rehash: buckets is ", buckets,
                  ", it must be 1 to ", most);
  kernels::move_to_lists(exec, table, buckets, table.pool().units());
}

/// How the table is filled. No kernel may be changing it. Reads all slabs. **Blocks.**
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash>
slab_statistics statistics(const Exec& exec,
                           const slab_hash_table<Key, Value, kind, Memory, Hash>& table) {
  using layout = typename slab_hash_table<Key, Value, kind, Memory, Hash>::layout;
  constexpr int lengths = kernels::statistics_action::lengths;
  const kernels::counters<Exec, 4 + lengths> counted;
  kernels::for_lists(exec, "Lanewise::slab_hash::statistics", table,
                     kernels::statistics_action{counted.data()});
  const auto c = counted.read(exec);
  slab_statistics s;
  s.buckets = table.buckets();
  s.slabs = static_cast<std::int64_t>(c[0]);
  s.elements = static_cast<std::int64_t>(c[1]);
  s.deleted = static_cast<std::int64_t>(c[2]);
  s.longest = static_cast<std::int64_t>(c[3]);
  for (int l = 0; l < lengths; ++l) s.lists[l] = static_cast<std::int64_t>(c[4 + l]);
  s.units = table.pool().units();
  s.load = static_cast<double>(s.elements) / static_cast<double>(table.places());
  s.utilisation = static_cast<double>(s.elements * layout::element_bytes) /
                  static_cast<double>(s.slabs * static_cast<std::int64_t>(sizeof(slab_unit)));
  return s;
}

/// How many elements there are, equal keys of a multimap each for itself. No kernel may be changing
/// the table. Reads all slabs: nothing counts the elements that kernels put there, as the number
/// would be one word that all warps add to. **Blocks.**
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash>
std::int64_t size(const Exec& exec, const slab_hash_table<Key, Value, kind, Memory, Hash>& table) {
  return statistics(exec, table).elements;
}

/// Makes room for `expected` elements in all, for kernels that insert: as many lists as a table
/// made for so many has, unless buckets were given, and a pool that is enough whatever the keys
/// are, also if they all share one list. Deleted elements whose places are not free yet have room
/// beside them; where they are more than the elements, the table is flushed. Where there is all
/// that, nothing changes; neither lists nor pool ever become smaller.
///
/// The pool has a unit for every slab that expected elements fill: 0.65 per list at the default
/// load, where a table that is made for them begins with 0.125. Insertions that come to the end of
/// one list at a time have a unit each for a moment, so that a pool that is full but for those can
/// still have none for an insertion; it finds one when it is tried again.
///
/// Not to run beside any other operation on the table. Reads all slabs, and moves all elements if
/// there have to be more lists, which needs the memory of both tables. **Blocks.** Throws
/// std::invalid_argument where there cannot be so many elements. Whatever it throws, the table is
/// as before.
template <class Exec, class Key, class Value, slab_keys kind, class Memory, class Hash>
void reserve(const Exec& exec, slab_hash_table<Key, Value, kind, Memory, Hash>& table,
             std::int64_t expected) {
  using table_type = slab_hash_table<Key, Value, kind, Memory, Hash>;
  constexpr std::int64_t per_slab = table_type::layout::elements;
  constexpr std::int64_t most = table_type::allocator_type::most_units * per_slab;
  detail::expects(expected >= 0 && expected <= most, "reserve: expected is ", expected,
                  ", it must be 0 to ", most);
  slab_statistics s = statistics(exec, table);
  const std::int64_t lists =
      table.load() > 0 ? detail::lists_for("reserve: expected", expected, table.load(), per_slab)
                       : 0;
  if (lists > table.buckets()) {
    const std::int64_t units = divide_up(expected, per_slab);
    kernels::move_to_lists(exec, table, lists, std::max(units, table.pool().units()));
    return table.set_taken(s.elements);
  }
  if (s.deleted > s.elements) {
    flush(exec, table);
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
std::int64_t places_before_long(const Table& table) {
  return static_cast<std::int64_t>(std::max(3.0, 2 * table.load()) *
                                   static_cast<double>(table.places()));
}

/// The lists that a table needs for so many elements.
template <class Table>
std::int64_t lists_for(const Table& table, std::int64_t elements) {
  return detail::lists_for("slab_hash_table: the number of elements", elements, table.load(),
                           Table::layout::elements);
}

template <class Exec, class Table>
void grow_table(const Exec& exec, Table& table, std::int64_t units) {
  table.pool().expects_growth(units);
  if (table.load() > 0) {
    const slab_statistics s = statistics(exec, table);
    const std::int64_t all = s.elements + units * Table::layout::elements;
    if (all > places_before_long(table)) {
      move_to_lists(exec, table, lists_for(table, all), table.pool().units() + units);
      return table.set_taken(s.elements);
    }
    table.set_taken(s.elements + s.deleted);
  }
  table.grow_pool(exec, units);
}

}  // namespace kernels

LANEWISE_END_TARGET_NAMESPACE

LANEWISE_BEGIN_NAMESPACE

template <class Key, class Value, slab_keys kind_, class MemorySpace, class Hash>
template <class Exec, class Target>
void slab_hash_table<Key, Value, kind_, MemorySpace, Hash>::grow(const Exec& exec,
                                                                 std::int64_t units) {
  kernels::grow_table(exec, *this, units);
}

LANEWISE_END_NAMESPACE
