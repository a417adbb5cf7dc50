// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/segments/segmented_scan.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>

// Segments that are given by their length alone.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using i64 = std::int64_t;

template <class T>
constexpr i64 equal_tile = tile_items<T, lanewise::kernels::segments_policy<T>>;

template <class T, class Op>
void check_equal_segments(i64 n, i64 length, const T& init, Op op) {
  const auto exec = make_space();
  const auto items = random_items<T>(n, most_summand<T>());
  std::vector<T> sums, inclusive, exclusive;
  for (i64 i = 0; i < n; ++i) {
    const T& x = items[static_cast<std::size_t>(i)];
    const bool begins = i % length == 0;
    if (begins) sums.push_back(init);
    exclusive.push_back(begins ? init : sums.back());
    sums.back() = op(sums.back(), x);
    inclusive.push_back(begins ? x : op(inclusive.back(), x));
  }
  const array<T> in(items, 1);
  const array<T> out(static_cast<i64>(sums.size()) + 2, item_of<T>(77));
  const array<T> one(n, item_of<T>(77)), two(n, item_of<T>(77));
  const cell<lanewise::status> errors;

  lanewise::segmented_reduce(exec, in.const_view(), length, out.view(), op, init,
                             {.errors = errors.view()});
  lanewise::inclusive_segmented_scan(exec, in.const_view(), length, one.view(), op);
  lanewise::exclusive_segmented_scan(exec, in.const_view(), length, two.view(), op, init);

  CHECK(difference(out.items(), sums, out.original()) == "");
  CHECK(errors.get().bad_items == 0);
  CHECK(difference(one.items(), inclusive) == "");
  CHECK(difference(two.items(), exclusive) == "");
  for (const auto* written : {&out, &one, &two}) CHECK(written->guards_intact());
  CHECK(in.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("Segments of equal lengths", "[equal_segments][sanitize]", u32,
                   affine MORE_TYPES(double)) {
  const i64 n = some_tiles(equal_tile<TestType>);
  for (const i64 length : {i64{1}, i64{2}, i64{3}, i64{7}, i64{32}, i64{33}, i64{96}, i64{1000},
                           i64{4096}, n / 2, n - 1, n, n + 1, std::numeric_limits<i64>::max()}) {
    CAPTURE(n, length);
    if constexpr (std::is_same_v<TestType, affine>) {
      check_equal_segments(n, length, affine{3, 5, 1}, then{});
    } else {
      check_equal_segments(n, length, TestType(5), lanewise::plus{});
    }
  }
}

TEST_CASE("Segments of equal lengths of few items, and of many", "[equal_segments]") {
  for (const i64 n : {0, 1, 31, 33, is_emulated ? 5000 : 1'000'003}) {
    for (const i64 length : {1, 2, 5, 64, 100}) {
      CAPTURE(n, length);
      check_equal_segments(n, length, 7u, lanewise::plus{});
    }
  }
}

TEST_CASE("Multiples are found by one multiplication", "[equal_segments]") {
  auto random = make_random(9);
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<i64>::max());
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t length = random_number(random, most >> (round % 63)) + 1;
    const lanewise::kernels::is_multiple of(length);
    const std::uint64_t k = random_number(random, most / length);
    CAPTURE(length, k);
    CHECK(of(static_cast<i64>(k * length)) == 1);
    CHECK(of(0) == 1);
    for (const std::uint64_t i :
         {k * length + 1, k * length + length - 1, random_number(random, most)})
      if (i <= most) CHECK(of(static_cast<i64>(i)) == (i % length == 0));
  }
}

TEST_CASE("The number of equal segments may be on the device, and lengths of any integer type",
          "[equal_segments]") {
  const auto exec = make_space();
  const array<u32> in(random_items<u32>(1000)), out(10, 77u);
  const cell<i64> count(3);
  lanewise::segmented_reduce(exec, in.const_view(), std::uint8_t{100}, out.view(), lanewise::plus{},
                             5u, {.count = count.view()});
  std::vector<u32> sums(3, 5u);
  for (std::size_t i = 0; i < 300; ++i) sums[i / 100] += in.original()[i];
  CHECK(difference(out.items(), sums, out.original()) == "");
  const lanewise::checked_options none;
  lanewise::segmented_reduce(exec, in.const_view(), std::numeric_limits<std::uint64_t>::max(),
                             out.view(), lanewise::plus{}, 5u, none);
  CHECK(out.items()[0] == oracle::reduce(in.original(), lanewise::plus{}, 5u));
}

TEST_CASE("Lengths of segments are refused where there are none", "[equal_segments]") {
  const auto exec = make_space();
  const array<u32> in(1000, 1u), out(9, 77u), scanned(1000, 77u);
  CHECK_THAT(refusal([&] {
               lanewise::segmented_reduce(exec, in.const_view(), 0, out.view(), lanewise::plus{},
                                          0u);
             }),
             ContainsSubstring("lanewise::segmented_reduce: length is 0, less than 1"));
  CHECK_THAT(refusal([&] {
               lanewise::segmented_reduce(exec, in.const_view(), 111, out.view(), lanewise::plus{},
                                          0u);
             }),
             ContainsSubstring("segmented_reduce: out has 9 places, in has 1000 items for 10 "
                               "segments of 111"));
  CHECK_THAT(refusal([&] {
               lanewise::inclusive_segmented_scan(exec, in.const_view(), -1, scanned.view(),
                                                  lanewise::plus{});
             }),
             ContainsSubstring("inclusive_segmented_scan: length is -1, less than 1"));
  CHECK_THAT(refusal([&] {
               lanewise::exclusive_segmented_scan(exec, in.const_view(), 0, scanned.view(),
                                                  lanewise::plus{}, 0u);
             }),
             ContainsSubstring("exclusive_segmented_scan: length is 0, less than 1"));
  CHECK(out.unchanged());
  CHECK(scanned.unchanged());
}
