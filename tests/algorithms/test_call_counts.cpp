// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/multisplit.hpp>
#include <lanewise/reduce.hpp>
#include <lanewise/scan.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

// Functors are called for items that exist, at least once and at most as often as documented.

namespace {

using namespace test;
using u64 = std::uint64_t;

/// The bucket of key i, counting the calls for every i.
struct counting_bucket {
  int* calls;
  std::int64_t n;
  std::uint32_t buckets;
  KOKKOS_FUNCTION std::uint32_t operator()(const std::int64_t& i) const {
    if (i < 0 || i >= n) {
      calls[i < 0 ? -1 : n] = 1;
      return 0;
    }
    ++calls[i];
    return static_cast<std::uint32_t>(i % buckets);
  }
};

struct counting_index {
  int* calls;
  std::int64_t n;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    if (i < 0 || i >= n) {
      calls[i < 0 ? -1 : n] = 1;
    } else {
      ++calls[i];
    }
    return i;
  }
};

void check_calls(const array<int>& calls, int most) {
  const auto counts = calls.items();
  CHECK(calls.guards_intact());
  if (counts.empty()) return;
  CHECK(*std::min_element(counts.begin(), counts.end()) >= 1);
  CHECK(*std::max_element(counts.begin(), counts.end()) <= most);
}

std::vector<std::int64_t> sizes() {
  return {1, 33, 8191, 8193, is_emulated ? 20'011 : 300'007};
}

}  // namespace

TEST_CASE("multisplit calls bucket_of three times per key, and sources twice", "[calls]") {
  const auto exec = make_space();
  for (const std::int64_t n : sizes()) {
    for (const std::uint32_t m : {1u, 7u, 256u}) {
      CAPTURE(n, m);
      const array<int> bucket_calls(n, 0), key_calls(n, 0), value_calls(n, 0);
      const array<std::int64_t> keys(n, -1);
      const array<u64> values(n, 0);

      lanewise::multisplit(exec, lanewise::generated(n, counting_index{key_calls.data(), n}),
                           lanewise::generated(n, counting_square{value_calls.data(), n}),
                           keys.view(), values.view(), m,
                           counting_bucket{bucket_calls.data(), n, m});

      check_calls(bucket_calls, 3);
      check_calls(key_calls, 2);
      check_calls(value_calls, 2);
      CHECK(keys.guards_intact());
    }
  }
}

TEST_CASE("Deterministic calls read sources as often as others", "[calls][deterministic]") {
  const auto exec = make_space();
  const auto op = lanewise::deterministic(last_nonzero{});
  for (const std::int64_t n : sizes()) {
    CAPTURE(n);
    const array<int> reduced(n, 0), scanned(n, 0), written(n, 0);
    const array<u64> out(n, 0);

    lanewise::reduce(exec, lanewise::generated(n, counting_square{reduced.data(), n}), op, u64{3});
    lanewise::exclusive_scan(exec, lanewise::generated(n, counting_square{scanned.data(), n}),
                             lanewise::consumed(n, counting_store{written.data(), n, out.data()}),
                             u64{3}, op);

    check_calls(reduced, 1);
    check_calls(scanned, 2);
    check_calls(written, 1);
  }
}
