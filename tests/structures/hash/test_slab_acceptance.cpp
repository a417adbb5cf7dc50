// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <structures/hash/check_slab.hpp>

// What a slab hash must do (Ashkiani, chapter 5), as far as no other suite has it: layout and
// utilisation, builds and searches, mixes of operations, deletions and flushes, a full pool.

LANEWISE_BEGIN_TARGET_NAMESPACE
namespace test_kernels {

/// Inserts keys 0 to n - 1 until there is no room: each warp in turn its windows of 32 together,
/// and every lane for itself.
template <class View>
struct fill_kernel {
  using policy = two_warps;
  template <class Team>
  struct scratch {};

  View table;
  table_status* status;
  unsigned char* alone;
  std::uint32_t n;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    using solo = typename warp_type::template part<1>;
    const auto warp = team.warp();
    const std::int64_t id = number_of_warp(team);
    slab_resident<warp_type> mine(warp, static_cast<std::uint64_t>(id));
    each_number(team, n, [&](auto key, const auto& active, std::uint32_t round) {
      const auto number = key;
      auto value = key;
      auto came = warp.map([](std::uint32_t) { return table_status::none; }, key);
      const bool by_warp = (round + id) % 2 == 0;
      if (by_warp) {
        came = table.insert(warp, mine, active, key, value);
      } else {
        warp.each(
            active,
            [this](std::uint32_t& k, std::uint32_t& v, table_status& s) {
              s = slab_scalar_face<View, solo>(table, k).insert(k, v);
            },
            key, value, came);
      }
      warp.scatter(active, status, number, came);
      warp.scatter(
          active, alone, number,
          warp.map([by_warp](std::uint32_t) { return static_cast<unsigned char>(!by_warp); }, key));
    });
  }
};

}  // namespace test_kernels
LANEWISE_END_TARGET_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
std::vector<T> numbers(std::size_t n, T first = 0) {
  std::vector<T> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<T>(first + i);
  return v;
}

/// Elements per slot of the first slabs, and the utilisation that lists of Poisson lengths have.
template <class Table, class Put>
void check_utilisation(const std::vector<std::pair<double, double>>& expected, const Put& put) {
  const auto exec = make_space();
  const u32 n = is_emulated ? 1 << 14 : full() ? 1 << 22 : 1 << 18;
  const array<u32> k(numbers<u32>(n));
  for (const auto& [load, utilisation] : expected) {
    CAPTURE(load);
    Table table(exec, {.expected = n, .load = load});
    put(exec, table, k.const_view());
    const auto s = lanewise::statistics(exec, table);
    // Lists are fewer at high loads, and the mean of their lengths less certain.
    CHECK(std::abs(s.utilisation - utilisation) < (is_emulated ? 0.02 : 0.01));
    // Lists are rounded up, and one is added.
    CHECK(std::abs(s.load - load) <= 2 * load / static_cast<double>(s.buckets));
    std::int64_t lists = 0, slabs = 0;
    for (int l = 0; l < 8; ++l) {
      lists += s.lists[l];
      slabs += s.lists[l] * (l + 1);
    }
    CHECK(lists == s.buckets + 1);
    if (s.longest <= 8) CHECK(slabs == s.slabs);
    CHECK(s.lists[std::min<std::int64_t>(s.longest, 8) - 1] > 0);
  }
}

/// A table of one list, filled with n elements and then all but the last `left` deleted.
template <class Key, class Value>
void check_flush(u32 n, u32 left) {
  CAPTURE(n, left);
  using map_type = lanewise::slab_hash_map<Key, Value, memory>;
  constexpr u32 elements = map_type::layout::elements;
  const auto exec = make_space();
  const array<Key> k(numbers<Key>(n));
  const array<Value> v(numbers<Value>(n, 100));
  map_type map(exec, {.buckets = 1, .units = 1});
  const auto chain = [&] { return lanewise::statistics(exec, map).slabs - 1; };
  const auto slabs_of = [](u32 m) {
    return std::max<std::int64_t>(1, (m + elements - 1) / elements);
  };
  lanewise::insert(exec, map, k.const_view(), v.const_view());
  REQUIRE(chain() == slabs_of(n));

  lanewise::erase(exec, map, Kokkos::subview(k.const_view(), std::make_pair(0u, n - left)));
  CHECK(chain() == slabs_of(n));
  CHECK(lanewise::statistics(exec, map).deleted == n - left);
  lanewise::flush(exec, map);

  CHECK(chain() == slabs_of(left));
  CHECK(lanewise::usage(exec, map.pool()).allocated == slabs_of(left) - 1);
  const auto all = contents(exec, map);
  REQUIRE(all.size() == left);
  for (u32 i = 0; i < left; ++i) {
    const u32 number = n - left + i;
    REQUIRE(all[i] == std::pair(static_cast<Key>(number), static_cast<Value>(number + 100)));
  }
}

