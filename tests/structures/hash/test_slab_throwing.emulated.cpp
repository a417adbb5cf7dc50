// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/emulated.hpp>
#include <lanewise/hash/slab_bulk.hpp>
#include <lanewise/hash/slab_hash_map.hpp>
#include <lanewise/hash/slab_sort.hpp>
#include <support/environment.hpp>
#include <support/throwing.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

// What a functor throws on Serial and on the emulated backend reaches the caller. A table is left
// as it is after some of the call's operations.

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <class T>
Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> view(std::vector<T>& items) {
  return Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(items.data(), items.size());
}

template <class Exec>
std::vector<Exec> instances() {
  if constexpr (std::is_same_v<Exec, lanewise::emulated>) {
    std::vector<Exec> all;
    for (u32 s = 0; s < 2; ++s) {
      all.emplace_back(seed() + s, 4, lanewise::interleaving::seeded);
      all.emplace_back(seed() + s, 4);
    }
    return all;
  } else {
    return {Exec()};
  }
}

template <class T, class Exec, class Table>
std::map<T, T> contents(const Exec& exec, const Table& table) {
  std::map<T, T> all;
  std::mutex guard;
  i64 elements = 0;
  lanewise::for_each(exec, table, [&](const T& key, const T& value) {
    const std::lock_guard lock(guard);
    all[key] = value;
    ++elements;
  });
  CHECK(elements == static_cast<i64>(all.size()));
  return all;
}

/// No unit of the pool is lost: all that are allocated are in a list.
template <class Exec, class Table>
void check_pool(const Exec& exec, const Table& table) {
  const auto s = lanewise::statistics(exec, table);
  CHECK(lanewise::usage(exec, table.pool()).allocated == s.slabs - s.buckets - 1);
}

constexpr i64 distinct = 3000;

/// Every key twice, in another order the second time.
template <class T>
std::vector<T> some_keys() {
  std::vector<T> keys;
  for (i64 i = 0; i < 2 * distinct; ++i) keys.push_back(static_cast<T>(i * 7 % distinct));
  return keys;
}

template <class F>
bool throws(F f) {
  try {
    f();
  } catch (const functor_error&) {
    return true;
  }
  return false;
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("An exception of a combination leaves a table whole", "[slab_throwing]",
                           std::pair,
                           ((Kokkos::Serial, u32), (Kokkos::Serial, u64), (lanewise::emulated, u32),
                            (lanewise::emulated, u64))) {
  using Exec = typename TestType::first_type;
  using T = typename TestType::second_type;
  using map_type = lanewise::slab_hash_map<T, T, Kokkos::HostSpace>;
  auto keys = some_keys<T>();
  std::vector<T> ones(keys.size(), 1);
  for (const Exec& exec : instances<Exec>()) {
    for (const long k : {0L, 1L, 500L, 2500L}) {
      CAPTURE(Exec::name(), k);
      fuse at;
      const throwing<lanewise::plus> sum{&at, {}};
      // Long lists: most operations find no room in the first slab.
      map_type table(exec, {.buckets = 40, .units = 2000});
      at.set(k, k % 2 == 0);
      CHECK(throws([&] { lanewise::upsert(exec, table, view(keys), view(ones), sum); }));
      at.set(fuse::never, false);
      check_pool(exec, table);
      const auto before = contents<T>(exec, table);
      i64 wrong = 0;
      for (const auto& [key, value] : before)
        wrong += key >= static_cast<T>(distinct) || value < 1 || value > 2;
      CHECK(wrong == 0);
      lanewise::upsert(exec, table, view(keys), view(ones), sum);
      check_pool(exec, table);
      const auto after = contents<T>(exec, table);
      CHECK(static_cast<i64>(after.size()) == distinct);
      for (const auto& [key, value] : after) {
        const auto had = before.find(key);
        wrong += value != 2 + (had == before.end() ? 0 : had->second);
      }
      CHECK(wrong == 0);
      // If a functor that reads throws, nothing changes.
      at.set(k, false);
      const throwing look{&at, [](const T&, const T&) { return 0; }};
      CHECK(throws([&] { lanewise::for_each(exec, table, look); }));
      CHECK(contents<T>(exec, table) == after);
    }
  }
}

TEMPLATE_TEST_CASE("An exception of a hash leaves a table whole, also while it grows",
                   "[slab_throwing]", Kokkos::Serial, lanewise::emulated) {
  using hash = throwing<lanewise::slab_hash<u32>>;
  using map_type = lanewise::slab_hash_map<u32, u32, Kokkos::HostSpace, hash>;
  auto keys = some_keys<u32>();
  auto values = keys;
  for (const TestType& exec : instances<TestType>()) {
    for (const auto order : {lanewise::slab_order::as_given, lanewise::slab_order::by_region}) {
      fuse at;
      const auto fill = [&](map_type& table) {
        lanewise::insert(exec, table, view(keys), view(values),
                         lanewise::slab_sorted{.order = order});
      };
      const auto make = [&] { return map_type(exec, {.expected = 10, .units = 1}, hash{&at, {}}); };
      auto first = make();
      fill(first);
      const long calls = fuse::never - at.left;
      for (const long k : {0L, calls / 4, calls / 2, calls * 3 / 4, calls * 7 / 8}) {
        CAPTURE(TestType::name(), k, calls, static_cast<int>(order));
        at.set(fuse::never, false);
        auto table = make();
        at.set(k, false);
        // How many calls there are depends on how often lists are lengthened.
        const bool thrown = throws([&] { fill(table); });
        CHECK((thrown || k > calls / 2));
        at.set(fuse::never, false);
        check_pool(exec, table);
        i64 wrong = 0;
        for (const auto& [key, value] : contents<u32>(exec, table))
          wrong += key >= distinct || key != value;
        CHECK(wrong == 0);
        fill(table);
        check_pool(exec, table);
        CHECK(static_cast<i64>(contents<u32>(exec, table).size()) == distinct);
      }
    }
  }
}
