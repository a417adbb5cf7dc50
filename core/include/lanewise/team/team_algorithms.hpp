// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/pack.hpp>
#include <lanewise/team/team.hpp>

#include <concepts>
#include <cstdint>

LANEWISE_BEGIN_NAMESPACE

// What the warps of a team do together with arrays in scratch or in global memory, for users'
// kernels. All warps of the team call these functions, with the same arguments. Items are trivially
// copyable and have a default constructor.

namespace detail {

/// How many neighbouring items travel together: the items that fill 8 bytes, which all backends
/// move as one word, or one item.
template <class T>
inline constexpr int items_per_word = sizeof(T) < 8 && 8 % sizeof(T) == 0 ? 8 / sizeof(T) : 1;

/// How many items lie before the first whole word, at most n; n if none begins one.
template <class T>
LANEWISE_FUNCTION std::int64_t items_before_words(const T* p, std::int64_t n) {
  const auto beyond = reinterpret_cast<std::uintptr_t>(p) % 8;
  const auto bytes = static_cast<std::int64_t>(beyond == 0 ? 0 : 8 - beyond);
  constexpr auto item = static_cast<std::int64_t>(sizeof(T));
  return bytes % item == 0 && bytes / item < n ? bytes / item : n;
}

/// Warps take `rows` rows of a warp's width at a time: access(i, r, there) for every one of them,
/// row r beginning at item i. there is the mask of its lanes that exist, or nothing where all do.
template <int rows, class T, class W, class F>
LANEWISE_FUNCTION void for_some_rows(const W& warp, std::int64_t i, std::int64_t n, F access) {
  LANEWISE_UNROLL
  for (int r = 0; r < rows; ++r) {
    const std::int64_t at = i + r * W::width;
    if (at + W::width <= n) {
      access(at, r);
    } else if (at < n) {
      access(at, r, warp.template first<T>(static_cast<int>(n - at)));
    }
  }
}

template <class Team, class T>
LANEWISE_FUNCTION void copy_rows(const Team& team, const T* from, std::int64_t n, T* to) {
  constexpr int rows = 4;  // in flight
  const auto warp = team.warp();
  constexpr std::int64_t each = std::int64_t{rows} * Team::warp_type::width;
  for (std::int64_t i = team.warp_index() * each; i < n; i += Team::warps * each) {
    lanes_t<typename Team::warp_type, T> x[rows];
    detail::for_some_rows<rows, T>(warp, i, n, [&](std::int64_t at, int r, auto... there) {
      if constexpr (sizeof...(there) == 0) {
        x[r] = warp.load(from + at);
      } else {
        x[r] = warp.load(there..., from + at, T{});
      }
    });
    detail::for_some_rows<rows, T>(warp, i, n, [&](std::int64_t at, int r, auto... there) {
      warp.store(there..., to + at, x[r]);
    });
  }
}

template <class Team, class T>
LANEWISE_FUNCTION void fill_rows(const Team& team, T* to, std::int64_t n, const T& value) {
  constexpr int rows = 4;
  const auto warp = team.warp();
  constexpr std::int64_t each = std::int64_t{rows} * Team::warp_type::width;
  const lanes_t<typename Team::warp_type, T> x(value);
  for (std::int64_t i = team.warp_index() * each; i < n; i += Team::warps * each) {
    detail::for_some_rows<rows, T>(
        warp, i, n, [&](std::int64_t at, int, auto... there) { warp.store(there..., to + at, x); });
  }
}

}  // namespace detail

