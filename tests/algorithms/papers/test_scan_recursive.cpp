// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/papers/scan_recursive.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <limits>

// Scans by recursion over blocks: what they compute, how often they read and write (Merrill, 4.3.1
// and 4.3.2), and what they refuse.

namespace {

using namespace test;

template <class T>
struct scan_in_blocks {
  std::int64_t n;
  std::int64_t block;
};

/// Around the edges of tiles, and in small blocks, with up to 9 levels.
template <class T>
std::vector<scan_in_blocks<T>> scans_in_blocks() {
  constexpr std::int64_t tile = tile_items<T, lanewise::kernels::two_level_policy<T>>;
  std::vector<scan_in_blocks<T>> result;
  for (const std::int64_t n : sizes_around(tile)) result.push_back({n, 0});
  for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 300})
    result.push_back({n, 4});
  result.push_back({300, 2});
  result.push_back({1000, 33});
  result.push_back({2 * tile + 17, 100});
  result.push_back({3 * tile + 17, tile + 3});
  result.push_back({tile + 1, std::numeric_limits<std::int64_t>::max()});
  return result;
}

template <class T, class Op>
void check_recursive(const T& init, Op op, std::uint64_t most = most_summand<T>()) {
  const auto exec = make_space();
  for (const auto [n, block] : scans_in_blocks<T>()) {
    CAPTURE(n, block);
    const auto items = random_items<T>(n, most);
    const auto inclusive = oracle::inclusive_scan(items, op);
    const auto exclusive = oracle::exclusive_scan(items, init, op);
    const array<T> in(items, 1);
    const array<T> propagated(n, item_of<T>(77)), reduced(n, item_of<T>(77));
    const array<T> propagated_in_place(items), reduced_in_place(items);

    lanewise::papers::scan_then_propagate::inclusive_scan(exec, in.const_view(), propagated.view(),
                                                          op, {}, block);
    lanewise::papers::scan_then_propagate::exclusive_scan(
        exec, propagated_in_place.view(), propagated_in_place.view(), op, init, {}, block);
    lanewise::papers::reduce_then_scan::inclusive_scan(exec, in.const_view(), reduced.view(), op,
                                                       {}, block);
    lanewise::papers::reduce_then_scan::exclusive_scan(
        exec, reduced_in_place.view(), reduced_in_place.view(), op, init, {}, block);

    CHECK(difference(propagated.items(), inclusive) == "");
    CHECK(difference(propagated_in_place.items(), exclusive) == "");
    CHECK(difference(reduced.items(), inclusive) == "");
    CHECK(difference(reduced_in_place.items(), exclusive) == "");
    for (const auto* out : {&propagated, &propagated_in_place, &reduced, &reduced_in_place})
      CHECK(out->guards_intact());
    CHECK(in.unchanged());
  }
}

using u32 = std::uint32_t;

struct counted_read {
  const u32* data;
  int* reads;
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const {
    Kokkos::atomic_inc(reads);
    return data[i];
  }
};

struct counted_write {
  u32* data;
  int* writes;
  KOKKOS_FUNCTION void operator()(std::int64_t i, u32 x) const {
    Kokkos::atomic_inc(writes);
    data[i] = x;
  }
};

/// Levels whose items are counted when they are read and written.
struct counted_arrays {
  int* reads;
  int* writes;
  auto source(const u32* data, std::int64_t n) const {
    return lanewise::generated(n, counted_read{data, reads});
  }
  auto sink(u32* data, std::int64_t n) const {
    return lanewise::consumed(n, counted_write{data, writes});
  }
};

int launches_seen = 0;
void see_launch(const char*, const std::uint32_t, std::uint64_t* id) {
  *id = static_cast<std::uint64_t>(launches_seen++);
}

/// How many launches f() makes. Waits for them.
template <class F>
int launches_of(F f) {
  const auto before = Kokkos::Tools::Experimental::get_callbacks();
  launches_seen = 0;
  Kokkos::Tools::Experimental::set_begin_parallel_for_callback(see_launch);
  f();
  Kokkos::fence();
  Kokkos::Tools::Experimental::set_callbacks(before);
  return launches_seen;
}

