// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/emulated/watch.hpp>
#include <lanewise/warp/warp.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

// Loops over lanes end at W: AddressSanitizer would look at every lane of every operand.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("address"))), apply_to = function)
#endif

/// W values in plain memory, computed one after the other: the definition that the other backends
/// are held to.
template <class T, int W>
struct lanes {
  using value_type = T;
  T lane[W];

  lanes() = default;
  // Host-device, as nvcc reports a host constructor in a host-device template without a place,
  // where no pragma reaches.
  LANEWISE_FUNCTION lanes(T x) {
    for (int i = 0; i < W; ++i) lane[i] = x;
  }

#define LANEWISE_EMULATED_BINARY(op)                                                \
  friend lanes operator op(const lanes& a, const lanes& b) {                        \
    lanes r;                                                                        \
    for (int i = 0; i < W; ++i) r.lane[i] = static_cast<T>(a.lane[i] op b.lane[i]); \
    return r;                                                                       \
  }
  LANEWISE_EMULATED_BINARY(+)
  LANEWISE_EMULATED_BINARY(-)
  LANEWISE_EMULATED_BINARY(&)
  LANEWISE_EMULATED_BINARY(|)
  LANEWISE_EMULATED_BINARY(^)
  LANEWISE_EMULATED_BINARY(<<)
  LANEWISE_EMULATED_BINARY(>>)
#undef LANEWISE_EMULATED_BINARY
  friend lanes operator<<(const lanes& a, int count) {
    lanes r;
    for (int i = 0; i < W; ++i) r.lane[i] = static_cast<T>(a.lane[i] << count);
    return r;
  }
  friend lanes operator>>(const lanes& a, int count) {
    lanes r;
    for (int i = 0; i < W; ++i) r.lane[i] = static_cast<T>(a.lane[i] >> count);
    return r;
  }
  friend lanes operator*(const lanes& a, const lanes& b) {
    lanes r;
    for (int i = 0; i < W; ++i) r.lane[i] = multiplies{}(a.lane[i], b.lane[i]);
    return r;
  }
  friend lanes operator~(const lanes& a) {
    lanes r;
    for (int i = 0; i < W; ++i) r.lane[i] = static_cast<T>(~a.lane[i]);
    return r;
  }
  template <class Mask>
  static lanes select(const Mask& m, const lanes& a, const lanes& b) {
    lanes r;
    for (int i = 0; i < W; ++i) r.lane[i] = m.lane[i] ? a.lane[i] : b.lane[i];
    return r;
  }
};

template <int W>
struct mask {
  bool lane[W];

  friend mask operator&(const mask& a, const mask& b) {
    mask r;
    for (int i = 0; i < W; ++i) r.lane[i] = a.lane[i] && b.lane[i];
    return r;
  }
  friend mask operator|(const mask& a, const mask& b) {
    mask r;
    for (int i = 0; i < W; ++i) r.lane[i] = a.lane[i] || b.lane[i];
    return r;
  }
  friend mask operator!(const mask& a) {
    mask r;
    for (int i = 0; i < W; ++i) r.lane[i] = !a.lane[i];
    return r;
  }
};

#define LANEWISE_EMULATED_COMPARE(op)                                    \
  template <class T, int W>                                              \
  mask<W> operator op(const lanes<T, W>& a, const lanes<T, W>& b) {      \
    mask<W> r;                                                           \
    for (int i = 0; i < W; ++i) r.lane[i] = a.lane[i] op b.lane[i];      \
    return r;                                                            \
  }                                                                      \
  template <class T, int W>                                              \
  mask<W> operator op(const lanes<T, W>& a, std::type_identity_t<T> b) { \
    return a op lanes<T, W>(b);                                          \
  }
LANEWISE_EMULATED_COMPARE(==)
LANEWISE_EMULATED_COMPARE(!=)
LANEWISE_EMULATED_COMPARE(<)
LANEWISE_EMULATED_COMPARE(<=)
LANEWISE_EMULATED_COMPARE(>)
LANEWISE_EMULATED_COMPARE(>=)
#undef LANEWISE_EMULATED_COMPARE

