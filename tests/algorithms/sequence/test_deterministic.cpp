// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sequence/reduce.hpp>
#include <lanewise/sequence/scan.hpp>
#include <support/fixed_tree.hpp>
#include <support/generators.hpp>
#include <support/oracle.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <limits>

// Deterministic operators: the same bits as one sequential program, on every backend.

namespace {

using namespace test;
using lanewise::deterministic;
using u32 = std::uint32_t;

/// Eight bytes: a sum that starts anew at a head. It does not commute, and rounds.
struct run {
  float head;
  float sum;
  friend std::ostream& operator<<(std::ostream& out, const run& x) {
    return out << "{" << x.head << ", " << x.sum << "}";
  }
};
struct add_runs {
  KOKKOS_FUNCTION run operator()(const run& x, const run& y) const {
    return {x.head + y.head, y.head != 0 ? y.sum : x.sum + y.sum};
  }
};

/// An item of 24 bytes, whose blocks are small.
struct point {
  double x[3];
  friend std::ostream& operator<<(std::ostream& out, const point& p) {
    return out << "{" << p.x[0] << ", " << p.x[1] << ", " << p.x[2] << "}";
  }
};
struct add_points {
  KOKKOS_FUNCTION point operator()(const point& a, const point& b) const {
    return {{a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2]}};
  }
};

/// Numbers of both signs and of very different sizes: their sums depend on the order.
template <class T>
std::vector<T> rough_items(std::int64_t n) {
  auto random = make_random(static_cast<std::uint64_t>(n));
  const auto number = [&] {
    const double fraction = std::generate_canonical<double, 53>(random) - 0.5;
    return std::ldexp(fraction, static_cast<int>(random() % 60) - 30);
  };
  std::vector<T> items(static_cast<std::size_t>(n));
  for (T& x : items) {
    if constexpr (std::is_same_v<T, run>) {
      x = {random() % 700 == 0 ? 1.0f : 0.0f, static_cast<float>(number())};
    } else if constexpr (std::is_same_v<T, point>) {
      x = {{number(), number(), number()}};
    } else {
      x = static_cast<T>(number());
    }
  }
  return items;
}

template <class T>
std::vector<std::int64_t> tree_sizes() {
  using shape = oracle::tree_shape<T>;
  std::vector<std::int64_t> sizes = {1, 2, 3, 5, 31, 32, 33, 67};
  for (const std::int64_t edge : {shape::row, shape::segment, 3 * shape::segment, shape::block})
    sizes.insert(sizes.end(), {edge - 1, edge, edge + 1});
  sizes.push_back(2 * shape::block + 3 * shape::segment + shape::row + 7);
  if (!is_emulated || full()) sizes.push_back(70 * shape::block + 12345);
  return sizes;
}

template <class T, class Op, class Exec>
void check(const std::vector<T>& items, const T& init, Op op, const Exec& exec, int shift = 0) {
  const auto n = static_cast<std::int64_t>(items.size());
  const array<T> in(items, shift);
  const array<T> inclusive(n, T{}, shift);
  const array<T> exclusive(n, T{}, shift);
  const oracle::fixed_tree<T, Op> expected(items, op);

  lanewise::inclusive_scan(exec, in.const_view(), inclusive.view(), deterministic(op));
  lanewise::exclusive_scan(exec, in.const_view(), exclusive.view(), deterministic(op), init);
  const T sum = lanewise::reduce(exec, in.const_view(), deterministic(op), init);

  CHECK(different_bits(inclusive.items(), expected.scan(false, {})) == "");
  CHECK(different_bits(exclusive.items(), expected.scan(true, init)) == "");
  CHECK(different_bits<T>({sum}, {expected.reduce(init)}) == "");
  CHECK(inclusive.guards_intact());
  CHECK(exclusive.guards_intact());
  CHECK(in.unchanged());
}

