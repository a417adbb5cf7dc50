// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/adjacent_difference.hpp>
#include <support/functors.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace test;
using Catch::Matchers::ContainsSubstring;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class T>
using adjacent_kernel_of =
    lanewise::kernels::adjacent_kernel<lanewise::array_source<T, lanewise::identity>,
                                       lanewise::array_sink<T>, lanewise::minus>;
template <class T>
constexpr std::int64_t adjacent_tile = tile_items<T, typename adjacent_kernel_of<T>::policy>;

/// Another type than its operands'.
struct signed_difference {
  KOKKOS_FUNCTION std::int64_t operator()(u32 x, u32 before) const {
    return std::int64_t{x} - std::int64_t{before};
  }
};

struct then_before {
  KOKKOS_FUNCTION affine operator()(const affine& x, const affine& before) const {
    return then{}(before, x);
  }
};

template <class R, class T, class Op>
std::vector<R> differences(const std::vector<T>& items, Op op) {
  std::vector<R> out;
  for (std::size_t i = 0; i < items.size(); ++i)
    out.push_back(i == 0 ? static_cast<R>(items[0]) : op(items[i], items[i - 1]));
  return out;
}

template <class R, class T, class Op>
std::vector<R> differences_right(std::vector<T> items, Op op) {
  std::reverse(items.begin(), items.end());
  auto out = differences<R>(items, op);
  std::reverse(out.begin(), out.end());
  return out;
}

/// Out of place and in place.
template <class T, class Op>
void check_differences_right(const std::vector<T>& items, Op op, int in_shift = 0,
                             int out_shift = 0) {
  const auto n = static_cast<std::int64_t>(items.size());
  const array<T> in(items, in_shift);
  const array<T> out(n, item_of<T>(77), out_shift);
  const auto expected = differences_right<T>(items, op);
  lanewise::adjacent_difference_right(make_space(), in.const_view(), out.view(), op);
  CHECK(difference(out.items(), expected) == "");
  CHECK(in.unchanged());
  lanewise::adjacent_difference_right(make_space(), in.view(), in.view(), op);
  CHECK(difference(in.items(), expected) == "");
  CHECK(in.guards_intact());
  CHECK(out.guards_intact());
}

template <class R, class T, class Op>
void check_differences(const std::vector<T>& items, Op op, int in_shift = 0, int out_shift = 0) {
  const auto n = static_cast<std::int64_t>(items.size());
  const array<T> in(items, in_shift);
  const array<R> out(n, item_of<R>(77), out_shift);
  lanewise::adjacent_difference(make_space(), in.const_view(), out.view(), op);
  CHECK(difference(out.items(), differences<R>(items, op)) == "");
  CHECK(out.guards_intact());
  CHECK(in.unchanged());
}

}  // namespace

TEMPLATE_TEST_CASE("adjacent_difference is exact at every size", "[adjacent]",
                   u32 MORE_TYPES(std::uint8_t, u64, double)) {
  for (const std::int64_t n : sizes_around(adjacent_tile<TestType>)) {
    CAPTURE(n);
    check_differences<TestType>(random_items<TestType>(n), lanewise::minus{});
  }
}

TEST_CASE("adjacent_difference takes the item first and its predecessor second", "[adjacent]") {
  for (const std::int64_t n : sizes_around(adjacent_tile<affine>)) {
    CAPTURE(n);
    check_differences<affine>(random_items<affine>(n), then_before{});
  }
}

TEST_CASE("adjacent_difference may give another type, at every alignment", "[adjacent][sanitize]") {
  const auto items = random_items<u32>(adjacent_tile<u32> + 131);
  for (int shift = 0; shift < 4; ++shift) {
    CAPTURE(shift);
    check_differences<std::int64_t>(items, signed_difference{}, shift, 3 - shift);
  }
}

TEST_CASE("adjacent_difference undoes inclusive sums read from a source, within the count",
          "[adjacent][sanitize]") {
  const std::int64_t n = some_tiles(adjacent_tile<u64>);
  const cell<std::int64_t> count(n - 7);
  const cell<int> trapped;
  const array<int> writes(n, 0);
  const array<u64> out(n, u64{77});

  lanewise::adjacent_difference(make_space(),
                                lanewise::generated(n, trapping_square{trapped.data(), n - 7}),
                                lanewise::consumed(n, counting_store{writes.data(), n, out.data()}),
                                lanewise::minus{}, {.count = count.view()});

  std::vector<u64> odd;
  for (std::int64_t i = 0; i < n - 7; ++i) odd.push_back(i == 0 ? 0 : static_cast<u64>(2 * i - 1));
  CHECK(difference(out.items(), odd, out.original()) == "");
  const auto written = writes.items();
  CHECK(trapped.get() == 0);
  CHECK(writes.guards_intact());
  CHECK(std::all_of(written.begin(), written.end() - 7, [](int k) { return k == 1; }));
  CHECK(std::all_of(written.end() - 7, written.end(), [](int k) { return k == 0; }));
}

