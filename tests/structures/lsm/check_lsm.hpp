// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/lsm/lsm_map.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

// What the tests of LSMs share: a dictionary beside a std::map that is told the same, and all
// queries on both.

namespace test {

using lanewise::table_operation;
using lanewise::table_status;

template <class Key>
inline constexpr Key least_key = std::numeric_limits<Key>::min();
template <class Key>
inline constexpr Key greatest_key = std::numeric_limits<Key>::max();

/// Keys, operations and values of a batch.
template <class Key, class Value>
struct batch {
  std::vector<Key> keys;
  std::vector<Value> values;
  std::vector<table_operation> operations;
};

template <class Key, class Value>
using model = std::map<Key, Value>;

/// The rules: an erasure wins over insertions of its key, and of insertions the first.
template <class Key, class Value>
void apply_to(model<Key, Value>& m, const batch<Key, Value>& b) {
  model<Key, Value> inserted;
  for (std::size_t i = 0; i < b.keys.size(); ++i)
    if (b.operations[i] == table_operation::insert) inserted.emplace(b.keys[i], b.values[i]);
  for (const auto& [key, value] : inserted) m[key] = value;
  for (std::size_t i = 0; i < b.keys.size(); ++i)
    if (b.operations[i] == table_operation::erase) m.erase(b.keys[i]);
}

/// Gives a batch to a dictionary: by insert or erase where all operations are alike and `alone` is
/// true, else by apply.
template <class Map, class Key, class Value>
void apply_to(const space& exec, Map& map, const batch<Key, Value>& b, bool alone = true) {
  const array<Key> keys(b.keys);
  const array<Value> values(b.values);
  const array<table_operation> operations(b.operations);
  const auto erasures =
      std::count(b.operations.begin(), b.operations.end(), table_operation::erase);
  if (alone && erasures == 0) {
    lanewise::insert(exec, map, keys.const_view(), values.const_view());
  } else if (alone && erasures == static_cast<std::ptrdiff_t>(b.keys.size())) {
    lanewise::erase(exec, map, keys.const_view());
  } else {
    lanewise::apply(exec, map, operations.const_view(), keys.const_view(), values.const_view());
  }
  exec.fence();
  CHECK(keys.unchanged());
  CHECK(values.unchanged());
}

/// find and contains of these keys.
template <class Map, class Key, class Value>
void check_find(const space& exec, const Map& map, const model<Key, Value>& m,
                const std::vector<Key>& probes) {
  const auto n = static_cast<std::int64_t>(probes.size());
  const array<Key> keys(probes);
  const array<Value> values(n, Value{});
  const array<table_status> status(n, table_status::none);
  const Kokkos::View<bool*, memory> there("there", probes.size());
  lanewise::find(exec, map, keys.const_view(), values.view(), {.status = status.view()});
  lanewise::contains(exec, map, keys.const_view(), there);
  exec.fence();
  const auto is_there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
  const auto found = values.items();
  const auto came = status.items();
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const auto at = m.find(probes[i]);
    const bool is = at != m.end();
    wrong += came[i] != (is ? table_status::found : table_status::absent) || is_there(i) != is ||
             !(found[i] == (is ? at->second : Value{}));
  }
  CHECK(wrong == 0);
  CHECK(values.guards_intact());
  CHECK(status.guards_intact());
}

/// count and range of these pairs of keys, the latter with `room` places, or enough.
template <class Map, class Key, class Value>
void check_range(const space& exec, const Map& map, const model<Key, Value>& m,
                 const std::vector<Key>& from, const std::vector<Key>& to, std::int64_t room = -1) {
  const auto n = static_cast<std::int64_t>(from.size());
  std::vector<std::int64_t> numbers, offsets{0};
  std::vector<Key> expected_keys;
  std::vector<Value> expected_values;
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto at = m.lower_bound(from[i]);
    for (; at != m.end() && at->first <= to[i]; ++at) {
      expected_keys.push_back(at->first);
      expected_values.push_back(at->second);
    }
    offsets.push_back(static_cast<std::int64_t>(expected_keys.size()));
    numbers.push_back(offsets[i + 1] - offsets[i]);
  }
  const auto all = static_cast<std::int64_t>(expected_keys.size());
  if (room < 0 || room > all) room = all;
  const array<Key> k1(from), k2(to), keys(room, Key{});
  const array<Value> values(room, Value{});
  const array<std::int64_t> counts(n, -1), places(n + 1, -1);
  lanewise::count(exec, map, k1.const_view(), k2.const_view(), counts.view());
  CHECK(counts.items() == numbers);
  const auto get = [&] {
    return lanewise::range(exec, map, k1.const_view(), k2.const_view(), places.view(), keys.view(),
                           values.view());
  };
  if (room == 0 || room == all) {
    CHECK(get() == all);
  } else {
    CHECK_THROWS_WITH(get(), "lanewise::range: keys_out has " + std::to_string(room) +
                                 " places, there were " + std::to_string(all) + " results");
  }
  expected_keys.resize(static_cast<std::size_t>(room));
  expected_values.resize(static_cast<std::size_t>(room));
  CHECK(places.items() == offsets);
  CHECK((keys.items() == expected_keys));
  CHECK((values.items() == expected_values));
  CHECK(keys.guards_intact());
  CHECK(values.guards_intact());
  CHECK(places.guards_intact());
}

