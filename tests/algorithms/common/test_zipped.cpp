// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/min_max_element.hpp>
#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <lanewise/sequence/transform.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithms/select/check_compact.hpp>

// Functions of several arrays: transform of some inputs, zips as sources and as sinks.

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

struct first_less_second {
  template <class A, class B>
  KOKKOS_FUNCTION A operator()(const A& a, const B& b) const {
    return static_cast<A>(a * A(3) - static_cast<A>(b));
  }
};
struct of_three {
  KOKKOS_FUNCTION u64 operator()(const u32& a, const u64& b, const u8& c) const {
    return a + 3 * b + 5 * u64{c};
  }
};
struct product_of_tuple {
  KOKKOS_FUNCTION u64 operator()(const lanewise::tuple<u32, u64>& x) const {
    const auto [a, b] = x;
    return a * b;
  }
};
struct first_is_kept {
  some_of keep;
  template <class T>
  KOKKOS_FUNCTION bool operator()(const T& x) const {
    return keep(lanewise::get<0>(x));
  }
};
/// Pairs of maps, both composed.
struct then_and_plus {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x, const T& y) const {
    return T(then{}(lanewise::get<0>(x), lanewise::get<0>(y)),
             lanewise::get<1>(x) + lanewise::get<1>(y));
  }
};

template <class T>
constexpr i64 zip_tile =
    tile_items<T, typename lanewise::kernels::transform_kernel<
                      lanewise::zipped_source<lanewise::detail::of_items<first_less_second>,
                                              lanewise::array_source<T, lanewise::identity>,
                                              lanewise::array_source<T, lanewise::identity>>,
                      lanewise::array_sink<T>>::policy>;

}  // namespace

TEMPLATE_TEST_CASE("transform of two inputs, at every size", "[zip]", u32 MORE_TYPES(u8, double)) {
  using T = TestType;
  const auto exec = make_space();
  for (const i64 n : sizes_around(zip_tile<T>)) {
    CAPTURE(n);
    const auto a = random_items<T>(n, 1000), b = random_items<T>(n, 1000, 2);
    std::vector<T> expected;
    for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(first_less_second{}(a[i], b[i]));
    shifts shift(static_cast<u64>(n));
    const array<T> one(a, shift.next()), two(b, shift.next()), out(n, T(77), shift.next());
    lanewise::transform(exec, one.const_view(), two.view(), out.view(), first_less_second{});
    CHECK(difference(out.items(), expected) == "");
    CHECK(out.guards_intact());
    CHECK(one.unchanged());
    CHECK(two.unchanged());
    // In place of either.
    lanewise::transform(exec, one.view(), two.view(), two.view(), first_less_second{});
    CHECK(difference(two.items(), expected) == "");
    CHECK(two.guards_intact());
  }
}

TEST_CASE("transform of three inputs of other types, in any alignment", "[zip][sanitize]") {
  const auto exec = make_space();
  const i64 n = (is_emulated ? 1 : 7) * zip_tile<u64> + 131;
  const auto a = random_items<u32>(n);
  const auto b = random_items<u64>(n);
  const auto c = random_items<u8>(n);
  std::vector<u64> expected;
  for (std::size_t i = 0; i < a.size(); ++i) expected.push_back(of_three{}(a[i], b[i], c[i]));
  const cell<i64> count(n - 3);
  for (int shift = 0; shift < 5; ++shift) {
    CAPTURE(shift);
    const array<u32> one(a, shift);
    const array<u64> two(b, shift % 2);
    const array<u8> three(c, 3 * shift);
    const array<u64> out(n, u64{77}, shift / 2);
    lanewise::transform(exec, one.view(), two.view(), three.view(), out.view(), of_three{},
                        {.count = count.view()});
    check_front(out, std::vector<u64>(expected.begin(), expected.end() - 3));
  }
}

