// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/warp/search.hpp>
#include <support/oracle.hpp>
#include <support/orders.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <numeric>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

struct two_warps : launch_policy {
  static constexpr int warps = 2;
};

/// Every lane searches for its own key, unless it is among those left out.
template <class T, class Index, class Less>
struct bounds_of_lanes {
  using policy = two_warps;
  template <class Team>
  struct scratch {};

  const T* sorted;
  Index n;
  const T* keys;
  std::int64_t count;
  std::uint64_t left_out;  // lane i where bit i is set
  Index* lower;
  Index* upper;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const auto mine = team.share(divide_up(count, width));
    for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
      const std::int64_t at = w * width;
      const auto exist = warp.template first<T>(count - at);
      const typename warp_type::template mask_for<T> in =
          warp.template mask_of<T>(static_cast<typename warp_type::bits>(~left_out));
      const auto active = exist & in;
      const auto key = warp.load(active, keys + at, T{});
      warp.store(exist, lower + at, lower_bound(warp, active, sorted, n, key, Less{}));
      warp.store(exist, upper + at, upper_bound(warp, active, sorted, n, key, Less{}));
    }
  }
};

/// Every lane, every warp, and every pair of warps, cuts the merge of two sequences.
template <class T, class Less>
struct cuts_of_two {
  using policy = two_warps;
  template <class Team>
  struct scratch {};

  const T* a;
  std::int64_t n_a;
  const T* b;
  std::int64_t n_b;
  const std::int64_t* distances;
  std::int64_t count;
  std::int64_t* by_lane;
  std::int64_t* by_warp;
  std::int64_t* ends;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    using warp_type = typename Team::warp_type;
    constexpr std::int64_t width = warp_type::width;
    const auto warp = team.warp();
    const auto in_a = [this](std::int64_t i) { return a[i]; };
    const auto in_b = [this](std::int64_t i) { return b[i]; };
    const auto mine = team.share(divide_up(count, width));
    for (std::int64_t w = mine.begin + team.warp_index(); w < mine.end; w += Team::warps) {
      const std::int64_t at = w * width;
      const int here = static_cast<int>(count - at < width ? count - at : width);
      const auto exist = warp.template first<std::int64_t>(here);
      const auto distance = warp.load(exist, distances + at, std::int64_t{0});
      warp.store(
          exist, by_lane + at,
          warp.map(
              exist,
              [&](std::int64_t d) { return merge_path(in_a, n_a, in_b, n_b, d, Less{}).from_a; },
              std::int64_t{0}, distance));
      for (int i = 0; i < here; ++i) {
        const std::int64_t d = warp.broadcast(distance, i);
        const auto cut = merge_path(warp, in_a, n_a, in_b, n_b, d, Less{});
        const auto piece = cut_merge(warp, in_a, n_a, in_b, n_b, d / 2, d, Less{});
        warp.once([&] {
          by_warp[at + i] = cut.from_a + cut.from_b == d ? cut.from_a : -1;
          ends[2 * (at + i)] = piece.begin.from_a;
          ends[2 * (at + i) + 1] = piece.end.from_a;
        });
      }
    }
  }
};

/// Every warp cuts the merge of several sequences.
template <class T, class Less>
struct cuts_of_many {
  using policy = two_warps;
  template <class Team>
  struct scratch {};

  const T* items;
  const std::int64_t* begins;  // of k sequences, and the end of the last
  int k;
  const std::int64_t* distances;
  std::int64_t count;
  std::int64_t* cuts;  // k for each

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    const auto warp = team.warp();
    const auto exist = warp.template first<std::int64_t>(k);
    const auto begin = warp.load(exist, begins, std::int64_t{0});
    const auto length = warp.load(exist, begins + 1, std::int64_t{0}) - begin;
    const auto mine = team.share(count);
    for (std::int64_t i = mine.begin + team.warp_index(); i < mine.end; i += Team::warps) {
      const auto cut = cut_many<T>(
          warp, length, [this](std::uint32_t q, std::int64_t at) { return items[begins[q] + at]; },
          distances[i], Less{});
      warp.store(exist, cuts + i * k, cut);
    }
  }
};

