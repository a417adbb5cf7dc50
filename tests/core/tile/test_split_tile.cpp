// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/league/look_back_counts.hpp>
#include <lanewise/team/bucket_counts.hpp>
#include <lanewise/tile/split_tile.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <numeric>

// Items are counted, ranked and placed by tiles in one pass over them, as a radix sort does it.

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

/// Small tiles, so that few items make many of them; those of hosts are staged.
struct small_split_policy : launch_policy {
  static constexpr int warps = 2;
  static constexpr int items_per_lane = 4;
  static constexpr std::int64_t host_tile_bytes = 0;
  static constexpr std::int64_t host_bytes_staged = 1024;
  static constexpr std::int64_t host_bytes_past_caches = 8192;
};

/// Table 0 counts the buckets, table 1 the items that are odd, in two buckets.
template <class Key>
struct count_buckets {
  using policy = small_split_policy;
  template <class Team>
  using scratch = bucket_counters<2, most_buckets>;

  array_source<Key, identity> keys;
  std::uint32_t divisor;
  std::uint64_t* totals;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const index_range mine = team.share(keys.extent);
    clear(team, shared);
    team.barrier();
    count(team, shared, keys, mine.begin, mine.end, [this](const Key& key, int table) {
      const std::uint32_t b = test::modulo{divisor}(key);
      return table == 0 ? b : b % 2;
    });
    team.barrier();
    for_each_window(team, shared, [&](int first, const auto& counted) {
      const auto warp = team.warp();
      const auto sum = warp.template cast<std::uint64_t>(counted);
      warp.fetch_add(sum != std::uint64_t{0}, totals + first, warp.lane(), sum);
    });
  }
};

template <class Key, class Word, class Values, class ValueSink>
struct sweep {
  using policy = small_split_policy;
  template <class Team>
  using split = split_tile_t<Team, Key, policy>;
  template <class Team>
  struct scratch {
    typename split<Team>::template scratch<detail::value_bytes<Values>> tile;
    std::uint32_t ticket;
  };

  array_source<Key, identity> keys;
  array_sink<Key> keys_out;
  Values values;
  ValueSink values_out;
  std::uint32_t buckets;
  std::uint32_t divisor;
  std::int64_t end;
  look_back_offsets<Word> places;
  std::uint32_t* tickets;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    for (;;) {
      if (team.warp_index() == 0) {
        const std::uint32_t next = team.warp().fetch_add(*tickets, 1u);
        team.warp().once([&] { shared.ticket = next; });
      }
      team.barrier();
      auto here = places;
      here.tile = shared.ticket;
      const std::int64_t first = here.tile * std::int64_t{split<Team>::items};
      if (first >= keys.extent) return;
      split<Team>::place(team, shared.tile, keys, first, keys.extent, test::modulo{divisor},
                         buckets, divisor <= buckets, here, end, keys_out, values, values_out);
      team.barrier();
    }
  }
};

