// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/merge/merge_runs.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/orders.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <numeric>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Runs of these lengths, merged, alone and with values that tell where their keys were.
template <class T>
void check_merge_runs(const std::vector<std::int64_t>& lengths, u64 distinct) {
  std::vector<T> items;
  std::vector<u32> offsets{0};
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const auto run = sorted_items<T>(lengths[r], distinct, r);
    items.insert(items.end(), run.begin(), run.end());
    offsets.push_back(static_cast<u32>(items.size()));
  }
  const auto n = static_cast<std::int64_t>(items.size());
  CAPTURE(n, lengths.size(), distinct);
  std::vector<std::int64_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  const array<T> in(items, 1), out(n, item_of<T>(77)), keys(n, item_of<T>(77), 1);
  const array<u32> given(offsets);
  const array<std::int64_t> values(order, 1), out_values(n, -7);
  const cell<lanewise::status> errors;
  lanewise::merge_runs(make_space(), in.const_view(), given.const_view(), out.view(), order_of<T>{},
                       {.errors = errors.view()});
  lanewise::merge_runs_by_key(make_space(), in.const_view(), values.const_view(),
                              given.const_view(), keys.view(), out_values.view(), order_of<T>{});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    return order_of<T>{}(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(j)]);
  });
  const auto expected = oracle::gather(items, order);
  CHECK(difference(out.items(), expected) == "");
  CHECK(difference(keys.items(), expected) == "");
  CHECK(difference(out_values.items(), order) == "");
  CHECK(errors.get().bad_items == 0);
  CHECK((out.guards_intact() && keys.guards_intact() && out_values.guards_intact()));
  CHECK((in.unchanged() && given.unchanged() && values.unchanged()));
}

std::vector<std::int64_t> lengths_of_runs(std::int64_t runs, std::int64_t most) {
  auto random = make_random(static_cast<u64>(runs));
  std::vector<std::int64_t> result;
  for (std::int64_t r = 0; r < runs; ++r)
    result.push_back(static_cast<std::int64_t>(random_number(random, static_cast<u64>(most))));
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("merge_runs merges runs of any number and lengths", "[merge_runs]", u32,
                   affine) {
  for (const std::int64_t runs : {1, 2, 3, 5, 8, 13, 16}) {
    check_merge_runs<TestType>(lengths_of_runs(runs, 700), 100);
    check_merge_runs<TestType>(lengths_of_runs(runs, 3), 2);
  }
  check_merge_runs<TestType>(std::vector<std::int64_t>(11, 0), 1);
  check_merge_runs<TestType>({0, 0, 5, 0, 4000, 1, 1, 0, 0, 1, 3000, 0}, 50);
  check_merge_runs<TestType>({0, 9000, 0, 0}, 50);
}

TEST_CASE("Many short runs are sorted", "[merge_runs]") {
  check_merge_runs<u32>(lengths_of_runs(is_emulated ? 1000 : 20'000, 20), 400);
}

TEST_CASE("Offsets that are out of order are counted, and nothing else is touched",
          "[merge_runs][sanitize]") {
  const std::vector<u32> items = random_items<u32>(2000);
  for (const auto& offsets : {std::vector<std::int64_t>{0, 900, 300, 2000},
                              std::vector<std::int64_t>{5, 900, 3000, -7, 1990}}) {
    const array<u32> in(items), out(2000, 77u);
    const array<std::int64_t> given(offsets);
    const cell<lanewise::status> errors;
    lanewise::merge_runs(make_space(), in.const_view(), given.const_view(), out.view(),
                         lanewise::less{}, {.errors = errors.view()});
    CHECK(errors.get().bad_items > 0);
    CHECK(out.guards_intact());
    CHECK(in.unchanged());
  }
}

TEST_CASE("merge_runs refuses what it cannot do", "[merge_runs]") {
  const auto exec = make_space();
  const array<u32> in(12, 1u), out(11, 77u);
  const array<std::int64_t> offsets(1, 0);
  CHECK_THAT(
      refusal([&] { lanewise::merge_runs(exec, in.const_view(), offsets.view(), out.view()); }),
      ContainsSubstring("lanewise::merge_runs: out has 11 places, in has 12 items"));
  CHECK_THAT(
      refusal([&] { lanewise::merge_runs(exec, out.const_view(), offsets.view(), in.view()); }),
      ContainsSubstring("offsets has 1 items, of no run, in has 11"));
  CHECK((in.unchanged() && out.unchanged()));
}
