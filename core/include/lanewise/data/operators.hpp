// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <limits>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE

// Associative operators. They are plain function objects; any trivially copyable function object
// with T operator()(T, T) const serves as well. The named ones tell backends that a vector
// instruction exists and that operands may be exchanged.

struct plus {
  template <class T>
  requires requires(const T& a, const T& b) { a + b; }
  LANEWISE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};
/// Not associative; for adjacent_difference.
struct minus {
  template <class T>
  requires requires(const T& a, const T& b) { a - b; }
  LANEWISE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a - b);
  }
};
struct multiplies {
  template <class T>
  requires requires(const T& a, const T& b) { a* b; }
  LANEWISE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(int)) {
      return static_cast<T>(static_cast<unsigned>(a) *
                            static_cast<unsigned>(b));  // 65535 * 65535 overflows int
    } else {
      return static_cast<T>(a * b);
    }
  }
};
struct minimum {
  template <class T>
  requires requires(const T& a, const T& b) { b < a; }
  LANEWISE_FUNCTION constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
struct maximum {
  template <class T>
  requires requires(const T& a, const T& b) { a < b; }
  LANEWISE_FUNCTION constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
struct bit_and {
  template <class T>
  requires requires(const T& a, const T& b) { a& b; }
  LANEWISE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a & b);
  }
};
struct bit_or {
  template <class T>
  requires requires(const T& a, const T& b) { a | b; }
  LANEWISE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a | b);
  }
};
struct bit_xor {
  template <class T>
  requires requires(const T& a, const T& b) { a ^ b; }
  LANEWISE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a ^ b);
  }
};

/// The default equivalence of neighbours.
struct equal_to {
  template <class T>
  requires requires(const T& a, const T& b) { a == b; }
  LANEWISE_FUNCTION constexpr bool operator()(const T& a, const T& b) const { return a == b; }
};

/// The default order of what is sorted, merged and searched.
struct less {
  template <class T>
  requires requires(const T& a, const T& b) { a < b; }
  LANEWISE_FUNCTION constexpr bool operator()(const T& a, const T& b) const { return a < b; }
};

/// True when op(a, b) == op(b, a) is known for values of type T, which lets a reduction keep
/// independent partial results. Specialise it for your own operators; the default is the safe
/// answer.
template <class Op, class T>
inline constexpr bool is_commutative =
    std::is_arithmetic_v<T> &&
    (std::is_same_v<Op, plus> || std::is_same_v<Op, multiplies> || std::is_same_v<Op, minimum> ||
     std::is_same_v<Op, maximum> || std::is_same_v<Op, bit_and> || std::is_same_v<Op, bit_or> ||
     std::is_same_v<Op, bit_xor>);

/// An operator together with the wish that its results are the same bits wherever and however often
/// they are computed. It cannot be called, so an algorithm that does not know it refuses it.
template <class Op>
struct deterministic_operator {
  Op op;
};

/// Gives reduce and the scans an operator to evaluate in one fixed order. The bits are the same on
/// every run, for every number of threads and teams, and on every backend. This serves operators
/// that do not associate exactly, as sums of floating-point numbers. docs/algorithms.md describes
/// the order.
template <class Op>
constexpr deterministic_operator<Op> deterministic(const Op& op) {
  return {op};
}

/// An operator together with the type in which its results are accumulated. It cannot be called, so
/// an algorithm that does not know it refuses it.
template <class T, class Op>
struct accumulating_operator {
  Op op;
};

/// Gives reductions and scans of any kind an operator that combines values of type T: items and
/// init are converted to T first, and results to the type of the output when they are stored, by
/// the output's assignment. So bytes are summed up in 64 bits, or floats in doubles, without a
/// source of one's own. Goes together with deterministic(op), inside or outside.
template <class T, class Op>
constexpr accumulating_operator<T, Op> accumulate_as(const Op& op) {
  return {op};
}

namespace detail {

/// `type` is what values of type T are combined as: T, if the operator does not say otherwise.
/// `without` gives the operator without what it says of that.
template <class Op, class T>
struct accumulation {
  using type = T;
  using operator_type = Op;
  static constexpr const operator_type& without(const Op& op) { return op; }
};
template <class A, class Op, class T>
struct accumulation<accumulating_operator<A, Op>, T> {
  using type = A;
  using operator_type = Op;
  static constexpr const operator_type& without(const accumulating_operator<A, Op>& op) {
    return op.op;
  }
};
template <class A, class Op, class T>
struct accumulation<deterministic_operator<accumulating_operator<A, Op>>, T> {
  using type = A;
  using operator_type = deterministic_operator<Op>;
  static constexpr operator_type without(
      const deterministic_operator<accumulating_operator<A, Op>>& op) {
    return {op.op.op};
  }
};
template <class Op, class T>
using accumulated = typename accumulation<Op, T>::type;
template <class Op>
constexpr auto without_accumulation(const Op& op) {
  return accumulation<Op, void>::without(op);
}

template <class Op, class T>
inline constexpr bool in_fixed_order = false;
/// If any order gives the same bits, no order is fixed.
template <class Op, class T>
inline constexpr bool in_fixed_order<deterministic_operator<Op>, T> =
    !(std::is_integral_v<T> && is_commutative<Op, T>);

template <class Op>
constexpr const Op& plain_operator(const Op& op) {
  return op;
}
template <class Op>
constexpr const Op& plain_operator(const deterministic_operator<Op>& op) {
  return op.op;
}

}  // namespace detail

LANEWISE_END_NAMESPACE
