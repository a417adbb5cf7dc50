// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/adjacent_difference.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/transform.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

// Enough items that host threads get several teams each, and take over those of others.

TEST_CASE("Shares of a thread that another one takes over come out in their place", "[shares]") {
  using namespace test;
  using u32 = std::uint32_t;
  const std::int64_t n = is_emulated ? 100'003 : 3'000'001;
  const space exec = make_space();
  const array<u32> in(random_items<u32>(n));
  const auto items = in.original();

  const array<u32> squares(n, 77u), differences(n, 77u), split(n, 77u);
  lanewise::transform(exec, in.const_view(), squares.view(), square_plus_one{});
  CHECK(difference(squares.items(), oracle::transform<u32>(items, square_plus_one{})) == "");

  lanewise::adjacent_difference(exec, in.const_view(), differences.view());
  auto expected = items;
  for (std::size_t i = 1; i < items.size(); ++i) expected[i] = items[i] - items[i - 1];
  CHECK(difference(differences.items(), expected) == "");

  for (const int m : {3, 40, 256}) {
    CAPTURE(m);
    const array<std::int64_t> offsets(m + 1, -1);
    lanewise::multisplit(exec, in.const_view(), split.view(), lanewise::at_most<256>{m},
                         modulo{static_cast<u32>(m)}, {.offsets = offsets.view()});
    const auto order = oracle::multisplit(items, m, modulo{static_cast<u32>(m)});
    CHECK(difference(split.items(), oracle::gather(items, order.index)) == "");
    CHECK(difference(offsets.items(), order.offsets) == "");
  }

  // Maps do not commute.
  const array<affine> maps(random_items<affine>(n));
  CHECK(lanewise::reduce(exec, maps.const_view(), then{}, affine{}) ==
        oracle::reduce(maps.original(), then{}, affine{}));
}
