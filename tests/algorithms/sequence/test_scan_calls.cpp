// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/scan.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

// How the scans may be called: places, sources and sinks, options, and what they refuse.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::int64_t one_scan_tile = tile_items<u32, lanewise::kernels::scan_policy<u32>>;
const std::int64_t ragged_scan = some_tiles(one_scan_tile);

}  // namespace

TEST_CASE("Scans work in place", "[scan][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(ragged_scan);
  const array<u32> one(items);
  const array<u32> two(items);

  lanewise::inclusive_scan(exec, one.view(), one.view(), lanewise::plus{});
  lanewise::exclusive_scan(exec, two.view(), two.view(), lanewise::plus{}, 5u);

  CHECK(difference(one.items(), oracle::inclusive_scan(items, lanewise::plus{})) == "");
  CHECK(difference(two.items(), oracle::exclusive_scan(items, 5u, lanewise::plus{})) == "");
  CHECK(one.guards_intact());
  CHECK(two.guards_intact());
}

TEST_CASE("Scans accept every alignment of in and of out", "[scan][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = one_scan_tile + 131;
  const auto items = random_items<u32>(n);
  const auto expected = oracle::inclusive_scan(items, lanewise::plus{});
  for (int in_shift = 0; in_shift < 4; ++in_shift) {
    for (int out_shift = 0; out_shift < 4; ++out_shift) {
      CAPTURE(in_shift, out_shift);
      const array<u32> in(items, in_shift);
      const array<u32> out(n, 77u, out_shift);

      lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{});

      CHECK(difference(out.items(), expected) == "");
      CHECK(out.guards_intact());
      CHECK(in.unchanged());
    }
  }
}

TEST_CASE("inclusive_scan begins with init", "[scan][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{33}, one_scan_tile,
                               one_scan_tile + 1, ragged_scan}) {
    CAPTURE(n);
    const auto items = random_items<affine>(n);
    const affine init{3, 5, 1};
    auto expected = items;
    expected.insert(expected.begin(), init);
    expected = oracle::inclusive_scan(expected, then{});
    expected.erase(expected.begin());
    const array<affine> in(items, 1), out(n, affine{7, 7, 7});
    lanewise::inclusive_scan(exec, in.const_view(), out.view(), then{}, init);
    CHECK(difference(out.items(), expected) == "");
    CHECK(out.guards_intact());

    // Items become the type of init; in place; with a workspace and within a count.
    const auto numbers = random_items<u32>(n, 1000);
    const array<u32> both(numbers);
    const cell<std::int64_t> count(n - 1);
    lanewise::workspace work;
    lanewise::inclusive_scan(exec, both.view(), both.view(), lanewise::plus{}, 5u,
                             {.work = &work, .count = count.view()});
    auto sums = numbers;
    u32 sum = 5;
    for (std::int64_t i = 0; i + 1 < n; ++i) {
      sum += sums[static_cast<std::size_t>(i)];
      sums[static_cast<std::size_t>(i)] = sum;
    }
    CHECK(difference(both.items(), sums) == "");
    // Options are no init.
    const lanewise::call_options with{.work = &work};
    lanewise::inclusive_scan(exec, in.const_view(), out.view(), then{}, with);
    CHECK(difference(out.items(), oracle::inclusive_scan(items, then{})) == "");
  }
  const array<u32> few(random_items<u32>(100));
  const array<u64> wide(100, u64{77});
  lanewise::inclusive_scan(exec, few.const_view(), wide.view(), lanewise::plus{}, u64{1} << 40);
  CHECK(wide.items()[99] == oracle::reduce(few.original(), lanewise::plus{}, u64{1} << 40));
}

TEST_CASE("exclusive_scan converts items to the type of init", "[scan]") {
  const auto exec = make_space();
  const std::int64_t n = ragged_scan;
  const auto items = random_items<u32>(n);
  const array<u32> in(items, 1);
  const array<u64> out(n, u64{77}, 1);

  lanewise::exclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}, u64{1} << 40);

  CHECK(difference(out.items(), oracle::exclusive_scan(items, u64{1} << 40, lanewise::plus{})) ==
        "");
  CHECK(out.guards_intact());
}

