// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/league/look_back_chain.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// How many ranges a team takes, or 0 where they are not shared out like this, and how many items
/// these may have.
struct range_shares {
  std::int64_t ranges;
  std::int64_t most_items;
};

/// a op b, where either may be missing.
template <class T, class Op>
LANEWISE_FUNCTION maybe<T> join(const maybe<T>& a, const maybe<T>& b, Op op) {
  if (!a.present) return b;
  if (!b.present) return a;
  return {op(a.value, b.value), true};
}

/// What a piece of the path through ranges' ends and their items hands on: whether a range ended in
/// it, and what the items after the last end come to. In whole words, so that values of up to 8
/// bytes make a word of the chain.
template <class T>
struct segment_carry {
  static constexpr std::uint32_t has_ended = 1, has_value = 2;
  static constexpr int words = (sizeof(T) + 3) / 4;
  std::uint32_t flags;
  std::uint32_t value_words[words];

  static LANEWISE_FUNCTION segment_carry of(bool ended, const maybe<T>& value) {
    segment_carry s;
    s.flags = (ended ? has_ended : 0) | (value.present ? has_value : 0);
    for (int w = 0; w < words; ++w) s.value_words[w] = 0;
    if (value.present) std::memcpy(s.value_words, &value.value, sizeof(T));
    return s;
  }
  LANEWISE_FUNCTION bool ended() const { return (flags & has_ended) != 0; }
  LANEWISE_FUNCTION maybe<T> value() const {
    maybe<T> x{{}, (flags & has_value) != 0};
    std::memcpy(&x.value, value_words, sizeof(T));
    return x;
  }
};

template <class T, class Op>
struct join_carries {
  Op op;
  LANEWISE_FUNCTION segment_carry<T> operator()(const segment_carry<T>& a,
                                                const segment_carry<T>& b) const {
    return b.ended() ? b : segment_carry<T>::of(a.ended(), detail::join(a.value(), b.value(), op));
  }
  /// What lies before an end does not matter after it, so that look-back stops there.
  LANEWISE_FUNCTION bool stands_alone(const segment_carry<T>& b) const { return b.ended(); }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
