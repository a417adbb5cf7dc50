// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/lsm/detail/lsm_calls.hpp>
#include <lanewise/lsm/lsm_dictionary.hpp>

#include <cstdint>
#include <limits>

// What LSMs are asked: find, contains, predecessor, successor, size, statistics. lsm_ranges.hpp has
// count and range.

LANEWISE_BEGIN_NAMESPACE

/// Options of queries.
struct lsm_query_options {
  /// Memory for temporaries; without it the call allocates in the order of its instance.
  workspace_ref work = {};
  /// Receives what came of every query.
  option_view<table_status> status = {};
  /// Whether count and range may merge all levels into memory of their own first, where what the
  /// queries cover is more than all levels have.
  bool may_merge = true;
};

/// What there is in a dictionary.
struct lsm_statistics {
  std::int64_t levels = 0;
  std::int64_t elements = 0;    ///< in all levels, stale ones and tombstones included
  std::int64_t tombstones = 0;  ///< of these
  std::int64_t bytes = 0;       ///< of all levels
};

LANEWISE_END_NAMESPACE

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

struct lsm_query_policy : launch_policy {
  static constexpr int teams_per_multiprocessor = 5;
  static constexpr int host_teams_per_thread = 16;
};

template <class Key, class Value>
struct lsm_find_kernel {
  using policy = lsm_query_policy;
  template <class Team>
  struct scratch {};

  lsm_view<Key, Value> map;
  const Key* keys;
  Value* values;         // null for none
  table_status* status;  // null for none
  bool* is_there;        // null for none
  std::int64_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    kernels::lsm_for_windows(
        team, n, [&](const warp_type& warp, const auto& exists, std::int64_t begin) {
          const auto key = warp.load(exists, keys + begin, Key{});
          lanes_t<warp_type, Value> value;
          const auto came = map.find(warp, exists, key, value);
          const auto hit = warp.map(
              [](table_status s) -> std::uint32_t { return s == table_status::found; }, came);
          if (values != nullptr) warp.store(hit != 0u, values + begin, value);
          if (status != nullptr) warp.store(exists, status + begin, came);
          if (is_there != nullptr)
            warp.store(exists, is_there + begin,
                       warp.map([](std::uint32_t h) { return h != 0; }, hit));
        });
  }
};

template <bool upwards, class Key, class Value>
struct lsm_neighbour_kernel {
  using policy = lsm_query_policy;
  template <class Team>
  struct scratch {};

  lsm_view<Key, Value> map;
  const Key* queries;
  Key* keys;
  Value* values;
  table_status* status;  // null for none
  bool strict;
  std::int64_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    kernels::lsm_for_windows(
        team, n, [&](const warp_type& warp, const auto& exists, std::int64_t begin) {
          auto key = warp.load(exists, queries + begin, Key{});
          lanes_t<warp_type, Value> value;
          const auto came = upwards ? map.successor(warp, exists, key, value, strict)
                                    : map.predecessor(warp, exists, key, value, strict);
          const auto hit =
              warp.map([](table_status s) -> std::uint32_t { return s == table_status::found; },
                       came) != 0u;
          warp.store(hit, keys + begin, key);
          warp.store(hit, values + begin, value);
          if (status != nullptr) warp.store(exists, status + begin, came);
        });
  }
};

/// Counts what is there, in pieces of the largest level, one for each lane.
template <class Key, class Value>
struct lsm_size_kernel {
  using policy = lsm_query_policy;
  static constexpr std::int64_t each = 32;
  template <class Team>
  struct scratch {};

  lsm_view<Key, Value> map;
  std::uint64_t* total;
  std::int64_t pieces;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    detail::lsm_cursor<Key, Value> all;
    const int largest = map.open_all(all);
    kernels::lsm_for_windows(
        team, pieces, [&](const auto& warp, const auto& exists, std::int64_t begin) {
          const auto many = warp.map(
              exists,
              [&](std::uint32_t l) {
                return map.piece(all, largest, (begin + l) * each, each, 0,
                                 [](std::int64_t, const Key&, int, std::int64_t) {});
              },
              std::int64_t{0}, warp.lane());
          const auto sum = static_cast<std::uint64_t>(warp.reduce(many, plus{}));
          if (sum != 0) warp.template fetch_add<order::relaxed>(*total, sum);
        });
  }
};

