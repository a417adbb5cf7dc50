// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/papers/check_multisplit_methods.hpp>

// The papers' methods that take rounds: sorts of labels, splits in two, super-buckets.

namespace {

using namespace test;

using packed_sort = methods::reduced_bit_sort;
using index_sort = methods::reduced_bit_sort_by_index;
using iterative_split = methods::scan_split<>;
using recursive_split = methods::scan_split<methods::split_order::recursive>;
using two_rounds = methods::super_buckets;

struct wide_bucket {
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint32_t k) const { return k / 16'711'936; }
};

#define LANEWISE_TEST_METHODS_OF_ROUNDS \
  packed_sort, index_sort, iterative_split, recursive_split, two_rounds

}  // namespace

TEMPLATE_TEST_CASE("Methods of rounds are stable for every number of buckets",
                   "[multisplit_by][sanitize]", LANEWISE_TEST_METHODS_OF_ROUNDS) {
  check_numbers_of_buckets<TestType>();
}

TEMPLATE_TEST_CASE("Methods of rounds are stable at every size", "[multisplit_by][sanitize]",
                   LANEWISE_TEST_METHODS_OF_ROUNDS) {
  check_method_sizes<TestType>();
}

TEMPLATE_TEST_CASE("Methods of rounds are stable for every distribution", "[multisplit_by][long]",
                   LANEWISE_TEST_METHODS_OF_ROUNDS) {
  check_method_distributions<TestType>();
}

TEMPLATE_TEST_CASE("Methods of rounds send keys without a bucket to the last one",
                   "[multisplit_by][sanitize]", LANEWISE_TEST_METHODS_OF_ROUNDS) {
  check_bad_keys<TestType>();
}

TEMPLATE_TEST_CASE("Methods of rounds solve the papers' example", "[multisplit_by][sanitize]",
                   LANEWISE_TEST_METHODS_OF_ROUNDS) {
  check_papers_example<TestType>();
}

// Ashkiani, 3.6: buckets of equal widths, one more than a round takes.
TEST_CASE("Super-buckets take 257 buckets of equal widths", "[multisplit_by][sanitize]") {
  check_method<two_rounds>(random_items<std::uint32_t>(5000), 257, wide_bucket{});
}

TEMPLATE_TEST_CASE("Methods of rounds take keys and values of up to 8 bytes", "[multisplit_by]",
                   index_sort MORE_TYPES(recursive_split)) {
  check_method<TestType, std::uint64_t, std::uint64_t>(random_items<std::uint64_t>(2500), 30,
                                                       modulo{30});
  check_method<TestType, std::uint8_t, std::uint64_t>(random_items<std::uint8_t>(2500), 200,
                                                      modulo{200});
}

TEST_CASE("Methods of rounds take up to 65,536 buckets", "[multisplit_by][sanitize]") {
  using Catch::Matchers::ContainsSubstring;
  const array<std::uint32_t> keys(100, 1u), out(100, 1u);
  CHECK_THROWS_WITH(lanewise::papers::multisplit_by(make_space(), two_rounds{}, keys.const_view(),
                                                    out.view(), 65'537, modulo{1}),
                    ContainsSubstring("bucket_count is 65537, super_buckets takes 1 to 65536"));
  check_method<two_rounds>(random_items<std::uint32_t>(3000), 65'536, modulo{65'536});
  check_method<recursive_split>(random_items<std::uint32_t>(3000), 65'536, modulo{65'536});
}
