// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/backend.hpp>
#include <lanewise/data/radix_key.hpp>
#include <support/generators.hpp>
#include <support/space.hpp>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstring>
#include <limits>

LANEWISE_BEGIN_NAMESPACE
namespace test_kernels {

/// The bits of every key, and the key of these.
template <class T>
struct map_keys {
  struct policy : launch_policy {
    static constexpr int warps = 2;
  };
  template <class Team>
  struct scratch {};

  const T* keys;
  std::int64_t n;
  radix_bits_t<T>* up;
  radix_bits_t<T>* down;
  T* back;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>&) const {
    team.once([&] {
      for (std::int64_t i = 0; i < n; ++i) {
        up[i] = to_bits(keys[i]);
        down[i] = to_bits<true>(keys[i]);
        back[i] = i % 2 == 0 ? from_bits<T>(up[i]) : from_bits<T, true>(down[i]);
      }
    });
  }
};

}  // namespace test_kernels
LANEWISE_END_NAMESPACE

namespace {

using namespace test;
using lanewise::from_bits;
using lanewise::radix_bits_t;
using lanewise::radix_key;
using lanewise::to_bits;

enum class direction : std::int8_t { left = -1, none = 0, right = 1 };
enum plain_enum : unsigned { first_of_plain, last_of_plain = 77 };

// The compiler knows all of it.
static_assert(to_bits(std::int8_t{-128}) == 0 && to_bits(std::int8_t{127}) == 255);
static_assert(to_bits(std::int32_t{-1}) == 0x7fffffffu && to_bits(std::int32_t{0}) == 0x80000000u);
static_assert(to_bits(std::int64_t{1}) == 0x8000000000000001u);
static_assert(to_bits(std::uint16_t{513}) == 513 && to_bits<true>(std::uint16_t{513}) == 0xfdfe);
static_assert(to_bits(1.0f) == 0xbf800000u && to_bits(-1.0f) == 0x407fffffu);
static_assert(to_bits(-0.0f) == 0x7fffffffu && to_bits(0.0f) == 0x80000000u);
static_assert(to_bits(-0.0) + 1 == to_bits(0.0));
static_assert(from_bits<double>(to_bits(-2.5)) == -2.5);
static_assert(from_bits<float, true>(to_bits<true>(1e-40f)) == 1e-40f);
static_assert(to_bits(false) == 0 && to_bits(true) == 1 && from_bits<bool>(1));
static_assert(from_bits<bool, true>(to_bits<true>(true)) && !from_bits<bool, true>(255));
static_assert(to_bits(direction::left) == 127 && from_bits<direction>(129) == direction::right);
static_assert(to_bits(last_of_plain) == 77);
static_assert(radix_key<bool>::width == 1 && radix_key<double>::width == 64);
static_assert(std::is_same_v<radix_bits_t<float>, std::uint32_t> &&
              std::is_same_v<radix_bits_t<char>, std::uint8_t> &&
              std::is_same_v<radix_bits_t<char16_t>, std::uint16_t>);
static_assert(!lanewise::radix_sortable<affine> && !lanewise::radix_sortable<long double> &&
              !lanewise::radix_sortable<int*>);
static_assert(lanewise::radix_digit(0xabcdef01u, 8, 8) == 0xef &&
              lanewise::radix_digit(0xabcdef01u, 28, 4) == 0xa &&
              lanewise::radix_digit(0xabcdef01u, 0, 32) == 0xabcdef01u);
#if defined(LANEWISE_HAS_INT128)
using lanewise::int128;
using lanewise::uint128;
static_assert(to_bits(int128{-1}) == to_bits(int128{0}) - 1);
static_assert(to_bits(int128{0}) == uint128{1} << 127 && to_bits(uint128{5}) == 5);
static_assert(from_bits<int128>(to_bits(int128{-7})) == -7 && radix_key<uint128>::width == 128);
static_assert(lanewise::radix_digit(uint128{0xab} << 120, 120, 8) == 0xab);
#endif

/// Keys in ascending order, all of them different, and critical ones among them.
template <class T>
std::vector<T> ascending_keys() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    using bits = radix_bits_t<T>;
    const auto nan = [](bool negative, bits payload) {
      const T quiet = limits::quiet_NaN();
      bits x;
      std::memcpy(&x, &quiet, sizeof(T));
      x |= payload;
      if (negative) x |= bits{1} << (8 * sizeof(T) - 1);
      T result;
      std::memcpy(&result, &x, sizeof(T));
      return result;
    };
    return {nan(true, 5),
            nan(true, 0),
            -limits::infinity(),
            -limits::max(),
            T(-1.5),
            T(-1),
            -limits::min(),
            -limits::min() / 2,
            -limits::denorm_min(),
            T(-0.0),
            T(0.0),
            limits::denorm_min(),
            limits::min() / 2,
            limits::min(),
            T(1),
            std::nextafter(T(1), T(2)),
            limits::max(),
            limits::infinity(),
            nan(false, 0),
            nan(false, 5)};
  } else if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else {
    using bits = radix_bits_t<T>;
    constexpr int width = 8 * static_cast<int>(sizeof(T));
    // Around every power of two, of either sign where there are signs.
    std::vector<T> keys;
    if constexpr (T(-1) < T(0)) {
      keys.push_back(static_cast<T>(bits{1} << (width - 1)));
      for (int b = width - 2; b > 1; --b) {
        const auto power = static_cast<T>(bits{1} << b);
        keys.push_back(static_cast<T>(-power - 1));
        keys.push_back(static_cast<T>(-power));
      }
      keys.insert(keys.end(), {static_cast<T>(-2), static_cast<T>(-1)});
    }
    keys.insert(keys.end(), {T(0), T(1), T(2)});
    for (int b = 2; b < width - (T(-1) < T(0) ? 1 : 0); ++b) {
      keys.push_back(static_cast<T>(bits{1} << b));
      keys.push_back(static_cast<T>((bits{1} << b) + 1));
    }
    return keys;
  }
}

