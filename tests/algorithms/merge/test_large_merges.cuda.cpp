// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/merge/merge.hpp>
#include <lanewise/merge/merge_sort.hpp>
#include <lanewise/merge/set_operations.hpp>
#include <lanewise/sequence/transform.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <initializer_list>

// More than 2^31 items: only where a GPU has the memory, and when asked for.

namespace {

using namespace test;
using u8 = std::uint8_t;

struct scramble {
  u8* out;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    out[i] = static_cast<u8>((static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u) >> 56);
  }
};
struct descents {
  const u8* items;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const {
    sum += items[i + 1] < items[i];
  }
};
struct sums {
  const u8* items;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const { sum += items[i]; }
};
using range = Kokkos::RangePolicy<space, Kokkos::IndexType<std::int64_t>>;

std::int64_t descents_of(const u8* items, std::int64_t n) {
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce("descents", range(0, n - 1), descents{items}, wrong);
  return wrong;
}
std::int64_t sum_of(const u8* items, std::int64_t n) {
  std::int64_t sum = 0;
  Kokkos::parallel_reduce("sums", range(0, n), sums{items}, sum);
  return sum;
}

template <std::uint32_t k>
struct multiple_of {
  KOKKOS_FUNCTION std::uint32_t operator()(std::int64_t i) const {
    return static_cast<std::uint32_t>(k * i);
  }
};
/// From every six numbers in a row some are kept, after[0] to after[number - 1].
struct expect_of_six {
  int* wrong;
  std::int64_t* highest;
  std::uint32_t after[4];
  int number;
  KOKKOS_FUNCTION void operator()(std::int64_t p, std::uint32_t x) const {
    if (x != static_cast<std::uint32_t>(p / number * 6) + after[p % number]) *wrong = 1;
    if (p >= std::int64_t{1} << 31) Kokkos::atomic_max(highest, p);
  }
};

}  // namespace

TEST_CASE("Set operations of more than 2^31 items", "[.large]") {
  const std::int64_t n_a = 1'800'000'000, n_b = 1'200'000'000;  // below 3.6 * 10^9
  using array_type = Kokkos::View<std::uint32_t*, memory>;
  const array_type a(Kokkos::view_alloc("a", Kokkos::WithoutInitializing), n_a),
      b(Kokkos::view_alloc("b", Kokkos::WithoutInitializing), n_b);
  const space exec;
  lanewise::transform(exec, lanewise::generated(n_a, multiple_of<2>{}), a, lanewise::identity{});
  lanewise::transform(exec, lanewise::generated(n_b, multiple_of<3>{}), b, lanewise::identity{});
  const cell<int> wrong(0);
  const cell<std::int64_t> highest(0), count(0);
  const auto sink = [&](std::int64_t n, std::initializer_list<std::uint32_t> after) {
    expect_of_six expects{wrong.data(), highest.data(), {}, static_cast<int>(after.size())};
    std::copy(after.begin(), after.end(), expects.after);
    return lanewise::consumed(n, expects);
  };
  lanewise::set_union(exec, a, b, sink(n_a + n_b, {0, 2, 3, 4}), count.view());
  CHECK(count.get() == 2'400'000'000);
  CHECK(highest.get() == 2'399'999'999);
  lanewise::set_intersection(exec, a, b, sink(n_b, {0}), count.view());
  CHECK(count.get() == 600'000'000);
  lanewise::set_difference(exec, a, b, sink(n_a, {2, 4}), count.view());
  CHECK(count.get() == 1'200'000'000);
  CHECK(wrong.get() == 0);
}

TEST_CASE("merge_sort and merge of more than 2^31 items", "[.large]") {
  const std::int64_t n = (std::int64_t{1} << 31) + 12345;
  const Kokkos::View<u8*, memory> in(Kokkos::view_alloc("in", Kokkos::WithoutInitializing), n),
      out(Kokkos::view_alloc("out", Kokkos::WithoutInitializing), n);
  const space exec;
  Kokkos::parallel_for("scramble", range(0, n), scramble{in.data()});
  const std::int64_t sum = sum_of(in.data(), n);
  lanewise::merge_sort(exec, in, out);
  exec.fence();
  CHECK(descents_of(out.data(), n) == 0);
  CHECK(sum_of(out.data(), n) == sum);

  const std::int64_t half = n / 2;
  const auto a = Kokkos::subview(out, std::pair<std::int64_t, std::int64_t>(0, half));
  const auto b = Kokkos::subview(out, std::pair<std::int64_t, std::int64_t>(half, n));
  lanewise::merge(exec, b, a, in);
  exec.fence();
  CHECK(descents_of(in.data(), n) == 0);
  CHECK(sum_of(in.data(), n) == sum);
}
