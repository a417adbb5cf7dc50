// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/ordered/ordered_multimap.hpp>

#include <catch2/matchers/catch_matchers.hpp>

#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <structures/hash/check_slab.hpp>

// What the tests of ordered tables share: contents, and queries against std::map and
// std::multimap, by bulk calls.

namespace test {

/// All elements in order, by to_sorted and by for_each.
template <class Exec, class Table>
void check_ordered_contents(
    const Exec& exec, const Table& table,
    const std::vector<std::pair<typename Table::key_type, typename Table::mapped_type>>& expected) {
  using key = typename Table::key_type;
  using value = typename Table::mapped_type;
  const auto n = static_cast<std::int64_t>(expected.size());
  REQUIRE(table.size() == n);
  const array<key> keys(n, key{});
  const array<value> values(n, value{});
  REQUIRE(lanewise::to_sorted(exec, table, keys.view(), values.view()) == n);
  exec.fence();
  const auto k = keys.items();
  const auto v = values.items();
  std::vector<std::pair<key, value>> got;
  for (std::size_t i = 0; i < k.size(); ++i) got.emplace_back(k[i], v[i]);
  REQUIRE((got == expected));
  REQUIRE((keys.guards_intact() && values.guards_intact()));
  // With less room the first ones come.
  const array<key> fewer(n / 2, key{});
  if (n / 2 < n) {
    REQUIRE_THROWS_WITH(lanewise::to_sorted(exec, table, fewer.view()),
                        "lanewise::to_sorted: keys_out has " + std::to_string(n / 2) +
                            " places, there were " + std::to_string(n) + " results");
    const array<value> no_values(0, value{});
    REQUIRE_THROWS_WITH(lanewise::to_sorted(exec, table, keys.view(), no_values.view()),
                        "lanewise::to_sorted: values_out has 0 places, there were " +
                            std::to_string(n) + " results");
  }
  const auto f = fewer.items();
  REQUIRE(std::equal(f.begin(), f.end(), k.begin()));
  REQUIRE(fewer.guards_intact());
}

/// Queries around keys that are there, and ranges.
template <class Exec, class Table, class Model>
void check_ordered_queries(const Exec& exec, const Table& table, const Model& model,
                           random_engine& random) {
  using key = typename Table::key_type;
  using value = typename Table::mapped_type;
  std::vector<key> queries = {key{0}, static_cast<key>(~key{0}), key{1}};
  for (int i = 0; i < 60 && !model.empty(); ++i) {
    const auto at = model.lower_bound(static_cast<key>(random()));
    const key k = at == model.end() ? model.begin()->first : at->first;
    queries.push_back(static_cast<key>(k + random() % 3 - 1));
  }
  for (const auto& element : model) {
    if (queries.size() > 120) break;
    queries.push_back(element.first);
  }
  const auto n = static_cast<std::int64_t>(queries.size());
  const array<key> q(queries);
  const array<value> values(n, value{7});
  const array<std::int64_t> lower(n, 0), upper(n, 0);
  const array<std::uint32_t> numbers(n, 0u);
  const auto found = reported(
      queries.size(),
      [&](const auto& with) { lanewise::find(exec, table, q.const_view(), values.view(), with); },
      lanewise::table_options{});
  lanewise::lower_bound(exec, table, q.view(), lower.view());
  lanewise::upper_bound(exec, table, q.view(), upper.view());
  lanewise::count(exec, table, q.view(), numbers.view());
  const array<std::int64_t> ranks(n, -1), begins(n, -1), ends(n, -1);
  const Kokkos::View<bool*, memory> there("there", queries.size());
  lanewise::rank(exec, table, q.view(), ranks.view());
  lanewise::equal_range(exec, table, q.view(), begins.view(), ends.view());
  const auto contained = reported(
      queries.size(),
      [&](const auto& with) { lanewise::contains(exec, table, q.const_view(), there, with); },
      lanewise::table_options{});
  REQUIRE((contained.status == found.status));
  const auto is_there = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), there);
  const auto got = values.items();
  const auto low = lower.items(), up = upper.items();
  REQUIRE((ranks.items() == low && begins.items() == low && ends.items() == up));
  const auto many = numbers.items();
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto at = model.lower_bound(queries[i]), after = model.upper_bound(queries[i]);
    const bool present = at != after;
    REQUIRE(found.status[i] == (present ? table_status::found : table_status::absent));
    REQUIRE(is_there(i) == present);
    REQUIRE(got[i] == (present ? at->second : value{7}));
    REQUIRE(low[i] == std::distance(model.begin(), at));
    REQUIRE(up[i] == std::distance(model.begin(), after));
    REQUIRE(many[i] == static_cast<std::uint32_t>(up[i] - low[i]));
  }
  const auto check_neighbour = [&](const auto& call, const auto& neighbour) {
    const array<key> keys(n, key{5});
    const array<value> beside(n, value{5});
    const auto result = reported(
        queries.size(), [&](const auto& with) { call(keys.view(), beside.view(), with); },
        lanewise::table_options{});
    const auto k = keys.items();
    const auto v = beside.items();
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const auto at = neighbour(queries[i]);
      const bool there = at != model.end();
      REQUIRE(result.status[i] == (there ? table_status::found : table_status::absent));
      REQUIRE(k[i] == (there ? at->first : key{5}));
      REQUIRE(v[i] == (there ? at->second : value{5}));
    }
  };
  const auto before = [&](auto at) { return at == model.begin() ? model.end() : std::prev(at); };
  check_neighbour([&](const auto& k, const auto& v,
                      const auto& with) { lanewise::successor(exec, table, q.view(), k, v, with); },
                  [&](key x) { return model.lower_bound(x); });
  check_neighbour(
      [&](const auto& k, const auto& v, const auto& with) {
        lanewise::strict_successor(exec, table, q.view(), k, v, with);
      },
      [&](key x) { return model.upper_bound(x); });
  check_neighbour(
      [&](const auto& k, const auto& v, const auto& with) {
        lanewise::predecessor(exec, table, q.view(), k, v, with);
      },
      [&](key x) { return before(model.upper_bound(x)); });
  check_neighbour(
      [&](const auto& k, const auto& v, const auto& with) {
        lanewise::strict_predecessor(exec, table, q.view(), k, v, with);
      },
      [&](key x) { return before(model.lower_bound(x)); });

  // Ranges of all lengths, some of them upside down.
  std::vector<key> firsts = queries, lasts = queries;
  firsts.resize(std::min<std::size_t>(n, is_emulated ? 12 : 40));
  std::shuffle(lasts.begin(), lasts.end(), random);
  lasts.resize(firsts.size());
  const auto ranges = static_cast<std::int64_t>(firsts.size());
  const array<key> first(firsts);
  const array<key> last(lasts);
  std::vector<std::pair<key, value>> expected;
  std::vector<std::int64_t> range_begins = {0};
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    if (firsts[i] <= lasts[i])
      expected.insert(expected.end(), model.lower_bound(firsts[i]), model.upper_bound(lasts[i]));
    range_begins.push_back(static_cast<std::int64_t>(expected.size()));
  }
  for (const std::int64_t room : {range_begins.back(), range_begins.back() / 2}) {
    const array<std::int64_t> offsets(ranges + 1, -1);
    const array<key> keys(room, key{});
    const array<value> beside(room, value{});
    const auto get = [&] {
      return lanewise::range(exec, table, first.view(), last.view(), offsets.view(), keys.view(),
                             beside.view());
    };
    const std::string there =
        " places, there were " + std::to_string(range_begins.back()) + " results";
    const array<value> no_values(0, value{});
    if (room == 0 || room == range_begins.back()) {
      REQUIRE(get() == range_begins.back());
      if (room > 0)
        REQUIRE_THROWS_WITH(lanewise::range(exec, table, first.view(), last.view(), offsets.view(),
                                            keys.view(), no_values.view()),
                            "lanewise::range: values_out has 0" + there);
    } else {
      REQUIRE_THROWS_WITH(get(), "lanewise::range: keys_out has " + std::to_string(room) + there);
    }
    REQUIRE((offsets.items() == range_begins));
    const auto k = keys.items();
    const auto v = beside.items();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < k.size(); ++i)
      wrong += k[i] != expected[i].first || v[i] != expected[i].second;
    REQUIRE(wrong == 0);
    REQUIRE((keys.guards_intact() && beside.guards_intact()));
  }
}

}  // namespace test