/// As `cuts_of_many`, for four sequences.
template <class T, class Less>
struct cuts_of_four : cuts_of_many<T, Less> {
  bool by_lane = false;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(
      const Team& team, typename cuts_of_many<T, Less>::template scratch<Team>&) const {
    const auto warp = team.warp();
    std::int64_t length[4];
    for (int q = 0; q < 4; ++q) length[q] = this->begins[q + 1] - this->begins[q];
    const auto mine = team.share(this->count);
    for (std::int64_t i = mine.begin + team.warp_index(); i < mine.end; i += Team::warps) {
      std::int64_t in_front[4];
      const auto item = [this](int q, std::int64_t at) {
        return this->items[this->begins[q] + at];
      };
      if (by_lane) {
        cut_few<T>(length, item, this->distances[i], in_front, Less{});
      } else {
        cut_few<T>(warp, length, item, this->distances[i], in_front, Less{});
      }
      warp.once([&] {
        for (int q = 0; q < 4; ++q) this->cuts[4 * i + q] = in_front[q];
      });
    }
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;

template <class T, class Index>
void check_bounds(Index n, std::uint64_t distinct, std::int64_t count, std::uint64_t left_out) {
  using order = order_of<T>;
  CAPTURE(n, distinct, count, left_out);
  const auto sorted = sorted_items<T>(n, distinct, 5);
  const auto keys = items_with_equals<T>(count, distinct + 2, 6);
  const array<T> in(sorted, 1), wanted(keys);
  const array<Index> lower(count, Index{77}), upper(count, Index{77});

  lanewise::launch(make_space(), "Lanewise::test::bounds", 2,
                   lanewise::test_kernels::bounds_of_lanes<T, Index, order>{
                       in.data(), n, wanted.data(), count, left_out, lower.data(), upper.data()});

  constexpr std::int64_t width = lanewise::warp_t<space>::width;
  std::vector<Index> expected_lower, expected_upper;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool active = (left_out >> (i % width) & 1) == 0;
    const auto& key = keys[static_cast<std::size_t>(i)];
    const auto low = std::lower_bound(sorted.begin(), sorted.end(), key, order{});
    const auto high = std::upper_bound(sorted.begin(), sorted.end(), key, order{});
    expected_lower.push_back(active ? static_cast<Index>(low - sorted.begin()) : Index{0});
    expected_upper.push_back(active ? static_cast<Index>(high - sorted.begin()) : Index{0});
    CHECK(lanewise::lower_bound(sorted.data(), n, key, order{}) == low - sorted.begin());
    CHECK(lanewise::upper_bound(sorted.data(), n, key, order{}) == high - sorted.begin());
  }
  CHECK(difference(lower.items(), expected_lower) == "");
  CHECK(difference(upper.items(), expected_upper) == "");
  CHECK(lower.guards_intact());
}

template <class T>
void check_two(const std::vector<T>& a, const std::vector<T>& b) {
  using order = order_of<T>;
  const auto n_a = static_cast<std::int64_t>(a.size()), n_b = static_cast<std::int64_t>(b.size());
  CAPTURE(n_a, n_b);
  std::vector<std::int64_t> distances;
  const std::int64_t step = 1 + (n_a + n_b) / 40;
  for (std::int64_t d = 0; d < n_a + n_b; d += step) distances.push_back(d);
  distances.push_back(n_a + n_b);
  const auto count = static_cast<std::int64_t>(distances.size());
  const array<T> in_a(a), in_b(b, 1);
  const array<std::int64_t> at(distances), by_lane(count, -7), by_warp(count, -7),
      ends(2 * count, -7);

  lanewise::launch(make_space(), "Lanewise::test::cuts", 2,
                   lanewise::test_kernels::cuts_of_two<T, order>{in_a.data(), n_a, in_b.data(), n_b,
                                                                 at.data(), count, by_lane.data(),
                                                                 by_warp.data(), ends.data()});

  // The origins of the items of the merge.
  std::vector<std::int64_t> upto = {0};
  for (std::size_t i = 0, j = 0; i + j < a.size() + b.size();) {
    const bool takes_b = i == a.size() || (j < b.size() && order{}(b[j], a[i]));
    takes_b ? ++j : ++i;
    upto.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::int64_t> expected, expected_ends;
  for (const std::int64_t d : distances) {
    expected.push_back(upto[static_cast<std::size_t>(d)]);
    expected_ends.push_back(upto[static_cast<std::size_t>(d / 2)]);
    expected_ends.push_back(expected.back());
  }
  CHECK(difference(by_lane.items(), expected) == "");
  CHECK(difference(by_warp.items(), expected) == "");
  CHECK(difference(ends.items(), expected_ends) == "");
}

template <class T>
void check_many(const std::vector<std::int64_t>& lengths, std::uint64_t distinct) {
  using order = order_of<T>;
  struct owned {
    T item;
    std::size_t owner;
  };
  std::vector<T> items;
  std::vector<owned> all;
  std::vector<std::int64_t> begins = {0};
  for (std::size_t q = 0; q < lengths.size(); ++q) {
    for (const T& x : sorted_items<T>(lengths[q], distinct, 100 + q)) {
      items.push_back(x);
      all.push_back({x, q});
    }
    begins.push_back(static_cast<std::int64_t>(items.size()));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const owned& x, const owned& y) { return order{}(x.item, y.item); });
  std::vector<std::int64_t> distances, expected;
  const std::size_t step = 1 + all.size() / 23;
  std::vector<std::int64_t> cut(lengths.size(), 0);
  for (std::size_t d = 0; d <= all.size(); ++d) {
    if (d % step == 0 || d == all.size()) {
      distances.push_back(static_cast<std::int64_t>(d));
      expected.insert(expected.end(), cut.begin(), cut.end());
    }
    if (d < all.size()) ++cut[all[d].owner];
  }
  const auto k = static_cast<int>(lengths.size());
  const auto count = static_cast<std::int64_t>(distances.size());
  CAPTURE(k, all.size(), distinct);
  const array<T> in(items, 1);
  const array<std::int64_t> from(begins), at(distances),
      cuts(static_cast<std::int64_t>(expected.size()), -7);

  lanewise::launch(make_space(), "Lanewise::test::cut_many", 2,
                   lanewise::test_kernels::cuts_of_many<T, order>{in.data(), from.data(), k,
                                                                  at.data(), count, cuts.data()});

  CHECK(difference(cuts.items(), expected) == "");
  CHECK(cuts.guards_intact());
  if (k != 4) return;
  for (const bool by_lane : {false, true}) {
    CAPTURE(by_lane);
    const array<std::int64_t> again(static_cast<std::int64_t>(expected.size()), -7);
    lanewise::launch(make_space(), "Lanewise::test::cut_few", 2,
                     lanewise::test_kernels::cuts_of_four<T, order>{
                         {in.data(), from.data(), k, at.data(), count, again.data()}, by_lane});
    CHECK(difference(again.items(), expected) == "");
    CHECK(again.guards_intact());
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Every lane finds the bounds of its key", "[search][sanitize]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  constexpr std::int64_t width = lanewise::warp_t<space>::width;
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 65, 1000}) {
    for (const std::uint64_t distinct : {1, 3, 200}) {
      check_bounds<TestType>(n, distinct, 2 * width + 5, 0);
      check_bounds<TestType>(static_cast<int>(n), distinct, width, 0x5a5a00ff3c3c0ff0u);
    }
  }
}