/// predecessor and successor of these keys, strict or not.
template <class Map, class Key, class Value>
void check_neighbours(const space& exec, const Map& map, const model<Key, Value>& m,
                      const std::vector<Key>& probes) {
  const auto n = static_cast<std::int64_t>(probes.size());
  for (int kind = 0; kind < 4; ++kind) {
    CAPTURE(kind);
    const bool upwards = kind >= 2, strict = kind % 2 == 1;
    const array<Key> queries(probes), keys(n, Key{77});
    const array<Value> values(n, Value{});
    const array<table_status> status(n, table_status::none);
    const lanewise::table_options with{.status = status.view()};
    const auto ask = [&](const auto& call) {
      call(exec, map, queries.const_view(), keys.view(), values.view(), with);
    };
    if (kind == 0) ask([](const auto&... a) { lanewise::predecessor(a...); });
    if (kind == 1) ask([](const auto&... a) { lanewise::strict_predecessor(a...); });
    if (kind == 2) ask([](const auto&... a) { lanewise::successor(a...); });
    if (kind == 3) ask([](const auto&... a) { lanewise::strict_successor(a...); });
    const auto got = keys.items();
    const auto got_values = values.items();
    const auto came = status.items();
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < probes.size(); ++i) {
      auto at = upwards == strict ? m.upper_bound(probes[i]) : m.lower_bound(probes[i]);
      bool is = upwards ? at != m.end() : at != m.begin();
      if (!upwards && is) --at;
      wrong += came[i] != (is ? table_status::found : table_status::absent) ||
               got[i] != (is ? at->first : Key{77}) ||
               !(got_values[i] == (is ? at->second : Value{}));
    }
    CHECK(wrong == 0);
  }
}

/// All of it, with keys near those of the model, and others below `most`.
template <class Map, class Key, class Value>
void check_all(const space& exec, const Map& map, const model<Key, Value>& m, random_engine& random,
               std::uint64_t most, std::size_t queries) {
  std::vector<Key> probes{least_key<Key>, greatest_key<Key>, Key{0}}, from, to;
  while (probes.size() < queries) {
    auto key = static_cast<Key>(random_number(random, most));
    const auto at = m.lower_bound(key);
    if (random() % 2 == 0 && at != m.end()) key = at->first;
    probes.push_back(key);
  }
  for (std::size_t i = 0; i < queries; ++i) {
    const auto width = most >> (random() % 12);
    from.push_back(probes[i]);
    // Comes round after the greatest key.
    to.push_back(
        static_cast<Key>(static_cast<std::uint64_t>(probes[i]) + random_number(random, width)));
    if (i % 16 == 3) to.back() = greatest_key<Key>;
    if (i == 0) from.back() = greatest_key<Key>, to.back() = least_key<Key>;
    if (i == 1) from.back() = least_key<Key>, to.back() = greatest_key<Key>;
  }
  check_find(exec, map, m, probes);
  check_range(exec, map, m, from, to);
  check_neighbours(exec, map, m, probes);
  CHECK(lanewise::size(exec, map) == static_cast<std::int64_t>(m.size()));
}

/// A batch of n operations with keys in [0, most]; `erasures` in 100 erase.
template <class Key, class Value, class MakeValue>
batch<Key, Value> random_batch(random_engine& random, std::int64_t n, std::uint64_t most,
                               int erasures, const MakeValue& make_value) {
  batch<Key, Value> b;
  for (std::int64_t i = 0; i < n; ++i) {
    b.keys.push_back(static_cast<Key>(random_number(random, most)));
    if (random() % 64 == 0) b.keys.back() = random() % 2 == 0 ? least_key<Key> : greatest_key<Key>;
    b.values.push_back(make_value(random()));
    b.operations.push_back(static_cast<int>(random() % 100) < erasures ? table_operation::erase
                                                                       : table_operation::insert);
  }
  return b;
}

/// Batches of random lengths and mixes, with all queries after every one; then a cleanup, which
/// changes no answer, and a second life.
template <class Map, class MakeValue>
void check_history(std::uint64_t salt, std::int64_t longest, std::uint64_t most, int batches,
                   std::size_t queries, const MakeValue& make_value) {
  using key = typename Map::key_type;
  using value = typename Map::mapped_type;
  const auto exec = make_space();
  auto random = make_random(salt);
  Map map;
  model<key, value> m;
  check_all(exec, map, m, random, most, queries);
  for (int round = 0; round < batches; ++round) {
    const auto n = static_cast<std::int64_t>(
        random_number(random, static_cast<std::uint64_t>(longest) >> (random() % 8)));
    const int mixes[] = {0, 0, 100, 30, 50, 80};
    const auto b = random_batch<key, value>(random, n, most, mixes[random() % 6], make_value);
    CAPTURE(round, n, map.levels());
    apply_to(exec, map, b, random() % 4 != 0);
    apply_to(m, b);
    check_all(exec, map, m, random, most, queries);
    if (round % 5 == 4) {
      const auto before = map.snapshot();
      lanewise::cleanup(exec, map);
      CHECK(map.levels() <= 1);
      CHECK(map.elements() == static_cast<std::int64_t>(m.size()));
      CHECK(lanewise::statistics(exec, map).tombstones == 0);
      check_all(exec, map, m, random, most, queries);
      check_all(exec, before, m, random, most, queries / 4);
    }
  }
}

}  // namespace test
