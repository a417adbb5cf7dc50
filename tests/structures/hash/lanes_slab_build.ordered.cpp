// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

// With --full only: g++ takes 45 s.
#if !defined(LANEWISE_TEST_FEW_TYPES)

// radix_sort's unstable_split leaves out the same groups in both of its loops, which g++ 12
// does not see with lanes that are classes; with a value for these groups it stops with an internal
// error.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define LANEWISE_TEST_LANES
#include <structures/lsm/check_lsm.hpp>
#include <structures/ordered/ordered_histories.hpp>

// LSMs and ordered maps by lanes that take turns.

namespace {

using namespace test;

TEST_CASE("lanes: a history of an LSM", "[lanes_ordered]") {
  check_history<lanewise::lsm_map<std::uint32_t, std::uint32_t, memory>>(
      90, 150, 200, 6, 40, [](std::uint64_t x) { return static_cast<std::uint32_t>(x); });
}
TEST_CASE("lanes: a history of an ordered map", "[lanes_ordered]") {
  auto random = make_random(91);
  ordered_pair_of_maps<std::uint32_t, std::uint32_t> maps(random);
  for (int i = 0; i < 12; ++i) {
    maps.step(150);
    maps.check();
  }
}

}  // namespace

#endif
