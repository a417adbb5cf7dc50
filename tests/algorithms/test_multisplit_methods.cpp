// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/multisplit_methods.hpp>
#include <support/functors.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/check_multisplit.hpp>

// The papers' methods: each does what multisplit does.

namespace {

using namespace test;
namespace methods = lanewise::methods;

constexpr auto rows = methods::matrix_scan::by_rows;
using direct = methods::direct<>;
using direct_windows = methods::direct<3, 4, rows>;
using warp_level = methods::warp_level<1>;
using warp_level_tiles = methods::warp_level<4, 3, 8, rows>;
using block_level = methods::block_level<8, 1>;
using block_level_4x7 = methods::block_level<4, 7>;
using block_level_tiles = methods::block_level<8, 4, 2, rows>;
using packed_sort = methods::reduced_bit_sort;
using index_sort = methods::reduced_bit_sort_by_index;
using iterative = methods::scan_split<>;
using recursive = methods::scan_split<methods::split_order::recursive>;
using supers = methods::super_buckets;

#define ALL_METHODS                                                                   \
  direct, direct_windows, warp_level, warp_level_tiles, block_level, block_level_4x7, \
      block_level_tiles, packed_sort, index_sort, iterative, recursive, supers

/// Results and errors of keys alone and of pairs; values are the keys' numbers, so that a result is
/// stable or wrong. What has no bucket goes to the last one.
template <class Method, class Key, class Value = std::uint32_t, class BucketOf>
void check_method(const std::vector<Key>& items, std::uint32_t m, BucketOf bucket_of) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  std::vector<Value> numbers(items.size());
  std::iota(numbers.begin(), numbers.end(), Value{});
  const array<Key> keys(items, 1), keys_out(n, item_of<Key>(77), 3), alone(n, item_of<Key>(77), 2);
  const array<Value> values(numbers, 1), values_out(n, Value{77});
  const cell<lanewise::status> errors;
  lanewise::workspace work;
  const auto most = lanewise::multisplit_by_workspace<Method, Key, space, Value>(n, m);
  lanewise::reserve(exec, work, most);
  const std::size_t reserved = work.bytes();

  lanewise::multisplit_by(Method{}, exec, keys.const_view(), values.const_view(), keys_out.view(),
                          values_out.view(), m, bucket_of,
                          {.work = &work, .errors = errors.view()});
  lanewise::multisplit_by(Method{}, exec, keys.const_view(), alone.view(), m, bucket_of);

  std::int64_t bad = 0;
  const auto or_last = [&](const Key& key) {
    const std::uint32_t b = bucket_of(key);
    bad += b >= m ? 1 : 0;
    return std::min(b, m - 1);
  };
  const auto expected = oracle::multisplit(items, m, or_last);
  const auto sorted = oracle::gather(items, expected.index);
  CHECK(difference(keys_out.items(), sorted, keys_out.original()) == "");
  CHECK(difference(values_out.items(), oracle::gather(numbers, expected.index),
                   values_out.original()) == "");
  CHECK(difference(alone.items(), sorted, alone.original()) == "");
  CHECK(errors.get().bad_items == static_cast<std::uint64_t>(bad));
  CHECK(work.bytes() == reserved);
  CHECK(keys_out.guards_intact());
  CHECK(values_out.guards_intact());
  CHECK(alone.guards_intact());
  CHECK(keys.unchanged());
  CHECK(values.unchanged());
}

template <class Method>
std::vector<std::uint32_t> counts_of_buckets() {
  std::vector<std::uint32_t> result;
  for (const std::uint32_t m : {1u, 2u, 3u, 31u, 32u, 33u, 255u, 256u, 257u, 1000u})
    if (m <= Method::most_buckets) result.push_back(m);
  return result;
}

