// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/warp/warp.hpp>

#include <cuda/atomic>

#include <cstdint>
#include <cstring>

LANEWISE_BEGIN_NAMESPACE
namespace backends::cuda {

// Functions name their return type, and never say auto. nvcc also compiles the host's side of code
// for both sides, such as a lambda of Kokkos. There it leaves these functions without a body, so
// that auto would be void. The host never gets to call them.
#if defined(__CUDACC_DEBUG__)
#define LANEWISE_CUDA_FUNCTION __device__ inline
#else
#define LANEWISE_CUDA_FUNCTION __device__ __forceinline__
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "Lanewise needs CUDA devices of compute capability 8.0 or higher"
#endif

/// Whether all devices that are compiled for are at least of that architecture: the same on the
/// host and in every pass for a device, so that types are, too.
constexpr bool compiled_from(int architecture) {
#ifdef __CUDA_ARCH_LIST__
  for (const int a : {__CUDA_ARCH_LIST__}) {
    if (a < architecture) return false;
  }
  return true;
#else
  return false;
#endif
}

/// A type of `bytes` bytes that one instruction moves.
template <std::size_t bytes>
using word_of = std::conditional_t<
    bytes == 1, unsigned char,
    std::conditional_t<
        bytes == 2, unsigned short,
        std::conditional_t<bytes == 4, unsigned,
                           std::conditional_t<bytes == 8, unsigned long long, uint4>>>>;
template <class T>
inline constexpr bool moves_as_word = sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0 &&
                                      alignof(T) >= sizeof(T);

template <caching c, class Word>
LANEWISE_CUDA_FUNCTION Word load_word(const Word* p) {
  if constexpr (c == caching::all_levels) return __ldca(p);
  if constexpr (c == caching::second_level) return __ldcg(p);
  if constexpr (c == caching::streaming) return __ldcs(p);
  if constexpr (c == caching::none) return __ldcv(p);
}
/// Stores do not stay in the first level: all levels is what is usual.
template <caching c, class Word>
LANEWISE_CUDA_FUNCTION void store_word(Word* p, const Word& x) {
  if constexpr (c == caching::all_levels) __stwb(p, x);
  if constexpr (c == caching::second_level) __stcg(p, x);
  if constexpr (c == caching::streaming) __stcs(p, x);
  if constexpr (c == caching::none) __stwt(p, x);
}

/// One predicate register per thread.
struct mask {
  bool value;

  friend LANEWISE_CUDA_FUNCTION mask operator&(mask a, mask b) { return {a.value && b.value}; }
  friend LANEWISE_CUDA_FUNCTION mask operator|(mask a, mask b) { return {a.value || b.value}; }
  friend LANEWISE_CUDA_FUNCTION mask operator!(mask a) { return {!a.value}; }
};

/// One T per thread. Nothing but a register.
template <class T>
struct lanes {
  using value_type = T;
  T value;

