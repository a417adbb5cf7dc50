// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/simd/highway.hpp>
#include <lanewise/simd/target.hpp>
#include <lanewise/warp/warp.hpp>

#include <hwy/cache_control.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

LANEWISE_BEGIN_NAMESPACE
namespace backends::simd {

#define LANEWISE_SIMD_NAME(name) HWY_STR(name)
static_assert(std::string_view(LANEWISE_SIMD_NAME(LANEWISE_TARGET)) ==
                  std::string_view(LANEWISE_SIMD_NAME(HWY_NAMESPACE)),
              "Lanewise: Highway has another SIMD target than the flags of this unit say "
              "(simd/target.hpp); macros that choose it are defined before all headers");
#undef LANEWISE_SIMD_NAME

#if LANEWISE_FORCE_INLINE
#define LANEWISE_SIMD_FUNCTION inline __attribute__((always_inline))
#else
#define LANEWISE_SIMD_FUNCTION inline
#endif

// Everything below depends on the instruction set of the unit that includes it.
inline namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace detail {

inline constexpr bool predicate_registers = HWY_TARGET <= HWY_AVX3;

template <std::size_t bytes, bool is_signed = false>
using word = hwy::If<is_signed, hwy::SignedFromSize<bytes>, hwy::UnsignedFromSize<bytes>>;

/// Not bool: its sums are no sums of bytes. It travels in vectors and is computed lane by lane.
template <class T>
concept arithmetic = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;

template <class T>
concept integer = arithmetic<T> && std::is_integral_v<T>;

/// Values that a vector element can hold. Structs of such a size travel as unsigned words.
template <class T>
concept vectorizable = sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8;

template <class T>
struct element {
  using type = word<sizeof(T)>;
};
template <std::integral T>
struct element<T> {
  using type = word<sizeof(T), std::is_signed_v<T>>;
};
template <std::floating_point T>
struct element<T> {
  using type = T;
};
template <vectorizable T>
using element_t = typename element<T>::type;

/// Highway's tag of the vectors that W lanes of T are cut into.
template <class T, int W>
using tag = hn::CappedTag<element_t<T>, W>;
template <class T, int W>
using words_tag = tag<word<sizeof(T)>, W>;
template <class T, int W>
inline constexpr int per_vector = hn::MaxLanes(tag<T, W>{});
template <class T, int W>
inline constexpr int vectors = W / per_vector<T, W>;

template <class T>
inline constexpr int mask_bytes = 4;
template <vectorizable T>
inline constexpr int mask_bytes<T> = sizeof(T);

template <class T, int W>
inline constexpr std::size_t alignment = alignof(T);
template <vectorizable T, int W>
inline constexpr std::size_t alignment<T, W> = W * sizeof(T) < 64 ? W * sizeof(T) : 64;

/// What fills vectors by itself: a line of 128 bytes.
template <class T>
inline constexpr bool in_whole_vectors = sizeof(T) == 128;

/// f(0), f(1), ..., f(n-1) with constant arguments: arrays that are only indexed this way live in
/// registers, at any level of optimisation and from nvcc too, which ignores GCC's unroll pragma.
template <int n, class F>
LANEWISE_SIMD_FUNCTION void unrolled(F f) {
  [&]<int... i>(std::integer_sequence<int, i...>) LANEWISE_INLINE_LAMBDA {
    (f(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, n>{});
}

/// Vectors are read and written as bytes, so that one type of access serves every T and aliasing is
/// no concern.
template <class D, class T>
LANEWISE_SIMD_FUNCTION hn::Vec<D> load_vector(D d, const T* p) {
  return hn::BitCast(
      d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), reinterpret_cast<const std::uint8_t*>(p)));
}
template <class D, class T>
LANEWISE_SIMD_FUNCTION void store_vector(D, hn::Vec<D> v, T* p) {
  const hn::Repartition<std::uint8_t, D> bytes;
  hn::StoreU(hn::BitCast(bytes, v), bytes, reinterpret_cast<std::uint8_t*>(p));
}

#if HWY_TARGET <= HWY_AVX3
// Masks of AVX-512 are joined and made numbers by instructions that the compiler does not look
// into. A conversion of a mask to a wider integer is not safe. If the mask comes from a comparison
// and serves as a mask too, g++ 12 makes one instruction of both. It then forgets that the upper
// bits are 0. When it is out of registers, it stores 16 bits and reads 32
// (tests/codegen/find_widened_masks finds that). With -O3 the operations of slab_concurrent's lanes
// 16 to 31 took part when they should not.
#define LANEWISE_SIMD_MASKS(bits, half, join)                                          \
  LANEWISE_SIMD_FUNCTION __mmask##bits joined(__mmask##half high, __mmask##half low) { \
    if (__builtin_constant_p(high) && __builtin_constant_p(low))                       \
      return static_cast<__mmask##bits>(__mmask##bits{high} << half | low);            \
    __mmask##bits both;                                                                \
    asm(join " {%2, %1, %0|%0, %1, %2}" : "=k"(both) : "k"(high), "k"(low));           \
    return both;                                                                       \
  }
LANEWISE_SIMD_MASKS(16, 8, "kunpckbw")
LANEWISE_SIMD_MASKS(32, 16, "kunpckwd")
LANEWISE_SIMD_MASKS(64, 32, "kunpckdq")
#undef LANEWISE_SIMD_MASKS

#define LANEWISE_SIMD_NUMBER(bits, move)                                            \
  LANEWISE_SIMD_FUNCTION std::uint32_t number(__mmask##bits m) {                    \
    if (__builtin_constant_p(m)) return m;                                          \
    std::uint32_t r;                                                                \
    asm(move " {%1, %0|%0, %1}" : "=r"(r) : "k"(m));                                \
    if (r > std::uint32_t{static_cast<__mmask##bits>(-1)}) __builtin_unreachable(); \
    return r;                                                                       \
  }
LANEWISE_SIMD_NUMBER(8, "kmovb")
LANEWISE_SIMD_NUMBER(16, "kmovw")
LANEWISE_SIMD_NUMBER(32, "kmovd")
#undef LANEWISE_SIMD_NUMBER
LANEWISE_SIMD_FUNCTION std::uint64_t number(__mmask64 m) {
  return m;
}

/// The masks of count vectors from the first on.
template <int first, int count, class M>
LANEWISE_SIMD_FUNCTION auto joined(const M* part) {
  if constexpr (count == 1) {
    return part[first].raw;
  } else {
    return detail::joined(detail::joined<first + count / 2, count / 2>(part),
                          detail::joined<first, count / 2>(part));
  }
}
#endif

template <order o>
inline constexpr std::memory_order std_order = o == order::relaxed   ? std::memory_order_relaxed
                                               : o == order::acquire ? std::memory_order_acquire
                                               : o == order::release ? std::memory_order_release
                                                                     : std::memory_order_acq_rel;

}  // namespace detail

template <int bytes, int W>
struct mask;

/// W values in memory as far as the language is concerned, in vector registers once all this is
/// inlined.
template <class T, int W>
struct lanes {
  static_assert(std::is_trivially_copyable_v<T>);
  using value_type = T;

  alignas(detail::alignment<T, W>) T lane[W];

  lanes() = default;
  // For both sides because nvcc reports a constructor of one side without saying where: no pragma
  // silences that.
  LANEWISE_FUNCTION lanes(T x) { fill(x); }
  // Copied in whole vectors: GCC's own copies use narrower pieces, from which no later vector load
  // is forwarded.
  LANEWISE_FUNCTION lanes(const lanes& other) { assign(other.lane); }
  LANEWISE_FUNCTION lanes& operator=(const lanes& other) {
    assign(other.lane);
    return *this;
  }

  template <int bytes>
  static LANEWISE_SIMD_FUNCTION lanes select(const mask<bytes, W>& m, const lanes& a,
                                             const lanes& b);

  LANEWISE_SIMD_FUNCTION auto get(int vector) const requires detail::vectorizable<T> {
    return detail::load_vector(detail::tag<T, W>(), lane + vector * detail::per_vector<T, W>);
  }
  template <class V>
  LANEWISE_SIMD_FUNCTION void set(int vector, V v) {
    detail::store_vector(detail::tag<T, W>(), v, lane + vector * detail::per_vector<T, W>);
  }
  LANEWISE_SIMD_FUNCTION void fill(T x) {
    if constexpr (detail::vectorizable<T>) {
      const detail::tag<T, W> d;
      const auto v = hn::Set(d, std::bit_cast<detail::element_t<T>>(x));
      detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA { set(c, v); });
    } else {
      for (T& l : lane) l = x;
    }
  }
  LANEWISE_SIMD_FUNCTION void assign(const T* p) {
    if constexpr (detail::vectorizable<T>) {
      constexpr int n = detail::per_vector<T, W>;
      detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
        set(c, detail::load_vector(detail::tag<T, W>(), p + c * n));
      });
    } else if constexpr (detail::in_whole_vectors<T>) {
      const hn::ScalableTag<std::uint8_t> d;
      constexpr int n = hn::MaxLanes(hn::ScalableTag<std::uint8_t>());
      auto* to = reinterpret_cast<std::uint8_t*>(lane);
      const auto* from = reinterpret_cast<const std::uint8_t*>(p);
      detail::unrolled<W* static_cast<int>(sizeof(T)) / n>([&](auto c) LANEWISE_INLINE_LAMBDA {
        detail::store_vector(d, detail::load_vector(d, from + c * n), to + c * n);
      });
    } else {
      for (int i = 0; i < W; ++i) lane[i] = p[i];
    }
  }
};

namespace detail {

/// f applied to the vectors of a...
template <class R, int W, class F, class... T>
LANEWISE_SIMD_FUNCTION lanes<R, W> by_vectors(F f, const lanes<T, W>&... a) {
  lanes<R, W> r;
  detail::unrolled<vectors<R, W>>([&](auto c) LANEWISE_INLINE_LAMBDA { r.set(c, f(a.get(c)...)); });
  return r;
}

/// Integers of another size: truncated or extended like static_cast, in steps of two.
template <integer U, integer T, int W>
LANEWISE_SIMD_FUNCTION lanes<U, W> resize(const lanes<T, W>& a) {
  constexpr bool grow = sizeof(U) > sizeof(T);
  if constexpr (sizeof(U) == sizeof(T)) {
    return detail::by_vectors<U>(
        [](auto v) LANEWISE_INLINE_LAMBDA { return hn::BitCast(tag<U, W>(), v); }, a);
  } else {
    using step = word<grow ? sizeof(T) * 2 : sizeof(T) / 2, grow && std::is_signed_v<T>>;
    const tag<step, W> d;
    lanes<step, W> r;
    detail::unrolled<std::min(vectors<step, W>, vectors<T, W>)>([&](auto c) LANEWISE_INLINE_LAMBDA {
      if constexpr (grow && vectors < step, W >> vectors<T, W>) {
        r.set(2 * c, hn::PromoteLowerTo(d, a.get(c)));
        r.set(2 * c + 1, hn::PromoteUpperTo(d, a.get(c)));
      } else if constexpr (grow) {
        r.set(c, hn::PromoteTo(d, a.get(c)));
      } else {
        const words_tag<T, W> u;
        if constexpr (vectors<step, W> < vectors<T, W>) {
          r.set(c, hn::OrderedTruncate2To(d, hn::BitCast(u, a.get(2 * c)),
                                          hn::BitCast(u, a.get(2 * c + 1))));
        } else {
          r.set(c, hn::TruncateTo(d, hn::BitCast(u, a.get(c))));
        }
      }
    });
    return detail::resize<U>(r);
  }
}

/// After a scalar loop has written a: GCC vectorises those with 32 bytes by default, and a 64-byte
/// load is not forwarded from two stores. Reading the halves back keeps all of it in registers.
template <class T, int W>
LANEWISE_SIMD_FUNCTION void settle(lanes<T, W>& a) {
  if constexpr (vectorizable<T>) {
    const tag<T, W> d;
    if constexpr (d.MaxBytes() == 64) {
      const hn::Half<tag<T, W>> h;
      constexpr int n = per_vector<T, W>;
      detail::unrolled<vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
        a.set(c, hn::Combine(d, detail::load_vector(h, a.lane + c * n + n / 2),
                             detail::load_vector(h, a.lane + c * n)));
      });
    }
  }
}

template <class T, int W>
LANEWISE_SIMD_FUNCTION void settle(const lanes<T, W>&) {}

template <class T, int W>
LANEWISE_SIMD_FUNCTION void set_lanes(lanes<T, W>& r, auto f) {
  for (int i = 0; i < W; ++i) r.lane[i] = f(i);
  detail::settle(r);
}

}  // namespace detail

