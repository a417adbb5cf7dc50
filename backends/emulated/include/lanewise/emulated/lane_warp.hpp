// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/by_lanes.hpp>
#include <lanewise/emulated/lockstep.hpp>
#include <lanewise/emulated/warp.hpp>

#include <algorithm>
#include <array>

LANEWISE_BEGIN_NAMESPACE
namespace backends::emulated {

/// A warp as one of its lanes sees it: what the CUDA backend's warp is to a thread. The kernel runs
/// once per lane (lockstep), plain scalars included, so what is not uniform and should be shows. S
/// lanes go in step: where W of them meet, all S have to come by.
template <int W = 32, int S = W>
class lane_warp : public warp_operations<lane_warp<W, S>> {
 public:
  static constexpr int width = W;
  using bits = typename warp<W>::bits;
  template <class T>
  using lanes = lone_lane::lanes<T>;
  using mask = lone_lane::mask;
  template <class T>
  using mask_for = mask;
  /// One lane alone has no other to wait for.
  template <int w>
  using part = std::conditional_t<w == 1, warp<1>, lane_warp<w>>;
  static constexpr bool has_wide_words = false;
  static constexpr bool is_single_thread = false;
  static constexpr int text_words_per_lane = 8;
  static constexpr bool has_wide_exchange = false;
  static constexpr int line_width = 8;
  static constexpr int line_depth = 2;

  /// Runs f(warp) in every lane of a warp.
  template <class F>
  static void run(std::uint32_t seed, F f) {
    lockstep::run(W, seed, [&](lockstep& all, int lane) { f(lane_warp(all, lane)); });
  }
  /// All lanes meet, and one of them calls f.
  template <class F>
  void together(const char* call, F f) const {
    meet(call, 0);
    if (id() == 0) f();
    meet(call, 1);
  }

  static int popcount(std::uint32_t b) { return std::popcount(b); }
  static int popcount(std::uint64_t b) { return std::popcount(b); }
  static int lowest(bits b) { return warp<W>::lowest(b); }
  static int highest(bits b) { return warp<W>::highest(b); }

  lanes<std::uint32_t> lane() const { return {static_cast<std::uint32_t>(id())}; }
  template <class T = std::uint32_t, std::integral N>
  mask first(N n) const {
    note("first", n);
    return mask{id() < static_cast<std::int64_t>(n)};
  }
  template <class T = std::uint32_t>
  mask mask_of(bits b) const {
    note("mask_of", b);
    return mask{((b >> id()) & 1) != 0};
  }
  lanes<bits> lanes_below() const { return {static_cast<bits>((bits{1} << id()) - 1)}; }

  template <class F, class... T>
  auto map(F f, const lanes<T>&... a) const {
    return lanes<std::decay_t<decltype(f(a.value...))>>(f(a.value...));
  }
  template <class F, class R, class... T>
  lanes<R> map(mask m, F f, R otherwise, const lanes<T>&... a) const {
    return m.value ? lanes<R>(f(a.value...)) : lanes<R>(otherwise);
  }
  template <class F, class... A>
  requires(!std::is_same_v<std::decay_t<F>, mask>) void each(F f, A&... a) const { f(a.value...); }
  template <class F, class... A>
  void each(mask m, F f, A&... a) const {
    if (m.value) f(a.value...);
  }
  template <class U, class T>
  lanes<U> cast(const lanes<T>& a) const {
    return lanes<U>(static_cast<U>(a.value));
  }

  bits ballot(mask m) const {
    const auto votes = everyone("ballot", m.value);
    bits b = 0;
    for (int i = 0; i < W; ++i) b |= bits{votes[static_cast<std::size_t>(i)]} << i;
    return b;
  }
  bool any(mask m) const { return ballot(m) != 0; }
  bool all(mask m) const { return ballot(!m) == 0; }
  int count(mask m) const { return popcount(ballot(m)); }