/// A value that is too large to be staged on devices.
struct large_value {
  std::uint32_t number[128];
  friend bool operator==(const large_value& a, const large_value& b) {
    return std::equal(a.number, a.number + 128, b.number);
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;
using lanewise::array_sink;
using lanewise::array_source;
using lanewise::identity;
using lanewise::test_kernels::large_value;
using u32 = std::uint32_t;

template <class T>
array_source<T, identity> source_of(const array<T>& a) {
  return {a.const_view().data(), static_cast<std::int64_t>(a.const_view().extent(0)), {}};
}
template <class T>
array_sink<T> sink_of(const array<T>& a) {
  return {a.view().data(), static_cast<std::int64_t>(a.view().extent(0))};
}

/// Places the keys, and what values and sink say, and returns what the keys have become. A divisor
/// above m makes items that go nowhere.
template <class Word, class Key, class Values, class ValueSink>
void split_in_one_pass(const std::vector<Key>& items, u32 m, u32 divisor, const array<Key>& out,
                       const Values& values, const ValueSink& sink) {
  using count_type = lanewise::test_kernels::count_buckets<Key>;
  using sweep_type = lanewise::test_kernels::sweep<Key, Word, Values, ValueSink>;
  using backend = lanewise::backend_of<space>;
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  constexpr std::int64_t tile = sweep_type::template split<
      lanewise::team_t<space, lanewise::test_kernels::small_split_policy>>::items;
  const std::int64_t tiles = lanewise::divide_up(n, tile);
  const array<Key> keys(items);
  const array<std::uint64_t> totals(512, 0);
  lanewise::launch(exec, "count", backend::template resident_league<count_type>(exec, tiles),
                   count_type{source_of(keys), divisor, totals.view().data()});

  const auto expected = oracle::multisplit(items, m, modulo{divisor});
  std::vector<std::uint64_t> starts(256, 0), odd(2, 0);
  exec.fence();
  const auto counted = totals.items();
  for (u32 b = 0; b < m; ++b) {
    starts[b] = static_cast<std::uint64_t>(expected.offsets[b]);
    CHECK(counted[b] == static_cast<std::uint64_t>(expected.offsets[b + 1] - expected.offsets[b]));
  }
  for (const Key& key : items) ++odd[modulo{divisor}(key) % 2];
  CHECK(counted[256] == odd[0]);
  CHECK(counted[257] == odd[1]);

  const array<std::uint64_t> begin(starts);
  const array<Word> words(tiles * m, Word{0});
  const array<u32> tickets(1, 0u);
  lanewise::launch(exec, "sweep", backend::template league_for_tiles<sweep_type>(exec, tiles + 1),
                   sweep_type{source_of(keys),
                              sink_of(out),
                              values,
                              sink,
                              m,
                              divisor,
                              expected.offsets[m],
                              {{words.view().data(), m}, begin.view().data(), 0},
                              tickets.view().data()});
  exec.fence();
  CHECK(difference(out.items(), oracle::gather(items, expected.index), out.original()) == "");
  CHECK(out.guards_intact());
  CHECK(words.guards_intact());
}

template <class Word, class Key>
void check_keys_in_one_pass(const std::vector<Key>& items, u32 m, u32 divisor) {
  const array<Key> out(static_cast<std::int64_t>(items.size()), item_of<Key>(77), 1);
  split_in_one_pass<Word>(items, m, divisor, out, nullptr, nullptr);
}

/// make(i) is the value of item i.
template <class Value, class Word, class Key, class Make>
void check_pairs_in_one_pass(const std::vector<Key>& items, u32 m, u32 divisor, Make make) {
  std::vector<Value> given(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) given[i] = make(static_cast<u32>(i));
  const array<Key> out(static_cast<std::int64_t>(items.size()), item_of<Key>(77), 3);
  const array<Value> values(given), values_out(static_cast<std::int64_t>(items.size()), make(~0u));
  split_in_one_pass<Word>(items, m, divisor, out, source_of(values), sink_of(values_out));
  const auto expected = oracle::gather(given, oracle::multisplit(items, m, modulo{divisor}).index);
  const auto got = values_out.items();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    wrong += !(got[i] == (i < expected.size() ? expected[i] : make(~0u)));
  CHECK(wrong == 0);
  CHECK(values_out.guards_intact());
}

}  // namespace

TEST_CASE("Tiles are split in one pass at every size", "[split_tile][sanitize]") {
  for (const std::int64_t n : {1, 31, 32, 33, 255, 256, 257, 1000, 3071, 3073, 10'007}) {
    for (const u32 m : {1u, 7u, 33u, 256u}) {
      CAPTURE(n, m);
      check_keys_in_one_pass<u32>(random_items<u32>(n), m, m);
      check_pairs_in_one_pass<u32, u32>(random_items<u32>(n), m, m, [](u32 i) { return i; });
    }
  }
}

TEST_CASE("Tiles are split in one pass for every distribution", "[split_tile]") {
  for (const distribution d : all_distributions) {
    for (const u32 m : {7u, 256u}) {
      CAPTURE(d, m);
      const auto items = items_of<u32>(numbers(d, 20'011, most_number<u32>(), m));
      check_keys_in_one_pass<std::uint64_t>(items, m, m);
      check_pairs_in_one_pass<u32, u32>(items, m, m, [](u32 i) { return i; });
    }
  }
}

TEST_CASE("Items outside of the buckets go nowhere", "[split_tile][sanitize]") {
  for (const u32 m : {1u, 31u, 40u, 256u}) {
    CAPTURE(m);
    check_keys_in_one_pass<u32>(random_items<u32>(3000), m, m + m / 3 + 1);
    check_pairs_in_one_pass<u32, u32>(random_items<u32>(3000), m, 2 * m, [](u32 i) { return i; });
  }
}

TEST_CASE("Values that are not staged follow their keys", "[split_tile][sanitize]") {
  const auto large = [](u32 i) {
    large_value v;
    for (u32 k = 0; k < 128; ++k) v.number[k] = i * 128 + k;
    return v;
  };
  check_pairs_in_one_pass<large_value, u32>(random_items<u32>(2000), 40, 40, large);
  check_pairs_in_one_pass<large_value, std::uint64_t>(random_items<u32>(777), 200, 210, large);
}