/// W truth values in the target's own form for elements of that many bytes: predicate registers, or
/// 0 and ~0.
template <int bytes, int W>
struct mask {
  using element = detail::word<bytes, true>;
  using tag = detail::tag<element, W>;
  using bits = std::conditional_t<(W > 32), std::uint64_t, std::uint32_t>;
  static constexpr int n = detail::per_vector<element, W>;
  static constexpr int vectors = W / n;
  static constexpr bits all_lanes = ~bits{0} >> (sizeof(bits) * 8 - W);
  /// Highway looks at so few bits as numbers (see `joined`), and not as predicates.
  static constexpr bool as_number =
      detail::predicate_registers && (tag().MaxBytes() <= 16 || n < 8);

#if HWY_TARGET <= HWY_AVX3
  hn::Mask<tag> part[vectors];

  LANEWISE_SIMD_FUNCTION hn::Mask<tag> get(int vector) const {
    return part[vector];
  }
  LANEWISE_SIMD_FUNCTION void set(int vector, hn::Mask<tag> m) {
    part[vector] = m;
  }
#else
  lanes<element, W> full;

  LANEWISE_SIMD_FUNCTION hn::Mask<tag> get(int vector) const {
    return hn::MaskFromVec(full.get(vector));
  }
  LANEWISE_SIMD_FUNCTION void set(int vector, hn::Mask<tag> m) {
    full.set(vector, hn::VecFromMask(tag(), m));
  }
#endif

  mask() = default;
  LANEWISE_SIMD_FUNCTION explicit mask(bits b) {
    detail::unrolled<vectors>([&](auto c) LANEWISE_INLINE_LAMBDA {
      const std::uint64_t mine = std::uint64_t{b} >> (c * n);
      set(c, hn::LoadMaskBits(tag(), reinterpret_cast<const std::uint8_t*>(&mine)));
    });
  }
  template <int other>
  requires(other != bytes) LANEWISE_FUNCTION mask(const mask<other, W>& m) {
    convert(m);
  }

  template <class M>
  LANEWISE_SIMD_FUNCTION void convert(const M& m) {
#if HWY_TARGET <= HWY_AVX3
    *this = mask(m.ballot());
#else
    full = detail::resize<element>(m.full);
#endif
  }
  /// The mask of one vector for elements of another type of this size.
  template <class D>
  LANEWISE_SIMD_FUNCTION hn::Mask<D> get_for(D d, int vector) const {
    return hn::RebindMask(d, get(vector));
  }
  /// As `get_for`, without the lanes that a vector smaller than a register has above its own.
  template <class D>
  LANEWISE_SIMD_FUNCTION hn::Mask<D> get_valid(D d, int vector) const {
    if constexpr (tag().MaxBytes() < 16) {
      return hn::And(get_for(d, vector), hn::FirstN(d, n));
    } else {
      return get_for(d, vector);
    }
  }
  LANEWISE_SIMD_FUNCTION bits ballot() const {
#if HWY_TARGET <= HWY_AVX3
    return valid(detail::number(detail::joined<0, vectors>(part)));
#else
    bits b = 0;
    detail::unrolled<vectors>([&](auto c) LANEWISE_INLINE_LAMBDA {
      b |= static_cast<bits>(hn::BitsFromMask(tag(), get(c))) << (c * n);
    });
    return b;
#endif
  }
#if HWY_TARGET <= HWY_AVX3
  LANEWISE_SIMD_FUNCTION bits ballot_of(int vector) const {
    return valid(detail::number(part[vector].raw));
  }
#endif
  template <class F>
  LANEWISE_SIMD_FUNCTION auto fold(F f) const {
    auto m = get(0);
    detail::unrolled<vectors - 1>([&](auto c) LANEWISE_INLINE_LAMBDA { m = f(m, get(c + 1)); });
    return m;
  }

 private:
  /// Bits without those of the lanes that a vector smaller than a register has above its own.
  static LANEWISE_SIMD_FUNCTION bits valid(bits b) {
    return tag().MaxBytes() < 16 ? b & ((bits{2} << (n - 1)) - 1) : b;
  }
};

namespace detail {

template <int bytes, int W, class F, class... M>
LANEWISE_SIMD_FUNCTION mask<bytes, W> mask_by_vectors(F f, const M&... a) {
  mask<bytes, W> r;
  detail::unrolled<mask<bytes, W>::vectors>(
      [&](auto c) LANEWISE_INLINE_LAMBDA { r.set(c, f(a.get(c)...)); });
  return r;
}

}  // namespace detail

#define LANEWISE_SIMD_LOGICAL(op, function)                                                  \
  template <int bytes, int other, int W>                                                     \
  LANEWISE_SIMD_FUNCTION mask<bytes, W> operator op(const mask<bytes, W>& a,                 \
                                                    const mask<other, W>& b) {               \
    const auto f = [](auto x, auto y) LANEWISE_INLINE_LAMBDA { return hn::function(x, y); }; \
    return detail::mask_by_vectors<bytes, W>(f, a, mask<bytes, W>(b));                       \
  }
LANEWISE_SIMD_LOGICAL(&, And)
LANEWISE_SIMD_LOGICAL(|, Or)
#undef LANEWISE_SIMD_LOGICAL

template <int bytes, int W>
LANEWISE_SIMD_FUNCTION mask<bytes, W> operator!(const mask<bytes, W>& a) {
  return detail::mask_by_vectors<bytes, W>([](auto x) LANEWISE_INLINE_LAMBDA { return hn::Not(x); },
                                           a);
}

#define LANEWISE_SIMD_BINARY(op, function)                                                     \
  template <detail::arithmetic T, int W>                                                       \
  LANEWISE_SIMD_FUNCTION lanes<T, W> operator op(const lanes<T, W>& a, const lanes<T, W>& b) { \
    return detail::by_vectors<T>(                                                              \
        [](auto x, auto y) LANEWISE_INLINE_LAMBDA { return hn::function(x, y); }, a, b);       \
  }                                                                                            \
  template <detail::arithmetic T, int W>                                                       \
  LANEWISE_SIMD_FUNCTION lanes<T, W> operator op(const lanes<T, W>& a,                         \
                                                 std::type_identity_t<T> b) {                  \
    return a op lanes<T, W>(b);                                                                \
  }                                                                                            \
  template <detail::arithmetic T, int W>                                                       \
  LANEWISE_SIMD_FUNCTION lanes<T, W> operator op(std::type_identity_t<T> a,                    \
                                                 const lanes<T, W>& b) {                       \
    return lanes<T, W>(a) op b;                                                                \
  }
LANEWISE_SIMD_BINARY(+, Add)
LANEWISE_SIMD_BINARY(-, Sub)
LANEWISE_SIMD_BINARY(*, Mul)
LANEWISE_SIMD_BINARY(&, And)
LANEWISE_SIMD_BINARY(|, Or)
LANEWISE_SIMD_BINARY(^, Xor)
#undef LANEWISE_SIMD_BINARY

#define LANEWISE_SIMD_SHIFT(op, function, uniform)                                             \
  template <detail::integer T, int W>                                                          \
  LANEWISE_SIMD_FUNCTION lanes<T, W> operator op(const lanes<T, W>& a, const lanes<T, W>& b) { \
    return detail::by_vectors<T>(                                                              \
        [](auto x, auto y) LANEWISE_INLINE_LAMBDA { return hn::function(x, y); }, a, b);       \
  }                                                                                            \
  template <detail::integer T, int W>                                                          \
  LANEWISE_SIMD_FUNCTION lanes<T, W> operator op(const lanes<T, W>& a, int count) {            \
    return detail::by_vectors<T>(                                                              \
        [=](auto x) LANEWISE_INLINE_LAMBDA { return hn::uniform(x, count); }, a);              \
  }
LANEWISE_SIMD_SHIFT(<<, Shl, ShiftLeftSame)
LANEWISE_SIMD_SHIFT(>>, Shr, ShiftRightSame)
#undef LANEWISE_SIMD_SHIFT

template <detail::integer T, int W>
LANEWISE_SIMD_FUNCTION lanes<T, W> operator~(const lanes<T, W>& a) {
  return detail::by_vectors<T>([](auto x) LANEWISE_INLINE_LAMBDA { return hn::Not(x); }, a);
}

namespace detail {

/// Packs of integers that fill the elements of a vector.
template <class P>
concept packed = lanewise::detail::is_pack<P> && vectorizable<P> && integer<typename P::value_type>;

/// f of the items of a..., given the tag of vectors of items.
template <class R, class F, packed P, int W, class... Q>
LANEWISE_SIMD_FUNCTION lanes<R, W> by_items(F f, const lanes<P, W>& a, const lanes<Q, W>&... b) {
  const hn::Repartition<element_t<typename P::value_type>, tag<P, W>> d;
  return detail::by_vectors<R>(
      [=](auto x, auto... y) LANEWISE_INLINE_LAMBDA {
        return hn::BitCast(tag<R, W>(), f(d, hn::BitCast(d, x), hn::BitCast(d, y)...));
      },
      a, b...);
}

}  // namespace detail

#define LANEWISE_SIMD_PACKED(op, function)                                                       \
  template <class P, int W>                                                                      \
  requires lanewise::detail::is_pack<P> LANEWISE_SIMD_FUNCTION lanes<P, W>                       \
  operator op(const lanes<P, W>& a, const lanes<P, W>& b) {                                      \
    if constexpr (detail::packed<P>) {                                                           \
      return detail::by_items<P>(                                                                \
          [](auto, auto x, auto y) LANEWISE_INLINE_LAMBDA { return hn::function(x, y); }, a, b); \
    } else {                                                                                     \
      lanes<P, W> r;                                                                             \
      for (int i = 0; i < W; ++i) r.lane[i] = a.lane[i] op b.lane[i];                            \
      return r;                                                                                  \
    }                                                                                            \
  }
LANEWISE_SIMD_PACKED(+, Add)
LANEWISE_SIMD_PACKED(-, Sub)
LANEWISE_SIMD_PACKED(&, And)
LANEWISE_SIMD_PACKED(|, Or)
LANEWISE_SIMD_PACKED(^, Xor)
#undef LANEWISE_SIMD_PACKED

template <class P, int W>
requires lanewise::detail::is_pack<P> LANEWISE_SIMD_FUNCTION lanes<P, W>
operator~(const lanes<P, W>& a) {
  if constexpr (detail::vectorizable<P>) {
    return detail::by_vectors<P>([](auto x) LANEWISE_INLINE_LAMBDA { return hn::Not(x); }, a);
  } else {
    lanes<P, W> r;
    for (int i = 0; i < W; ++i) r.lane[i] = ~a.lane[i];
    return r;
  }
}

namespace detail {
/// Highway's Ne is false for NaN on AVX-512.
template <class V>
LANEWISE_SIMD_FUNCTION auto unequal(V a, V b) {
  return hn::Not(hn::Eq(a, b));
}
}  // namespace detail

#define LANEWISE_SIMD_COMPARE(op, function)                                                  \
  template <class T, int W>                                                                  \
  LANEWISE_SIMD_FUNCTION auto operator op(const lanes<T, W>& a, const lanes<T, W>& b) {      \
    using result = mask<detail::mask_bytes<T>, W>;                                           \
    if constexpr (detail::arithmetic<T>) {                                                   \
      result r;                                                                              \
      detail::unrolled<result::vectors>([&](auto c) LANEWISE_INLINE_LAMBDA {                 \
        r.set(c, hn::RebindMask(typename result::tag(), function(a.get(c), b.get(c))));      \
      });                                                                                    \
      return r;                                                                              \
    } else {                                                                                 \
      typename result::bits r = 0;                                                           \
      for (int i = 0; i < W; ++i)                                                            \
        r |= static_cast<typename result::bits>(a.lane[i] op b.lane[i]) << i;                \
      return result(r);                                                                      \
    }                                                                                        \
  }                                                                                          \
  template <class T, int W>                                                                  \
  LANEWISE_SIMD_FUNCTION auto operator op(const lanes<T, W>& a, std::type_identity_t<T> b) { \
    return a op lanes<T, W>(b);                                                              \
  }
LANEWISE_SIMD_COMPARE(==, hn::Eq)
LANEWISE_SIMD_COMPARE(!=, detail::unequal)
LANEWISE_SIMD_COMPARE(<, hn::Lt)
LANEWISE_SIMD_COMPARE(<=, hn::Le)
LANEWISE_SIMD_COMPARE(>, hn::Gt)
LANEWISE_SIMD_COMPARE(>=, hn::Ge)
#undef LANEWISE_SIMD_COMPARE

