// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/histogram/detail/histogram_call.hpp>
#include <lanewise/team/team.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Adds items [first, last) to tables that lie so far apart, and returns how many were outside. The
/// distance 0 makes them one. Neighbouring items take turns with the tables, so that those of one
/// bin do not wait for each other. After the bins a table has a counter for what is outside, which
/// saves a branch.
template <class Team, int tables, class Call>
LANEWISE_LOOP_FUNCTION std::int64_t count_in_tables(typename Call::counter* table,
                                                    std::int64_t distance, Call call,
                                                    std::int64_t first, std::int64_t last) {
  using counter = typename Call::counter;
  const std::uint32_t outside = call.bins;
  std::int64_t bad = 0;
  const auto add = [&](std::int64_t i, counter* count) LANEWISE_INLINE_LAMBDA {
    const auto x = call.in(i);
    const auto weight = static_cast<counter>(call.weights(i));
    for (int t = 0; t < Call::bins_per_item; ++t) {
      std::uint32_t bin = 0;
      const bool inside = call.bins_of.find(x, t, bin);
      bad += inside ? 0 : 1;
      counter& own = count[inside ? bin : outside];
      own = static_cast<counter>(own + weight);
    }
  };
  counter* count[tables];
  for (int k = 0; k < tables; ++k) count[k] = table + k * distance;
  std::int64_t i = first;
  if constexpr (Call::bins_per_item == 1 && !Call::has_weights) {
    // The bins of many items are found at a time, by vectors where that is arithmetic.
    constexpr int together = 64;
    std::uint32_t at[together];
    for (; i + together <= last; i += together) {
      std::uint32_t bad_here = 0;
      if constexpr (requires { call.bins_of.template find_many<together>(call.in, i, at); }) {
        call.bins_of.template find_many<together>(call.in, i, at);
        for (int k = 0; k < together; ++k) {
          bad_here += at[k] < outside ? 0 : 1;
          at[k] = at[k] < outside ? at[k] : outside;
        }
      } else {
        for (int k = 0; k < together; ++k) {
          std::uint32_t bin = 0;
          const bool inside = call.bins_of.find(call.in(i + k), 0, bin);
          at[k] = inside ? bin : outside;
          bad_here += inside ? 0 : 1;
        }
      }
      bad += bad_here;
      // One of two tables is enough where neighbours seldom meet: less of the cache is taken.
      if (tables == 2 && (i - first) % (64 * together) == 0) {
        int equal = 0;
        for (int k = 0; k + 1 < together; ++k) equal += at[k] == at[k + 1] ? 1 : 0;
        count[tables - 1] = table + (equal > together / 16 ? distance : 0);
      }
      for (int k = 0; k < together; k += tables) {
        for (int t = 0; t < tables; ++t) {
          counter& own = count[t][at[k + t]];
          own = static_cast<counter>(own + 1);
        }
      }
    }
  }
  for (; i + tables <= last; i += tables) {
    for (int k = 0; k < tables; ++k) add(i + k, count[k]);
  }
  for (; i < last; ++i) add(i, table);
  return bad;
}

/// How a thread counts its share of the items: into tables of its own, which are added up when all
/// threads are done.
template <class Team, class Call>
class host_histogram {
  using counter = typename Call::counter;
  using result = typename Call::result;

 public:
  struct scratch {};

  // What the host decides.

  static constexpr bool sums_up = true;
  static constexpr bool has_use_for_more = false;
  /// Twice as many items as counters, so that these take less time than the items.
  static constexpr std::int64_t least_share(std::int64_t bins) {
    constexpr std::int64_t least = 1 << 15;
    return 2 * stride(bins) > least ? 2 * stride(bins) : least;
  }
  static std::int64_t workspace_bytes(std::int64_t league, std::int64_t bins) {
    return league * stride(bins) * static_cast<std::int64_t>(sizeof(counter));
  }
  static bool is_alone(std::int64_t league, std::int64_t) { return league == 1; }

  static LANEWISE_FUNCTION void count(const Team& team, scratch&, const Call& call,
                                      std::int64_t n) {
    counter* const table = call.tables + team.index() * stride(call.bins);
    const std::int64_t bins = call.bins, size = bins + 1, all = tables(bins) * size;
    for (std::int64_t b = 0; b < all; ++b) table[b] = counter{};
    const index_range mine = team.share(n);
    const std::int64_t bad =
        tables(bins) == most_tables
            ? detail::count_in_tables<Team, most_tables>(table, size, call, mine.begin, mine.end)
            : detail::count_in_tables<Team, 2>(table, tables(bins) == 2 ? size : 0, call,
                                               mine.begin, mine.end);
    for (std::int64_t k = size; k < all; k += size) {
      for (std::int64_t b = 0; b < bins; ++b)
        table[b] = static_cast<counter>(table[b] + table[k + b]);
    }
    if (bad != 0 && call.errors != nullptr)
      team.warp().fetch_add(call.errors->bad_items, static_cast<std::uint64_t>(bad));
    if (call.is_alone) sum_up(call, 1, 0, bins);
  }

  /// Stores the sums over all teams of the team's share of the bins.
  static LANEWISE_FUNCTION void sum_up(const Team& team, const Call& call, std::int64_t teams) {
    const index_range mine = team.share(call.bins);
    sum_up(call, teams, mine.begin, mine.end);
  }

 private:
  /// Fewer where these would not lie in the first-level cache, one where two would leave the
  /// second.
  static constexpr int most_tables = 4;
  static constexpr LANEWISE_FUNCTION int tables(std::int64_t bins) {
    const std::int64_t bytes = bins * static_cast<std::int64_t>(sizeof(counter));
    return most_tables * bytes <= 64 << 10 ? most_tables : (2 * bytes <= 1 << 20 ? 2 : 1);
  }
  /// Whole lines, so that no two threads write to one.
  static constexpr LANEWISE_FUNCTION std::int64_t stride(std::int64_t bins) {
    return divide_up(tables(bins) * (bins + 1), 64) * 64;
  }
  static LANEWISE_FUNCTION void sum_up(const Call& call, std::int64_t teams, std::int64_t first,
                                       std::int64_t last) {
    constexpr std::int64_t window = 1024;
    result sums[window];
    for (int t = 0; t < Call::bins_per_item; ++t) {
      const std::int64_t begin = call.first[t], end = call.first[t + 1];
      const std::int64_t until = end < last ? end : last;
      for (std::int64_t b = begin < first ? first : begin; b < until; b += window) {
        const std::int64_t here = until - b < window ? until - b : window;
        for (std::int64_t i = 0; i < here; ++i) sums[i] = result{};
        for (std::int64_t k = 0; k < teams; ++k) {
          const counter* const table = call.tables + k * stride(call.bins) + b;
          for (std::int64_t i = 0; i < here; ++i)
            sums[i] = static_cast<result>(sums[i] + static_cast<result>(table[i]));
        }
        for (std::int64_t i = 0; i < here; ++i) call.out[t][b - begin + i] = sums[i];
      }
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
