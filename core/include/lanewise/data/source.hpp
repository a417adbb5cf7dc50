// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/by_lanes.hpp>
#include <lanewise/data/functors.hpp>
#include <lanewise/data/memory.hpp>
#include <lanewise/data/message.hpp>
#include <lanewise/data/tuple.hpp>
#include <lanewise/macros.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

template <class F, class... S>
struct zipped_source;

// Sources, which items come from, and sinks, which results go to. Algorithms accept Views and
// anything made by the functions below; fusing work into a source or a sink costs no memory traffic
// of its own.

/// Items of a contiguous array, each passed through f when it is read.
template <class Raw, class F>
struct array_source {
  using raw_type = Raw;
  using value_type = std::decay_t<std::invoke_result_t<const F&, const Raw&>>;
  static constexpr bool contiguous = true;

  const Raw* data;
  std::int64_t extent;
  F f;

  LANEWISE_FUNCTION value_type from_raw(const Raw& raw) const { return f(raw); }
  LANEWISE_FUNCTION value_type operator()(std::int64_t i) const { return f(data[i]); }
};

/// Items computed from their index.
template <class F>
struct generated_source {
  using value_type = std::decay_t<std::invoke_result_t<const F&, std::int64_t>>;
  static constexpr bool contiguous = false;

  std::int64_t extent;
  F f;

  LANEWISE_FUNCTION value_type operator()(std::int64_t i) const { return f(i); }
};

/// Results written to a contiguous array.
template <class T>
struct array_sink {
  static constexpr bool contiguous = true;
  using raw_type = T;

  T* data;
  std::int64_t extent;

  template <class X>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const X& x) const {
    data[i] = static_cast<T>(x);
  }
};

/// Results handed to f(i, x), which must write to a place of its own for every i.
template <class F>
struct function_sink {
  static constexpr bool contiguous = false;

  std::int64_t extent;
  F f;

  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const T& x) const {
    f(i, x);
  }
};

/// Another source. Neighbouring work asks for its items again: they should stay in the nearest
/// cache.
template <class Source>
struct shared_source : Source {};

/// The items of another source from the last one to the first.
template <class Source>
struct reversed_source {
  using value_type = typename Source::value_type;
  static constexpr bool contiguous = false;

  Source forward;
  std::int64_t extent;

  LANEWISE_FUNCTION value_type operator()(std::int64_t i) const { return forward(extent - 1 - i); }
};

/// Results written to another sink from the place extent - 1 to the first.
template <class Sink>
struct reversed_sink {
  static constexpr bool contiguous = false;

  Sink forward;
  std::int64_t extent;

  template <class T>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const T& x) const {
    forward(extent - 1 - i, x);
  }
};

/// n items of a source, and what lies before the first and after the last (windows.hpp).
template <class Source>
struct bordered {
  using value_type = typename Source::value_type;

  Source items;
  std::int64_t n;
  value_type front;
  value_type after;
};

struct identity {
  static constexpr bool is_identity = true;
  template <class T>
  LANEWISE_FUNCTION constexpr const T& operator()(const T& x) const {
    return x;
  }
};