template <class T, int W>
template <int bytes>
LANEWISE_SIMD_FUNCTION lanes<T, W> lanes<T, W>::select(const mask<bytes, W>& m, const lanes& a,
                                                       const lanes& b) {
  lanes r;
  if constexpr (detail::vectorizable<T>) {
    const mask<sizeof(T), W> fitting(m);
    detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
      r.set(c, hn::IfThenElse(fitting.get_for(detail::tag<T, W>(), c), a.get(c), b.get(c)));
    });
  } else {
    const auto chosen = m.ballot();
    for (int i = 0; i < W; ++i) r.lane[i] = (chosen >> i) & 1 ? a.lane[i] : b.lane[i];
  }
  return r;
}
using lanewise::select;

namespace detail {

template <class Op, class... Ops>
inline constexpr bool one_of = (std::is_same_v<Op, Ops> || ...);

/// Operators with a vector instruction, and those among them with op(a, a) == a.
template <class Op, class T>
inline constexpr bool in_vectors = arithmetic<T> &&
                                   (one_of<Op, plus, multiplies, minimum, maximum> ||
                                    (integer<T> && one_of<Op, bit_and, bit_or, bit_xor>));
template <class Op>
inline constexpr bool idempotent = one_of<Op, minimum, maximum, bit_and, bit_or>;

/// Integers of 8 bytes have no instruction for a minimum before AVX-512, and a blend takes two or
/// three steps. The minimum and the maximum of the same two share all steps but the last one.
template <class Op, class V>
inline constexpr bool by_difference =
    HWY_ARCH_X86 && !predicate_registers && integer<hn::TFromV<V>> && sizeof(hn::TFromV<V>) == 8 &&
    one_of<Op, minimum, maximum>;

template <class Op, class V>
LANEWISE_SIMD_FUNCTION V apply(V a, V b) {
  if constexpr (by_difference<Op, V>) {
    const V greater = hn::VecFromMask(hn::DFromV<V>(), hn::Lt(b, a));
    return hn::Xor(one_of<Op, minimum> ? a : b, hn::And(hn::Xor(a, b), greater));
  }
  if constexpr (one_of<Op, plus>) return hn::Add(a, b);
  if constexpr (one_of<Op, multiplies>) return hn::Mul(a, b);
  if constexpr (one_of<Op, minimum>) return hn::Min(b, a);
  if constexpr (one_of<Op, maximum>) return hn::Max(b, a);
  if constexpr (one_of<Op, bit_and>) return hn::And(a, b);
  if constexpr (one_of<Op, bit_or>) return hn::Or(a, b);
  if constexpr (one_of<Op, bit_xor>) return hn::Xor(a, b);
}

/// The first `count` lanes folded. Those above travel along: Highway's smaller vectors would have
/// them cleared first.
template <class Op, int count, class D, class V>
LANEWISE_SIMD_FUNCTION auto fold_block(D d, V v) {
  if constexpr (count == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Repartition<std::uint8_t, D> u;
    const auto upper = hn::ShiftRightBytes<count / 2 * sizeof(hn::TFromD<D>)>(u, hn::BitCast(u, v));
    return detail::fold_block<Op, count / 2>(d, detail::apply<Op>(v, hn::BitCast(d, upper)));
  }
}

template <class Op, class D, class V>
LANEWISE_SIMD_FUNCTION auto fold_vector(D, V v) {
  if constexpr (D().MaxBytes() <= 16) {
    return detail::fold_block<Op, hn::MaxLanes(D())>(D(), v);
  } else {
    const hn::Half<D> h;
    return detail::fold_vector<Op>(h, detail::apply<Op>(hn::LowerHalf(h, v), hn::UpperHalf(h, v)));
  }
}

/// One instruction moves lanes across the whole vector.
template <class D>
inline constexpr bool wide_slides =
    predicate_registers &&
    sizeof(hn::TFromD<D>) >= 4 && hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) >= 32;

template <class T, int W>
inline constexpr bool wide_slides_of = false;
template <arithmetic T, int W>
inline constexpr bool wide_slides_of<T, W> = wide_slides<tag<T, W>>;

/// v moved up by k lanes, at most 16 bytes if not wide; below it the top lanes of e, whose lanes
/// are all equal.
template <int k, class D, class V>
LANEWISE_SIMD_FUNCTION V slide_in(D d, V v, V e) {
  constexpr int bytes = D().MaxBytes();
  constexpr int shift = k * sizeof(hn::TFromD<D>);
  const hn::Repartition<std::uint8_t, D> u;
  const auto up = hn::BitCast(u, v);
  const auto below = hn::BitCast(u, e);
  if constexpr (bytes == shift) {
    return e;
  } else if constexpr (bytes <= 16) {
    return hn::BitCast(d, hn::CombineShiftRightBytes<bytes - shift>(u, up, below));
#if HWY_TARGET <= HWY_AVX3
  } else if constexpr (shift % 4 == 0 && bytes == 64) {
    return hn::BitCast(
        d, hn::Vec<decltype(u)>{_mm512_alignr_epi32(up.raw, below.raw, 16 - shift / 4)});
  } else if constexpr (shift % 4 == 0) {
    return hn::BitCast(d,
                       hn::Vec<decltype(u)>{_mm256_alignr_epi32(up.raw, below.raw, 8 - shift / 4)});
  } else if constexpr (bytes == 64) {
    return hn::BitCast(
        d, hn::CombineShiftRightBytes<16 - shift>(
               u, up, hn::Vec<decltype(u)>{_mm512_alignr_epi32(up.raw, below.raw, 12)}));
#endif
  } else if constexpr (shift == 16) {
    return hn::ConcatLowerLower(d, v, e);
  } else {
    return hn::BitCast(
        d, hn::CombineShiftRightBytes<16 - shift>(u, up, hn::ConcatLowerLower(u, up, below)));
  }
}

/// What may move in below x without changing it.
template <class Op, class D, class V>
LANEWISE_SIMD_FUNCTION V neutral(D d, V x) {
  return idempotent<Op> ? x : hn::Set(d, static_cast<hn::TFromD<D>>(one_of<Op, multiplies>));
}

/// Inclusive scan of one vector by doubling: over all of it, or inside blocks of 128 bits and then
/// across them.
template <class Op, class D, class V>
LANEWISE_SIMD_FUNCTION V scan_vector(D d, V v) {
  constexpr int bytes = D().MaxBytes();
  constexpr int lanes = hn::MaxLanes(D());
  constexpr int block = std::min(bytes, 16) / static_cast<int>(sizeof(hn::TFromD<D>));
  if constexpr (wide_slides<D>) {
    const V e = detail::neutral<Op>(d, hn::BroadcastLane<0>(v));
    v = detail::apply<Op>(detail::slide_in<1>(d, v, e), v);
    if constexpr (lanes > 2) v = detail::apply<Op>(detail::slide_in<2>(d, v, e), v);
    if constexpr (lanes > 4) v = detail::apply<Op>(detail::slide_in<4>(d, v, e), v);
    if constexpr (lanes > 8) v = detail::apply<Op>(detail::slide_in<8>(d, v, e), v);
  } else {
    V e = detail::neutral<Op>(d, hn::Broadcast<0>(v));
    if constexpr (block > 1)
      v = detail::apply<Op>(hn::CombineShiftRightLanes<block - 1>(d, v, e), v);
    if constexpr (block > 2)
      v = detail::apply<Op>(hn::CombineShiftRightLanes<block - 2>(d, v, e), v);
    if constexpr (block > 4)
      v = detail::apply<Op>(hn::CombineShiftRightLanes<block - 4>(d, v, e), v);
    if constexpr (block > 8)
      v = detail::apply<Op>(hn::CombineShiftRightLanes<block - 8>(d, v, e), v);
    if constexpr (bytes > 16) {
      e = detail::neutral<Op>(d, hn::BroadcastLane<0>(v));
      v = detail::apply<Op>(detail::slide_in<block>(d, hn::Broadcast<block - 1>(v), e), v);
    }
    if constexpr (bytes > 32)
      v = detail::apply<Op>(hn::ConcatLowerLower(d, hn::Broadcast<block - 1>(v), e), v);
  }
  return v;
}

/// Inclusive scan of one vector that starts anew where a bit of `heads` is set; bits beyond the
/// vector are ignored. For targets with wide slides.
template <class Op, class D, class V>
LANEWISE_SIMD_FUNCTION V segmented_scan_vector(D d, V v, std::uint64_t heads) {
  std::uint64_t blocked = heads | 1;
  const auto step = [&](auto k) LANEWISE_INLINE_LAMBDA {
    const auto open = hn::Not(hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&blocked)));
    v = hn::IfThenElse(open, detail::apply<Op>(detail::slide_in<k>(d, v, v), v), v);
    blocked |= blocked << k;
  };
  constexpr int lanes = hn::MaxLanes(D());
  step(std::integral_constant<int, 1>{});
  if constexpr (lanes > 2) step(std::integral_constant<int, 2>{});
  if constexpr (lanes > 4) step(std::integral_constant<int, 4>{});
  if constexpr (lanes > 8) step(std::integral_constant<int, 8>{});
  return v;
}

/// apply with the very result of the scalar operator, NaN and signed zeros included.
template <class Op, class V>
LANEWISE_SIMD_FUNCTION V apply_exactly(V a, V b) {
  if constexpr (one_of<Op, minimum>) return hn::IfThenElse(hn::Lt(b, a), b, a);
  if constexpr (one_of<Op, maximum>) return hn::IfThenElse(hn::Lt(a, b), b, a);
  if constexpr (!one_of<Op, minimum, maximum>) return detail::apply<Op>(a, b);
}

/// Packs of v items that are 128-bit blocks of a vector.
template <class T, int v>
inline constexpr bool packs_are_blocks = false;
template <arithmetic T, int v>
inline constexpr bool packs_are_blocks<T, v> = v * sizeof(T) == 16 && (v == 2 || v == 4);

/// Block b of vector k becomes lanes of block b, one of each vector: its own inverse.
template <class D, class V>
LANEWISE_SIMD_FUNCTION void transpose_blocks(D d, V (&x)[2]) {
  const V low = hn::InterleaveLower(d, x[0], x[1]);
  x[1] = hn::InterleaveUpper(d, x[0], x[1]);
  x[0] = low;
}
template <class D, class V>
LANEWISE_SIMD_FUNCTION void transpose_blocks(D d, V (&x)[4]) {
  const hn::RepartitionToWide<hn::RebindToUnsigned<D>> pairs;
  const auto lower = [&](V a, V b) LANEWISE_INLINE_LAMBDA {
    return hn::BitCast(d, hn::InterleaveLower(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
  };
  const auto upper = [&](V a, V b) LANEWISE_INLINE_LAMBDA {
    return hn::BitCast(d, hn::InterleaveUpper(pairs, hn::BitCast(pairs, a), hn::BitCast(pairs, b)));
  };
  const V a = hn::InterleaveLower(d, x[0], x[1]), b = hn::InterleaveLower(d, x[2], x[3]);
  const V c = hn::InterleaveUpper(d, x[0], x[1]), e = hn::InterleaveUpper(d, x[2], x[3]);
  x[0] = lower(a, b);
  x[1] = upper(a, b);
  x[2] = lower(c, e);
  x[3] = upper(c, e);
}

/// The lane of pack i after transpose_blocks: v vectors of n lanes hold n packs.
template <class T, int v, int W>
constexpr int lane_of_pack(int i) {
  if constexpr (packs_are_blocks<T, v>) {
    constexpr int n = per_vector<T, W>;
    const int local = i % n;
    return i / n * n + local % (n / v) * v + local / (n / v);
  } else {
    return i;
  }
}

/// f(pack i - k, pack i) in every pack i >= k of a column; the others stay.
template <int v, int k, class T, int W, class F>
LANEWISE_SIMD_FUNCTION lanes<T, W> move_packs(const lanes<T, W>& a, F f) {
  using index = word<sizeof(T), true>;
  constexpr int n = per_vector<T, W>;
  const tag<T, W> d;
  lanes<T, W> r;
  // In a table of two vectors: below n is the group of packs before.
  struct places {
    alignas(64) index from[n];
  };
  static constexpr places table = [] {
    places t{};
    for (int i = 0; i < n; ++i) {
      const int source = i - k % n;
      t.from[detail::lane_of_pack<T, v, W>(i)] =
          static_cast<index>(source < 0 ? detail::lane_of_pack<T, v, W>(source + n)
                                        : n + detail::lane_of_pack<T, v, W>(source));
    }
    return t;
  }();
  detail::unrolled<vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
    const auto here = a.get(c);
    if constexpr (c * n + n <= k) {
      r.set(c, here);
    } else if constexpr (k >= n) {
      r.set(c, f(a.get(c - k / n), here));
    } else {
      const auto below = hn::TwoTablesLookupLanes(d, a.get(c == 0 ? 0 : c - 1), here,
                                                  hn::SetTableIndices(d, table.from));
      const auto moved = f(below, here);
      if constexpr (c == 0) {
        const hn::Rebind<index, tag<T, W>> i;
        const auto outside = hn::Lt(hn::Load(i, table.from), hn::Set(i, index{n}));
        r.set(c, hn::IfThenElse(hn::RebindMask(d, outside), here, moved));
      } else {
        r.set(c, moved);
      }
    }
  });
  return r;
}