/// The statuses of n queries, or null.
template <class Exec>
table_status* lsm_statuses(const char* name, const lsm_query_options& options, std::int64_t n) {
  options.status.template expects_reachable<Exec>(name, "options.status", 0);
  detail::expects(!options.status.is_given() || options.status.extent() >= n, name,
                  ": options.status has ", options.status.extent(), " places, there are ", n,
                  " queries");
  return options.status.data();
}

template <bool upwards, class Exec, class Map, class Queries, class Keys, class Values>
void lsm_neighbours(const Exec& exec, const char* name, const char* label, const Map& map,
                    const Queries& queries, const Keys& keys, const Values& values, bool strict,
                    const lsm_query_options& options) {
  using key = typename Map::key_type;
  using value = typename Map::mapped_type;
  kernels::lsm_expects_reachable<Exec, Map>();
  const auto in = kernels::array_of<const key, Exec>(name, "queries", queries);
  auto* to = kernels::array_of<key, Exec>(name, "keys", keys, in.extent);
  auto* values_to = kernels::array_of<value, Exec>(name, "values", values, in.extent);
  auto* status = kernels::lsm_statuses<Exec>(name, options, in.extent);
  map.used_by(exec);
  if (in.extent > 0)
    kernels::lsm_launch(exec, label, in.extent,
                        lsm_neighbour_kernel<upwards, key, value>{
                            map.view(), in.data, to, values_to, status, strict, in.extent});
}

}  // namespace kernels

/// values(i) = the value of keys(i) where it is there; other values are left as they are.
///
/// For n keys: O(n levels log elements) work, floor(log2 elements) + 1 loads in each level until
/// the key is met. Does not block. Throws std::invalid_argument on wrong extents, Views with items
/// and no memory, and options that cannot be reached. (Ashkiani, 4.3.)
template <execution_space Exec, class Key, class Value, class Memory, lsm_growth growth, class Keys,
          class Values>
void find(const Exec& exec, const lsm_dictionary<Key, Value, Memory, growth>& map, const Keys& keys,
          const Values& values, const lsm_query_options& options = {}) {
  using map_type = lsm_dictionary<Key, Value, Memory, growth>;
  kernels::lsm_expects_reachable<Exec, map_type>();
  const auto in = kernels::array_of<const Key, Exec>("find", "keys", keys);
  auto* found = kernels::array_of<Value, Exec>("find", "values", values, in.extent);
  auto* status = kernels::lsm_statuses<Exec>("find", options, in.extent);
  map.used_by(exec);
  if (in.extent > 0)
    kernels::lsm_launch(exec, "Lanewise::lsm::find", in.extent,
                        kernels::lsm_find_kernel<Key, Value>{map.view(), in.data, found, status,
                                                             nullptr, in.extent});
}

/// is_there(i) = whether keys(i) is there; a View of bool. Cost and errors as find.
template <execution_space Exec, class Key, class Value, class Memory, lsm_growth growth, class Keys,
          class Flags>
void contains(const Exec& exec, const lsm_dictionary<Key, Value, Memory, growth>& map,
              const Keys& keys, const Flags& is_there, const lsm_query_options& options = {}) {
  using map_type = lsm_dictionary<Key, Value, Memory, growth>;
  kernels::lsm_expects_reachable<Exec, map_type>();
  const auto in = kernels::array_of<const Key, Exec>("contains", "keys", keys);
  auto* flags = kernels::array_of<bool, Exec>("contains", "is_there", is_there, in.extent);
  auto* status = kernels::lsm_statuses<Exec>("contains", options, in.extent);
  map.used_by(exec);
  if (in.extent > 0)
    kernels::lsm_launch(exec, "Lanewise::lsm::contains", in.extent,
                        kernels::lsm_find_kernel<Key, Value>{map.view(), in.data, nullptr, status,
                                                             flags, in.extent});
}

/// keys(i), values(i) = the pair with the greatest key <= queries(i); both are left as they are
/// where there is none, which options.status says. keys may be queries.
///
/// One search in every level; then keys whose newest element is a tombstone are stepped over one by
/// one. So a query at the end of a long range of erased keys takes as long as the range, until
/// cleanup. Does not block. Errors as find.
template <execution_space Exec, class Key, class Value, class Memory, lsm_growth growth,
          class Queries, class Keys, class Values>