namespace detail {

/// What an array sink stores; other sinks take anything.
template <class S>
struct sink_value {
  using type = void;
};
template <class T>
struct sink_value<array_sink<T>> {
  using type = T;
};

/// Whether packs of an array can be read, or written, from its end to its beginning.
template <class S>
inline constexpr bool is_reversed_array = false;
template <class S>
inline constexpr bool is_reversed_array<reversed_source<S>> = S::contiguous;
template <class S>
inline constexpr bool is_reversed_array<reversed_sink<S>> = S::contiguous;

/// Whether a source may read the array that a sink writes, as the same type.
template <class Source, class Sink>
inline constexpr bool are_of_one_array = false;
template <class T, class F>
inline constexpr bool are_of_one_array<array_source<T, F>, array_sink<T>> = true;

/// Whether an item of a source is touched once.
template <class S>
inline constexpr bool is_touched_once = true;
template <class S>
inline constexpr bool is_touched_once<shared_source<S>> = false;

// Each check says in one line what does not fit, and returns whether all fits.

template <class T>
constexpr bool check_item_type() {
  constexpr bool copyable = std::is_trivially_copyable_v<T>;
  constexpr bool constructible = std::is_default_constructible_v<T>;
  constexpr bool aligned = alignof(T) <= most_alignment;
  static_assert(copyable, "lanewise: items must be trivially copyable");
  static_assert(constructible, "lanewise: items must be default constructible");
  static_assert(aligned, "lanewise: items must not be aligned to more than 256 bytes");
  return copyable && constructible && aligned;
}

template <class V>
constexpr bool check_view_type() {
  constexpr bool vector = V::rank() == 1;
  constexpr bool contiguous = !std::is_same_v<typename V::array_layout, Kokkos::LayoutStride>;
  static_assert(vector, "lanewise: arrays are Views of rank 1");
  static_assert(contiguous,
                "lanewise: Views must be contiguous (LayoutLeft or LayoutRight, not LayoutStride)");
  return detail::check_item_type<typename V::non_const_value_type>() && vector && contiguous;
}

template <class T>
struct is_source : std::false_type {};
template <class R, class F>
struct is_source<array_source<R, F>> : std::true_type {};
template <class F>
struct is_source<generated_source<F>> : std::true_type {};

template <class T>
struct is_sink : std::false_type {};
template <class T>
struct is_sink<array_sink<T>> : std::true_type {};
template <class F>
struct is_sink<function_sink<F>> : std::true_type {};

/// An argument with the place it lives in, so that it can be checked against the instance that
/// runs.
template <class Exec, class V>
constexpr void check_reachable() {
  static_assert(
      Kokkos::SpaceAccessibility<typename Exec::memory_space, typename V::memory_space>::accessible,
      "lanewise: this execution space cannot reach the memory of a View argument");
}

/// Whether kernels on this space can call the functor of a source.
template <class Exec, class R, class F>
constexpr void check_functor(const array_source<R, F>&) {
  functor_rules<Exec>::template called_with<F, R>();
}
template <class Exec, class F>
constexpr void check_functor(const generated_source<F>&) {
  functor_rules<Exec>::template called_with<F, std::int64_t>();
}

template <class Exec, class F, class... S>
constexpr void check_functor(const zipped_source<F, S...>&);  // zip.hpp

template <class Exec, class V>
auto as_source(const V& view) {
  if constexpr (is_source<V>::value) {
    detail::check_functor<Exec>(view);
    if constexpr (detail::check_item_type<typename V::value_type>())
      return view;
    else
      return array_source<refused, identity>{};
  } else if constexpr (!Kokkos::is_view_v<V>) {
    static_assert(Kokkos::is_view_v<V>,
                  "lanewise: an input is a Kokkos::View or a lanewise source");
    return array_source<refused, identity>{};
  } else if constexpr (detail::check_view_type<V>()) {
    detail::check_reachable<Exec, V>();
    using raw = typename V::non_const_value_type;
    return array_source<raw, identity>{view.data(), static_cast<std::int64_t>(view.extent(0)),
                                       identity{}};
  } else {
    return array_source<refused, identity>{};
  }
}

template <class Exec, class V>
auto as_sink(const V& view) {
  if constexpr (is_sink<V>::value) {
    return view;
  } else if constexpr (!Kokkos::is_view_v<V>) {
    static_assert(Kokkos::is_view_v<V>, "lanewise: an output is a Kokkos::View or a lanewise sink");
    return array_sink<refused>{};
  } else if constexpr (detail::check_view_type<V>()) {
    static_assert(!std::is_const_v<typename V::value_type>,
                  "lanewise: an output View must not be const");
    detail::check_reachable<Exec, V>();
    return array_sink<typename V::value_type>{view.data(),
                                              static_cast<std::int64_t>(view.extent(0))};
  } else {
    return array_sink<refused>{};
  }
}

/// f after g.
template <class F, class G>
struct composed {
  F f;
  G g;
  template <class X>
  LANEWISE_FUNCTION auto operator()(const X& x) const {
    return f(g(x));
  }
};
template <class F>
struct composed<F, identity> {
  F f;
  identity g;
  template <class X>
  LANEWISE_FUNCTION auto operator()(const X& x) const {
    return f(x);
  }
};

template <class W, class F, class G, class X>
LANEWISE_FUNCTION auto apply_by_lanes(const W& warp, const composed<F, G>& f, const X& x) {
  if constexpr (std::is_same_v<G, identity>) {
    return detail::apply_by_lanes(warp, f.f, x);
  } else {
    return detail::apply_by_lanes(warp, f.f, detail::apply_by_lanes(warp, f.g, x));
  }
}

template <class T>
struct convert_to {
  template <class X>
  LANEWISE_FUNCTION T operator()(const X& x) const {
    return static_cast<T>(x);
  }
};

/// The source with f applied to its items.
template <class R, class G, class F>
LANEWISE_FUNCTION auto compose(const array_source<R, G>& s, const F& f) {
  return array_source<R, composed<F, G>>{s.data, s.extent, {f, s.f}};
}
template <class G, class F>
LANEWISE_FUNCTION auto compose(const generated_source<G>& s, const F& f) {
  return generated_source<composed<F, G>>{s.extent, {f, s.f}};
}

template <class G, class... S, class F>
LANEWISE_FUNCTION auto compose(const zipped_source<G, S...>& s, const F& f);  // zip.hpp

/// The source with its items converted to T.
template <class T, class Source>
auto as(const Source& s) {
  detail::check_item_type<T>();
  if constexpr (std::is_same_v<T, typename Source::value_type>) {
    return s;
  } else {
    return detail::compose(s, convert_to<T>{});
  }
}

struct is_set {
  template <class X>
  LANEWISE_FUNCTION std::uint8_t operator()(const X& x) const {
    return static_cast<bool>(x) ? 1 : 0;
  }
};

/// Flags of any type that converts to bool, as integers.
template <class Exec, class V>
auto as_flags(const V& view) {
  const auto source = detail::as_source<Exec>(view);
  using flag = typename decltype(source)::value_type;
  static_assert(
      requires(const flag& x) { static_cast<bool>(x); },
      "lanewise: flags are of a type that converts to bool");
  if constexpr (std::is_integral_v<flag> && !std::is_same_v<flag, bool>) {
    return source;
  } else {
    return detail::compose(source, is_set{});
  }
}

struct byte_range {
  const char* begin = nullptr;
  const char* end = nullptr;
};
template <class T>
byte_range bytes_of(const T& t) {
  if constexpr (requires { t.data; }) {
    const auto* begin = reinterpret_cast<const char*>(t.data);
    return {begin, begin + static_cast<std::size_t>(t.extent) * sizeof(*t.data)};
  } else {
    return {};
  }
}

/// Calls f with the parts of a zip (zip.hpp).
template <class Parts, class F>
void for_each_part(const Parts& parts, const F& f) {
  detail::call_with([&](const auto&... part) { (f(part), ...); }, parts);
}

/// An array of n items must exist when n > 0.
template <class T>
void expects_memory(const T& t, const char* algorithm, const char* name) {
  if constexpr (requires { t.data; }) {
    detail::expects(t.extent == 0 || t.data != nullptr, algorithm, ": ", name, " has ", t.extent,
                    " items and no memory");
  } else if constexpr (requires { t.parts; }) {
    detail::for_each_part(t.parts,
                          [&](const auto& part) { detail::expects_memory(part, algorithm, name); });
  }
}

inline bool are_apart(const byte_range& a, const byte_range& b) {
  return a.begin == a.end || b.begin == b.end || a.end <= b.begin || b.end <= a.begin;
}

/// in and out may be the same array; any other overlap would let items be read after they were
/// overwritten.
template <class In, class Out>
void expects_no_partial_overlap(const In& in, const Out& out, const char* algorithm,
                                const char* in_name, const char* out_name,
                                bool same_allowed = true) {
  if constexpr (requires { in.parts; }) {
    detail::for_each_part(in.parts, [&](const auto& part) {
      detail::expects_no_partial_overlap(part, out, algorithm, in_name, out_name, same_allowed);
    });
    return;
  } else if constexpr (requires { out.parts; }) {
    detail::for_each_part(out.parts, [&](const auto& part) {
      detail::expects_no_partial_overlap(in, part, algorithm, in_name, out_name, same_allowed);
    });
    return;
  }
  const byte_range a = detail::bytes_of(in);
  const byte_range b = detail::bytes_of(out);
  const bool apart = detail::are_apart(a, b);
  bool same = false;
  if constexpr (requires {
                  in.data;
                  out.data;
                }) {
    same = same_allowed && a.begin == b.begin && sizeof(*in.data) == sizeof(*out.data);
  }
  expects(apart || same, algorithm, ": ", in_name, " [", static_cast<const void*>(a.begin), ", ",
          static_cast<const void*>(a.end), ") and ", out_name, " [",
          static_cast<const void*>(b.begin), ", ", static_cast<const void*>(b.end), ") overlap",
          same_allowed ? " and are not the same array" : "");
}

}  // namespace detail