  template <class T>
  T broadcast(const lanes<T>& a, int source) const {
    check_range("broadcast", "the lane", source, 0, W - 1);
    return everyone("broadcast", a.value, source)[static_cast<std::size_t>(source)];
  }
  template <class T, class I>
  lanes<T> shuffle(const lanes<T>& a, const lanes<I>& source) const {
    return from("shuffle", a, 0, static_cast<int>(static_cast<std::uint64_t>(source.value) % W));
  }
  template <class T>
  lanes<T> shuffle_up(const lanes<T>& a, int k) const {
    check_range("shuffle_up", "the distance", k, 0, W);
    return from("shuffle_up", a, k, id() >= k ? id() - k : id());
  }
  template <class T>
  lanes<T> shuffle_down(const lanes<T>& a, int k) const {
    check_range("shuffle_down", "the distance", k, 0, W);
    return from("shuffle_down", a, k, id() + k < W ? id() + k : id());
  }
  template <class T>
  lanes<T> shuffle_xor(const lanes<T>& a, int k) const {
    check_range("shuffle_xor", "the distance", k, 0, W - 1);
    return from("shuffle_xor", a, k, id() ^ k);
  }

  // Lanes together compute what the warp of all lanes does; every lane takes its part of it.
  template <class T, class Op>
  T reduce(const lanes<T>& a, Op op, int n = W) const {
    return whole().reduce(gathered("reduce", a, n), op, n);
  }
  template <class T, class Op>
  T reduce_from(int start, const lanes<T>& a, Op op) const {
    return whole().reduce_from(start, gathered("reduce_from", a, start), op);
  }
  template <class T, class Op>
  T fold(T x, const lanes<T>& a, Op op, int begin, int end) const {
    note("fold", begin);
    return whole().fold(x, gathered("fold", a, end), op, begin, end);
  }
  template <class T, class Op>
  lanes<T> inclusive_scan(const lanes<T>& a, Op op, int n = W) const {
    return mine(whole().inclusive_scan(gathered("inclusive_scan", a, n), op, n));
  }
  template <class T, class Op>
  lanes<T> scan_by_doubling(const lanes<T>& a, Op op, int n = W) const {
    return mine(whole().scan_by_doubling(gathered("scan_by_doubling", a, n), op, n));
  }
  template <class T, class Op>
  lanes<T> exclusive_scan(const lanes<T>& a, Op op, T init, int n = W) const {
    return mine(whole().exclusive_scan(gathered("exclusive_scan", a, n), op, init, n));
  }
  template <class T>
  lanes<bits> match_any(mask m, const lanes<T>& a) const {
    emulated::mask<W> active;
    const auto votes = everyone("match_any", m.value);
    for (int i = 0; i < W; ++i) active.lane[i] = votes[static_cast<std::size_t>(i)];
    return mine(whole().match_any(active, gathered("match_any", a, 0)));
  }

