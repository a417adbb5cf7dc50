// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/functors.hpp>
#include <lanewise/data/operators.hpp>
#include <lanewise/data/source.hpp>
#include <lanewise/data/zip.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// What calls ask of the types of their arguments. Each check says in one line what does not fit,
// and returns whether the kernel can be instantiated.

/// The items of an input.
template <class Exec, class In>
using item_of = typename decltype(as_source<Exec>(std::declval<const In&>()))::value_type;

template <class Exec, class Out>
using sink_of = decltype(detail::as_sink<Exec>(std::declval<const Out&>()));

/// Results of type T that are written to a sink.
template <class Exec, class T, class Sink>
constexpr bool check_results() {
  using item = typename sink_value<Sink>::type;
  if constexpr (is_refused<T, item>) {
    return false;
  } else if constexpr (requires { std::declval<Sink>().parts; }) {
    return detail::check_unzipped<T, Sink>();
  } else if constexpr (std::is_void_v<item>) {
    constexpr bool fitting = detail::fits<Exec, void, decltype(Sink::f), std::int64_t, T>();
    static_assert(fitting,
                  "lanewise: the functor of consumed is called as f(std::int64_t, result), and its "
                  "operator() is const");
    return fitting;
  } else {
    constexpr bool fitting = std::is_convertible_v<const T&, item>;
    static_assert(fitting, "lanewise: results do not convert to the items of an output View");
    return fitting;
  }
}
/// As check_results, for results that have been combined as T. says: the caller wants T.
template <class Exec, class T, class Sink, bool says>
constexpr bool check_combined() {
  static_assert(says || !detail::narrows<T, typename sink_value<Sink>::type>(),
                "lanewise: results would lose fractions or bytes in the items of out; if that is "
                "meant, accumulate_as<T>(op) says so");
  return detail::check_results<Exec, T, Sink>();
}

/// What is called: the operator without what it says of types and order.
template <class Op>
using without_accumulation_t =
    std::decay_t<decltype(detail::without_accumulation(std::declval<Op>()))>;
template <class Op>
using plain_operator_t = std::decay_t<decltype(detail::plain_operator(
    std::declval<const without_accumulation_t<Op>&>()))>;
/// Whether the caller has said in which type to accumulate.
template <class Op>
inline constexpr bool says_type = !std::is_same_v<Op, without_accumulation_t<Op>>;

/// An associative operator on T, or on the type that it names. any_order: not deterministic(op).
template <class Exec, class Op, class T, bool any_order = true>
constexpr bool check_operator() {
  constexpr bool known =
      !any_order || std::is_same_v<without_accumulation_t<Op>, plain_operator_t<Op>>;
  static_assert(known,
                "lanewise: deterministic operators are for reduce, inclusive_scan and "
                "exclusive_scan");
  if constexpr (known) {
    using combined = accumulated<Op, T>;
    constexpr bool fitting =
        detail::fits<Exec, combined, plain_operator_t<Op>, combined, combined>();
    static_assert(fitting || is_refused<combined>,
                  "lanewise: op is a function object with T operator()(T, T) const, where T is the "
                  "type of init, or of the result, else of the items, unless accumulate_as names "
                  "another");
    return fitting;
  }
  return false;
}

/// Items that are combined as T. says: the caller wants T.
template <class Item, class T, bool says>
constexpr bool check_items() {
  constexpr bool converts = is_refused<Item, T> || std::is_constructible_v<T, const Item&>;
  static_assert(converts,
                "lanewise: items do not convert to the type they are combined in: that of init, or "
                "of the result");
  static_assert(says || !detail::narrows<Item, T>(),
                "lanewise: items would lose fractions or bytes in the type they are combined in, "
                "that of init, or of the result; if that is meant, accumulate_as<T>(op) says so");
  return converts && !is_refused<Item, T>;
}

/// op and arrays of a scan. T: the type of init, or of the items.
template <class Exec, class In, class Out, class Op, class T, bool any_order = true>
constexpr bool check_scan() {
  using combined = accumulated<Op, T>;
  if constexpr (detail::check_operator<Exec, Op, T, any_order>())
    return detail::check_items<item_of<Exec, In>, combined, says_type<Op>>() &&
           detail::check_combined<Exec, combined, sink_of<Exec, Out>, says_type<Op>>();
  return false;
}

/// Whether what was given as op and init are init and op.
template <class Op, class T>
constexpr bool are_swapped() {
  using op = plain_operator_t<Op>;
  return !returns_from<op, T, T, T> && returns_from<plain_operator_t<T>, Op, Op, Op>;
}
/// As check_scan, with init, which comes before op.
template <class Exec, class In, class Out, class T, class Op, bool any_order = true>
constexpr bool check_exclusive_scan() {
  constexpr bool swapped = detail::are_swapped<Op, T>();
  static_assert(!swapped, "lanewise: op comes before init: (exec, in, ..., out, op, init)");
  if constexpr (!swapped) return detail::check_scan<Exec, In, Out, Op, T, any_order>();
  return false;
}

