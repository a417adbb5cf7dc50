// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sort/multisplit.hpp>
#include <support/generators.hpp>
#include <support/instances.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

// Several instances of one execution space.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;

const std::int64_t instances_items =
    some_tiles(tile_items<u32, lanewise::kernels::scan_policy<u32>>);

}  // namespace

TEST_CASE("Calls on two instances may be in flight together", "[instances][sanitize]") {
  const auto [one, other] = two_instances();
  const auto items = random_items<u32>(instances_items);
  const array<u32> in(items);
  const array<u32> scanned_one(instances_items, 77u);
  const array<u32> scanned_other(instances_items, 77u);
  const array<u32> split_one(instances_items, 77u);
  const array<u32> split_other(instances_items, 77u);
  const cell<u32> sum_one;
  const cell<u32> sum_other;
  lanewise::workspace work_one;
  lanewise::workspace work_other;

  for (int round = 0; round < 3; ++round) {
    lanewise::inclusive_scan(one, in.const_view(), scanned_one.view(), lanewise::plus{},
                             {.work = &work_one});
    lanewise::inclusive_scan(other, in.const_view(), scanned_other.view(), lanewise::plus{},
                             {.work = &work_other});
    lanewise::multisplit(one, in.const_view(), split_one.view(), lanewise::at_most<256>{40},
                         modulo{40}, {.work = &work_one});
    lanewise::multisplit(other, in.const_view(), split_other.view(), lanewise::at_most<256>{40},
                         modulo{40});
    lanewise::reduce(one, in.const_view(), sum_one.view(), lanewise::plus{}, 0u,
                     {.work = &work_one});
    lanewise::reduce(other, in.const_view(), sum_other.view(), lanewise::plus{}, 0u,
                     {.work = &work_other});
  }
  one.fence();
  other.fence();

  const auto scanned = oracle::inclusive_scan(items, lanewise::plus{});
  const auto split = oracle::gather(items, oracle::multisplit(items, 40, modulo{40}).index);
  CHECK(difference(scanned_one.items(), scanned) == "");
  CHECK(difference(scanned_other.items(), scanned) == "");
  CHECK(difference(split_one.items(), split) == "");
  CHECK(difference(split_other.items(), split) == "");
  CHECK(sum_one.get() == scanned.back());
  CHECK(sum_other.get() == scanned.back());
}

TEST_CASE("A workspace in use on one instance is refused on another until it is released",
          "[instances]") {
  const auto [one, other] = two_instances();
  if (one == other) SKIP("this execution space has one instance");
  const array<u32> in(5, 1u);
  const array<u32> out(5, 77u);
  lanewise::workspace work;
  lanewise::inclusive_scan(one, in.const_view(), out.view(), lanewise::plus{}, {.work = &work});

  const auto message = refusal([&, &other = other] {
    lanewise::inclusive_scan(other, in.const_view(), out.view(), lanewise::plus{}, {.work = &work});
  });

  CHECK_THAT(message,
             ContainsSubstring(
                 "inclusive_scan: the workspace is in use on another execution space instance"));
  one.fence();
  work.release();
  CHECK_NOTHROW(lanewise::inclusive_scan(other, in.const_view(), out.view(), lanewise::plus{},
                                         {.work = &work}));
  other.fence();
  CHECK(out.items() == std::vector<u32>{1, 2, 3, 4, 5});
}
