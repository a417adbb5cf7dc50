// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/transform.hpp>

#include <structures/hash/check_slab.hpp>

// Insertions, searches and deletions again and again: nothing is lost, nothing is kept. The large
// one, 10^9 operations, is hidden: ask for [large].

namespace {

using namespace test;
using u32 = std::uint32_t;

struct key_of_batch {
  u32 first;
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const {
    return (first + static_cast<u32>(i)) * 2654435761u;
  }
};

/// Batches of n keys: each is inserted and found, and the one before it deleted.
void check_churn(std::int64_t n, std::int64_t operations) {
  const auto exec = make_space();
  lanewise::slab_hash_map<u32, u32, memory> map(exec, {.expected = 2 * n});
  const Kokkos::View<u32*, memory> now("now", n), before("before", n);
  const cell<lanewise::status_counts> tally;
  lanewise::workspace work;
  const auto batch = [&](const auto& keys, std::int64_t b) {
    lanewise::transform(exec, lanewise::generated(n, key_of_batch{static_cast<u32>(b * n)}), keys,
                        lanewise::identity{});
  };
  const lanewise::slab_options with{.work = &work, .tally = tally.view()};
  std::int64_t units = 0;
  const std::int64_t batches = operations / (3 * n);
  for (std::int64_t b = 0; b < batches; ++b) {
    tally.set({});
    batch(now, b);
    lanewise::insert(exec, map, now, now, with);
    lanewise::find(exec, map, now, std::nullopt, with);
    batch(before, b - 1);
    lanewise::erase(exec, map, before, with);
    if (b % 4 == 3) lanewise::flush(exec, map);
    const auto came = tally.get();
    REQUIRE(came[table_status::inserted] == static_cast<std::uint64_t>(n));
    REQUIRE(came[table_status::found] == static_cast<std::uint64_t>(n));
    REQUIRE(came[table_status::erased] == static_cast<std::uint64_t>(b > 0 ? n : 0));
    if (b == batches / 4) units = map.pool().units();
  }
  lanewise::flush(exec, map);
  CHECK(map.pool().units() == units);
  const auto s = lanewise::statistics(exec, map);
  CHECK(s.elements == n);
  CHECK(s.deleted == 0);
  check_no_leak(exec, map);
  lanewise::clear(exec, map);
  CHECK(lanewise::usage(exec, map.pool()).allocated == 0);
}

}  // namespace

TEST_CASE("Batches come and go without leak", "[slab_churn][sanitize]") {
  if (is_emulated) {
    check_churn(300, 20'000);
  } else {
    check_churn(10'000, 1'000'000);
  }
}

TEST_CASE("10^9 operations leak nothing", "[.large]") {
  check_churn(1 << 21, 1'000'000'000);
}