/// Items, op and an init that becomes a T, of reductions, where init comes after op.
template <class Exec, class In, class Op, class Init, class T = Init, bool any_order = true>
constexpr bool check_reduction() {
  constexpr bool swapped = detail::are_swapped<Op, Init>();
  constexpr bool becomes = std::is_convertible_v<const Init&, T>;
  constexpr bool cut = std::is_floating_point_v<Init> && std::is_integral_v<T>;
  static_assert(!swapped, "lanewise: op comes before init: (exec, in, ..., op, init)");
  static_assert(becomes || swapped, "lanewise: init does not convert to the type of the result");
  static_assert(!cut, "lanewise: init is a floating-point number, and the result an integer");
  if constexpr (becomes && !swapped && detail::check_operator<Exec, Op, T, any_order>())
    return detail::check_items<item_of<Exec, In>, accumulated<Op, T>, says_type<Op>>();
  return false;
}

/// A predicate, by the name of its argument.
template <class Exec, class Keep, class T>
constexpr bool check_predicate() {
  constexpr bool fitting = detail::fits<Exec, bool, Keep, T>();
  static_assert(fitting || is_refused<T>,
                "lanewise: keep is a function object with bool operator()(item of in) const");
  return fitting;
}
template <class Exec, class Less, class T>
constexpr bool check_less() {
  constexpr bool fitting = detail::fits<Exec, bool, Less, T, T>();
  static_assert(fitting || is_refused<T>,
                "lanewise: less is a function object with bool operator()(item, item) const; "
                "without one, items of in have < and ==");
  return fitting;
}
template <class Exec, class BucketOf, class Key>
constexpr bool check_bucket_of() {
  constexpr bool fitting = detail::fits<Exec, void, BucketOf, Key>();
  static_assert(fitting || is_refused<Key>,
                "lanewise: bucket_of is a function object that is called with a key, and its "
                "operator() is const");
  if constexpr (fitting) {
    using bucket = std::decay_t<std::invoke_result_t<const BucketOf&, const Key&>>;
    constexpr bool integer = std::is_integral_v<bucket> || std::is_enum_v<bucket>;
    static_assert(integer, "lanewise: a bucket function returns an integer");
    return integer;
  }
  return false;
}
template <class Exec, class Equal, class T>
constexpr bool check_equal() {
  constexpr bool fitting = detail::fits<Exec, bool, Equal, T, T>();
  static_assert(fitting || is_refused<T>,
                "lanewise: equal is a function object with bool operator()(key, key) const; "
                "without one, keys have ==");
  return fitting;
}

/// Whether a function takes the items of a zip one by one.
template <class Exec, class F, class T>
struct called_by_items {
  static constexpr bool holds = false;
};
template <class Exec, class F, class... T>
requires takes<F, T...>
struct called_by_items<Exec, F, tuple<T...>> {
  static constexpr bool holds = true;
  using result = std::decay_t<std::invoke_result_t<const F&, const T&...>>;
  static constexpr bool fitting() { return detail::fits<Exec, void, F, T...>(); }
};

/// A function of an item whose results are written to a sink.
template <class Exec, class F, class T, class Sink>
constexpr bool check_transformation() {
  if constexpr (called_by_items<Exec, F, T>::holds) {
    using result = typename called_by_items<Exec, F, T>::result;
    if constexpr (called_by_items<Exec, F, T>::fitting() && detail::check_item_type<result>())
      return detail::check_results<Exec, result, Sink>();
    return false;
  } else {
    constexpr bool fitting = detail::fits<Exec, void, F, T>();
    static_assert(fitting || is_refused<T>,
                  "lanewise: f is a function object that is called with an item of in, and its "
                  "operator() is const");
    if constexpr (fitting) {
      using result = std::decay_t<std::invoke_result_t<const F&, const T&>>;
      if constexpr (detail::check_item_type<result>())
        return detail::check_results<Exec, result, Sink>();
    }
    return false;
  }
}
/// A function of two neighbouring items whose results are written to a sink.
template <class Exec, class Op, class T, class Sink>
constexpr bool check_difference() {
  constexpr bool fitting = detail::fits<Exec, void, Op, T, T>();
  static_assert(fitting || is_refused<T>,
                "lanewise: op is a function object that is called with two items of in, and its "
                "operator() is const");
  if constexpr (fitting)
    return detail::check_results<
        Exec, std::decay_t<std::invoke_result_t<const Op&, const T&, const T&>>, Sink>();
  return false;
}

}  // namespace detail
LANEWISE_END_NAMESPACE
