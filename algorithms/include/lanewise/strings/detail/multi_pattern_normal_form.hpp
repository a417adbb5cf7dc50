// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/macros.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// The different patterns of a set. Ranks count from 1 on, in the order of lengths. All patterns
/// that a pattern begins with begin where it does, so the greatest rank of a position says all.
struct multi_pattern_normal_form {
  std::vector<std::string_view> patterns;
  std::vector<std::uint32_t> prefix, number, ids_from, ids, rank_of;

  /// O(total bytes), and comparisons for a sort. Views into the patterns are kept.
  explicit multi_pattern_normal_form(const std::vector<std::string_view>& given) {
    std::vector<std::uint32_t> order(given.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const int c = given[a].compare(given[b]);
      return c != 0 ? c < 0 : a < b;
    });
    std::vector<group> groups;
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      if (i == 0 || given[order[i]] != given[order[i - 1]]) groups.push_back({i, i, none});
      ++groups.back().end;
    }
    const auto bytes = [&](std::uint32_t g) { return given[order[groups[g].begin]]; };
    // In lexical order, patterns that begin with one follow it at once.
    std::vector<std::uint32_t> open;
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
      while (!open.empty() && !bytes(g).starts_with(bytes(open.back()))) open.pop_back();
      if (!open.empty()) groups[g].prefix = open.back();
      open.push_back(g);
    }
    std::vector<std::uint32_t> by_size(groups.size()), rank(groups.size());
    std::iota(by_size.begin(), by_size.end(), 0u);
    std::stable_sort(by_size.begin(), by_size.end(), [&](std::uint32_t a, std::uint32_t b) {
      return bytes(a).size() < bytes(b).size();
    });
    patterns.emplace_back();
    prefix.push_back(0);
    number.push_back(0);
    ids_from.assign(2, 0);
    rank_of.resize(given.size());
    for (const std::uint32_t g : by_size) {
      rank[g] = static_cast<std::uint32_t>(patterns.size());
      patterns.push_back(bytes(g));
      prefix.push_back(groups[g].prefix == none ? 0 : rank[groups[g].prefix]);
      number.push_back(number[prefix.back()] + groups[g].end - groups[g].begin);
      for (std::uint32_t i = groups[g].begin; i < groups[g].end; ++i) {
        ids.push_back(order[i]);
        rank_of[order[i]] = rank[g];
      }
      ids_from.push_back(static_cast<std::uint32_t>(ids.size()));
    }
  }

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(patterns.size() - 1); }
  /// The least rank of patterns of `bytes` bytes or more. There may be none.
  std::uint32_t first_of(std::size_t bytes) const {
    return static_cast<std::uint32_t>(
        std::partition_point(patterns.begin() + 1, patterns.end(),
                             [bytes](std::string_view p) { return p.size() < bytes; }) -
        patterns.begin());
  }

 private:
  static constexpr std::uint32_t none = ~0u;
  /// Equal patterns, and the longest that they begin with.
  struct group {
    std::uint32_t begin, end, prefix;
  };
};

}  // namespace detail
LANEWISE_END_NAMESPACE
