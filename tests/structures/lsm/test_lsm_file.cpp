// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/lsm/lsm_file.hpp>

#include <structures/common/check_file.hpp>
#include <structures/lsm/check_lsm.hpp>

// LSMs in files, and files that somebody else has made, with right checksums.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using lsm_in_file = lanewise::lsm_map<std::uint32_t, std::uint32_t, memory>;

/// A value of 12 bytes.
struct lsm_file_value {
  std::uint32_t word[3];
  bool operator==(const lsm_file_value&) const = default;
};

/// A dictionary of several levels with insertions and tombstones, and its model.
template <class Map, class MakeValue>
void check_lsm_round_trip(std::uint64_t salt, const MakeValue& make_value) {
  using key = typename Map::key_type;
  using value = typename Map::mapped_type;
  const auto exec = make_space();
  auto random = make_random(salt);
  Map map;
  model<key, value> m;
  CHECK(loaded<Map>(exec, saved(exec, map)).levels() == 0);
  const std::uint64_t most = 3000;
  const std::int64_t longest = is_emulated ? 500 : 60'000;
  const auto add = [&](Map& to, int erasures, std::int64_t n) {
    const auto b = random_batch<key, value>(random, n, most, erasures, make_value);
    apply_to(exec, to, b);
    apply_to(m, b);
  };
  add(map, 0, longest);
  add(map, 40, longest / 4);
  add(map, 100, longest / 16);
  const std::string file = saved(exec, map);
  Map again = loaded<Map>(exec, file);
  CHECK(again.levels() == map.levels());
  CHECK(saved(exec, again) == file);
  const auto on_host = map.template copy_to<Kokkos::HostSpace>(exec);
  std::ostringstream out(std::ios::binary);
  lanewise::save(exec, on_host, out);
  CHECK(out.str() == file);
  check_all(exec, again, m, random, most, 200);

  // A snapshot is saved as it was, and what was loaded lives on.
  const auto before = map.snapshot();
  add(again, 30, longest / 8);
  check_all(exec, again, m, random, most, 200);
  CHECK(saved(exec, before) == file);
  lanewise::cleanup(exec, again);
  Map clean = loaded<Map>(exec, saved(exec, again));
  CHECK(clean.is_clean());
  check_all(exec, clean, m, random, most, 200);
}

/// Two levels: keys 0, 3, ..., 297, and before them erasures of 0, 9, 18, ..., 99 with an
/// insertion of 1.
lsm_in_file small_lsm(const space& exec) {
  batch<std::uint32_t, std::uint32_t> old, fresh;
  for (std::uint32_t i = 0; i < 100; ++i) {
    old.keys.push_back(3 * i);
    old.values.push_back(i);
    old.operations.push_back(table_operation::insert);
    if (i % 3 != 0 || i > 33) continue;
    fresh.keys.push_back(3 * i);
    fresh.values.push_back(0);
    fresh.operations.push_back(table_operation::erase);
  }
  fresh.keys.push_back(1);
  fresh.values.push_back(77);
  fresh.operations.push_back(table_operation::insert);
  lsm_in_file map;
  apply_to(exec, map, old);
  apply_to(exec, map, fresh);
  REQUIRE(map.levels() == 2);
  return map;
}

words_of_file lsm_words(const space& exec, const lsm_in_file& map) {
  std::vector<std::size_t> arrays;
  for (const auto& r : map.runs()) {
    const auto n = static_cast<std::size_t>(r.level.size());
    arrays.push_back(n);
    if (r.level.dead != nullptr) arrays.push_back((n + 31) / 32);
    if (r.level.values != nullptr) arrays.push_back(n);
  }
  return {saved(exec, map), 8 + 4 * map.runs().size(), arrays};
}

}  // namespace

TEST_CASE("LSMs come back from files", "[lsm_file]") {
  check_lsm_round_trip<lsm_in_file>(1,
                                    [](std::uint64_t x) { return static_cast<std::uint32_t>(x); });
}
TEST_CASE("LSMs with long values come back from files", "[lsm_file]") {
  using map = lanewise::lsm_map<std::int64_t, lsm_file_value, memory>;
  const auto exec = make_space();
  map m;
  const array<std::int64_t> keys(std::vector<std::int64_t>{-7, 1, -9});
  const array<lsm_file_value> values(
      std::vector<lsm_file_value>{{{1, 2, 3}}, {{4, 5, 6}}, {{7, 8, 9}}});
  lanewise::insert(exec, m, keys.const_view(), values.const_view());
  const map again = loaded<map>(exec, saved(exec, m));
  const array<lsm_file_value> found(3, lsm_file_value{});
  lanewise::find(exec, again, keys.const_view(), found.view());
  CHECK((found.items() == values.items()));
}
TEST_CASE("Sorted arrays come back from files", "[lsm_file]") {
  check_lsm_round_trip<lanewise::sorted_array<std::uint32_t, std::uint32_t, memory>>(
      3, [](std::uint64_t x) { return static_cast<std::uint32_t>(x); });
}

TEST_CASE("A file of an LSM has these words on every backend", "[lsm_file]") {
  const auto exec = make_space();
  lsm_in_file map;
  const batch<std::uint32_t, std::uint32_t> pairs{
      {9, 5, 9},
      {1, 2, 3},
      {table_operation::insert, table_operation::insert, table_operation::erase}};
  apply_to(exec, map, pairs);
  // The header, and the level: 3 elements with values and tombstones; keys, tombstones, values.
  const words_of_file words(
      {0x6c2e774c, 0x0a206d73, 1, 0, 0x104, 0x104, 1, 0, /* level 0: */ 3, 0, 1, 1},
      {5, 9, 9, /* bits: */ 2, /* values: */ 2, 0, 1}, {3, 1, 3});
  CHECK(saved(exec, map) == words.file());
  CHECK(lanewise::size(exec, loaded<lsm_in_file>(exec, words.file())) == 1);
}

