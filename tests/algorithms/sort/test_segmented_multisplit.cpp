// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sort/segmented_multisplit.hpp>
#include <support/generators.hpp>
#include <support/items.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/sort/check_segmented_sort.hpp>

// segmented_sort has tests of its own; here is how it is used.

using namespace test;

namespace {

using bucket_keys = std::vector<std::uint32_t>;
using bucket_begins = std::vector<std::int64_t>;

struct segments_split {
  std::vector<std::int64_t> index;  ///< the input index of every output
  bucket_begins begins;
  std::uint64_t bad_items = 0;
};

segments_split split_segments(const bucket_keys& keys, const bucket_begins& offsets,
                              std::uint32_t buckets, std::uint32_t modulus) {
  segments_split result;
  result.index.resize(keys.size());
  std::iota(result.index.begin(), result.index.end(), std::int64_t{0});
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    const auto bucket = [&](std::int64_t i) {
      return std::min(keys[static_cast<std::size_t>(i)] % modulus, buckets);
    };
    const auto begin = result.index.begin() + offsets[s],
               end = result.index.begin() + offsets[s + 1];
    std::stable_sort(begin, end,
                     [&](std::int64_t a, std::int64_t b) { return bucket(a) < bucket(b); });
    bucket_begins counts(buckets + 1);
    for (std::int64_t i = offsets[s]; i < offsets[s + 1]; ++i) ++counts[bucket(i)];
    std::exclusive_scan(counts.begin(), counts.end(), std::back_inserter(result.begins),
                        offsets[s]);
    result.bad_items += static_cast<std::uint64_t>(counts[buckets]);
  }
  return result;
}

/// In place and, where all items are in segments, to another output. Keys whose rest is not below
/// the number of buckets are bad.
void check_segmented_split(const bucket_keys& items, const bucket_begins& offsets,
                           std::uint32_t buckets, std::uint32_t modulus) {
  const auto n = static_cast<std::int64_t>(items.size());
  const auto expected = split_segments(items, offsets, buckets, modulus);
  const array<std::int64_t> offset(offsets), begins(expected.begins.size(), -1);
  const array<std::uint32_t> keys(items, 1);
  const cell<lanewise::status> errors;
  const modulo bucket_of{modulus};
  if (offsets.front() == 0 && offsets.back() == n) {
    const array<std::uint32_t> out(n, 77u, 3);
    lanewise::segmented_multisplit(make_space(), keys.const_view(), offset.const_view(), out.view(),
                                   buckets, bucket_of,
                                   {.offsets = begins.view(), .errors = errors.view()});
    CHECK(difference(out.items(), oracle::gather(items, expected.index)) == "");
    CHECK(difference(begins.items(), expected.begins) == "");
    CHECK(errors.get().bad_items == expected.bad_items);
    CHECK(out.guards_intact());
    CHECK(begins.guards_intact());
    CHECK(keys.unchanged());
  }
  lanewise::segmented_multisplit(make_space(), keys.const_view(), offset.const_view(), keys.view(),
                                 buckets, bucket_of);
  CHECK(difference(keys.items(), oracle::gather(items, expected.index)) == "");
  CHECK(keys.guards_intact());
  CHECK(offset.unchanged());
}

}  // namespace

TEST_CASE("segmented_multisplit splits segments of all lengths",
          "[segmented_multisplit][sanitize]") {
  for (const std::int64_t n :
       {std::int64_t{200}, is_emulated ? std::int64_t{3000} : std::int64_t{30000}}) {
    const auto lengths = sorting_lengths(n);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const auto offsets = offsets_of_lengths(lengths[i]);
      const std::uint32_t buckets = std::vector<std::uint32_t>{1, 2, 7, 33}[i % 4];
      CAPTURE(n, i, buckets);
      check_segmented_split(random_items<std::uint32_t>(offsets.back()), offsets, buckets, buckets);
    }
  }
}

TEST_CASE("segmented_multisplit takes many buckets, and more places than multisplit has",
          "[segmented_multisplit]") {
  const std::int64_t n = 4000;
  const auto items = random_items<std::uint32_t>(n);
  const bucket_begins offsets = {0, 1, 40, 40, 3500, n};
  for (const std::uint32_t buckets : {255u, 256u, 257u, 1000u}) {
    if (is_emulated && !full() && buckets < 257) continue;
    CAPTURE(buckets);
    check_segmented_split(items, offsets, buckets, buckets);
    // A tenth is out of range.
    check_segmented_split(items, offsets, buckets, buckets + buckets / 10);
  }
  check_segmented_split(items, {0, 100, n}, 65535, 65536);
  check_segmented_split(items, {0, n}, 2, 100);
}

