// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include "check_top_k.hpp"
#include <support/functors.hpp>

// What calls of top_k and partial_sort take, refuse, and find on inputs that are meant
// to mislead them.

namespace {

using namespace top_k_checks;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct b_of {
  KOKKOS_FUNCTION u32 operator()(const affine& x) const { return x.b % 1000; }
};
/// Every number below 2^32 once, for the indices below 2^32.
struct scattered {
  KOKKOS_FUNCTION u64 operator()(std::int64_t i) const { return static_cast<u32>(i) * 2654435761u; }
};

}  // namespace

TEST_CASE("Samples that mislead", "[top_k]") {
  const std::int64_t n = 30'000;
  // All sampled items are among the greatest, and fewer than are wanted.
  for (const std::int64_t k : {100, 129, 300, 1000}) {
    check_top_k(misleading_items(n, ~0u, 1000), k, false, k == 300, with_sample);
  }
  // All are among the least: every item is above the floor.
  check_top_k(misleading_items(n, 0, ~0u), 100, false, true, with_sample);
  check_top_k(misleading_items(n, 5, 9), 100, false, true, with_sample);
  check_top_k(misleading_items(n, ~0u, ~0u), 100, true, true, with_sample);
}

TEST_CASE("NaN, infinities and zeros have their places", "[top_k][sanitize]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> items = {0.0, -nan, infinity, -0.0, 5, nan, -infinity, 0.0, -0.0, -5};
  for (std::int64_t k = 0; k <= 10; ++k) {
    check_top_k(items, k, false, true, {});
    check_top_k(items, k, true, true, {});
    check_top_k(items, k, k % 2 == 0, false, {});
  }
}

TEST_CASE("Structs by a key, with values and indices", "[top_k]") {
  for (const std::int64_t n : {1000, 9000}) {
    const auto items = random_items<affine>(n);
    const auto values = random_items<u64>(n);
    const array<affine> in(items);
    const array<u64> value(values);
    for (const bool sorted : {false, true}) {
      const auto expected = first_indices(items, 70, true, sorted, b_of{});
      const array<affine> out(75, affine{1, 2, 3});
      const array<u64> value_out(70, u64{77});
      const array<std::int32_t> index(70, -7);
      const lanewise::top_k_options with{.smallest = true, .sorted = sorted};
      lanewise::top_k_by_key(make_space(), in.const_view(), value.const_view(), 70, out.view(),
                             value_out.view(), with, b_of{});
      lanewise::arg_top_k(make_space(), in.const_view(), 70, index.view(), with, b_of{});
      CHECK(difference(out.items(), oracle::gather(items, expected), out.original()) == "");
      CHECK(difference(value_out.items(), oracle::gather(values, expected)) == "");
      CHECK(difference(index.items(),
                       std::vector<std::int32_t>(expected.begin(), expected.end())) == "");
      CHECK((out.guards_intact() && value_out.guards_intact() && index.guards_intact()));
    }
  }
}

TEST_CASE("top_k fuses sources and sinks", "[top_k][sanitize]") {
  for (const std::int64_t n : {500, 9000}) {
    const array<u64> out(50, u64{77});
    const array<int> writes(50, 0);
    std::vector<u64> items;
    for (std::int64_t i = 0; i < n; ++i) items.push_back(scattered{}(i));
    lanewise::top_k(make_space(), lanewise::generated(n, scattered{}), 50,
                    lanewise::consumed(50, counting_store{writes.data(), 50, out.data()}),
                    {.sorted = true});
    CHECK(difference(out.items(), oracle::gather(items, first_indices(items, 50, false, true))) ==
          "");
    CHECK(difference(writes.items(), std::vector<int>(50, 1)) == "");
  }
}