TEST_CASE("Files of LSMs that are damaged are refused", "[lsm_file]") {
  const auto exec = make_space();
  const auto map = small_lsm(exec);
  check_damage<lsm_in_file>(saved(exec, map));
  check_full_stream(exec, map);
}

TEST_CASE("Files of other LSMs are refused", "[lsm_file]") {
  const auto exec = make_space();
  const std::string file = saved(exec, small_lsm(exec));
  CHECK_THAT((load_refusal<lanewise::lsm_map<std::int32_t, std::uint32_t, memory>>(file)),
             ContainsSubstring("the dictionary is an lsm_map from unsigned integers of 4 bytes to "
                               "unsigned integers of 4 bytes in the file, an lsm_map from signed"));
  CHECK_THAT((load_refusal<lanewise::lsm_map<std::uint32_t, lsm_file_value, memory>>(file)),
             ContainsSubstring("to other types of 12 bytes in the program"));
  CHECK_THAT((load_refusal<lanewise::sorted_array<std::uint32_t, std::uint32_t, memory>>(file)),
             ContainsSubstring("the file has 2 levels, dictionaries have at most 1"));
}

TEST_CASE("Numbers and levels that no LSM has are refused", "[lsm_file]") {
  const auto exec = make_space();
  const auto map = small_lsm(exec);
  const words_of_file original = lsm_words(exec, map);
  const auto fresh = static_cast<std::size_t>(map.runs()[0].level.size());
  const auto after = [&original](const auto& change) {
    words_of_file words = original;
    change(words);
    return load_refusal<lsm_in_file>(words.file());
  };
  CHECK(after([](auto&) {}) == "");
  CHECK_THAT(after([](auto& w) { w.header[2] = 9; }),
             ContainsSubstring("the layout's version is 9 in the file, 1 in the program"));
  CHECK_THAT(after([](auto& w) { w.header[1] ^= 1; }), ContainsSubstring("this is no LSM"));
  CHECK_THAT(after([](auto& w) { w.header[3] = 5; }), ContainsSubstring("in the file"));
  for (const std::uint32_t levels : {33u, ~0u})
    CHECK_THAT(after([levels](auto& w) { w.header[6] = levels; }),
               ContainsSubstring("levels, dictionaries have at most 32"));
  CHECK_THAT(after([](auto& w) { w.header[7] = 2; }), ContainsSubstring("clean"));
  CHECK_THAT(after([](auto& w) { w.header[7] = 1; }),
             ContainsSubstring("the file has 2 levels, dictionaries have at most 1"));
  CHECK_THAT(after([](auto& w) { w.header[8] = 0; }), ContainsSubstring("has 0 elements"));
  CHECK_THAT(after([](auto& w) { w.header[9] = 5; }), ContainsSubstring("levels have 1 to"));
  // 64 GB that are not there.
  CHECK_THAT(after([](auto& w) { w.header[9] = 1; }), ContainsSubstring("ends early"));
  CHECK_THAT(after([](auto& w) { w.header[10] = 0; }),
             ContainsSubstring("0 arrays of values and 1 of tombstones"));
  CHECK_THAT(after([](auto& w) { w.header[11] = 3; }), ContainsSubstring("which no level has"));
  CHECK_THAT(after([](auto& w) { std::swap(w.data[3], w.data[4]); }),
             ContainsSubstring("key 4 of level 0 is"));
  CHECK_THAT(after([fresh](auto& w) { w.data[fresh] |= 1u << fresh; }),
             ContainsSubstring("level 0 has tombstones after its last element"));
  // Equal keys in a level that is said to be clean.
  lsm_in_file clean = map.snapshot();
  lanewise::cleanup(exec, clean);
  words_of_file words = lsm_words(exec, clean);
  CHECK(load_refusal<lsm_in_file>(words.file()) == "");
  words.data[4] = words.data[3];
  CHECK_THAT(load_refusal<lsm_in_file>(words.file()), ContainsSubstring("and follows"));
}

TEST_CASE("Files of LSMs that are changed at random are refused or are LSMs", "[lsm_file]") {
  const auto exec = make_space();
  const words_of_file original = lsm_words(exec, small_lsm(exec));
  auto random = make_random(61);
  int refused = 0, usable = 0;
  const int rounds = full() ? 5000 : 300;
  const array<std::uint32_t> some(std::vector<std::uint32_t>{1, 30, 200});
  for (int round = 0; round < rounds; ++round) {
    words_of_file words = original;
    auto& part = random() % 8 == 0 ? words.header : words.data;
    auto& word = part[random_number(random, part.size() - 1)];
    word = random() % 2 == 0 ? word ^ (1u << random() % 32) : static_cast<std::uint32_t>(random());
    CAPTURE(round);
    try {
      auto map = loaded<lsm_in_file>(exec, words.file());
      const auto before = lanewise::size(exec, map);
      lanewise::cleanup(exec, map);
      REQUIRE(lanewise::size(exec, map) == before);
      lanewise::erase(exec, map, some.const_view());
      ++usable;
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  CHECK(refused > rounds / 4);
  CHECK(usable > 0);
}
