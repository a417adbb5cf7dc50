// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/data/tuple.hpp>
#include <lanewise/league/warp_allocate.hpp>
#include <lanewise/team/policy.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Which of the numbers that stand for edges are edges.
struct edge_is_kept {
  static constexpr std::uint64_t left_out = ~std::uint64_t{0};
  LANEWISE_FUNCTION bool operator()(std::uint64_t key) const { return key != left_out; }
  template <class Weight>
  LANEWISE_FUNCTION bool operator()(const tuple<std::uint64_t, Weight>& edge) const {
    return lanewise::get<0>(edge) != left_out;
  }
};

/// Edges as numbers, row and column side by side.
template <class From, class To>
struct edge_key {
  From from;
  To to;
  std::int64_t edges;  ///< that are given
  std::uint64_t vertices;
  int bits;  ///< of a vertex
  bool turned, drop_self_loops;

  /// Edge i, or what turns it round.
  LANEWISE_FUNCTION std::uint64_t number(std::int64_t i, bool backwards) const {
    const auto a = static_cast<std::uint64_t>(from(i)), b = static_cast<std::uint64_t>(to(i));
    if (a >= vertices || b >= vertices) return edge_is_kept::left_out;
    if (a == b && (drop_self_loops || backwards)) return edge_is_kept::left_out;
    return backwards != turned ? b << bits | a : a << bits | b;
  }
  /// Number i of all edges, one after the other, and then of all edges turned round.
  LANEWISE_FUNCTION std::uint64_t operator()(std::int64_t i) const {
    const bool backwards = i >= edges;
    return number(backwards ? i - edges : i, backwards);
  }
  /// Whether an edge is none.
  LANEWISE_FUNCTION bool is_bad(std::int64_t i) const {
    return static_cast<std::uint64_t>(from(i)) >= vertices ||
           static_cast<std::uint64_t>(to(i)) >= vertices;
  }
};
template <class Key>
struct edge_is_bad {
  Key key;
  LANEWISE_FUNCTION bool operator()(std::int64_t i) const { return key.is_bad(i); }
};
struct count_bad_edges {
  status* errors;
  LANEWISE_FUNCTION void operator()(std::int64_t, bool bad) const {
    if (bad) Kokkos::atomic_inc(&errors->bad_items);
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
LANEWISE_BEGIN_TARGET_NAMESPACE
namespace kernels {

/// Collects the edges that are not left out, in any order, and counts bad ones. A team looks at
/// some windows of edges for each warp, and takes places for all of their keys by one atomic
/// addition. H200, urand.22: 0.78 ms, where a selection, which keeps the order, takes 1.1 and
/// counting 0.28.
template <class Key>
struct edge_keys_kernel {
  struct policy : launch_policy {};
  template <class Team>
  using scratch = reservation_scratch<Team, std::uint64_t>;
  static constexpr int windows = 8;
  template <class Team>
  static constexpr std::int64_t items = Team::warps* windows* Team::warp_type::width;

  Key key;
  bool both_directions;
  std::uint64_t* keys;
  std::uint64_t* count;
  status* errors;

  template <class Team>
  LANEWISE_KERNEL_FUNCTION void operator()(const Team& team, scratch<Team>& shared) const {
    for (std::int64_t i = team.index() * items<Team>; i < key.edges;
         i += team.league() * items<Team>)
      collect(team, shared, i + team.warp_index() * (items<Team> / Team::warps));
  }

 private:
  template <class Team>
  LANEWISE_FUNCTION void collect(const Team& team, scratch<Team>& shared,
                                 std::int64_t first) const {
    using W = typename Team::warp_type;
    const auto warp = team.warp();
    using u64s = lanes_t<W, std::uint64_t>;
    const u64s none(detail::edge_is_kept::left_out);
    u64s forwards[windows], backwards[windows];
    std::uint64_t kept = 0, bad = 0;
    LANEWISE_UNROLL
    for (int w = 0; w < windows; ++w) {
      const std::int64_t begin = first + w * W::width, left = key.edges - begin;
      const auto there = warp.first(left);
      forwards[w] = numbers(warp, there, begin, false);
      backwards[w] = both_directions ? numbers(warp, there, begin, true) : none;
      kept += static_cast<std::uint64_t>(warp.count(forwards[w] != none)) +
              static_cast<std::uint64_t>(warp.count(backwards[w] != none));
      const auto wrong = warp.map(
          there, [&](std::uint32_t l) { return key.is_bad(begin + l) ? 1u : 0u; }, 0u, warp.lane());
      bad += static_cast<std::uint64_t>(warp.count(wrong != 0u));
    }
    if (bad != 0 && errors != nullptr) warp.fetch_add(errors->bad_items, bad);
    std::uint64_t* to = keys + detail::reserve_for_warps(team, shared, *count, kept).mine;
    LANEWISE_UNROLL
    for (int w = 0; w < windows; ++w) {
      to += warp.compress_store(to, forwards[w] != none, forwards[w]);
      to += warp.compress_store(to, backwards[w] != none, backwards[w]);
    }
  }
  template <class W, class Mask>
  LANEWISE_FUNCTION auto numbers(const W& warp, const Mask& there, std::int64_t begin,
                                 bool turned_round) const {
    return warp.map(
        there, [&](std::uint32_t l) { return key.number(begin + l, turned_round); },
        detail::edge_is_kept::left_out, warp.lane());
  }
};

}  // namespace kernels
LANEWISE_END_TARGET_NAMESPACE
