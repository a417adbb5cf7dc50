// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/sequence/check_scans.hpp>

// Sums of every type of item, size and distribution.

using namespace test;

TEMPLATE_TEST_CASE("Scans of sums are exact at every size", "[scan]",
                   std::uint32_t MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  check_all_sizes<TestType>(TestType(5), lanewise::plus{});
}

TEMPLATE_TEST_CASE("Scans of sums are exact for every distribution", "[scan]",
                   std::uint32_t MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  for (const distribution d : all_distributions) {
    CAPTURE(d);
    const std::int64_t n = some_tiles(scan_tile<TestType>);
    check_scans(items_of<TestType>(numbers(d, n, most_summand<TestType>(), 100)), TestType(0),
                lanewise::plus{});
  }
}

TEMPLATE_TEST_CASE("Scans of arrays that begin anywhere between packs", "[scan][sanitize]",
                   std::uint8_t, std::uint32_t MORE_TYPES(std::uint16_t, std::uint64_t)) {
  constexpr int pack = 16 / sizeof(TestType);
  const auto items = random_items<TestType>(2 * scan_tile<TestType> + 77, most_summand<TestType>());
  for (const auto& [in, out] : {std::pair{1, 0}, {0, 1}, {1, pack - 1}, {pack / 2, 3 * pack / 4}}) {
    CAPTURE(in, out);
    check_scans(items, TestType(1), lanewise::plus{}, in, out);
    // Sizes at which a first tile up to the first whole pack makes one tile more.
    for (const std::int64_t n : {0, 1, pack - out - 1, pack - out, pack - out + 1}) {
      CAPTURE(n);
      check_scans(random_items<TestType>(scan_tile<TestType> + n, most_summand<TestType>()),
                  TestType(1), lanewise::plus{}, in, out);
    }
  }
  const auto exec = make_space();
  // A count that only the device knows ends in the first tile, or after it.
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{3}, std::int64_t{pack},
                                   scan_tile<TestType>, scan_tile<TestType> + 5}) {
    CAPTURE(count);
    const auto n = static_cast<std::int64_t>(items.size());
    const array<TestType> in(items), out(n, item_of<TestType>(77), 1);
    const cell<std::int64_t> items_there(count);
    lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{},
                             {.count = items_there.view()});
    const std::vector<TestType> there(items.begin(), items.begin() + count);
    CHECK(difference(out.items(), oracle::inclusive_scan(there, lanewise::plus{}),
                     out.original()) == "");
    CHECK(out.guards_intact());
  }
  const array<TestType> in_place(items, 1);
  lanewise::inclusive_scan(exec, in_place.const_view(), in_place.view(), lanewise::plus{});
  CHECK(difference(in_place.items(), oracle::inclusive_scan(items, lanewise::plus{})) == "");
  CHECK(in_place.guards_intact());
}

TEST_CASE("Scans reproduce Merrill's figure 25", "[scan][sanitize]") {
  const std::vector<std::uint32_t> x = {8, 6, 7, 5, 3, 0, 9};
  const std::vector<std::uint32_t> flags = {1, 0, 0, 1, 0, 1, 0};
  std::vector<segment> items;
  for (std::size_t i = 0; i < x.size(); ++i) items.push_back({flags[i], x[i]});
  const auto exec = make_space();
  const array<std::uint32_t> in(x);
  const array<std::uint32_t> out(7, 0u);
  const array<segment> in_segments(items);
  const array<segment> out_segments(7, segment{});

  lanewise::exclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}, 0u);
  CHECK(out.items() == std::vector<std::uint32_t>{0, 8, 14, 21, 26, 29, 29});

  lanewise::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{});
  CHECK(out.items() == std::vector<std::uint32_t>{8, 14, 21, 26, 29, 29, 38});

  lanewise::inclusive_scan(exec, in_segments.const_view(), out_segments.view(), segmented_plus{});
  std::vector<std::uint32_t> sums;
  for (const segment& s : out_segments.items()) sums.push_back(s.sum);
  CHECK(sums == std::vector<std::uint32_t>{8, 14, 21, 5, 8, 0, 9});
}
