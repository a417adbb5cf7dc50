// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/pack.hpp>
#include <lanewise/team/team.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Items in a pack of up to 16 bytes.
template <class T>
inline constexpr int items_of_pack = (16 % sizeof(T)) == 0 ? static_cast<int>(16 / sizeof(T)) : 1;

/// Items [first, first + count) of an array.
template <class T>
struct array_piece {
  const T* in;
  std::int64_t extent;  ///< of the array
  std::int64_t first;
  int count;
};

/// The places of pieces in scratch: piece q is at places [begin[q], end[q]), in packs before pack
/// packs[q].
template <int pieces>
struct fetched_pieces {
  int begin[pieces];
  int end[pieces];
  int packs[pieces];
};

/// Whether items of an array are whole parts of packs.
template <class T>
LANEWISE_FUNCTION bool is_packed(const T* p) {
  return items_of_pack<T> > 1 && reinterpret_cast<std::uintptr_t>(p) % sizeof(T) == 0;
}

/// Brings pieces of arrays to a team's scratch, one after the other, in packs. A piece lies there
/// as it lies in its array. The items beside it that are in the same packs come along, so every
/// piece begins with a pack. The scratch has room for 2 (items_of_pack<T> - 1) more items for each
/// piece. A lane has `rows` packs of every piece in flight at once; what is longer follows.
template <int rows, class Team, class T, int pieces>
LANEWISE_FUNCTION fetched_pieces<pieces> fetch_packs(const Team& team, T* to,
                                                     const array_piece<T> (&piece)[pieces]) {
  using warp_type = typename Team::warp_type;
  constexpr int per_pack = items_of_pack<T>;
  using pack_type = pack<T, per_pack>;
  constexpr int width = warp_type::width, threads = Team::warps * width;
  const auto warp = team.warp();
  const int own = team.warp_index() * width;
  fetched_pieces<pieces> at;
  const pack_type* from[pieces];
  int count[pieces], all = 0;
  bool inside = true;  // all packs are whole and lie in their arrays
  LANEWISE_UNROLL
  for (int q = 0; q < pieces; ++q) {
    const auto& [in, extent, begin, items] = piece[q];
    // Packs lie where addresses are multiples of 16: the first of the array may begin before
    // it.
    const int past = lanewise::items_past<16>(in);
    const std::int64_t whole =
        per_pack == 1 ? extent : (detail::is_packed(in) ? (extent + past) / per_pack : 0);
    const std::int64_t first = begin + past, number = first / per_pack;
    const int beyond = static_cast<int>(first - number * per_pack);
    at.begin[q] = all * per_pack + beyond;
    at.end[q] = at.begin[q] + items;
    from[q] = reinterpret_cast<const pack_type*>(in - past) + number;
    count[q] = items == 0 ? 0 : (beyond + items + per_pack - 1) / per_pack;
    all += count[q];
    at.packs[q] = all;
    inside =
        inside && (count[q] == 0 || (number >= (past == 0 ? 0 : 1) && number + count[q] <= whole));
  }
  auto* const scratch = reinterpret_cast<pack_type*>(to);
  if (inside) {
    lanes_t<warp_type, pack_type> x[pieces][rows];
    LANEWISE_UNROLL
    for (int q = 0; q < pieces; ++q) {
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        const int i = own + j * threads;
        x[q][j] = warp.load(warp.first(count[q] - i), from[q] + i, pack_type{});
      }
    }
    LANEWISE_UNROLL
    for (int q = 0; q < pieces; ++q) {
      const int first = at.packs[q] - count[q];
      LANEWISE_UNROLL
      for (int j = 0; j < rows; ++j) {
        const int i = own + j * threads;
        warp.store(warp.first(count[q] - i), scratch + first + i, x[q][j]);
      }
      for (int i = own + rows * threads; i < count[q]; i += threads) {
        const auto here = warp.first(count[q] - i);
        warp.store(here, scratch + first + i, warp.load(here, from[q] + i, pack_type{}));
      }
    }
  } else {
    auto lane = warp.template cast<int>(warp.lane());
    LANEWISE_UNROLL
    for (int q = 0; q < pieces; ++q) {
      const T* const in = piece[q].in + piece[q].first;
      for (int i = own; i < piece[q].count; i += threads) {
        warp.each(
            warp.first(piece[q].count - i), [&](int l) { to[at.begin[q] + i + l] = in[i + l]; },
            lane);
      }
    }
  }
  return at;
}

/// Items of scratch that begin with a pack go to an array, in packs where it begins with one.
template <class Team, class T>
LANEWISE_FUNCTION void store_packs(const Team& team, const T* item, int n, T* out) {
  constexpr int per_pack = items_of_pack<T>, width = Team::warp_type::width;
  using pack_type = pack<T, per_pack>;
  const auto warp = team.warp();
  const int whole = detail::is_packed(out) && lanewise::items_past<16>(out) == 0 ? n / per_pack : 0;
  const auto* const from = reinterpret_cast<const pack_type*>(item);
  auto* const to = reinterpret_cast<pack_type*>(out);
  for (int i = team.warp_index() * width; i < whole; i += Team::warps * width) {
    const auto here = warp.first(whole - i);
    warp.store(here, to + i, warp.load(here, from + i, pack_type{}));
  }
  for (int i = whole * per_pack + team.warp_index() * width; i < n; i += Team::warps * width) {
    const auto here = warp.first(n - i);
    warp.store(here, out + i, warp.load(here, item + i, T{}));
  }
}

}  // namespace detail
LANEWISE_END_NAMESPACE