  lanes() = default;
  LANEWISE_CUDA_FUNCTION lanes(T x) : value(x) {}

#define LANEWISE_CUDA_BINARY(op)                                                    \
  friend LANEWISE_CUDA_FUNCTION lanes operator op(const lanes& a, const lanes& b) { \
    return lanes(T(a.value op b.value));                                            \
  }
  LANEWISE_CUDA_BINARY(+)
  LANEWISE_CUDA_BINARY(-)
  LANEWISE_CUDA_BINARY(*)
  LANEWISE_CUDA_BINARY(&)
  LANEWISE_CUDA_BINARY(|)
  LANEWISE_CUDA_BINARY(^)
  LANEWISE_CUDA_BINARY(<<)
  LANEWISE_CUDA_BINARY(>>)
#undef LANEWISE_CUDA_BINARY
  friend LANEWISE_CUDA_FUNCTION lanes operator<<(const lanes& a, int count) {
    return lanes(T(a.value << count));
  }
  friend LANEWISE_CUDA_FUNCTION lanes operator>>(const lanes& a, int count) {
    return lanes(T(a.value >> count));
  }
  friend LANEWISE_CUDA_FUNCTION lanes operator~(const lanes& a) {
    return lanes(T(~a.value));
  }
  static LANEWISE_CUDA_FUNCTION lanes select(mask m, const lanes& a, const lanes& b) {
    return lanes(m.value ? a.value : b.value);
  }
};

#define LANEWISE_CUDA_COMPARE(op)                                                         \
  template <class T>                                                                      \
  LANEWISE_CUDA_FUNCTION mask operator op(const lanes<T>& a, const lanes<T>& b) {         \
    return {a.value op b.value};                                                          \
  }                                                                                       \
  template <class T>                                                                      \
  LANEWISE_CUDA_FUNCTION mask operator op(const lanes<T>& a, std::type_identity_t<T> b) { \
    return {a.value op b};                                                                \
  }
LANEWISE_CUDA_COMPARE(==)
LANEWISE_CUDA_COMPARE(!=)
LANEWISE_CUDA_COMPARE(<)
LANEWISE_CUDA_COMPARE(<=)
LANEWISE_CUDA_COMPARE(>)
LANEWISE_CUDA_COMPARE(>=)
#undef LANEWISE_CUDA_COMPARE

using lanewise::select;

namespace detail {

/// Applies a 32-bit shuffle to every word of a trivially copyable value.
template <class T, class F>
LANEWISE_CUDA_FUNCTION T by_words(const T& x, F shuffle) {
  constexpr int words = (sizeof(T) + 3) / 4;
  std::uint32_t w[words];
  if constexpr (sizeof(T) % 4 != 0) w[words - 1] = 0;
  std::memcpy(w, &x, sizeof(T));
  LANEWISE_UNROLL
  for (int i = 0; i < words; ++i) w[i] = shuffle(w[i]);
  T y;
  std::memcpy(&y, w, sizeof(T));
  return y;
}

template <order o>
inline constexpr ::cuda::std::memory_order std_order =
    o == order::relaxed   ? ::cuda::std::memory_order_relaxed
    : o == order::acquire ? ::cuda::std::memory_order_acquire
    : o == order::release ? ::cuda::std::memory_order_release
                          : ::cuda::std::memory_order_acq_rel;
template <scope s>
inline constexpr ::cuda::thread_scope std_scope =
    s == scope::team ? ::cuda::thread_scope_block : ::cuda::thread_scope_device;

template <scope s, class T>
using atomic = ::cuda::atomic_ref<T, std_scope<s>>;

template <class T>
using unsigned_word = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
/// Minimum and maximum depend on the sign.
template <class T>
using ordered_word =
    std::conditional_t<std::is_signed_v<T>, std::make_signed_t<unsigned_word<T>>, unsigned_word<T>>;

// Changes of integers. Relaxed ones are the compiler's own operations: unlike those of atomic_ref,
// they know shared memory where they see it, and need not return what is not asked for. The others
// are instructions by name: atomic_ref calls through a pointer where nothing is inlined, and then
// it is not known how much stack a kernel needs.
#define LANEWISE_CUDA_ATOM(order_name, scope_name, operation, type, constraint)          \
  asm volatile("atom." order_name "." scope_name "." operation "." type " %0, [%1], %2;" \
               : "=" constraint(before)                                                  \
               : "l"(p), constraint(w)                                                   \
               : "memory")
#define LANEWISE_CUDA_ATOM_OF_SCOPE(order_name, operation, type, constraint) \
  if constexpr (s == scope::team)                                            \
    LANEWISE_CUDA_ATOM(order_name, "cta", operation, type, constraint);      \
  else                                                                       \
    LANEWISE_CUDA_ATOM(order_name, "gpu", operation, type, constraint)
#define LANEWISE_CUDA_ATOM_OF_ORDER(operation, type, constraint)         \
  if constexpr (o == order::acquire) {                                   \
    LANEWISE_CUDA_ATOM_OF_SCOPE("acquire", operation, type, constraint); \
  } else if constexpr (o == order::release) {                            \
    LANEWISE_CUDA_ATOM_OF_SCOPE("release", operation, type, constraint); \
  } else {                                                               \
    LANEWISE_CUDA_ATOM_OF_SCOPE("acq_rel", operation, type, constraint); \
  }
#define LANEWISE_CUDA_CHANGE(name, builtin, member, operation, words, kind, signed_kind) \
  template <order o, scope s, class T>                                                   \
  LANEWISE_CUDA_FUNCTION T name(T& ref, T x) {                                           \
    if constexpr (!std::is_integral_v<T> || sizeof(T) < 4) {                             \
      return atomic<s, T>(ref).member(x, std_order<o>);                                  \
    } else {                                                                             \
      using word = words<T>;                                                             \
      auto* p = reinterpret_cast<word*>(&ref);                                           \
      const auto w = static_cast<word>(x);                                               \
      if constexpr (o == order::relaxed) {                                               \
        return static_cast<T>(s == scope::team ? builtin##_block(p, w) : builtin(p, w)); \
      } else {                                                                           \
        word before;                                                                     \
        if constexpr (sizeof(T) == 4 && std::is_signed_v<word>) {                        \
          LANEWISE_CUDA_ATOM_OF_ORDER(operation, signed_kind "32", "r")                  \
        } else if constexpr (sizeof(T) == 4) {                                           \
          LANEWISE_CUDA_ATOM_OF_ORDER(operation, kind "32", "r")                         \
        } else if constexpr (std::is_signed_v<word>) {                                   \
          LANEWISE_CUDA_ATOM_OF_ORDER(operation, signed_kind "64", "l")                  \
        } else {                                                                         \
          LANEWISE_CUDA_ATOM_OF_ORDER(operation, kind "64", "l")                         \
        }                                                                                \
        return static_cast<T>(before);                                                   \
      }                                                                                  \
    }                                                                                    \
  }
LANEWISE_CUDA_CHANGE(add_atomically, atomicAdd, fetch_add, "add", unsigned_word, "u", "u")
LANEWISE_CUDA_CHANGE(or_atomically, atomicOr, fetch_or, "or", unsigned_word, "b", "b")
LANEWISE_CUDA_CHANGE(and_atomically, atomicAnd, fetch_and, "and", unsigned_word, "b", "b")
LANEWISE_CUDA_CHANGE(min_atomically, atomicMin, fetch_min, "min", ordered_word, "u", "s")
LANEWISE_CUDA_CHANGE(max_atomically, atomicMax, fetch_max, "max", ordered_word, "u", "s")
LANEWISE_CUDA_CHANGE(put_atomically, atomicExch, exchange, "exch", unsigned_word, "b", "b")
#undef LANEWISE_CUDA_CHANGE
#undef LANEWISE_CUDA_ATOM_OF_ORDER
#undef LANEWISE_CUDA_ATOM_OF_SCOPE
#undef LANEWISE_CUDA_ATOM

/// Returns what was there. Relaxed exchanges of integers likewise.
template <order o, scope s, class T>
LANEWISE_CUDA_FUNCTION T exchange_atomically(T& ref, T expected, T desired) {
  if constexpr (o == order::relaxed && std::is_integral_v<T> && sizeof(T) >= 4) {
    using word = unsigned_word<T>;
    auto* p = reinterpret_cast<word*>(&ref);
    const auto e = static_cast<word>(expected);
    const auto d = static_cast<word>(desired);
    return static_cast<T>(s == scope::team ? atomicCAS_block(p, e, d) : atomicCAS(p, e, d));
  } else {
    atomic<s, T>(ref).compare_exchange_strong(expected, desired, std_order<o>);
    return expected;
  }
}
/// A relaxed load of an integer by a team is a volatile one: it, too, knows shared memory.
template <order o, scope s, class T>
LANEWISE_CUDA_FUNCTION T load_atomically(const T& ref) {
  if constexpr (o == order::relaxed && s == scope::team && std::is_integral_v<T>) {
    return *static_cast<const volatile T*>(&ref);
  } else {
    return atomic<s, T>(const_cast<T&>(ref)).load(std_order<o>);
  }
}

/// 16-byte words are single-copy atomic by the .b128 forms (PTX ISA 8.3, sm_70 and later; compare
/// and exchange sm_90), here at device scope.
template <order o = order::relaxed, class T>
LANEWISE_CUDA_FUNCTION T load_wide(const T* p) {
  static_assert(sizeof(T) == 16 && alignof(T) == 16);
  std::uint64_t w[2];
  if constexpr (o == order::acquire) {
    asm volatile("{ .reg .b128 q; ld.acquire.gpu.global.b128 q, [%2]; mov.b128 {%0, %1}, q; }"
                 : "=l"(w[0]), "=l"(w[1])
                 : "l"(__cvta_generic_to_global(p))
                 : "memory");
  } else {
    asm volatile("{ .reg .b128 q; ld.relaxed.gpu.global.b128 q, [%2]; mov.b128 {%0, %1}, q; }"
                 : "=l"(w[0]), "=l"(w[1])
                 : "l"(__cvta_generic_to_global(p))
                 : "memory");
  }
  T x;
  std::memcpy(&x, w, 16);
  return x;
}
template <class T>
LANEWISE_CUDA_FUNCTION void store_wide(T* p, const T& x) {
  static_assert(sizeof(T) == 16 && alignof(T) == 16);
  std::uint64_t w[2];
  std::memcpy(w, &x, 16);
  asm volatile("{ .reg .b128 q; mov.b128 q, {%1, %2}; st.relaxed.gpu.global.b128 [%0], q; }" ::"l"(
                   __cvta_generic_to_global(p)),
               "l"(w[0]), "l"(w[1])
               : "memory");
}
/// Returns what was there.
template <order o, class T>
LANEWISE_CUDA_FUNCTION T exchange_wide(T* p, const T& expected, const T& desired) {
  static_assert(sizeof(T) == 16 && alignof(T) == 16);
  static_assert(o == order::relaxed || o == order::acq_rel);
  std::uint64_t e[2], d[2], w[2];
  std::memcpy(e, &expected, 16);
  std::memcpy(d, &desired, 16);
  if constexpr (o == order::relaxed) {
    asm volatile(
        "{ .reg .b128 e, d, q; mov.b128 e, {%3, %4}; mov.b128 d, {%5, %6};"
        " atom.relaxed.gpu.global.cas.b128 q, [%2], e, d; mov.b128 {%0, %1}, q; }"
        : "=l"(w[0]), "=l"(w[1])
        : "l"(__cvta_generic_to_global(p)), "l"(e[0]), "l"(e[1]), "l"(d[0]), "l"(d[1])
        : "memory");
  } else {
    asm volatile(
        "{ .reg .b128 e, d, q; mov.b128 e, {%3, %4}; mov.b128 d, {%5, %6};"
        " atom.acq_rel.gpu.global.cas.b128 q, [%2], e, d; mov.b128 {%0, %1}, q; }"
        : "=l"(w[0]), "=l"(w[1])
        : "l"(__cvta_generic_to_global(p)), "l"(e[0]), "l"(e[1]), "l"(d[0]), "l"(d[1])
        : "memory");
  }
  T x;
  std::memcpy(&x, w, 16);
  return x;
}

/// A racing load of a word, or of every word of a pack. Pieces of 16 bytes are one word. Several
/// pieces are acquired by one fence: by acquiring loads each would wait for the one before it.
template <order o, class T>
LANEWISE_CUDA_FUNCTION T load_words(const T* p) {
  if constexpr (o == order::acquire && sizeof(T) > 16) {
    const T x = detail::load_words<order::relaxed>(p);
    ::cuda::atomic_thread_fence(::cuda::std::memory_order_acquire, ::cuda::thread_scope_device);
    return x;
  } else if constexpr (sizeof(T) % 16 == 0) {
    struct alignas(16) piece {
      std::uint64_t half[2];
    };
    T x;
    LANEWISE_UNROLL
    for (int i = 0; i < static_cast<int>(sizeof(T) / 16); ++i) {
      const piece q = detail::load_wide<o>(reinterpret_cast<const piece*>(p) + i);
      std::memcpy(reinterpret_cast<char*>(&x) + 16 * i, &q, 16);
    }
    return x;
  } else if constexpr (requires { T::size; }) {
    T x;
    LANEWISE_UNROLL
    for (int i = 0; i < T::size; ++i) x[i] = detail::load_words<o>(&(*p)[i]);
    return x;
  } else {
    return atomic<scope::device, T>(const_cast<T&>(*p)).load(std_order<o>);
  }
}

/// A racing store of a word, or of every word of a pack.
template <class T>
LANEWISE_CUDA_FUNCTION void store_words(T* p, const T& x) {
  if constexpr (sizeof(T) % 16 == 0) {
    struct alignas(16) piece {
      std::uint64_t half[2];
    };
    LANEWISE_UNROLL
    for (int i = 0; i < static_cast<int>(sizeof(T) / 16); ++i) {
      piece q;
      std::memcpy(&q, reinterpret_cast<const char*>(&x) + 16 * i, 16);
      detail::store_wide(reinterpret_cast<piece*>(p) + i, q);
    }
  } else if constexpr (requires { T::size; }) {
    LANEWISE_UNROLL
    for (int i = 0; i < T::size; ++i) detail::store_words(&(*p)[i], x[i]);
  } else {
    atomic<scope::device, T>(*p).store(x, std_order<order::relaxed>);
  }
}

}  // namespace detail

/// A hardware warp (W = 32) or an aligned group of W neighbouring threads of one. S threads of the
/// hardware warp go in step. Collectives name these S threads, which is free for a whole hardware
/// warp. Before each collective that names fewer, ptxas checks by a MATCH.ANY whether its threads
/// have converged. These checks then take more time than the reads of a table
/// (docs/measurements.md).
template <int W = 32, int S = W>
class warp : public warp_operations<warp<W, S>> {
  static_assert(W == 1 || W == 2 || W == 4 || W == 8 || W == 16 || W == 32);
  static_assert(S == W || S == 32);

