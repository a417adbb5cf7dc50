// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/slab_bulk.hpp>
#include <lanewise/sequence/scan.hpp>

LANEWISE_BEGIN_NAMESPACE

/// A slab_hash_map in which a key may stand any number of times. Elements with one key keep the
/// order in which they were inserted: find and erase take the oldest, find_all goes from old to
/// new. (The paper says so too, but lets insertions fill the holes of deletions, with which it is
/// not true; here holes stay until flush.)
///
/// insert adds; erase_all, count and find_all treat all elements of a key.
template <class Key, class Value, class MemorySpace, class Hash = slab_hash<Key>>
using slab_hash_multimap =
    slab_hash_table<Key, Value, key_multiplicity::repeated, MemorySpace, Hash>;

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE

namespace kernels {

/// values(offsets(i)), values(offsets(i) + 1), ... = the values of keys(i), old to new, as far as
/// there is room.
template <class View, class Key>
struct collect_body {
  using value = typename View::value_type;

  View table;
  const Key* keys;
  const std::int64_t* offsets;
  value* values;
  std::int64_t extent;

  template <class Warp, class Mask>
  LANEWISE_FUNCTION void operator()(const Warp& warp, const Mask& active,
                                    std::int64_t first) const {
    const auto key = warp.load(active, keys + first, Key{});
    auto next = warp.load(active, offsets + first, std::int64_t{0});
    table.find_all(
        warp, active, key, next,
        [this](const auto& sub, int lane, const auto& found, const auto& which, auto& cursor) {
          const auto chosen = sub.ballot(found);
          const std::int64_t begin = sub.broadcast(cursor, lane);
          const auto index = sub.map(
              [chosen, begin](auto below) {
                return begin + std::decay_t<decltype(sub)>::popcount(chosen & below);
              },
              sub.lanes_below());
          sub.scatter(found & (index < extent), values, index, which);
          const auto me = sub.lane() == static_cast<std::uint32_t>(lane);
          cursor = lanewise::select(
              me, std::decay_t<decltype(cursor)>(begin + sub.popcount(chosen)), cursor);
        });
  }
};

}  // namespace kernels

/// Deletes all elements with the keys. Cost and errors as find. Does not block.
template <class Exec, repeated_slab_table Table, class Keys,
          detail::slab_options_type Options = slab_options>
void erase_all(const Exec& exec, Table& table, const Keys& keys, const Options& options = {}) {
  kernels::slab_call<detail::same_operation<table_operation::erase_all>>(
      exec, "Lanewise::slab_hash::erase_all", "erase_all", table,
      kernels::arrays_of<Exec, Table>("erase_all", keys), detail::keep_given{}, false, options);
}

/// numbers(i) = how many elements have the key keys(i). Cost and errors as find. Does not block.
template <class Exec, repeated_slab_table Table, class Keys, class Numbers,
          detail::slab_options_type Options = slab_options>
void count(const Exec& exec, const Table& table, const Keys& keys, const Numbers& numbers,
           const Options& options = {}) {
  auto arrays = kernels::arrays_of<Exec, Table>("count", keys);
  arrays.numbers = kernels::array_of<std::uint32_t, Exec>("count", "numbers", numbers, arrays.n);
  kernels::slab_call<detail::same_operation<table_operation::count>>(
      exec, "Lanewise::slab_hash::count", "count", const_cast<Table&>(table), arrays,
      detail::keep_given{}, false, options);
}

/// All values of all keys: values(offsets(i)) ... values(offsets(i + 1) - 1) are those of keys(i),
/// old to new. offsets has one entry more than keys. Where values has fewer places than there are
/// results, the first are written; the last offset counts all of them.
///
/// Twice the work of count, and a scan. No kernel may be changing the table. Does not block. Throws
/// as find.
template <class Exec, repeated_slab_table Table, class Keys, class Offsets, class Values>
void find_all(const Exec& exec, const Table& table, const Keys& keys, const Offsets& offsets,
              const Values& values, workspace* work = nullptr) {
  using backend = backend_of<Exec>;
  using body = kernels::collect_body<typename Table::view_type, typename Table::key_type>;
  auto arrays = kernels::arrays_of<Exec, Table>("find_all", keys);
  const std::int64_t n = arrays.n;
  const auto begins = kernels::array_of<std::int64_t, Exec>("find_all", "offsets", offsets);
  detail::expects(begins.extent > n, "find_all: offsets has ", begins.extent, " items, keys has ",
                  n, ", offsets needs one more");
  const auto found =
      kernels::array_of<typename Table::mapped_type, Exec>("find_all", "values", values);

  const workspace_size scan = lanewise::scan_workspace<std::int64_t, Exec>(n + 1);
  const std::size_t numbers_bytes = (static_cast<std::size_t>(n + 1) * 4 + 63) / 64 * 64;
  auto temporary = call_workspace::make<backend>(
      exec, work, {scan.tickets, numbers_bytes + scan.bytes}, "find_all");
  arrays.numbers = static_cast<std::uint32_t*>(temporary.get().plain());
  backend::zero(exec, arrays.numbers + n, sizeof(std::uint32_t));
  kernels::slab_call<detail::same_operation<table_operation::count>>(
      exec, "Lanewise::slab_hash::count", "find_all", const_cast<Table&>(table), arrays,
      detail::keep_given{}, false, slab_options{});
  const auto numbers = array_source<std::uint32_t, identity>{arrays.numbers, n + 1, {}};
  kernels::scan<true, kernels::scan_policy<std::int64_t>>(
      exec, "Lanewise::slab_hash::scan", "find_all", detail::as<std::int64_t>(numbers),
      array_sink<std::int64_t>{begins.data, n + 1}, plus{}, std::int64_t{0}, item_count{n + 1},
      &temporary.get(), numbers_bytes, {scan.tickets, numbers_bytes + scan.bytes});
  kernels::launch_windows(exec, "Lanewise::slab_hash::find_all", n,
                          body{table.view(), arrays.keys, begins.data, found.data, found.extent});
}

LANEWISE_END_TARGET_NAMESPACE
