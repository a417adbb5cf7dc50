// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/ordered/ordered_file.hpp>
#include <lanewise/ordered/ordered_map.hpp>
#include <lanewise/ordered/ordered_multimap.hpp>
#include <lanewise/ordered/ordered_set.hpp>

#include <algorithm>
#include <structures/common/check_file.hpp>
#include <structures/ordered/check_ordered.hpp>

// Ordered tables in files, and files that somebody else has made, with right checksums.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using ordered_map_in_file = lanewise::ordered_map<std::uint32_t, std::uint32_t, memory>;

/// Keys 3 i with values i.
template <class Table>
Table ordered_in_file(const space& exec, std::int64_t n) {
  using key = typename Table::key_type;
  using value = typename Table::view_type::value_type;
  std::vector<key> keys;
  std::vector<value> values;
  for (std::int64_t i = 0; i < n; ++i) {
    keys.push_back(static_cast<key>(3 * i));
    values.push_back(static_cast<value>(i));
  }
  Table table;
  if constexpr (Table::layout::has_values) {
    lanewise::build_sorted(exec, table, array<key>(keys).const_view(),
                           array<value>(values).const_view());
  } else {
    lanewise::build_sorted(exec, table, array<key>(keys).const_view());
  }
  return table;
}

template <class Table>
std::vector<std::pair<typename Table::key_type, typename Table::view_type::value_type>>
ordered_elements(const space& exec, const Table& table) {
  using key = typename Table::key_type;
  using value = typename Table::view_type::value_type;
  const array<key> keys(table.size(), key{});
  const array<value> values(table.size(), value{});
  if constexpr (Table::layout::has_values) {
    lanewise::to_sorted(exec, table, keys.view(), values.view());
  } else {
    lanewise::to_sorted(exec, table, keys.view());
  }
  const auto k = keys.items();
  const auto v = values.items();
  std::vector<std::pair<key, value>> all;
  for (std::size_t i = 0; i < k.size(); ++i) all.emplace_back(k[i], v[i]);
  return all;
}

/// Comes back with the same elements, is found by searches, and can be changed.
template <class Table>
void check_ordered_round_trip(std::int64_t n) {
  CAPTURE(n);
  using key = typename Table::key_type;
  const auto exec = make_space();
  const Table table = ordered_in_file<Table>(exec, n);
  const std::string file = saved(exec, table);
  Table again = loaded<Table>(exec, file);
  const auto all = ordered_elements(exec, table);
  REQUIRE((ordered_elements(exec, again) == all));
  CHECK(again.height() == table.height());
  CHECK(saved(exec, again) == file);
  // What the host has copied it writes alike.
  const auto on_host = table.template copy_to<Kokkos::HostSpace>(exec);
  std::ostringstream out(std::ios::binary);
  lanewise::save(exec, on_host, out);
  CHECK(out.str() == file);

  std::vector<key> probes;
  for (const auto& element : all) probes.push_back(element.first);
  const array<std::int64_t> places(n, -1);
  lanewise::lower_bound(exec, again, array<key>(probes).const_view(), places.view());
  exec.fence();
  const auto p = places.items();
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < p.size(); ++i) wrong += p[i] != static_cast<std::int64_t>(i);
  CHECK(wrong == 0);
  // Sorting, which compiles long, is known from one type.
  if constexpr (std::is_same_v<Table, ordered_map_in_file>) {
    const array<key> odd(std::vector<key>{1, 4});
    lanewise::insert(exec, again, odd.const_view(), odd.const_view());
    CHECK(again.size() == n + 2);
  }
}

}  // namespace

TEST_CASE("Ordered tables come back from files", "[ordered_file]") {
  const std::int64_t many = is_emulated ? 700 : 100'003;
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{15}, std::int64_t{16},
                               std::int64_t{17}, many})
    check_ordered_round_trip<ordered_map_in_file>(n);
  check_ordered_round_trip<lanewise::ordered_map<float, std::uint64_t, memory>>(777);
}
TEST_CASE("Ordered sets come back from files", "[ordered_file]") {
  check_ordered_round_trip<lanewise::ordered_set<std::int64_t, memory>>(333);
}
TEST_CASE("Ordered multimaps come back from files with equal keys in their order",
          "[ordered_file]") {
  using table = lanewise::ordered_multimap<std::uint32_t, std::uint32_t, memory>;
  const auto exec = make_space();
  std::vector<std::uint32_t> keys(100), values(100);
  for (std::uint32_t i = 0; i < 100; ++i) {
    keys[i] = i / 40 * 0xffffffffu;
    values[i] = 100 - i;
  }
  table t;
  lanewise::insert(exec, t, array(keys).const_view(), array(values).const_view());
  const auto again = loaded<table>(exec, saved(exec, t));
  CHECK((ordered_elements(exec, again) == ordered_elements(exec, t)));
  CHECK_THAT(load_refusal<ordered_map_in_file>(saved(exec, t)),
             ContainsSubstring("the table is a multimap from unsigned integers of 4 bytes"));
}