/// to[i] = from[i] for 0 <= i < n. The arrays do not overlap. Every item is read and written once,
/// four rows of a warp in flight, narrow items in words where both arrays allow it. No barrier,
/// neither before nor after: team.barrier() before others use `to`, or write to `from`.
template <class Team, class T>
LANEWISE_FUNCTION void copy(const Team& team, const T* from, std::int64_t n, T* to) {
  constexpr int k = detail::items_per_word<T>;
  if constexpr (k > 1) {
    using word = pack<T, k>;
    const std::int64_t head = detail::items_before_words(to, n);
    if (head < n && detail::items_before_words(from, n) == head) {
      const std::int64_t words = (n - head) / k;
      const std::int64_t tail = head + words * k;
      detail::copy_rows(team, from, head, to);
      detail::copy_rows(team, reinterpret_cast<const word*>(from + head), words,
                        reinterpret_cast<word*>(to + head));
      detail::copy_rows(team, from + tail, n - tail, to + tail);
      return;
    }
  }
  detail::copy_rows(team, from, n, to);
}

/// to[i] = x for 0 <= i < n. Every item is written once, narrow ones in words. No barrier, neither
/// before nor after: team.barrier() before others use `to`.
template <class Team, class T>
LANEWISE_FUNCTION void fill(const Team& team, T* to, std::int64_t n,
                            const std::type_identity_t<T>& x) {
  constexpr int k = detail::items_per_word<T>;
  if constexpr (k > 1) {
    const std::int64_t head = detail::items_before_words(to, n);
    if (head < n) {
      using word = pack<T, k>;
      word all;
      LANEWISE_UNROLL
      for (int i = 0; i < k; ++i) all[i] = x;
      const std::int64_t words = (n - head) / k;
      const std::int64_t tail = head + words * k;
      detail::fill_rows(team, to, head, x);
      detail::fill_rows(team, reinterpret_cast<word*>(to + head), words, all);
      detail::fill_rows(team, to + tail, n - tail, x);
      return;
    }
  }
  detail::fill_rows(team, to, n, x);
}

/// In scratch.
template <class Team, std::integral Index>
struct find_scratch {
  Index found[2][Team::warps];
};

/// The first i in [first, last) for which holds(i), or last; the same in all warps. holds is a
/// scalar function. It is called at most once for every i, in rounds of four rows of every warp. It
/// is not called for any round after the one in which it held. A barrier per round and one at the
/// end: the scratch is free when it returns. What holds reads must be there for all warps before.
template <class Team, std::integral Index, class F>
LANEWISE_FUNCTION Index find(const Team& team, find_scratch<Team, Index>& shared, Index first,
                             std::type_identity_t<Index> last, F holds) {
  using warp_type = typename Team::warp_type;
  using answers = lanes_t<warp_type, std::uint32_t>;
  constexpr int rows = 4;
  constexpr auto width = std::int64_t{warp_type::width};
  constexpr std::int64_t each = rows * width, round = each * Team::warps;
  const auto warp = team.warp();
  // 64 bits: the end of a round may lie after the greatest index.
  const auto end = static_cast<std::int64_t>(last);
  Index result = last;
  int turn = 0;
  for (auto at = static_cast<std::int64_t>(first); at < end; at += round, turn ^= 1) {
    const std::int64_t mine = at + team.warp_index() * each;
    answers answer[rows];
    LANEWISE_UNROLL
    for (int r = 0; r < rows; ++r) {
      const std::int64_t here = mine + r * width, left = end - here;
      answer[r] = warp.map(
          warp.first(left),
          [&](std::uint32_t l) -> std::uint32_t { return holds(static_cast<Index>(here + l)); },
          std::uint32_t{0}, warp.lane());
    }
    Index found = last;
    LANEWISE_UNROLL
    for (int r = rows - 1; r >= 0; --r) {
      const auto votes = warp.ballot(answer[r] != 0u);
      if (votes != 0) found = static_cast<Index>(mine + r * width + warp_type::lowest(votes));
    }
    if constexpr (Team::warps == 1) {
      result = found;
    } else {
      // In turn, so that a warp that is slow to look is not overtaken.
      Index* const all = shared.found[turn];
      warp.once([&] { all[team.warp_index()] = found; });
      team.barrier();
      for (int w = Team::warps - 1; w >= 0; --w) {
        if (all[w] != last) result = all[w];
      }
    }
    if (result != last) break;
  }
  if constexpr (Team::warps > 1) team.barrier();
  return result;
}

LANEWISE_END_NAMESPACE
