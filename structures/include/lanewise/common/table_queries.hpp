// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/detail/table_call.hpp>

#include <type_traits>

// Bulk queries on tables in order: ordered tables, B+ trees and LSMs. They do not block unless they
// return something.

LANEWISE_BEGIN_NAMESPACE

/// An ordered table, a B+ tree or an LSM. The view of one says how many teams its queries'
/// registers are for, and has what table_query_kernel calls.
template <class Table>
concept table_in_order = requires {
  Table::view_type::teams_of_queries;
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// A query for each of n keys. query(warp, table, active, at, first, key) stores what comes out for
/// items first + lane, and returns statuses. `at` is what view.locate<Query::right> found out in
/// advance: hosts wait for the memory of several windows of keys at once.
template <class View, class Query>
struct table_query_kernel {
  using policy = window_policy<View::teams_of_queries>;
  template <class Team>
  struct scratch {};

  using key_type = typename View::key_type;

  View table;
  Query query;
  const key_type* keys;
  std::int64_t n;
  table_status* status;  // null for none

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr int ahead = Team::windows_in_flight, width = warp_type::width;
    const auto warp = team.warp();
    const auto mine = team.share(divide_up(n, std::int64_t{width}));
    for (std::int64_t w = mine.begin + team.warp_index() * ahead; w < mine.end;
         w += Team::warps * ahead) {
      lanes_t<warp_type, key_type> key[ahead];
      typename View::template located<warp_type> at[ahead];
      LANEWISE_UNROLL
      for (int a = 0; a < ahead; ++a)
        key[a] = warp.load(items_of(warp, mine, w + a), keys + (w + a) * width, key_type{});
      table.template locate<Query::right, ahead>(warp, key, at);
      LANEWISE_UNROLL
      for (int a = 0; a < ahead; ++a)
        window(warp, items_of(warp, mine, w + a), at[a], (w + a) * width, key[a]);
    }
  }

 private:
  template <class Warp>
  LANEWISE_FUNCTION auto items_of(const Warp& warp, const index_range& mine,
                                  std::int64_t window) const {
    return warp.first(window < mine.end ? n - window * Warp::width : std::int64_t{0});
  }
  template <class Warp, class Mask, class Located, class Keys>
  LANEWISE_FUNCTION void window(const Warp& warp, const Mask& active, const Located& at,
                                std::int64_t first, const Keys& key) const {
    const auto result = query(warp, table, active, at, first, key);
    if (status != nullptr) warp.store(active, status + first, result);
  }
};

/// A table while a call reads it.
template <class Exec, class Table>
class table_reader {
 public:
  table_reader(const Exec& exec, const char*, const Table& table) : table_(table) {
    if constexpr (requires { table.used_by(exec); }) table.used_by(exec);
  }
  const Table& table() const { return table_; }

 private:
  const Table& table_;
};

/// Statuses that are counted need memory: the counts would take registers of all queries.
template <class Exec, class Table, class Query>
void query_table(const Exec& exec, const char* name, const Table& table,
                 const table_arrays<Table>& arrays, const Query& query,
                 const table_options& options) {
  using view = typename Table::view_type;
  using kernel = table_query_kernel<view, Query>;
  kernels::expects_options<Exec>(name, options, arrays.n);
  if (arrays.n == 0) return;
  const table_reader<Exec, Table> reader(exec, name, table);
  table_status* status = options.status.data();
  const bool needs_own = status == nullptr && options.tally.is_given();
  auto own = call_workspace::make<backend_of<Exec>>(
      exec, nullptr, {0, needs_own ? static_cast<std::size_t>(arrays.n) : 0}, name);
  if (needs_own) status = static_cast<table_status*>(own.get().plain());
  lanewise::launch(exec, Query::label, kernels::league_for_windows<kernel>(exec, arrays.n),
                   kernel{reader.table().view(), query, arrays.keys, arrays.n, status});
  kernels::tally_statuses(exec, status, arrays.n, options.tally.data());
}

/// Value is void where no values are stored.
template <class Value>
struct find_query {
  static constexpr const char* label = "Lanewise::table::find";
  static constexpr bool right = false;
  Value* values;
  template <class Warp, class View, class Active, class Located, class Keys>
  LANEWISE_FUNCTION auto operator()(const Warp& warp, const View& table, const Active& active,
                                    const Located& at, [[maybe_unused]] std::int64_t first,
                                    const Keys& key) const {
    lanes_t<Warp, typename View::value_type> value(typename View::value_type{});
    const auto result = table.find_at(warp, active, at, key, value);
    if constexpr (!std::is_void_v<Value>)
      warp.store(detail::lanes_with_hits<Warp>(warp, result), values + first, value);
    return result;
  }
};

struct contains_query : find_query<void> {
  static constexpr const char* label = "Lanewise::table::contains";
  bool* contained;
  template <class Warp, class View, class Active, class Located, class Keys>
  LANEWISE_FUNCTION auto operator()(const Warp& warp, const View& table, const Active& active,
                                    const Located& at, std::int64_t first, const Keys& key) const {
    const auto result = find_query<void>::operator()(warp, table, active, at, first, key);
    warp.store(active, contained + first,
               warp.map([](table_status s) { return s == table_status::found; }, result));
    return result;
  }
};