 public:
  static constexpr int width = W;
  template <int w>
  using part = warp<w>;
  using bits = std::uint32_t;
  template <class T>
  using lanes = cuda::lanes<T>;
  template <class T>
  using mask_for = cuda::mask;
  static constexpr bool has_wide_words = true;
  static constexpr bool is_single_thread = false;
  static constexpr int text_words_per_lane = 8;
  static constexpr bool has_wide_exchange = compiled_from(900);
  // H200, slab tables of 2^24 pairs of 4 bytes (docs/measurements.md): with 4 lanes finds are at
  // the bandwidth of random lines, 29.4 G/s, and with 8 at 25.1. More lines in flight cost
  // registers, and with them more than they hide: insertions 9.5 G/s at depth 2 instead of 10.9.
  static constexpr int line_width = 4;
  static constexpr int line_depth = 1;
  static constexpr bits all_lanes = W == 32 ? ~bits{0} : (bits{1} << (W % 32)) - 1;

  static LANEWISE_CUDA_FUNCTION int popcount(std::uint32_t b) { return __popc(b); }
  static LANEWISE_CUDA_FUNCTION int popcount(std::uint64_t b) { return __popcll(b); }
  static LANEWISE_CUDA_FUNCTION int lowest(bits b) { return __ffs(static_cast<int>(b)) - 1; }
  static LANEWISE_CUDA_FUNCTION int highest(bits b) { return 31 - __clz(static_cast<int>(b)); }

