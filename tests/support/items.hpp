// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

// Types of items, and operators on them.

// TEMPLATE_TEST_CASE("...", "[tag]", std::uint32_t MORE_TYPES(std::uint8_t, double)): where tests
// are compiled only to be compiled, or looked at for races, which do not depend on the type, fewer
// types will do. The first of them is the one of another size: where accesses are checked, it
// stays.
#if defined(LANEWISE_TEST_FEW_TYPES)
#define MORE_TYPES(...)
#elif defined(LANEWISE_TEST_ANOTHER_SIZE)
#define MORE_TYPES(first, ...) , first
#else
#define MORE_TYPES(...) , __VA_ARGS__
#endif

namespace test {

/// Twelve bytes: an affine map x -> a x + b with a parity beside it. Composition is associative and
/// does not commute.
struct affine {
  std::uint32_t a;
  std::uint32_t b;
  std::uint32_t parity;
  friend KOKKOS_FUNCTION bool operator==(const affine& x, const affine& y) {
    return x.a == y.a && x.b == y.b && x.parity == y.parity;
  }
  friend std::ostream& operator<<(std::ostream& out, const affine& x) {
    return out << "{" << x.a << ", " << x.b << ", " << x.parity << "}";
  }
};

/// First x, then y.
struct then {
  KOKKOS_FUNCTION affine operator()(const affine& x, const affine& y) const {
    return {x.a * y.a, x.b * y.a + y.b, x.parity ^ y.parity};
  }
};

/// 32 bytes: a 2 x 2 matrix modulo 2^64.
struct matrix {
  std::uint64_t m[2][2];
  friend KOKKOS_FUNCTION bool operator==(const matrix& x, const matrix& y) {
    return x.m[0][0] == y.m[0][0] && x.m[0][1] == y.m[0][1] && x.m[1][0] == y.m[1][0] &&
           x.m[1][1] == y.m[1][1];
  }
  friend std::ostream& operator<<(std::ostream& out, const matrix& x) {
    return out << "{{" << x.m[0][0] << ", " << x.m[0][1] << "}, {" << x.m[1][0] << ", " << x.m[1][1]
               << "}}";
  }
};

struct product {
  KOKKOS_FUNCTION matrix operator()(const matrix& x, const matrix& y) const {
    matrix r{};
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) r.m[i][j] = x.m[i][0] * y.m[0][j] + x.m[i][1] * y.m[1][j];
    return r;
  }
};

/// Eight bytes: a partial sum that starts anew at a head flag (Merrill, segmented scan).
struct segment {
  std::uint32_t head;
  std::uint32_t sum;
  friend KOKKOS_FUNCTION bool operator==(const segment& x, const segment& y) {
    return x.head == y.head && x.sum == y.sum;
  }
  friend std::ostream& operator<<(std::ostream& out, const segment& x) {
    return out << "{" << x.head << ", " << x.sum << "}";
  }
};

struct segmented_plus {
  KOKKOS_FUNCTION segment operator()(const segment& x, const segment& y) const {
    return {x.head | y.head, y.head != 0 ? y.sum : x.sum + y.sum};
  }
};

/// 128 bytes: counters of 16 things, as a one-pass multisplit hands on.
struct counters {
  std::uint64_t of[16];
  friend KOKKOS_FUNCTION bool operator==(const counters& x, const counters& y) {
    for (int i = 0; i < 16; ++i) {
      if (x.of[i] != y.of[i]) return false;
    }
    return true;
  }
  friend std::ostream& operator<<(std::ostream& out, const counters& x) {
    for (int i = 0; i < 16; ++i) out << (i == 0 ? "{" : ", ") << x.of[i];
    return out << "}";
  }
};

struct counters_plus {
  KOKKOS_FUNCTION counters operator()(const counters& x, const counters& y) const {
    counters r{};
    for (int i = 0; i < 16; ++i) r.of[i] = x.of[i] + y.of[i];
    return r;
  }
};

/// The last operand that is not zero: associative, does not commute, fits every arithmetic type.
struct last_nonzero {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x, const T& y) const {
    return y != T(0) ? y : x;
  }
};

// Items are made from numbers, and tell theirs, so that one generator and one bucket function serve
// all types.

/// The largest number that an item of type T can tell.
template <class T>
constexpr std::uint64_t most_number() {
  if constexpr (std::is_same_v<T, float>) {
    return (1u << 24) - 1;
  } else if constexpr (std::is_same_v<T, double>) {
    return (std::uint64_t{1} << 53) - 1;
  } else if constexpr (std::is_integral_v<T>) {
    return std::numeric_limits<std::make_unsigned_t<T>>::max();
  } else {
    return std::numeric_limits<std::uint64_t>::max();
  }
}

/// The largest number whose sums over a few million items T holds exactly; unsigned and narrow
/// types wrap.
template <class T>
constexpr std::uint64_t most_summand() {
  if constexpr (std::is_same_v<T, float>) {
    return 3;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return 500;
  } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>) {
    return 1'000'000;
  } else {
    return most_number<T>();
  }
}

template <class T>
KOKKOS_FUNCTION constexpr T item_of(std::uint64_t number) {
  const auto low = static_cast<std::uint32_t>(number);
  const auto high = static_cast<std::uint32_t>(number >> 32);
  if constexpr (std::is_same_v<T, affine>) {
    return {low, high, low ^ 0x5555u};
  } else if constexpr (std::is_same_v<T, matrix>) {
    return {{{number, number >> 7}, {number << 3, 1}}};
  } else if constexpr (std::is_same_v<T, segment>) {
    return {high % 11 == 0, low};
  } else if constexpr (std::is_same_v<T, counters>) {
    counters r{};
    for (unsigned i = 0; i < 16; ++i) r.of[i] = number * (2 * i + 1);
    return r;
  } else {
    return static_cast<T>(number);
  }
}

template <class T>
KOKKOS_FUNCTION constexpr std::uint64_t number_of(const T& item) {
  if constexpr (std::is_same_v<T, affine>) {
    return std::uint64_t{item.b} << 32 | item.a;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(item);
  } else {
    return static_cast<std::uint64_t>(item);
  }
}

/// The bucket of an item: its number modulo m.
struct modulo {
  std::uint32_t m;
  template <class T>
  KOKKOS_FUNCTION std::uint32_t operator()(const T& item) const {
    return static_cast<std::uint32_t>(number_of(item) % m);
  }
};

struct square_plus_one {
  template <class T>
  KOKKOS_FUNCTION T operator()(const T& x) const {
    return static_cast<T>(x * x + 1);
  }
};

}  // namespace test