struct scan_traffic {
  std::int64_t reads, writes;
  int launches;
};

/// What a scan of ones does in blocks.
template <bool propagates>
scan_traffic traffic_of(std::int64_t n, std::int64_t block) {
  const auto exec = make_space();
  const array<u32> in(n, 1u), out(n, 77u);
  const cell<int> reads, writes;
  const lanewise::papers::kernels::scan_levels levels({n, {}}, block);
  const array<u32> above(levels.most_above(), 77u);
  const counted_arrays arrays{reads.data(), writes.data()};
  const lanewise::papers::kernels::recursive_scan scan(exec, "Lanewise::test::recursive_scan",
                                                       levels, above.data(), lanewise::plus{},
                                                       lanewise::maybe<u32>{5u, true}, arrays);
  const int launches = launches_of([&] {
    if constexpr (propagates) {
      scan.template then_propagate<true>(arrays.source(in.data(), n), out.data());
    } else {
      scan.template after_reduction<true>(arrays.source(in.data(), n), arrays.sink(out.data(), n));
    }
  });
  CHECK(difference(out.items(), oracle::exclusive_scan(in.original(), 5u, lanewise::plus{})) == "");
  CHECK(out.guards_intact());
  CHECK(above.guards_intact());
  return {reads.get(), writes.get(), launches};
}

/// What is done of the paper's traffic with one item per block beside it: it adds nothing to the
/// first blocks of L - 1 levels, and writes what lies before the others to their first places.
std::int64_t propagated_traffic(std::int64_t of_paper, std::int64_t n, std::int64_t b, int levels) {
  return of_paper - 2 * b * (levels - 1) + (levels > 1 ? n / b - 1 : 0);
}

