// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <catch2/catch_template_test_macros.hpp>

#include <algorithms/select/check_compact.hpp>
#include <cmath>
#include <limits>

// Runs of equal neighbours: unique, unique_by_key, run_length_encode.

namespace {

using namespace test;

/// Whether two items differ in their last digit at most.
struct same_tens {
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& a, const T& b) const {
    return number_of(a) / 10 == number_of(b) / 10;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("Runs are found at every size and length", "[runs]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t, std::uint64_t, double)) {
  for (const std::int64_t n : compact_sizes<TestType>()) {
    for (const int mean : {1, 4, 100}) {
      CAPTURE(n, mean);
      check_runs(items_in_runs<TestType>(n, mean));
    }
  }
}

TEMPLATE_TEST_CASE("Runs may span tiles", "[runs][sanitize]",
                   std::uint32_t MORE_TYPES(std::uint8_t)) {
  const std::int64_t n = some_tiles(compact_tile<TestType>);
  const auto mean = static_cast<int>(compact_tile<TestType>);
  check_runs(std::vector<TestType>(static_cast<std::size_t>(n), TestType(7)));
  check_runs(items_in_runs<TestType>(n, mean));
  check_runs(items_in_runs<TestType>(n, mean / 40));
}

TEMPLATE_TEST_CASE("Runs are right for every distribution", "[runs]",
                   std::uint32_t MORE_TYPES(std::uint8_t)) {
  for (const distribution d : all_distributions) {
    CAPTURE(d);
    check_runs(items_of<TestType>(numbers(d, some_tiles(compact_tile<TestType>), 7, 4)));
  }
}

TEST_CASE("NaN is a run of its own and both zeros are one", "[runs]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto exec = make_space();
  const array<double> in({0.0, -0.0, nan, nan, 1.0, 1.0});
  const array<double> out(6, 77.0);
  const array<std::int32_t> lengths(6, 77);
  CHECK(lanewise::run_length_encode(exec, in.const_view(), out.view(), lengths.view()) == 4);
  CHECK(lengths.items() == std::vector<std::int32_t>{2, 1, 1, 2, 77, 77});
  CHECK(!std::signbit(out.items()[0]));  // of the first zero
}

TEST_CASE("No items have no runs, whatever ends one", "[runs][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t extent : {0, 5}) {
    CAPTURE(extent);
    const array<float> in(extent, 7.0f), out(5, 77.0f), first(5, 77.0f);
    const array<std::uint32_t> lengths(5, 77u);
    const cell<std::int64_t> n(extent == 0 ? 5 : -4), count(-1);
    const lanewise::call_options with{.count = n.view()};
    const auto none = [&] { return count.get() == 0 && out.unchanged(); };
    lanewise::run_length_encode(exec, in.const_view(), out.view(), lengths.view(), count.view(),
                                lanewise::equal_to{}, with);
    CHECK(none());
    CHECK(lengths.unchanged());
    lanewise::run_length_encode(exec, in.const_view(), out.view(), lengths.view(), count.view(),
                                same_tens{}, with);
    CHECK(none());
    CHECK(lengths.unchanged());
    lanewise::unique_by_key(exec, in.const_view(), in.const_view(), out.view(), first.view(),
                            count.view(), same_tens{}, with);
    CHECK(none());
    CHECK(first.unchanged());
  }
}

TEMPLATE_TEST_CASE("A run is coded by its first item", "[runs][sanitize]", std::uint32_t,
                   affine MORE_TYPES(std::uint8_t)) {
  using T = TestType;
  const auto exec = make_space();
  const std::int64_t size = some_tiles(compact_tile<T>);
  for (const std::int64_t mean :
       {std::int64_t{1}, std::int64_t{4}, std::int64_t{100}, size / 2, 3 * size}) {
    CAPTURE(mean);
    // Items of a run are equal but for their last digit.
    auto items = items_in_runs<T>(size, static_cast<int>(mean));
    std::vector<T> firsts;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i] = item_of<T>(number_of(items[i]) / 10 % 20 * 10 + i % 10);
      if (i == 0 || !same_tens{}(items[i - 1], items[i])) {
        firsts.push_back(items[i]);
        lengths.push_back(0);
      }
      ++lengths.back();
    }
    const auto all = static_cast<std::int64_t>(firsts.size());
    for (const std::int64_t room : {size, all - 1, all / 2}) {
      CAPTURE(room, all);
      const array<T> in(items), out(room, item_of<T>(77));
      const array<std::int64_t> lengths_out(room, std::int64_t{77});
      const cell<std::int64_t> count;
      lanewise::run_length_encode(exec, in.const_view(), out.view(), lengths_out.view(),
                                  count.view(), same_tens{});
      CHECK(count.get() == all);
      auto expected = firsts;
      expected.resize(static_cast<std::size_t>(std::min(all, room)));
      auto expected_lengths = lengths;
      expected_lengths.resize(expected.size());
      check_front(out, expected);
      check_front(lengths_out, expected_lengths);
      const array<T> first(room, item_of<T>(77));
      count.set(-1);
      lanewise::unique_by_key(exec, in.const_view(), in.const_view(), out.view(), first.view(),
                              count.view(), same_tens{});
      CHECK(count.get() == all);
      check_front(out, expected);
      check_front(first, expected);
    }
  }
}
