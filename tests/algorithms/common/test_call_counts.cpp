// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length.hpp>
#include <lanewise/segments/segmented_scan.hpp>
#include <lanewise/select/unique.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/scan_two_level.hpp>
#include <lanewise/sort/multisplit.hpp>
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

/// i, counting the calls for every i, also where several lanes look at an item at once.
struct shared_index {
  int* calls;
  std::int64_t n;
  KOKKOS_FUNCTION std::int64_t operator()(std::int64_t i) const {
    Kokkos::atomic_inc(calls + (i < 0 ? -1 : (i < n ? i : n)));
    return i;
  }
};

/// Whether i and i + 1 are of the same three, counting the calls for every i; for others it damages
/// a guard.
struct counting_equal {
  int* calls;
  std::int64_t n;
  KOKKOS_FUNCTION bool operator()(const std::int64_t& a, const std::int64_t& b) const {
    const bool known = b == a + 1 && a >= 0 && b < n;
    Kokkos::atomic_inc(calls + (known ? a : -1));
    return a / 3 == b / 3;
  }
};

/// 1 for the first of three, counting the calls for every i.
struct counting_head {
  int* calls;
  std::int64_t n;
  KOKKOS_FUNCTION int operator()(std::int64_t i) const {
    return shared_index{calls, n}(i) % 3 == 0;
  }
};

/// The neighbour of a warp's first item is looked at by the warp as one, which on CUDA are 32
/// calls.
#if defined(LANEWISE_TEST_SPACE_CUDA)
constexpr int by_warps = 31;
#else
constexpr int by_warps = 0;
#endif

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
                           keys.view(), values.view(), lanewise::at_most<256>{m},
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
                             op, u64{3});

    check_calls(reduced, 1);
    check_calls(scanned, 2);
    check_calls(written, 1);
  }
}

TEST_CASE("What finds runs compares neighbours, and only those", "[calls]") {
  const auto exec = make_space();
  for (const std::int64_t n : sizes()) {
    CAPTURE(n);
    const array<int> read(n, 0), compared(n - 1, 0);
    const array<int> read_encoding(n, 0), compared_encoding(n - 1, 0);
    const array<std::int64_t> items(n, -1), keys(n, -1), lengths(n, -1);

    const auto runs = lanewise::unique(exec, lanewise::generated(n, shared_index{read.data(), n}),
                                       items.view(), counting_equal{compared.data(), n});
    lanewise::run_length_encode(exec, lanewise::generated(n, shared_index{read_encoding.data(), n}),
                                keys.view(), lengths.view(),
                                counting_equal{compared_encoding.data(), n});

    CHECK(runs == (n + 2) / 3);
    check_calls(read, 4 + by_warps);
    check_calls(compared, 2 + by_warps);
    check_calls(read_encoding, 4 + by_warps);
    check_calls(compared_encoding, 2 + by_warps);
  }
}

TEST_CASE("reduce_by_key reads values twice at most, and compares neighbours", "[calls]") {
  const auto exec = make_space();
  for (const std::int64_t n : sizes()) {
    CAPTURE(n);
    const array<int> keys_read(n, 0), values_read(n, 0), compared(n - 1, 0);
    const array<std::int64_t> keys(n, -1);
    const array<u64> sums(n, 0);

    lanewise::reduce_by_key(exec, lanewise::generated(n, shared_index{keys_read.data(), n}),
                            lanewise::generated(n, counting_square{values_read.data(), n}),
                            keys.view(), sums.view(), lanewise::plus{},
                            counting_equal{compared.data(), n});

    check_calls(keys_read, 5 + by_warps);
    check_calls(values_read, 2);
    check_calls(compared, 3 + by_warps);
  }
}

TEST_CASE("Segmented scans read items and flags twice, and compare neighbours twice", "[calls]") {
  const auto exec = make_space();
  for (const std::int64_t n : sizes()) {
    CAPTURE(n);
    const array<int> heads(n, 0), read(n, 0), written(n, 0);
    const array<int> compared(n - 1, 0), keys_read(n, 0), read_by_key(n, 0);
    const array<u64> out(n, 0);

    lanewise::exclusive_segmented_scan(
        exec, lanewise::generated(n, counting_square{read.data(), n}),
        lanewise::generated(n, counting_head{heads.data(), n}),
        lanewise::consumed(n, counting_store{written.data(), n, out.data()}), lanewise::plus{},
        u64{3});
    lanewise::inclusive_scan_by_key(exec, lanewise::generated(n, shared_index{keys_read.data(), n}),
                                    lanewise::generated(n, counting_square{read_by_key.data(), n}),
                                    out.view(), lanewise::plus{},
                                    counting_equal{compared.data(), n});

    check_calls(heads, 2 + by_warps);
    check_calls(read, 2);
    check_calls(written, 1);
    if (n > 1) check_calls(keys_read, 4 + by_warps);  // a single key has no neighbour
    check_calls(read_by_key, 2);
    check_calls(compared, 2 + by_warps);
  }
}

TEST_CASE("Scans of two sweeps read sources twice and write once", "[calls]") {
  const auto exec = make_space();
  for (const std::int64_t n : sizes()) {
    CAPTURE(n);
    const array<int> read(n, 0), written(n, 0);
    const array<u64> out(n, 0);

    lanewise::two_level::exclusive_scan(
        exec, lanewise::generated(n, counting_square{read.data(), n}),
        lanewise::consumed(n, counting_store{written.data(), n, out.data()}), lanewise::plus{},
        u64{3});

    check_calls(read, 2);
    check_calls(written, 1);
  }
}
