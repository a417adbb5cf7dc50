// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/run_length_decode.hpp>
#include <lanewise/sequence/allocate.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sort/multisplit.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/select/check_compact.hpp>
#include <limits>

// Counts and offsets of every type of integers.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;

struct is_even {
  KOKKOS_FUNCTION bool operator()(u32 x) const { return x % 2 == 0; }
};

/// x, or the greatest T.
template <class T>
T limited(std::int64_t x) {
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  return static_cast<std::uint64_t>(x) < most ? static_cast<T>(x) : static_cast<T>(most);
}

}  // namespace

TEMPLATE_TEST_CASE("Results are counted in integers of any type", "[count_types][sanitize]",
                   std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, int, unsigned, long long,
                   std::size_t) {
  using T = TestType;
  const auto exec = make_space();
  // Runs of 1 and 2 items: 0, 1, 1, 2, 3, 3, ...
  const std::int64_t n = 600;
  std::vector<u32> items;
  for (u32 i = 0; i < n; ++i) items.push_back(2 * i / 3);
  const std::int64_t runs = 400;
  std::int64_t even = 0;
  for (const u32 x : items) even += x % 2 == 0;
  const array<u32> in(items), out(n, 77u), other(n, 77u), ones(n, 1u), many(2 * n, 77u);
  const cell<T> count(T(1));
  const auto check = [&](std::int64_t expected) {
    CHECK(count.get() == limited<T>(expected));
    count.set(T(1));
  };

  lanewise::select_if(exec, in.view(), out.view(), count.view(), is_even{});
  check(even);
  lanewise::select_flagged(exec, in.view(), ones.view(), out.view(), count.view());
  check(n);
  lanewise::partition(exec, in.view(), out.view(), other.view(), count.view(), is_even{});
  check(even);
  lanewise::unique(exec, in.view(), out.view(), count.view());
  check(runs);
  lanewise::unique_by_key(exec, in.view(), in.view(), out.view(), other.view(), count.view());
  check(runs);
  lanewise::run_length_encode(exec, in.view(), out.view(), other.view(), count.view());
  check(runs);
  lanewise::reduce_by_key(exec, in.view(), ones.view(), out.view(), other.view(), count.view(),
                          lanewise::plus{});
  check(runs);

  const cell<lanewise::status> errors;
  const auto bad = [&] {
    const std::uint64_t found = errors.get().bad_items;
    errors.set({});
    return found;
  };
  const std::uint64_t too_many = limited<T>(n) != static_cast<T>(n) || sizeof(T) == 1 ? 1 : 0;
  lanewise::allocate(exec, ones.view(), out.view(), count.view(), {.errors = errors.view()});
  check(n);
  CHECK(bad() == too_many);
  // All items have their places, whatever the count can tell.
  lanewise::run_length_decode(exec, in.view(), ones.view(), many.view(), count.view(),
                              {.errors = errors.view()});
  check(n);
  CHECK(bad() == too_many);
  const auto decoded = many.items();
  CHECK(std::equal(items.begin(), items.end(), decoded.begin()));
  CHECK(decoded[static_cast<std::size_t>(n)] == 77u);

  const array<T> offsets(4, T(1));
  lanewise::multisplit(exec, in.view(), out.view(), lanewise::at_most<256>{3}, modulo{3},
                       {.offsets = offsets.view()});
  const auto expected = oracle::multisplit(items, 3, modulo{3});
  for (std::size_t b = 0; b < 4; ++b) CHECK(offsets.items()[b] == limited<T>(expected.offsets[b]));
  CHECK(offsets.guards_intact());
}

TEMPLATE_TEST_CASE("Items are counted by integers of any type", "[count_types]", std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, int, unsigned, long long,
                   std::size_t) {
  using T = TestType;
  const auto exec = make_space();
  const array<u32> in(1000, 1u);
  const auto sum_of = [&](T count) {
    const cell<T> n(count);
    const Kokkos::View<const T, memory> read_only = n.view();
    const u32 sum = lanewise::reduce(exec, in.view(), lanewise::plus{}, 0u, {.count = n.view()});
    CHECK(lanewise::reduce(exec, in.view(), lanewise::plus{}, 0u, {.count = read_only}) == sum);
    return sum;
  };

  CHECK(sum_of(T(0)) == 0);
  CHECK(sum_of(T(100)) == 100);
  constexpr T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::min();
  CHECK(sum_of(most) == (most < T(1000) || sizeof(T) == 1 ? static_cast<u32>(most) : 1000u));
  CHECK(sum_of(least) == 0);
}

TEST_CASE("Options without memory are refused", "[count_types]") {
  const auto exec = make_space();
  const array<u32> in(5, 1u), out(5, 77u);
  const Kokkos::View<std::int64_t, memory> no_count;
  const Kokkos::View<int*, memory> no_counts;
  const Kokkos::View<std::int64_t*, memory, Kokkos::MemoryUnmanaged> no_offsets(nullptr, 4);
  const Kokkos::View<lanewise::status, memory> no_errors;

  CHECK(refusal([&] {
          lanewise::reduce(exec, in.view(), lanewise::plus{}, 0u, {.count = no_count});
        }) == "lanewise::reduce: the View given as options.count has no memory");
  CHECK(refusal([&] {
          lanewise::inclusive_scan(exec, in.view(), out.view(), lanewise::plus{},
                                   {.count = no_counts});
        }) == "lanewise::inclusive_scan: the View given as options.count has no memory");
  CHECK(refusal([&] { lanewise::allocate(exec, in.view(), out.view(), {.count = no_count}); }) ==
        "lanewise::allocate: the View given as options.count has no memory");
  CHECK(refusal([&] { lanewise::allocate(exec, in.view(), out.view(), {.errors = no_errors}); }) ==
        "lanewise::allocate: the View given as options.errors has no memory");
  CHECK(refusal([&] {
          lanewise::multisplit(exec, in.view(), out.view(), lanewise::at_most<256>{3}, modulo{3},
                               {.count = no_count});
        }) == "lanewise::multisplit: the View given as options.count has no memory");
  CHECK(refusal([&] {
          lanewise::multisplit(exec, in.view(), out.view(), lanewise::at_most<256>{3}, modulo{3},
                               {.offsets = no_offsets});
        }) == "lanewise::multisplit: options.offsets has 0 entries, bucket_count + 1 is 4");
  CHECK(refusal([&] {
          lanewise::multisplit(exec, in.view(), out.view(), lanewise::at_most<256>{3}, modulo{3},
                               {.errors = no_errors});
        }) == "lanewise::multisplit: the View given as options.errors has no memory");
  CHECK(out.unchanged());
}