TEST_CASE("A file of an ordered map has these words on every backend", "[ordered_file]") {
  const auto exec = make_space();
  std::vector<std::uint32_t> leaf(32, ~0u);
  std::fill(leaf.begin() + 16, leaf.end(), 0);
  for (std::uint32_t i = 0; i < 3; ++i) leaf[i] = 3 * i, leaf[16 + i] = i;
  const words_of_file words({0x6f2e774c, 0x0a726472, 1, 0, 0x104, 0x104, 3, 0}, leaf);
  CHECK(saved(exec, ordered_in_file<ordered_map_in_file>(exec, 3)) == words.file());
  const auto table = loaded<ordered_map_in_file>(exec, words.file());
  check_ordered_contents(
      exec, table, std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {3, 1}, {6, 2}});
}

TEST_CASE("Files of ordered tables that are damaged are refused", "[ordered_file]") {
  const auto exec = make_space();
  check_damage<ordered_map_in_file>(saved(exec, ordered_in_file<ordered_map_in_file>(exec, 20)));
  check_full_stream(exec, ordered_in_file<ordered_map_in_file>(exec, 20));
}

TEST_CASE("Files of other ordered tables are refused", "[ordered_file]") {
  const auto exec = make_space();
  const std::string file = saved(exec, ordered_in_file<ordered_map_in_file>(exec, 20));
  CHECK_THAT((load_refusal<lanewise::ordered_map<std::uint32_t, float, memory>>(file)),
             ContainsSubstring("to unsigned integers of 4 bytes in the file, a map from unsigned "
                               "integers of 4 bytes to floating-point numbers of 4 bytes in the "
                               "program"));
  CHECK_THAT((load_refusal<lanewise::ordered_set<std::int32_t, memory>>(file)),
             ContainsSubstring("a set from signed integers of 4 bytes to nothing in the program"));
}

TEST_CASE("Numbers and leaves that no ordered table has are refused", "[ordered_file]") {
  const auto exec = make_space();
  const std::string file = saved(exec, ordered_in_file<ordered_map_in_file>(exec, 20));
  const auto after = [&file](const auto& change) {
    words_of_file words(file, 8);
    change(words);
    return load_refusal<ordered_map_in_file>(words.file());
  };
  CHECK(after([](auto&) {}) == "");
  CHECK_THAT(after([](auto& w) { w.header[2] = 2; }),
             ContainsSubstring("the layout's version is 2 in the file, 1 in the program"));
  CHECK_THAT(after([](auto& w) { w.header[0] ^= 1; }), ContainsSubstring("is no ordered table"));
  // Far more than this file has, and more than any table.
  CHECK_THAT(after([](auto& w) { w.header[6] = ~0u - 64; }), ContainsSubstring("ends early"));
  CHECK_THAT(after([](auto& w) { w.header[7] = 1; }),
             ContainsSubstring("4294967316 elements, a table has at most 4294967232"));
  CHECK_THAT(after([](auto& w) { w.header[6] = 19; }),
             ContainsSubstring("leaf 1 has something after its last element"));
  CHECK_THAT(after([](auto& w) { w.header[6] = 16; }), ContainsSubstring("checksum of the data"));
  CHECK_THAT(after([](auto& w) { w.data[5] = w.data[4]; }),
             ContainsSubstring("the key word 12 of element 5 follows 12"));
  CHECK_THAT(after([](auto& w) { w.data[32] = 7; }),
             ContainsSubstring("the key word 7 of element 16 follows 45"));
  CHECK_THAT(after([](auto& w) { w.data[32 + 4] = 1000; }), ContainsSubstring("leaf 1 has some"));
  CHECK_THAT(after([](auto& w) { w.data[32 + 16 + 4] = 1; }), ContainsSubstring("leaf 1 has some"));
  // The unused bytes of leaves of 10 elements.
  using mixed = lanewise::ordered_map<std::uint32_t, std::uint64_t, memory>;
  words_of_file words(saved(exec, ordered_in_file<mixed>(exec, 20)), 8);
  CHECK(load_refusal<mixed>(words.file()) == "");
  words.data[31] = 1;
  CHECK_THAT(load_refusal<mixed>(words.file()), ContainsSubstring("leaf 0 has something"));
}

TEST_CASE("Files of ordered maps that are changed at random are refused or are maps",
          "[ordered_file]") {
  const auto exec = make_space();
  const words_of_file original(saved(exec, ordered_in_file<ordered_map_in_file>(exec, 40)), 8);
  auto random = make_random(60);
  int refused = 0, usable = 0;
  const int rounds = full() ? 5000 : 300;
  for (int round = 0; round < rounds; ++round) {
    words_of_file words = original;
    auto& part = random() % 8 == 0 ? words.header : words.data;
    auto& word = part[random_number(random, part.size() - 1)];
    word = random() % 2 == 0 ? word ^ (1u << random() % 32) : static_cast<std::uint32_t>(random());
    CAPTURE(round);
    try {
      auto map = loaded<ordered_map_in_file>(exec, words.file());
      const auto all = ordered_elements(exec, map);
      REQUIRE(std::adjacent_find(all.begin(), all.end(), [](const auto& a, const auto& b) {
                return a.first >= b.first;
              }) == all.end());
      const array<std::uint32_t> key(std::vector<std::uint32_t>{1});
      lanewise::erase(exec, map, key.const_view());
      ++usable;
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  CHECK(refused > rounds / 4);
  CHECK(usable > 0);
}
