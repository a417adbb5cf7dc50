// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// clang-format off: before the library, which allocates by the names that it replaces
#include <support/failing_allocations.hpp>
// clang-format on

#include <lanewise/ordered/ordered_map.hpp>

#include <numeric>
#include <structures/ordered/check_ordered.hpp>

// Every allocation of a call that changes an ordered map fails once: the map is as before, and
// serves the next call. Small ones do not fail, as in test_slab_allocation_failure.cpp.

namespace {

using namespace test;
using u32 = std::uint32_t;
using ordered = lanewise::ordered_map<u32, u32, memory>;

/// Calls change(map) with its first, second, ... allocation failing until none does. Returns how
/// many did.
template <class Change>
long allocations_that_fail(const ordered& map, const Change& change) {
  const auto exec = make_space();
  const std::int64_t before = map.size();
  long failing = 0;
  for (;; failing = next_failing(failing)) {
    REQUIRE(failing < 1000);
    const long there = outstanding;
    {
      ordered copy = map;
      bool failed = false;
      least_counted = 64;
      fails_for_good = false;
      until_failure = failing;
      try {
        change(exec, copy);
      } catch (const std::exception&) {
        failed = true;
      }
      const bool reached = until_failure < 0;
      until_failure = -1;
      exec.fence();
      if (!reached) {
        CHECK(!failed);
        return failing;
      }
      if (failed) {
        CHECK(copy.size() == before);
        CHECK(copy.leaves() == map.leaves());
      }
    }
    CHECK(outstanding == there);
  }
}

TEST_CASE("ordered_map: each allocation fails once", "[ordered]") {
  const auto exec = make_space();
  std::vector<u32> keys(3000), more(2000);
  std::iota(keys.begin(), keys.end(), 5u);
  std::iota(more.begin(), more.end(), 2000u);
  const array<u32> k(keys), m(more);
  ordered map;
  lanewise::insert(exec, map, k.view(), k.view());
  const auto insert = [&](const auto& e, auto& t) { lanewise::insert(e, t, m.view(), m.view()); };
  ordered once = map;
  insert(exec, once);  // what is allocated once and for all
  CHECK(allocations_that_fail(map, insert) > 1);
  CHECK(allocations_that_fail(map, [&](const auto& e, auto& t) {
          lanewise::build_sorted(e, t, m.view(), m.view());
        }) > 0);
  CHECK(allocations_that_fail(
            map, [&](const auto& e, auto& t) { lanewise::erase_range(e, t, 10u, 70u); }) > 0);
  std::vector<std::pair<u32, u32>> expected;
  for (const u32 x : keys) expected.emplace_back(x, x);
  check_ordered_contents(exec, map, expected);
}

}  // namespace