  // Memory.
  template <class T>
  lanes<std::remove_const_t<T>> load(T* p) const {
    return lanes<std::remove_const_t<T>>(watch("load", p).read(p + id(), 0));
  }
  template <class T>
  lanes<std::remove_const_t<T>> load(mask m, T* p, std::remove_const_t<T> otherwise) const {
    const watched memory = watch("load", p);
    return lanes<std::remove_const_t<T>>(m.value ? memory.read(p + id(), 0) : otherwise);
  }
  template <class T>
  void store(T* p, const lanes<T>& a) const {
    watch("store", p).write(p + id(), 0, a.value);
  }
  template <class T>
  void store(mask m, T* p, const lanes<T>& a) const {
    const watched memory = watch("store", p);
    if (m.value) memory.write(p + id(), 0, a.value);
  }
  template <class T>
  lanes<std::remove_const_t<T>> load_streaming(T* p) const {
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
    return lanes<std::remove_const_t<T>>(watch("gather", p).read(p + index.value, 0));
  }
  template <class T, class I>
  requires(sizeof(T) == 4) lanes<T> gather_scratch(const T* p, const lanes<I>& index)
  const { return gather(p, index); }
  template <class T, class I>
  lanes<std::remove_const_t<T>> gather(mask m, T* p, const lanes<I>& index,
                                       std::remove_const_t<T> otherwise) const {
    const watched memory = watch("gather", p);
    return lanes<std::remove_const_t<T>>(m.value ? memory.read(p + index.value, 0) : otherwise);
  }
  template <class T, class I>
  void scatter(T* p, const lanes<I>& index, const lanes<T>& a) const {
    watch("scatter", p).write(p + index.value, 0, a.value);
  }
  template <class T, class I>
  void scatter(mask m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    const watched memory = watch("scatter", p);
    if (m.value) memory.write(p + index.value, 0, a.value);
  }
  template <scope s = scope::device, class T, class I>
  lanes<T> load_relaxed(mask m, const T* p, const lanes<I>& index, T otherwise) const {
    return racing_load<std::memory_order_relaxed>("load_relaxed", m, p, index, otherwise);
  }
  template <scope s = scope::device, class T, class I>
  lanes<T> load_acquire(mask m, const T* p, const lanes<I>& index, T otherwise) const {
    return racing_load<std::memory_order_acquire>("load_acquire", m, p, index, otherwise);
  }
  template <class T>
  lanes<T> load_relaxed(const T* p) const {
    return racing_words<std::memory_order_relaxed>("load_relaxed", p);
  }
  template <class T>
  lanes<T> load_acquire(const T* p) const {
    return racing_words<std::memory_order_acquire>("load_acquire", p);
  }
  template <class T>
  void store_relaxed(T* p, const lanes<T>& a) const {
    note("store_relaxed", p);
    racing_step();
    racing_change();
    const auto one = [](auto& word, const auto& x) {
      std::atomic_ref(word).store(x, std::memory_order_relaxed);
    };
    if constexpr (requires { T::size; }) {
      for (int j = 0; j < T::size; ++j) one(p[id()][j], a.value[j]);
    } else {
      one(p[id()], a.value);
    }
  }
  template <scope s = scope::device, class T>
  void store_relaxed(mask m, T* p, const lanes<T>& a) const {
    fetch("store_relaxed", m, p, [&] {
      std::atomic_ref<T>(p[id()]).store(a.value, std::memory_order_relaxed);
      return T{};
    });
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_add(mask m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    return fetch("fetch_add", m, p, [&] {
      return std::atomic_ref<T>(p[index.value]).fetch_add(a.value, detail::std_order<o>);
    });
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_or(mask m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    return fetch("fetch_or", m, p, [&] {
      return std::atomic_ref<T>(p[index.value]).fetch_or(a.value, detail::std_order<o>);
    });
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_and(mask m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    return fetch("fetch_and", m, p, [&] {
      return std::atomic_ref<T>(p[index.value]).fetch_and(a.value, detail::std_order<o>);
    });
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_min(mask m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    return fetch("fetch_min", m, p, [&] { return detail::fetch_min<o>(p[index.value], a.value); });
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> fetch_max(mask m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    return fetch("fetch_max", m, p, [&] { return detail::fetch_max<o>(p[index.value], a.value); });
  }
  template <order o = order::relaxed, scope s = scope::device, class T, class I>
  lanes<T> exchange(mask m, T* p, const lanes<I>& index, const lanes<T>& a) const {
    return fetch("exchange", m, p, [&] { return detail::exchange<o>(p[index.value], a.value); });
  }
  template <order o = order::acq_rel, scope s = scope::device, class T, class I>
  lanes<T> compare_exchange(mask m, T* p, const lanes<I>& index, const lanes<T>& expected,
                            const lanes<T>& desired) const {
    note("compare_exchange", p);
    racing_step();
    T seen = expected.value;
    if (m.value && std::atomic_ref<T>(p[index.value])
                       .compare_exchange_strong(seen, desired.value, detail::std_order<o>))
      racing_change();
    return lanes<T>(seen);
  }
  template <class T>
  int compress_store(T* p, mask m, const lanes<T>& a) const {
    const bits chosen = ballot(m);
    const watched memory = watch("compress_store", p);
    if (m.value)
      memory.write(p + popcount(static_cast<bits>(chosen & lanes_below().value)), 0, a.value);
    return popcount(chosen);
  }
  /// What may be overwritten is.
  template <class T>
  int compress_store_over(T* p, mask m, const lanes<T>& a) const {
    const int n = compress_store(p, m, a);
    T rubbish;
    std::memset(static_cast<void*>(&rubbish), 0x5b, sizeof(T));
    const watched memory = watch("compress_store_over", p);
    if (id() >= n) memory.write(p + id(), 0, rubbish);
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
  void prefetch(mask, const T*, const lanes<I>&) const {}

  // Uniform effects: lane 0's.
  template <class F>
  auto once(F f) const {
    using R = decltype(f());
    if constexpr (std::is_void_v<R>) {
      note("once", 0);
      if (id() == 0) f();
    } else {
      lanes<R> x(R{});
      if (id() == 0) x.value = f();
      return from("once", x, 0, 0).value;
    }
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T load(const T& ref) const {
    note("load of a word", &ref);
    return once([&] { return whole().template load<o, s>(ref); });
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  void store(T& ref, std::type_identity_t<T> x) const {
    note("store of a word", &ref);
    note("store of a word", x);
    meet("store of a word", 0);
    once([&] { whole().template store<o, s>(ref, x); });
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_add(T& ref, std::type_identity_t<T> x) const {
    note("fetch_add of a word", &ref);
    note("fetch_add of a word", x);
    meet("fetch_add of a word", 0);
    return once([&] { return whole().template fetch_add<o, s>(ref, x); });
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_or(T& ref, std::type_identity_t<T> x) const {
    note("fetch_or of a word", &ref);
    note("fetch_or of a word", x);
    meet("fetch_or of a word", 0);
    return once([&] { return whole().template fetch_or<o, s>(ref, x); });
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_and(T& ref, std::type_identity_t<T> x) const {
    note("fetch_and of a word", &ref);
    note("fetch_and of a word", x);
    meet("fetch_and of a word", 0);
    return once([&] { return whole().template fetch_and<o, s>(ref, x); });
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_min(T& ref, std::type_identity_t<T> x) const {
    note("fetch_min of a word", &ref);
    note("fetch_min of a word", x);
    meet("fetch_min of a word", 0);
    return once([&] { return whole().template fetch_min<o, s>(ref, x); });
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T fetch_max(T& ref, std::type_identity_t<T> x) const {
    note("fetch_max of a word", &ref);
    note("fetch_max of a word", x);
    meet("fetch_max of a word", 0);
    return once([&] { return whole().template fetch_max<o, s>(ref, x); });
  }
  template <order o = order::relaxed, scope s = scope::device, class T>
  T exchange(T& ref, std::type_identity_t<T> x) const {
    note("exchange of a word", &ref);
    note("exchange of a word", x);
    meet("exchange of a word", 0);
    return once([&] { return whole().template exchange<o, s>(ref, x); });
  }
  template <order o = order::acq_rel, scope s = scope::device, class T>
  T compare_exchange(T& ref, std::type_identity_t<T> expected,
                     std::type_identity_t<T> desired) const {
    note("compare_exchange of a word", &ref);
    note("compare_exchange of a word", expected);
    note("compare_exchange of a word", desired);
    meet("compare_exchange of a word", 0);
    return once([&] { return whole().template compare_exchange<o, s>(ref, expected, desired); });
  }
  void fence() const {
    together("fence", [] { whole().fence(); });
  }
  void full_fence() const {
    together("full_fence", [] { whole().full_fence(); });
  }
  void pause() const { whole().pause(); }

  /// Every lane belongs to exactly one sub-warp, so one call serves all of them.
  template <int w, class F>
  void split(F f) const {
    static_assert(w <= W);
    f(lane_warp<w>(*all_, lane_));
  }
  template <int w, class F>
  void split_in_step(F f) const {
    static_assert(w <= W);
    f(lane_warp<w, S>(*all_, lane_));
  }
  lane_warp<W> apart() const { return lane_warp<W>(*all_, lane_); }
  bool anywhere(bool here) const {
    note("anywhere", here);
    if constexpr (S == W) return here;
    const auto* votes = all_->meet(lane_, S, "anywhere", 0, &here, 1);
    return std::any_of(votes, votes + S, [](unsigned char vote) { return vote != 0; });
  }
  template <class T>
  lanes<T> take(const lanes<T>& a) const {
    return a;
  }
  mask take(mask m) const { return m; }
  template <class T>
  void put(lanes<T>& a, const lanes<T>& own) const {
    a = own;
  }

 private:
  template <int, int>
  friend class lane_warp;
  lane_warp(lockstep& all, int lane) : all_(&all), lane_(lane) {}

  int id() const { return lane_ % W; }
  static warp<W> whole() { return {}; }
  watched watch(const char* call, const void* p) const {
    note(call, p);
    return watched(call, lane_);
  }

  /// What is to be the same in all lanes; the bytes of a struct may hold padding.
  template <class T>
  static std::uint64_t argument(const T& x) {
    std::uint64_t word = 0;
    if constexpr (std::is_pointer_v<T>) word = reinterpret_cast<std::uintptr_t>(x);
    if constexpr (std::is_arithmetic_v<T>) std::memcpy(&word, &x, sizeof(x) < 8 ? sizeof(x) : 8);
    return word;
  }
  template <class T>
  void note(const char* call, const T& x) const {
    all_->note(lane_, W, call, argument(x));
  }
  void meet(const char* call, int x) const {
    all_->meet(lane_, W, call, argument(x), nullptr, 0);
    keep_step(call);
  }
  void keep_step(const char* call) const {
    if constexpr (S != W) all_->meet(lane_, S, call, 0, nullptr, 0);
  }

  /// The values of all lanes.
  template <class T>
  std::array<T, W> everyone(const char* call, const T& value, int x = 0) const {
    const auto* bytes = all_->meet(lane_, W, call, argument(x), &value, sizeof(T));
    keep_step(call);
    std::array<T, W> result;
    std::memcpy(static_cast<void*>(result.data()), bytes, sizeof(T) * W);
    return result;
  }
  template <class T>
  lanes<T> from(const char* call, const lanes<T>& a, int x, int source) const {
    return lanes<T>(everyone(call, a.value, x)[static_cast<std::size_t>(source)]);
  }
  template <class T>
  emulated::lanes<T, W> gathered(const char* call, const lanes<T>& a, int x) const {
    const auto values = everyone(call, a.value, x);
    emulated::lanes<T, W> result;
    for (int i = 0; i < W; ++i) result.lane[i] = values[static_cast<std::size_t>(i)];
    return result;
  }
  template <class T>
  lanes<T> mine(const emulated::lanes<T, W>& a) const {
    return lanes<T>(a.lane[id()]);
  }

  template <class T, class F>
  lanes<T> fetch(const char* call, mask m, T* p, F change) const {
    note(call, p);
    racing_step();
    if (!m.value) return lanes<T>(T{});
    racing_change();
    return lanes<T>(change());
  }
  /// Word by word, and other lanes may come between.
  template <std::memory_order o, class T>
  lanes<T> racing_words(const char* call, const T* p) const {
    const auto one = [](const auto& word) {
      using word_type = std::remove_cvref_t<decltype(word)>;
      return std::atomic_ref<word_type>(const_cast<word_type&>(word)).load(o);
    };
    note(call, p);
    racing_step();
    lanes<T> r;
    if constexpr (requires { T::size; }) {
      for (int j = 0; j < T::size; ++j) r.value[j] = one(p[id()][j]);
    } else {
      r.value = one(p[id()]);
    }
    return r;
  }
  template <std::memory_order o, class T, class I>
  lanes<T> racing_load(const char* call, mask m, const T* p, const lanes<I>& index,
                       T otherwise) const {
    note(call, p);
    racing_step();
    if (!m.value) return lanes<T>(otherwise);
    return lanes<T>(std::atomic_ref<T>(const_cast<T&>(p[index.value])).load(o));
  }

  lockstep* all_;
  int lane_;
};

}  // namespace backends::emulated
LANEWISE_END_NAMESPACE