TEST_CASE("partial_sort has what a stable sort has in front", "[partial_sort]") {
  for (const std::int64_t n : {0, 1, 300, 12'000}) {
    const auto items = random_items<affine>(n);
    const array<affine> in(items);
    // More than 4096 are sorted as runs that are merged.
    for (const std::int64_t k : {std::int64_t{0}, n / 3, n}) {
      CAPTURE(n, k);
      const array<affine> out(k, affine{1, 2, 3});
      lanewise::partial_sort(make_space(), in.const_view(), k, out.view(), {}, b_of{});
      CHECK(difference(out.items(),
                       oracle::gather(items, first_indices(items, k, true, true, b_of{}))) == "");
      CHECK((in.unchanged() && out.guards_intact()));
    }
  }
}

TEST_CASE("top_k reads the number of items on the device", "[top_k]") {
  const auto items = random_items<u32>(12'000);
  const array<u32> in(items);
  const cell<std::int64_t> count;
  for (const std::int64_t given : {-3, 0, 1, 99, 100, 5000, 11'999, 13'000}) {
    for (const bool sorted : {false, true}) {
      CAPTURE(given, sorted);
      count.set(given);
      const auto n = std::clamp<std::int64_t>(given, 0, 12'000);
      const std::vector<u32> front(items.begin(), items.begin() + n);
      const array<u32> out(100, 77u);
      lanewise::top_k(make_space(), in.const_view(), 100, out.view(),
                      {.count = count.view(), .sorted = sorted});
      CHECK(difference(out.items(),
                       oracle::gather(front, first_indices(front, std::min<std::int64_t>(n, 100),
                                                           false, sorted)),
                       out.original()) == "");
    }
  }
}

TEST_CASE("Selections need the workspace that they say", "[top_k]") {
  for (const std::int64_t n : {100, 9000, 300'000}) {
    const auto items = random_items<u32>(n);
    const array<u32> in(items), out(100, 77u);
    for (const bool sorted : {false, true}) {
      lanewise::workspace work;
      lanewise::reserve(make_space(), work, lanewise::top_k_workspace<u32>(n, 100, sorted));
      const std::size_t bytes = work.bytes();
      for (int twice = 0; twice < 2; ++twice)
        lanewise::top_k(make_space(), in.const_view(), 100, out.view(),
                        {.work = &work, .sorted = sorted});
      CHECK(difference(out.items(),
                       oracle::gather(items, first_indices(items, 100, false, sorted))) == "");
      CHECK(work.bytes() == bytes);
    }
  }
}

TEST_CASE("Selections refuse what cannot be", "[top_k]") {
  const array<u32> in(50, 1u), out(20, 77u), more(50, 77u);
  const auto call = [&](std::int64_t k, const auto& to, lanewise::top_k_options with = {}) {
    return refusal([&] { lanewise::top_k(make_space(), in.const_view(), k, to, with); });
  };
  CHECK_THAT(call(-1, out.view()), ContainsSubstring("top_k: k is -1, less than 0"));
  CHECK_THAT(call(51, array<u32>(60, 0u).view()),
             ContainsSubstring("top_k: k is 51, in has 50 items"));
  CHECK_THAT(call(21, out.view()), ContainsSubstring("top_k: out has 20 places, k is 21"));
  CHECK_THAT(call(5, in.view()), ContainsSubstring("overlap"));
  CHECK_THAT(refusal([&] {
               lanewise::top_k_by_key(make_space(), in.const_view(), out.const_view(), 5,
                                      more.view(), out.view());
             }),
             ContainsSubstring("top_k_by_key: values has 20 items, keys has 50"));
  CHECK_THAT(
      refusal([&] { lanewise::partial_sort(make_space(), in.const_view(), 21, out.view()); }),
      ContainsSubstring("partial_sort: out has 20 places, k is 21"));
  CHECK(out.unchanged());
}

TEST_CASE("The k first of more items than 32 bits can count", "[.large]") {
  const std::int64_t n = (std::int64_t{1} << 32) + 1'234'567'890;
  constexpr std::int64_t k = 1000;
  u32 inverse = 1;  // of the factor, modulo 2^32
  for (int i = 0; i < 5; ++i) inverse *= 2 - 2654435761u * inverse;
  std::vector<std::pair<std::int64_t, u64>> expected;  // with their indices
  for (u32 value = ~0u; expected.size() < k; --value) {
    const std::int64_t first = value * inverse;
    for (std::int64_t i = first; i < n && expected.size() < k; i += std::int64_t{1} << 32)
      expected.push_back({i, value});
  }
  std::sort(expected.begin(), expected.end());
  std::vector<u64> values;
  for (const auto& item : expected) values.push_back(item.second);
  const array<u64> out(k, u64{77});
  const array<int> writes(k, 0);
  lanewise::top_k(make_space(), lanewise::generated(n, scattered{}), k,
                  lanewise::consumed(k, counting_store{writes.data(), k, out.data()}));
  CHECK(difference(out.items(), values) == "");
  CHECK(difference(writes.items(), std::vector<int>(k, 1)) == "");
}
