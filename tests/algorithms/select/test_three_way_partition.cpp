// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/select/three_way_partition.hpp>
#include <support/functors.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/select/check_compact.hpp>

// Partitions in three: what goes where, in which order, and what is refused.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using i64 = std::int64_t;

template <class T>
using three_ways_policy = lanewise::kernels::compact_policy<T, false>;
template <class T>
constexpr i64 three_ways_tile = tile_items<T, three_ways_policy<T>>;

/// Raises a flag for items of the first way, for which it is not to be asked.
struct unless_first {
  some_of in_first;
  some_of in_second;
  int* asked;
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x) const {
    if (in_first(x)) *asked = 1;
    return in_second(x);
  }
};

struct own_number {
  KOKKOS_FUNCTION i64 operator()(i64 i) const { return i; }
};
struct is_of_four {
  i64 rest;
  KOKKOS_FUNCTION bool operator()(i64 i) const { return i % 4 == rest; }
};
/// Raises a flag unless result p is p steps after the first.
struct expect_every {
  int* wrong;
  i64 step, first;
  KOKKOS_FUNCTION void operator()(i64 p, i64 x) const {
    if (x != first + p * step) *wrong = 1;
  }
};

template <class T>
void check_three_ways(const std::vector<T>& items, some_of in_first, some_of in_second,
                      i64 room = -1) {
  const auto exec = make_space();
  const auto n = static_cast<i64>(items.size());
  std::vector<T> expected[3];
  for (const T& x : items) expected[in_first(x) ? 0 : (in_second(x) ? 1 : 2)].push_back(x);
  shifts shift(static_cast<std::uint64_t>(n) + in_first.p);
  const i64 places = room < 0 ? n : room;
  const array<T> in(items, shift.next());
  const array<T> one(places, item_of<T>(77), shift.next()),
      two(places, item_of<T>(77), shift.next()), three(places, item_of<T>(77), shift.next());
  const array<i64> counts(4, i64{77});
  const cell<int> asked;

  lanewise::three_way_partition(exec, in.const_view(), one.view(), two.view(), three.view(),
                                counts.view(), in_first,
                                unless_first{in_first, in_second, asked.data()});

  for (int way = 0; way < 3; ++way) {
    CAPTURE(way);
    auto& front = expected[way];
    CHECK(counts.items()[static_cast<std::size_t>(way)] == static_cast<i64>(front.size()));
    if (static_cast<i64>(front.size()) > places) front.resize(static_cast<std::size_t>(places));
    check_front(way == 0 ? one : (way == 1 ? two : three), front);
  }
  CHECK(counts.items()[3] == 77);
  CHECK(counts.guards_intact());
  CHECK(asked.get() == 0);
  CHECK(in.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("Items go three ways, at every size", "[three_ways]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t, double)) {
  for (const i64 n : sizes_around(three_ways_tile<TestType>)) {
    for (const std::uint32_t share : {0u, 20u, 90u, 256u}) {
      CAPTURE(n, share);
      check_three_ways(random_items<TestType>(n), some_of{share}, some_of{256 - share / 2});
      check_three_ways(random_items<TestType>(n), some_of{share}, some_of{0});
    }
  }
}

TEST_CASE("Items go three ways whatever their distribution, and where places are few",
          "[three_ways][sanitize]") {
  const i64 n = some_tiles(three_ways_tile<std::uint32_t>);
  for (const distribution d : all_distributions) {
    CAPTURE(d);
    const auto items = items_of<std::uint32_t>(numbers(d, n, 1000, 256));
    check_three_ways(items, some_of{100}, some_of{180});
    for (const i64 room : {i64{0}, i64{1}, n / 5, n / 3}) {
      CAPTURE(room);
      check_three_ways(items, some_of{100}, some_of{180}, room);
    }
  }
}

TEST_CASE("Three ways read the number of items on the device, from sources to sinks",
          "[three_ways][sanitize]") {
  const auto exec = make_space();
  const i64 n = some_tiles(three_ways_tile<std::uint64_t>);
  for (const i64 given : {i64{-2}, i64{0}, i64{1}, n - 33, n + 3}) {
    CAPTURE(given);
    const i64 used = std::clamp<i64>(given, 0, n);
    const cell<i64> count(given);
    const array<int> writes(n, 0);
    const array<std::uint64_t> out(n, std::uint64_t{77}), two(n, std::uint64_t{77}),
        three(n, std::uint64_t{77});
    const array<std::uint8_t> counts(3, std::uint8_t{77});
    const cell<int> trapped;
    lanewise::three_way_partition(
        exec, lanewise::generated(n, trapping_square{trapped.data(), used}),
        lanewise::consumed(n, counting_store{writes.data(), n, out.data()}), two.view(),
        three.view(), counts.view(), some_of{100}, some_of{200}, {.count = count.view()});
    std::vector<std::uint64_t> expected[3];
    for (i64 i = 0; i < used; ++i) {
      const auto x = static_cast<std::uint64_t>(i * i);
      expected[some_of{100}(x) ? 0 : (some_of{200}(x) ? 1 : 2)].push_back(x);
    }
    check_front(out, expected[0]);
    check_front(two, expected[1]);
    check_front(three, expected[2]);
    for (std::size_t way = 0; way < 3; ++way)
      CHECK(counts.items()[way] == std::min<std::size_t>(255, expected[way].size()));
    CHECK(trapped.get() == 0);
    CHECK(writes.guards_intact());
    const auto written = writes.items();
    CHECK(std::count(written.begin(), written.end(), 1) == static_cast<i64>(expected[0].size()));
  }
}

TEST_CASE("Three ways return their counts, and share a workspace", "[three_ways]") {
  const auto exec = make_space();
  const i64 n = some_tiles(three_ways_tile<std::uint32_t>);
  const auto items = random_items<std::uint32_t>(n);
  const array<std::uint32_t> in(items), one(n, 77u), two(n, 77u), three(n, 77u);
  lanewise::workspace work;
  lanewise::reserve(exec, work, lanewise::three_way_partition_workspace<std::uint32_t, space>(n));
  const std::size_t bytes = work.bytes();
  for (int round = 0; round < 3; ++round) {
    const auto counts =
        lanewise::three_way_partition(exec, in.const_view(), one.view(), two.view(), three.view(),
                                      some_of{70}, some_of{150}, {.work = &work});
    const auto firsts = std::count_if(items.begin(), items.end(), some_of{70});
    CHECK(counts[0] == firsts);
    CHECK(counts[0] + counts[1] + counts[2] == n);
  }
  CHECK(work.bytes() == bytes);
}

TEST_CASE("Three ways refuse what they cannot do", "[three_ways]") {
  const auto exec = make_space();
  const array<std::uint32_t> all(100, 1u), in(10, 1u);
  const array<i64> counts(3, i64{77}), two_counts(2, i64{77});
  const auto part = [&](int from, int to) {
    return Kokkos::subview(all.view(), Kokkos::pair<int, int>(from, to));
  };
  const auto call = [&](const auto& from, const auto& one, const auto& two, const auto& three,
                        const auto& places) {
    return refusal([&] {
      lanewise::three_way_partition(exec, from, one, two, three, places, some_of{1}, some_of{2});
    });
  };
  CHECK_THAT(call(in.view(), part(0, 10), part(10, 20), part(20, 30), two_counts.view()),
             ContainsSubstring("lanewise::three_way_partition: counts has 2 places, not 3"));
  CHECK_THAT(call(in.view(), part(0, 10), part(9, 20), part(20, 30), counts.view()),
             ContainsSubstring("first [") && ContainsSubstring("second ["));
  CHECK_THAT(call(in.view(), part(0, 10), part(10, 20), part(5, 30), counts.view()),
             ContainsSubstring("first [") && ContainsSubstring("rest ["));
  CHECK_THAT(call(in.view(), part(0, 10), part(10, 20), part(19, 30), counts.view()),
             ContainsSubstring("second [") && ContainsSubstring("rest ["));
  CHECK_THAT(call(part(0, 10), part(0, 10), part(10, 20), part(20, 30), counts.view()),
             ContainsSubstring("in [") && ContainsSubstring("first ["));
  CHECK(all.unchanged());
  CHECK(counts.unchanged());
}

// More items than 32 bits can count.
TEST_CASE("More than 2^32 items go three ways", "[.large]") {
  const i64 n = (i64{1} << 32) + 12'345;
  const cell<int> wrong;
  const auto expect = [&](i64 step, i64 first) {
    return lanewise::consumed(n, expect_every{wrong.data(), step, first});
  };
  const auto counts = lanewise::three_way_partition(
      make_space(), lanewise::generated(n, own_number{}), expect(4, 0), expect(4, 2), expect(2, 1),
      is_of_four{0}, is_of_four{2});
  CHECK(counts[0] == (n + 3) / 4);
  CHECK(counts[1] == (n + 1) / 4);
  CHECK(counts[2] == n / 2);
  CHECK(wrong.get() == 0);
}