#if defined(__clang__)
#pragma clang attribute pop
#endif

using lanewise::select;

namespace detail {
template <order o>
inline constexpr std::memory_order std_order = o == order::relaxed   ? std::memory_order_relaxed
                                               : o == order::acquire ? std::memory_order_acquire
                                               : o == order::release ? std::memory_order_release
                                                                     : std::memory_order_acq_rel;

/// f of what is there, put there. Returns what was there.
template <order o, class T, class F>
T replace_atomically(T& ref, F f) {
  const std::atomic_ref<T> word(ref);
  T before = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(before, f(before), std_order<o>)) {
  }
  return before;
}
template <order o, class T>
T fetch_min(T& ref, T x) {
  static_assert(std::is_integral_v<T> && sizeof(T) >= 4);
  return detail::replace_atomically<o>(ref, [x](T before) { return x < before ? x : before; });
}
template <order o, class T>
T fetch_max(T& ref, T x) {
  static_assert(std::is_integral_v<T> && sizeof(T) >= 4);
  return detail::replace_atomically<o>(ref, [x](T before) { return before < x ? x : before; });
}
template <order o, class T>
T exchange(T& ref, T x) {
  return std::atomic_ref<T>(ref).exchange(x, std_order<o>);
}
}  // namespace detail

/// W lanes run by one thread, lane after lane. Effects happen in an order of lanes that the seed
/// chooses, so code that depends on the order of lanes is found out. is_single_thread_: algorithms
/// are mapped as for hosts.
template <int W = 32, bool is_single_thread_ = false>
class warp : public warp_operations<warp<W, is_single_thread_>> {
  static_assert(W >= 1 && W <= 64 && (W & (W - 1)) == 0);

 public:
  static constexpr int width = W;
  template <int w>
  using part = warp<w, is_single_thread_>;
  using bits = std::conditional_t<(W > 32), std::uint64_t, std::uint32_t>;
  template <class T>
  using lanes = emulated::lanes<T, W>;
  template <class T>
  using mask_for = emulated::mask<W>;
  using mask = emulated::mask<W>;

  // Without 16-byte words, so that what works without them is tested here.
  static constexpr bool has_wide_words = false;
  static constexpr bool is_single_thread = is_single_thread_;
  static constexpr int text_words_per_lane = is_single_thread ? 1 : 8;
  static constexpr bool has_wide_exchange = false;
  static constexpr int line_width = 8;
  static constexpr int line_depth = 2;

  warp() = default;
  /// Lane i of the order of effects is (i * stride + start) modulo W, with an odd stride.
  explicit warp(std::uint32_t seed) : seed_(seed) {}

  /// Runs f(warp).
  template <class F>
  static void run(std::uint32_t seed, F f) {
    f(warp(seed));
  }
  /// f() on behalf of all lanes.
  template <class F>
  void together(const char*, F f) const {
    f();
  }

  static int popcount(std::uint32_t b) { return std::popcount(b); }
  static int popcount(std::uint64_t b) { return std::popcount(b); }
  static int lowest(bits b) {
    if (b == 0) fail("lowest: there is no bit");
    return std::countr_zero(b);
  }
  static int highest(bits b) {
    if (b == 0) fail("highest: there is no bit");
    return static_cast<int>(std::bit_width(b)) - 1;
  }

  lanes<std::uint32_t> lane() const {
    lanes<std::uint32_t> r;
    for (int i = 0; i < W; ++i) r.lane[i] = static_cast<std::uint32_t>(i);
    return r;
  }
  template <class T = std::uint32_t, std::integral N>
  mask first(N n) const {
    mask r;
    for (int i = 0; i < W; ++i) r.lane[i] = i < static_cast<std::int64_t>(n);
    return r;
  }
  template <class T = std::uint32_t>
  mask mask_of(bits b) const {
    mask r;
    for (int i = 0; i < W; ++i) r.lane[i] = (b >> i) & 1;
    return r;
  }
  lanes<bits> lanes_below() const {
    lanes<bits> r;
    for (int i = 0; i < W; ++i) r.lane[i] = (bits{1} << i) - 1;
    return r;
  }

