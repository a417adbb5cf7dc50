// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/tile/merge_tile.hpp>
#include <support/oracle.hpp>
#include <support/orders.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <numeric>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

template <int per_lane>
struct merge_policy : launch_policy {
  static constexpr int warps = 2;
  static constexpr int items_per_lane = per_lane;
  static constexpr std::int64_t host_tile_bytes = 256;
};

/// Merges two sequences with a value for each item, tile by tile; every other tile is cut by the
/// kernel.
template <class T, class Less, int per_lane>
struct merge_all {
  using policy = merge_policy<per_lane>;
  template <class Team>
  using tile = merge_tile_t<Team, T, policy>;
  template <class Team>
  struct scratch {
    typename tile<Team>::scratch tile;
  };

  const T* a;
  std::int64_t n_a;
  const T* b;
  std::int64_t n_b;
  const std::int64_t* with[2];
  T* out;
  std::int64_t* values;
  T* keys;  // without values

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    // No whole tiles, so that pieces end anywhere.
    constexpr std::int64_t items = tile<Team>::items - 3;
    const array_source<T, identity> in_a{a, n_a, {}};
    const array_source<T, identity> in_b{b, n_b, {}};
    const auto pair = [this](std::int64_t i, const T& x, merge_origin from) {
      out[i] = x;
      values[i] = with[from.sequence][from.index];
    };
    const array_sink<T> alone{keys, n_a + n_b};
    const auto mine = team.share(divide_up(n_a + n_b, items));
    for (std::int64_t t = mine.begin; t < mine.end; ++t) {
      const std::int64_t first = t * items;
      const std::int64_t last = first + items < n_a + n_b ? first + items : n_a + n_b;
      if (t % 2 == 0) {
        merge_tile<T, policy>(team, shared.tile, in_a, n_a, in_b, n_b, first, last, pair, Less{});
      } else {
        const auto piece = cut_merge(team.warp(), in_a, n_a, in_b, n_b, first, last, Less{});
        merge_tile<T, policy>(team, shared.tile, in_a, in_b, piece, pair, Less{});
      }
      merge_tile<T, policy>(team, shared.tile, in_a, n_a, in_b, n_b, first, last, alone, Less{});
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;

template <class T, int per_lane>
void check_merge(const std::vector<T>& a, const std::vector<T>& b, std::int64_t league) {
  using order = order_of<T>;
  using kernel = lanewise::test_kernels::merge_all<T, order, per_lane>;
  const auto n_a = static_cast<std::int64_t>(a.size()), n_b = static_cast<std::int64_t>(b.size());
  CAPTURE(n_a, n_b, league, per_lane);
  std::vector<std::int64_t> value_a, value_b;
  for (std::int64_t i = 0; i < n_a; ++i) value_a.push_back(2 * i);
  for (std::int64_t i = 0; i < n_b; ++i) value_b.push_back(2 * i + 1);
  const array<T> in_a(a, 1), in_b(b), out(n_a + n_b, item_of<T>(77)),
      keys(n_a + n_b, item_of<T>(77), 1);
  const array<std::int64_t> with_a(value_a), with_b(value_b), values(n_a + n_b, -7);

  lanewise::launch(make_space(), "Lanewise::test::merge", league,
                   kernel{in_a.data(),
                          n_a,
                          in_b.data(),
                          n_b,
                          {with_a.data(), with_b.data()},
                          out.data(),
                          values.data(),
                          keys.data()});

  struct pair {
    T key;
    std::int64_t value;
  };
  std::vector<pair> pairs_a, pairs_b, merged(a.size() + b.size());
  for (std::size_t i = 0; i < a.size(); ++i) pairs_a.push_back({a[i], value_a[i]});
  for (std::size_t i = 0; i < b.size(); ++i) pairs_b.push_back({b[i], value_b[i]});
  std::merge(pairs_a.begin(), pairs_a.end(), pairs_b.begin(), pairs_b.end(), merged.begin(),
             [](const pair& x, const pair& y) { return order{}(x.key, y.key); });
  std::vector<T> expected;
  std::vector<std::int64_t> expected_values;
  for (const pair& p : merged) {
    expected.push_back(p.key);
    expected_values.push_back(p.value);
  }
  CHECK(difference(out.items(), expected) == "");
  CHECK(difference(values.items(), expected_values) == "");
  CHECK(difference(keys.items(), expected) == "");
  CHECK(out.guards_intact());
  CHECK(keys.guards_intact());
}

/// Small numbers of items, and what a tile of a team of `warps` warps has.
template <class T, int per_lane>
std::vector<std::int64_t> merge_sizes() {
  using team = lanewise::team_t<space, lanewise::test_kernels::merge_policy<per_lane>>;
  const std::int64_t tile =
      lanewise::merge_tile_t<team, T, lanewise::test_kernels::merge_policy<per_lane>>::items;
  return {0, 1, 31, 33, tile - 3, tile + 17, 3 * tile + 1};
}

}  // namespace

TEMPLATE_TEST_CASE("Teams merge two sequences with their values", "[merge][sanitize]",
                   std::uint32_t, affine MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  for (const std::int64_t n_a : merge_sizes<TestType, 5>()) {
    for (const std::int64_t n_b : merge_sizes<TestType, 5>()) {
      for (const std::uint64_t distinct : {1, 3, 200})
        check_merge<TestType, 5>(sorted_items<TestType>(n_a, distinct, 7),
                                 sorted_items<TestType>(n_b, distinct, 8), 2);
    }
  }
}

TEST_CASE("Lanes of a merge tile have any number of items", "[merge][sanitize]") {
  for (const std::int64_t n : {1, 40, 1000}) {
    const auto a = sorted_items<affine>(n, 50, 1), b = sorted_items<affine>(2 * n, 50, 2);
    check_merge<affine, 1>(a, b, 3);
    check_merge<affine, 2>(a, b, 3);
    check_merge<affine, 7>(a, b, 1);
    check_merge<affine, 16>(a, b, 1);
  }
}

TEST_CASE("Sequences that do not overlap are merged", "[merge][sanitize]") {
  std::vector<std::uint32_t> low(700), high(900);
  std::iota(low.begin(), low.end(), 0u);
  std::iota(high.begin(), high.end(), 700u);
  check_merge<std::uint32_t, 5>(low, high, 2);
  check_merge<std::uint32_t, 5>(high, low, 2);
}
