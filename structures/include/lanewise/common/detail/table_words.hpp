// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/common/table_vocabulary.hpp>
#include <lanewise/warp/warp.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

// Keys and values as words, as tables keep them; statuses as numbers, which lanes compute with.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

template <class T>
inline constexpr std::size_t bytes_of_type = sizeof(T);
template <>
inline constexpr std::size_t bytes_of_type<void> = 0;

/// A type that stands for values where there are none.
template <class Value>
using value_type_of = std::conditional_t<std::is_void_v<Value>, std::uint32_t, Value>;

template <class Word, class T>
LANEWISE_FUNCTION Word to_word(const T& x) {
  Word w = 0;
  std::memcpy(&w, &x, sizeof(T));
  return w;
}
template <class T, class Word>
LANEWISE_FUNCTION T from_word(Word w) {
  T x;
  std::memcpy(static_cast<void*>(&x), &w, sizeof(T));
  return x;
}

/// combine(stored, given) of users' values, on words.
template <class Value, class Word, class Combine>
struct combine_words {
  Combine combine;
  LANEWISE_FUNCTION Word operator()(Word stored, Word given) const {
    if constexpr (std::is_void_v<Value>) {
      return given;
    } else {
      return detail::to_word<Word>(static_cast<Value>(
          combine(detail::from_word<Value>(stored), detail::from_word<Value>(given))));
    }
  }
};
struct keep_given {
  template <class T>
  LANEWISE_FUNCTION T operator()(const T&, const T& given) const {
    return given;
  }
};

/// Lanes of statuses as lanes of numbers, and back.
template <class Warp>
LANEWISE_FUNCTION auto numbers_of(const Warp& warp, const lanes_t<Warp, table_status>& status) {
  return warp.map([](table_status s) { return static_cast<std::uint32_t>(s); }, status);
}
template <class Warp>
LANEWISE_FUNCTION auto statuses_of(const Warp& warp, const lanes_t<Warp, std::uint32_t>& number) {
  return warp.map([](std::uint32_t s) { return static_cast<table_status>(s); }, number);
}
/// The lanes that found what they look for.
template <class Warp>
LANEWISE_FUNCTION mask_t<Warp, std::uint32_t> lanes_with_hits(
    const Warp& warp, const lanes_t<Warp, table_status>& status) {
  return detail::numbers_of(warp, status) == static_cast<std::uint32_t>(table_status::found);
}
/// What came of searches: found in the lanes of `hit`, absent in the other active ones.
template <class Warp>
LANEWISE_FUNCTION auto found_where(const Warp& warp, mask_t<Warp, std::uint32_t> active,
                                   mask_t<Warp, std::uint32_t> hit) {
  using numbers = lanes_t<Warp, std::uint32_t>;
  const auto number = [](table_status s) { return numbers(static_cast<std::uint32_t>(s)); };
  return detail::statuses_of<Warp>(
      warp, lanewise::select(hit, number(table_status::found),
                             lanewise::select(active, number(table_status::absent),
                                              number(table_status::none))));
}

}  // namespace detail
LANEWISE_END_NAMESPACE