/// The next elements, forward or backward. Value is void where no values are stored.
template <bool forward, bool strict, class Key, class Value>
struct neighbour_query {
  static constexpr const char* label =
      forward ? "Lanewise::table::successor" : "Lanewise::table::predecessor";
  static constexpr bool right = forward == strict;
  Key* found;
  Value* values;
  template <class Warp, class View, class Active, class Located, class Keys>
  LANEWISE_FUNCTION auto operator()(const Warp& warp, const View& table, const Active& active,
                                    const Located& at, std::int64_t first, const Keys& key) const {
    lanes_t<Warp, Key> near(Key{});
    lanes_t<Warp, typename View::value_type> value(typename View::value_type{});
    const auto result =
        table.template neighbour_at<forward, strict>(warp, active, at, key, near, value);
    const auto hit = detail::lanes_with_hits<Warp>(warp, result);
    warp.store(hit, found + first, near);
    if constexpr (!std::is_void_v<Value>) warp.store(hit, values + first, value);
    return result;
  }
};

template <bool forward, bool strict, class Exec, class Table, class Keys, class Found, class Values>
void find_neighbours(const Exec& exec, const char* name, const Table& table, const Keys& keys,
                     const Found& found, const Values& values, const table_options& options) {
  using key = typename Table::key_type;
  using value = typename Table::view_type::value_type;
  using query = neighbour_query<forward, strict, key, stored_value<value, Values>>;
  const auto arrays = kernels::arrays_of<Exec, Table>(name, keys);
  key* const to = kernels::array_of<key, Exec>(name, "found", found, arrays.n);
  value* const values_to = kernels::array_of<value, Exec>(name, "values", values, arrays.n);
  kernels::query_table(exec, name, table, arrays, query{to, values_to}, options);
}

}  // namespace kernels

/// values(i) = the value of keys(i) where it is there, of a multimap that of the first element;
/// other values are left as they are, so that the caller chooses what they hold. values is
/// std::nullopt for sets, or where options.status and options.tally tell enough.
///
/// O(n log elements) work, for LSMs in each level: a search in a tree of lines of 64 bytes, and a
/// node or an element for each key. Does not block. Throws std::invalid_argument on wrong extents,
/// Views with items and no memory, and options that cannot be reached.
template <execution_space Exec, table_in_order Table, class Keys, class Values = std::nullopt_t>
void find(const Exec& exec, const Table& table, const Keys& keys,
          const Values& values = std::nullopt, const table_options& options = {}) {
  using value = typename Table::view_type::value_type;
  const auto arrays = kernels::arrays_of<Exec, Table>("find", keys);
  value* const found = kernels::array_of<value, Exec>("find", "values", values, arrays.n);
  kernels::query_table(exec, "find", table, arrays,
                       kernels::find_query<kernels::stored_value<value, Values>>{found}, options);
}

/// contained(i) = whether keys(i) is there; contained is a View of bool. Cost and errors as find.
template <execution_space Exec, table_in_order Table, class Keys, class Contained>
void contains(const Exec& exec, const Table& table, const Keys& keys, const Contained& contained,
              const table_options& options = {}) {
  const auto arrays = kernels::arrays_of<Exec, Table>("contains", keys);
  bool* const to = kernels::array_of<bool, Exec>("contains", "contained", contained, arrays.n);
  kernels::query_table(exec, "contains", table, arrays, kernels::contains_query{{nullptr}, to},
                       options);
}

/// found(i) and values(i) = the element with the least key that is not less than keys(i), of equal
/// keys the first. They are left as they are where there is none, which options.status says. found
/// may be keys. values is std::nullopt for sets, or where they are not wanted.
///
/// Cost and errors as find. LSMs then step over keys whose newest element is a tombstone, one by
/// one. So a query at the end of a long range of erased keys takes as long as the range, until
/// cleanup.
template <execution_space Exec, table_in_order Table, class Keys, class Found,
          class Values = std::nullopt_t>
void successor(const Exec& exec, const Table& table, const Keys& keys, const Found& found,
               const Values& values = std::nullopt, const table_options& options = {}) {
  kernels::find_neighbours<true, false>(exec, "successor", table, keys, found, values, options);
}
/// As `successor`, with the least key that is greater.
template <execution_space Exec, table_in_order Table, class Keys, class Found,
          class Values = std::nullopt_t>
void strict_successor(const Exec& exec, const Table& table, const Keys& keys, const Found& found,
                      const Values& values = std::nullopt, const table_options& options = {}) {
  kernels::find_neighbours<true, true>(exec, "strict_successor", table, keys, found, values,
                                       options);
}
/// As `successor`, with the greatest key that is not greater, of equal keys the last.
template <execution_space Exec, table_in_order Table, class Keys, class Found,
          class Values = std::nullopt_t>
void predecessor(const Exec& exec, const Table& table, const Keys& keys, const Found& found,
                 const Values& values = std::nullopt, const table_options& options = {}) {
  kernels::find_neighbours<false, false>(exec, "predecessor", table, keys, found, values, options);
}
/// As `successor`, with the greatest key that is less.
template <execution_space Exec, table_in_order Table, class Keys, class Found,
          class Values = std::nullopt_t>
void strict_predecessor(const Exec& exec, const Table& table, const Keys& keys, const Found& found,
                        const Values& values = std::nullopt, const table_options& options = {}) {
  kernels::find_neighbours<false, true>(exec, "strict_predecessor", table, keys, found, values,
                                        options);
}

LANEWISE_END_TARGET_NAMESPACE
