// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/merge.hpp>
#include <lanewise/merge_sort.hpp>
#include <support/space.hpp>

#include <catch2/catch_test_macros.hpp>

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

}  // namespace

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
