// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/sort/radix_sort_by.hpp>
#include <support/oracle.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <algorithms/sort/check_radix_sort.hpp>
#include <cstring>
#include <limits>
#include <tuple>

using namespace test;

namespace {

/// Twelve bytes, which are sorted by their numbers.
struct particle {
  float mass;
  std::int16_t cell;
  std::uint8_t kind;
  std::uint8_t charged;
  std::uint32_t id;
};
/// Eight bytes, which move with their keys.
struct edge {
  std::int32_t from;
  std::uint32_t to;
};

struct mass_of {
  KOKKOS_FUNCTION float operator()(const particle& p) const { return p.mass; }
};
struct cell_and_kind_of {
  KOKKOS_FUNCTION lanewise::tuple<std::int16_t, std::uint8_t> operator()(const particle& p) const {
    return {p.cell, p.kind};
  }
};
/// 65 bits in all.
struct all_of {
  KOKKOS_FUNCTION
  lanewise::tuple<bool, std::int16_t, float, std::uint8_t, std::uint8_t, std::int16_t> operator()(
      const particle& p) const {
    return {p.charged != 0, p.cell, p.mass, p.kind, p.charged, static_cast<std::int16_t>(-p.cell)};
  }
};
struct ends_of {
  KOKKOS_FUNCTION lanewise::tuple<std::uint32_t, std::int32_t> operator()(const edge& e) const {
    return {e.to, e.from};
  }
};
struct from_of {
  KOKKOS_FUNCTION std::int32_t operator()(const edge& e) const { return e.from; }
};

particle random_particle(random_engine& random, std::uint32_t id) {
  const auto x = static_cast<std::uint32_t>(random());
  // -5 to 5, zeros of both signs among them.
  const float mass = static_cast<float>(x % 21) / 4;
  const auto cell = static_cast<std::int16_t>(static_cast<int>(x >> 8 & 7) * 999 - 3500);
  return {(x >> 5 & 1) != 0 ? -mass : mass, cell, static_cast<std::uint8_t>(x >> 16 & 3),
          static_cast<std::uint8_t>(x >> 20 & 1), id};
}
edge random_edge(random_engine& random, std::uint32_t) {
  const auto x = static_cast<std::uint32_t>(random());
  return {static_cast<std::int32_t>(x % 9) - 4, (x >> 8) % 5 * 0x33333333u};
}

/// For float -0.0 comes before 0.0, as in radix_sort's order.
auto oracle_key(float x) {
  return std::make_pair(x, !std::signbit(x));
}
template <class T>
T oracle_key(T x) {
  return x;
}
template <class... T>
auto oracle_key(const lanewise::tuple<T...>& t) {
  return lanewise::detail::call_with(
      [](const T&... x) { return std::make_tuple(oracle_key(x)...); }, t);
}

template <class T, class KeyOf, class Make>
std::vector<T> check_sorted_by(std::int64_t n, const KeyOf& key_of, const Make& make,
                               lanewise::sort_options with = {}) {
  CAPTURE(n);
  const auto exec = make_space();
  auto random = make_random(static_cast<std::uint64_t>(n) + 7);
  std::vector<T> items;
  for (std::int64_t i = 0; i < n; ++i) items.push_back(make(random, static_cast<std::uint32_t>(i)));
  auto expected = items;
  const bool descends = with.order == lanewise::sort_order::descending;
  std::stable_sort(expected.begin(), expected.end(), [&](const T& a, const T& b) {
    return descends ? oracle_key(key_of(b)) < oracle_key(key_of(a))
                    : oracle_key(key_of(a)) < oracle_key(key_of(b));
  });
  const auto same = [&](const std::vector<T>& found) {
    return found.size() == expected.size() &&
           (n == 0 || std::memcmp(found.data(), expected.data(), n * sizeof(T)) == 0);
  };
  const array<T> in(items, 1), out(n, T{}, 2);
  lanewise::radix_sort_by(exec, in.const_view(), out.view(), key_of, with);
  CHECK(same(out.items()));
  CHECK(in.unchanged());
  CHECK(out.guards_intact());
  lanewise::radix_sort_by(exec, in.view(), key_of, with);
  CHECK(same(in.items()));
  CHECK(in.guards_intact());
  return expected;
}

}  // namespace