TEMPLATE_TEST_CASE("adjacent_difference_right takes the item first and its successor second",
                   "[adjacent]", affine MORE_TYPES(u32)) {
  for (const std::int64_t n : sizes_around(adjacent_tile<TestType>)) {
    CAPTURE(n);
    if constexpr (std::is_same_v<TestType, affine>) {
      check_differences_right(random_items<affine>(n), then_before{});
    } else {
      check_differences_right(random_items<TestType>(n), lanewise::minus{});
    }
  }
}

TEST_CASE("adjacent_difference_right ends with the count, at every alignment",
          "[adjacent][sanitize]") {
  const std::int64_t n = some_tiles(3 * adjacent_tile<u32>);
  const auto items = random_items<u32>(n + 9);
  for (const std::int64_t used : {n, std::int64_t{1}, std::int64_t{0}}) {
    for (int shift = 0; shift < 4; ++shift) {
      CAPTURE(used, shift);
      const cell<std::int64_t> count(used);
      const array<u32> in(items, shift), out(n + 9, 77u, 3 - shift);
      const auto expected = differences_right<u32>(
          std::vector<u32>(items.begin(), items.begin() + used), lanewise::minus{});
      lanewise::adjacent_difference_right(make_space(), in.const_view(), out.view(),
                                          lanewise::minus{}, {.count = count.view()});
      CHECK(difference(out.items(), expected, out.original()) == "");
      lanewise::adjacent_difference_right(make_space(), in.view(), in.view(), lanewise::minus{},
                                          {.count = count.view()});
      CHECK(difference(in.items(), expected, in.original()) == "");
      CHECK(in.guards_intact());
      CHECK(out.guards_intact());
    }
  }
}

TEST_CASE("adjacent_difference_right undoes reverse sums read from a source",
          "[adjacent][sanitize]") {
  const std::int64_t n = some_tiles(adjacent_tile<u64>);
  const cell<int> trapped;
  const array<int> writes(n, 0);
  const array<u64> out(n, u64{77});
  lanewise::adjacent_difference_right(
      make_space(), lanewise::generated(n, trapping_square{trapped.data(), n}),
      lanewise::consumed(n, counting_store{writes.data(), n, out.data()}));
  std::vector<u64> odd;
  for (std::int64_t i = 0; i < n; ++i)
    odd.push_back(static_cast<u64>(i + 1 == n ? i * i : -2 * i - 1));
  CHECK(difference(out.items(), odd) == "");
  CHECK(trapped.get() == 0);
  const auto written = writes.items();
  CHECK(std::all_of(written.begin(), written.end(), [](int k) { return k == 1; }));
  CHECK_THAT(refusal([&] {
               const array<u64> few(n - 1, u64{0});
               lanewise::adjacent_difference_right(make_space(), out.view(), few.view());
             }),
             ContainsSubstring("lanewise::adjacent_difference_right: out has "));
}

TEST_CASE("adjacent_difference refuses what it cannot do", "[adjacent]") {
  const auto exec = make_space();
  const array<u32> in(12, 1u);
  const array<u32> out(11, 77u);
  const Kokkos::View<u32*, memory, Kokkos::MemoryUnmanaged> nothing(nullptr, 12);

  CHECK_THAT(
      refusal([&] { lanewise::adjacent_difference(exec, in.const_view(), out.view()); }),
      ContainsSubstring("lanewise::adjacent_difference: out has 11 places, in has 12 items"));
  CHECK_THAT(
      refusal([&] {
        lanewise::adjacent_difference(exec,
                                      Kokkos::subview(in.view(), Kokkos::pair<int, int>(0, 6)),
                                      Kokkos::subview(in.view(), Kokkos::pair<int, int>(5, 12)));
      }),
      ContainsSubstring("lanewise::adjacent_difference: in [") && ContainsSubstring("overlap"));
  CHECK_THAT(refusal([&] { lanewise::adjacent_difference(exec, nothing, in.view()); }),
             ContainsSubstring("in has 12 items and no memory"));
  CHECK(in.unchanged());
  CHECK(out.unchanged());
}
