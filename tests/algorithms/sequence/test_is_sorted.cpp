// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/is_sorted.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;

struct by_b {
  KOKKOS_FUNCTION bool operator()(const affine& x, const affine& y) const { return x.b < y.b; }
};

/// The place of the first item that is out of order, and whether there is none, as Views and
/// returned.
template <class T, class Less = lanewise::less>
void check_sorted(const std::vector<T>& items, Less less = {}) {
  CAPTURE(items.size());
  const auto expected = std::is_sorted_until(items.begin(), items.end(), less) - items.begin();
  const auto n = static_cast<std::int64_t>(items.size());
  const array<T> in(items, 1);
  const cell<std::int64_t> until(-7);
  const Kokkos::View<bool, memory> sorted("sorted");
  lanewise::is_sorted_until(make_space(), in.const_view(), until.view(), less);
  lanewise::is_sorted(make_space(), in.const_view(), sorted, less);
  CHECK(until.get() == expected);
  bool is = expected != n;
  Kokkos::fence();
  Kokkos::deep_copy(is, sorted);
  CHECK(is == (expected == n));
  CHECK(in.unchanged());
}

template <class T>
std::vector<T> items_in_order(std::int64_t n) {
  auto items = random_items<T>(n);
  std::sort(items.begin(), items.end());
  return items;
}

}  // namespace

TEMPLATE_TEST_CASE("Sorted items, and one or two that are not in order", "[is_sorted]",
                   std::uint32_t, double MORE_TYPES(std::uint8_t)) {
  auto random = make_random(17);
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 257, 1000, 4097, 30'000}) {
    const auto items = items_in_order<TestType>(n);
    check_sorted(items);
    if (n < 2) continue;
    for (int i = 0; i < 4; ++i) {
      // The greatest of all at two places: what is after it is less, as often as not.
      auto other = items;
      other[random() % other.size()] = items.back();
      other[i == 0 ? 0 : random() % other.size()] = items.back();
      check_sorted(other);
    }
    check_sorted(std::vector<TestType>(static_cast<std::size_t>(n), TestType(5)));
    check_sorted(random_items<TestType>(n));
  }
}

TEST_CASE("The first and the last pair out of order", "[is_sorted][sanitize]") {
  for (const std::int64_t n : {2, 33, 3000}) {
    auto items = items_in_order<std::uint32_t>(n);
    items.front() = ~0u;
    check_sorted(items);
    items = items_in_order<std::uint32_t>(n);
    items[items.size() - 2] = ~0u;
    items.back() = 0;
    check_sorted(items);
  }
}

TEST_CASE("Items in the order of the caller's", "[is_sorted]") {
  auto items = random_items<affine>(5000);
  check_sorted(items, by_b{});
  std::stable_sort(items.begin(), items.end(), by_b{});
  check_sorted(items, by_b{});
  std::swap(items[4000], items[4001]);
  check_sorted(items, by_b{});
}

TEST_CASE("NaN is not less, and nothing is less than NaN", "[is_sorted]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_sorted(std::vector<double>{3, nan, 1, 2});
  check_sorted(std::vector<double>{3, nan, 1, 0});
}

TEST_CASE("Sources, returned results, counts on the device, and workspaces", "[is_sorted]") {
  CHECK(lanewise::is_sorted(make_space(), lanewise::generated(10'000, u32_plus_three{})));
  CHECK(lanewise::is_sorted_until(make_space(), lanewise::generated(10'000, u32_plus_three{})) ==
        10'000);
  const array<std::uint32_t> in(std::vector<std::uint32_t>{1, 2, 3, 3, 2, 5});
  CHECK(lanewise::is_sorted_until(make_space(), in.const_view()) == 4);
  CHECK(!lanewise::is_sorted(make_space(), in.const_view()));
  const cell<std::int64_t> count(4);
  lanewise::workspace work;
  lanewise::reserve(make_space(), work, lanewise::is_sorted_workspace());
  const std::size_t bytes = work.bytes();
  CHECK(lanewise::is_sorted(make_space(), in.const_view(), lanewise::less{},
                            {.work = &work, .count = count.view()}));
  CHECK(lanewise::is_sorted_until(make_space(), in.const_view(), lanewise::less{},
                                  {.work = &work, .count = count.view()}) == 4);
  CHECK(work.bytes() == bytes);
  const cell<std::uint8_t> narrow;
  lanewise::is_sorted_until(make_space(), lanewise::generated(10'000, u32_plus_three{}),
                            narrow.view());
  CHECK(narrow.get() == 255);
}

TEST_CASE("is_sorted refuses memory that there is not", "[is_sorted]") {
  using view = Kokkos::View<std::uint32_t*, memory, Kokkos::MemoryUnmanaged>;
  CHECK_THAT(refusal([] { lanewise::is_sorted(make_space(), view(nullptr, 5)); }),
             ContainsSubstring("is_sorted: in has 5 items and no memory"));
}
