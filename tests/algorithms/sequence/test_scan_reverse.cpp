// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/scan_reverse.hpp>
#include <support/functors.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/sequence/check_scans.hpp>

// Scans from the back.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// By the definition: everything from here to the end, folded from the left.
template <class T, class Op>
std::vector<T> inclusive_from_back(const std::vector<T>& in, Op op) {
  std::vector<T> out(in.size());
  for (std::size_t i = in.size(); i-- > 0;)
    out[i] = i + 1 == in.size() ? in[i] : op(in[i], out[i + 1]);
  return out;
}
template <class T, class In, class Op>
std::vector<T> exclusive_from_back(const std::vector<In>& in, T init, Op op) {
  std::vector<T> out(in.size());
  for (std::size_t i = in.size(); i-- > 0;) {
    out[i] = init;
    init = op(static_cast<T>(in[i]), init);
  }
  return out;
}

template <class T, class Op>
void check_reverse(const std::vector<T>& items, const T& init, Op op, int in_shift = 0,
                   int out_shift = 0) {
  const auto exec = make_space();
  const auto n = static_cast<std::int64_t>(items.size());
  const array<T> in(items, in_shift);
  const array<T> inclusive(n, item_of<T>(77), out_shift);
  const array<T> exclusive(n, item_of<T>(77), out_shift);

  lanewise::inclusive_scan_reverse(exec, in.const_view(), inclusive.view(), op);
  lanewise::exclusive_scan_reverse(exec, in.const_view(), exclusive.view(), op, init);

  CHECK(difference(inclusive.items(), inclusive_from_back(items, op)) == "");
  CHECK(difference(exclusive.items(), exclusive_from_back(items, init, op)) == "");
  CHECK(inclusive.guards_intact());
  CHECK(exclusive.guards_intact());
  CHECK(in.unchanged());
}

constexpr std::int64_t one_reverse_tile = scan_tile<u32>;
const std::int64_t ragged_reverse = some_tiles(one_reverse_tile);

}  // namespace

TEMPLATE_TEST_CASE("Reverse scans of sums are exact at every size", "[scan][reverse]",
                   u32 MORE_TYPES(std::uint8_t, u64)) {
  for (const std::int64_t n : sizes_around(scan_tile<TestType>)) {
    CAPTURE(n);
    check_reverse(random_items<TestType>(n), TestType(5), lanewise::plus{});
  }
}

TEST_CASE("Reverse scans keep the order of operands", "[scan][reverse]") {
  for (const std::int64_t n : sizes_around(scan_tile<affine>)) {
    CAPTURE(n);
    check_reverse(random_items<affine>(n), affine{3, 4, 1}, then{});
  }
}

TEST_CASE("Reverse scans reproduce the values of Merrill's figure 25", "[scan][reverse]") {
  const auto exec = make_space();
  const array<u32> in({8, 6, 7, 5, 3, 0, 9});
  const array<u32> out(7, 77u);
  lanewise::exclusive_scan_reverse(exec, in.const_view(), out.view(), lanewise::plus{}, 0u);
  CHECK(out.items() == std::vector<u32>{30, 24, 17, 12, 9, 9, 0});
  lanewise::inclusive_scan_reverse(exec, in.const_view(), out.view(), lanewise::plus{});
  CHECK(out.items() == std::vector<u32>{38, 30, 24, 17, 12, 9, 9});
}

TEST_CASE("Reverse scans accept every alignment and work in place", "[scan][reverse][sanitize]") {
  const auto exec = make_space();
  for (int shift = 0; shift < 4; ++shift) {
    CAPTURE(shift);
    const auto items = random_items<u32>(2 * one_reverse_tile + 128 + shift);
    check_reverse(items, 5u, lanewise::plus{}, shift, 3 - shift);
    const array<u32> both(items, shift);
    lanewise::inclusive_scan_reverse(exec, both.view(), both.view(), lanewise::plus{});
    CHECK(difference(both.items(), inclusive_from_back(items, lanewise::plus{})) == "");
    CHECK(both.guards_intact());
  }
}

