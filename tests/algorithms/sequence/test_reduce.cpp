// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/reduce.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
using reduce_policy =
    typename lanewise::kernels::reduce_kernel<lanewise::array_source<T, lanewise::identity>,
                                              lanewise::plus, T>::policy;
template <class T>
constexpr std::int64_t reduce_tile = tile_items<T, reduce_policy<T>>;

template <class T, class Op>
void check_reduce(const std::vector<T>& items, const T& init, Op op, int shift = 0) {
  const auto exec = make_space();
  const array<T> in(items, shift);
  const array<T> result(1, item_of<T>(77));

  lanewise::reduce(exec, in.const_view(),
                   Kokkos::View<T, memory, Kokkos::MemoryUnmanaged>(result.data()), op, init);

  CHECK(result.items()[0] == oracle::reduce(items, op, init));
  CHECK(result.guards_intact());
  CHECK(in.unchanged());
}

template <class T, class Op>
void check_reduce_sizes(const T& init, Op op, std::uint64_t most = most_summand<T>()) {
  for (const std::int64_t n : sizes_around(reduce_tile<T>)) {
    CAPTURE(n);
    check_reduce(random_items<T>(n, most), init, op);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Sums are exact at every size", "[reduce]",
                   u32 MORE_TYPES(std::uint8_t, u64, double)) {
  check_reduce_sizes<TestType>(TestType(5), lanewise::plus{});
}

TEMPLATE_TEST_CASE("Sums are exact for every distribution", "[reduce]",
                   u32 MORE_TYPES(std::uint8_t, u64, double)) {
  for (const distribution d : all_distributions) {
    CAPTURE(d);
    const std::int64_t n = some_tiles(reduce_tile<TestType>);
    check_reduce(items_of<TestType>(numbers(d, n, most_summand<TestType>(), 100)), TestType(0),
                 lanewise::plus{});
  }
}

TEST_CASE("reduce hands its result to a sink, once", "[reduce][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, 3 * reduce_tile<u64> + 17}) {
    CAPTURE(n);
    const auto items = random_items<u64>(n);
    const array<u64> in(items), out(1, u64{77});
    const array<int> writes(1, 0);
    const auto sink = lanewise::consumed(1, counting_store{writes.data(), 1, out.data()});
    lanewise::reduce(exec, in.const_view(), sink, lanewise::plus{}, u64{5});
    CHECK(out.items()[0] == oracle::reduce(items, lanewise::plus{}, u64{5}));
    CHECK(writes.items()[0] == 1);
    lanewise::reduce(exec, in.const_view(), sink, lanewise::deterministic(lanewise::maximum{}),
                     u64{5});
    CHECK(out.items()[0] == oracle::reduce(items, lanewise::maximum{}, u64{5}));
    CHECK(writes.items()[0] == 2);
    CHECK(writes.guards_intact());
  }
  CHECK_THAT(refusal([&] {
               const array<u64> in(3, u64{1});
               lanewise::reduce(exec, in.const_view(),
                                lanewise::consumed(0, counting_store{nullptr, 0, nullptr}),
                                lanewise::plus{}, u64{0});
             }),
             ContainsSubstring("lanewise::reduce: result has 0 places, not 1"));
}

TEST_CASE("reduce accepts every alignment", "[reduce][sanitize]") {
  for (int shift = 0; shift < 4; ++shift) {
    CAPTURE(shift);
    check_reduce(random_items<u32>(2 * reduce_tile<u32> + 17), 3u, lanewise::plus{}, shift);
    check_reduce(random_items<std::uint8_t>(reduce_tile<std::uint8_t> + 17), std::uint8_t{3},
                 lanewise::plus{}, shift);
    check_reduce(random_items<double>(reduce_tile<double> + 17, 1000), 3.0, lanewise::plus{},
                 shift);
  }
}

TEST_CASE("reduce keeps the order of operands: affine maps of 12 bytes", "[reduce][sanitize]") {
  check_reduce_sizes(affine{3, 4, 1}, then{});
}

TEST_CASE("reduce keeps the order of operands: 2 x 2 matrices of 32 bytes", "[reduce]") {
  check_reduce_sizes(matrix{{{2, 1}, {7, 5}}}, product{});
}

TEMPLATE_TEST_CASE("reduce keeps the order of operands: the last nonzero item", "[reduce]",
                   std::uint8_t MORE_TYPES(u64)) {
  const std::int64_t n = some_tiles(reduce_tile<TestType>);
  auto items = random_items<TestType>(n, 100);
  for (const std::int64_t zeros : {n / 3, n - 1, n}) {
    std::fill(items.end() - zeros, items.end(), TestType(0));
    check_reduce(items, TestType(101), last_nonzero{});
  }
}