TEST_CASE("Scans leave places beyond the items alone", "[scan]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(one_scan_tile + 5);
  const array<u32> in(items);
  const array<u32> out(one_scan_tile + 500, 77u);

  lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{});

  CHECK(difference(out.items(), oracle::inclusive_scan(items, lanewise::plus{}), out.original()) ==
        "");
}

TEST_CASE("Scans read the number of items on the device", "[scan][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(ragged_scan);
  const array<u32> in(items);
  const cell<std::int64_t> count;
  for (const std::int64_t given :
       {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1}, one_scan_tile - 1, one_scan_tile,
        one_scan_tile + 1, ragged_scan - 1, ragged_scan, ragged_scan + 1, ragged_scan + 100'000}) {
    CAPTURE(given);
    count.set(given);
    const auto n = static_cast<std::size_t>(std::clamp<std::int64_t>(given, 0, ragged_scan));
    const std::vector<u32> used(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n));
    const array<u32> inclusive(ragged_scan, 77u);
    const array<u32> exclusive(ragged_scan, 77u);

    lanewise::inclusive_scan(exec, in.const_view(), inclusive.view(), lanewise::plus{},
                             {.count = count.view()});
    lanewise::exclusive_scan(exec, in.const_view(), exclusive.view(), lanewise::plus{}, 5u,
                             {.count = count.view()});

    CHECK(difference(inclusive.items(), oracle::inclusive_scan(used, lanewise::plus{}),
                     inclusive.original()) == "");
    CHECK(difference(exclusive.items(), oracle::exclusive_scan(used, 5u, lanewise::plus{}),
                     exclusive.original()) == "");
    CHECK(inclusive.guards_intact());
    CHECK(exclusive.guards_intact());
  }
}

TEST_CASE("Scans fuse transformed sources, and never look beyond the last item",
          "[scan][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{33}, one_scan_tile - 1, one_scan_tile,
                               one_scan_tile + 1, ragged_scan}) {
    CAPTURE(n);
    const auto items = random_items<u64>(n, 1000);
    const cell<int> trapped;
    const array<u64> in(items, 1);
    const array<u64> out(n, u64{77});

    lanewise::inclusive_scan(exec,
                             lanewise::transformed(in.const_view(), trap_poison{trapped.data()}),
                             out.view(), lanewise::plus{});

    CHECK(
        difference(out.items(), oracle::inclusive_scan(oracle::transform<u64>(items, plus_three{}),
                                                       lanewise::plus{})) == "");
    CHECK(trapped.get() == 0);
  }
}

TEST_CASE("Scans fuse generated sources and consuming sinks, and stay within the count",
          "[scan][sanitize]") {
  const auto exec = make_space();
  const cell<std::int64_t> count(ragged_scan - 7);
  const array<int> reads(ragged_scan, 0);
  const array<int> writes(ragged_scan, 0);
  const array<u64> out(ragged_scan, u64{77});

  lanewise::exclusive_scan(
      exec, lanewise::generated(ragged_scan, counting_square{reads.data(), ragged_scan}),
      lanewise::consumed(ragged_scan, counting_store{writes.data(), ragged_scan, out.data()}),
      lanewise::plus{}, u64{3}, {.count = count.view()});

  std::vector<u64> squares;
  for (std::int64_t i = 0; i < ragged_scan - 7; ++i) squares.push_back(static_cast<u64>(i * i));
  CHECK(difference(out.items(), oracle::exclusive_scan(squares, u64{3}, lanewise::plus{}),
                   out.original()) == "");
  const auto read = reads.items();
  const auto written = writes.items();
  CHECK(reads.guards_intact());
  CHECK(writes.guards_intact());
  CHECK(std::all_of(read.begin(), read.end() - 7, [](int k) { return k == 1 || k == 2; }));
  CHECK(std::all_of(written.begin(), written.end() - 7, [](int k) { return k == 1; }));
  CHECK(std::all_of(read.end() - 7, read.end(), [](int k) { return k == 0; }));
  CHECK(std::all_of(written.end() - 7, written.end(), [](int k) { return k == 0; }));
}

