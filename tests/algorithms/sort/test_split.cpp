// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/sort/detail/split.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <algorithm>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

/// Small tiles, which the host stages in scratch whatever the size of the call.
struct staging_policy : launch_policy {
  static constexpr int warps = 2;
  static constexpr int items_per_lane = 4;
  static constexpr std::int64_t host_tile_bytes = 512;
  static constexpr std::int64_t host_bytes_staged = 0;
  static constexpr std::int64_t host_bytes_past_caches = 0;
};
/// As staging_policy, and never staged.
struct direct_policy : staging_policy {
  static constexpr std::int64_t host_bytes_staged = std::int64_t{1} << 60;
};

/// counts[c * buckets + b] for every column c of tiles.
template <class Key, class Policy>
struct count_columns {
  using policy = Policy;
  template <class Team>
  using scratch = typename detail::split_t<Team, Key, policy>::count_scratch;

  array_source<Key, identity> keys;
  std::int64_t tiles;
  std::int64_t columns;
  std::uint32_t buckets;
  std::uint32_t divisor;
  std::uint32_t* counts;
  std::uint32_t* tile_counts;
  std::uint64_t* bad;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using split = detail::split_t<Team, Key, policy>;
    const auto [begin, end] = team.share(columns);
    for (std::int64_t c = begin; c < end; ++c) {
      split::count(
          team, shared, keys, tiles, c, columns, keys.extent, test::modulo{divisor}, buckets,
          tile_counts, [&](std::uint32_t b, std::uint32_t x) { counts[c * buckets + b] = x; },
          [&](std::uint32_t x) { team.warp().fetch_add(*bad, x); });
      team.barrier();
    }
  }
};

/// An output that begins a little before place 2^32.
struct place_2_32 {
  static constexpr std::int64_t first = (std::int64_t{1} << 32) - 1000;
  template <class T>
  struct sink {
    static constexpr bool contiguous = false;
    T* data;
    std::int64_t extent;
    LANEWISE_FUNCTION void operator()(std::int64_t i, const T& x) const { data[i - first] = x; }
  };
};

/// Places the items; starts has the shape of counts, and the buckets' first places after. Values
/// are the keys' indices.
template <class Key, class Policy, template <class> class Sink>
struct place_columns {
  using policy = Policy;
  template <class Team>
  using scratch =
      typename detail::split_t<Team, Key, policy>::template scratch<sizeof(std::uint32_t)>;