void predecessor(const Exec& exec, const lsm_dictionary<Key, Value, Memory, growth>& map,
                 const Queries& queries, const Keys& keys, const Values& values,
                 const lsm_query_options& options = {}) {
  kernels::lsm_neighbours<false>(exec, "predecessor", "Lanewise::lsm::predecessor", map, queries,
                                 keys, values, false, options);
}
/// As `predecessor`, for the greatest key < queries(i).
template <execution_space Exec, class Key, class Value, class Memory, lsm_growth growth,
          class Queries, class Keys, class Values>
void strict_predecessor(const Exec& exec, const lsm_dictionary<Key, Value, Memory, growth>& map,
                        const Queries& queries, const Keys& keys, const Values& values,
                        const lsm_query_options& options = {}) {
  kernels::lsm_neighbours<false>(exec, "strict_predecessor", "Lanewise::lsm::predecessor", map,
                                 queries, keys, values, true, options);
}
/// As `predecessor`, for the least key >= queries(i).
template <execution_space Exec, class Key, class Value, class Memory, lsm_growth growth,
          class Queries, class Keys, class Values>
void successor(const Exec& exec, const lsm_dictionary<Key, Value, Memory, growth>& map,
               const Queries& queries, const Keys& keys, const Values& values,
               const lsm_query_options& options = {}) {
  kernels::lsm_neighbours<true>(exec, "successor", "Lanewise::lsm::successor", map, queries, keys,
                                values, false, options);
}
/// As `predecessor`, for the least key > queries(i).
template <execution_space Exec, class Key, class Value, class Memory, lsm_growth growth,
          class Queries, class Keys, class Values>
void strict_successor(const Exec& exec, const lsm_dictionary<Key, Value, Memory, growth>& map,
                      const Queries& queries, const Keys& keys, const Values& values,
                      const lsm_query_options& options = {}) {
  kernels::lsm_neighbours<true>(exec, "strict_successor", "Lanewise::lsm::successor", map, queries,
                                keys, values, true, options);
}

/// How many keys there are. Merges all levels without writing them: O(elements) work. **Blocks.**
template <execution_space Exec, class Key, class Value, class Memory, lsm_growth growth>
std::int64_t size(const Exec& exec, const lsm_dictionary<Key, Value, Memory, growth>& map,
                  const lsm_query_options& options = {}) {
  using namespace kernels;
  using kernel = lsm_size_kernel<Key, Value>;
  kernels::lsm_expects_reachable<Exec, lsm_dictionary<Key, Value, Memory, growth>>();
  if (map.is_clean()) return map.elements();
  map.used_by(exec);
  using backend = backend_of<Exec>;
  auto work = call_workspace::make<backend>(exec, options.work, {0, sizeof(std::uint64_t)}, "size");
  auto* const total = static_cast<std::uint64_t*>(work.get().plain());
  backend::zero(exec, total, sizeof *total);
  std::int64_t largest = 0;
  for (const auto& r : map.runs()) largest = largest < r.level.size() ? r.level.size() : largest;
  const std::int64_t pieces = lanewise::divide_up(largest, kernel::each);
  kernels::lsm_launch(exec, "Lanewise::lsm::size", pieces, kernel{map.view(), total, pieces});
  std::uint64_t all = 0;
  detail::copy_to_host<std::uint64_t>(exec, &all, total);
  return static_cast<std::int64_t>(all);
}

/// What the dictionary is made of. Counts bits where levels have tombstones. **Blocks.**
template <execution_space Exec, class Key, class Value, class Memory, lsm_growth growth>
lsm_statistics statistics(const Exec& exec, const lsm_dictionary<Key, Value, Memory, growth>& map,
                          const lsm_query_options& options = {}) {
  kernels::lsm_expects_reachable<Exec, lsm_dictionary<Key, Value, Memory, growth>>();
  map.used_by(exec);
  lsm_statistics s;
  s.levels = map.levels();
  s.elements = map.elements();
  for (const auto& r : map.runs()) s.bytes += static_cast<std::int64_t>(r.memory->bytes());
  s.tombstones = kernels::lsm_tombstones(exec, map.view().all(), options.work);
  return s;
}

LANEWISE_END_TARGET_NAMESPACE