/// Percent of insertions, deletions, searches that hit and that miss, on distinct keys.
template <class T>
void check_mix(int insertions, int deletions, int hits) {
  CAPTURE(insertions, deletions, hits);
  const auto exec = make_space();
  const u32 n = is_emulated ? 2000 : 100'000;
  auto random = make_random(static_cast<u32>(insertions));
  lanewise::slab_hash_map<T, T, memory> map(exec, {.expected = n});
  const array<T> there(numbers<T>(n));
  lanewise::insert(exec, map, there.const_view(), there.const_view());

  std::vector<table_operation> operations(n);
  std::vector<T> keys(n), values(n);
  std::vector<table_status> status(n);
  std::vector<std::pair<T, T>> expected;
  for (u32 i = 0; i < n; ++i) {
    const int r = static_cast<int>(random() % 100);
    const bool puts = r < insertions, takes = !puts && r < insertions + deletions;
    const bool hit = !puts && !takes && r < insertions + deletions + hits;
    operations[i] = puts    ? table_operation::insert
                    : takes ? table_operation::erase
                            : table_operation::find;
    status[i] = puts    ? table_status::inserted
                : takes ? table_status::erased
                : hit   ? table_status::found
                        : table_status::absent;
    keys[i] = takes || hit ? static_cast<T>(i) : static_cast<T>(n + i);
    values[i] = keys[i] + 5;
    if (!takes) expected.emplace_back(static_cast<T>(i), static_cast<T>(i));
    if (puts) expected.emplace_back(keys[i], values[i]);
  }
  const array<table_operation> o(operations);
  const array<T> k(keys), v(values);

  const auto got = reported(n, [&](const auto& with) {
    lanewise::apply(exec, map, o.const_view(), k.const_view(), v.view(), with);
  });

  CHECK(got.status == status);
  const auto after = v.items();
  for (u32 i = 0; i < n; ++i) {
    if (status[i] == table_status::found) REQUIRE(after[i] == keys[i]);
    if (status[i] == table_status::absent) REQUIRE(after[i] == values[i]);
  }
  std::sort(expected.begin(), expected.end());
  CHECK((contents(exec, map) == expected));
  check_no_leak(exec, map);
}

}  // namespace

TEST_CASE("Utilisation follows the model of Poisson lists", "[slab_acceptance]") {
  check_utilisation<lanewise::slab_hash_map<u32, u32, memory>>(
      {{0.1, 0.094},
       {0.2, 0.1875},
       {0.4, 0.375},
       {0.6, 0.550},
       {0.7, 0.614},
       {0.8, 0.649},
       {0.9, 0.658},
       {1.0, 0.655},
       {1.1, 0.652},
       {1.5, 0.707},
       {2.0, 0.764},
       {3.0, 0.812},
       {5.0, 0.858}},
      [](const auto& exec, auto& map, const auto& keys) {
        lanewise::assign(exec, map, keys, keys);
      });
  check_utilisation<lanewise::slab_hash_set<u32, memory>>(
      {{0.2, 0.1875}, {0.6, 0.561}, {0.8, 0.684}, {1.0, 0.646}, {1.1, 0.621}, {5.0, 0.856}},
      [](const auto& exec, auto& set, const auto& keys) { lanewise::insert(exec, set, keys); });
}

TEST_CASE("A slab has pairs of words, a link, and is full at 15/16", "[slab_acceptance]") {
  const auto exec = make_space();
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.buckets = 1, .units = 1});
  const array<u32> k(numbers<u32>(15 * 40, 1000)), v(numbers<u32>(15 * 40, 2000));
  // One call each, as those of one call come in any order.
  for (u32 i = 0; i < 17; ++i) {
    const auto one = std::make_pair(i, i + 1);
    lanewise::insert(exec, map, Kokkos::subview(k.const_view(), one),
                     Kokkos::subview(v.const_view(), one));
  }
  const auto host = map.copy_to<Kokkos::HostSpace>(exec);
  const auto expect_pairs = [](const lanewise::slab_unit& slab, u32 first, u32 last) {
    for (u32 i = 0; i < 15; ++i) {
      const bool there = first + i < last;
      CHECK(slab.word[2 * i] == (there ? 1000 + first + i : ~0u));
      CHECK(slab.word[2 * i + 1] == (there ? 2000 + first + i : ~0u));
    }
  };
  const auto& head = host.heads()(0);
  expect_pairs(head, 0, 15);
  CHECK(head.word[30] == ~0u);
  // A pool's units lie after the bitmaps of its blocks.
  const auto& second = host.pool().super_blocks()[0](1 + head.word[31]);
  expect_pairs(second, 15, 17);
  CHECK(second.word[31] == lanewise::no_unit);

  lanewise::insert(exec, map, k.const_view(), v.const_view());
  const auto s = lanewise::statistics(exec, map);
  CHECK(s.longest == 40);
  // The list of keys under other names is empty.
  CHECK(s.utilisation * s.slabs / (s.slabs - 1) == 0.9375);
}

