// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/hash/slab_file.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <structures/hash/check_slab.hpp>

// Files that somebody else has made, with right checksums: they are refused, or are tables.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using map_type = lanewise::slab_hash_map<u32, u32, memory>;

constexpr u32 lists = 40;
constexpr u32 elements = 700;

/// A map with several slabs in every list, one super block of one memory block.
map_type small_map(const space& exec) {
  map_type map(exec, {.buckets = lists});
  std::vector<u32> keys(elements), values(elements);
  for (u32 i = 0; i < elements; ++i) {
    keys[i] = key_number<u32>(i);
    values[i] = i;
  }
  lanewise::insert(exec, map, array<u32>(keys).const_view(), array<u32>(values).const_view());
  return map;
}

template <class Map>
std::string file_of(const space& exec, const Map& map) {
  std::ostringstream out(std::ios::binary);
  lanewise::save(exec, map, out);
  return out.str();
}

/// The parts of a file, to be changed one by one.
struct file_parts {
  lanewise::detail::slab_file_header header;
  u64 seed = 0;
  std::vector<u32> blocks;
  std::vector<lanewise::slab_unit> heads, units;

  explicit file_parts(const std::string& file) {
    const char* from = file.data();
    const auto take = [&from](void* to, std::size_t bytes) {
      std::memcpy(to, from, bytes);
      from += bytes;
    };
    take(&header, sizeof(header));
    take(&seed, sizeof(seed));
    blocks.resize(header.super_blocks);
    take(blocks.data(), 4 * blocks.size());
    from += 8;
    heads.resize(header.buckets + 1);
    take(heads.data(), 128 * heads.size());
    units.resize(1025u * blocks.at(0));
    take(units.data(), 128 * units.size());
    REQUIRE(from + 8 == file.data() + file.size());
  }
  /// The parts with right checksums.
  std::string file() const {
    std::ostringstream out(std::ios::binary);
    lanewise::detail::file_writer writer(out);
    writer.write(&header, sizeof(header));
    writer.write(&seed, sizeof(seed));
    for (const u32& b : blocks) writer.write(&b, sizeof(b));
    writer.seal();
    writer.write(heads.data(), 128 * heads.size());
    writer.write(units.data(), 128 * units.size());
    writer.seal();
    return out.str();
  }
  u32& link(u32 list) { return heads[list].word[31]; }
  /// The unit that a link leads to: there is one memory block, whose bitmap comes first.
  lanewise::slab_unit& unit(u32 link) { return units.at(1 + link); }
};

template <class Map = map_type>
std::string refusal_of(const std::string& file) {
  std::istringstream in(file, std::ios::binary);
  try {
    (void)lanewise::load<Map>(make_space(), in);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

/// The refusal after change(parts).
template <class F>
std::string refusal_after(const F& change) {
  const auto exec = make_space();
  file_parts parts(file_of(exec, small_map(exec)));
  change(parts);
  return refusal_of(parts.file());
}

/// All calls end on a table that was loaded, and keep what they promise.
void check_usable(const space& exec, map_type& map) {
  const auto before = contents(exec, map);
  std::vector<u32> keys(100);
  for (u32 i = 0; i < 100; ++i) keys[i] = 0x40000000u + i;
  const array<u32> k(keys);
  lanewise::insert(exec, map, k.const_view(), k.const_view());
  lanewise::erase(exec, map, k.const_view());
  lanewise::flush(exec, map);
  REQUIRE(contents(exec, map) == before);
}

}  // namespace

TEST_CASE("A file made from its parts is the file", "[slab_file]") {
  CHECK(refusal_after([](file_parts&) {}) == "");
}

TEST_CASE("Files of other types are refused", "[slab_file]") {
  const auto exec = make_space();
  const std::string file = file_of(exec, small_map(exec));
  CHECK_THAT((refusal_of<lanewise::slab_hash_map<u32, float, memory>>(file)),
             ContainsSubstring("to unsigned integers of 4 bytes in the file, a map from unsigned "
                               "integers of 4 bytes to floating-point numbers of 4 bytes in the "
                               "program"));
  CHECK_THAT((refusal_of<lanewise::slab_hash_map<std::int32_t, u32, memory>>(file)),
             ContainsSubstring("in the file, a map from signed integers of 4 bytes"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.header.version = 1; }),
             ContainsSubstring("the layout's version is 1 in the file, 2 in the program"));
}