/// One step of a scan by doubling: lane i - k, followed by lane i.
template <class Op, int k, class T, int W>
LANEWISE_SIMD_FUNCTION lanes<T, W> doubled(const lanes<T, W>& a) {
  return detail::move_packs<1, k>(a, [](auto below, auto here) LANEWISE_INLINE_LAMBDA {
    return detail::apply_exactly<Op>(below, here);
  });
}

/// Shuffles look lanes up in that many vectors at most; beyond, a loop over memory is faster.
inline constexpr int lookup_vectors = HWY_TARGET <= HWY_AVX2                               ? 4
                                      : HWY_TARGET == HWY_SSE2 || HWY_TARGET == HWY_EMU128 ? 0
                                                                                           : 2;
template <class T, int W>
inline constexpr bool by_lookup = false;
template <vectorizable T, int W>
inline constexpr bool by_lookup<T, W> = vectors<T, W> <= lookup_vectors;

template <int first, int count, class T, int W, class V>
LANEWISE_SIMD_FUNCTION auto lookup(const lanes<T, W>& a, V index) {
  const tag<T, W> d;
  const words_tag<T, W> u;
  constexpr word<sizeof(T)> n = per_vector<T, W>;
  if constexpr (count == 1) {
    return hn::TableLookupLanes(a.get(first),
                                hn::IndicesFromVec(d, hn::And(index, hn::Set(u, n - 1))));
  } else if constexpr (count == 2) {
    const auto within = hn::IndicesFromVec(d, hn::And(index, hn::Set(u, 2 * n - 1)));
    return hn::TwoTablesLookupLanes(d, a.get(first), a.get(first + 1), within);
  } else {
    constexpr int half = count / 2;
    const auto low = detail::lookup<first, half>(a, index);
    const auto high = detail::lookup<first + half, half>(a, index);
    if constexpr (!predicate_registers && sizeof(T) >= 4) {  // blends look at sign bits
      const hn::RebindToSigned<decltype(u)> i;
      const auto sign = hn::ShiftLeft<8 * sizeof(T) - 1 - std::countr_zero(half * n)>(index);
      return hn::BitCast(d, hn::IfNegativeThenElse(hn::BitCast(i, sign), hn::BitCast(i, high),
                                                   hn::BitCast(i, low)));
    } else {
      return hn::IfThenElse(hn::RebindMask(d, hn::TestBit(index, hn::Set(u, half * n))), high, low);
    }
  }
}

/// v with lane i exchanged for lane i ^ k, one bit of k after the other.
template <class D, class V>
LANEWISE_SIMD_FUNCTION V butterfly(D d, V v, int k) {
  constexpr int bytes = D().MaxBytes();
  // Mirrored groups are one instruction.
  if constexpr (sizeof(hn::TFromD<D>) >= 4) {
    constexpr int n = hn::MaxLanes(D());
    if (__builtin_constant_p(k)) {
      if constexpr (n >= 4) {
        if (k == n - 1) return hn::Reverse(d, v);
        if (k == 3) return hn::Reverse4(d, v);
      }
      if constexpr (n > 8) {
        if (k == 7) return hn::Reverse8(d, v);
      }
    }
  }
  k *= static_cast<int>(sizeof(hn::TFromD<D>));
  const auto neighbours = [&](auto step) LANEWISE_INLINE_LAMBDA {
    constexpr int s = step;
    if constexpr (s >= static_cast<int>(sizeof(hn::TFromD<D>)) && 2 * s <= bytes) {
      const hn::Repartition<word<s>, D> wide;
      if (k & s) v = hn::BitCast(d, hn::Reverse2(wide, hn::BitCast(wide, v)));
    }
  };
  neighbours(std::integral_constant<int, 1>{});
  neighbours(std::integral_constant<int, 2>{});
  neighbours(std::integral_constant<int, 4>{});
  neighbours(std::integral_constant<int, 8>{});
  if constexpr (bytes >= 32) {
    if (k & 16) v = hn::SwapAdjacentBlocks(v);
  }
  if constexpr (bytes == 64) {
    if (k & 32) v = hn::ConcatLowerUpper(d, v, v);
  }
  return v;
}

/// The chosen elements of v first, in order.
template <class D>
LANEWISE_SIMD_FUNCTION hn::Vec<D> compress(D, hn::Vec<D> v, hn::Mask<D> m) {
#if HWY_TARGET <= HWY_AVX3
  // Highway zeroes the rest, which on AMD makes the instruction wait for its old destination.
  constexpr int bytes = D().MaxBytes();
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    if constexpr (bytes == 64) return {::_mm512_mask_compress_epi32(v.raw, m.raw, v.raw)};
    if constexpr (bytes == 32) return {::_mm256_mask_compress_epi32(v.raw, m.raw, v.raw)};
    if constexpr (bytes <= 16) return {::_mm_mask_compress_epi32(v.raw, m.raw, v.raw)};
  } else if constexpr (sizeof(hn::TFromD<D>) == 8) {
    if constexpr (bytes == 64) return {::_mm512_mask_compress_epi64(v.raw, m.raw, v.raw)};
    if constexpr (bytes == 32) return {::_mm256_mask_compress_epi64(v.raw, m.raw, v.raw)};
    if constexpr (bytes <= 16) return {::_mm_mask_compress_epi64(v.raw, m.raw, v.raw)};
  } else {
    // Without VBMI2 Highway counts parts of the mask (see `joined`).
    if constexpr (HWY_TARGET > HWY_AVX3_DL) asm("" : "+k"(m.raw));
    return hn::Compress(v, m);
  }
#else
  return hn::Compress(v, m);
#endif
}

// On targets that compress no bytes, compressed_bytes bytes together are compressed as wider words.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int compressed_bytes = 16;
using compressed_word = std::uint32_t;
#else
inline constexpr int compressed_bytes = 8;
using compressed_word = std::uint16_t;
#endif
/// Those of the bytes that are chosen first, in order.
LANEWISE_SIMD_FUNCTION auto compress_bytes(const std::uint8_t* p, std::uint16_t chosen) {
  const hn::FixedTag<std::uint8_t, compressed_bytes> bytes;
  const hn::FixedTag<compressed_word, compressed_bytes> words;
  const std::uint8_t bits[2] = {static_cast<std::uint8_t>(chosen),
                                static_cast<std::uint8_t>(chosen >> 8)};
  return hn::DemoteTo(bytes, hn::CompressBits(hn::PromoteTo(words, hn::LoadU(bytes, p)), bits));
}

/// a + b as atomics add: integers wrap around.
template <class T>
LANEWISE_SIMD_FUNCTION T sum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using word = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<word>(a) + static_cast<word>(b));
  } else {
    return a + b;
  }
}

/// f of what is there, put there. Returns what was there.
template <class T, class F>
LANEWISE_SIMD_FUNCTION T replace(T& ref, F f) {
  const T before = ref;
  ref = f(before);
  return before;
}

/// As `replace`, atomically. What stays as it is need not be written, and its line need not be
/// owned, unless the write is a release.
template <order o, class T, class F>
LANEWISE_SIMD_FUNCTION T replace_atomically(T& ref, F f) {
  const std::atomic_ref<T> word(ref);
  constexpr auto looks = o == order::acquire || o == order::acq_rel ? std::memory_order_acquire
                                                                    : std::memory_order_relaxed;
  T before = word.load(looks);
  for (;;) {
    const T after = f(before);
    if constexpr (o == order::relaxed || o == order::acquire) {
      if (after == before) return before;
    }
    if (word.compare_exchange_weak(before, after, std_order<o>, looks)) return before;
  }
}

/// 16 bytes compared and exchanged as one word, whatever the compiler's flags: every x86-64
/// processor that runs AVX has the instruction. Returns what was there.
template <class T>
LANEWISE_SIMD_FUNCTION T exchange_wide(T* p, const T& expected, const T& desired) {
  static_assert(sizeof(T) == 16 && alignof(T) == 16);
#if defined(__x86_64__)
  std::uint64_t seen[2], put[2];
  std::memcpy(seen, &expected, 16);
  std::memcpy(put, &desired, 16);
  asm volatile("lock cmpxchg16b %0"
               : "+m"(*p), "+a"(seen[0]), "+d"(seen[1])
               : "b"(put[0]), "c"(put[1])
               : "cc", "memory");
  T x;
  std::memcpy(static_cast<void*>(&x), seen, 16);
  return x;
#else
  (void)p, (void)desired;
  return expected;
#endif
}

template <class M>
inline constexpr bool is_mask = false;
template <int bytes, int W>
inline constexpr bool is_mask<mask<bytes, W>> = true;

}  // namespace detail

/// W lanes computed by one thread in the target's vectors.
template <int W = 32>
class warp : public warp_operations<warp<W>> {
  static_assert(W >= 1 && W <= 64 && (W & (W - 1)) == 0);

 public:
  static constexpr int width = W;
  template <int w>
  using part = warp<w>;
  static constexpr bool has_wide_words = false;
  static constexpr bool is_single_thread = true;
  static constexpr int text_words_per_lane = 1;
#if defined(__x86_64__)
  static constexpr bool has_wide_exchange = true;
#else
  static constexpr bool has_wide_exchange = false;
#endif
  // A line of 64-bit words is two AVX-512 vectors; windows_in_flight hides latency (docs/design.md,
  // cooperate).
  static constexpr int line_width = 16;
  static constexpr int line_depth = 1;
  using bits = std::conditional_t<(W > 32), std::uint64_t, std::uint32_t>;
  template <class T>
  using lanes = simd::lanes<T, W>;
  template <class T>
  using mask_for = simd::mask<detail::mask_bytes<T>, W>;

  warp() = default;

  static LANEWISE_SIMD_FUNCTION int popcount(std::uint32_t b) {
    return std::popcount(b);
  }
  static LANEWISE_SIMD_FUNCTION int popcount(std::uint64_t b) {
    return std::popcount(b);
  }
  static LANEWISE_SIMD_FUNCTION int lowest(bits b) {
    if (b == 0) __builtin_unreachable();  // so that lane lowest(b) is known to exist
    return std::countr_zero(b);
  }
  static LANEWISE_SIMD_FUNCTION int highest(bits b) {
    return static_cast<int>(std::bit_width(b)) - 1;
  }

  LANEWISE_SIMD_FUNCTION lanes<std::uint32_t> lane() const {
    return iota<std::uint32_t>();
  }
  template <class T = std::uint32_t, std::integral N>
  LANEWISE_SIMD_FUNCTION mask_for<T> first(N number) const {
    using M = mask_for<T>;
    const auto all = static_cast<std::conditional_t<(sizeof(N) > 4), std::int64_t, int>>(number);
    const int n = static_cast<int>(all < 0 ? 0 : all < W ? all : W);
    M r;
    detail::unrolled<M::vectors>([&](auto c) LANEWISE_INLINE_LAMBDA {
      r.set(c, hn::FirstN(typename M::tag(), static_cast<std::size_t>(std::max(n - c * M::n, 0))));
    });
    return r;
  }
  template <class T = std::uint32_t>
  LANEWISE_SIMD_FUNCTION mask_for<T> mask_of(bits b) const {
    return mask_for<T>(b);
  }
  LANEWISE_SIMD_FUNCTION lanes<bits> lanes_below() const {
    return (lanes<bits>(1) << iota<bits>()) - bits{1};
  }