  array_source<Key, identity> keys;
  array_source<std::uint32_t, identity> values;
  std::int64_t tiles;
  std::int64_t columns;
  std::uint32_t buckets;
  std::uint32_t divisor;
  const std::int64_t* starts;
  const std::uint32_t* tile_counts;
  bool all_good;
  std::int64_t last;
  Sink<Key> keys_out;
  Sink<std::uint32_t> values_out;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    using split = detail::split_t<Team, Key, policy>;
    const auto [begin, end] = team.share(split::pieces(tiles, columns));
    for (std::int64_t piece = begin; piece < end; ++piece) {
      split::place(team, shared, keys, tiles, piece, columns, keys.extent, test::modulo{divisor},
                   buckets, all_good, tile_counts, starts, last, keys_out, values, values_out);
      team.barrier();
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;
using lanewise::test_kernels::direct_policy;
using lanewise::test_kernels::staging_policy;
using u32 = std::uint32_t;

/// The output begins with place first, where a sink takes it from.
template <class Key, class Policy, template <class> class Sink = lanewise::array_sink>
void check_split(std::int64_t n, u32 buckets, u32 divisor, std::int64_t league, int shift,
                 bool in_order = false, std::int64_t first = 0) {
  using split = lanewise::detail::split_t<lanewise::team_t<space, Policy>, Key, Policy>;
  const auto exec = make_space();
  const std::int64_t tiles = lanewise::divide_up(n, split::tile_items(n));
  const std::int64_t columns = split::columns(tiles, league);
  auto items = random_items<Key>(n);
  if (in_order) {
    std::stable_sort(items.begin(), items.end(), [&](const Key& a, const Key& b) {
      return modulo{divisor}(a) < modulo{divisor}(b);
    });
  }
  std::vector<u32> indices(items.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<u32>(i);
  const array<Key> keys(items, shift);
  const array<u32> values(indices, shift + 1);
  const array<u32> counts(columns * buckets, 77u);
  const array<u32> tile_counts(split::tile_counters(tiles, buckets), 77u);
  const cell<std::uint64_t> bad;
  const array<Key> keys_out(n, item_of<Key>(77), shift + 2);
  const array<u32> values_out(n, 77u, shift + 3);

  lanewise::launch(exec, "Lanewise::test::count", league,
                   lanewise::test_kernels::count_columns<Key, Policy>{{keys.data(), n, {}},
                                                                      tiles,
                                                                      columns,
                                                                      buckets,
                                                                      divisor,
                                                                      counts.data(),
                                                                      tile_counts.data(),
                                                                      bad.data()});
  const auto expected = oracle::multisplit(items, buckets, modulo{divisor});
  const auto counted = counts.items();
  std::vector<std::int64_t> upto(counted.size() + buckets);
  std::int64_t last = first;
  for (u32 b = 0; b < buckets; ++b) {
    const std::int64_t bucket_first = last;
    upto[counted.size() + b] = last;
    for (std::int64_t c = 0; c < columns; ++c) {
      upto[static_cast<std::size_t>(c * buckets + b)] = last - bucket_first;
      last += counted[static_cast<std::size_t>(c * buckets + b)];
    }
  }
  const array<std::int64_t> starts(upto);
  lanewise::launch(
      exec, "Lanewise::test::place", league,
      lanewise::test_kernels::place_columns<Key, Policy, Sink>{{keys.data(), n, {}},
                                                               {values.data(), n, {}},
                                                               tiles,
                                                               columns,
                                                               buckets,
                                                               divisor,
                                                               starts.data(),
                                                               tile_counts.data(),
                                                               last - first == n,
                                                               last,
                                                               {keys_out.data(), n},
                                                               {values_out.data(), n}});

  CHECK(difference(keys_out.items(), oracle::gather(items, expected.index), keys_out.original()) ==
        "");
  CHECK(difference(values_out.items(), oracle::gather(indices, expected.index),
                   values_out.original()) == "");
  CHECK(bad.get() == expected.bad_items);
  CHECK(counts.guards_intact());
  CHECK(tile_counts.guards_intact());
  CHECK(keys_out.guards_intact());
  CHECK(values_out.guards_intact());
}

template <class Key>
void check_policies(std::int64_t n, u32 buckets, u32 divisor) {
  for (const std::int64_t league : {1, 3}) {
    for (const int shift : {0, 5}) {
      CAPTURE(n, buckets, divisor, league, shift);
      check_split<Key, staging_policy>(n, buckets, divisor, league, shift);
    }
    check_split<Key, staging_policy>(n, buckets, divisor, league, 1, true);
    check_split<Key, direct_policy>(n, buckets, divisor, league, 1);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("A split counts and places stably", "[split][sanitize]", u32,
                   affine MORE_TYPES(std::uint8_t, std::uint64_t)) {
  using split =
      lanewise::detail::split_t<lanewise::team_t<space, staging_policy>, TestType, staging_policy>;
  const std::int64_t tile = split::tile_items(0);
  // The last one has several tiles in a column.
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{33}, tile - 1, tile, tile + 1,
                               3 * tile + tile / 2 + 3, 14 * tile + 7}) {
    check_policies<TestType>(n, 1, 1);
    check_policies<TestType>(n, 9, 9);
    check_policies<TestType>(n, 32, 41);
    check_policies<TestType>(n, 256, 256);
  }
}

TEST_CASE("A split reaches places beyond 32 bits", "[split][sanitize]") {
  using lanewise::test_kernels::place_2_32;
  check_split<u32, direct_policy, place_2_32::sink>(3000, 41, 41, 2, 0, false, place_2_32::first);
  check_split<u32, direct_policy, place_2_32::sink>(3000, 32, 41, 2, 0, false, place_2_32::first);
}

TEST_CASE("A call of no items splits nothing", "[split]") {
  check_split<u32, staging_policy>(0, 9, 9, 1, 0);
}
