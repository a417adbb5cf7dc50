// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/look_back_chain.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a run of items hands on to the items after it: how many segments begin in it, and the
/// value of the last one so far. In whole words, so that values of up to 4 bytes make a word of the
/// chain.
template <class T>
struct segment_state {
  static constexpr int words = (sizeof(T) + 3) / 4;
  std::uint32_t heads_low;
  std::uint32_t heads_high;
  std::uint32_t value_words[words];

  static LANEWISE_FUNCTION segment_state of(std::int64_t heads, const T& value) {
    segment_state s;
    s.heads_low = static_cast<std::uint32_t>(heads);
    s.heads_high = static_cast<std::uint32_t>(heads >> 32);
    if constexpr (sizeof(T) % 4 != 0) s.value_words[words - 1] = 0;
    std::memcpy(s.value_words, &value, sizeof(T));
    return s;
  }
  LANEWISE_FUNCTION std::int64_t heads() const {
    return static_cast<std::int64_t>(std::uint64_t{heads_high} << 32 | heads_low);
  }
  LANEWISE_FUNCTION T value() const {
    T x;
    std::memcpy(&x, value_words, sizeof(T));
    return x;
  }
};

/// b after a: a's open segment goes on in b unless a segment begins there (Merrill, 3.4).
template <class T, class Op>
struct join_segments {
  Op op;
  LANEWISE_FUNCTION segment_state<T> operator()(const segment_state<T>& a,
                                                const segment_state<T>& b) const {
    return segment_state<T>::of(a.heads() + b.heads(),
                                b.heads() != 0 ? b.value() : op(a.value(), b.value()));
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
