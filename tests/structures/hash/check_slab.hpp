// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/hash/slab_hash_map.hpp>
#include <lanewise/hash/slab_hash_multimap.hpp>
#include <lanewise/hash/slab_hash_set.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

// What the tests of slab tables share: kernels' frames, hashes, operations with their results on
// the host, contents.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// Small teams, so that a few items are enough for several of them.
struct two_warps : launch_policy {
  static constexpr int warps = 2;
};

/// A warp's number in the launch.
template <class Team>
LANEWISE_FUNCTION std::int64_t number_of_warp(const Team& team) {
  return std::int64_t{team.index()} * Team::warps + team.warp_index();
}

/// Calls f(number, active, round) for every 32 numbers below n that fall to the warp: they go round
/// all warps of the launch.
template <class Team, class F>
LANEWISE_FUNCTION void each_number(const Team& team, std::uint32_t n, const F& f) {
  const auto warp = team.warp();
  const auto first = static_cast<std::uint32_t>(number_of_warp(team) * 32);
  const auto step = static_cast<std::uint32_t>(team.league() * Team::warps * 32);
  for (std::uint32_t round = 0; first + round * step < n; ++round) {
    const auto number = warp.lane() + (first + round * step);
    f(number, number < n, round);
  }
}

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace test {

using lanewise::table_operation;
using lanewise::table_status;

/// All keys collide.
struct one_bucket {
  template <class Key>
  KOKKOS_FUNCTION std::uint32_t operator()(const Key&) const {
    return 0x12345678u;
  }
};
/// Keys from a small universe with all words that are states of a slot, and the names under which
/// those keys live.
template <class Key>
Key key_number(std::uint64_t i) {
  constexpr Key all = static_cast<Key>(~std::uint64_t{0});
  if (i < 5) return static_cast<Key>(all - i);
  if (i < 10) return static_cast<Key>(i - 5);
  return static_cast<Key>(i * 0x9E3779B97F4A7C15u >> (sizeof(Key) == 4 ? 16 : 3));
}

template <class T>
T value_number(std::uint64_t i) {
  return i % 11 == 0 ? static_cast<T>(~std::uint64_t{0} >> (sizeof(T) == 4 ? 32 : 0))
                     : static_cast<T>(i * 2654435761u);
}

/// n different keys out of `universe`.
template <class Key>
std::vector<Key> distinct_keys(random_engine& random, std::size_t n, std::uint64_t universe) {
  std::vector<std::uint64_t> numbers(universe);
  for (std::uint64_t i = 0; i < universe; ++i) numbers[i] = i;
  std::shuffle(numbers.begin(), numbers.end(), random);
  std::vector<Key> keys;
  for (std::size_t i = 0; i < std::min<std::size_t>(n, universe); ++i)
    keys.push_back(key_number<Key>(numbers[i]));
  return keys;
}

/// What a bulk call reported.
struct outcome {
  std::vector<table_status> status;
  lanewise::status_counts tally;
};

/// call(options), with its statuses and their tally, which must agree. with: what else the options
/// say.
template <class Call, class Options = lanewise::slab_options>
outcome reported(std::size_t n, const Call& call, Options with = {}) {
  const array<table_status> status(static_cast<std::int64_t>(n), table_status::none);
  const cell<lanewise::status_counts> tally;
  with.status = status.view();
  with.tally = tally.view();
  call(with);
  Kokkos::fence();
  outcome result{status.items(), tally.get()};
  REQUIRE(status.guards_intact());
  for (int s = 1; s < 8; ++s) {
    const auto times =
        std::count(result.status.begin(), result.status.end(), static_cast<table_status>(s));
    REQUIRE(result.tally.count[s] == static_cast<std::uint64_t>(times));
  }
  return result;
}

/// Collects what for_each visits.
template <class Key, class Value>
struct collector {
  Key* keys;
  Value* values;
  std::uint32_t* n;
  std::uint32_t room;
  KOKKOS_FUNCTION void operator()(const Key& key, const Value& value) const {
    const std::uint32_t i = Kokkos::atomic_fetch_add(n, 1u);
    if (i < room) {
      keys[i] = key;
      values[i] = value;
    }
  }
  KOKKOS_FUNCTION void operator()(const Key& key) const { (*this)(key, Value{}); }
};

/// All elements, sorted.
template <class Exec, class Table>
auto contents(const Exec& exec, const Table& table) {
  using key = typename Table::key_type;
  using value = typename Table::view_type::value_type;
  const auto n = lanewise::statistics(exec, table).elements;
  const array<key> keys(n, key{});
  const array<value> values(n, value{});
  const cell<std::uint32_t> visited;
  lanewise::for_each(exec, table,
                     collector<key, value>{keys.data(), values.data(), visited.data(),
                                           static_cast<std::uint32_t>(n)});
  exec.fence();
  REQUIRE(visited.get() == n);
  const auto k = keys.items();
  const auto v = values.items();
  std::vector<std::pair<key, value>> all;
  for (std::size_t i = 0; i < k.size(); ++i) all.emplace_back(k[i], v[i]);
  std::sort(all.begin(), all.end());
  return all;
}

/// The slabs that lists have and the units that the pool has given out are the same ones.
template <class Exec, class Table>
void check_no_leak(const Exec& exec, const Table& table) {
  const auto s = lanewise::statistics(exec, table);
  CHECK(lanewise::usage(exec, table.pool()).allocated == s.slabs - (s.buckets + 1));
}

/// The instances to test concurrency on: of the emulated backend, many interleavings.
inline std::vector<space> concurrent_spaces([[maybe_unused]] int few, [[maybe_unused]] int many) {
  std::vector<space> spaces;
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  for (int s = 0; s < (full() ? many : few); ++s)
    spaces.emplace_back(seed() + static_cast<std::uint32_t>(s) * 7919u, 2 + s % 3, mode());
#else
  spaces.assign(full() ? 20 : 3, make_space());
#endif
  return spaces;
}

}  // namespace test