  template <class F, class... T>
  auto map(F f, const lanes<T>&... a) const {
    using R = std::decay_t<decltype(f(a.lane[0]...))>;
    lanes<R> r;
    in_some_order([&](int i) { r.lane[i] = f(a.lane[i]...); });
    return r;
  }
  template <class F, class R, class... T>
  lanes<R> map(const mask& m, F f, R otherwise, const lanes<T>&... a) const {
    lanes<R> r(otherwise);
    in_some_order([&](int i) {
      if (m.lane[i]) r.lane[i] = f(a.lane[i]...);
    });
    return r;
  }
  template <class F, class... A>
  requires(!std::is_same_v<std::decay_t<F>, mask>) void each(F f, A&... a) const {
    in_some_order([&](int i) { f(a.lane[i]...); });
  }
  template <class F, class... A>
  void each(const mask& m, F f, A&... a) const {
    in_some_order([&](int i) {
      if (m.lane[i]) f(a.lane[i]...);
    });
  }
  template <class U, class T>
  lanes<U> cast(const lanes<T>& a) const {
    return map([](T x) { return static_cast<U>(x); }, a);
  }

  bits ballot(const mask& m) const {
    bits b = 0;
    for (int i = 0; i < W; ++i) b |= bits{m.lane[i]} << i;
    return b;
  }
  bool any(const mask& m) const { return ballot(m) != 0; }
  bool all(const mask& m) const { return ballot(!m) == 0; }
  int count(const mask& m) const { return popcount(ballot(m)); }

  template <class T>
  T broadcast(const lanes<T>& a, int source) const {
    check_range("broadcast", "the lane", source, 0, W - 1);
    return a.lane[source];
  }
  template <class T, class I>
  lanes<T> shuffle(const lanes<T>& a, const lanes<I>& source) const {
    lanes<T> r;
    for (int i = 0; i < W; ++i) r.lane[i] = a.lane[static_cast<std::uint64_t>(source.lane[i]) % W];
    return r;
  }
  template <class T>
  lanes<T> shuffle_up(const lanes<T>& a, int k) const {
    check_range("shuffle_up", "the distance", k, 0, W);
    lanes<T> r;
    for (int i = 0; i < W; ++i) r.lane[i] = a.lane[i >= k ? i - k : i];
    return r;
  }
  template <class T>
  lanes<T> shuffle_down(const lanes<T>& a, int k) const {
    check_range("shuffle_down", "the distance", k, 0, W);
    lanes<T> r;
    for (int i = 0; i < W; ++i) r.lane[i] = a.lane[i + k < W ? i + k : i];
    return r;
  }
  template <class T>
  lanes<T> shuffle_xor(const lanes<T>& a, int k) const {
    check_range("shuffle_xor", "the distance", k, 0, W - 1);
    lanes<T> r;
    for (int i = 0; i < W; ++i) r.lane[i] = a.lane[i ^ k];
    return r;
  }

