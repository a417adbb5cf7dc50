// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>

// Keys and values as words, as tables keep them.

LANEWISE_BEGIN_NAMESPACE
namespace detail {

template <class T>
inline constexpr std::size_t bytes_of_type = sizeof(T);
template <>
inline constexpr std::size_t bytes_of_type<void> = 0;

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

/// combine(there, given) of users' values, on words.
template <class Value, class Word, class Combine>
struct combine_words {
  Combine combine;
  LANEWISE_FUNCTION Word operator()(Word there, Word given) const {
    if constexpr (std::is_void_v<Value>) {
      return given;
    } else {
      return detail::to_word<Word>(static_cast<Value>(
          combine(detail::from_word<Value>(there), detail::from_word<Value>(given))));
    }
  }
};
struct keep_given {
  template <class T>
  LANEWISE_FUNCTION T operator()(const T&, const T& given) const {
    return given;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