TEST_CASE("reduce finds minimum and maximum wherever they are", "[reduce]") {
  const std::int64_t n = 2 * reduce_tile<u32> + 33;
  for (const std::int64_t at :
       {std::int64_t{0}, std::int64_t{31}, std::int64_t{32}, n / 2, n - 34, n - 1}) {
    CAPTURE(at);
    auto items = random_items<u32>(n, 1'000'000);
    for (u32& x : items) x += 10;
    items[static_cast<std::size_t>(at)] = 3;
    check_reduce(items, ~u32{0}, lanewise::minimum{});
    items[static_cast<std::size_t>(at)] = 3'000'000'000u;
    check_reduce(items, 0u, lanewise::maximum{});
  }
}

TEST_CASE("reduce returns the result to the host", "[reduce][sanitize]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(reduce_tile<u32> + 5);
  const array<u32> in(items);

  const u64 wide = lanewise::reduce(exec, in.const_view(), lanewise::plus{}, u64{1} << 40);
  const u32 narrow = lanewise::reduce(exec, in.const_view(), lanewise::bit_xor{}, 9u);

  CHECK(wide == oracle::reduce(items, lanewise::plus{}, u64{1} << 40));
  CHECK(narrow == oracle::reduce(items, lanewise::bit_xor{}, 9u));
}

TEST_CASE("reduce of no items is init", "[reduce]") {
  const auto exec = make_space();

  CHECK(lanewise::reduce(exec, Kokkos::View<const u32*, memory>(), lanewise::plus{}, 42u) == 42u);
}

TEST_CASE("reduce reads the number of items on the device", "[reduce][sanitize]") {
  const auto exec = make_space();
  const std::int64_t most = some_tiles(reduce_tile<affine>);
  const auto items = random_items<affine>(most);
  const array<affine> in(items);
  const cell<std::int64_t> count;
  for (const std::int64_t given :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{33},
        most / 2, most - 1, most, most + 1}) {
    CAPTURE(given);
    count.set(given);
    const auto n = std::clamp<std::int64_t>(given, 0, most);

    const auto result =
        lanewise::reduce(exec, in.const_view(), then{}, affine{1, 2, 3}, {.count = count.view()});

    CHECK(result == oracle::reduce(std::vector<affine>(items.begin(), items.begin() + n), then{},
                                   affine{1, 2, 3}));
  }
}

TEST_CASE("reduce fuses sources, and never looks beyond the last item", "[reduce][sanitize]") {
  const auto exec = make_space();
  const std::int64_t tile = reduce_tile<u64>;
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{33}, tile - 1, tile, tile + 1, some_tiles(tile)}) {
    CAPTURE(n);
    const auto items = random_items<u64>(n, 1000);
    const cell<int> trapped;
    const array<u64> in(items, 1);
    const array<int> calls(n, 0);

    const u64 shifted =
        lanewise::reduce(exec, lanewise::transformed(in.const_view(), trap_poison{trapped.data()}),
                         lanewise::plus{}, u64{0});
    const u64 squares = lanewise::reduce(
        exec, lanewise::generated(n, counting_square{calls.data(), n}), lanewise::plus{}, u64{0});

    u64 expected = 0;
    for (u64 i = 0; i < static_cast<u64>(n); ++i) expected += i * i;
    CHECK(shifted == oracle::reduce(items, lanewise::plus{}, 3 * static_cast<u64>(n)));
    CHECK(squares == expected);
    CHECK(trapped.get() == 0);
    CHECK(difference(calls.items(), std::vector<int>(static_cast<std::size_t>(n), 1)) == "");
    CHECK(calls.guards_intact());
  }
}

TEST_CASE("reduce gives the same bits twice", "[reduce]") {
  const auto exec = make_space();
  auto items = random_items<double>(some_tiles(reduce_tile<double>), 1'000'000);
  for (double& x : items) x = 1 / (1 + x);
  const array<double> in(items);

  const double once = lanewise::reduce(exec, in.const_view(), lanewise::plus{}, 0.0);
  const double again = lanewise::reduce(exec, in.const_view(), lanewise::plus{}, 0.0);

  CHECK(once == again);
}

TEST_CASE("reduce refuses Views without memory", "[reduce]") {
  const auto exec = make_space();
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 5);
  const array<u32> some(5, 1u);
  const Kokkos::View<u32, memory> no_result;

  CHECK_THAT(refusal([&] { lanewise::reduce(exec, nothing, lanewise::plus{}, 0u); }),
             ContainsSubstring("lanewise::reduce: in has 5 items and no memory"));
  CHECK_THAT(
      refusal([&] { lanewise::reduce(exec, some.const_view(), no_result, lanewise::plus{}, 0u); }),
      ContainsSubstring("lanewise::reduce: result has no memory"));
}
