// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/tile/tile_sort.hpp>
#include <support/oracle.hpp>
#include <support/orders.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

enum class sorted { alone, ranked, paired };

/// Sorts block after block of `length` items in scratch; the last may be shorter.
template <class T, class Less, int team_warps, int most, sorted how>
struct sort_blocks {
  struct policy : launch_policy {
    static constexpr int warps = team_warps;
  };
  template <class Team>
  struct scratch {
    sort_scratch<Team, T, most> sort;
    T item[most];
    std::uint64_t value[how == sorted::paired ? most : 1];
  };

  const T* in;
  std::int64_t n;
  int length;
  T* out;
  std::int64_t* from;   // where item i was, in its block
  std::int64_t* ranks;  // where item i went

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    const auto warp = team.warp();
    const auto lane = warp.lane();
    constexpr int width = Team::warp_type::width;
    const auto blocks = team.share(divide_up(n, length));
    for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
      const std::int64_t first = b * length;
      const int here = static_cast<int>(n - first < length ? n - first : length);
      // Other warps write, and read, than have to do with an item in the sort.
      for (int at = (Team::warps - 1 - team.warp_index()) * width; at < here;
           at += Team::warps * width) {
        const auto exist = warp.first(here - at);
        warp.store(exist, shared.item + at, warp.load(exist, in + first + at, T{}));
        if constexpr (how == sorted::paired)
          warp.store(exist, shared.value + at,
                     warp.map([=](std::uint32_t l) { return std::uint64_t{3} * (at + l); }, lane));
      }
      if constexpr (how == sorted::alone) {
        sort(team, shared.sort, shared.item, here, Less{});
      } else if constexpr (how == sorted::ranked) {
        sort(team, shared.sort, shared.item, here, Less{},
             [this, first](int i, const T& x, int was) {
               out[first + i] = x;
               from[first + i] = was;
               ranks[first + was] = i;
             });
      } else {
        sort_pairs(team, shared.sort, shared.item, shared.value, here, Less{});
      }
      if constexpr (how != sorted::ranked)
        copy_out(team, shared, first, here);  // else the scratch is free
    }
  }

 private:
  template <class Team>
  LANEWISE_FUNCTION void copy_out(const Team& team, scratch<Team>& shared, std::int64_t first,
                                  int here) const {
    constexpr int width = Team::warp_type::width;
    const auto warp = team.warp();
    for (int at = (Team::warps - 1 - team.warp_index()) * width; at < here;
         at += Team::warps * width) {
      const auto exist = warp.first(here - at);
      warp.store(exist, out + first + at, warp.load(exist, shared.item + at, T{}));
      if constexpr (how == sorted::paired)
        warp.store(exist, from + first + at,
                   warp.map([](std::uint64_t v) { return static_cast<std::int64_t>(v / 3); },
                            warp.load(exist, shared.value + at, std::uint64_t{0})));
    }
    team.barrier();
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;
using lanewise::test_kernels::sorted;

template <class T, int warps, int most, sorted how>
void check_sort(const std::vector<T>& items, int length) {
  using order = order_of<T>;
  using kernel = lanewise::test_kernels::sort_blocks<T, order, warps, most, how>;
  const auto n = static_cast<std::int64_t>(items.size());
  CAPTURE(n, length, warps, most, static_cast<int>(how));
  const array<T> in(items, 1), out(n, item_of<T>(77));
  const array<std::int64_t> from(n, -7), ranks(n, -7);

  lanewise::launch(make_space(), "Lanewise::test::sort", 2,
                   kernel{in.data(), n, length, out.data(), from.data(), ranks.data()});

  std::vector<T> expected;
  std::vector<std::int64_t> expected_from, expected_ranks(items.size());
  for (std::int64_t first = 0; first < n; first += length) {
    std::vector<std::int64_t> was;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(length, n - first); ++i) was.push_back(i);
    const auto at = [&](std::int64_t i) { return items[static_cast<std::size_t>(first + i)]; };
    std::stable_sort(was.begin(), was.end(),
                     [&](std::int64_t x, std::int64_t y) { return order{}(at(x), at(y)); });
    for (std::size_t i = 0; i < was.size(); ++i) {
      expected.push_back(at(was[i]));
      expected_from.push_back(was[i]);
      expected_ranks[static_cast<std::size_t>(first + was[i])] = static_cast<std::int64_t>(i);
    }
  }
  CHECK(difference(out.items(), expected) == "");
  CHECK(out.guards_intact());
  if constexpr (how != sorted::alone) CHECK(difference(from.items(), expected_from) == "");
  if constexpr (how == sorted::ranked) CHECK(difference(ranks.items(), expected_ranks) == "");
}

template <class T, int warps, int most>
void check_sorts(const std::vector<T>& items, int length) {
  check_sort<T, warps, most, sorted::alone>(items, length);
  check_sort<T, warps, most, sorted::ranked>(items, length);
  check_sort<T, warps, most, sorted::paired>(items, length);
}

}  // namespace

TEMPLATE_TEST_CASE("Teams sort items in scratch, stably", "[tile_sort][sanitize]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  constexpr int most = 330;
  for (const int length : {1, 2, 3, 5, 6, 31, 32, 33, 64, 65, 160, 161, 200, 329, 330}) {
    for (const std::uint64_t distinct : {1, 4, 250})
      check_sorts<TestType, 2, most>(
          items_with_equals<TestType>(2 * length + length / 2, distinct, 3), length);
  }
}

TEST_CASE("Teams of any size sort any number of items", "[tile_sort][sanitize]") {
  for (const int length : {1, 8, 9, 40}) {
    const auto items = items_with_equals<affine>(100, 9, 4);
    check_sorts<affine, 1, 40>(items, length);
    check_sorts<affine, 4, 40>(items, length);
  }
  check_sorts<affine, 4, 700>(items_with_equals<affine>(1500, 100, 5), 700);
  check_sorts<affine, 1, 255>(items_with_equals<affine>(500, 100, 6), 250);
}

TEST_CASE("Items that are sorted already, in either way", "[tile_sort][sanitize]") {
  std::vector<std::uint32_t> items;
  for (std::uint32_t i = 0; i < 900; ++i) items.push_back(i / 2);
  check_sorts<std::uint32_t, 2, 300>(items, 300);
  check_sorts<std::uint32_t, 2, 300>({items.rbegin(), items.rend()}, 299);
}