  LANEWISE_CUDA_FUNCTION lanes<std::uint32_t> lane() const { return {id()}; }
  template <class T = std::uint32_t, std::integral N>
  LANEWISE_CUDA_FUNCTION mask first(N n) const {
    using number = std::conditional_t<(sizeof(N) > 4), std::int64_t, int>;
    return {static_cast<number>(id()) < static_cast<number>(n)};
  }
  template <class T = std::uint32_t>
  LANEWISE_CUDA_FUNCTION mask mask_of(bits b) const {
    return {((b >> id()) & 1) != 0};
  }
  LANEWISE_CUDA_FUNCTION lanes<bits> lanes_below() const { return {(bits{1} << id()) - 1}; }

  template <class F, class... T>
  LANEWISE_CUDA_FUNCTION lanes<std::decay_t<std::invoke_result_t<F&, const T&...>>> map(
      F f, [[maybe_unused]] const lanes<T>&... a) const {
    return {f(a.value...)};
  }
  template <class F, class R, class... T>
  LANEWISE_CUDA_FUNCTION lanes<R> map(mask m, F f, R otherwise,
                                      [[maybe_unused]] const lanes<T>&... a) const {
    if (m.value) return lanes<R>(f(a.value...));
    return lanes<R>(otherwise);
  }
  template <class F, class... T>
  LANEWISE_CUDA_FUNCTION void each(F f, [[maybe_unused]] T&... a) const {
    f(a.value...);
  }
  template <class F, class... T>
  LANEWISE_CUDA_FUNCTION void each(mask m, F f, [[maybe_unused]] T&... a) const {
    if (m.value) f(a.value...);
  }
  template <class U, class T>
  LANEWISE_CUDA_FUNCTION lanes<U> cast(const lanes<T>& a) const {
    return lanes<U>(static_cast<U>(a.value));
  }

  LANEWISE_CUDA_FUNCTION bits ballot(mask m) const {
    if constexpr (W == 1) return m.value;
    const bits vote = __ballot_sync(members(), m.value);
    return W == 32 ? vote : (vote >> base()) & all_lanes;
  }
  LANEWISE_CUDA_FUNCTION bool any(mask m) const {
    if constexpr (W == 1) return m.value;
    return S == W ? __any_sync(members(), m.value) != 0 : ballot(m) != 0;
  }
  LANEWISE_CUDA_FUNCTION bool all(mask m) const {
    if constexpr (W == 1) return m.value;
    return S == W ? __all_sync(members(), m.value) != 0 : ballot(!m) == 0;
  }
  LANEWISE_CUDA_FUNCTION int count(mask m) const { return popcount(ballot(m)); }