TEST_CASE("radix_sort_by sorts structs by a member", "[radix_sort_by][sanitize]") {
  for (const std::int64_t n : {0, 1, 2, 33, 4609, 9217, 20'011}) {
    check_sorted_by<particle>(n, mass_of{}, random_particle);
    check_sorted_by<edge>(n, from_of{}, random_edge, {.order = lanewise::sort_order::descending});
  }
}

TEST_CASE("radix_sort_by sorts structs by several members", "[radix_sort_by][sanitize]") {
  for (const std::int64_t n : {0, 1, 33, 4609, 20'011}) {
    check_sorted_by<particle>(n, cell_and_kind_of{}, random_particle);
    check_sorted_by<particle>(n, cell_and_kind_of{}, random_particle,
                              {.order = lanewise::sort_order::descending});
    check_sorted_by<particle>(n, all_of{}, random_particle);
    check_sorted_by<edge>(n, ends_of{}, random_edge);
  }
}

TEST_CASE("radix_sort_by looks at the bits it is told, and at as many items", "[radix_sort_by]") {
  const auto exec = make_space();
  auto random = make_random(3);
  std::vector<particle> items;
  for (std::uint32_t i = 0; i < 5000; ++i) items.push_back(random_particle(random, i));
  // Bits 8 to 23 are those of the cell.
  auto expected = items;
  const std::ptrdiff_t some = 4321;
  std::stable_sort(expected.begin(), expected.begin() + some,
                   [](const particle& a, const particle& b) { return a.cell < b.cell; });
  const cell<std::int64_t> count(some);
  const array<particle> in(items, 1);
  lanewise::workspace work;
  lanewise::radix_sort_by(exec, in.view(), cell_and_kind_of{},
                          {.work = &work, .count = count.view(), .begin_bit = 8});
  const auto found = in.items();
  CHECK(std::memcmp(found.data(), expected.data(), found.size() * sizeof(particle)) == 0);
}

TEST_CASE("radix_sort_by takes values along", "[radix_sort_by][sanitize]") {
  const auto exec = make_space();
  for (const std::int64_t n : {0, 1, 33, 5000}) {
    CAPTURE(n);
    auto random = make_random(static_cast<std::uint64_t>(n));
    std::vector<edge> items;
    for (std::int64_t i = 0; i < n; ++i) items.push_back(random_edge(random, 0));
    const auto values = random_items<affine>(n);
    std::vector<std::size_t> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return from_of{}(items[a]) < from_of{}(items[b]);
    });
    const array<edge> in(items, 1), out(n, edge{});
    const array<affine> beside(values), beside_out(n, affine{}, 1);
    lanewise::radix_sort_by(exec, in.const_view(), beside.const_view(), out.view(),
                            beside_out.view(), from_of{});
    CHECK(difference_in_bits(out.items(), items, order) == "");
    CHECK(difference_in_bits(beside_out.items(), values, order) == "");
    CHECK(in.unchanged());
    CHECK(beside.unchanged());
    lanewise::radix_sort_by(exec, in.view(), beside.view(), in.view(), beside.view(), from_of{});
    CHECK(difference_in_bits(in.items(), items, order) == "");
    CHECK(difference_in_bits(beside.items(), values, order) == "");
    CHECK(in.guards_intact());
    CHECK(out.guards_intact());
  }
}

TEST_CASE("Zeros of either sign keep their places where they are equal",
          "[radix_sort_by][sanitize]") {
  const auto exec = make_space();
  const std::int64_t n = 5000;
  auto random = make_random(31);
  std::vector<float> keys;
  for (std::int64_t i = 0; i < n; ++i) {
    const float size = static_cast<float>(random() % 5);
    keys.push_back(random() % 2 != 0 ? -size : size);
  }
  const auto index = places(keys.size());
  for (const bool descends : {false, true}) {
    CAPTURE(descends);
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return descends ? keys[b] < keys[a] : keys[a] < keys[b];
    });
    const lanewise::sort_options with{.order = descends ? lanewise::sort_order::descending
                                                        : lanewise::sort_order::ascending};
    const array<float> in(keys), out(n, 9.0f);
    const array<std::uint32_t> values(index), values_out(n, 9u);
    lanewise::radix_sort_by(exec, in.view(), out.view(), lanewise::equal_zeros{}, with);
    CHECK(difference_in_bits(out.items(), keys, order) == "");
    lanewise::radix_sort_by(exec, in.view(), values.view(), in.view(), values_out.view(),
                            lanewise::equal_zeros{}, with);
    CHECK(difference_in_bits(in.items(), keys, order) == "");
    CHECK(difference_in_bits(values_out.items(), index, order) == "");
  }
}

TEST_CASE("radix_sort_by refuses what does not fit", "[radix_sort_by]") {
  using Catch::Matchers::ContainsSubstring;
  const auto exec = make_space();
  const array<edge> in(std::vector<edge>(9)), out(8, edge{});
  CHECK_THROWS_WITH(lanewise::radix_sort_by(exec, in.view(), out.view(), from_of{}),
                    ContainsSubstring("radix_sort_by: out has 8 places, in has 9 items"));
  CHECK_THROWS_WITH(lanewise::radix_sort_by(exec, in.view(), ends_of{}, {.end_bit = 65}),
                    ContainsSubstring("options.end_bit is 65, keys have 64 bits"));
}

TEST_CASE("radix_sort_by needs the workspace that it says", "[radix_sort_by]") {
  const std::int64_t n = 20'011;
  const auto exec = make_space();
  using keys = lanewise::tuple<std::uint32_t, std::int32_t>;
  lanewise::workspace work;
  lanewise::reserve(exec, work, lanewise::radix_sort_by_workspace<keys, edge, space>(n));
  const void* const before = work.plain();
  const array<edge> in(std::vector<edge>(static_cast<std::size_t>(n)));
  lanewise::radix_sort_by(exec, in.view(), ends_of{}, {.work = &work});
  CHECK(work.plain() == before);
}