TEST_CASE("Numbers of a header that no table has are refused before memory is allocated",
          "[slab_file]") {
  const auto with_buckets = [](u64 buckets) {
    return refusal_after([buckets](file_parts& p) { p.header.buckets = buckets; });
  };
  for (const u64 buckets : {u64{0}, (u64{1} << 32) - 1, u64{1} << 33, ~u64{0}})
    CHECK_THAT(with_buckets(buckets), ContainsSubstring("buckets, which no table has"));
  // 549 GB, and 1 TB: such tables exist, but not in this file.
  CHECK_THAT(with_buckets((u64{1} << 32) - 256), ContainsSubstring("ends early"));
  CHECK_THAT(refusal_after([](file_parts& p) {
               p.blocks.assign(100, 1u << 14);
               p.header.super_blocks = 100;
             }),
             ContainsSubstring("ends early"));
  for (const u32 blocks : {0u, (1u << 14) + 1, 0x7fffffffu})
    CHECK_THAT(refusal_after([blocks](file_parts& p) { p.blocks = {blocks}; }),
               ContainsSubstring("blocks of a super block, which no table has"));
  for (const u32 many : {0u, 257u, ~0u})
    CHECK_THAT(refusal_after([many](file_parts& p) { p.header.super_blocks = many; }),
               ContainsSubstring("super blocks, tables have 1 to 256"));
  for (const double load :
       {-3.0, 1e-5, 101.0, 1e300, double{NAN}, std::numeric_limits<double>::infinity()})
    CHECK_THAT(refusal_after([load](file_parts& p) { p.header.load = load; }),
               ContainsSubstring("load, which no table has"));
}

TEST_CASE("Words that stand for no key, and kinds that are none, are refused", "[slab_file]") {
  const auto exec = make_space();
  const array<u32> key(std::vector<u32>{5});
  const array<u64> value(std::vector<u64>{7});
  lanewise::slab_hash_map<u32, u64, memory> map(exec, {.buckets = 1});
  lanewise::insert(exec, map, key.const_view(), value.const_view());
  file_parts parts(file_of(exec, map));
  CHECK(refusal_of<decltype(map)>(parts.file()) == "");
  // Beside key 5 with value 7: a word whose lower half is 5.
  const u32 second[] = {5, 1, 9, 0};
  std::copy(second, second + 4, parts.heads[0].word + 4);
  CHECK_THAT(refusal_of<decltype(map)>(parts.file()),
             ContainsSubstring("list 0 has the key word 4294967301, which stands for no key"));

  file_parts other(file_of(exec, small_map(exec)));
  other.header.kind = 7;
  CHECK_THAT((refusal_of<lanewise::slab_hash_multimap<u32, u32, memory>>(other.file())),
             ContainsSubstring("the number of its kind is 7 in the file, 1 in the program"));
}

TEST_CASE("Units that no list has are free in a table that was loaded", "[slab_file]") {
  const auto exec = make_space();
  const map_type map = small_map(exec);
  file_parts parts(file_of(exec, map));
  for (u32& word : parts.units.front().word) word = ~0u;
  std::istringstream in(parts.file(), std::ios::binary);
  map_type loaded = lanewise::load<map_type>(exec, in);
  CHECK(lanewise::usage(exec, loaded.pool()).allocated ==
        lanewise::usage(exec, map.pool()).allocated);
  check_usable(exec, loaded);
}

TEST_CASE("Links that no table has are refused", "[slab_file]") {
  CHECK_THAT(refusal_after([](file_parts& p) { p.link(3) = 0x00ffffff; }),
             ContainsSubstring("a link of list 3 leads to unit 16777215 of super block 0, which "
                               "does not exist"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.link(3) |= 2u << 24; }),
             ContainsSubstring("of super block 2, which does not exist"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.units.front().word[p.link(5) / 32] = 0; }),
             ContainsSubstring("which is not in use"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.unit(p.link(0)).word[31] = p.link(0); }),
             ContainsSubstring("two links lead to unit"));
  // The end of another list, without keys that would tell.
  CHECK_THAT(refusal_after([](file_parts& p) {
               std::fill_n(p.unit(p.link(1)).word, 30, ~1u);
               p.link(0) = p.link(1);
             }),
             ContainsSubstring("the second one in list 1"));
}

