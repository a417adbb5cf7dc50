// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/transform.hpp>
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
using transform_policy =
    typename lanewise::kernels::transform_kernel<lanewise::array_source<T, lanewise::identity>,
                                                 lanewise::array_sink<T>>::policy;
template <class T>
constexpr std::int64_t transform_tile = tile_items<T, transform_policy<T>>;

template <int bytes>
struct item_of_bytes {
  char bytes_of[bytes];
};
template <int bytes>
constexpr int bytes_of_lane = bytes* transform_policy<item_of_bytes<bytes>>::items_per_lane;

TEST_CASE("Items of any size take about as many bytes of a lane as their class",
          "[transform][sanitize]") {
  STATIC_REQUIRE(bytes_of_lane<3> <= bytes_of_lane<4>);
  STATIC_REQUIRE(bytes_of_lane<3> > bytes_of_lane<4> - 3);
  STATIC_REQUIRE(bytes_of_lane<5> <= bytes_of_lane<8>);
  STATIC_REQUIRE(bytes_of_lane<5> > bytes_of_lane<8> - 5);
  STATIC_REQUIRE(bytes_of_lane<12> > bytes_of_lane<16> - 12);
  STATIC_REQUIRE(transform_policy<item_of_bytes<1000>>::items_per_lane == 1);
}

struct twist {
  KOKKOS_FUNCTION affine operator()(const affine& x) const { return {x.b, x.parity, x.a + 1}; }
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x) const {
    return static_cast<T>(x + x + T(1));
  }
};

struct halve_to_byte {
  KOKKOS_FUNCTION std::uint8_t operator()(const u64& x) const {
    return static_cast<std::uint8_t>(x >> 1);
  }
};
struct widen_to_affine {
  KOKKOS_FUNCTION affine operator()(const std::uint8_t& x) const { return {x, 2u * x, 3u * x}; }
};

template <class Out, class In, class F>
void check_transform(const std::vector<In>& items, F f, int in_shift = 0, int out_shift = 0) {
  const auto exec = make_space();
  const array<In> in(items, in_shift);
  const array<Out> out(static_cast<std::int64_t>(items.size()), item_of<Out>(77), out_shift);

  lanewise::transform(exec, in.const_view(), out.view(), f);

  CHECK(difference(out.items(), oracle::transform<Out>(items, f)) == "");
  CHECK(out.guards_intact());
  CHECK(in.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("transform of arrays that begin anywhere between packs", "[transform][sanitize]",
                   std::uint8_t, u32 MORE_TYPES(std::uint16_t, u64)) {
  constexpr int pack = 16 / sizeof(TestType);
  const auto items = random_items<TestType>(3 * transform_tile<TestType> + 5);
  for (int in = 0; in < pack; ++in) {
    CAPTURE(in);
    check_transform<TestType>(items, twist{}, in, 0);
    check_transform<TestType>(items, twist{}, 0, in);
    check_transform<TestType>(items, twist{}, in, pack - 1 - in);
  }
}

TEMPLATE_TEST_CASE("transform computes every item", "[transform]", u32,
                   affine MORE_TYPES(std::uint8_t, u64, double)) {
  for (const std::int64_t n : sizes_around(transform_tile<TestType>)) {
    CAPTURE(n);
    check_transform<TestType>(random_items<TestType>(n), twist{});
  }
}

TEST_CASE("transform accepts every alignment of in and of out", "[transform][sanitize]") {
  const std::int64_t n = transform_tile<u32> + 131;
  for (int in_shift = 0; in_shift < 4; ++in_shift) {
    for (int out_shift = 0; out_shift < 4; ++out_shift) {
      CAPTURE(in_shift, out_shift);
      check_transform<u32>(random_items<u32>(n), twist{}, in_shift, out_shift);
      check_transform<affine>(random_items<affine>(33), twist{}, in_shift, out_shift);
    }
  }
}

TEST_CASE("transform changes the type and size of items", "[transform][sanitize]") {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{33}, transform_tile<u64> + 131}) {
    for (int shift = 0; shift < 3; ++shift) {
      CAPTURE(n, shift);
      check_transform<std::uint8_t>(random_items<u64>(n), halve_to_byte{}, shift, 2 * shift);
      check_transform<affine>(random_items<std::uint8_t>(n), widen_to_affine{}, shift, 2 * shift);
    }
  }
}

TEMPLATE_TEST_CASE("transform works in place", "[transform][sanitize]", std::uint8_t, u32) {
  const auto exec = make_space();
  const auto items = random_items<TestType>(some_tiles(transform_tile<TestType>));
  const array<TestType> both(items, 1);

  lanewise::transform(exec, both.view(), both.view(), twist{});

  CHECK(difference(both.items(), oracle::transform<TestType>(items, twist{})) == "");
  CHECK(both.guards_intact());
}