TEST_CASE("Scans of no items write nothing", "[scan]") {
  const auto exec = make_space();
  const array<u32> in(std::vector<u32>{});
  const array<u32> out(3, 77u);

  lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{});
  lanewise::exclusive_scan(exec, Kokkos::View<const u32*, memory>(), out.view(), lanewise::plus{},
                           1u);

  CHECK(out.unchanged());
}

TEST_CASE("Scans refuse an output that is too small", "[scan]") {
  const auto exec = make_space();
  const array<u32> in(12, 1u);
  const array<u32> out(11, 77u);

  const auto inclusive = refusal(
      [&] { lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}); });
  const auto exclusive = refusal(
      [&] { lanewise::exclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}, 0u); });

  CHECK_THAT(inclusive,
             ContainsSubstring("lanewise::inclusive_scan: out has 11 places, in has 12 items"));
  CHECK_THAT(exclusive,
             ContainsSubstring("lanewise::exclusive_scan: out has 11 places, in has 12 items"));
  CHECK(out.unchanged());
}

TEST_CASE("Scans refuse partial overlap", "[scan]") {
  const auto exec = make_space();
  const array<u32> all(100, 1u);
  const auto front = Kokkos::subview(all.view(), Kokkos::pair<int, int>(0, 60));
  const auto back = Kokkos::subview(all.view(), Kokkos::pair<int, int>(40, 100));
  const auto wide =
      Kokkos::View<u64*, memory, Kokkos::MemoryUnmanaged>(reinterpret_cast<u64*>(all.data()), 50);

  const auto forward =
      refusal([&] { lanewise::inclusive_scan(exec, front, back, lanewise::plus{}); });
  const auto backward =
      refusal([&] { lanewise::exclusive_scan(exec, back, front, lanewise::plus{}, 0u); });
  const auto sizes =
      refusal([&] { lanewise::exclusive_scan(exec, front, wide, lanewise::plus{}, u64{0}); });

  CHECK_THAT(forward, ContainsSubstring("lanewise::inclusive_scan: in [") &&
                          ContainsSubstring("and out [") && ContainsSubstring("overlap"));
  CHECK_THAT(backward,
             ContainsSubstring("lanewise::exclusive_scan: in [") && ContainsSubstring("overlap"));
  CHECK_THAT(sizes, ContainsSubstring("lanewise::exclusive_scan: out has 50 places") ||
                        ContainsSubstring("overlap"));
  CHECK(all.unchanged());
}

TEST_CASE("Scans accept neighbours that do not overlap", "[scan]") {
  const auto exec = make_space();
  const array<u32> all(100, 1u);
  const auto front = Kokkos::subview(all.view(), Kokkos::pair<int, int>(0, 50));
  const auto back = Kokkos::subview(all.view(), Kokkos::pair<int, int>(50, 100));

  lanewise::inclusive_scan(exec, front, back, lanewise::plus{});

  std::vector<u32> expected(100, 1u);
  for (u32 i = 0; i < 50; ++i) expected[50 + i] = i + 1;
  CHECK(difference(all.items(), expected) == "");
}

TEST_CASE("Scans refuse Views without memory", "[scan]") {
  const auto exec = make_space();
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 5);
  const array<u32> some(5, 1u);

  const auto no_in =
      refusal([&] { lanewise::inclusive_scan(exec, nothing, some.view(), lanewise::plus{}); });
  const auto no_out =
      refusal([&] { lanewise::inclusive_scan(exec, some.view(), nothing, lanewise::plus{}); });

  CHECK_THAT(no_in, ContainsSubstring("in has 5 items and no memory"));
  CHECK_THAT(no_out, ContainsSubstring("out has 5 items and no memory"));
}

TEST_CASE("Sources and sinks of a negative extent are refused", "[scan]") {
  CHECK_THAT(refusal([] { lanewise::generated(-3, plus_three{}); }),
             ContainsSubstring("lanewise::generated: n is -3, less than 0"));
  CHECK_THAT(refusal([] { lanewise::consumed(-4, plus_three{}); }),
             ContainsSubstring("lanewise::consumed: n is -4, less than 0"));
}