  template <class T>
  LANEWISE_CUDA_FUNCTION T broadcast(const lanes<T>& a, int source) const {
    if constexpr (W == 1) return a.value;
    return detail::by_words(a.value,
                            [&](std::uint32_t w) { return __shfl_sync(members(), w, source, W); });
  }
  template <class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> shuffle(const lanes<T>& a, const lanes<I>& source) const {
    if constexpr (W == 1) return a;
    const int from = static_cast<int>(source.value);
    return lanes<T>(detail::by_words(
        a.value, [&](std::uint32_t w) { return __shfl_sync(members(), w, from, W); }));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<T> shuffle_up(const lanes<T>& a, int k) const {
    return lanes<T>(detail::by_words(
        a.value, [&](std::uint32_t w) { return __shfl_up_sync(members(), w, k, W); }));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<T> shuffle_down(const lanes<T>& a, int k) const {
    return lanes<T>(detail::by_words(
        a.value, [&](std::uint32_t w) { return __shfl_down_sync(members(), w, k, W); }));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<T> shuffle_xor(const lanes<T>& a, int k) const {
    return lanes<T>(detail::by_words(
        a.value, [&](std::uint32_t w) { return __shfl_xor_sync(members(), w, k, W); }));
  }

  template <class T, class Op>
  LANEWISE_CUDA_FUNCTION T reduce(const lanes<T>& a, Op op, int n = W) const {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 4 && W == 32 && has_redux<Op, T>) {
      if (n == W) return redux(a.value, op);
    }
    lanes<T> x = a;
    LANEWISE_UNROLL
    for (int k = 1; k < W; k *= 2) {
      const lanes<T> y = shuffle_down(x, k);
      if (static_cast<int>(id()) + k < n) x.value = op(x.value, y.value);
    }
    return broadcast(x, 0);
  }
  template <class T, class Op>
  LANEWISE_CUDA_FUNCTION T reduce_from(int start, const lanes<T>& a, Op op) const {
    lanes<T> x = a;
    LANEWISE_UNROLL
    for (int k = 1; k < W; k *= 2) {
      const lanes<T> y = shuffle_up(x, k);
      if (static_cast<int>(id()) - k >= start) x.value = op(y.value, x.value);
    }
    return broadcast(x, W - 1);
  }
  template <class T, class Op>
  LANEWISE_CUDA_FUNCTION T fold(T x, const lanes<T>& a, Op op, int begin, int end) const {
    // All lanes, so that the shuffles do not wait for op.
    LANEWISE_UNROLL
    for (int i = 0; i < W; ++i) {
      const T y = broadcast(a, i);
      if (i >= begin && i < end) x = op(x, y);
    }
    return x;
  }
  template <class T, class Op>
  LANEWISE_CUDA_FUNCTION lanes<T> inclusive_scan(const lanes<T>& a, Op op, int n = W) const {
    lanes<T> x = a;
    LANEWISE_UNROLL
    for (int k = 1; k < W; k *= 2) {
      if constexpr (W == 32 && adds_words<Op, T>) {
        add_from_below(x.value, k);
      } else {
        const lanes<T> y = shuffle_up(x, k);
        const int i = static_cast<int>(id());
        if (i >= k && i < n) x.value = op(y.value, x.value);
      }
    }
    return x;
  }
  template <class T, class Op>
  LANEWISE_CUDA_FUNCTION lanes<T> scan_by_doubling(const lanes<T>& a, Op op, int n = W) const {
    return inclusive_scan(a, op, n);
  }
  template <class T, class Op>
  LANEWISE_CUDA_FUNCTION lanes<T> exclusive_scan(const lanes<T>& a, Op op, T init,
                                                 int n = W) const {
    lanes<T> x = shuffle_up(inclusive_scan(a, op, n), 1);
    const int i = static_cast<int>(id());
    if (i == 0) x.value = init;
    if (i > 0 && i < n) x.value = op(init, x.value);
    return x;
  }

  /// How far a lane lies after its head says in which steps it takes part: one comparison per
  /// step, where bits would have to be shifted to their lanes.
  template <int most = W, class T, class Op>
  LANEWISE_CUDA_FUNCTION lanes<T> segmented_scan(const lanes<T>& a, bits heads, Op op,
                                                 int n = W) const {
    const int i = static_cast<int>(id());
    const int after = i < n ? i - highest((heads | 1) & (~bits{0} >> (31 - i))) : 0;
    lanes<T> x = a;
    LANEWISE_UNROLL
    for (int k = 1; k < most; k *= 2) {
      const lanes<T> y = shuffle_up(x, k);
      if constexpr (adds_words<Op, T>) {
        add_if_at_least(x.value, y.value, after, k);
      } else if (after >= k) {
        x.value = op(y.value, x.value);
      }
    }
    return x;
  }

  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<bits> match_any(mask m, const lanes<T>& a) const {
    if constexpr (W == 1) return lanes<bits>(m.value);
    const bits active = ballot(m);
    bits same;
    if constexpr (sizeof(T) <= 4) {
      std::uint32_t word = 0;
      std::memcpy(&word, &a.value, sizeof(T));
      same = __match_any_sync(members(), word);
    } else {
      static_assert(sizeof(T) == 8, "match_any compares values of up to 8 bytes");
      unsigned long long word;
      std::memcpy(&word, &a.value, sizeof(T));
      same = __match_any_sync(members(), word);
    }
    if constexpr (W != 32) same = (same >> base()) & all_lanes;
    return lanes<bits>(m.value ? same & active : 0u);
  }

  using warp_operations<warp>::peers;
  /// By hand: of bits that are tested one by one the compiler makes twice the instructions.
  template <int planes>
  LANEWISE_CUDA_FUNCTION lanes<bits> peers(mask active, const lanes<std::uint32_t>& bucket) const {
    if constexpr (W != 32) {
      return warp_operations<warp>::template peers<planes>(active, bucket);
    } else {
      bits same = ballot(active);
      LANEWISE_UNROLL
      for (int plane = 0; plane < planes; ++plane) {
        bits alike;
        asm volatile(
            "{ .reg .pred set; and.b32 %0, %1, %2; setp.ne.u32 set, %0, 0;"
            " vote.sync.ballot.b32 %0, set, 0xffffffff; @!set not.b32 %0, %0; }"
            : "=r"(alike)
            : "r"(bucket.value), "r"(bits{1} << plane));
        same &= alike;
      }
      return lanes<bits>(active.value ? same : 0u);
    }
  }

  // Memory.
  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<std::remove_const_t<T>> load(T* p) const {
    return lanes<std::remove_const_t<T>>(p[id()]);
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<std::remove_const_t<T>> load(
      mask m, T* p, std::remove_const_t<T> otherwise) const {
    return lanes<std::remove_const_t<T>>(m.value ? p[id()] : otherwise);
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION void store(T* p, const lanes<T>& a) const {
    p[id()] = a.value;
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION void store(mask m, T* p, const lanes<T>& a) const {
    if (m.value) p[id()] = a.value;
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<std::remove_const_t<T>> load_streaming(T* p) const {
    using V = std::remove_const_t<T>;
    if constexpr (sizeof(V) % 16 == 0 && alignof(V) >= 16) {
      V x;
      auto* from = reinterpret_cast<const int4*>(p + id());
      auto* to = reinterpret_cast<int4*>(&x);
      LANEWISE_UNROLL
      for (int i = 0; i < static_cast<int>(sizeof(V) / 16); ++i) to[i] = __ldcs(from + i);
      return lanes<V>(x);
    } else {
      return load(p);
    }
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION void store_streaming(T* p, const lanes<T>& a) const {
    if constexpr (sizeof(T) % 16 == 0 && alignof(T) >= 16) {
      auto* to = reinterpret_cast<int4*>(p + id());
      auto* from = reinterpret_cast<const int4*>(&a.value);
      LANEWISE_UNROLL
      for (int i = 0; i < static_cast<int>(sizeof(T) / 16); ++i) __stcs(to + i, from[i]);
    } else {
      store(p, a);
    }
  }
  template <caching c, class T>
  LANEWISE_CUDA_FUNCTION lanes<std::remove_const_t<T>> load(T* p) const {
    using V = std::remove_const_t<T>;
    if constexpr (c == caching::usual || !moves_as_word<V>) {
      return load(p);
    } else {
      const auto word = load_word<c>(reinterpret_cast<const word_of<sizeof(V)>*>(p + id()));
      V x;
      std::memcpy(&x, &word, sizeof(V));
      return lanes<V>(x);
    }
  }
  template <caching c, class T>
  LANEWISE_CUDA_FUNCTION void store(T* p, const lanes<T>& a) const {
    if constexpr (c == caching::usual || !moves_as_word<T>) {
      store(p, a);
    } else {
      word_of<sizeof(T)> word;
      std::memcpy(&word, &a.value, sizeof(T));
      store_word<c>(reinterpret_cast<word_of<sizeof(T)>*>(p + id()), word);
    }
  }
  template <class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<std::remove_const_t<T>> gather(T* p, const lanes<I>& index) const {
    return lanes<std::remove_const_t<T>>(p[index.value]);
  }
  template <class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<std::remove_const_t<T>> gather(
      mask m, T* p, const lanes<I>& index, std::remove_const_t<T> otherwise) const {
    return lanes<std::remove_const_t<T>>(m.value ? p[index.value] : otherwise);
  }
  /// Reads from the team's scratch. If a pointer has been through memory or a call, nvcc 13.0 does
  /// not know that it leads there. It then reads by slower instructions for any memory.
  template <class T, class I>
  requires(sizeof(T) == 4) LANEWISE_CUDA_FUNCTION lanes<T> gather_scratch(const T* p,
                                                                          const lanes<I>& index)
  const {
#if defined(__CUDA_ARCH__)
    const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
    std::uint32_t word;
    asm("ld.shared.u32 %0, [%1];"
        : "=r"(word)
        : "r"(from + 4 * static_cast<std::uint32_t>(index.value))
        : "memory");
    return lanes<T>(__builtin_bit_cast(T, word));
#else
    return gather(p, index);
#endif
  }
  template <class T, class I>
  LANEWISE_CUDA_FUNCTION void scatter(T* p, const lanes<I>& index, const lanes<T>& a) const {
    p[index.value] = a.value;
  }
  template <class T, class I>
  LANEWISE_CUDA_FUNCTION void scatter(mask m, T* p, const lanes<I>& index,
                                      const lanes<T>& a) const {
    if (m.value) p[index.value] = a.value;
  }
  template <scope s = scope::device, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> load_relaxed(mask m, const T* p, const lanes<I>& index,
                                               T otherwise) const {
    return racing_load<order::relaxed, s>(m, p, index, otherwise);
  }
  template <scope s = scope::device, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> load_acquire(mask m, const T* p, const lanes<I>& index,
                                               T otherwise) const {
    return racing_load<order::acquire, s>(m, p, index, otherwise);
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<T> load_relaxed(const T* p) const {
    return lanes<T>(detail::load_words<order::relaxed>(p + id()));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<T> load_acquire(const T* p) const {
    return lanes<T>(detail::load_words<order::acquire>(p + id()));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION void store_relaxed(T* p, const lanes<T>& a) const {
    detail::store_words(p + id(), a.value);
  }
  template <scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION void store_relaxed(mask m, T* p, const lanes<T>& a) const {
    if (m.value) detail::atomic<s, T>(p[id()]).store(a.value, detail::std_order<order::relaxed>);
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> fetch_add(mask m, T* p, const lanes<I>& index,
                                            const lanes<T>& a) const {
    return lanes<T>(m.value ? detail::add_atomically<o, s>(p[index.value], a.value) : T{});
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> fetch_or(mask m, T* p, const lanes<I>& index,
                                           const lanes<T>& a) const {
    return lanes<T>(m.value ? detail::or_atomically<o, s>(p[index.value], a.value) : T{});
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> fetch_and(mask m, T* p, const lanes<I>& index,
                                            const lanes<T>& a) const {
    return lanes<T>(m.value ? detail::and_atomically<o, s>(p[index.value], a.value) : T{});
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> fetch_min(mask m, T* p, const lanes<I>& index,
                                            const lanes<T>& a) const {
    return lanes<T>(m.value ? detail::min_atomically<o, s>(p[index.value], a.value) : T{});
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> fetch_max(mask m, T* p, const lanes<I>& index,
                                            const lanes<T>& a) const {
    return lanes<T>(m.value ? detail::max_atomically<o, s>(p[index.value], a.value) : T{});
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> exchange(mask m, T* p, const lanes<I>& index,
                                           const lanes<T>& a) const {
    return lanes<T>(m.value ? detail::put_atomically<o, s>(p[index.value], a.value) : T{});
  }
  template <order o = order::acq_rel, scope s = scope::device, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> compare_exchange(mask m, T* p, const lanes<I>& index,
                                                   const lanes<T>& expected,
                                                   const lanes<T>& desired) const {
    if (!m.value) return expected;
    return lanes<T>(
        detail::exchange_atomically<o, s>(p[index.value], expected.value, desired.value));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION int compress_store(T* p, mask m, const lanes<T>& a) const {
    const bits chosen = ballot(m);
    if (m.value) p[popcount(chosen & ((bits{1} << id()) - 1))] = a.value;
    return popcount(chosen);
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION int compress_store_over(T* p, mask m, const lanes<T>& a) const {
    return compress_store(p, m, a);
  }
  static LANEWISE_CUDA_FUNCTION void prefetch(const void*) {}
  static LANEWISE_CUDA_FUNCTION void prefetch_to_write(const void*) {}
  template <class T, class I>
  LANEWISE_CUDA_FUNCTION void prefetch(mask, const T*, const lanes<I>&) const {}

  // Uniform effects.
  template <class F>
  LANEWISE_CUDA_FUNCTION std::invoke_result_t<F&> once(F f) const {
    using R = std::invoke_result_t<F&>;
    if constexpr (std::is_void_v<R>) {
      if (id() == 0) f();
    } else {
      lanes<R> x;
      if (id() == 0) x.value = f();
      return broadcast(x, 0);
    }
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION T load(const T& ref) const {
    const T x = once([&] { return detail::load_atomically<o, s>(ref); });
    acquired<o>();
    return x;
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION void store(T& ref, std::type_identity_t<T> x) const {
    fence();  // the other lanes' earlier writes belong to what a release publishes
    once([&] {
      if constexpr (sizeof(T) == 16) {
        static_assert(o == order::relaxed && s == scope::device,
                      "16-byte words: relaxed, device scope");
        detail::store_wide(&ref, x);
      } else {
        detail::atomic<s, T>(ref).store(x, detail::std_order<o>);
      }
    });
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION T fetch_add(T& ref, std::type_identity_t<T> x) const {
    fence();
    const T before = once([&] { return detail::add_atomically<o, s>(ref, x); });
    acquired<o>();
    return before;
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION T fetch_or(T& ref, std::type_identity_t<T> x) const {
    fence();
    const T before = once([&] { return detail::or_atomically<o, s>(ref, x); });
    acquired<o>();
    return before;
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION T fetch_and(T& ref, std::type_identity_t<T> x) const {
    fence();
    const T before = once([&] { return detail::and_atomically<o, s>(ref, x); });
    acquired<o>();
    return before;
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION T fetch_min(T& ref, std::type_identity_t<T> x) const {
    fence();
    const T before = once([&] { return detail::min_atomically<o, s>(ref, x); });
    acquired<o>();
    return before;
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION T fetch_max(T& ref, std::type_identity_t<T> x) const {
    fence();
    const T before = once([&] { return detail::max_atomically<o, s>(ref, x); });
    acquired<o>();
    return before;
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION T exchange(T& ref, std::type_identity_t<T> x) const {
    fence();
    const T before = once([&] { return detail::put_atomically<o, s>(ref, x); });
    acquired<o>();
    return before;
  }
  template <order o = order::acq_rel, scope s = scope::device, class T>
  LANEWISE_CUDA_FUNCTION T compare_exchange(T& ref, std::type_identity_t<T> expected,
                                            std::type_identity_t<T> desired) const {
    fence();
    lanes<T> seen(expected);
    if (id() == 0) {
      if constexpr (sizeof(T) == 16) {
        static_assert(s == scope::device, "16-byte words: device scope");
        seen.value = detail::exchange_wide<o>(&ref, expected, desired);
      } else {
        seen.value = detail::exchange_atomically<o, s>(ref, expected, desired);
      }
    }
    const T before = broadcast(seen, 0);
    acquired<o>();
    return before;
  }
  LANEWISE_CUDA_FUNCTION void fence() const {
    if constexpr (W > 1) __syncwarp(members());
  }
  LANEWISE_CUDA_FUNCTION void full_fence() const {
    ::cuda::atomic_thread_fence(::cuda::std::memory_order_seq_cst, ::cuda::thread_scope_device);
  }
  /// Between two looks at memory that somebody else writes.
  LANEWISE_CUDA_FUNCTION void pause() const {}

  // Sub-warps: every thread belongs to exactly one, so one call serves all of them.
  template <int w, class F>
  LANEWISE_CUDA_FUNCTION void split(F f) const {
    static_assert(w <= W);
    f(warp<w>());
  }
  template <int w, class F>
  LANEWISE_CUDA_FUNCTION void split_in_step(F f) const {
    static_assert(w <= W);
    constexpr int together = S == 32 ? 32 : w;
    f(warp<w, together>());
  }
  LANEWISE_CUDA_FUNCTION warp<W> apart() const {
    return {};
  }
  LANEWISE_CUDA_FUNCTION bool anywhere(bool here) const {
    return S == W ? here : __any_sync(members(), here) != 0;
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION lanes<T> take(const lanes<T>& a) const {
    return a;
  }
  LANEWISE_CUDA_FUNCTION mask take(mask m) const {
    return m;
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION void put(lanes<T>& a, const lanes<T>& part) const {
    a = part;
  }

 private:
  static LANEWISE_CUDA_FUNCTION std::uint32_t id() {
    std::uint32_t i;
    asm("mov.u32 %0, %%laneid;" : "=r"(i));
    return i & (W - 1);
  }
  static LANEWISE_CUDA_FUNCTION int base() {
    std::uint32_t i;
    asm("mov.u32 %0, %%laneid;" : "=r"(i));
    return static_cast<int>(i & ~std::uint32_t(W - 1));
  }
  static LANEWISE_CUDA_FUNCTION bits members() {
    if constexpr (S == 32) {
      return ~bits{0};
    } else {
      return all_lanes << base();
    }
  }
  /// What one lane has acquired holds for the others after a fence; a shuffle orders no memory.
  template <order o>
  LANEWISE_CUDA_FUNCTION void acquired() const {
    if constexpr (o == order::acquire || o == order::acq_rel) fence();
  }

  template <order o, scope s, class T, class I>
  LANEWISE_CUDA_FUNCTION lanes<T> racing_load(mask m, const T* p, const lanes<I>& index,
                                              T otherwise) const {
    if (!m.value) return lanes<T>(otherwise);
    if constexpr (sizeof(T) == 16) {
      static_assert(o == order::relaxed && s == scope::device,
                    "16-byte words: relaxed, device scope");
      return lanes<T>(detail::load_wide(p + index.value));
    } else {
      return lanes<T>(detail::load_atomically<o, s>(p[index.value]));
    }
  }

  // Sums of words. An addition to a word is a single instruction with a predicate; nvcc turns it
  // into a selection and an addition. The sums do no harm in lanes beyond the ones that are asked
  // for.
  template <class Op, class T>
  static constexpr bool adds_words = std::is_same_v<Op, plus>&& std::is_integral_v<T> &&
                                     sizeof(T) == 4;
  template <class T>
  static LANEWISE_CUDA_FUNCTION void add_from_below(T& x, int k) {
    asm volatile(
        "{ .reg .u32 y; .reg .pred p; shfl.sync.up.b32 y|p, %0, %1, 0, 0xffffffff;"
        " @p add.u32 %0, y, %0; }"
        : "+r"(x)
        : "r"(k));
  }
  template <class T>
  static LANEWISE_CUDA_FUNCTION void add_if_at_least(T& x, T y, int after, int k) {
    asm("{ .reg .pred p; setp.ge.s32 p, %2, %3; @p add.u32 %0, %1, %0; }"
        : "+r"(x)
        : "r"(y), "r"(after), "r"(k));
  }

  template <class Op, class T>
  static constexpr bool has_redux =
      std::is_same_v<Op, plus> || std::is_same_v<Op, minimum> || std::is_same_v<Op, maximum> ||
      std::is_same_v<Op, bit_and> || std::is_same_v<Op, bit_or> || std::is_same_v<Op, bit_xor>;
  template <class T>
  LANEWISE_CUDA_FUNCTION T redux(T x, plus) const {
    return static_cast<T>(__reduce_add_sync(~0u, x));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION T redux(T x, minimum) const {
    return static_cast<T>(__reduce_min_sync(~0u, x));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION T redux(T x, maximum) const {
    return static_cast<T>(__reduce_max_sync(~0u, x));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION T redux(T x, bit_and) const {
    return static_cast<T>(__reduce_and_sync(~0u, static_cast<std::uint32_t>(x)));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION T redux(T x, bit_or) const {
    return static_cast<T>(__reduce_or_sync(~0u, static_cast<std::uint32_t>(x)));
  }
  template <class T>
  LANEWISE_CUDA_FUNCTION T redux(T x, bit_xor) const {
    return static_cast<T>(__reduce_xor_sync(~0u, static_cast<std::uint32_t>(x)));
  }
};

}  // namespace backends::cuda
LANEWISE_END_NAMESPACE
