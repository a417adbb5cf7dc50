// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

// Functors that work on whole lanes compute what they compute item by item.

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

/// Looks numbers below 100 up in a table, halves even ones, and reports the bytes around a
/// test::array. Counts the calls that got more than one lane.
struct look_up {
  const std::uint32_t* table;
  int* trapped;
  int* wide_calls;

  template <class Warp, class Lanes>
  LANEWISE_FUNCTION auto operator()(const Warp& warp, const Lanes& x) const {
    const auto poison = x == 0xa5a5a5a5u;
    if (warp.any(poison)) *trapped = 1;
    if (Warp::width > 1) *wide_calls = 1;
    const auto found = warp.gather(x < 100u, table, x, 7u);
    const auto even = (found & 1u) == 0u;
    return warp.template cast<std::uint64_t>(select(even, found >> 1, found));
  }
};

struct square_of_index {
  template <class Warp, class Lanes>
  LANEWISE_FUNCTION auto operator()(const Warp&, const Lanes& i) const {
    return i * i;
  }
};

struct add_one {
  LANEWISE_FUNCTION std::uint64_t operator()(std::uint64_t x) const { return x + 1; }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

}  // namespace

TEST_CASE("by_lanes computes what a scalar functor would", "[by_lanes][sanitize]") {
  const auto exec = make_space();
  const auto table_items = random_items<u32>(100);
  const array<u32> table(table_items);
  const cell<int> trapped, wide;
  const lanewise::test_kernels::look_up f{table.data(), trapped.data(), wide.data()};
  for (const std::int64_t n : {1, 31, 32, 33, 1000, 20'011}) {
    CAPTURE(n);
    const auto items = random_items<u32>(n, 130);
    std::vector<u64> expected;
    for (const u32 x : items) {
      const u32 found = x < 100 ? table_items[x] : 7;
      expected.push_back(found % 2 == 0 ? found / 2 : found);
    }
    const array<u32> in(items, 1);
    const array<u64> out(n, 77);
    const array<u64> sums(n, 77);

    lanewise::transform(exec, in.const_view(), out.view(), lanewise::by_lanes(f));
    const auto source = lanewise::transformed(in.const_view(), lanewise::by_lanes(f));
    lanewise::inclusive_scan(exec, source, sums.view(), lanewise::plus{});
    const u64 sum = lanewise::reduce(exec, source, lanewise::plus{}, u64{3});

    CHECK(difference(out.items(), expected) == "");
    CHECK(difference(sums.items(), oracle::inclusive_scan(expected, lanewise::plus{})) == "");
    CHECK(sum == oracle::reduce(expected, lanewise::plus{}, u64{3}));
    CHECK(trapped.get() == 0);
    CHECK(out.guards_intact());
  }
#if defined(LANEWISE_TEST_SPACE_SERIAL) || defined(LANEWISE_TEST_SPACE_OPENMP)
  CHECK(wide.get() == 1);
#endif
}

TEST_CASE("by_lanes generates, and composes with scalar functors", "[by_lanes][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = 10'007;
  const array<u64> out(n, 0);
  const auto squares =
      lanewise::generated(n, lanewise::by_lanes(lanewise::test_kernels::square_of_index{}));

  lanewise::transform(exec, squares, out.view(), lanewise::test_kernels::add_one{});

  std::vector<u64> expected;
  for (u64 i = 0; i < static_cast<u64>(n); ++i) expected.push_back(i * i + 1);
  CHECK(difference(out.items(), expected) == "");
  CHECK(lanewise::reduce(exec, squares, lanewise::plus{}, std::int64_t{0}) ==
        (n - 1) * n * (2 * n - 1) / 6);
}
