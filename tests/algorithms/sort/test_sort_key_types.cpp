// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/histogram/histogram.hpp>
#include <lanewise/sort/segmented_sort.hpp>
#include <lanewise/sort/top_k.hpp>

#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/sort/check_radix_sort.hpp>

// Keys that have fewer bits than their type, or are no numbers of the language.

namespace {

/// The upper half of a float, in a type that is not of the language.
struct upper_half {
  std::uint16_t bits;
  KOKKOS_FUNCTION explicit operator float() const {
    return Kokkos::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};

}  // namespace

template <>
struct lanewise::is_ieee_float<upper_half> : std::true_type {};

namespace {

using namespace test;

// Kokkos' type, where it is not float.
#if defined(KOKKOS_BHALF_T_IS_FLOAT) && !KOKKOS_BHALF_T_IS_FLOAT
using half_key = Kokkos::Experimental::bhalf_t;
static_assert(lanewise::radix_sortable<Kokkos::Experimental::half_t>);
#else
using half_key = upper_half;
#endif
static_assert(lanewise::radix_key<half_key>::width == 16);
static_assert(lanewise::is_ieee_float<Kokkos::Experimental::half_t>::value);

half_key half_of(std::uint64_t bits) {
  return Kokkos::bit_cast<half_key>(static_cast<std::uint16_t>(bits));
}

/// Halves that are neither NaN nor infinite, and both zeros, in any order.
std::vector<half_key> some_halves(std::int64_t n) {
  std::vector<half_key> keys;
  for (const auto x : numbers(distribution::uniform, n, 0xffff, 256))
    keys.push_back(half_of(x % 64 == 0 ? x & 0x8000 : x & 0xbfff));
  return keys;
}

using truths = Kokkos::View<bool*, memory, Kokkos::MemoryUnmanaged>;

truths as_truths(const array<std::uint8_t>& bytes) {
  return truths(reinterpret_cast<bool*>(bytes.data()), bytes.original().size());
}

/// Whether a comes before b.
bool is_before(half_key a, half_key b) {
  const auto x = static_cast<float>(a), y = static_cast<float>(b);
  return x < y || (x == y && std::signbit(x) && !std::signbit(y));
}

}  // namespace

TEST_CASE("Halves are sorted and selected in IEEE's total order", "[radix_sort][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = 3001;
  const auto keys = some_halves(n);
  auto sorted = keys;
  std::stable_sort(sorted.begin(), sorted.end(), is_before);
  const auto same = [](const std::vector<half_key>& a, const std::vector<half_key>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * 2) == 0;
  };
  const array<half_key> in(keys), out(n, half_of(0));
  lanewise::radix_sort(exec, in.view(), out.view());
  CHECK(same(out.items(), sorted));

  const array<std::int64_t> offsets(std::vector<std::int64_t>{0, 1000, 1001, n});
  auto by_segment = keys;
  std::stable_sort(by_segment.begin(), by_segment.begin() + 1000, is_before);
  std::stable_sort(by_segment.begin() + 1001, by_segment.end(), is_before);
  lanewise::segmented_sort(exec, in.view(), offsets.view(), out.view());
  CHECK(same(out.items(), by_segment));

  const array<half_key> least(20, half_of(0));
  lanewise::top_k(exec, in.view(), 20, least.view(), {.smallest = true, .sorted = true});
  CHECK(same(least.items(), std::vector<half_key>(sorted.begin(), sorted.begin() + 20)));
}

TEST_CASE("Halves are counted by bins as floats are", "[histogram][sanitize]") {
  const std::int64_t n = 3001;
  const auto keys = some_halves(n);
  const array<half_key> in(keys);
  std::vector<float> floats;
  for (const half_key key : keys) floats.push_back(static_cast<float>(key));
  const array<float> wide(floats);
  const array<std::uint32_t> counts(50, 7u), expected(50, 8u);
  lanewise::histogram(make_space(), in.view(), counts.view(), lanewise::even_bins(-1.0f, 1.5f));
  lanewise::histogram(make_space(), wide.view(), expected.view(), lanewise::even_bins(-1.0f, 1.5f));
  CHECK(counts.items() == expected.items());
}

TEST_CASE("radix_sort takes all bits of a bool's byte as its bits", "[radix_sort][sanitize]") {
  std::vector<std::uint8_t> bytes;
  for (const auto x : numbers(distribution::uniform, 900, 1, 256))
    bytes.push_back(static_cast<std::uint8_t>(x));
  const array<std::uint8_t> keys(bytes), out(900, std::uint8_t{0});
  const array<std::uint32_t> values(places(900)), values_out(900, 0u);
  const auto sort = [&](const lanewise::sort_options& with) {
    lanewise::radix_sort(make_space(), as_truths(keys), values.view(), as_truths(out),
                         values_out.view(), with);
  };
  using lanewise::sort_order;
  for (const lanewise::sort_options& with :
       {lanewise::sort_options{.end_bit = 8},
        lanewise::sort_options{.order = sort_order::descending, .end_bit = 2},
        lanewise::sort_options{.end_bit = 0}, lanewise::sort_options{.begin_bit = 1, .end_bit = 8},
        lanewise::sort_options{.begin_bit = 5}}) {
    CAPTURE(with.begin_bit, with.end_bit);
    sort(with);
    const auto order = sorted_order(bytes, with);
    CHECK(difference_in_bits(out.items(), bytes, order) == "");
    CHECK(difference_in_bits(values_out.items(), values.original(), order) == "");
  }
  CHECK_THROWS_WITH(sort({.end_bit = 9}),
                    Catch::Matchers::ContainsSubstring("end_bit is 9, keys have 8 bits"));
}
