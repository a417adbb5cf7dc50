// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/scan_two_level.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

// Scans of two sweeps: what they compute, and what they promise of their calls.

namespace {

using namespace test;

/// In ragged shares for a few teams, and for all of them.
template <class T>
std::vector<std::int64_t> two_level_sizes() {
  constexpr std::int64_t tile = tile_items<T, lanewise::kernels::two_level_policy<T>>;
  auto sizes = sizes_around(tile);
  sizes.push_back(
      is_emulated
          ? 9 * tile - 5
          : std::min<std::int64_t>(1000 * tile, takes_long_inputs() ? 20'000'000 : 2'000'000) + 77);
  return sizes;
}

template <class T, class Op>
void check_two_level(const T& init, Op op, std::uint64_t most = most_summand<T>()) {
  const auto exec = make_space();
  for (const std::int64_t n : two_level_sizes<T>()) {
    CAPTURE(n);
    const auto items = random_items<T>(n, most);
    const array<T> in(items, 1);
    const array<T> inclusive(n, item_of<T>(77));
    const array<T> in_place(items);

    lanewise::two_level::inclusive_scan(exec, in.const_view(), inclusive.view(), op);
    lanewise::two_level::exclusive_scan(exec, in_place.view(), in_place.view(), op, init);

    CHECK(difference(inclusive.items(), oracle::inclusive_scan(items, op)) == "");
    CHECK(difference(in_place.items(), oracle::exclusive_scan(items, init, op)) == "");
    CHECK(inclusive.guards_intact());
    CHECK(in_place.guards_intact());
    CHECK(in.unchanged());
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Scans of two sweeps are exact at every size", "[scan][sanitize]",
                   std::uint32_t MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  check_two_level<TestType>(TestType(5), lanewise::plus{});
}

TEST_CASE("Scans of two sweeps keep the order of operands", "[scan][sanitize]") {
  check_two_level(affine{3, 4, 1}, then{});
  check_two_level(std::uint32_t{101}, last_nonzero{}, 3);
}

TEST_CASE("Scans of two sweeps read the number of items on the device", "[scan][sanitize]") {
  const auto exec = make_space();
  constexpr std::int64_t tile =
      tile_items<std::uint32_t, lanewise::kernels::two_level_policy<std::uint32_t>>;
  const std::int64_t n = 7 * tile + 5;
  const auto items = random_items<std::uint32_t>(n);
  const array<std::uint32_t> in(items);
  const cell<std::int64_t> count;
  lanewise::workspace work;
  for (const std::int64_t given : {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1}, tile - 1,
                                   tile, 2 * tile + 1, n - 1, n, n + 100'000}) {
    CAPTURE(given);
    count.set(given);
    const auto used = static_cast<std::ptrdiff_t>(std::clamp<std::int64_t>(given, 0, n));
    const std::vector<std::uint32_t> first(items.begin(), items.begin() + used);
    const array<std::uint32_t> out(n, 77u);

    lanewise::two_level::exclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}, 5u,
                                        {.work = &work, .count = count.view()});

    CHECK(difference(out.items(), oracle::exclusive_scan(first, 5u, lanewise::plus{}),
                     out.original()) == "");
    CHECK(out.guards_intact());
  }
}

TEST_CASE("Scans of two sweeps refuse what they cannot do, by name", "[scan]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  const array<std::uint32_t> in(10, 1u), out(9, 77u);
  CHECK_THROWS_WITH(
      lanewise::two_level::inclusive_scan(exec, in.const_view(), out.view(), lanewise::plus{}),
      ContainsSubstring("two_level::inclusive_scan: out has 9 places, in has 10 items"));
  CHECK(out.unchanged());
}