struct is_composite {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t k) const {
    const bool prime = k == 2 || k == 3 || k == 5 || k == 7 || k == 11 || k == 13;
    return prime ? 0 : 1;
  }
};
struct below_6_and_14 {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t k) const {
    return k < 6 ? 0 : (k < 14 ? 1 : 2);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("Methods of multisplit are stable for every number of buckets",
                   "[multisplit_by][sanitize]", ALL_METHODS) {
  for (const std::uint32_t m : counts_of_buckets<TestType>()) {
    CAPTURE(m);
    check_method<TestType>(random_items<std::uint32_t>(2 * 1024 + 17), m, modulo{m});
  }
}

TEMPLATE_TEST_CASE("Methods of multisplit are stable at every size", "[multisplit_by][sanitize]",
                   ALL_METHODS) {
  // Round windows, warps' tiles, tiles of 256, 896 and 1024 items, and subproblems of 384 and 2048.
  for (const std::int64_t n : {0, 1, 31, 32, 33, 127, 128, 129, 257, 383, 385, 895, 897, 1023, 1024,
                               1025, 2047, 2049, 7 * 896 + 5}) {
    CAPTURE(n);
    check_method<TestType>(random_items<std::uint32_t>(n), 29, modulo{29});
  }
}

TEMPLATE_TEST_CASE("Methods of multisplit are stable for every distribution", "[multisplit_by]",
                   ALL_METHODS) {
  const std::int64_t n = is_emulated ? 3 * 1024 + 131 : 300'007;
  for (const distribution d : all_distributions) {
    for (const std::uint32_t m : {7u, 32u, 200u}) {
      if (m > TestType::most_buckets) continue;
      CAPTURE(d, m);
      check_method<TestType>(
          items_of<std::uint32_t>(numbers(d, n, most_number<std::uint32_t>(), m)), m, modulo{m});
    }
  }
}

TEMPLATE_TEST_CASE("Methods of multisplit send keys without a bucket to the last one",
                   "[multisplit_by][sanitize]", ALL_METHODS) {
  for (const std::uint32_t m : {1u, 5u, 32u}) {
    CAPTURE(m);
    check_method<TestType>(random_items<std::uint32_t>(1500), m, modulo{2 * m + 1});
  }
}

// GPU Multisplit, figure 1.
TEMPLATE_TEST_CASE("Methods of multisplit solve the papers' example", "[multisplit_by][sanitize]",
                   ALL_METHODS) {
  const std::vector<std::uint32_t> keys{9, 12, 4, 11, 3, 5, 16, 2, 1, 10, 13, 6, 15, 8, 14, 7};
  const auto exec = make_space();
  const array<std::uint32_t> in(keys), out(16, 77u);
  lanewise::multisplit_by(TestType{}, exec, in.const_view(), out.view(), 2, is_composite{});
  CHECK(out.items() ==
        std::vector<std::uint32_t>{11, 3, 5, 2, 13, 7, 9, 12, 4, 16, 1, 10, 6, 15, 8, 14});
  lanewise::multisplit_by(TestType{}, exec, in.const_view(), out.view(), 3, below_6_and_14{});
  CHECK(out.items() ==
        std::vector<std::uint32_t>{4, 3, 5, 2, 1, 9, 12, 11, 10, 13, 6, 8, 7, 16, 15, 14});
}

TEMPLATE_TEST_CASE("Methods of multisplit take keys and values of up to 8 bytes", "[multisplit_by]",
                   block_level_4x7, index_sort MORE_TYPES(recursive)) {
  check_method<TestType, std::uint64_t, std::uint64_t>(random_items<std::uint64_t>(2500), 30,
                                                       modulo{30});
  check_method<TestType, std::uint8_t, std::uint64_t>(random_items<std::uint8_t>(2500), 200,
                                                      modulo{200});
}

TEST_CASE("Methods of multisplit refuse wrong arguments", "[multisplit_by][sanitize]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  const array<std::uint32_t> keys(100, 1u), out(100, 1u), few(99, 1u);
  const auto split = [&](auto method, const auto& in, const auto& to, std::int64_t m) {
    return [=] { lanewise::multisplit_by(method, exec, in, to, m, modulo{1}); };
  };
  CHECK_THROWS_WITH(split(direct{}, keys.const_view(), out.view(), 33)(),
                    ContainsSubstring("multisplit_by: bucket_count is 33, direct takes 1 to 32"));
  CHECK_THROWS_WITH(split(warp_level{}, keys.const_view(), out.view(), 0)(),
                    ContainsSubstring("bucket_count is 0, warp_level takes 1 to 32"));
  CHECK_THROWS_WITH(split(block_level{}, keys.const_view(), out.view(), 257)(),
                    ContainsSubstring("bucket_count is 257, block_level takes 1 to 256"));
  CHECK_THROWS_WITH(split(supers{}, keys.const_view(), out.view(), 65'537)(),
                    ContainsSubstring("bucket_count is 65537, super_buckets takes 1 to 65536"));
  CHECK_THROWS_WITH(split(direct{}, keys.const_view(), few.view(), 2)(),
                    ContainsSubstring("keys_out has 99 places, keys has 100 items"));
  CHECK_THROWS_WITH(split(direct{}, keys.const_view(), keys.view(), 2)(),
                    ContainsSubstring("keys_out"));
  CHECK_THROWS_WITH(split(direct{}, lanewise::generated(std::int64_t{1} << 32, u32_plus_three{}),
                          out.view(), 2)(),
                    ContainsSubstring("keys has 4294967296 items, more than 4294967295"));
}