TEMPLATE_TEST_CASE("The merge of two sequences is cut anywhere", "[search][sanitize]",
                   std::uint32_t, affine MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  for (const std::int64_t n_a : {0, 1, 31, 33, 300}) {
    for (const std::int64_t n_b : {0, 1, 32, 300, 2000}) {
      for (const std::uint64_t distinct : {1, 3, 200})
        check_two(sorted_items<TestType>(n_a, distinct, 7),
                  sorted_items<TestType>(n_b, distinct, 8));
    }
  }
}

TEST_CASE("Sequences that do not overlap are cut between them", "[search]") {
  std::vector<std::uint32_t> low(500), high(700);
  std::iota(low.begin(), low.end(), 0u);
  std::iota(high.begin(), high.end(), 500u);
  check_two(low, high);
  check_two(high, low);
}

TEMPLATE_TEST_CASE("The merge of many sequences is cut anywhere", "[search][sanitize]",
                   std::uint32_t, affine MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  for (const std::uint64_t distinct : {1, 5, 200}) {
    check_many<TestType>({0}, distinct);
    check_many<TestType>({41}, distinct);
    check_many<TestType>({1, 0, 3, 1}, distinct);
    check_many<TestType>({0, 0, 0, 5}, distinct);
    check_many<TestType>({300, 300, 300, 0}, distinct);
    check_many<TestType>({1000, 9, 70, 313}, distinct);
    check_many<TestType>({100, 3, 0, 1, 57}, distinct);
    std::vector<std::int64_t> lengths;
    auto random = make_random(9);
    for (int q = 0; q < lanewise::warp_t<space>::width; ++q)
      lengths.push_back(static_cast<std::int64_t>(random_number(random, 90)));
    check_many<TestType>(lengths, distinct);
  }
}

TEST_CASE("Many sequences that do not overlap are cut between them", "[search]") {
  // Each of 8 sequences lies after the next one.
  struct descending {
    static std::uint32_t item(std::uint32_t q, std::int64_t i) {
      return (7 - q) * 1000 + static_cast<std::uint32_t>(i);
    }
  };
  std::vector<std::uint32_t> items;
  std::vector<std::int64_t> begins = {0}, distances, expected;
  for (std::uint32_t q = 0; q < 8; ++q) {
    for (std::int64_t i = 0; i < 100; ++i) items.push_back(descending::item(q, i));
    begins.push_back(static_cast<std::int64_t>(items.size()));
  }
  for (std::int64_t d = 0; d <= 800; d += 50) {
    distances.push_back(d);
    for (std::int64_t q = 0; q < 8; ++q)
      expected.push_back(std::clamp<std::int64_t>(d - (7 - q) * 100, 0, 100));
  }
  const array<std::uint32_t> in(items);
  const array<std::int64_t> from(begins), at(distances),
      cuts(static_cast<std::int64_t>(expected.size()), -7);

  lanewise::launch(make_space(), "Lanewise::test::cut_many", 2,
                   lanewise::test_kernels::cuts_of_many<std::uint32_t, lanewise::less>{
                       in.data(), from.data(), 8, at.data(),
                       static_cast<std::int64_t>(distances.size()), cuts.data()});

  CHECK(difference(cuts.items(), expected) == "");
}
