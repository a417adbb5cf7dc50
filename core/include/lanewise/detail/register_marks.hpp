// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/marks.hpp>
#include <lanewise/detail/register_rows.hpp>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A lane's bits of row j: bit j * v + c where keep(pack, c, more...) holds for an item that
/// exists.
template <class Rows, class Keep, class Packs, class... More>
LANEWISE_FUNCTION auto mark_row(const Rows& rows, int j, Keep keep, const Packs& packs,
                                const More&... more) {
  constexpr int v = Rows::v;
  const auto warp = rows.team().warp();
  const int n = rows.row_count(j);
  const bool full = rows.whole_segment();
  return warp.map(
      [&](std::uint32_t lane, const auto& p, const auto&... others) {
        const int valid = n - static_cast<int>(lane) * v;
        std::uint32_t bits = 0;
        LANEWISE_UNROLL
        for (int c = 0; c < v; ++c) {
          if ((full || c < valid) && keep(p, c, others...)) bits |= 1u << (j * v + c);
        }
        return bits;
      },
      warp.lane(), packs, more...);
}

/// The items just outside every lane's pack of row j, on that side: from the next lane, from the
/// next row, or from the source; unspecified where the source has none below n.
template <int side, class Rows, class Source>
LANEWISE_FUNCTION auto outer_neighbours(const Rows& rows, const Source& source, int j,
                                        std::int64_t n) {
  using T = typename Source::value_type;
  constexpr int inner = side < 0 ? Rows::v - 1 : 0;
  constexpr int last_lane = side < 0 ? 0 : Rows::width - 1;
  const auto warp = rows.team().warp();
  const auto edge_of = [&](int row) {
    return warp.map([](const auto& p) { return p[inner]; }, rows.row(row));
  };
  const auto edge = edge_of(j);
  const auto outer = side < 0 ? warp.shuffle_up(edge, 1) : warp.shuffle_down(edge, 1);
  const int beyond = j + side;
  const std::int64_t index = side < 0 ? rows.row_first(j) - 1 : rows.row_first(j) + Rows::row_items;
  T at_the_end{};
  const bool here = beyond >= 0 && beyond < Rows::rows;
  if (here) {
    at_the_end = warp.broadcast(edge_of(here ? beyond : j), Rows::width - 1 - last_lane);
  } else if (index >= 0 && index < n) {
    at_the_end = source(index);
  }
  using lanes = std::decay_t<decltype(outer)>;
  return select(warp.lane() == std::uint32_t{last_lane}, lanes(at_the_end), outer);
}

/// Bit j * v + c of a lane says whether item c of its pack in row j is kept; n items exist in all.
template <class Rows, class Source, class Marks>
LANEWISE_FUNCTION auto mark_rows(const Rows& rows, const Source& source, const Marks& marks,
                                 std::int64_t n) {
  constexpr int v = Rows::v;
  typename Rows::warp_type::template lanes<std::uint32_t> bits(0u);
  if constexpr (is_flagged<Marks>) {
    using flag = typename decltype(marks.flags)::value_type;
    const register_rows<typename Rows::team_type, flag, Rows::rows * v, v> flags(
        rows.team(), marks.flags, rows.first(), n);
    LANEWISE_UNROLL
    for (int j = 0; j < Rows::rows; ++j) {
      bits =
          bits | mark_row(
                     rows, j, [](const auto& f, int c) { return f[c] != flag(0); }, flags.row(j));
    }
  } else if constexpr (is_keyed<Marks>) {
    using equal = decltype(marks.equal);
    const register_rows<typename Rows::team_type, typename decltype(marks.keys)::value_type,
                        Rows::rows * v, v>
        keys(rows.team(), marks.keys, rows.first(), n);
    bits = mark_rows(keys, marks.keys, kept_differing<-1, equal>{marks.equal}, n);
  } else if constexpr (Marks::side == 0) {
    LANEWISE_UNROLL
    for (int j = 0; j < Rows::rows; ++j) {
      bits = bits | mark_row(
                        rows, j, [&](const auto& p, int c) { return marks(p[c]); }, rows.row(j));
    }
  } else {
    constexpr int side = Marks::side;
    LANEWISE_UNROLL
    for (int j = 0; j < Rows::rows; ++j) {
      const std::int64_t at = rows.row_first(j);
      bits = bits | mark_row(
                        rows, j,
                        [&](const auto& p, int c, const auto& outer, std::uint32_t lane) {
                          const std::int64_t i = at + std::int64_t{lane} * v + c;
                          if (i + side < 0 || i + side >= n) return true;
                          const bool inside = c + side >= 0 && c + side < v;
                          return marks(p[c], inside ? p[inside ? c + side : c] : outer);
                        },
                        rows.row(j), outer_neighbours<side>(rows, source, j, n),
                        rows.team().warp().lane());
    }
  }
  return bits;
}

}  // namespace detail
LANEWISE_END_NAMESPACE