  template <class T, class Op>
  T reduce(const lanes<T>& a, Op op, int n = W) const {
    check_range("reduce", "the number of lanes", n, 1, W);
    T x = a.lane[0];
    for (int i = 1; i < n; ++i) x = op(x, a.lane[i]);
    return x;
  }
  template <class T, class Op>
  T reduce_from(int start, const lanes<T>& a, Op op) const {
    check_range("reduce_from", "the first lane", start, 0, W - 1);
    T x = a.lane[start];
    for (int i = start + 1; i < W; ++i) x = op(x, a.lane[i]);
    return x;
  }
  template <class T, class Op>
  T fold(T x, const lanes<T>& a, Op op, int begin, int end) const {
    check_range("fold", "the first lane", begin, 0, W);
    check_range("fold", "the end of the lanes", end, 0, W);
    for (int i = begin; i < end; ++i) x = op(x, a.lane[i]);
    return x;
  }
  template <class T, class Op>
  lanes<T> inclusive_scan(const lanes<T>& a, Op op, int n = W) const {
    check_range("inclusive_scan", "the number of lanes", n, 0, W);
    lanes<T> r = a;
    // Both bounds, or g++ warns of warps of one lane.
    for (int i = 1; i < n && i < W; ++i) r.lane[i] = op(r.lane[i - 1], a.lane[i]);
    return r;
  }
  template <class T, class Op>
  lanes<T> scan_by_doubling(const lanes<T>& a, Op op, int n = W) const {
    check_range("scan_by_doubling", "the number of lanes", n, 0, W);
    lanes<T> r = a;
    for (int k = 1; k < W; k *= 2) {
      for (int i = n - 1; i >= k; --i) r.lane[i] = op(r.lane[i - k], r.lane[i]);
    }
    return r;
  }
  template <class T, class Op>
  lanes<T> exclusive_scan(const lanes<T>& a, Op op, T init, int n = W) const {
    check_range("exclusive_scan", "the number of lanes", n, 0, W);
    lanes<T> r(init);
    for (int i = 1; i < n && i < W; ++i) r.lane[i] = op(r.lane[i - 1], a.lane[i - 1]);
    return r;
  }

  template <class T>
  lanes<bits> match_any(const mask& m, const lanes<T>& a) const {
    lanes<bits> r(bits{0});
    for (int i = 0; i < W; ++i) {
      for (int j = 0; j < W; ++j) {
        if (m.lane[i] && m.lane[j] && std::memcmp(&a.lane[i], &a.lane[j], sizeof(T)) == 0)
          r.lane[i] |= bits{1} << j;
      }
    }
    return r;
  }