TEST_CASE("Reductions and scans take zips", "[zip][sanitize]") {
  const auto exec = make_space();
  for (const i64 n : {i64{0}, i64{1}, i64{33}, i64{1000}, i64{is_emulated ? 20'011 : 1'000'003}}) {
    CAPTURE(n);
    const auto a = random_items<u32>(n);
    const auto b = random_items<u64>(n);
    u64 dot = 5;
    for (std::size_t i = 0; i < a.size(); ++i) dot += a[i] * b[i];
    for (const int shift : {0, 1}) {
      const array<u32> one(a, shift);
      const array<u64> two(b, shift);
      const auto products =
          lanewise::transformed(lanewise::zipped(one.view(), two.const_view()), product_of_tuple{});
      CHECK(lanewise::reduce(exec, products, lanewise::plus{}, u64{5}) == dot);
      CHECK(lanewise::reduce(exec, products, lanewise::deterministic(lanewise::plus{}), u64{5}) ==
            dot);
    }

    // An operator that does not commute, on tuples.
    using pair = lanewise::tuple<affine, u32>;
    const auto maps = random_items<affine>(n);
    const array<affine> map(maps, 1);
    const array<u32> number(a), sums(n, 77u);
    const array<affine> composed(n, affine{7, 7, 7});
    const auto zip = lanewise::zipped(map.view(), number.view());
    const pair init(affine{3, 5, 1}, 7u);
    const pair all = lanewise::reduce(exec, zip, then_and_plus{}, init);
    CHECK(lanewise::get<0>(all) == oracle::reduce(maps, then{}, affine{3, 5, 1}));
    CHECK(lanewise::get<1>(all) == oracle::reduce(a, lanewise::plus{}, 7u));
    lanewise::inclusive_scan(exec, zip, lanewise::unzipped(composed.view(), sums.view()),
                             then_and_plus{});
    CHECK(difference(composed.items(), oracle::inclusive_scan(maps, then{})) == "");
    CHECK(difference(sums.items(), oracle::inclusive_scan(a, lanewise::plus{})) == "");
  }
}

TEST_CASE("Tuples are ordered by the first values that differ", "[zip]") {
  const auto exec = make_space();
  const array<u32> one({5, 3, 3, 9}), two({0, 7, 6, 1});
  const auto least = lanewise::min_element(exec, lanewise::zipped(one.view(), two.view()));
  CHECK(least.index == 2);
  CHECK((least.value == lanewise::tuple(3u, 6u)));
  CHECK(!(lanewise::tuple(3u, 6u) < lanewise::tuple(3u, 6u)));
  CHECK(sizeof(lanewise::tuple<u32, u8, u32>) == 12);
  CHECK(std::is_trivially_copyable_v<lanewise::tuple<u32, affine, double>>);
}

TEST_CASE("Zips are selected, apart and in place, and unique by key in place", "[zip][sanitize]") {
  const auto exec = make_space();
  for (const i64 n :
       {i64{0}, i64{1}, i64{131}, 2 * compact_tile<u64>, some_tiles(compact_tile<u32>)}) {
    CAPTURE(n);
    const auto keys = items_in_runs<u32>(n, 3);
    const auto values = random_items<double>(n);
    std::vector<u32> kept;
    std::vector<double> beside;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!some_of{100}(keys[i])) continue;
      kept.push_back(keys[i]);
      beside.push_back(values[i]);
    }
    const array<u32> key(keys, 1), key_out(n, 77u);
    const array<double> value(values), value_out(n, 77.0);
    const auto zip = lanewise::zipped(key.view(), value.view());
    CHECK(lanewise::select_if(exec, zip, lanewise::unzipped(key_out.view(), value_out.view()),
                              first_is_kept{{100}}) == static_cast<i64>(kept.size()));
    check_front(key_out, kept);
    check_front(value_out, beside);
    CHECK(key.unchanged());
    CHECK(value.unchanged());
    CHECK(lanewise::select_if(exec, zip, lanewise::unzipped(key.view(), value.view()),
                              first_is_kept{{100}}) == static_cast<i64>(kept.size()));
    check_front(key, kept);
    check_front(value, beside);

    const runs found = runs_of(keys);
    key.assign(keys);
    value.assign(values);
    CHECK(lanewise::unique_by_key(exec, key.view(), value.view(), key.view(), value.view()) ==
          static_cast<i64>(found.first.size()));
    check_front(key, oracle::gather(keys, found.first));
    check_front(value, oracle::gather(values, found.first));
  }
}

TEST_CASE("Zips refuse what does not fit", "[zip]") {
  const auto exec = make_space();
  const array<u32> ten(10, 1u), nine(9, 1u), all(30, 77u);
  const auto part = [&](int from, int to) {
    return Kokkos::subview(all.view(), Kokkos::pair<int, int>(from, to));
  };
  CHECK_THAT(refusal([&] { lanewise::zipped(ten.view(), nine.view()); }),
             ContainsSubstring("lanewise::zipped: a part has 9 items, the first has 10"));
  CHECK_THAT(refusal([&] { lanewise::unzipped(part(0, 10), part(9, 19)); }),
             ContainsSubstring("lanewise::unzipped: Views [") && ContainsSubstring("overlap"));
  CHECK_THAT(refusal([&] {
               lanewise::transform(exec, ten.view(), part(0, 10), part(5, 15), first_less_second{});
             }),
             ContainsSubstring("lanewise::transform: in [") && ContainsSubstring("out ["));
  CHECK_THAT(refusal([&] {
               lanewise::transform(exec, ten.view(), ten.view(), nine.view(), first_less_second{});
             }),
             ContainsSubstring("lanewise::transform: out has 9 places, in has 10 items"));
  // One array in place, the other one not.
  CHECK_THAT(refusal([&] {
               lanewise::select_if(exec, lanewise::zipped(part(0, 10), ten.view()),
                                   lanewise::unzipped(part(0, 10), part(10, 20)),
                                   first_is_kept{{100}});
             }),
             ContainsSubstring("lanewise::select_if: in ["));
  CHECK_THAT(refusal([&] {
               lanewise::unique_by_key(exec, part(0, 10), ten.view(), part(0, 10), part(10, 20));
             }),
             ContainsSubstring("lanewise::unique_by_key: keys ["));
  CHECK_THAT(refusal([&] {
               const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 10);
               lanewise::transform(exec, ten.view(), nothing, part(0, 10), first_less_second{});
             }),
             ContainsSubstring("in has 10 items and no memory"));
  CHECK(ten.unchanged());
  CHECK(all.unchanged());
}