/// Instances that do the same work in other orders.
std::vector<space> spaces() {
#if defined(LANEWISE_TEST_SPACE_EMULATED)
  std::vector<space> result;
  for (std::uint32_t s = 0; s < 3; ++s) {
    result.push_back(space(seed() + s, 1 + static_cast<int>(s), mode()));
    result.push_back(space(seed() + s, 3, lanewise::interleaving::seeded));
  }
  return result;
#else
  return {make_space()};
#endif
}

}  // namespace

TEMPLATE_TEST_CASE("Deterministic sums have the documented bits at every size",
                   "[deterministic][sanitize]", float MORE_TYPES(double)) {
  for (const std::int64_t n : tree_sizes<TestType>()) {
    CAPTURE(n);
    check(rough_items<TestType>(n), TestType(0.1), lanewise::plus{}, make_space());
  }
}

TEST_CASE("Deterministic operators of the user's keep the order of operands", "[deterministic]") {
  for (const std::int64_t n : tree_sizes<run>()) {
    CAPTURE(n);
    check(rough_items<run>(n), run{0, 0.1f}, add_runs{}, make_space());
  }
  for (const std::int64_t n : tree_sizes<point>()) {
    CAPTURE(n);
    check(rough_items<point>(n), point{{0.1, 0.2, 0.3}}, add_points{}, make_space());
  }
}

TEST_CASE("Deterministic inclusive scans begin with init", "[deterministic][sanitize]") {
  const auto items = rough_items<float>(3 * oracle::tree_shape<float>::block + 77);
  const oracle::fixed_tree<float, lanewise::plus> expected(items, lanewise::plus{});
  const array<float> in(items), out(static_cast<std::int64_t>(items.size()), 0.0f);
  lanewise::inclusive_scan(make_space(), in.const_view(), out.view(),
                           deterministic(lanewise::plus{}), 0.3f);
  CHECK(different_bits(out.items(), expected.scan(false, 0.3f)) == "");
}

TEST_CASE("Deterministic results do not depend on who computes what", "[deterministic][sanitize]") {
  const auto items = rough_items<double>(5 * oracle::tree_shape<double>::block + 77);
  for (const space& exec : spaces()) {
    for (int repeat = 0; repeat < (is_emulated ? 1 : 20); ++repeat)
      check(items, 0.1, lanewise::plus{}, exec);
  }
}

TEST_CASE("A deterministic reduction of many blocks", "[deterministic]") {
  // More blocks than a block has items, and enough that teams share out theirs to their warps.
  const std::int64_t block = oracle::tree_shape<point>::block;
  const auto items = rough_items<point>((is_emulated ? 1 : 6) * block * block + 5 * block + 3);
  const array<point> in(items);

  const point sum = lanewise::reduce(make_space(), in.const_view(), deterministic(add_points{}),
                                     point{{1, 2, 3}});

  CHECK(different_bits<point>(
            {sum}, {oracle::fixed_tree(items, add_points{}).reduce(point{{1, 2, 3}})}) == "");
}

TEST_CASE("Deterministic operators meet special values", "[deterministic][sanitize]") {
  using limits = std::numeric_limits<float>;
  const std::int64_t n = 2 * oracle::tree_shape<float>::block + 300;
  auto random = make_random(5);
  const float specials[] = {
      limits::quiet_NaN(), limits::infinity(), -limits::infinity(), -0.0f, 0.0f,
      limits::denorm_min()};
  for (const int kind : {0, 1, 3, 6}) {
    CAPTURE(kind);
    auto items = rough_items<float>(n);
    for (float& x : items) {
      if (kind == 3) x = -0.0f;
      if (random() % 500 == 0)
        x = specials[kind == 6 ? random() % 6 : static_cast<std::size_t>(kind)];
    }
    check(items, -0.0f, lanewise::plus{}, make_space());
    check(items, -0.0f, lanewise::minimum{}, make_space());
    check(items, 1.0f, lanewise::maximum{}, make_space());
  }
}

