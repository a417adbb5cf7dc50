// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/pattern.hpp>

#include <algorithm>
#include <cstdint>
#include <set>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The words by which a text is searched for all fragments of a pattern at once.
///
/// A fragment's window is some bytes of it, the same number for each fragment. If all have 7, 8 or
/// 12 with three more bytes around, a fragment has four windows. A word of the text is one of these
/// wherever the fragment lies (pattern_filter). Else it has one, of up to 8 bytes, which may begin
/// at any byte.
///
/// The words of a window are mixed into one. A mixture has a slot of a table, which holds the
/// window of this slot. So one lookup answers for all fragments.
struct mismatch_windows {
  static constexpr int most_fragments = 8;
  static constexpr int most_slots = 1024;

  bool at_every_byte;
  int fragments;
  std::uint32_t care[3];  ///< the bits of a window's words that count, as they are mixed
  std::uint32_t window[most_fragments][4];
  std::int64_t ahead[most_fragments];  ///< where a fragment's (last) window begins in the pattern
  std::uint32_t multiplier;            ///< no two windows have a slot
  int shift;

  LANEWISE_FUNCTION int windows_of_fragment() const { return at_every_byte ? 1 : 4; }
  LANEWISE_FUNCTION int slots() const { return 1 << (32 - shift); }
  template <class Words>
  LANEWISE_FUNCTION Words mixed(const Words& a, const Words& b, const Words& c) const {
    return (a & Words(care[0])) ^ (pattern_filter::second(b) & Words(care[1])) ^
           (pattern_filter::third(c) & Words(care[2]));
  }
  template <class Words>
  LANEWISE_FUNCTION Words slot(const Words& mixture) const {
    return mixture * Words(multiplier) >> shift;
  }
};

/// Returns where a fragment has the most different bytes in a window of `window` bytes, for
/// searches at every byte. There is none if every window has a wildcard.
inline std::optional<std::size_t> position_at_bytes(const pattern_bytes& fragment,
                                                    std::size_t window) {
  std::optional<std::size_t> best;
  int most = -1;
  for (std::size_t i = 0; i + window <= fragment.size() && i < most_window_positions; ++i) {
    if (!fragment.counts(i, window) || fragment.different(i, window) <= most) continue;
    most = fragment.different(i, window);
    best = i;
  }
  return best;
}

/// Windows of `bytes` bytes, if each fragment has one.
inline bool choose_windows(const std::vector<pattern_bytes>& fragments, std::size_t bytes,
                           bool words, mismatch_windows& windows) {
  std::vector<std::size_t> first;
  for (const auto& fragment : fragments) {
    const auto position =
        words ? position_of_windows(fragment, bytes, false) : position_at_bytes(fragment, bytes);
    if (!position) return false;
    first.push_back(*position);
  }
  windows.at_every_byte = !words;
  bool is_folded = false;
  for (const auto& fragment : fragments)
    is_folded = is_folded || fragment.cares.find('\xdf') != std::string::npos;
  std::uint32_t cares[3];
  for (std::size_t w = 0; w < 3; ++w) {
    const std::size_t left = bytes > 4 * w ? bytes - 4 * w : 0;
    cares[w] = (left < 4 ? (1u << 8 * left) - 1 : ~0u) & (is_folded ? pattern_filter::folded : ~0u);
  }
  windows.care[0] = cares[0];
  windows.care[1] = pattern_filter::second(cares[1]);
  windows.care[2] = pattern_filter::third(cares[2]);
  std::int64_t begin = 0;
  for (std::size_t p = 0; p < fragments.size(); ++p) {
    for (std::size_t o = 0; o < 4; ++o) {
      const std::size_t at = first[p] + (words ? o : 0);
      windows.window[p][o] = windows.mixed(fragments[p].word(at), fragments[p].word(at + 4),
                                           fragments[p].word(at + 8));
    }
    windows.ahead[p] = begin + static_cast<std::int64_t>(first[p]) + (words ? 3 : 0);
    begin += static_cast<std::int64_t>(fragments[p].size());
  }
  return true;
}

/// Chooses a multiplier that gives each window a slot of its own, with few slots. Scratch has 32
/// banks: with 32 slots, lookups have no bank conflicts.
inline void choose_slots(mismatch_windows& windows) {
  std::set<std::uint32_t> all;
  for (int p = 0; p < windows.fragments; ++p)
    all.insert(windows.window[p], windows.window[p] + windows.windows_of_fragment());
  std::uint32_t multiplier = 1;
  for (int tries = 0;; ++tries) {
    windows.shift = std::max(27 - tries / 256, 22);
    multiplier = 1664525u * multiplier + 1013904223u;
    windows.multiplier = multiplier | 1;
    std::set<std::uint32_t> slots;
    for (const std::uint32_t w : all) slots.insert(windows.slot(w));
    if (slots.size() == all.size()) return;
  }
}

inline mismatch_windows windows_of(const std::vector<pattern_bytes>& fragments) {
  mismatch_windows windows{};
  windows.fragments = static_cast<int>(fragments.size());
  bool chosen = false;
  for (const std::size_t bytes : {12u, 8u, 7u})
    chosen = chosen || choose_windows(fragments, bytes, true, windows);
  for (std::size_t bytes = 8; !chosen; --bytes)
    chosen = choose_windows(fragments, bytes, false, windows);
  choose_slots(windows);
  return windows;
}

/// A pattern in which `most` bytes may differ. It has most + 1 fragments, so one of them matches
/// wherever the pattern fits.
struct mismatch_pattern_view {
  pattern_view pattern;  ///< its filter is not used
  int most;              ///< bytes that may differ
  mismatch_windows windows;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