TEST_CASE("transform reads the number of items on the device", "[transform][sanitize]") {
  const auto exec = make_space();
  const std::int64_t most = some_tiles(transform_tile<u32>);
  const auto items = random_items<u32>(most);
  const array<u32> in(items);
  const cell<std::int64_t> count;
  for (const std::int64_t given : {std::int64_t{-9}, std::int64_t{0}, std::int64_t{1},
                                   transform_tile<u32>, most - 1, most, most + 1}) {
    CAPTURE(given);
    count.set(given);
    const auto n = std::clamp<std::int64_t>(given, 0, most);
    const array<u32> out(most, 77u);

    lanewise::transform(exec, in.const_view(), out.view(), twist{}, {.count = count.view()});

    const std::vector<u32> used(items.begin(), items.begin() + n);
    CHECK(difference(out.items(), oracle::transform<u32>(used, twist{}), out.original()) == "");
    CHECK(out.guards_intact());
  }
}

TEST_CASE("transform calls its functor once per item and never beyond", "[transform][sanitize]") {
  const auto exec = make_space();
  const std::int64_t tile = transform_tile<u64>;
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{33}, tile - 1, tile, tile + 1, some_tiles(tile)}) {
    CAPTURE(n);
    const array<int> reads(n, 0);
    const array<int> writes(n, 0);
    const array<u64> out(n, u64{77});
    const auto items = random_items<u64>(n, 1000);
    const array<u64> in(items, 1);
    const array<u64> shifted(n, u64{77}, 1);
    const cell<int> trapped;

    lanewise::transform(exec, lanewise::generated(n, counting_square{reads.data(), n}),
                        lanewise::consumed(n, counting_store{writes.data(), n, out.data()}),
                        plus_three{});
    lanewise::transform(exec, lanewise::transformed(in.const_view(), trap_poison{trapped.data()}),
                        shifted.view(), plus_three{});

    std::vector<u64> squares;
    for (std::int64_t i = 0; i < n; ++i) squares.push_back(static_cast<u64>(i * i + 3));
    const std::vector<int> ones(static_cast<std::size_t>(n), 1);
    CHECK(difference(out.items(), squares) == "");
    CHECK(difference(reads.items(), ones) == "");
    CHECK(difference(writes.items(), ones) == "");
    CHECK(reads.guards_intact());
    CHECK(writes.guards_intact());
    CHECK(difference(shifted.items(), oracle::transform<u64>(items, [](u64 x) { return x + 6; })) ==
          "");
    CHECK(trapped.get() == 0);
  }
}

TEST_CASE("transform refuses an output that is too small", "[transform]") {
  const auto exec = make_space();
  const array<u32> in(12, 1u);
  const array<u32> out(11, 77u);

  CHECK_THAT(refusal([&] { lanewise::transform(exec, in.const_view(), out.view(), twist{}); }),
             ContainsSubstring("lanewise::transform: out has 11 places, in has 12 items"));
  CHECK(out.unchanged());
}

TEST_CASE("transform refuses partial overlap", "[transform]") {
  const auto exec = make_space();
  const array<u32> all(100, 1u);
  const auto front = Kokkos::subview(all.view(), Kokkos::pair<int, int>(0, 60));
  const auto back = Kokkos::subview(all.view(), Kokkos::pair<int, int>(40, 100));

  CHECK_THAT(refusal([&] { lanewise::transform(exec, front, back, twist{}); }),
             ContainsSubstring("lanewise::transform: in [") && ContainsSubstring("and out [") &&
                 ContainsSubstring("overlap"));
  CHECK(all.unchanged());
}

TEST_CASE("transform refuses the same place for items of another size", "[transform]") {
  const auto exec = make_space();
  const array<u64> all(100, u64{1});
  const Kokkos::View<std::uint8_t*, memory, Kokkos::MemoryUnmanaged> bytes(
      reinterpret_cast<std::uint8_t*>(all.data()), 100);

  CHECK_THAT(refusal([&] { lanewise::transform(exec, all.const_view(), bytes, halve_to_byte{}); }),
             ContainsSubstring("lanewise::transform: in [") && ContainsSubstring("overlap"));
  CHECK(all.unchanged());
}

TEST_CASE("transform refuses Views without memory", "[transform]") {
  const auto exec = make_space();
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 5);
  const array<u32> some(5, 1u);

  CHECK_THAT(refusal([&] { lanewise::transform(exec, nothing, some.view(), twist{}); }),
             ContainsSubstring("in has 5 items and no memory"));
  CHECK_THAT(refusal([&] { lanewise::transform(exec, some.view(), nothing, twist{}); }),
             ContainsSubstring("out has 5 items and no memory"));
}