/// b^L items in blocks of b: what the paper's formulas say.
void check_traffic(std::int64_t b, int levels) {
  CAPTURE(b, levels);
  std::int64_t n = 1;
  for (int k = 0; k < levels; ++k) n *= b;
  const std::int64_t blocks = (n - 1) / (b - 1);

  const auto propagated = traffic_of<true>(n, b);
  const auto reduced = traffic_of<false>(n, b);

  CHECK(propagated.reads + propagated.writes ==
        propagated_traffic(4 * b * blocks - 2 * b, n, b, levels));
  CHECK(propagated.reads == 2 * b * blocks - b - b * (levels - 1));
  CHECK(reduced.reads + reduced.writes == 3 * b * blocks - b);
  CHECK(reduced.writes == b * blocks);
  // No launch of the emulated backend is seen.
  if (!is_emulated) {
    CHECK(propagated.launches == 2 * levels - 1);
    CHECK(reduced.launches == 2 * levels - 1);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Recursive scans are exact at every size", "[scan][sanitize]",
                   std::uint32_t MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  check_recursive<TestType>(TestType(5), lanewise::plus{});
}

TEST_CASE("Recursive scans keep the order of operands", "[scan][sanitize]") {
  check_recursive(affine{3, 4, 1}, then{});
  check_recursive(u32{101}, last_nonzero{}, 3);
}

TEST_CASE("Recursive scans read and write as often as the paper says", "[scan][sanitize]") {
  const auto propagated = traffic_of<true>(16, 4);
  const auto reduced = traffic_of<false>(16, 4);
  CHECK(propagated.reads + propagated.writes == propagated_traffic(72, 16, 4, 2));
  CHECK(reduced.reads + reduced.writes == 56);
  check_traffic(4, 1);
  check_traffic(4, 3);
  check_traffic(2, 5);
  check_traffic(33, 2);
}

TEST_CASE("Recursive scans of 2^20 items in blocks of 1024 are as the paper says", "[scan]") {
  if (is_emulated) SKIP("the emulated backend is too slow");
  const auto propagated = traffic_of<true>(1 << 20, 1024);
  const auto reduced = traffic_of<false>(1 << 20, 1024);
  CHECK(propagated.reads + propagated.writes == propagated_traffic(4'196'352, 1 << 20, 1024, 2));
  CHECK(reduced.reads + reduced.writes == 3'147'776);
  CHECK(propagated.launches == 3);
  CHECK(reduced.launches == 3);
}

TEST_CASE("The scan of two levels takes three launches whatever n is", "[scan][sanitize]") {
  if (is_emulated) SKIP("no launch of the emulated backend is seen");
  const auto exec = make_space();
  const auto threads = [](const auto& e) {
    if constexpr (requires { e.concurrency(); }) return e.concurrency();
    return 1;
  };
  if (threads(exec) == 1) SKIP("a single team scans");
  constexpr std::int64_t tile = tile_items<u32, lanewise::kernels::two_level_policy<u32>>;
  for (const std::int64_t tiles : {2, 5, 20}) {
    CAPTURE(tiles);
    const std::int64_t n = tiles * tile - 3;
    const array<u32> in(n, 1u), out(n, 77u);
    const cell<int> reads, writes;
    const counted_arrays arrays{reads.data(), writes.data()};

    const int launches = launches_of([&] {
      lanewise::two_level::exclusive_scan(exec, arrays.source(in.data(), n),
                                          arrays.sink(out.data(), n), lanewise::plus{}, 5u);
    });

    CHECK(launches == 3);
    CHECK(reads.get() == 2 * n);
    CHECK(writes.get() == n);
    CHECK(difference(out.items(), oracle::exclusive_scan(in.original(), 5u, lanewise::plus{})) ==
          "");
  }
}

TEST_CASE("Recursive scans read the number of items on the device", "[scan][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = 300;
  const auto items = random_items<u32>(n);
  const array<u32> in(items);
  const cell<std::int64_t> count;
  lanewise::workspace work;
  for (const std::int64_t given : {-5, 0, 1, 4, 5, 16, 17, 299, 300, 100'000}) {
    CAPTURE(given);
    count.set(given);
    const auto used = static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(given, 0, n));
    const std::vector<u32> first(items.begin(), items.begin() + used);
    const auto expected = oracle::exclusive_scan(first, 5u, lanewise::plus{});
    const array<u32> propagated(n, 77u), reduced(n, 77u);
    const lanewise::call_options with{.work = &work, .count = count.view()};

    lanewise::papers::scan_then_propagate::exclusive_scan(exec, in.const_view(), propagated.view(),
                                                          lanewise::plus{}, 5u, with, 4);
    lanewise::papers::reduce_then_scan::exclusive_scan(exec, in.const_view(), reduced.view(),
                                                       lanewise::plus{}, 5u, with, 4);

    CHECK(difference(propagated.items(), expected, propagated.original()) == "");
    CHECK(difference(reduced.items(), expected, reduced.original()) == "");
    CHECK(propagated.guards_intact());
    CHECK(reduced.guards_intact());
  }
}

TEST_CASE("Recursive scans refuse what they cannot do, by name", "[scan]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  const array<u32> in(10, 1u), out(9, 77u), place(10, 77u);
  CHECK_THROWS_WITH(
      lanewise::papers::reduce_then_scan::inclusive_scan(exec, in.const_view(), out.view(),
                                                         lanewise::plus{}),
      ContainsSubstring("reduce_then_scan::inclusive_scan: out has 9 places, in has 10 items"));
  for (const std::int64_t block : {1, -4}) {
    CHECK_THROWS_WITH(lanewise::papers::scan_then_propagate::exclusive_scan(
                          exec, in.const_view(), place.view(), lanewise::plus{}, 0u, {}, block),
                      ContainsSubstring("scan_then_propagate::exclusive_scan: block is " +
                                        std::to_string(block) + ", less than 2"));
  }
  CHECK(out.unchanged());
  CHECK(place.unchanged());
}