/// A source whose item i is f(view(i)). f is a pure scalar function object, called once per read.
template <class V, class F>
requires(Kokkos::is_view_v<V>) auto transformed(const V& view, const F& f) {
  using raw = typename V::non_const_value_type;
  detail::check_view_type<V>();
  if constexpr (detail::takes<F, raw>) {
    return array_source<raw, F>{view.data(), static_cast<std::int64_t>(view.extent(0)), f};
  } else {
    static_assert(
        detail::takes<F, raw>,
        "lanewise::transformed: f is a function object that is called with an item of the "
        "View, and its operator() is const");
    return array_source<detail::refused, identity>{};
  }
}

/// A source of n items whose item i is f(i), i being a std::int64_t.
template <class F>
auto generated(std::int64_t n, const F& f) {
  detail::expects(n >= 0, "generated: n is ", n, ", less than 0");
  if constexpr (detail::takes<F, std::int64_t>) {
    return generated_source<F>{n, f};
  } else {
    static_assert(detail::takes<F, std::int64_t>,
                  "lanewise::generated: f is a function object that is called with a std::int64_t, "
                  "and its operator() is const");
    return array_source<detail::refused, identity>{};
  }
}

/// A sink of n places that calls f(i, x) once for every result x with index i.
template <class F>
auto consumed(std::int64_t n, const F& f) {
  detail::expects(n >= 0, "consumed: n is ", n, ", less than 0");
  return function_sink<F>{n, f};
}

LANEWISE_END_NAMESPACE
