// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/papers/check_multisplit_methods.hpp>

// The papers' methods with a matrix of counts, by their windows and tiles.

namespace {

using namespace test;

constexpr auto by_rows = methods::matrix_scan::by_rows;
using direct_once = methods::direct<>;
using direct_by_rows = methods::direct<3, 4, by_rows>;
using warp_level_once = methods::warp_level<1>;
using warp_level_by_rows = methods::warp_level<4, 3, 8, by_rows>;
using block_level_8x1 = methods::block_level<8, 1>;
using block_level_4x7 = methods::block_level<4, 7>;
using block_level_by_rows = methods::block_level<8, 4, 2, by_rows>;

#define LANEWISE_TEST_MATRIX_METHODS                                                 \
  direct_once, direct_by_rows, warp_level_once, warp_level_by_rows, block_level_8x1, \
      block_level_4x7, block_level_by_rows

}  // namespace

TEMPLATE_TEST_CASE("Methods with a matrix are stable for every number of buckets",
                   "[multisplit_by][sanitize]", LANEWISE_TEST_MATRIX_METHODS) {
  check_numbers_of_buckets<TestType>();
}

TEMPLATE_TEST_CASE("Methods with a matrix are stable at every size", "[multisplit_by][sanitize]",
                   LANEWISE_TEST_MATRIX_METHODS) {
  check_method_sizes<TestType>();
}

TEMPLATE_TEST_CASE("Methods with a matrix are stable for every distribution",
                   "[multisplit_by][long]", LANEWISE_TEST_MATRIX_METHODS) {
  check_method_distributions<TestType>();
}

TEMPLATE_TEST_CASE("Methods with a matrix send keys without a bucket to the last one",
                   "[multisplit_by][sanitize]", LANEWISE_TEST_MATRIX_METHODS) {
  check_bad_keys<TestType>();
}

TEMPLATE_TEST_CASE("Methods with a matrix solve the papers' example", "[multisplit_by][sanitize]",
                   LANEWISE_TEST_MATRIX_METHODS) {
  check_papers_example<TestType>();
}

TEMPLATE_TEST_CASE("Methods with a matrix take keys and values of up to 8 bytes", "[multisplit_by]",
                   warp_level_by_rows MORE_TYPES(block_level_4x7)) {
  check_method<TestType, std::uint64_t, std::uint64_t>(random_items<std::uint64_t>(2500), 30,
                                                       modulo{30});
  check_method<TestType, std::uint8_t, std::uint64_t>(random_items<std::uint8_t>(2500), 30,
                                                      modulo{30});
}

TEST_CASE("Methods of multisplit refuse wrong arguments", "[multisplit_by][sanitize]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  const array<std::uint32_t> keys(100, 1u), out(100, 1u), few(99, 1u);
  const auto split = [&](auto method, const auto& in, const auto& to, std::int64_t m) {
    lanewise::papers::multisplit_by(exec, method, in, to, m, modulo{1});
  };
  CHECK_THROWS_WITH(split(direct_once{}, keys.const_view(), out.view(), 33),
                    ContainsSubstring("multisplit_by: bucket_count is 33, direct takes 1 to 32"));
  CHECK_THROWS_WITH(split(warp_level_once{}, keys.const_view(), out.view(), 0),
                    ContainsSubstring("bucket_count is 0, warp_level takes 1 to 32"));
  CHECK_THROWS_WITH(split(block_level_8x1{}, keys.const_view(), out.view(), 257),
                    ContainsSubstring("bucket_count is 257, block_level takes 1 to 256"));
  CHECK_THROWS_WITH(split(direct_once{}, keys.const_view(), few.view(), 2),
                    ContainsSubstring("keys_out has 99 places, keys has 100 items"));
  CHECK_THROWS_WITH(split(direct_once{}, keys.const_view(), keys.view(), 2),
                    ContainsSubstring("keys_out"));
  CHECK_THROWS_WITH(
      split(direct_once{}, lanewise::generated(std::int64_t{1} << 32, u32_plus_three{}), out.view(),
            2),
      ContainsSubstring("keys has 4294967296 items, more than 4294967295"));
}