TEST_CASE("All keys of a table are found with their values, and no others", "[slab_acceptance]") {
  const auto exec = make_space();
  const u32 n = is_emulated ? 5000 : full() ? 1 << 22 : 1 << 19;
  const array<u64> k(numbers<u64>(n, u64{1} << 33)), v(numbers<u64>(n, 7)), out(n, u64{3});
  const array<u64> others(numbers<u64>(n, (u64{1} << 33) + n));
  lanewise::slab_hash_map<u64, u64, memory> map(exec, {.expected = n});
  lanewise::insert(exec, map, k.const_view(), v.const_view());

  const auto none = reported(n, [&](const auto& with) {
    lanewise::find(exec, map, others.const_view(), out.view(), with);
  });
  CHECK(none.tally[table_status::absent] == n);
  CHECK(out.unchanged());
  const auto all = reported(
      n, [&](const auto& with) { lanewise::find(exec, map, k.const_view(), out.view(), with); });
  CHECK(all.tally[table_status::found] == n);
  CHECK(out.items() == v.original());
}

TEST_CASE(
    "Keys of one bucket that many replace at once are there once, in as many slabs as they fill",
    "[slab_acceptance][sanitize]") {
  for (const auto& exec : concurrent_spaces(3, 100)) {
    const u32 distinct = is_emulated ? 400 : 3000, times = 4;
    std::vector<u32> keys(distinct * times);
    for (u32 i = 0; i < keys.size(); ++i) keys[i] = i % distinct;
    auto random = make_random(distinct);
    std::shuffle(keys.begin(), keys.end(), random);
    const array<u32> k(keys);
    lanewise::slab_hash_map<u32, u32, memory> map(exec, {.buckets = 1, .units = 1});

    lanewise::assign(exec, map, k.const_view(), k.const_view());

    const auto s = lanewise::statistics(exec, map);
    CHECK(s.elements == distinct);
    CHECK(s.longest == (distinct + 14) / 15);
    CHECK(contents(exec, map).size() == distinct);
    check_no_leak(exec, map);
  }
}

TEST_CASE("Deleted places are used again after flush only", "[slab_acceptance]") {
  const auto exec = make_space();
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.buckets = 1, .units = 1});
  const array<u32> k(numbers<u32>(30)), again(std::vector<u32>{3, 4, 40}), v(30, 1u);
  lanewise::insert(exec, map, k.const_view(), v.const_view());
  lanewise::erase(exec, map, Kokkos::subview(k.const_view(), std::make_pair(0, 10)));

  const auto result = reported(3, [&](const auto& with) {
    lanewise::assign(exec, map, again.const_view(), v.const_view(), with);
  });

  CHECK(result.tally[table_status::inserted] == 3);
  auto s = lanewise::statistics(exec, map);
  CHECK(s.deleted == 10);
  CHECK(s.longest == 3);  // 30 places and 3
  lanewise::flush(exec, map);
  s = lanewise::statistics(exec, map);
  CHECK(s.deleted == 0);
  CHECK(s.longest == 2);
  CHECK(s.elements == 23);
}

TEST_CASE("flush leaves as many slabs as the elements need", "[slab_acceptance][sanitize]") {
  for (const u32 left : {0u, 1u, 14u, 15u, 16u, 29u, 30u, 31u, 150u, 299u, 300u}) {
    check_flush<u32, u32>(300, left);
    check_flush<u64, u32>(300, left);
  }
  check_flush<u64, u64>(1000, 7);
  check_flush<u32, u64>(1000, 14);
}

TEST_CASE("Mixes of operations on keys of their own come out as one by one",
          "[slab_acceptance][sanitize]") {
  check_mix<u32>(50, 50, 0);
  check_mix<u32>(20, 20, 30);
  check_mix<u32>(10, 10, 40);
  check_mix<u64>(20, 20, 30);
}

TEST_CASE("Warps and single threads are told when the pool is full",
          "[slab_acceptance][sanitize]") {
  const auto exec = make_space();
  const u32 n = 20'000;
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.buckets = 64, .units = 1});
  const array<table_status> status(n, table_status::none);
  const array<unsigned char> alone(n, 0);
  const array<u32> k(numbers<u32>(n)), out(n, ~0u);

  lanewise::launch(exec, "fill", 4,
                   lanewise::test_kernels::fill_kernel<decltype(map.view())>{
                       map.view(), status.data(), alone.data(), n});

  const auto came = status.items();
  const auto by_thread = alone.items();
  u32 refused[2] = {};
  const auto found = reported(
      n, [&](const auto& with) { lanewise::find(exec, map, k.const_view(), out.view(), with); });
  for (u32 i = 0; i < n; ++i) {
    const bool there = came[i] == table_status::inserted;
    if (!there) REQUIRE(came[i] == table_status::no_room);
    REQUIRE(found.status[i] == (there ? table_status::found : table_status::absent));
    refused[by_thread[i]] += !there;
  }
  CHECK(refused[0] > 0);
  CHECK(refused[1] > 0);
  CHECK(lanewise::usage(exec, map.pool()).allocated == 1024);
  check_no_leak(exec, map);
}