/// Their order, on the tested space, and what comes back.
template <class T>
void check_order(const std::vector<T>& keys) {
  using bits = radix_bits_t<T>;
  const auto n = static_cast<std::int64_t>(keys.size());
  const array<T> in(keys), back(n, T{});
  const array<bits> up(n, bits{}), down(n, bits{});
  lanewise::launch(
      make_space(), "map_keys", 1,
      lanewise::test_kernels::map_keys<T>{in.data(), n, up.data(), down.data(), back.data()});
  const auto ascending = up.items(), descending = down.items();
  const auto blocking_result = back.items();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    CAPTURE(i);
    CHECK(std::memcmp(&blocking_result[i], &keys[i], sizeof(T)) == 0);
    CHECK((ascending[i] == to_bits(keys[i])));
    if (i == 0) continue;
    CHECK((ascending[i - 1] < ascending[i]));
    CHECK((descending[i - 1] > descending[i]));
    const bits differing = ascending[i - 1] ^ ascending[i];
    if constexpr (radix_key<T>::width < 8 * static_cast<int>(sizeof(T)))
      CHECK(differing >> radix_key<T>::width == 0);
  }
  CHECK((up.guards_intact() && down.guards_intact() && back.guards_intact()));
}

}  // namespace

TEMPLATE_TEST_CASE("Keys have the order of their bits", "[radix_key][sanitize]", std::uint32_t,
                   std::int8_t, float,
                   double MORE_TYPES(std::uint8_t, char, std::int16_t, std::uint16_t, std::int32_t,
                                     std::int64_t, std::uint64_t)) {
  check_order(ascending_keys<TestType>());
}

TEST_CASE("Truth values have one bit", "[radix_key][sanitize]") {
  CHECK(to_bits(false) < to_bits(true));
  CHECK((to_bits<true>(false) ^ to_bits<true>(true)) == 1);
}

#if defined(LANEWISE_HAS_INT128)
TEST_CASE("Keys of 128 bits have the order of their bits", "[radix_key][sanitize]") {
  check_order(ascending_keys<int128>());
  check_order(ascending_keys<uint128>());
}
#endif

TEMPLATE_TEST_CASE("Any bits come back, and order keys as < does", "[radix_key]", float, double,
                   std::int64_t, std::int16_t) {
  using bits = radix_bits_t<TestType>;
  auto random = make_random(31);
  TestType before{};
  for (int i = 0; i < 5000; ++i) {
    const auto x = static_cast<bits>(random());
    const TestType key = from_bits<TestType>(x);
    CHECK(to_bits(key) == x);
    if (key < before) CHECK(to_bits(key) < to_bits(before));
    if (before < key) CHECK(to_bits(before) < to_bits(key));
    before = key;
  }
}

TEST_CASE("Structs are ordered by the bits of a key", "[radix_key]") {
  struct pair {
    float weight;
    int id;
  };
  const auto weight = [](const pair& p) { return p.weight; };
  const lanewise::radix_bits_of<decltype(weight)> up{weight};
  const lanewise::radix_bits_of<decltype(weight), true> down{weight};
  CHECK(up(pair{-2, 5}) < up(pair{1, 0}));
  CHECK(down(pair{-2, 5}) > down(pair{1, 0}));
  CHECK(up(pair{-2, 5}) == up(pair{-2, 6}));
}
