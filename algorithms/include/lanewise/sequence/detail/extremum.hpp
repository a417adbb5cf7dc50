// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/natural_wins.hpp>
#include <lanewise/data/source.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

/// An item and where it was found; index is -1 where there was none.
template <class T>
struct indexed {
  T value;
  std::int64_t index;
};

namespace detail {

/// Items of a source with their indices.
template <class Source>
struct numbered_source : Source {
  using item = typename Source::value_type;
  using value_type = indexed<item>;

  LANEWISE_FUNCTION const Source& items() const { return *this; }
  template <class Raw>
  LANEWISE_FUNCTION value_type from_raw(const Raw& raw, std::int64_t i) const {
    return {items().from_raw(raw), i};
  }
  LANEWISE_FUNCTION value_type operator()(std::int64_t i) const { return {items()(i), i}; }
};

template <class Less, bool larger>
struct wins_by {
  Less less;
  template <class T>
  LANEWISE_FUNCTION constexpr bool operator()(const T& a, const T& b) const {
    return larger ? less(b, a) : less(a, b);
  }
};

/// The winner; of equivalent items the first one.
template <class Wins>
struct winner {
  Wins wins;
  template <class T>
  LANEWISE_FUNCTION indexed<T> operator()(const indexed<T>& a, const indexed<T>& b) const {
    const bool second = wins(b.value, a.value) || (b.index < a.index && !wins(a.value, b.value));
    return second ? b : a;
  }
};

}  // namespace detail

template <class Wins, class T>
inline constexpr bool is_commutative<detail::winner<Wins>, indexed<T>> = true;

LANEWISE_END_NAMESPACE
