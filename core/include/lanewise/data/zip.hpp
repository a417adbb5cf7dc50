// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/source.hpp>
#include <lanewise/data/tuple.hpp>

LANEWISE_BEGIN_NAMESPACE

// Several arrays side by side, as one source of tuples and one sink of tuples.

/// Items f(a(i), b(i), ...) of several sources.
template <class F, class... S>
struct zipped_source {
  using value_type = std::decay_t<std::invoke_result_t<const F&, const typename S::value_type&...>>;
  static constexpr bool contiguous = false;
  /// Whether packs of all parts can be read as they lie in memory.
  static constexpr bool has_arrays = (S::contiguous && ...);
  static constexpr std::size_t loaded_bytes = (sizeof(typename S::value_type) + ...);

  std::int64_t extent;
  tuple<S...> parts;
  F f;

  LANEWISE_FUNCTION value_type operator()(std::int64_t i) const {
    return detail::call_with([&](const S&... part) LANEWISE_INLINE_LAMBDA { return f(part(i)...); },
                             parts);
  }
};

/// Results that are tuples: each value goes to a sink of its own.
template <class... S>
struct unzipped_sink {
  static constexpr bool contiguous = false;

  std::int64_t extent;
  tuple<S...> parts;

  template <class... T>
  LANEWISE_FUNCTION void operator()(std::int64_t i, const tuple<T...>& x) const {
    put(i, x, std::index_sequence_for<T...>());
  }

 private:
  template <class X, std::size_t... k>
  LANEWISE_FUNCTION void put(std::int64_t i, const X& x, std::index_sequence<k...>) const {
    (lanewise::get<k>(parts)(
         i, static_cast<typename detail::sink_value<S>::type>(lanewise::get<k>(x))),
     ...);
  }
};

namespace detail {

/// A zip itself, not what is made of one.
template <class S>
inline constexpr bool is_zip = false;
template <class F, class... S>
inline constexpr bool is_zip<zipped_source<F, S...>> = true;
template <class S>
inline constexpr bool is_zip<shared_source<S>> = is_zip<S>;

struct into_tuple {
  template <class... T>
  LANEWISE_FUNCTION tuple<T...> operator()(const T&... x) const {
    return tuple<T...>(x...);
  }
};

/// f of all items, if it takes them, else of their tuple.
template <class F>
struct of_items {
  F f;
  template <class... T>
  LANEWISE_FUNCTION auto operator()(const T&... x) const {
    if constexpr (takes<F, T...>) {
      return f(x...);
    } else {
      return f(tuple<T...>(x...));
    }
  }
};
/// f after g, which takes several items.
template <class F, class G>
struct after_items {
  F f;
  G g;
  template <class... T>
  LANEWISE_FUNCTION auto operator()(const T&... x) const {
    return f(g(x...));
  }
};

template <class F, class... S>
struct is_source<zipped_source<F, S...>> : std::true_type {};
template <class... S>
struct is_sink<unzipped_sink<S...>> : std::true_type {};

/// Whether kernels on this space can call f with the items of a zip.
template <class Exec, class F, class... S>
constexpr void check_functor(const zipped_source<F, S...>&) {
  if constexpr (!std::is_same_v<F, into_tuple>)
    functor_rules<Exec>::template called_with<F, typename S::value_type...>();
}

template <class G, class... S, class F>
LANEWISE_FUNCTION auto compose(const zipped_source<G, S...>& s, const F& f) {
  if constexpr (std::is_same_v<G, into_tuple>) {
    return zipped_source<of_items<F>, S...>{s.extent, s.parts, {f}};
  } else {
    return zipped_source<after_items<F, G>, S...>{s.extent, s.parts, {f, s.f}};
  }
}

/// A part of a zip: a View or another source.
template <class V>
auto as_part(const V& x) {
  if constexpr (Kokkos::is_view_v<V>) {
    detail::check_view_type<V>();
    return array_source<typename V::non_const_value_type, identity>{
        x.data(), static_cast<std::int64_t>(x.extent(0)), identity{}};
  } else {
    static_assert(is_source<V>::value, "lanewise::zipped: parts are Views of rank 1, or sources");
    return x;
  }
}

template <class V>
inline constexpr bool is_input = Kokkos::is_view_v<V> || is_source<V>::value;
template <class V>
inline constexpr bool is_output = Kokkos::is_view_v<V> || is_sink<V>::value;

template <class Exec, class... V>
constexpr void check_views_reachable() {
  const auto check = []<class U>(const U*) {
    if constexpr (Kokkos::is_view_v<U>) detail::check_reachable<Exec, U>();
  };
  (check(static_cast<const V*>(nullptr)), ...);
}

template <class First, class... More>
std::int64_t extent_of_all(const char* function, const First& first, const More&... more) {
  const auto same = [&](const auto& part) {
    detail::expects(part.extent == first.extent, function, ": a part has ", part.extent,
                    " items, the first has ", first.extent);
  };
  (same(more), ...);
  return first.extent;
}

/// Results of type T that are written to an unzipped sink.
template <class T, class Sink>
inline constexpr bool are_values_of = false;
template <class... T, class... S>
requires(sizeof...(T) ==
         sizeof...(S)) inline constexpr bool are_values_of<tuple<T...>, unzipped_sink<S...>> =
    (std::is_convertible_v<const T&, typename sink_value<S>::type> && ...);

template <class T, class Sink>
constexpr bool check_unzipped() {
  constexpr bool fitting = are_values_of<T, Sink>;
  static_assert(fitting,
                "lanewise::unzipped: results are tuples of as many values, which convert to the "
                "items of the Views");
  return fitting;
}

/// No part of a sink overlaps another one.
template <class... S>
void expects_parts_apart(const unzipped_sink<S...>& sink, const char* what) {
  const auto apart = [what](const byte_range& a, const byte_range& b) {
    expects(
        &a == &b || a.begin == a.end || b.begin == b.end || a.end <= b.begin || b.end <= a.begin,
        what, " [", static_cast<const void*>(a.begin), ", ", static_cast<const void*>(a.end),
        ") and [", static_cast<const void*>(b.begin), ", ", static_cast<const void*>(b.end),
        ") overlap");
  };
  detail::call_with(
      [&](const S&... part) {
        const byte_range range[] = {detail::bytes_of(part)...};
        for (const auto& a : range) {
          for (const auto& b : range) apart(a, b);
        }
      },
      sink.parts);
}

}  // namespace detail