TEST_CASE("Reverse scans begin at the last item counted on the device",
          "[scan][reverse][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(ragged_reverse);
  const array<u32> in(items);
  const cell<std::int64_t> count;
  lanewise::workspace work;
  for (const std::int64_t given :
       {std::int64_t{-5}, std::int64_t{0}, std::int64_t{1}, one_reverse_tile - 16,
        one_reverse_tile - 15, one_reverse_tile, one_reverse_tile + 1, ragged_reverse,
        ragged_reverse + 100'000}) {
    CAPTURE(given);
    count.set(given);
    const auto n = static_cast<std::size_t>(std::clamp<std::int64_t>(given, 0, ragged_reverse));
    const std::vector<u32> used(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(n));
    const array<u64> out(ragged_reverse + 3, u64{77});
    lanewise::exclusive_scan_reverse(exec, in.const_view(), out.view(), lanewise::plus{},
                                     u64{1} << 40, {.work = &work, .count = count.view()});
    CHECK(difference(out.items(), exclusive_from_back(used, u64{1} << 40, lanewise::plus{}),
                     out.original()) == "");
    CHECK(out.guards_intact());
  }
}

TEST_CASE("Reverse scans fuse sources and sinks, and stay within the count",
          "[scan][reverse][sanitize]") {
  const auto exec = make_space();
  const cell<std::int64_t> count(ragged_reverse - 7);
  const array<int> reads(ragged_reverse, 0), writes(ragged_reverse, 0);
  const array<u64> out(ragged_reverse, u64{77});

  lanewise::exclusive_scan_reverse(
      exec, lanewise::generated(ragged_reverse, counting_square{reads.data(), ragged_reverse}),
      lanewise::consumed(ragged_reverse, counting_store{writes.data(), ragged_reverse, out.data()}),
      lanewise::plus{}, u64{3}, {.count = count.view()});

  std::vector<u64> squares;
  for (std::int64_t i = 0; i < ragged_reverse - 7; ++i) squares.push_back(static_cast<u64>(i * i));
  CHECK(difference(out.items(), exclusive_from_back(squares, u64{3}, lanewise::plus{}),
                   out.original()) == "");
  const auto read = reads.items();
  const auto written = writes.items();
  CHECK(reads.guards_intact());
  CHECK(writes.guards_intact());
  CHECK(std::all_of(read.begin(), read.end() - 7, [](int k) { return k == 1 || k == 2; }));
  CHECK(std::all_of(written.begin(), written.end() - 7, [](int k) { return k == 1; }));
  CHECK(std::all_of(read.end() - 7, read.end(), [](int k) { return k == 0; }));
  CHECK(std::all_of(written.end() - 7, written.end(), [](int k) { return k == 0; }));
}

TEST_CASE("Reverse scans refuse what scans refuse", "[scan][reverse]") {
  const auto exec = make_space();
  const array<u32> in(12, 1u);
  const array<u32> out(11, 77u);
  CHECK_THAT(
      refusal([&] {
        lanewise::inclusive_scan_reverse(exec, in.const_view(), out.view(), lanewise::plus{});
      }),
      ContainsSubstring("lanewise::inclusive_scan_reverse: out has 11 places, in has 12 items"));
  const auto front = Kokkos::subview(in.view(), Kokkos::pair<int, int>(0, 6));
  const auto back = Kokkos::subview(in.view(), Kokkos::pair<int, int>(4, 12));
  CHECK_THAT(
      refusal([&] { lanewise::exclusive_scan_reverse(exec, front, back, lanewise::plus{}, 0u); }),
      ContainsSubstring("lanewise::exclusive_scan_reverse: in [") && ContainsSubstring("overlap"));
  CHECK(out.unchanged());
}
