// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <set>
#include <structures/hash/check_slab.hpp>

// Sets against std::set.

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class Key>
void check_random_sequences(u64 salt) {
  const auto exec = make_space();
  constexpr u64 universe = 500;
  auto random = make_random(salt);
  lanewise::slab_hash_set<Key, memory> set(exec, {.buckets = 4, .units = 1});
  std::set<Key> model;
  for (int i = 0; i < (is_emulated ? 40 : 200); ++i) {
    const auto keys = distinct_keys<Key>(random, random() % 200, universe);
    const array<Key> k(keys);
    const int kind = static_cast<int>(random() % 4);
    const auto result = reported(keys.size(), [&](const auto& with) {
      if (kind < 2) lanewise::insert(exec, set, k.const_view(), std::nullopt, with);
      if (kind == 2) lanewise::erase(exec, set, k.const_view(), with);
      if (kind == 3) lanewise::find(exec, set, k.const_view(), std::nullopt, with);
    });
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const bool there = model.count(keys[j]) != 0;
      const table_status expected = kind < 2
                                        ? (there ? table_status::present : table_status::inserted)
                                    : !there    ? table_status::absent
                                    : kind == 2 ? table_status::erased
                                                : table_status::found;
      REQUIRE(result.status[j] == expected);
      if (kind < 2) model.insert(keys[j]);
      if (kind == 2) model.erase(keys[j]);
    }
    if (i % 10 == 9) {
      if (random() % 2 == 0) lanewise::flush(exec, set);
      const auto all = contents(exec, set);
      REQUIRE(all.size() == model.size());
      std::size_t at = 0;
      for (const Key key : model) REQUIRE(all[at++].first == key);
      check_no_leak(exec, set);
    }
  }
}

}  // namespace

TEST_CASE("Random calls on sets agree with std::set", "[slab_hash_set][sanitize]") {
  check_random_sequences<u32>(1);
  check_random_sequences<u64>(2);
}

TEST_CASE("A slab holds 30 keys of 4 bytes", "[slab_hash_set]") {
  const auto exec = make_space();
  std::vector<u32> keys(3001);
  for (u32 i = 0; i < keys.size(); ++i) keys[i] = i;
  const array<u32> k(keys);
  lanewise::slab_hash_set<u32, memory, one_bucket> set(exec, {.buckets = 1});
  lanewise::insert(exec, set, k.const_view());
  CHECK(lanewise::statistics(exec, set).longest == 101);
  CHECK(lanewise::statistics(exec, set).elements == 3001);
}