/// A source whose item i is tuple(a(i), b(i), ...), for Views or sources of equal extents. The f of
/// transform and transformed takes the items one by one, or the tuple. A View in it is not checked
/// against the instance's memory space.
template <class... V>
auto zipped(const V&... v) {
  static_assert(sizeof...(V) > 0, "lanewise::zipped: there is at least one part");
  return [](const auto&... part) {
    return zipped_source<detail::into_tuple, std::decay_t<decltype(part)>...>{
        detail::extent_of_all("zipped", part...), {part...}, {}};
  }(detail::as_part(v)...);
}

/// A source whose item i is f of the items i of a zip.
template <class... S, class F>
auto transformed(const zipped_source<detail::into_tuple, S...>& zip, const F& f) {
  constexpr bool fitting = detail::takes<F, typename S::value_type...> ||
                           detail::takes<F, tuple<typename S::value_type...>>;
  static_assert(fitting,
                "lanewise::transformed: f is a function object that is called with the items of "
                "the zip, or with a tuple of them, and its operator() is const");
  if constexpr (fitting) {
    return detail::compose(zip, f);
  } else {
    return array_source<detail::refused, identity>{};
  }
}

/// A sink for results that are tuples: value k of result i goes to place i of View k. The Views
/// have equal extents and do not overlap. They are not checked against the instance's memory space.
template <class... V>
requires(sizeof...(V) > 0 && (Kokkos::is_view_v<V> && ...)) auto unzipped(const V&... v) {
  static_assert((!std::is_const_v<typename V::value_type> && ...),
                "lanewise::unzipped: Views must not be const");
  (detail::check_view_type<V>(), ...);
  return [](const auto&... part) {
    const unzipped_sink<std::decay_t<decltype(part)>...> sink{
        detail::extent_of_all("unzipped", part...), {part...}};
    detail::expects_parts_apart(sink, "unzipped: Views");
    return sink;
  }(array_sink<typename V::non_const_value_type>{v.data(),
                                                 static_cast<std::int64_t>(v.extent(0))}...);
}

LANEWISE_END_NAMESPACE
