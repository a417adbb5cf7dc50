// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_normal_form.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A hash table of windows on the host, with the patterns that have each window.
struct window_table {
  int slots_bits = 1;
  std::vector<window_slot> slots;
  std::vector<window_entry> entries;

  /// Slots for `number` windows, at least two each. Four, if these are no more than most_bytes
  /// bytes for each byte of the patterns, as lanes wait for the longest lookup.
  void make_slots(const multi_pattern_normal_form& set, std::size_t number,
                  std::size_t most_bytes) {
    while (std::size_t{1} << slots_bits < 2 * number) ++slots_bits;
    std::size_t bytes = 0;
    for (const std::string_view p : set.patterns) bytes += p.size();
    if ((std::size_t{2} << slots_bits) * sizeof(window_slot) <= most_bytes * bytes) ++slots_bits;
    slots.resize(std::size_t{1} << slots_bits);
  }
  /// windows: in the order of their keys. position(key): the first slot to read. record: of each
  /// rank.
  template <class Windows, class Place>
  void fill(const Windows& windows, const std::vector<std::uint32_t>& record, Place position) {
    for (std::size_t i = 0, end = 0; i < windows.size(); i = end) {
      window_slot slot{windows[i].key, static_cast<std::uint32_t>(entries.size()), 0};
      for (; end < windows.size() && windows[end].key == slot.key; ++end)
        entries.push_back({record[windows[end].rank], windows[end].offset});
      slot.number = static_cast<std::uint32_t>(end - i) << 8;
      if (end - i == 1) {
        slot.first = entries.back().record;
        slot.number |= entries.back().offset;
        entries.pop_back();
      }
      std::size_t s = position(slot.key);
      while (slots[s].number != 0) s = (s + 1) & (slots.size() - 1);
      slots[s] = slot;
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
