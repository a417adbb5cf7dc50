// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// Keys as unsigned integers in the same order, whose digits are what radix sorts and selections
// look at (Merrill, 3.8; gpu-multisplit leaves keys to the caller). Everything here is constexpr,
// and serves kernels and the host.

#if defined(__SIZEOF_INT128__)
#define LANEWISE_HAS_INT128 1
__extension__ using int128 = __int128;
__extension__ using uint128 = unsigned __int128;
#endif

namespace detail {

template <int bytes>
struct unsigned_of_size {};
template <>
struct unsigned_of_size<1> {
  using type = std::uint8_t;
};
template <>
struct unsigned_of_size<2> {
  using type = std::uint16_t;
};
template <>
struct unsigned_of_size<4> {
  using type = std::uint32_t;
};
template <>
struct unsigned_of_size<8> {
  using type = std::uint64_t;
};
#if defined(LANEWISE_HAS_INT128)
template <>
struct unsigned_of_size<16> {
  using type = uint128;
};
#endif

// The standard library says neither that 128-bit integers are integers nor what their signs are,
// unless it is told to allow extensions.

template <class T>
inline constexpr bool is_integer_key = std::is_integral_v<T>;
template <class T>
inline constexpr bool is_signed_key = std::is_signed_v<T>;
#if defined(LANEWISE_HAS_INT128)
template <>
inline constexpr bool is_integer_key<int128> = true;
template <>
inline constexpr bool is_integer_key<uint128> = true;
template <>
inline constexpr bool is_signed_key<int128> = true;
template <>
inline constexpr bool is_signed_key<uint128> = false;
#endif

}  // namespace detail

/// Whether a type is a floating-point number as IEEE 754 lays it out, of up to 8 bytes: its sign is
/// the highest bit, then come exponent and fraction, and T{} is +0. Kokkos' half_t and bhalf_t are,
/// float or not. Specialise it for a trivially copyable type of your own, as a compiler's half.
template <class T>
struct is_ieee_float : std::bool_constant<std::is_floating_point_v<T> &&
                                          std::numeric_limits<T>::is_iec559 && sizeof(T) <= 8> {};
#if defined(KOKKOS_HALF_T_IS_FLOAT) && !KOKKOS_HALF_T_IS_FLOAT
template <>
struct is_ieee_float<Kokkos::Experimental::half_t> : std::true_type {};
#endif
#if defined(KOKKOS_BHALF_T_IS_FLOAT) && !KOKKOS_BHALF_T_IS_FLOAT
template <>
struct is_ieee_float<Kokkos::Experimental::bhalf_t> : std::true_type {};
#endif

namespace detail {

template <class T>
inline constexpr bool is_float_key = is_ieee_float<T>::value;

}  // namespace detail

/// What radix sorts and selections take as keys: integers, bool, characters, enumerations, float,
/// double, and other types that is_ieee_float knows, as Kokkos' half_t and bhalf_t.
template <class T>
concept radix_sortable = detail::is_integer_key<T> || detail::is_float_key<T> || std::is_enum_v<T>;

/// The order-preserving mapping of keys to unsigned integers of the same size:
/// to_bits(a) < to_bits(b) where a comes before b, and from_bits(to_bits(a)) has the bits of a.
///
/// - Unsigned integers, characters without sign: themselves. bool: 0 and 1, in one bit.
/// - Signed integers: the sign bit is turned around.
/// - Enumerations: as their underlying type.
/// - float, double and the like: IEEE 754's total order. All bits of negative numbers are turned
///   around, and the sign bit of the others. So -0.0 comes before +0.0, NaN with the sign bit set
///   before -infinity and other NaN after +infinity, among themselves by their payload.
///
/// `width` is the number of low bits in which keys can differ.
template <radix_sortable T>
struct radix_key {
  using key_type = T;
  using bits = typename detail::unsigned_of_size<sizeof(T)>::type;
  static constexpr int width = std::is_same_v<T, bool> ? 1 : static_cast<int>(8 * sizeof(T));

  static LANEWISE_FUNCTION constexpr bits to_bits(T key) {
    if constexpr (std::is_enum_v<T>) {
      return radix_key<std::underlying_type_t<T>>::to_bits(
          static_cast<std::underlying_type_t<T>>(key));
    } else if constexpr (detail::is_float_key<T>) {
      const auto x = __builtin_bit_cast(bits, key);
      return static_cast<bits>(x ^ flipped_in_floats(x));
    } else if constexpr (detail::is_signed_key<T>) {
      return static_cast<bits>(static_cast<bits>(key) ^ sign);
    } else {
      return static_cast<bits>(key);
    }
  }
  static LANEWISE_FUNCTION constexpr T from_bits(bits x) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(radix_key<std::underlying_type_t<T>>::from_bits(x));
    } else if constexpr (detail::is_float_key<T>) {
      return __builtin_bit_cast(T, static_cast<bits>(x ^ flipped_in_floats(~x)));
    } else if constexpr (detail::is_signed_key<T>) {
      return static_cast<T>(static_cast<bits>(x ^ sign));
    } else {
      return static_cast<T>(x);
    }
  }

 private:
  static constexpr bits sign = static_cast<bits>(bits{1} << (8 * sizeof(T) - 1));

  /// All bits where the sign bit of x is set, else the sign bit.
  static LANEWISE_FUNCTION constexpr bits flipped_in_floats(bits x) {
    return static_cast<bits>((bits{0} - (x >> (8 * sizeof(T) - 1))) | sign);
  }
};

/// A function of keys for which -0.0 and +0.0 are one key, and others are what they are: as key_of
/// of radix_sort_by and top_k, where zeros of either sign then keep their places and their bits.
struct equal_zeros {
  template <class T>
  requires(is_ieee_float<T>::value) LANEWISE_FUNCTION constexpr T operator()(const T& key) const {
    using bits = typename detail::unsigned_of_size<sizeof(T)>::type;
    const auto x = __builtin_bit_cast(bits, key);
    return __builtin_bit_cast(T, static_cast<bits>(static_cast<bits>(x << 1) == 0 ? bits{0} : x));
  }
};

/// The unsigned integers of keys of type T.
template <radix_sortable T>
using radix_bits_t = typename radix_key<T>::bits;

/// What a key looks like to a radix sort; complemented where the order is descending.
template <bool descending = false, radix_sortable T>
LANEWISE_FUNCTION constexpr radix_bits_t<T> to_bits(T key) {
  const radix_bits_t<T> x = radix_key<T>::to_bits(key);
  return descending ? static_cast<radix_bits_t<T>>(~x) : x;
}
/// The key of that.
template <radix_sortable T, bool descending = false>
LANEWISE_FUNCTION constexpr T from_bits(radix_bits_t<T> x) {
  return radix_key<T>::from_bits(descending ? static_cast<radix_bits_t<T>>(~x) : x);
}

/// Digit `bits` of x: `count` of them from bit `first` on, 1 <= count <= 32.
template <class Bits>
LANEWISE_FUNCTION constexpr std::uint32_t radix_digit(Bits x, int first, int count) {
  return static_cast<std::uint32_t>(x >> first) & (~std::uint32_t{0} >> (32 - count));
}

/// The bits of items, by which they are ordered: those of key_of(item), which is a radix_sortable.
/// Items with equal bits are equivalent.
template <class KeyOf, bool descending = false>
struct radix_bits_of {
  KeyOf key_of;

  template <class T>
  LANEWISE_FUNCTION constexpr auto operator()(const T& item) const {
    return lanewise::to_bits<descending>(key_of(item));
  }
};

LANEWISE_END_NAMESPACE