TEST_CASE("Deterministic products", "[deterministic]") {
  auto items = rough_items<float>(oracle::tree_shape<float>::block + 300);
  for (float& x : items) x = x < 0 ? 1.01f + x * 1e-12f : 0.99f;
  check(items, 1.1f, lanewise::multiplies{}, make_space());
}

namespace {
struct squared {
  KOKKOS_FUNCTION float operator()(const float& x) const { return x * x; }
};
struct square_of_index {
  const float* data;
  KOKKOS_FUNCTION float operator()(std::int64_t i) const { return data[i] * data[i]; }
};
}  // namespace

TEST_CASE("A source and a deterministic operator are not contracted", "[deterministic]") {
  const auto exec = make_space();
  const std::int64_t n = oracle::tree_shape<float>::block + 3333;
  const auto items = rough_items<float>(n);
  std::vector<float> squares;
  for (const float x : items) {
    const volatile float square = x * x;
    squares.push_back(float{square});
  }
  const oracle::fixed_tree expected(squares, lanewise::plus{});
  const array<float> in(items);
  const array<float> out(n, 0.0f);

  const float sum = lanewise::reduce(exec, lanewise::transformed(in.const_view(), squared{}),
                                     deterministic(lanewise::plus{}), 0.0f);
  lanewise::inclusive_scan(exec, lanewise::generated(n, square_of_index{in.data()}), out.view(),
                           deterministic(lanewise::plus{}));

  CHECK(sum == expected.reduce(0.0f));
  CHECK(different_bits(out.items(), expected.scan(false, {})) == "");
}

TEST_CASE("Deterministic calls: misaligned, in place, converted, counted on the device",
          "[deterministic][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = oracle::tree_shape<float>::block + 3333;
  const auto items = rough_items<float>(n);
  for (const int shift : {1, 3}) check(items, 0.1f, lanewise::plus{}, exec, shift);

  const array<float> both(items);
  lanewise::inclusive_scan(exec, both.view(), both.view(), deterministic(lanewise::plus{}));
  CHECK(different_bits(both.items(), oracle::fixed_tree(items, lanewise::plus{}).scan(false, {})) ==
        "");

  const array<float> in(items);
  const array<double> wide(n, 7.0);
  const cell<std::int64_t> count(n - 1000);
  lanewise::workspace work;
  const std::vector<double> used(items.begin(), items.end() - 1000);
  auto expected = oracle::fixed_tree(used, lanewise::plus{}).scan(true, 0.1);
  expected.resize(static_cast<std::size_t>(n), 7.0);
  lanewise::exclusive_scan(exec, in.const_view(), wide.view(), deterministic(lanewise::plus{}), 0.1,
                           {.work = &work, .count = count.view()});
  CHECK(different_bits(wide.items(), expected) == "");
  const double sum = lanewise::reduce(exec, in.const_view(), deterministic(lanewise::plus{}), 0.1,
                                      {.work = &work, .count = count.view()});
  CHECK(sum == oracle::fixed_tree(used, lanewise::plus{}).reduce(0.1));
  CHECK(lanewise::reduce(exec, Kokkos::View<const float*, memory>(),
                         deterministic(lanewise::plus{}), 0.5f) == 0.5f);
}

TEST_CASE("Exact operators need no fixed order", "[deterministic]") {
  const auto exec = make_space();
  const auto items = random_items<u32>(100'001);
  const array<u32> in(items);
  const array<u32> out(100'001, 0u);

  lanewise::inclusive_scan(exec, in.const_view(), out.view(), deterministic(lanewise::plus{}));

  CHECK(difference(out.items(), oracle::inclusive_scan(items, lanewise::plus{})) == "");
  CHECK(lanewise::reduce(exec, in.const_view(), deterministic(lanewise::plus{}), 3u) ==
        oracle::reduce(items, lanewise::plus{}, 3u));
}
