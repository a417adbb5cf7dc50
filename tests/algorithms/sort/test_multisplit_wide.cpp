// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/sort/check_multisplit.hpp>

// More than 256 buckets: two rounds.

namespace {

using namespace test;
using u32 = std::uint32_t;

struct put_key_at {
  u32* out;
  KOKKOS_FUNCTION void operator()(std::int64_t i, u32 k) const { out[i] = k; }
};
struct index_as_key {
  KOKKOS_FUNCTION u32 operator()(std::int64_t i) const { return static_cast<u32>(i) * 2654435761u; }
};

/// Counts how often it sees every key; keys are their indices.
struct counts_calls {
  int* calls;
  std::int64_t n;
  u32 m;
  KOKKOS_FUNCTION u32 operator()(const u32& k) const {
    if (k < n) ++calls[k];
    return k % m;
  }
};

/// Numbers of items: one team takes all of the few, and not all of the many.
const std::int64_t few_wide = 1000;
const std::int64_t many_wide = std::max<std::int64_t>(some_tiles(split_tile<u32>), (1 << 15) + 77);

}  // namespace

TEMPLATE_TEST_CASE("multisplit into many buckets is stable for every number of them",
                   "[multisplit][long]", u32 MORE_TYPES(affine)) {
  for (const u32 m : {257u, 300u, 511u, 512u, 513u, 4095u, 4096u, 65'535u, 65'536u}) {
    CAPTURE(m);
    check_pairs(random_items<TestType>(few_wide), m, m);
    check_keys(random_items<TestType>(few_wide), m, m);
    check_pairs(random_items<TestType>(many_wide), m, m);
    check_keys(random_items<TestType>(many_wide), m, m);
  }
}

TEST_CASE("multisplit into many buckets is stable at every size", "[multisplit][sanitize]") {
  for (const std::int64_t n : {0, 1, 2, 31, 33, 255, 257, 8191, 8192, 8193, 16384, 16385}) {
    CAPTURE(n);
    check_pairs(random_items<u32>(n), 1000, 1000);
  }
  if (!full()) return;
  for (const std::int64_t n : sizes_around(split_tile<u32>)) {
    CAPTURE(n);
    check_pairs(random_items<u32>(n), 4096, 4096);
    check_keys(random_items<u32>(n), 65'536, 65'536);
  }
}

TEST_CASE("multisplit into many buckets is stable for every distribution", "[multisplit]") {
  for (const distribution d : all_distributions) {
    for (const std::int64_t n : {few_wide, many_wide}) {
      CAPTURE(d, n);
      check_pairs(items_of<u32>(numbers(d, n, most_number<u32>(), 2000)), 2000, 2000);
    }
  }
}

TEST_CASE("multisplit into many buckets, of which few or one are used", "[multisplit]") {
  for (const std::int64_t n : {few_wide, many_wide}) {
    for (const u32 used : {1u, 3u}) {
      CAPTURE(n, used);
      auto items = random_items<u32>(n);
      for (auto& x : items) x = 12'345 + x % used * 17'000;
      check_pairs(items, 65'536, 65'536);
      check_keys(items, 65'536, 65'536);
    }
  }
}

TEST_CASE("multisplit into many buckets skips items outside, and counts each once",
          "[multisplit][sanitize]") {
  for (const std::int64_t n : {few_wide, many_wide}) {
    for (const u32 m : {257u, 4000u, 40'000u}) {
      CAPTURE(n, m);
      check_pairs(random_items<u32>(n), m, m + m / 3 + 1);
    }
    // All are outside.
    auto items = random_items<u32>(n);
    for (auto& x : items) x |= 512;
    check_pairs(items, 500, 1024);
  }
}

TEST_CASE("multisplit into many buckets reads the number of items on the device",
          "[multisplit][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(many_wide);
  const array<u32> keys(items);
  const cell<std::int64_t> count;
  for (const std::int64_t given : {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1},
                                   many_wide - 1, many_wide, many_wide + 5}) {
    CAPTURE(given);
    count.set(given);
    const auto n = std::clamp<std::int64_t>(given, 0, many_wide);
    const std::vector<u32> used(items.begin(), items.begin() + n);
    const array<u32> out(many_wide, 77u), values_out(many_wide, 77u);
    const array<u32> offsets(901, 5u);
    const cell<lanewise::status> errors;
    lanewise::multisplit(
        exec, keys.const_view(), keys.const_view(), out.view(), values_out.view(), 900,
        modulo{1000}, {.count = count.view(), .offsets = offsets.view(), .errors = errors.view()});
    const auto expected = oracle::multisplit(used, 900, modulo{1000});
    CHECK(difference(out.items(), oracle::gather(used, expected.index), out.original()) == "");
    CHECK(difference(values_out.items(), oracle::gather(used, expected.index),
                     values_out.original()) == "");
    CHECK(difference(offsets.items(),
                     std::vector<u32>(expected.offsets.begin(), expected.offsets.end())) == "");
    CHECK(errors.get().bad_items == expected.bad_items);
  }
}

TEST_CASE("multisplit into many buckets takes sources, and sinks that cannot be read again",
          "[multisplit][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n : {few_wide, many_wide}) {
    CAPTURE(n);
    std::vector<u32> items;
    for (std::int64_t i = 0; i < n; ++i) items.push_back(index_as_key{}(i));
    const array<u32> out(n, 77u);
    const array<std::int64_t> offsets(3001, -1);
    for (const bool asks : {false, true}) {
      lanewise::multisplit_options with;
      if (asks) with.offsets = offsets.view();
      lanewise::multisplit(exec, lanewise::generated(n, index_as_key{}),
                           lanewise::consumed(n, put_key_at{out.data()}), 3000, modulo{3000}, with);
      const auto expected = oracle::multisplit(items, 3000, modulo{3000});
      CHECK(difference(out.items(), oracle::gather(items, expected.index)) == "");
      if (asks) CHECK(difference(offsets.items(), expected.offsets) == "");
    }
  }
}

TEST_CASE("multisplit into many buckets calls its function up to six times", "[multisplit]") {
  const auto exec = make_space();
  for (const std::int64_t n : {few_wide, many_wide}) {
    CAPTURE(n);
    std::vector<u32> items(static_cast<std::size_t>(n));
    std::iota(items.begin(), items.end(), 0u);
    const array<u32> keys(items), out(n, 77u);
    const array<int> calls(n, 0);
    lanewise::multisplit(exec, keys.const_view(), out.view(), 300,
                         counts_calls{calls.data(), n, 300});
    const auto seen = calls.items();
    CHECK(std::all_of(seen.begin(), seen.end(), [](int k) { return k >= 1 && k <= 6; }));
  }
}

TEST_CASE("multisplit_workspace is what a call into many buckets needs", "[multisplit]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(many_wide);
  const array<u32> keys(items), out(many_wide, 77u);
  for (const std::int64_t m : {256, 257, 65'536}) {
    CAPTURE(m);
    lanewise::workspace work;
    lanewise::reserve(exec, work, lanewise::multisplit_workspace<u32, space, u32>(many_wide, m));
    const std::size_t bytes = work.bytes();
    lanewise::multisplit(exec, keys.const_view(), keys.const_view(), out.view(),
                         array<u32>(many_wide, 0u).view(), m, modulo{300}, {.work = &work});
    lanewise::multisplit(exec, keys.const_view(), out.view(), m, modulo{300}, {.work = &work});
    exec.fence();
    CHECK(work.bytes() == bytes);
  }
}
