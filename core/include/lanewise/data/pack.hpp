// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

namespace detail {
constexpr std::size_t pack_alignment(std::size_t bytes) {
  const std::size_t limit = bytes < 16 ? bytes : 16;
  return (bytes & (bytes - 1)) == 0 ? limit : 1;
}
}  // namespace detail

/// k neighbouring items that travel together as one lane element, so that narrow items use whole
/// memory accesses. Aligned to its size up to 16 bytes when the size is a power of two.
template <class T, int k>
struct alignas(detail::pack_alignment(k * sizeof(T)) < alignof(T)
                   ? alignof(T)
                   : detail::pack_alignment(k * sizeof(T))) pack {
  using value_type = T;
  static constexpr int size = k;

  T item[k];

  LANEWISE_FUNCTION constexpr T& operator[](int i) { return item[i]; }
  LANEWISE_FUNCTION constexpr const T& operator[](int i) const { return item[i]; }
  friend LANEWISE_FUNCTION constexpr bool operator==(const pack& a, const pack& b) {
    bool equal = true;
    LANEWISE_UNROLL
    for (int i = 0; i < k; ++i) equal = equal && a.item[i] == b.item[i];
    return equal;
  }

#define LANEWISE_PACK_BINARY(op)                                                      \
  friend LANEWISE_FUNCTION constexpr pack operator op(const pack& a, const pack& b) { \
    pack r{};                                                                         \
    LANEWISE_UNROLL                                                                   \
    for (int i = 0; i < k; ++i) r.item[i] = static_cast<T>(a.item[i] op b.item[i]);   \
    return r;                                                                         \
  }
  LANEWISE_PACK_BINARY(+)
  LANEWISE_PACK_BINARY(-)
  LANEWISE_PACK_BINARY(&)
  LANEWISE_PACK_BINARY(|)
  LANEWISE_PACK_BINARY(^)
#undef LANEWISE_PACK_BINARY
  friend LANEWISE_FUNCTION constexpr pack operator~(const pack& a) {
    pack r{};
    LANEWISE_UNROLL
    for (int i = 0; i < k; ++i) r.item[i] = static_cast<T>(~a.item[i]);
    return r;
  }
};

/// A pack as memory words, so that its bytes stay together in registers, and back.
template <class T, int k>
LANEWISE_FUNCTION auto words_of(const pack<T, k>& items) {
  pack<std::uint32_t, k* static_cast<int>(sizeof(T)) / 4> words;
  std::memcpy(&words, &items, sizeof(items));
  return words;
}
template <class Pack, int k>
LANEWISE_FUNCTION Pack items_of(const pack<std::uint32_t, k>& words) {
  Pack items;
  std::memcpy(&items, &words, sizeof(items));
  return items;
}

/// How many items lie between an address and the multiple of `bytes` before it; 0 where items
/// may lie across that, by their size or by their alignment.
template <int bytes, class Item>
LANEWISE_FUNCTION int items_past(const Item* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool whole = bytes % sizeof(Item) == 0 && at % sizeof(Item) == 0;
  return whole ? static_cast<int>(at % bytes / sizeof(Item)) : 0;
}

/// Two packs of items one after the other, as words: as many items as one pack has, from the one at
/// `past` of the first pack on. Log2 k selections of every word, and a shift where items are
/// narrower than words.
template <class T, int k>
LANEWISE_FUNCTION pack<std::uint32_t, k> items_across(const pack<std::uint32_t, k>& a,
                                                      const pack<std::uint32_t, k>& b, int past) {
  const std::uint32_t first = static_cast<std::uint32_t>(past) * sizeof(T);
  std::uint32_t word[2 * k];
  LANEWISE_UNROLL
  for (int i = 0; i < 2 * k; ++i) word[i] = i < k ? a[i < k ? i : 0] : b[i < k ? 0 : i - k];
  LANEWISE_UNROLL
  for (int step = k / 2; step > 0; step /= 2) {
    const bool moves = (first / 4 & static_cast<std::uint32_t>(step)) != 0;
    LANEWISE_UNROLL
    for (int i = 0; i + step < 2 * k; ++i) word[i] = moves ? word[i + step] : word[i];
  }
  pack<std::uint32_t, k> r;
  LANEWISE_UNROLL
  for (int i = 0; i < k; ++i) {
    r[i] = word[i];
    if constexpr (sizeof(T) < 4) {
      const std::uint64_t both = std::uint64_t{word[i + 1]} << 32 | word[i];
      r[i] = static_cast<std::uint32_t>(both >> (first % 4 * 8));
    }
  }
  return r;
}

/// One flag per integer of a pack: all bits set, or none.
template <class T, int k>
using pack_flags = pack<std::make_unsigned_t<T>, k>;