TEST_CASE("segmented_multisplit of equal and different keys leaves what is in no segment",
          "[segmented_multisplit]") {
  const std::int64_t n = 3000;
  check_segmented_split(bucket_keys(n, 5u), {0, 1000, n}, 8, 8);
  check_segmented_split(bucket_keys(n, 5u), {0, 1000, n}, 5, 8);
  bucket_keys different(n);
  std::iota(different.rbegin(), different.rend(), 0u);
  check_segmented_split(different, {0, 1000, n}, 4096, 4096);
  check_segmented_split(different, {17, 17, 1000, n - 5}, 9, 9);
  check_segmented_split({}, {0, 0, 0}, 9, 9);
  check_segmented_split(different, {17}, 9, 9);
}

TEST_CASE("segmented_multisplit_by_key moves values with their keys", "[segmented_multisplit]") {
  const std::int64_t n = 3500;
  const auto items = random_items<std::uint32_t>(n),
             beside = random_items<std::uint32_t>(n, 99999, 2);
  const bucket_begins offsets = {0, 700, 700, 703, n};
  const auto expected = split_segments(items, offsets, 20, 23);
  const array<std::int64_t> offset(offsets), begins(expected.begins.size(), -1);
  const array<std::uint32_t> keys(items), values(beside), keys_out(n, 0u), values_out(n, 0u);
  lanewise::workspace work;
  const auto exec = make_space();
  lanewise::reserve(exec, work,
                    lanewise::segmented_multisplit_workspace<std::uint32_t, space>(exec, n, 4));
  const std::size_t bytes = work.bytes();
  lanewise::segmented_multisplit_by_key(exec, keys.const_view(), values.const_view(),
                                        offset.const_view(), keys_out.view(), values_out.view(), 20,
                                        modulo{23}, {.work = &work, .offsets = begins.view()});
  CHECK(difference(keys_out.items(), oracle::gather(items, expected.index)) == "");
  CHECK(difference(values_out.items(), oracle::gather(beside, expected.index)) == "");
  CHECK(difference(begins.items(), expected.begins) == "");
  CHECK(keys.unchanged());
  CHECK(values.unchanged());
  CHECK_THROWS_WITH(
      lanewise::check(exec, work),
      Catch::Matchers::ContainsSubstring(std::to_string(expected.bad_items) + " items"));
  CHECK(work.bytes() <= bytes + 64);  // the status
  lanewise::segmented_multisplit_by_key(exec, keys.const_view(), values.const_view(),
                                        offset.const_view(), keys.view(), values.view(), 20,
                                        modulo{23});
  CHECK(difference(keys.items(), oracle::gather(items, expected.index)) == "");
  CHECK(difference(values.items(), oracle::gather(beside, expected.index)) == "");
}

TEST_CASE("segmented_multisplit counts bad segments and refuses what does not fit",
          "[segmented_multisplit][sanitize]") {
  using Catch::Matchers::ContainsSubstring;
  const std::int64_t n = 100;
  const auto exec = make_space();
  const array<std::uint32_t> keys(random_items<std::uint32_t>(n)), few(n - 1, 0u);
  for (const auto& offsets : {bucket_begins{0, n + 1}, {-5, n}, {0, 50, 20, n}}) {
    const array<std::int64_t> offset(offsets), begins(40, -1);
    const cell<lanewise::status> errors;
    lanewise::segmented_multisplit(exec, keys.const_view(), offset.const_view(), keys.view(), 9,
                                   modulo{9}, {.offsets = begins.view(), .errors = errors.view()});
    CHECK(errors.get().bad_items >= 1);
    CHECK(keys.unchanged());
    CHECK(begins.guards_intact());
  }
  const array<std::int64_t> offset(bucket_begins{0, 50, n}), begins(19, -1);
  const auto split = [&](const auto& out, std::int64_t buckets) {
    lanewise::segmented_multisplit(exec, keys.const_view(), offset.const_view(), out.view(),
                                   buckets, modulo{9}, {.offsets = begins.view()});
  };
  CHECK_THROWS_WITH(split(keys, 0), ContainsSubstring("bucket_count is 0, not in [1, 65535]"));
  CHECK_THROWS_WITH(split(keys, 65536), ContainsSubstring("bucket_count is 65536"));
  CHECK_THROWS_WITH(split(few, 9), ContainsSubstring("keys_out has 99 places, keys has 100 items"));
  CHECK_THROWS_WITH(split(keys, 9), ContainsSubstring("options.offsets has 19 entries") &&
                                        ContainsSubstring("have 20"));
  CHECK(keys.unchanged());
}
