// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <support/failing_allocations.hpp>
// Before the library.
#include <structures/lsm/check_lsm.hpp>

// Every allocation of a call fails once. The dictionary is as it was then, nothing is lost, and the
// call works when it is made again.

namespace {

using namespace test;
using u32 = std::uint32_t;
using lsm_type = lanewise::lsm_map<u32, u32, memory>;

/// change(map) with the first, the second, ... allocation failing, until there are no more.
template <class Change>
void every_lsm_allocation_fails_once(const model<u32, u32>& after, Change change) {
  const auto exec = make_space();
  auto random = make_random(1);
  const auto happened = [&](long failing) {
    lsm_type map;
    model<u32, u32> m;
    for (const int n : {300, 100, 40, 15}) {
      auto b = random_batch<u32, u32>(random, n, 500, n == 40 ? 60 : 0,
                                      [](std::uint64_t x) { return static_cast<u32>(x); });
      apply_to(exec, map, b);
      apply_to(m, b);
    }
    const int levels = map.levels();
    bool failed = false;
    // Kokkos ends the program where the label of a View cannot be copied.
    least_counted = 64;
    fails_for_good = false;
    until_failure = failing;
    try {
      change(exec, map);
    } catch (const std::exception&) {
      failed = true;
    }
    const bool reached = until_failure < 0;
    until_failure = -1;
    exec.fence();
    if (failed) {
      CHECK(map.levels() == levels);
      check_all(exec, map, m, random, 600, 20);
      change(exec, map);
    }
    for (const auto& [key, value] : after) m[key] = value;
    check_all(exec, map, m, random, 600, 20);
    return reached;
  };
  happened(-1);  // what is allocated once and for all
  long failing = 0;
  for (bool goes_on = true; goes_on; failing = next_failing(failing)) {
    CAPTURE(failing);
    REQUIRE(failing < 200);
    const long before = outstanding;
    goes_on = happened(failing);
    CHECK(outstanding == before);
  }
  CHECK(failing > 1);
}

}  // namespace

TEST_CASE("A call on an LSM that fails changes nothing", "[lsm_allocation]") {
  std::vector<u32> some(400);
  model<u32, u32> after;
  for (u32 i = 0; i < some.size(); ++i) {
    some[i] = i;
    after[i] = i;
  }
  const array<u32> keys(some);
  const array<table_operation> operations(static_cast<std::int64_t>(some.size()),
                                          table_operation::insert);
  SECTION("insert") {
    every_lsm_allocation_fails_once(after, [&](const space& exec, lsm_type& map) {
      lanewise::insert(exec, map, keys.const_view(), keys.const_view());
    });
  }
  SECTION("apply") {
    every_lsm_allocation_fails_once(after, [&](const space& exec, lsm_type& map) {
      lanewise::apply(exec, map, operations.const_view(), keys.const_view(), keys.const_view());
    });
  }
  SECTION("cleanup") {
    every_lsm_allocation_fails_once(
        {}, [](const space& exec, lsm_type& map) { lanewise::cleanup(exec, map); });
  }
}