  // Memory.
  template <class T>
  lanes<std::remove_const_t<T>> load(T* p) const {
    const watched memory = watch("load");
    lanes<std::remove_const_t<T>> r;
    for (int i = 0; i < W; ++i) r.lane[i] = memory.read(p + i, i);
    return r;
  }
  template <class T>
  lanes<std::remove_const_t<T>> load(const mask& m, T* p, std::remove_const_t<T> otherwise) const {
    const watched memory = watch("load");
    lanes<std::remove_const_t<T>> r(otherwise);
    for (int i = 0; i < W; ++i) {
      if (m.lane[i]) r.lane[i] = memory.read(p + i, i);
    }
    return r;
  }
  template <class T>
  void store(T* p, const lanes<T>& a) const {
    const watched memory = watch("store");
    in_some_order([&](int i) { memory.write(p + i, i, a.lane[i]); });
  }
  template <class T>
  void store(const mask& m, T* p, const lanes<T>& a) const {
    const watched memory = watch("store");
    in_some_order([&](int i) {
      if (m.lane[i]) memory.write(p + i, i, a.lane[i]);
    });
  }
  template <class T>
  lanes<std::remove_const_t<T>> load_streaming(T* p, std::int64_t /*ahead_bytes*/ = 0) const {
    return load(p);
  }
  template <class T>
  void store_streaming(T* p, const lanes<T>& a) const {
    store(p, a);
  }
  template <caching, class T>
  lanes<std::remove_const_t<T>> load(T* p) const {
    return load(p);
  }
  template <caching, class T>
  void store(T* p, const lanes<T>& a) const {
    store(p, a);
  }
  template <class T, class I>
  lanes<std::remove_const_t<T>> gather(T* p, const lanes<I>& index) const {
    const watched memory = watch("gather");
    lanes<std::remove_const_t<T>> r;
    for (int i = 0; i < W; ++i) r.lane[i] = memory.read(p + index.lane[i], i);
    return r;
  }
  template <class T, class I>
  requires(sizeof(T) == 4) lanes<T> gather_scratch(const T* p, const lanes<I>& index)
  const { return gather(p, index); }
  template <class T, class I>
  lanes<std::remove_const_t<T>> gather(const mask& m, T* p, const lanes<I>& index,
                                       std::remove_const_t<T> otherwise) const {
    const watched memory = watch("gather");
    lanes<std::remove_const_t<T>> r(otherwise);
    for (int i = 0; i < W; ++i) {
      if (m.lane[i]) r.lane[i] = memory.read(p + index.lane[i], i);
    }
    return r;
  }
  template <class T, class I>
  void scatter(T* p, const lanes<I>& index, const lanes<T>& a) const {
    const watched memory = watch("scatter");
    in_some_order([&](int i) { memory.write(p + index.lane[i], i, a.lane[i]); });
  }
  template <class T, class I>
  void scatter(const mask& m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    const watched memory = watch("scatter");
    in_some_order([&](int i) {
      if (m.lane[i]) memory.write(p + index.lane[i], i, a.lane[i]);
    });
  }
  template <scope s = scope::device, class T, class I>
  lanes<T> load_relaxed(const mask& m, const T* p, const lanes<I>& index, T otherwise) const {
    return racing_load<std::memory_order_relaxed>(m, p, index, otherwise);
  }
  template <scope s = scope::device, class T, class I>
  lanes<T> load_acquire(const mask& m, const T* p, const lanes<I>& index, T otherwise) const {
    return racing_load<std::memory_order_acquire>(m, p, index, otherwise);
  }
  template <class T>
  lanes<T> load_relaxed(const T* p) const {
    return racing_words<std::memory_order_relaxed>(p);
  }
  template <class T>
  lanes<T> load_acquire(const T* p) const {
    return racing_words<std::memory_order_acquire>(p);
  }
  template <class T>
  void store_relaxed(T* p, const lanes<T>& a) const {
    in_some_order([&](int i) {
      racing_step();
      racing_change();
      if constexpr (requires { T::size; }) {
        for (int j = 0; j < T::size; ++j) store_word(p[i][j], a.lane[i][j]);
      } else {
        store_word(p[i], a.lane[i]);
      }
    });
  }
  template <scope s = scope::device, class T>
  void store_relaxed(const mask& m, T* p, const lanes<T>& a) const {
    racing_step();
    racing_change();
    in_some_order([&](int i) {
      if (m.lane[i]) std::atomic_ref<T>(p[i]).store(a.lane[i], std::memory_order_relaxed);
    });
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_add(const mask& m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    racing_step();
    racing_change();
    lanes<T> r(T{});
    in_some_order([&](int i) {
      if (m.lane[i])
        r.lane[i] = std::atomic_ref<T>(p[index.lane[i]]).fetch_add(a.lane[i], detail::std_order<o>);
    });
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_or(const mask& m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    racing_step();
    racing_change();
    lanes<T> r(T{});
    in_some_order([&](int i) {
      if (m.lane[i])
        r.lane[i] = std::atomic_ref<T>(p[index.lane[i]]).fetch_or(a.lane[i], detail::std_order<o>);
    });
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_and(const mask& m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    racing_step();
    racing_change();
    lanes<T> r(T{});
    in_some_order([&](int i) {
      if (m.lane[i])
        r.lane[i] = std::atomic_ref<T>(p[index.lane[i]]).fetch_and(a.lane[i], detail::std_order<o>);
    });
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_min(const mask& m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    racing_step();
    racing_change();
    lanes<T> r(T{});
    in_some_order([&](int i) {
      if (m.lane[i]) r.lane[i] = detail::fetch_min<o>(p[index.lane[i]], a.lane[i]);
    });
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_max(const mask& m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    racing_step();
    racing_change();
    lanes<T> r(T{});
    in_some_order([&](int i) {
      if (m.lane[i]) r.lane[i] = detail::fetch_max<o>(p[index.lane[i]], a.lane[i]);
    });
    return r;
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> exchange(const mask& m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    racing_step();
    racing_change();
    lanes<T> r(T{});
    in_some_order([&](int i) {
      if (m.lane[i]) r.lane[i] = detail::exchange<o>(p[index.lane[i]], a.lane[i]);
    });
    return r;
  }
  template <order o = order::acq_rel, scope s = scope::device, class T, class I>
  lanes<T> compare_exchange(const mask& m, T* p, const lanes<I>& index, const lanes<T>& expected,
                            const lanes<T>& desired) const {
    racing_step();
    lanes<T> r = expected;
    in_some_order([&](int i) {
      if (m.lane[i] &&
          std::atomic_ref<T>(p[index.lane[i]])
              .compare_exchange_strong(r.lane[i], desired.lane[i], detail::std_order<o>))
        racing_change();
    });
    return r;
  }
  template <class T>
  int compress_store(T* p, const mask& m, const lanes<T>& a) const {
    const watched memory = watch("compress_store");
    int n = 0;
    for (int i = 0; i < W; ++i) {
      if (m.lane[i]) memory.write(p + n++, i, a.lane[i]);
    }
    return n;
  }
  /// What may be overwritten is.
  template <class T>
  int compress_store_over(T* p, const mask& m, const lanes<T>& a) const {
    const int n = compress_store(p, m, a);
    const watched memory = watch("compress_store_over");
    T rubbish;
    std::memset(static_cast<void*>(&rubbish), 0x5b, sizeof(T));
    for (int i = n; i < W; ++i) memory.write(p + i, i, rubbish);
    return n;
  }
  static void prefetch(const void*) {}
  static void prefetch_to_write(const void*) {}
  static bool guesses_by_instruction() { return false; }
  template <class T, class I>
  static double items_worth_a_gather() {
    return 2.5;
  }
  template <class T, class I>
  void prefetch(const mask&, const T*, const lanes<I>&) const {}

  /// A row of W packs of v items in columns, as on hosts: column c has item c of every pack.
  template <int v, class T>
  void load_columns(const T* p, lanes<T> (&column)[v]) const {
    for (int i = 0; i < W * v; ++i) column[i % v].lane[i / v] = p[i];
  }
  template <int v, class T>
  void store_columns(T* p, const lanes<T> (&column)[v]) const {
    for (int i = 0; i < W * v; ++i) p[i] = column[i % v].lane[i / v];
  }
  template <int v, class T, class Op>
  lanes<T> scan_column(const lanes<T>& a, Op op) const {
    return this->scan_by_doubling(a, op, W);
  }
  template <int v, class T>
  lanes<T> column_up(const lanes<T>& a) const {
    return shuffle_up(a, 1);
  }

  // Uniform effects.
  template <class F>
  auto once(F f) const {
    return f();
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T load(const T& ref) const {
    racing_step();
    return std::atomic_ref<T>(const_cast<T&>(ref)).load(detail::std_order<o>);
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  void store(T& ref, std::type_identity_t<T> x) const {
    racing_step();
    racing_change();
    std::atomic_ref<T>(ref).store(x, detail::std_order<o>);
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_add(T& ref, std::type_identity_t<T> x) const {
    racing_step();
    racing_change();
    return std::atomic_ref<T>(ref).fetch_add(x, detail::std_order<o>);
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_or(T& ref, std::type_identity_t<T> x) const {
    racing_step();
    racing_change();
    return std::atomic_ref<T>(ref).fetch_or(x, detail::std_order<o>);
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_and(T& ref, std::type_identity_t<T> x) const {
    racing_step();
    racing_change();
    return std::atomic_ref<T>(ref).fetch_and(x, detail::std_order<o>);
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_min(T& ref, std::type_identity_t<T> x) const {
    racing_step();
    racing_change();
    return detail::fetch_min<o>(ref, x);
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_max(T& ref, std::type_identity_t<T> x) const {
    racing_step();
    racing_change();
    return detail::fetch_max<o>(ref, x);
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T exchange(T& ref, std::type_identity_t<T> x) const {
    racing_step();
    racing_change();
    return detail::exchange<o>(ref, x);
  }
  template <order o = order::acq_rel, scope s = scope::device, class T>
  T compare_exchange(T& ref, std::type_identity_t<T> expected,
                     std::type_identity_t<T> desired) const {
    racing_step();
    if (std::atomic_ref<T>(ref).compare_exchange_strong(expected, desired, detail::std_order<o>))
      racing_change();
    return expected;
  }
  void fence() const {
    if (this_warp() != nullptr) ++this_warp()->now.fences;
  }
  /// A change of a word that all threads share: ThreadSanitizer knows no fences.
  void full_fence() const {
    static std::uint32_t shared = 0;
    std::atomic_ref<std::uint32_t>(shared).fetch_add(1, std::memory_order_acq_rel);
  }
  /// Between two looks at memory that somebody else writes.
  void pause() const {
    if (this_warp() != nullptr) {
      this_warp()->pause();
    } else {
      std::this_thread::yield();
    }
  }

  // Sub-warps, one after the other.
  template <int w, class F>
  void split(F f) const {
    static_assert(w <= W);
    for (int g = 0; g < W / w; ++g) f(part<w>(seed_, g));
  }
  template <class T, int V>
  lanes<T> take(const emulated::lanes<T, V>& a) const {
    lanes<T> r{};
    for (int i = 0; i < W; ++i) r.lane[i] = a.lane[group_ * W + i];
    return r;
  }
  template <int V>
  mask take(const emulated::mask<V>& m) const {
    mask r;
    for (int i = 0; i < W; ++i) r.lane[i] = m.lane[group_ * W + i];
    return r;
  }
  template <class T, int V>
  void put(emulated::lanes<T, V>& a, const lanes<T>& own) const {
    for (int i = 0; i < W; ++i) a.lane[group_ * W + i] = own.lane[i];
  }

 private:
  template <int, bool>
  friend class warp;
  warp(std::uint32_t seed, int group) : seed_(seed), group_(group) {}

  watched watch(const char* operation) const { return watched(operation, group_ * W); }
  template <class F>
  void in_some_order(F f) const {
    const std::uint32_t stride = 2 * (seed_ >> 8) + 1;
    for (std::uint32_t i = 0; i < W; ++i) f(static_cast<int>((i * stride + seed_) % W));
  }
  /// Word by word, and other warps may come between two lanes.
  template <std::memory_order o, class T>
  lanes<T> racing_words(const T* p) const {
    lanes<T> r;
    in_some_order([&](int i) {
      racing_step();
      if constexpr (requires { T::size; }) {
        for (int j = 0; j < T::size; ++j) r.lane[i][j] = racing_word<o>(p[i][j]);
      } else {
        r.lane[i] = racing_word<o>(p[i]);
      }
    });
    return r;
  }
  template <class T>
  static void store_word(T& word, const T& x) {
    std::atomic_ref<T>(word).store(x, std::memory_order_relaxed);
  }
  template <std::memory_order o, class T>
  static T racing_word(const T& word) {
    return std::atomic_ref<T>(const_cast<T&>(word)).load(o);
  }
  template <std::memory_order o, class T, class I>
  lanes<T> racing_load(const mask& m, const T* p, const lanes<I>& index, T otherwise) const {
    racing_step();
    lanes<T> r(otherwise);
    for (int i = 0; i < W; ++i) {
      if (m.lane[i]) r.lane[i] = std::atomic_ref<T>(const_cast<T&>(p[index.lane[i]])).load(o);
    }
    return r;
  }

  std::uint32_t seed_ = 0;
  int group_ = 0;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
