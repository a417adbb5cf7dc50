// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_automaton.hpp>
#include <lanewise/strings/detail/multi_pattern_normal_form.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Makes the table of byte_transitions on the host. It is empty for sets that are searched by
/// windows: their patterns are longer or have too many bytes, or the table would be too large.
struct multi_pattern_transitions {
  byte_transitions how{};
  std::vector<std::uint32_t> classes, entries;

  multi_pattern_transitions(const multi_pattern_normal_form& set,
                            const multi_pattern_automaton& automaton, bool folds_case) {
    if (!is_wanted(set) || automaton.depth > byte_transitions::most_depth ||
        *std::max_element(set.number.begin(), set.number.end()) > byte_transitions::most_number)
      return;
    std::size_t bytes = 0;
    for (const std::string_view p : set.patterns) bytes += p.size();
    put_classes(set, folds_case);
    const std::size_t size = automaton.states.size() * how.row;
    if (how.other == 256 || size > std::max(least_entries, of_byte * bytes) ||
        size > byte_transitions::most_entries) {
      classes.clear();
      return;
    }
    how.number = static_cast<std::uint32_t>(size);
    how.depth = automaton.depth;
    put_entries(set, automaton);
  }

 private:
  static constexpr std::size_t most_short = 6, most_of_many = 10;
  static constexpr std::uint32_t many = 200;
  /// 128 bytes for each byte of the patterns, or 128 KiB.
  static constexpr std::size_t of_byte = 32, least_entries = std::size_t{1} << 15;

  static bool is_wanted(const multi_pattern_normal_form& set) {
    const std::size_t shortest = set.patterns[1].size();
    return shortest <= most_short || (shortest <= most_of_many && set.ranks() >= many);
  }
  void put_classes(const multi_pattern_normal_form& set, bool folds_case) {
    classes.assign(256, 0);
    for (const std::string_view p : set.patterns)
      for (const char c : p) classes[static_cast<unsigned char>(c)] = 1;
    how.row = 1;
    for (std::uint32_t& c : classes)
      if (c != 0) c = how.row++;
    if (folds_case)
      for (std::uint32_t c = 'A'; c <= 'Z'; ++c) classes[c] = classes[c - 'A' + 'a'];
    ++how.row;  // the rank
    how.other =
        static_cast<std::uint32_t>(std::find(classes.begin(), classes.end(), 0u) - classes.begin());
  }
  /// A state's row is a copy of the longest shorter state's, but for its children. Shorter states
  /// come first.
  void put_entries(const multi_pattern_normal_form& set, const multi_pattern_automaton& automaton) {
    entries.assign(how.number, 0);
    for (std::uint32_t s = 0; s < automaton.states.size(); ++s) {
      const set_state& here = automaton.states[s];
      const auto row = entries.begin() + std::int64_t{s} * how.row;
      if (s != 0) std::copy_n(entries.begin() + std::int64_t{here.shorter} * how.row, how.row, row);
      for (std::uint32_t c = here.first; c < here.first + here.children; ++c)
        row[classes[automaton.labels[c]]] =
            byte_transitions::entry(c * how.row, set.number[automaton.states[c].value]);
      row[how.row - 1] = here.value;
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
