// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the leaf tests share: value types, random data, comparison and failure reports. No Kokkos,
// no Catch2.

#include <lanewise/data/operators.hpp>
#include <lanewise/data/pack.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace leaf {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// Data, oracle and comparison run once: they are compiled for size, which keeps these programs
// quick to build.
#define LANEWISE_LEAF_COLD __attribute__((noinline, cold))

/// 12 bytes, two of them padding.
struct record {
  u32 a;
  float b;
  u16 c;
};
/// A size that is no power of two and no multiple of a word.
struct triple {
  u8 x[3];
};
/// A pair that is one 64-bit word for an atomic.
struct alignas(8) entry {
  u32 key;
  u32 value;
};
/// x -> scale * x + shift. Composition is associative but not commutative, so it shows a wrong
/// order of lanes.
template <class U>
struct affine {
  U scale;
  U shift;
};
using bytes4 = pack<u8, 4>;
using halves2 = pack<u16, 2>;
using quad = pack<u32, 4>;
using wide = pack<u64, 4>;

static_assert(sizeof(record) == 12 && sizeof(triple) == 3 && sizeof(entry) == 8);

struct compose {
  template <class U>
  LANEWISE_FUNCTION affine<U> operator()(const affine<U>& f, const affine<U>& g) const {
    return {static_cast<U>(1u * f.scale * g.scale),
            static_cast<U>(1u * f.shift * g.scale + g.shift)};
  }
};
// These two are associative and not commutative for every type, and invent no values.
struct leftmost {
  template <class T>
  LANEWISE_FUNCTION T operator()(const T& a, const T&) const {
    return a;
  }
};
struct rightmost {
  template <class T>
  LANEWISE_FUNCTION T operator()(const T&, const T& b) const {
    return b;
  }
};

// Equality for the tests: floating-point values by their bits (all NaNs are one), structs member by
// member.
template <class T>
requires std::is_integral_v<T> LANEWISE_FUNCTION bool same(T a, T b) {
  return a == b;
}
LANEWISE_FUNCTION bool same(float a, float b) {
  u32 x, y;
  memcpy(&x, &a, sizeof(x));
  memcpy(&y, &b, sizeof(y));
  return x == y || (a != a && b != b);
}
LANEWISE_FUNCTION bool same(double a, double b) {
  u64 x, y;
  memcpy(&x, &a, sizeof(x));
  memcpy(&y, &b, sizeof(y));
  return x == y || (a != a && b != b);
}
LANEWISE_FUNCTION bool same(const record& a, const record& b) {
  return a.a == b.a && same(a.b, b.b) && a.c == b.c;
}
LANEWISE_FUNCTION bool same(const triple& a, const triple& b) {
  return a.x[0] == b.x[0] && a.x[1] == b.x[1] && a.x[2] == b.x[2];
}
LANEWISE_FUNCTION bool same(const entry& a, const entry& b) {
  return a.key == b.key && a.value == b.value;
}
template <class U>
LANEWISE_FUNCTION bool same(const affine<U>& a, const affine<U>& b) {
  return a.scale == b.scale && a.shift == b.shift;
}
template <class U, int k>
LANEWISE_FUNCTION bool same(const pack<U, k>& a, const pack<U, k>& b) {
  return a == b;
}

template <class T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, u8>) return "u8";
  if constexpr (std::is_same_v<T, u16>) return "u16";
  if constexpr (std::is_same_v<T, u32>) return "u32";
  if constexpr (std::is_same_v<T, u64>) return "u64";
  if constexpr (std::is_same_v<T, i8>) return "i8";
  if constexpr (std::is_same_v<T, i16>) return "i16";
  if constexpr (std::is_same_v<T, i32>) return "i32";
  if constexpr (std::is_same_v<T, i64>) return "i64";
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
  if constexpr (std::is_same_v<T, record>) return "record";
  if constexpr (std::is_same_v<T, triple>) return "triple";
  if constexpr (std::is_same_v<T, entry>) return "entry";
  if constexpr (std::is_same_v<T, affine<u8>>) return "affine<u8>";
  if constexpr (std::is_same_v<T, affine<u32>>) return "affine<u32>";
  if constexpr (std::is_same_v<T, affine<u64>>) return "affine<u64>";
  if constexpr (std::is_same_v<T, bytes4>) return "pack<u8,4>";
  if constexpr (std::is_same_v<T, halves2>) return "pack<u16,2>";
  if constexpr (std::is_same_v<T, quad>) return "pack<u32,4>";
  if constexpr (std::is_same_v<T, wide>) return "pack<u64,4>";
  return "struct";
}

/// splitmix64.
struct random_source {
  u64 state;