namespace detail {

template <class T>
inline constexpr bool is_pack = false;
template <class T, int k>
inline constexpr bool is_pack<pack<T, k>> = true;

// What is computed item by item: of one item, and on CUDA of a word of 8- or 16-bit items.
#if defined(__CUDA_ARCH__)
template <class T>
inline constexpr bool in_words = sizeof(T) <= 2;
#else
template <class T>
inline constexpr bool in_words = false;
#endif

struct equal_items {
  template <class T>
  using result = std::make_unsigned_t<T>;
  template <class T>
  static LANEWISE_FUNCTION result<T> of(T a, T b) {
    return static_cast<result<T>>(a == b ? -1 : 0);
  }
#if defined(__CUDA_ARCH__)
  template <class T>
  static LANEWISE_FUNCTION std::uint32_t of_words(std::uint32_t a, std::uint32_t b) {
    return sizeof(T) == 1 ? __vcmpeq4(a, b) : __vcmpeq2(a, b);
  }
#endif
};

struct less_items {
  template <class T>
  using result = std::make_unsigned_t<T>;
  template <class T>
  static LANEWISE_FUNCTION result<T> of(T a, T b) {
    return static_cast<result<T>>(a < b ? -1 : 0);
  }
#if defined(__CUDA_ARCH__)
  template <class T>
  static LANEWISE_FUNCTION std::uint32_t of_words(std::uint32_t a, std::uint32_t b) {
    if (std::is_signed_v<T>) return sizeof(T) == 1 ? __vcmplts4(a, b) : __vcmplts2(a, b);
    return sizeof(T) == 1 ? __vcmpltu4(a, b) : __vcmpltu2(a, b);
  }
#endif
};

struct smaller_items {
  template <class T>
  using result = T;
  template <class T>
  static LANEWISE_FUNCTION T of(T a, T b) {
    return b < a ? b : a;
  }
#if defined(__CUDA_ARCH__)
  template <class T>
  static LANEWISE_FUNCTION std::uint32_t of_words(std::uint32_t a, std::uint32_t b) {
    if (std::is_signed_v<T>) return sizeof(T) == 1 ? __vmins4(a, b) : __vmins2(a, b);
    return sizeof(T) == 1 ? __vminu4(a, b) : __vminu2(a, b);
  }
#endif
};

struct larger_items {
  template <class T>
  using result = T;
  template <class T>
  static LANEWISE_FUNCTION T of(T a, T b) {
    return a < b ? b : a;
  }
#if defined(__CUDA_ARCH__)
  template <class T>
  static LANEWISE_FUNCTION std::uint32_t of_words(std::uint32_t a, std::uint32_t b) {
    if (std::is_signed_v<T>) return sizeof(T) == 1 ? __vmaxs4(a, b) : __vmaxs2(a, b);
    return sizeof(T) == 1 ? __vmaxu4(a, b) : __vmaxu2(a, b);
  }
#endif
};

template <class Op>
struct item_by_item {
  template <class T, int k>
  LANEWISE_FUNCTION auto operator()(const pack<T, k>& a, const pack<T, k>& b) const {
    pack<typename Op::template result<T>, k> r;
    if constexpr (in_words<T> && sizeof(a) % 4 == 0) {
      std::uint32_t x[sizeof(a) / 4], y[sizeof(a) / 4];
      std::memcpy(x, &a, sizeof(a));
      std::memcpy(y, &b, sizeof(b));
      LANEWISE_UNROLL
      for (std::size_t i = 0; i < sizeof(a) / 4; ++i) x[i] = Op::template of_words<T>(x[i], y[i]);
      std::memcpy(&r, x, sizeof(a));
    } else {
      LANEWISE_UNROLL
      for (int i = 0; i < k; ++i) r[i] = Op::of(a[i], b[i]);
    }
    return r;
  }
};

struct select_by_flags {
  template <class T, int k>
  LANEWISE_FUNCTION pack<T, k> operator()(const pack_flags<T, k>& flags, const pack<T, k>& a,
                                          const pack<T, k>& b) const {
    pack<T, k> r;
    LANEWISE_UNROLL
    for (int i = 0; i < k; ++i) r[i] = static_cast<T>((a[i] & flags[i]) | (b[i] & ~flags[i]));
    return r;
  }
};

/// Bit i is flag i.
struct bits_of_flags {
  template <class T, int k>
  LANEWISE_FUNCTION std::uint32_t operator()(const pack<T, k>& flags) const {
    std::uint32_t bits = 0;
    LANEWISE_UNROLL
    for (int i = 0; i < k; ++i) bits |= static_cast<std::uint32_t>(flags[i] & 1) << i;
    return bits;
  }
};

/// Bit i says that word i of a pack equals x.
struct bits_of_equal_words {
  template <class P, class T>
  LANEWISE_FUNCTION std::uint32_t operator()(const P& a, T x) const {
    constexpr int words = sizeof(P) / sizeof(T);
    static_assert(words <= 32 && sizeof(P) % sizeof(T) == 0);
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 1 && words % 8 == 0) return of_bytes(a, x);
#endif
    T word[words];
    std::memcpy(word, &a, sizeof(P));
    std::uint32_t bits = 0;
    LANEWISE_UNROLL
    for (int i = 0; i < words; ++i) bits |= static_cast<std::uint32_t>(word[i] == x) << i;
    return bits;
  }

#if defined(__CUDA_ARCH__)
 private:
  /// A byte of `differs` has its highest bit where the byte of the word is not zero: there is no
  /// carry from one byte to the next. Sums of products of bytes bring the bits of two words
  /// together: 22 instructions for 16 bytes. Comparisons one by one take some 60.
  template <class P, class T>
  static __device__ std::uint32_t of_bytes(const P& a, T x) {
    constexpr int words = sizeof(P) / 4;
    const std::uint32_t all = 0x01010101u * static_cast<unsigned char>(x);
    std::uint32_t word[words], bits = 0;
    memcpy(word, &a, sizeof(P));
    LANEWISE_UNROLL
    for (int i = 0; i < words; i += 2) {
      const std::uint32_t of_two =
          __dp4a(equal_to_zero(word[i] ^ all), 0x08040201u,
                 __dp4a(equal_to_zero(word[i + 1] ^ all), 0x80402010u, 0u));
      bits |= of_two >> 7 << 4 * i;
    }
    return bits;
  }
  static __device__ std::uint32_t equal_to_zero(std::uint32_t word) {
    constexpr std::uint32_t low = 0x7f7f7f7f;
    const std::uint32_t differs = ((word & low) + low) | word;
    return ~(differs | low);
  }
#endif
};

}  // namespace detail
LANEWISE_END_NAMESPACE
