// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/tile/selection.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The items for which b holds and a does not.
template <class A, class B>
struct second_alone {
  A a;
  B b;
  template <class T>
  LANEWISE_FUNCTION bool operator()(const T& item) const {
    return !a(item) && b(item);
  }
};

/// The first way is that of items for which a holds, the second that of others for which b does.
template <class A, class B>
struct two_ways {
  A a;
  B b;
  LANEWISE_FUNCTION selected_where<A> one() const { return {a}; }
  LANEWISE_FUNCTION selected_where<second_alone<A, B>> two() const { return {{a, b}}; }
};

/// A selection_state that counts the items of two ways.
struct add_two_ways {
  LANEWISE_FUNCTION selection_state operator()(const selection_state& a,
                                               const selection_state& b) const {
    return selection_state::of(a.count() + b.count(), a.end() + b.end());
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