  u64 next() {
    u64 z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  u64 below(u64 n) { return next() % n; }
  bool coin() { return next() >> 63; }
};

LANEWISE_LEAF_COLD inline u64 all_bits(int width) {
  return width == 64 ? ~u64{0} : (u64{1} << width) - 1;
}

/// None, all, one lane, a prefix, a suffix, then random ones of different densities.
LANEWISE_LEAF_COLD inline u64 random_mask(random_source& rng, int instance, int width) {
  const u64 all = all_bits(width);
  switch (instance % 8) {
    case 0:
      return 0;
    case 1:
      return all;
    case 2:
      return u64{1} << rng.below(width);
    case 3:
      return all_bits(1 + static_cast<int>(rng.below(width)));
    case 4:
      return all & ~(all_bits(1 + static_cast<int>(rng.below(width))) >> 1);
    case 5:
      return all & rng.next() & rng.next() & rng.next();
    case 6:
      return all & (rng.next() | rng.next());
    default:
      return all & rng.next();
  }
}

/// Any value: edges of the type and random bits; NaN, infinities and denormals too.
template <class T>
LANEWISE_LEAF_COLD T any_value(random_source& rng) {
  if constexpr (std::is_integral_v<T>) {
    switch (rng.below(8)) {
      case 0:
        return std::numeric_limits<T>::max();
      case 1:
        return std::numeric_limits<T>::min();
      case 2:
        return static_cast<T>(rng.below(4));
      case 3:
        return static_cast<T>(-1 - static_cast<i64>(rng.below(4)));
      default:
        return static_cast<T>(rng.next());
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    using limits = std::numeric_limits<T>;
    const T edges[] = {T(0),
                       -T(0),
                       T(1),
                       limits::infinity(),
                       -limits::infinity(),
                       limits::quiet_NaN(),
                       limits::denorm_min(),
                       limits::max(),
                       limits::lowest(),
                       limits::min()};
    switch (rng.below(4)) {
      case 0:
        return edges[rng.below(10)];
      case 1:
        return static_cast<T>(static_cast<i64>(rng.below(9)) - 4);
      default:
        return static_cast<T>(static_cast<i64>(rng.next())) * T(1.0 / 1024);
    }
  } else if constexpr (std::is_same_v<T, record>) {
    return {any_value<u32>(rng), any_value<float>(rng), any_value<u16>(rng)};
  } else if constexpr (std::is_same_v<T, entry>) {
    return {any_value<u32>(rng), any_value<u32>(rng)};
  } else {
    T x;
    for (u32 i = 0; i < sizeof(T); ++i) {
      const u8 byte = static_cast<u8>(rng.next());
      std::memcpy(reinterpret_cast<char*>(&x) + i, &byte, 1);
    }
    // Odd, so that compositions stay invertible and never become the poison, whose scale is even.
    if constexpr (requires { x.scale; }) x.scale |= 1;
    return x;
  }
}

/// Stands in the lanes that an operation must leave alone: a functor that meets it was called
/// there.
template <class T>
LANEWISE_FUNCTION T poison() {
  T x;
  if constexpr (std::is_integral_v<T>) {
    x = static_cast<T>(0x6e6e6e6e6e6e6e6e);
  } else if constexpr (std::is_floating_point_v<T>) {
    x = T(-12345.5);
  } else if constexpr (std::is_same_v<T, record>) {
    x = record{0x6e6e6e6e, -12345.5f, 0x6e6e};
  } else {
    memset(static_cast<void*>(&x), 0x6e, sizeof(T));
  }
  return x;
}

/// Any value but the poison.
template <class T>
LANEWISE_LEAF_COLD T clean_value(random_source& rng) {
  for (;;) {
    const T x = any_value<T>(rng);
    if (!same(x, poison<T>())) return x;
  }
}

/// Calls op, and raises an alarm when an operand is poison.
template <class Op>
struct watched {
  Op op;
  u32* alarm;

  template <class T>
  LANEWISE_FUNCTION T operator()(const T& a, const T& b) const {
    if (same(a, poison<T>()) || same(b, poison<T>())) *alarm = 1;
    return op(a, b);
  }
};

/// A counter that every lane may step, also when they should not.
LANEWISE_FUNCTION void count_up(u32* p) {
#if defined(__CUDA_ARCH__)
  atomicAdd(p, 1u);
#else
  ++*p;
#endif
}

LANEWISE_LEAF_COLD inline void print(i64 x) {
  std::printf("%lld", static_cast<long long>(x));
}
LANEWISE_LEAF_COLD inline void print(u64 x) {
  std::printf("%llu (0x%llx)", static_cast<unsigned long long>(x),
              static_cast<unsigned long long>(x));
}
LANEWISE_LEAF_COLD inline void print_bytes(const void* p, int n) {
  for (int i = 0; i < n; ++i)
    std::printf("%s%02x", i ? " " : "", static_cast<const unsigned char*>(p)[i]);
}
template <class T>
LANEWISE_LEAF_COLD void print_value(const T& x) {
  if constexpr (std::is_floating_point_v<T>) {
    std::printf("%.9g", static_cast<double>(x));
  } else if constexpr (std::is_integral_v<T>) {
    print(static_cast<std::conditional_t<std::is_signed_v<T>, i64, u64>>(x));
  } else {
    print_bytes(&x, sizeof(T));
  }
}

/// What a backend's run adds up to.
struct report {
  const char* backend;
  u64 seed;
  u64 passed = 0;
  u64 failed = 0;
  const char* printed_case = nullptr;  // where the printed lines come from, and how many there are
  int printed = 0, printed_in_all = 0;
};

/// Compares the fields of one instance of a case.
struct checker {
  report& to;
  const char* case_name;
  const char* type;
  int width;
  int instance;
  bool good = true;

  template <class V, std::size_t N>
  void operator()(const char* field, const V (&expected)[N], const V (&got)[N]) {
    check(field, expected, got, N);
  }

  template <class V>
  LANEWISE_LEAF_COLD void check(const char* field, const V* expected, const V* got, std::size_t n) {
    if (to.printed_case != case_name) to.printed = 0;
    to.printed_case = case_name;
    int differences = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (same(expected[i], got[i])) continue;
      good = false;
      if (++differences > 2 || ++to.printed > 8 || ++to.printed_in_all > 200) return;
      std::printf("FAILED warp_leaf.%s: %s<%s, %d>: %s: seed %llu, instance %d, lane %d: expected ",
                  to.backend, case_name, type, width, field,
                  static_cast<unsigned long long>(to.seed), instance, static_cast<int>(i));
      print_value(expected[i]);
      std::printf(", got ");
      print_value(got[i]);
      std::printf("\n");
    }
  }
};

}  // namespace leaf
LANEWISE_END_NAMESPACE
