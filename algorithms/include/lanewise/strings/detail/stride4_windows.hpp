// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_view.hpp>
#include <lanewise/strings/detail/text_scan.hpp>

#include <cstdint>
#include <type_traits>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Calls f(i, list, passed) for windows of the 32 bytes that each lane has, from the second of its
/// twelve words on: bit 0 of passed says whether the filter passes the window at byte i, of list 0
/// or of list 1.
template <stride4_windows::kind how, class Warp, class Words, class F>
LANEWISE_FUNCTION void each_probe(const Warp& warp, const stride4_windows& probes,
                                  const std::uint32_t* filter, const Words (&row)[12], F f) {
  const auto passes = [&](const Words& word, const Words& hash, auto has_side) {
    return warp.map(
        [](std::uint32_t w, std::uint32_t h) {
          return w >> (stride4_windows::bit(decltype(has_side)::value, h) & 31);
        },
        word, hash);
  };
  constexpr std::true_type with_side{};
  constexpr std::false_type alone{};
  LANEWISE_UNROLL
  for (int i = 0; i < 32; i += stride4_windows::stride(how)) {
    const int j = i / 4 + 1, o = i % 4;
    const Words a = detail::word_across(row[j], row[j + 1], o),
                b = detail::word_across(row[j + 1], row[j + 2], o),
                c = detail::word_across(row[j + 2], row[j + 3 < 12 ? j + 3 : 11], o);
    const Words hash = probes.hash(a, b, c);
    const Words word =
        warp.map([](std::uint32_t w, std::uint32_t h) { return stride4_windows::both_set(w, h); },
                 warp.gather_scratch(filter, probes.word(hash)), hash);
    if constexpr (how != stride4_windows::kind::with_sides) {
      f(i, 0, passes(word, hash, alone));
      if constexpr (how == stride4_windows::kind::with_after)
        f(i, 1, passes(word, probes.with_after(hash, b, c), with_side));
    } else {
      const Words front = detail::word_across(row[j - 1], row[j], 2);
      f(i, 0, passes(word, probes.with_after(hash, b, c), with_side));
      f(i, 1, passes(word, probes.with_front(hash, front), with_side));
    }
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
