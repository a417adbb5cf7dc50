// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// Functors that work on whole lanes. On the host they are called with the vectors of a warp; for
// single items, and on CUDA, where a lane is a thread anyway, with the warp of one lane below.

/// A warp of one lane, with the operations that work lane by lane.
class lone_lane {
 public:
  static constexpr int width = 1;
  using bits = std::uint32_t;

  struct mask {
    bool value;
    friend LANEWISE_FUNCTION mask operator&(mask a, mask b) { return mask{a.value && b.value}; }
    friend LANEWISE_FUNCTION mask operator|(mask a, mask b) { return mask{a.value || b.value}; }
    friend LANEWISE_FUNCTION mask operator!(mask a) { return mask{!a.value}; }
  };
  template <class T>
  using mask_for = mask;

  template <class T>
  struct lanes {
    using value_type = T;
    T value;

    lanes() = default;
    LANEWISE_FUNCTION lanes(T x) : value(x) {}

#define LANEWISE_LONE_BINARY(op)                                               \
  friend LANEWISE_FUNCTION lanes operator op(const lanes& a, const lanes& b) { \
    return lanes(static_cast<T>(a.value op b.value));                          \
  }
    LANEWISE_LONE_BINARY(+)
    LANEWISE_LONE_BINARY(-)
    LANEWISE_LONE_BINARY(*)
    LANEWISE_LONE_BINARY(&)
    LANEWISE_LONE_BINARY(|)
    LANEWISE_LONE_BINARY(^)
    LANEWISE_LONE_BINARY(<<)
    LANEWISE_LONE_BINARY(>>)
#undef LANEWISE_LONE_BINARY
    friend LANEWISE_FUNCTION lanes operator<<(const lanes& a, int count) {
      return lanes(static_cast<T>(a.value << count));
    }
    friend LANEWISE_FUNCTION lanes operator>>(const lanes& a, int count) {
      return lanes(static_cast<T>(a.value >> count));
    }
    friend LANEWISE_FUNCTION lanes operator~(const lanes& a) {
      return lanes(static_cast<T>(~a.value));
    }

#define LANEWISE_LONE_COMPARE(op)                                             \
  friend LANEWISE_FUNCTION mask operator op(const lanes& a, const lanes& b) { \
    return mask{a.value op b.value};                                          \
  }
    LANEWISE_LONE_COMPARE(==)
    LANEWISE_LONE_COMPARE(!=)
    LANEWISE_LONE_COMPARE(<)
    LANEWISE_LONE_COMPARE(<=)
    LANEWISE_LONE_COMPARE(>)
    LANEWISE_LONE_COMPARE(>=)
#undef LANEWISE_LONE_COMPARE

    static LANEWISE_FUNCTION lanes select(mask m, const lanes& a, const lanes& b) {
      return m.value ? a : b;
    }
  };

  template <class F, class... T>
  LANEWISE_FUNCTION auto map(F f, const lanes<T>&... a) const {
    return lanes<std::decay_t<decltype(f(a.value...))>>(f(a.value...));
  }
  template <class F, class R, class... T>
  LANEWISE_FUNCTION lanes<R> map(mask m, F f, R otherwise, const lanes<T>&... a) const {
    return m.value ? lanes<R>(f(a.value...)) : lanes<R>(otherwise);
  }
  template <class U, class T>
  LANEWISE_FUNCTION lanes<U> cast(const lanes<T>& a) const {
    return lanes<U>(static_cast<U>(a.value));
  }
  LANEWISE_FUNCTION bool any(mask m) const {
    return m.value;
  }
  LANEWISE_FUNCTION bool all(mask m) const {
    return m.value;
  }
  template <class T, class I>
  LANEWISE_FUNCTION lanes<std::remove_const_t<T>> gather(T* p, const lanes<I>& index) const {
    return lanes<std::remove_const_t<T>>(p[index.value]);
  }
  template <class T, class I>
  LANEWISE_FUNCTION lanes<std::remove_const_t<T>> gather(mask m, T* p, const lanes<I>& index,
                                                         std::remove_const_t<T> otherwise) const {
    return lanes<std::remove_const_t<T>>(m.value ? p[index.value] : otherwise);
  }
};

/// What by_lanes returns: a scalar functor like any other, which backends may also give lanes.
template <class F>
struct lanes_functor {
  F f;

  template <class T>
  LANEWISE_FUNCTION auto operator()(const T& x) const {
    return f(lone_lane{}, lone_lane::lanes<T>(x)).value;
  }
};

/// Says that f works on whole lanes: f(warp, x) returns lanes whose value in every lane depends on
/// x in that lane alone. x are lanes of any warp, all of them items that exist; f uses arithmetic,
/// comparisons, select, and of the warp map, cast, gather, any and all. For functors of transform
/// and of sources that compilers do not vectorise by themselves.
template <class F>
constexpr lanes_functor<F> by_lanes(const F& f) {
  return {f};
}

namespace detail {

/// f of lanes: item by item, unless f says that it can do better.
template <class W, class F, class X>
LANEWISE_FUNCTION auto apply_by_lanes(const W& warp, const F& f, const X& x) {
  return warp.map([&](const auto& item) LANEWISE_INLINE_LAMBDA { return f(item); }, x);
}
template <class W, class F, class X>
LANEWISE_FUNCTION auto apply_by_lanes(const W& warp, const lanes_functor<F>& f, const X& x) {
  return f.f(warp, x);
}

}  // namespace detail
LANEWISE_END_NAMESPACE