  template <class Op, class T>
  requires(detail::in_vectors<Op, T>) LANEWISE_SIMD_FUNCTION lanes<T> map(Op, const lanes<T>& a,
                                                                          const lanes<T>& b)
  const {
    return detail::by_vectors<T>(
        [](auto x, auto y) LANEWISE_INLINE_LAMBDA { return detail::apply<Op>(x, y); }, a, b);
  }
  template <class F, class... T>
  LANEWISE_SIMD_FUNCTION auto map(F f, const lanes<T>&... a) const {
    lanes<std::decay_t<decltype(f(a.lane[0]...))>> r;
    detail::set_lanes(r, [&](int i) LANEWISE_INLINE_LAMBDA { return f(a.lane[i]...); });
    return r;
  }
  template <int b, class F, class R, class... T>
  LANEWISE_SIMD_FUNCTION lanes<R> map(const mask<b, W>& m, F f, R otherwise,
                                      const lanes<T>&... a) const {
    const bits active = ballot(m);
    lanes<R> r;
    detail::set_lanes(r, [&](int i) LANEWISE_INLINE_LAMBDA {
      return (active >> i) & 1 ? static_cast<R>(f(a.lane[i]...)) : otherwise;
    });
    return r;
  }
  template <class F, class... A>
  requires(!detail::is_mask<F>) LANEWISE_SIMD_FUNCTION void each(F f, A&... a) const {
    for (int i = 0; i < W; ++i) f(a.lane[i]...);
    (detail::settle(a), ...);
  }
  template <int b, class F, class... A>
  LANEWISE_SIMD_FUNCTION void each(const mask<b, W>& m, F f, A&... a) const {
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA { f(a.lane[i]...); });
    (detail::settle(a), ...);
  }
  template <class U, class T>
  LANEWISE_SIMD_FUNCTION lanes<U> cast(const lanes<T>& a) const {
    if constexpr (detail::integer<T> && detail::integer<U>) {
      return detail::resize<U>(a);
    } else {
      return map([](T x) { return static_cast<U>(x); }, a);
    }
  }

  template <int b>
  LANEWISE_SIMD_FUNCTION bits ballot(const mask<b, W>& m) const {
    return m.ballot();
  }
  template <int b>
  LANEWISE_SIMD_FUNCTION bool any(const mask<b, W>& m) const {
    if constexpr (mask<b, W>::as_number) return ballot(m) != 0;
    const auto some = m.fold([](auto x, auto y) LANEWISE_INLINE_LAMBDA { return hn::Or(x, y); });
    return !hn::AllFalse(typename mask<b, W>::tag(), some);
  }
  template <int b>
  LANEWISE_SIMD_FUNCTION bool all(const mask<b, W>& m) const {
    if constexpr (mask<b, W>::as_number) return ballot(m) == mask<b, W>::all_lanes;
    const auto every = m.fold([](auto x, auto y) LANEWISE_INLINE_LAMBDA { return hn::And(x, y); });
    return hn::AllTrue(typename mask<b, W>::tag(), every);
  }
  template <int b>
  LANEWISE_SIMD_FUNCTION int count(const mask<b, W>& m) const {
    return popcount(ballot(m));
  }

  template <class T>
  LANEWISE_SIMD_FUNCTION T broadcast(const lanes<T>& a, int source) const {
    return a.lane[source];
  }
  template <class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> shuffle(const lanes<T>& a, const lanes<I>& source) const {
    if constexpr (detail::by_lookup<T, W>) {
      const auto index = detail::resize<detail::word<sizeof(T)>>(source);
      return detail::by_vectors<T>(
          [&](auto i)
              LANEWISE_INLINE_LAMBDA { return detail::lookup<0, detail::vectors<T, W>>(a, i); },
          index);
    } else {
      return permute(a, [&](int i) LANEWISE_INLINE_LAMBDA {
        return static_cast<unsigned>(source.lane[i] & I{W - 1});  // not to be sign-extended
      });
    }
  }
  template <class T>
  LANEWISE_SIMD_FUNCTION lanes<T> shuffle_up(const lanes<T>& a, int k) const {
    if constexpr (detail::vectorizable<T> && W > 1) {
      // By one, as scans do, it is one instruction per small vector.
      const detail::tag<T, W> d;
      if (d.MaxBytes() <= 16 && k == 1) {
        lanes<T> r;
        r.set(0, detail::slide_in<1>(d, a.get(0), hn::Set(d, hn::GetLane(a.get(0)))));
        detail::unrolled<detail::vectors<T, W> - 1>([&](auto c) LANEWISE_INLINE_LAMBDA {
          r.set(c + 1, detail::slide_in<1>(d, a.get(c + 1), a.get(c)));
        });
        return r;
      }
    }
    return slide(a, -k);
  }
  template <class T>
  LANEWISE_SIMD_FUNCTION lanes<T> shuffle_down(const lanes<T>& a, int k) const {
    return slide(a, k);
  }
  template <class T>
  LANEWISE_SIMD_FUNCTION lanes<T> shuffle_xor(const lanes<T>& a, int k) const {
    if constexpr (detail::vectorizable<T>) {
      constexpr int n = detail::per_vector<T, W>;
      lanes<T> r;
      detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
        const int from = c ^ ((k & (W - 1)) / n);
        r.set(c, detail::butterfly(detail::tag<T, W>(), a.get(from), k & (n - 1)));
      });
      return r;
    } else {
      return permute(a, [&](int i) LANEWISE_INLINE_LAMBDA { return (i ^ k) & (W - 1); });
    }
  }

  template <class T, class Op>
  LANEWISE_SIMD_FUNCTION T reduce(const lanes<T>& a, Op op, int n = W) const {
    if constexpr (detail::in_vectors<Op, T>) {
      return fold<Op>(
          n == W ? a : backends::simd::select(first<T>(n), a, lanes<T>(spare<Op>(a.lane[0]))));
    } else {
      return fold_scalars(a, op, 0, n);
    }
  }
  template <class T, class Op>
  LANEWISE_SIMD_FUNCTION T reduce_from(int start, const lanes<T>& a, Op op) const {
    if constexpr (detail::in_vectors<Op, T>) {
      return fold<Op>(
          backends::simd::select(first<T>(start), lanes<T>(spare<Op>(a.lane[W - 1])), a));
    } else {
      return fold_scalars(a, op, start, W);
    }
  }
  template <class T, class Op>
  LANEWISE_SIMD_FUNCTION T fold(T x, const lanes<T>& a, Op op, int begin, int end) const {
    for (int i = begin; i < end; ++i) x = op(x, a.lane[i]);
    return x;
  }
  template <class T, class Op>
  LANEWISE_SIMD_FUNCTION lanes<T> inclusive_scan(const lanes<T>& a, Op op, int n = W) const {
    if constexpr (detail::in_vectors<Op, T>) {
      const detail::tag<T, W> d;
      lanes<T> r = detail::by_vectors<T>(
          [&](auto v) LANEWISE_INLINE_LAMBDA { return detail::scan_vector<Op>(d, v); }, a);
      if constexpr (detail::vectors < T, W >> 1) {
        auto before = last(r, 0);
        detail::unrolled<detail::vectors<T, W> - 1>([&](auto c) LANEWISE_INLINE_LAMBDA {
          const auto total = last(r, c + 1);
          r.set(c + 1, detail::apply<Op>(before, r.get(c + 1)));
          before = detail::apply<Op>(before, total);
        });
      }
      return r;
    } else {
      lanes<T> r = a;
      for (int i = 1; i < n; ++i) r.lane[i] = op(r.lane[i - 1], a.lane[i]);
      return r;
    }
  }
  template <int most = W, class T, class Op>
  LANEWISE_SIMD_FUNCTION lanes<T> segmented_scan(const lanes<T>& a, bits heads, Op op,
                                                 int n = W) const {
    if constexpr (detail::in_vectors<Op, T> && detail::wide_slides_of<T, W>) {
      if (heads == 0) return inclusive_scan(a, op);
      constexpr int count = detail::per_vector<T, W>;
      const detail::tag<T, W> d;
      lanes<T> r;
      auto before = hn::Zero(d);
      detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
        const std::uint64_t here =
            (std::uint64_t{heads} >> (c * count)) & (~std::uint64_t{0} >> (64 - count));
        auto v = detail::segmented_scan_vector<Op>(d, a.get(c), here);
        if constexpr (c > 0) {
          // Lanes before the first head go on with the vector before.
          const std::uint64_t open = here ^ (here - 1);
          const auto m = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&open));
          const auto head = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&here));
          v = hn::IfThenElse(hn::AndNot(head, m), detail::apply<Op>(before, v), v);
        }
        r.set(c, v);
        before = last(r, c);
      });
      return r;
    } else {
      return warp_operations<warp<W>>::template segmented_scan<most>(a, heads, op, n);
    }
  }
  template <class T, class Op>
  LANEWISE_SIMD_FUNCTION lanes<T> scan_by_doubling(const lanes<T>& a, Op op, int n = W) const {
    lanes<T> r = a;
    if constexpr (detail::in_vectors<Op, T>) {
      detail::unrolled<std::countr_zero(unsigned{W})>(
          [&](auto step) LANEWISE_INLINE_LAMBDA { r = detail::doubled<Op, 1 << step>(r); });
    } else {
      for (int k = 1; k < W; k *= 2) {
        for (int i = n - 1; i >= k; --i) r.lane[i] = op(r.lane[i - k], r.lane[i]);
      }
    }
    return r;
  }
  template <class T, class Op>
  LANEWISE_SIMD_FUNCTION lanes<T> exclusive_scan(const lanes<T>& a, Op op, T init,
                                                 int n = W) const {
    if constexpr (detail::in_vectors<Op, T>) {
      const detail::tag<T, W> d;
      lanes<T> r = detail::by_vectors<T>(
          [&](auto v) LANEWISE_INLINE_LAMBDA { return detail::scan_vector<Op>(d, v); }, a);
      auto before = hn::Set(d, init);
      detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
        const auto total = last(r, c);
        r.set(c, detail::apply<Op>(
                     before, detail::slide_in<1>(d, r.get(c), detail::neutral<Op>(d, before))));
        before = detail::apply<Op>(before, total);
      });
      return r;
    } else {
      lanes<T> r(init);
      for (int i = 1; i < n; ++i) r.lane[i] = op(r.lane[i - 1], a.lane[i - 1]);
      return r;
    }
  }

  template <int b, class T>
  LANEWISE_SIMD_FUNCTION lanes<bits> match_any(const mask<b, W>& m, const lanes<T>& a) const {
    const bits active = ballot(m);
    lanes<bits> r;
    if constexpr (detail::vectorizable<T>) {
      const auto words = detail::by_vectors<detail::word<sizeof(T)>>(
          [](auto v) LANEWISE_INLINE_LAMBDA { return hn::BitCast(detail::words_tag<T, W>(), v); },
          a);
      for (int i = 0; i < W; ++i) r.lane[i] = ballot(words == words.lane[i]) & active;
    } else {
      for (int i = 0; i < W; ++i) {
        bits same = 0;
        for (int j = 0; j < W; ++j)
          same |= bits{std::memcmp(&a.lane[i], &a.lane[j], sizeof(T)) == 0} << j;
        r.lane[i] = same & active;
      }
    }
    return backends::simd::select(m, r, lanes<bits>(0));
  }
  using warp_operations<warp<W>>::peers;  // by planes
  template <int b, class I>
  LANEWISE_SIMD_FUNCTION lanes<bits> peers(const mask<b, W>& m, const lanes<I>& bucket,
                                           std::uint32_t count) const {
    const auto number = cast<bits>(bucket);
    return backends::simd::select(m, agreeing(m, number, count, number), lanes<bits>(0));
  }
  template <int b, class I>
  LANEWISE_SIMD_FUNCTION lanes<std::uint32_t> rank_among_equals(const mask<b, W>& m,
                                                                const lanes<I>& bucket,
                                                                std::uint32_t count) const {
    return populations(peers(m, bucket, count) & lanes_below());
  }
  template <int group = 0, int b, class I>
  LANEWISE_SIMD_FUNCTION lanes<std::uint32_t> histogram(const mask<b, W>& m, const lanes<I>& bucket,
                                                        std::uint32_t count) const {
    const auto mine = iota<bits>() + bits{group * W};
    return populations(backends::simd::select(
        mine < count, agreeing(m, cast<bits>(bucket), count, mine), lanes<bits>(0)));
  }

  // Packs.
  using base = warp_operations<warp<W>>;
  template <class P>
  LANEWISE_SIMD_FUNCTION auto equal_items(const lanes<P>& a, const lanes<P>& b) const {
    if constexpr (detail::packed<P>) {
      return detail::by_items<flags_of<P>>(
          [](auto d, auto x, auto y)
              LANEWISE_INLINE_LAMBDA { return hn::VecFromMask(d, hn::Eq(x, y)); },
          a, b);
    } else {
      return base::equal_items(a, b);
    }
  }
  template <class P>
  LANEWISE_SIMD_FUNCTION auto less_items(const lanes<P>& a, const lanes<P>& b) const {
    if constexpr (detail::packed<P>) {
      return detail::by_items<flags_of<P>>(
          [](auto d, auto x, auto y)
              LANEWISE_INLINE_LAMBDA { return hn::VecFromMask(d, hn::Lt(x, y)); },
          a, b);
    } else {
      return base::less_items(a, b);
    }
  }
  template <class P>
  LANEWISE_SIMD_FUNCTION lanes<P> smaller_items(const lanes<P>& a, const lanes<P>& b) const {
    if constexpr (detail::packed<P>) {
      return detail::by_items<P>(
          [](auto, auto x, auto y) LANEWISE_INLINE_LAMBDA { return hn::Min(x, y); }, a, b);
    } else {
      return base::smaller_items(a, b);
    }
  }
  template <class P>
  LANEWISE_SIMD_FUNCTION lanes<P> larger_items(const lanes<P>& a, const lanes<P>& b) const {
    if constexpr (detail::packed<P>) {
      return detail::by_items<P>(
          [](auto, auto x, auto y) LANEWISE_INLINE_LAMBDA { return hn::Max(x, y); }, a, b);
    } else {
      return base::larger_items(a, b);
    }
  }
  template <class F, class P>
  LANEWISE_SIMD_FUNCTION lanes<P> select_items(const lanes<F>& flags, const lanes<P>& a,
                                               const lanes<P>& b) const {
    if constexpr (detail::packed<P>) {
      return detail::by_vectors<P>(
          [](auto f, auto x, auto y)
              LANEWISE_INLINE_LAMBDA { return hn::Or(hn::And(f, x), hn::AndNot(f, y)); },
          flags, a, b);
    } else {
      return base::select_items(flags, a, b);
    }
  }
  /// Every flag leaves its bit in its own item; then the items are laid over each other.
  template <class F>
  LANEWISE_SIMD_FUNCTION lanes<std::uint32_t> bits_of_items(const lanes<F>& flags) const {
    if constexpr (detail::packed<F> &&
                  F::size <= 8 * static_cast<int>(sizeof(typename F::value_type))) {
      using word = detail::word<sizeof(F)>;
      constexpr int item_bits = 8 * sizeof(typename F::value_type);
      constexpr word mine = [] {
        word all = 0;
        for (int i = 0; i < F::size; ++i) all |= word{1} << (i * item_bits + i);
        return all;
      }();
      return detail::resize<std::uint32_t>(detail::by_vectors<word>(
          [=](auto x) LANEWISE_INLINE_LAMBDA {
            const detail::words_tag<F, W> u;
            x = hn::And(x, hn::Set(u, mine));
            if constexpr (F::size > 1) x = hn::Or(x, hn::ShiftRight<item_bits>(x));
            if constexpr (F::size > 2) x = hn::Or(x, hn::ShiftRight<2 * item_bits>(x));
            if constexpr (F::size > 4) x = hn::Or(x, hn::ShiftRight<4 * item_bits>(x));
            return hn::And(x, hn::Set(u, static_cast<word>((1u << F::size) - 1)));
          },
          flags));
    } else {
      return base::bits_of_items(flags);
    }
  }
  /// Packs of whole vectors are compared as such: it is what a warp of one lane has vectors for.
  template <class P, class T>
  LANEWISE_SIMD_FUNCTION lanes<std::uint32_t> match_words(const lanes<P>& a,
                                                          const lanes<T>& x) const {
    if constexpr (detail::in_whole_vectors<P> && detail::integer<T>) {
      constexpr int words = sizeof(P) / sizeof(T);
      static_assert(words <= 32);
      using equal_words = mask<sizeof(T), words>;
      using tag = detail::tag<T, words>;
      lanes<std::uint32_t> r;
      for (int i = 0; i < W; ++i) {
        const auto wanted = hn::Set(tag(), static_cast<detail::element_t<T>>(x.lane[i]));
        const auto* p = reinterpret_cast<const char*>(&a.lane[i]);
        equal_words equal;
        detail::unrolled<equal_words::vectors>([&](auto c) LANEWISE_INLINE_LAMBDA {
          const auto here = detail::load_vector(tag(), p + c * equal_words::n * sizeof(T));
          equal.set(c, hn::RebindMask(typename equal_words::tag(), hn::Eq(here, wanted)));
        });
        r.lane[i] = equal.ballot();
      }
      return r;
    } else {
      return base::match_words(a, x);
    }
  }

  // Memory.
  template <class T>
  LANEWISE_SIMD_FUNCTION lanes<std::remove_const_t<T>> load(T* p) const {
    lanes<std::remove_const_t<T>> r;
    r.assign(p);
    return r;
  }
  template <int b, class T>
  LANEWISE_SIMD_FUNCTION lanes<std::remove_const_t<T>> load(
      const mask<b, W>& m, T* p, std::remove_const_t<T> otherwise) const {
    using V = std::remove_const_t<T>;
    if constexpr (masked_access<V>) {
      const detail::tag<V, W> d;
      const mask_for<V> fitting(m);
      lanes<V> r(otherwise);
      detail::unrolled<detail::vectors<V, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
        const auto* from =
            reinterpret_cast<const detail::element_t<V>*>(p + c * detail::per_vector<V, W>);
        const auto valid = fitting.get_valid(d, c);
        if constexpr (detail::predicate_registers) {
          r.set(c, hn::MaskedLoadOr(r.get(c), valid, d, from));
        } else {  // MaskedLoadOr would read the whole vector
          r.set(c, hn::IfThenElse(valid, hn::MaskedLoad(valid, d, from), r.get(c)));
        }
      });
      return r;
    } else {
      if (all(m)) return load(p);
      lanes<V> r(otherwise);
      for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA { r.lane[i] = p[i]; });
      return r;
    }
  }
  template <class T>
  LANEWISE_SIMD_FUNCTION void store(T* p, const lanes<T>& a) const {
    if constexpr (detail::vectorizable<T>) {
      detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
        detail::store_vector(detail::tag<T, W>(), a.get(c), p + c * detail::per_vector<T, W>);
      });
    } else {
      for (int i = 0; i < W; ++i) p[i] = a.lane[i];
    }
  }
  template <int b, class T>
  LANEWISE_SIMD_FUNCTION void store(const mask<b, W>& m, T* p, const lanes<T>& a) const {
    if constexpr (masked_access<T>) {
      const detail::tag<T, W> d;
      const mask_for<T> fitting(m);
      detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
        auto* to = reinterpret_cast<detail::element_t<T>*>(p + c * detail::per_vector<T, W>);
        hn::BlendedStore(a.get(c), fitting.get_valid(d, c), d, to);
      });
    } else if (all(m)) {
      store(p, a);
    } else {
      for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA { p[i] = a.lane[i]; });
    }
  }
  /// Asks for what lies further on, by default by a page: processors look ahead less far while they
  /// compute.
  template <class T>
  LANEWISE_SIMD_FUNCTION lanes<std::remove_const_t<T>> load_streaming(
      T* p, std::int64_t ahead_bytes = 4096) const {
    constexpr int line = 64;
    for (int offset = 0; offset < W * static_cast<int>(sizeof(T)); offset += line)
      __builtin_prefetch(reinterpret_cast<const char*>(p) + ahead_bytes + offset);
    return load(p);
  }
  /// From any byte on. ahead_bytes: as load_streaming, unless it is 0.
  template <class T>
  LANEWISE_SIMD_FUNCTION lanes<T> load_unaligned(const unsigned char* p,
                                                 std::int64_t ahead_bytes = 0) const {
    const auto* const at = reinterpret_cast<const T*>(p);
    return ahead_bytes > 0 ? load_streaming(at, ahead_bytes) : load(at);
  }
  template <class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> gather_unaligned(const unsigned char* p,
                                                   const lanes<I>& index) const {
    return gather_scratch(reinterpret_cast<const T*>(p), index);
  }
  /// Past the caches where p is aligned. Such stores are weakly ordered; store<order::release>
  /// waits for them.
  template <class T>
  LANEWISE_SIMD_FUNCTION void store_streaming(T* p, const lanes<T>& a) const {
    if constexpr (detail::vectorizable<T>) {
      const detail::words_tag<T, W> u;
      constexpr std::size_t bytes = u.MaxBytes();
      if (bytes >= 16 && reinterpret_cast<std::uintptr_t>(p) % bytes == 0) {
        detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
          auto* to = reinterpret_cast<detail::word<sizeof(T)>*>(p + c * detail::per_vector<T, W>);
          hn::Stream(hn::BitCast(u, a.get(c)), u, to);
        });
        return;
      }
    }
    store(p, a);
  }
  template <caching c, class T>
  LANEWISE_SIMD_FUNCTION lanes<std::remove_const_t<T>> load(T* p) const {
    if constexpr (c == caching::streaming) return load_streaming(p);
    return load(p);
  }
  template <caching c, class T>
  LANEWISE_SIMD_FUNCTION void store(T* p, const lanes<T>& a) const {
    if constexpr (c == caching::streaming) {
      store_streaming(p, a);
    } else {
      store(p, a);
    }
  }
  template <class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<std::remove_const_t<T>> gather(T* p, const lanes<I>& index) const {
    return map([=](I i) LANEWISE_INLINE_LAMBDA { return p[i]; }, index);
  }
  template <class T, class I>
  requires(sizeof(T) == 4) LANEWISE_SIMD_FUNCTION lanes<T> gather_scratch(const T* p,
                                                                          const lanes<I>& index)
  const {
    using word = detail::element_t<T>;
    using index_word = detail::word<4, true>;
    return detail::by_vectors<T>(
        [=](auto i) LANEWISE_INLINE_LAMBDA {
          return hn::GatherIndex(detail::tag<T, W>(), reinterpret_cast<const word*>(p),
                                 hn::BitCast(detail::tag<index_word, W>(), i));
        },
        detail::resize<std::uint32_t>(index));
  }
  template <int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<std::remove_const_t<T>> gather(
      const mask<b, W>& m, T* p, const lanes<I>& index, std::remove_const_t<T> otherwise) const {
    using V = std::remove_const_t<T>;
    if constexpr (has_gather<V, I>) return gather_vectors(m, p, index, otherwise);
    if (all(m)) return gather(p, index);
    lanes<V> r(otherwise);
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA { r.lane[i] = p[index.lane[i]]; });
    return r;
  }
  template <class T, class I>
  LANEWISE_SIMD_FUNCTION void scatter(T* p, const lanes<I>& index, const lanes<T>& a) const {
    // What is written may be where the operands were loaded: g++ would take all of them into scalar
    // registers before, and most of these into memory again. Whole vectors get there faster.
    lanes<I> to = index;
    lanes<T> from = a;
    asm("" : "+m"(to), "+m"(from));
    for (int i = 0; i < W; i += 4) {
      detail::unrolled<std::min(W, 4)>(
          [&](auto j) LANEWISE_INLINE_LAMBDA { p[to.lane[i + j]] = from.lane[i + j]; });
    }
  }
  template <int b, class T, class I>
  LANEWISE_SIMD_FUNCTION void scatter(const mask<b, W>& m, T* p, const lanes<I>& index,
                                      const lanes<T>& a) const {
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA { p[index.lane[i]] = a.lane[i]; });
  }
  template <scope s = scope::device, int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> load_relaxed(const mask<b, W>& m, const T* p,
                                               const lanes<I>& index, T otherwise) const {
    return racing_load<std::memory_order_relaxed>(m, p, index, otherwise);
  }
  template <scope s = scope::device, int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> load_acquire(const mask<b, W>& m, const T* p,
                                               const lanes<I>& index, T otherwise) const {
    return racing_load<std::memory_order_acquire>(m, p, index, otherwise);
  }
  // Every word is read once, and in one piece as far as the hardware goes: the fences keep the
  // compiler from reading it again.
  template <class T>
  LANEWISE_SIMD_FUNCTION lanes<T> load_relaxed(const T* p) const {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const lanes<T> r = load(p);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return r;
  }
  template <class T>
  LANEWISE_SIMD_FUNCTION lanes<T> load_acquire(const T* p) const {
    const lanes<T> r = load_relaxed(p);
    std::atomic_thread_fence(std::memory_order_acquire);
    return r;
  }
  template <class T>
  LANEWISE_SIMD_FUNCTION void store_relaxed(T* p, const lanes<T>& a) const {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    store(p, a);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  template <scope s = scope::device, int b, class T>
  LANEWISE_SIMD_FUNCTION void store_relaxed(const mask<b, W>& m, T* p, const lanes<T>& a) const {
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA {
      std::atomic_ref<T>(p[i]).store(a.lane[i], std::memory_order_relaxed);
    });
  }
  template <order o = order::relaxed, scope s = scope::device, int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> fetch_add(const mask<b, W>& m, T* p, const lanes<I>& index,
                                            const lanes<T>& a) const {
    lanes<T> r(T{});
    const auto one = [&](int i) LANEWISE_INLINE_LAMBDA {
      r.lane[i] = fetch_add<o, s>(p[index.lane[i]], a.lane[i]);
    };
    // Counting is most often done by all lanes: 3.2 ns instead of 6.8 for four counters.
    if (all(m)) {
      for (int i = 0; i < W; ++i) one(i);
    } else {
      for_active(m, one);
    }
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> fetch_or(const mask<b, W>& m, T* p, const lanes<I>& index,
                                           const lanes<T>& a) const {
    lanes<T> r(T{});
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA {
      r.lane[i] = fetch_or<o, s>(p[index.lane[i]], a.lane[i]);
    });
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> fetch_and(const mask<b, W>& m, T* p, const lanes<I>& index,
                                            const lanes<T>& a) const {
    lanes<T> r(T{});
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA {
      r.lane[i] = fetch_and<o, s>(p[index.lane[i]], a.lane[i]);
    });
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> fetch_min(const mask<b, W>& m, T* p, const lanes<I>& index,
                                            const lanes<T>& a) const {
    lanes<T> r(T{});
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA {
      r.lane[i] = fetch_min<o, s>(p[index.lane[i]], a.lane[i]);
    });
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> fetch_max(const mask<b, W>& m, T* p, const lanes<I>& index,
                                            const lanes<T>& a) const {
    lanes<T> r(T{});
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA {
      r.lane[i] = fetch_max<o, s>(p[index.lane[i]], a.lane[i]);
    });
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> exchange(const mask<b, W>& m, T* p, const lanes<I>& index,
                                           const lanes<T>& a) const {
    lanes<T> r(T{});
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA {
      r.lane[i] = exchange<o, s>(p[index.lane[i]], a.lane[i]);
    });
    return r;
  }
  template <order o = order::acq_rel, scope s = scope::device, int b, class T, class I>
  LANEWISE_SIMD_FUNCTION lanes<T> compare_exchange(const mask<b, W>& m, T* p, const lanes<I>& index,
                                                   const lanes<T>& expected,
                                                   const lanes<T>& desired) const {
    lanes<T> r = expected;
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA {
      r.lane[i] = compare_exchange<o, s>(p[index.lane[i]], expected.lane[i], desired.lane[i]);
    });
    return r;
  }
  template <int b, class T>
  LANEWISE_SIMD_FUNCTION int compress_store(T* p, const mask<b, W>& m, const lanes<T>& a) const {
    return compress_to<false>(p, m, a);
  }
  template <int b, class T>
  LANEWISE_SIMD_FUNCTION int compress_store_over(T* p, const mask<b, W>& m,
                                                 const lanes<T>& a) const {
    return compress_to<true>(p, m, a);
  }
  /// Whether a core guesses better what a load waits for where neighbouring items have instructions
  /// of their own: see for_each_by_cursors.
  static bool guesses_by_instruction() {
#if HWY_ARCH_X86
    return __builtin_cpu_is("amd") != 0;
#else
    return false;
#endif
  }
  /// From how many items on a gather is faster than a loop whose end is guessed wrong. AMD's
  /// gathers are slow. (Zen 5, one core, spmv, of a plain loop's rate: 10 items a row 0.57 by
  /// gathers and 0.98 by a loop, 32 items 1.4 and 1.0.) Without an instruction a gather is such a
  /// loop. (AVX2: 0.22 and 0.98.)
  template <class T, class I>
  static double items_worth_a_gather() {
    if (!has_gather_instruction<T, I>) return std::numeric_limits<double>::infinity();
#if HWY_ARCH_X86
    if (__builtin_cpu_is("amd")) return 24;
#endif
    return 2.5;
  }
  static LANEWISE_SIMD_FUNCTION void prefetch(const void* p) {
    __builtin_prefetch(p);
  }
  static LANEWISE_SIMD_FUNCTION void prefetch_to_write(const void* p) {
    __builtin_prefetch(p, 1);
  }
  template <int b, class T, class I>
  LANEWISE_SIMD_FUNCTION void prefetch(const mask<b, W>& m, const T* p,
                                       const lanes<I>& index) const {
    if (all(m)) {
      for (int i = 0; i < W; ++i) __builtin_prefetch(p + index.lane[i]);
    } else {
      for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA { __builtin_prefetch(p + index.lane[i]); });
    }
  }

  /// A row of W packs of v items in columns: column c has item c of every pack. The packs are in
  /// some order, in which the first and the last pack are the first and the last lane.
  template <int v, class T>
  LANEWISE_SIMD_FUNCTION void load_columns(const T* p, lanes<T> (&column)[v]) const {
    if constexpr (detail::packs_are_blocks<T, v>) {
      constexpr int n = detail::per_vector<T, W>;
      detail::unrolled<detail::vectors<T, W>>([&](auto group) LANEWISE_INLINE_LAMBDA {
        const detail::tag<T, W> d;
        hn::Vec<detail::tag<T, W>> x[v];
        detail::unrolled<v>([&](auto c) LANEWISE_INLINE_LAMBDA {
          x[c] = detail::load_vector(d, p + (group * v + c) * n);
        });
        detail::transpose_blocks(d, x);
        detail::unrolled<v>([&](auto c) LANEWISE_INLINE_LAMBDA { column[c].set(group, x[c]); });
      });
    } else {
      for (int c = 0; c < v; ++c) {
        for (int i = 0; i < W; ++i) column[c].lane[i] = p[i * v + c];
      }
    }
  }
  template <int v, class T>
  LANEWISE_SIMD_FUNCTION void store_columns(T* p, const lanes<T> (&column)[v]) const {
    if constexpr (detail::packs_are_blocks<T, v>) {
      constexpr int n = detail::per_vector<T, W>;
      detail::unrolled<detail::vectors<T, W>>([&](auto group) LANEWISE_INLINE_LAMBDA {
        const detail::tag<T, W> d;
        hn::Vec<detail::tag<T, W>> x[v];
        detail::unrolled<v>([&](auto c) LANEWISE_INLINE_LAMBDA { x[c] = column[c].get(group); });
        detail::transpose_blocks(d, x);
        detail::unrolled<v>([&](auto c) LANEWISE_INLINE_LAMBDA {
          detail::store_vector(d, x[c], p + (group * v + c) * n);
        });
      });
    } else {
      for (int c = 0; c < v; ++c) {
        for (int i = 0; i < W; ++i) p[i * v + c] = column[c].lane[i];
      }
    }
  }
  /// scan_by_doubling of a column, and the column moved up by one pack, lane 0 keeping its own.
  template <int v, class T, class Op>
  LANEWISE_SIMD_FUNCTION lanes<T> scan_column(const lanes<T>& a, Op op) const {
    lanes<T> r = a;
    if constexpr (detail::packs_are_blocks<T, v> && detail::in_vectors<Op, T>) {
      detail::unrolled<std::countr_zero(unsigned{W})>([&](auto step) LANEWISE_INLINE_LAMBDA {
        r = detail::move_packs<v, 1 << step>(r, [](auto below, auto here) LANEWISE_INLINE_LAMBDA {
          return detail::apply_exactly<Op>(below, here);
        });
      });
    } else {
      constexpr auto at = detail::lane_of_pack<T, v, W>;
      for (int k = 1; k < W; k *= 2) {
        for (int i = W - 1; i >= k; --i) r.lane[at(i)] = op(r.lane[at(i - k)], r.lane[at(i)]);
      }
    }
    return r;
  }
  template <int v, class T>
  LANEWISE_SIMD_FUNCTION lanes<T> column_up(const lanes<T>& a) const {
    if constexpr (detail::packs_are_blocks<T, v>) {
      return detail::move_packs<v, 1>(
          a, [](auto below, auto) LANEWISE_INLINE_LAMBDA { return below; });
    } else {
      return shuffle_up(a, 1);
    }
  }

  // Uniform effects. Atomics of scope team are plain: a team is one thread, which sees its own
  // effects in order. On one core of a Xeon with AVX-512 2^24 counts in 256 places take 30 ms, and
  // 171 ms with locked instructions.
  template <class F>
  LANEWISE_SIMD_FUNCTION auto once(F f) const {
    return f();
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_SIMD_FUNCTION T load(const T& ref) const {
    return std::atomic_ref<T>(const_cast<T&>(ref)).load(detail::std_order<o>);
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_SIMD_FUNCTION void store(T& ref, std::type_identity_t<T> x) const {
    if constexpr (o != order::relaxed && s == scope::device) hwy::FlushStream();
    std::atomic_ref<T>(ref).store(x, detail::std_order<o>);
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_SIMD_FUNCTION T fetch_add(T& ref, std::type_identity_t<T> x) const {
    if constexpr (s == scope::team) {
      return detail::replace(
          ref, [=](T before) LANEWISE_INLINE_LAMBDA { return detail::sum(before, x); });
    } else {
      return std::atomic_ref<T>(ref).fetch_add(x, detail::std_order<o>);
    }
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_SIMD_FUNCTION T fetch_or(T& ref, std::type_identity_t<T> x) const {
    if constexpr (s == scope::team) {
      return detail::replace(
          ref, [=](T before) LANEWISE_INLINE_LAMBDA { return static_cast<T>(before | x); });
    } else {
      return std::atomic_ref<T>(ref).fetch_or(x, detail::std_order<o>);
    }
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_SIMD_FUNCTION T fetch_and(T& ref, std::type_identity_t<T> x) const {
    if constexpr (s == scope::team) {
      return detail::replace(
          ref, [=](T before) LANEWISE_INLINE_LAMBDA { return static_cast<T>(before & x); });
    } else {
      return std::atomic_ref<T>(ref).fetch_and(x, detail::std_order<o>);
    }
  }
  template <order o = order::relaxed, scope s = scope::device, detail::integer T>
  LANEWISE_SIMD_FUNCTION T fetch_min(T& ref, std::type_identity_t<T> x) const {
    return changed<o, s>(ref,
                         [=](T before) LANEWISE_INLINE_LAMBDA { return x < before ? x : before; });
  }
  template <order o = order::relaxed, scope s = scope::device, detail::integer T>
  LANEWISE_SIMD_FUNCTION T fetch_max(T& ref, std::type_identity_t<T> x) const {
    return changed<o, s>(ref,
                         [=](T before) LANEWISE_INLINE_LAMBDA { return before < x ? x : before; });
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_SIMD_FUNCTION T exchange(T& ref, std::type_identity_t<T> x) const {
    if constexpr (s == scope::team) {
      return detail::replace(ref, [&](const T&) LANEWISE_INLINE_LAMBDA { return x; });
    } else {
      return std::atomic_ref<T>(ref).exchange(x, detail::std_order<o>);
    }
  }
  template <order o = order::acq_rel, scope s = scope::device, class T>
  LANEWISE_SIMD_FUNCTION T compare_exchange(T& ref, std::type_identity_t<T> expected,
                                            std::type_identity_t<T> desired) const {
    if constexpr (s == scope::team) {
      return detail::replace(ref, [&](const T& before) LANEWISE_INLINE_LAMBDA {
        return std::memcmp(&before, &expected, sizeof(T)) == 0 ? desired : before;
      });
    } else if constexpr (sizeof(T) == 16) {
      static_assert(has_wide_exchange, "this machine has no 16-byte compare and exchange");
      return detail::exchange_wide(&ref, expected, desired);
    } else {
      std::atomic_ref<T>(ref).compare_exchange_strong(expected, desired, detail::std_order<o>);
      return expected;
    }
  }
  LANEWISE_SIMD_FUNCTION void fence() const {}
  LANEWISE_SIMD_FUNCTION void full_fence() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  /// Between two looks at memory that somebody else writes; there may be more threads than cores.
  LANEWISE_SIMD_FUNCTION void pause() const {
    std::this_thread::yield();
  }

  // Sub-warps, one after the other.
  template <int w, class F>
  LANEWISE_SIMD_FUNCTION void split(F f) const {
    static_assert(w <= W);
    for (int g = 0; g < W / w; ++g) f(warp<w>(g));
  }
  template <class T, int V>
  LANEWISE_SIMD_FUNCTION lanes<T> take(const simd::lanes<T, V>& a) const {
    return load(a.lane + group_ * W);
  }
  template <int b, int V>
  LANEWISE_SIMD_FUNCTION mask<b, W> take(const mask<b, V>& m) const {
    return mask<b, W>(static_cast<bits>(m.ballot() >> (group_ * W)));
  }
  template <class T, int V>
  LANEWISE_SIMD_FUNCTION void put(simd::lanes<T, V>& a, const lanes<T>& own) const {
    constexpr int bytes = sizeof own.lane;
    if constexpr (detail::vectorizable<T>) {
      const detail::tag<T, V> d;
      const detail::words_tag<T, V> u;
      constexpr int n = detail::per_vector<T, V>;
      if constexpr (W < n) {
        // Blended into its vector, because a load of the whole would not be forwarded from a
        // narrower store.
        hn::Vec<detail::tag<T, V>> repeated;
        if constexpr (bytes == 32) {
          repeated = hn::Combine(d, own.get(0), own.get(0));
        } else if constexpr (bytes == 16) {
          repeated = hn::BroadcastBlock<0>(hn::ResizeBitCast(d, own.get(0)));
        } else {
          detail::word<bytes> all;
          std::memcpy(&all, own.lane, bytes);
          repeated = hn::BitCast(
              d, hn::Set(hn::Repartition<detail::word<bytes>, detail::tag<T, V>>(), all));
        }
        using word = detail::word<sizeof(T)>;
        const auto group = hn::And(hn::Iota(u, 0), hn::Set(u, static_cast<word>(-W)));
        const auto here = hn::Eq(group, hn::Set(u, static_cast<word>(group_ * W % n)));
        const int vector = group_ * W / n;
        a.set(vector, hn::IfThenElse(hn::RebindMask(d, here), repeated, a.get(vector)));
        return;
      }
    }
    store(a.lane + group_ * W, own);
  }

 private:
  template <int>
  friend class warp;
  explicit warp(int group) : group_(group) {}

  template <class P>
  using flags_of = pack_flags<typename P::value_type, P::size>;

  /// Targets whose masked instructions leave the memory of inactive lanes alone.
  template <class T>
  static constexpr bool masked_access = detail::vectorizable<T> &&
                                        (detail::predicate_registers ||
                                         (HWY_TARGET <= HWY_AVX2 && sizeof(T) >= 4));

  /// Whether lanes of T are gathered by an instruction for each vector. It does not branch for each
  /// active lane, so that more of them wait for the caches at the same time. (One core of a Xeon,
  /// 2^20 vertices: bfs kron 42 to 30 ms, components kron 41 to 24, of a lattice 12 to 6.)
  template <class T, class I>
  static constexpr bool has_gather_instruction = detail::predicate_registers&& detail::integer<I> &&
                                                 ((sizeof(T) == 4 && sizeof(I) == 4) ||
                                                  (sizeof(T) == 8 && sizeof(I) >= 4));
  /// Sanitizers do not look into it.
#if LANEWISE_ADDRESS_SANITIZER || LANEWISE_THREAD_SANITIZER
  template <class T, class I>
  static constexpr bool has_gather = false;
#else
  template <class T, class I>
  static constexpr bool has_gather = has_gather_instruction<T, I>;
#endif
  template <int b, class T, class I>
  static LANEWISE_SIMD_FUNCTION lanes<std::remove_const_t<T>> gather_vectors(
      const mask<b, W>& m, T* p, const lanes<I>& index, std::remove_const_t<T> otherwise) {
    using V = std::remove_const_t<T>;
    using place = detail::word<sizeof(V), true>;
    const detail::tag<V, W> d;
    const detail::tag<place, W> di;
    const mask_for<V> fitting(m);
    // The instruction's indices have a sign. Those of 32 bits without one are counted from the
    // middle of their range.
    constexpr bool from_middle = sizeof(V) == 4 && std::is_unsigned_v<I>;
    constexpr auto middle = static_cast<place>(from_middle ? std::uint64_t{1} << 31 : 0);
    const auto* base = reinterpret_cast<const detail::element_t<V>*>(
        reinterpret_cast<std::uintptr_t>(p) +
        (from_middle ? (std::uintptr_t{1} << 31) * sizeof(V) : 0));
    const auto at = detail::resize<place>(index);
    lanes<V> r(otherwise);
    detail::unrolled<detail::vectors<V, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
      r.set(c, hn::MaskedGatherIndexOr(r.get(c), fitting.get_valid(d, c), d, base,
                                       hn::Xor(at.get(c), hn::Set(di, middle))));
    });
    return r;
  }

  template <class T>
  static LANEWISE_SIMD_FUNCTION lanes<T> iota() {
    lanes<T> r;
    detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
      r.set(c, hn::Iota(detail::tag<T, W>(), c * detail::per_vector<T, W>));
    });
    return r;
  }
  template <int b, class F>
  static LANEWISE_SIMD_FUNCTION void for_active(const mask<b, W>& m, F f) {
    for (bits todo = m.ballot(); todo != 0; todo &= todo - 1) f(lowest(todo));
  }
  /// The active lanes of a to p, in order; over says that all of p[0, W) may be written.
  template <bool over, int b, class T>
  LANEWISE_SIMD_FUNCTION int compress_to(T* p, const mask<b, W>& m, const lanes<T>& a) const {
    const bits chosen = ballot(m);
    const int total = popcount(chosen);
    if constexpr (detail::vectorizable<T> && (sizeof(T) > 1 || HWY_TARGET <= HWY_AVX3_DL)) {
      using word = detail::word<sizeof(T)>;
      const detail::words_tag<T, W> u;
      constexpr int n = detail::per_vector<T, W>;
      const mask_for<T> fitting(m);
      int done = 0;
      detail::unrolled<detail::vectors<T, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
        const auto v = detail::compress(u, hn::BitCast(u, a.get(c)), fitting.get_for(u, c));
        int here;
        if constexpr (detail::predicate_registers) {
          here = popcount(fitting.ballot_of(c));
        } else {
          here = popcount((chosen >> (c * n)) & (~bits{0} >> (sizeof(bits) * 8 - n)));
        }
        auto* to = reinterpret_cast<word*>(p + done);
        // A whole vector fits where the values still to come cover what it writes too much.
        if (over || (!detail::predicate_registers && done + n <= total)) {
          detail::store_vector(u, v, to);
        } else {
          hn::StoreN(v, u, to, static_cast<std::size_t>(here));
        }
        done += here;
      });
      return done;
    } else if constexpr (detail::vectorizable<T> && W % detail::compressed_bytes == 0) {
      constexpr int n = detail::compressed_bytes;
      int done = 0;
      for (int i = 0; i < W; i += n) {
        const bits here = chosen >> i & ((bits{1} << n) - 1);
        const hn::FixedTag<std::uint8_t, n> bytes;
        const auto v = detail::compress_bytes(reinterpret_cast<const std::uint8_t*>(a.lane + i),
                                              static_cast<std::uint16_t>(here));
        auto* to = reinterpret_cast<std::uint8_t*>(p + done);
        const int many = popcount(here);
        if (over || done + n <= total) {
          hn::StoreU(v, bytes, to);
        } else {
          hn::StoreN(v, bytes, to, static_cast<std::size_t>(many));
        }
        done += many;
      }
    } else {
      for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA { *p++ = a.lane[i]; });
    }
    return total;
  }
  template <class T, class F>
  static LANEWISE_SIMD_FUNCTION lanes<T> permute(const lanes<T>& a, F source) {
    lanes<T> r;
    for (int i = 0; i < W; ++i) r.lane[i] = a.lane[source(i)];
    return r;
  }
  /// Lane i + k's value in lane i, where there is such a lane.
  template <class T>
  static LANEWISE_SIMD_FUNCTION lanes<T> slide(const lanes<T>& a, int k) {
    if constexpr (detail::vectorizable<T>) {
      constexpr int n = detail::per_vector<T, W>;
      constexpr int last = W / n - 1;
      using word = detail::word<sizeof(T)>;
      const detail::tag<T, W> d;
      const detail::words_tag<T, W> u;
      k = std::clamp(k, -W, W);
      lanes<T> r;
      detail::unrolled<last + 1>([&](auto c) LANEWISE_INLINE_LAMBDA {
        const int from = c * n + k;
        const int lower = from >> std::countr_zero(unsigned{n});
        const auto place = hn::Iota(u, static_cast<word>(from & (n - 1)));
        const auto moved = hn::TwoTablesLookupLanes(d, a.get(std::clamp(lower, 0, last)),
                                                    a.get(std::clamp(lower + 1, 0, last)),
                                                    hn::IndicesFromVec(d, place));
        const auto exists = hn::Lt(hn::Iota(u, static_cast<word>(from)), hn::Set(u, word{W}));
        r.set(c, hn::IfThenElse(hn::RebindMask(d, exists), moved, a.get(c)));
      });
      return r;
    } else {
      return permute(
          a, [&](int i) LANEWISE_INLINE_LAMBDA { return i + k >= 0 && i + k < W ? i + k : i; });
    }
  }
  /// A value that changes nothing when it takes part in a reduction in which x does.
  template <class Op, class T>
  static LANEWISE_SIMD_FUNCTION T spare(T x) {
    return detail::idempotent<Op> ? x : static_cast<T>(detail::one_of<Op, multiplies>);
  }
  template <class Op, class T>
  static LANEWISE_SIMD_FUNCTION T fold(const lanes<T>& a) {
    auto v = a.get(0);
    detail::unrolled<detail::vectors<T, W> - 1>(
        [&](auto c) LANEWISE_INLINE_LAMBDA { v = detail::apply<Op>(v, a.get(c + 1)); });
    return static_cast<T>(detail::fold_vector<Op>(detail::tag<T, W>(), v));
  }
  template <class T, class Op>
  static LANEWISE_SIMD_FUNCTION T fold_scalars(const lanes<T>& a, Op op, int begin, int end) {
    T x = a.lane[begin];
    for (int i = begin + 1; i < end; ++i) x = op(x, a.lane[i]);
    return x;
  }
  /// The last lane of one vector, everywhere.
  template <class T>
  static LANEWISE_SIMD_FUNCTION auto last(const lanes<T>& a, int vector) {
    return hn::BroadcastLane<detail::per_vector<T, W> - 1>(a.get(vector));
  }
  /// The active lanes whose bucket is the number that each lane names, by the bits that numbers
  /// below count have.
  template <int b>
  static LANEWISE_SIMD_FUNCTION lanes<bits> agreeing(const mask<b, W>& m, const lanes<bits>& bucket,
                                                     std::uint32_t count,
                                                     const lanes<bits>& named) {
    lanes<bits> same(m.ballot());
    lanes<bits> plane(1);
    for (std::uint64_t reach = 1; reach < count; reach *= 2) {
      const bits clear = ((bucket & plane) == lanes<bits>(0)).ballot();
      const lanes<bits> clear_here = spread((named & plane) == lanes<bits>(0));
      if constexpr (detail::predicate_registers) {  // one instruction joins three operands
        same = same & (lanes<bits>(~clear) ^ clear_here);
      } else {
        // g++ would move conjunctions after all votes, for which there are no registers.
        same = detail::by_vectors<bits>([](auto x, auto y)
                                            LANEWISE_INLINE_LAMBDA { return hn::AndNot(x, y); },
                                        lanes<bits>(clear) ^ clear_here, same);
      }
      plane = plane + plane;
    }
    return same;
  }
  /// All bits of the lanes where m holds.
  static LANEWISE_SIMD_FUNCTION lanes<bits> spread(const mask_for<bits>& m) {
    lanes<bits> r;
    detail::unrolled<detail::vectors<bits, W>>([&](auto c) LANEWISE_INLINE_LAMBDA {
      const detail::tag<bits, W> d;
      r.set(c, hn::VecFromMask(d, m.get_for(d, c)));
    });
    return r;
  }
  static LANEWISE_SIMD_FUNCTION lanes<std::uint32_t> populations(const lanes<bits>& a) {
    return detail::resize<std::uint32_t>(detail::by_vectors<bits>(
        [](auto v) LANEWISE_INLINE_LAMBDA {
          if constexpr (HWY_TARGET <= HWY_AVX3_DL) {
            return hn::PopulationCount(v);
          } else {
            const hn::Repartition<std::uint8_t, detail::tag<bits, W>> u;
            const auto bytes = hn::PopulationCount(hn::BitCast(u, v));
            if constexpr (W > 32) return hn::SumsOf8(bytes);
            if constexpr (W <= 32) {
              const hn::Repartition<std::int16_t, decltype(u)> pairs;
              const hn::Repartition<std::int32_t, decltype(u)> sums;
              const hn::RebindToSigned<decltype(u)> weights;
              const auto by_two = hn::SatWidenMulPairwiseAdd(pairs, bytes, hn::Set(weights, 1));
              return hn::BitCast(detail::tag<bits, W>(),
                                 hn::WidenMulPairwiseAdd(sums, by_two, hn::Set(pairs, 1)));
            }
          }
        },
        a));
  }
  template <order o, scope s, class T, class F>
  static LANEWISE_SIMD_FUNCTION T changed(T& ref, F f) {
    if constexpr (s == scope::team) {
      return detail::replace(ref, f);
    } else {
      return detail::replace_atomically<o>(ref, f);
    }
  }
  template <std::memory_order o, int b, class T, class I>
  static LANEWISE_SIMD_FUNCTION lanes<T> racing_load(const mask<b, W>& m, const T* p,
                                                     const lanes<I>& index, T otherwise) {
    if constexpr (has_gather<T, I>) {
      // In one piece each, as vectors are (see load_relaxed).
      std::atomic_signal_fence(std::memory_order_seq_cst);
      const lanes<T> r = gather_vectors(m, p, index, otherwise);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if constexpr (o == std::memory_order_acquire)
        std::atomic_thread_fence(std::memory_order_acquire);
      return r;
    }
    lanes<T> r(otherwise);
    for_active(m, [&](int i) LANEWISE_INLINE_LAMBDA {
      r.lane[i] = std::atomic_ref<T>(const_cast<T&>(p[index.lane[i]])).load(o);
    });
    return r;
  }

  int group_ = 0;
};

}  // namespace HWY_NAMESPACE
}  // namespace backends::simd
LANEWISE_END_NAMESPACE