TEST_CASE("Elements that no table has are refused", "[slab_file]") {
  CHECK_THAT(refusal_after([](file_parts& p) { std::swap(p.heads[1], p.heads[2]); }),
             ContainsSubstring("stands in list 1 and belongs to list 2"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.heads[lists].word[0] = 77; }),
             ContainsSubstring("stands in list 40 and belongs to list"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.seed = 1; }), ContainsSubstring("belongs to"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.heads[7].word[2] = p.heads[7].word[0]; }),
             ContainsSubstring("twice"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.heads[7].word[0] = ~2u; }),
             ContainsSubstring("left between two states"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.heads[7].word[0] = ~0u; }),
             ContainsSubstring("an empty slot in list 7 has the value word"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.heads[7].word[0] = p.heads[7].word[1] = ~0u; }),
             ContainsSubstring("after an empty slot"));
  CHECK_THAT(refusal_after([](file_parts& p) { p.units.back().word[31] = 5; }),
             ContainsSubstring("unit 1023 of super block 0 is not in use and not empty"));
}

TEST_CASE("Files that are changed at random are refused or are tables", "[slab_file]") {
  const auto exec = make_space();
  const std::string file = file_of(exec, small_map(exec));
  auto random = make_random(58);
  const auto below = [&random](std::size_t n) {
    return static_cast<std::size_t>(random_number(random, n - 1));
  };
  const file_parts original(file);
  int refused = 0, usable = 0;
  const int rounds = full() ? 5000 : 400;
  for (int round = 0; round < rounds; ++round) {
    file_parts p = original;
    const auto word_of = [&](std::vector<lanewise::slab_unit>& units) -> u32& {
      return units[below(units.size())].word[below(32)];
    };
    switch (below(8)) {
      case 0:
        word_of(p.heads) ^= 1u << below(32);
        break;
      case 1:
        word_of(p.units) = static_cast<u32>(random());
        break;
      case 2:
        p.link(static_cast<u32>(below(lists + 1))) = static_cast<u32>(below(1024));
        break;
      case 3:
        p.units.front().word[below(32)] ^= 1u << below(32);
        break;
      case 4:
        std::swap(p.heads[below(lists + 1)], p.units[1 + below(60)]);
        break;
      case 5:
        p.unit(static_cast<u32>(below(60))).word[31] = static_cast<u32>(below(60));
        break;
      case 6:
        reinterpret_cast<unsigned char*>(&p.header)[below(sizeof(p.header))] ^=
            static_cast<unsigned char>(1u << below(8));
        break;
      default:
        word_of(p.heads) = word_of(p.units);
    }
    std::string bytes = p.file();
    if (below(10) == 0) bytes.resize(below(bytes.size()));
    CAPTURE(round);
    std::istringstream in(bytes, std::ios::binary);
    try {
      auto map = lanewise::load<map_type>(exec, in);
      check_usable(exec, map);
      ++usable;
    } catch (const std::runtime_error&) {
      ++refused;
    }
  }
  CHECK(refused > rounds / 4);
  CHECK(usable > 0);
}

TEST_CASE("Tables of every kind come back from files", "[slab_file]") {
  const auto exec = make_space();
  const auto check = [&exec](auto table, const auto& put) {
    std::vector<u64> keys(2000);
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key_number<u64>(i / 2);
    put(table, array<u64>(keys));
    std::istringstream in(file_of(exec, table), std::ios::binary);
    const auto loaded = lanewise::load<decltype(table)>(exec, in);
    CHECK(contents(exec, loaded) == contents(exec, table));
    check_no_leak(exec, loaded);
  };
  const auto pairs = [&exec](auto& table, const array<u64>& keys) {
    lanewise::insert(exec, table, keys.const_view(), keys.const_view());
    lanewise::erase(exec, table, Kokkos::subview(keys.const_view(), std::make_pair(50, 700)));
  };
  check(lanewise::slab_hash_map<u64, u64, memory>(exec, {.expected = 100}), pairs);
  check(lanewise::slab_hash_multimap<u64, u64, memory>(exec, {.expected = 100}), pairs);
  check(lanewise::slab_hash_set<u64, memory>(exec, {.expected = 100}),
        [&exec](auto& table, const array<u64>& keys) {
          lanewise::insert(exec, table, keys.const_view());
        });
}
