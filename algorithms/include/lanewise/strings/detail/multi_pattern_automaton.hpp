// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/strings/detail/multi_pattern_normal_form.hpp>
#include <lanewise/strings/detail/multi_pattern_view.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The automaton of Aho and Corasick for the reversed patterns, on the host. It reads a text
/// backwards, and its state gives the longest pattern that begins at a byte. It has the first
/// most_depth bytes of longer patterns.
///
///   she, he, hers     read backwards from the end of "ushers": s, r, e; h: hers begins here; s:
///                     she does
class multi_pattern_automaton {
 public:
  int depth = 0;
  std::vector<set_state> states;
  std::vector<unsigned char> labels;
  std::vector<std::uint32_t> roots = std::vector<std::uint32_t>(256);
  std::vector<long_group> groups;
  std::vector<std::uint32_t> longs;

  /// O(total bytes), and comparisons for a sort.
  explicit multi_pattern_automaton(const multi_pattern_normal_form& set) {
    constexpr std::size_t most = set_state::most_depth;
    std::vector<std::string> reversed;
    for (const std::string_view p : set.patterns) {
      reversed.emplace_back(p.substr(0, most));
      std::reverse(reversed.back().begin(), reversed.back().end());
      depth = std::max(depth, static_cast<int>(reversed.back().size()));
    }
    std::vector<std::uint32_t> order(set.ranks());
    std::iota(order.begin(), order.end(), 1u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const int c = reversed[a].compare(reversed[b]);
      return c != 0 ? c < 0 : a < b;
    });
    make_states(set, reversed, order);
    make_links();
  }

 private:
  /// The patterns [begin, end) in lexical order, which have `bytes` bytes in common.
  struct range {
    std::uint32_t begin, end, bytes;
  };

  /// Adds states level by level, so that the children of a state are neighbours.
  void make_states(const multi_pattern_normal_form& set, const std::vector<std::string>& reversed,
                   const std::vector<std::uint32_t>& order) {
    std::vector<range> level{{0, static_cast<std::uint32_t>(order.size()), 0}}, next;
    add(0);
    for (std::uint32_t s = 0; !level.empty(); level.swap(next), next.clear()) {
      for (range here : level) {
        std::uint32_t longest = 0;
        const auto first_long = static_cast<std::uint32_t>(longs.size());
        for (; here.begin < here.end && reversed[order[here.begin]].size() == here.bytes;
             ++here.begin) {
          const std::uint32_t rank = order[here.begin];
          if (set.patterns[rank].size() == here.bytes) {
            longest = rank;
          } else {
            longs.push_back(rank);
          }
        }
        states[s].value = longest;
        if (longs.size() > first_long) {
          std::reverse(longs.begin() + first_long, longs.end());
          states[s].value = set_state::is_group | static_cast<std::uint32_t>(groups.size());
          groups.push_back({first_long, static_cast<std::uint32_t>(longs.size()), longest});
        }
        states[s].first = static_cast<std::uint32_t>(states.size());
        while (here.begin < here.end) {
          const char byte = reversed[order[here.begin]][here.bytes];
          const std::uint32_t begin = here.begin;
          while (here.begin < here.end && reversed[order[here.begin]][here.bytes] == byte)
            ++here.begin;
          next.push_back({begin, here.begin, here.bytes + 1});
          add(static_cast<unsigned char>(byte));
          ++states[s].children;
        }
        ++s;
      }
    }
    for (std::uint32_t i = 0; i < states[0].children; ++i)
      roots[labels[states[0].first + i]] = states[0].first + i;
  }
  void add(unsigned char label) {
    states.push_back({});
    labels.push_back(label);
  }
  std::uint32_t child(std::uint32_t s, unsigned char byte) const {
    const auto begin = labels.begin() + states[s].first, end = begin + states[s].children;
    const auto at = std::lower_bound(begin, end, byte);
    return at != end && *at == byte ? static_cast<std::uint32_t>(at - labels.begin()) : 0;
  }
  /// Links each state to the longest shorter one, which may know the longest pattern.
  void make_links() {
    for (std::uint32_t s = 0; s < states.size(); ++s) {
      for (std::uint32_t c = states[s].first; c < states[s].first + states[s].children; ++c) {
        std::uint32_t to = 0;
        for (std::uint32_t from = s; from != 0 && to == 0;) {
          from = states[from].shorter;
          to = child(from, labels[c]);
        }
        states[c].shorter = to;
        const std::uint32_t shorter = states[to].value;
        if ((states[c].value & set_state::is_group) != 0) {
          auto& otherwise = groups[states[c].value & ~set_state::is_group].otherwise;
          if (otherwise == 0) otherwise = shorter;
        } else if (states[c].value == 0) {
          states[c].value = shorter;
        }
      }
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
