// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/segments/reduce_by_key.hpp>
#include <lanewise/segments/segmented_reduce.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan_reverse.hpp>
#include <lanewise/sequence/scan_two_level.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithms/select/check_compact.hpp>

// Items that are combined in a type of the caller's choice.

namespace {

using namespace test;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr auto wide_plus = lanewise::accumulate_as<u64>(lanewise::plus{});

std::int64_t size() {
  return is_emulated ? 9001 : 200'003;
}

/// The sums of 64 bits: the last 32 bits are kept where results are.
template <class Restart>
std::vector<u32> inclusive_sums(const std::vector<u8>& items, Restart restarts) {
  std::vector<u32> sums;
  u64 sum = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (restarts(i)) sum = 0;
    sums.push_back(static_cast<u32>(sum += items[i]));
  }
  return sums;
}
template <class Restart>
std::vector<u32> exclusive_sums(const std::vector<u8>& items, u32 init, Restart restarts) {
  std::vector<u32> sums = inclusive_sums(items, restarts);
  for (std::size_t i = 0; i < items.size(); ++i) sums[i] += init - items[i];
  return sums;
}

}  // namespace

TEST_CASE("Scans accumulate in the type that the operator names", "[accumulate]") {
  const auto exec = make_space();
  const std::int64_t n = size();
  const auto items = random_items<u8>(n);
  const array<u8> in(items);
  const array<u32> out(n, 77u);
  const auto never = [](std::size_t i) { return i == 0; };
  const auto sums = inclusive_sums(items, never);
  const auto after = exclusive_sums(items, 200, never);

  lanewise::inclusive_scan(exec, in.view(), out.view(), wide_plus);
  CHECK(difference(out.items(), sums) == "");
  lanewise::inclusive_scan(exec, in.view(), out.view(), lanewise::deterministic(wide_plus));
  CHECK(difference(out.items(), sums) == "");
  lanewise::exclusive_scan(exec, in.view(), out.view(), wide_plus, u8{200});
  CHECK(difference(out.items(), after) == "");
  lanewise::two_level::inclusive_scan(exec, in.view(), out.view(), wide_plus);
  CHECK(difference(out.items(), sums) == "");
  lanewise::two_level::exclusive_scan(exec, in.view(), out.view(), wide_plus, u8{200});
  CHECK(difference(out.items(), after) == "");

  auto backward = items;
  std::reverse(backward.begin(), backward.end());
  auto sums_after = inclusive_sums(backward, never),
       reversed = exclusive_sums(backward, 200, never);
  std::reverse(sums_after.begin(), sums_after.end());
  std::reverse(reversed.begin(), reversed.end());
  lanewise::inclusive_scan_reverse(exec, in.view(), out.view(), wide_plus);
  CHECK(difference(out.items(), sums_after) == "");
  lanewise::exclusive_scan_reverse(exec, in.view(), out.view(), wide_plus, u8{200});
  CHECK(difference(out.items(), reversed) == "");
}

TEST_CASE("Segments accumulate in the type that the operator names", "[accumulate]") {
  const auto exec = make_space();
  const std::int64_t n = size();
  const auto items = random_items<u8>(n);
  const auto keys = items_in_runs<u32>(n, 300);
  const auto begins = [&](std::size_t i) { return i == 0 || keys[i] != keys[i - 1]; };
  const runs expected = runs_of(keys);
  std::vector<u8> head;
  for (std::size_t i = 0; i < keys.size(); ++i) head.push_back(begins(i) ? 1 : 0);
  std::vector<std::int64_t> offset = expected.first;
  offset.push_back(n);
  const array<u8> in(items), heads(head);
  const array<u32> key(keys), out(n, 77u), keys_out(n, 77u);
  const array<std::int64_t> offsets(offset);
  const auto sums = inclusive_sums(items, begins);
  const auto after = exclusive_sums(items, 200, begins);

  lanewise::inclusive_segmented_scan(exec, in.view(), heads.view(), out.view(), wide_plus);
  CHECK(difference(out.items(), sums) == "");
  lanewise::exclusive_segmented_scan(exec, in.view(), heads.view(), out.view(), wide_plus, u8{200});
  CHECK(difference(out.items(), after) == "");
  lanewise::inclusive_scan_by_key(exec, key.view(), in.view(), out.view(), wide_plus);
  CHECK(difference(out.items(), sums) == "");
  lanewise::exclusive_scan_by_key(exec, key.view(), in.view(), out.view(), wide_plus, u8{200});
  CHECK(difference(out.items(), after) == "");

  std::vector<u32> totals;
  for (std::size_t r = 0; r < expected.first.size(); ++r)
    totals.push_back(sums[static_cast<std::size_t>(expected.first[r] + expected.length[r] - 1)]);
  out.assign(out.original());
  CHECK(lanewise::reduce_by_key(exec, key.view(), in.view(), keys_out.view(), out.view(),
                                wide_plus) == static_cast<std::int64_t>(totals.size()));
  check_front(out, totals);
  out.assign(out.original());
  lanewise::segmented_reduce(exec, in.view(), offsets.view(), out.view(), wide_plus, u8{0});
  check_front(out, totals);
}

TEST_CASE("Floats are summed up in doubles", "[accumulate]") {
  const auto exec = make_space();
  const std::int64_t n = size();
  std::vector<float> items;
  double sum = 0;
  auto random = make_random(3);
  for (std::int64_t i = 0; i < n; ++i) {
    // Exact in doubles, in any order; in floats almost never.
    items.push_back(static_cast<float>(random_number(random, (1 << 24) - 1)));
    sum += items.back();
  }
  const array<float> in(items);
  const auto op = lanewise::accumulate_as<double>(lanewise::plus{});
  const cell<float> result;

  CHECK(lanewise::reduce(exec, in.view(), op, 0.0f) == static_cast<float>(sum));
  lanewise::reduce(exec, in.view(), result.view(), op, 0.0f);
  CHECK(result.get() == static_cast<float>(sum));
  CHECK(lanewise::reduce(exec, in.view(), lanewise::deterministic(op), 0.0f) ==
        static_cast<float>(sum));
  const auto other = lanewise::accumulate_as<double>(lanewise::deterministic(lanewise::plus{}));
  CHECK(lanewise::reduce(exec, in.view(), other, 0.0f) == static_cast<float>(sum));
}
