// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/allocation.hpp>
#include <lanewise/detail/by_threads.hpp>
#include <lanewise/detail/scratch_items.hpp>
#include <lanewise/league_sums.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// A row, or a piece of a long one, whose edges are to be looked at.
template <class Vertex, class Offset>
struct alignas(16) edge_piece {
  Offset begin;
  Offset length;
  Vertex from;
};

/// The most edges of a piece in the queue: as many as a warp looks at together.
inline constexpr std::uint32_t most_piece_edges = 128;
/// The most pieces of a graph.
constexpr std::int64_t most_edge_pieces(std::int64_t vertices, std::int64_t edges) {
  return vertices + edges / most_piece_edges + 1;
}

/// The rows of a frontier: each warp lists those that it finds in scratch, and sends what it may
/// not keep to a queue of all teams, long rows in pieces.
template <class Team, class Vertex, class Offset>
class frontier_pieces {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = typename warp_type::template lanes<T>;
  using mask_type = typename warp_type::template mask_for<std::uint32_t>;

 public:
  using piece = edge_piece<Vertex, Offset>;
  /// Rows that a warp goes on with by itself.
  static constexpr int own_rows = by_threads<Team> ? 2048 : width;
  // A thread of a host has more room, and lists for this round and for the next: a warp of a device
  // has those of this round in registers.
  static constexpr int lists = by_threads<Team> ? 2 : 1;
  static constexpr int row_room = 2 * own_rows;

  struct scratch {
    raw_array<piece, Team::warps * lists * row_room> found;
    league_sums::scratch<Team> sums;
  };
  static LANEWISE_FUNCTION piece* list_of(const Team& team, scratch& shared, int side) {
    return shared.found.data() + (team.warp_index() * lists + (lists > 1 ? side : 0)) * row_room;
  }

  /// Pieces of one round: that with the counter's value `base` comes first.
  struct queue_part {
    piece* items;
    Offset* counter;
    Offset base;
    std::uint32_t* listed;  // null: no vertex comes twice
    std::uint32_t round;
  };

  /// Of the rows in a list, those stay that may be kept. Returns how many. The others are in the
  /// queue, and are counted; at the end of a round all are.
  static LANEWISE_SEPARATE_FUNCTION int settle(const Team team, scratch& shared,
                                               [[maybe_unused]] int side, int count,
                                               const queue_part part, int most_kept, bool is_end) {
    const auto warp = team.warp();
    piece* pieces = list_of(team, shared, side);
    league_sums::numbers added{};
    int kept = 0;
    warp.fence();
    for (int at = 0; at < count; at += width) {
      const auto there = warp.first(count - at);
      const lanes<piece> here = warp.load(there, pieces + at, piece{});
      const auto length = warp.map([](const piece& p) { return p.length; }, here);
      auto stay = there & (length <= Offset{most_piece_edges});
      const int staying = warp.count(stay);
      if (kept + staying > most_kept) stay = warp.first(0);
      auto leave = there & !stay;
      if (part.listed != nullptr && warp.any(leave)) leave = fresh(warp, part, leave, here);
      added[0] +=
          sum(warp, select(is_end ? leave | stay : leave, length, lanes<Offset>(Offset{0})));
      if (warp.any(leave)) added[1] += push(warp, part, leave, here);
      if (most_kept != 0) {
        warp.fence();
        kept += static_cast<int>(warp.compress_store(pieces + kept, stay, here));
      }
    }
    warp.fence();
    league_sums::add(team, shared.sums, added);
    return kept;
  }

 private:
  /// Those of the active lanes' rows that are not among the pieces of this round.
  static LANEWISE_FUNCTION mask_type fresh(const warp_type& warp, const queue_part& part,
                                           const mask_type& active, const lanes<piece>& rows) {
    const auto vertex = warp.map([](const piece& p) { return p.from; }, rows);
    const lanes<std::uint32_t> round(part.round);
    return active & (warp.fetch_max(active, part.listed, vertex, round) < round);
  }
  /// The sum of lanes by their halves, which have fast sums of 32 bits.
  static LANEWISE_FUNCTION std::uint64_t sum(const warp_type& warp, const lanes<Offset>& x) {
    const auto low = warp.map([](Offset a) { return static_cast<std::uint32_t>(a & 0xffff); }, x);
    const auto high = warp.map([](Offset a) { return static_cast<std::uint32_t>(a >> 16); }, x);
    return warp.reduce(low, plus{}) + (std::uint64_t{warp.reduce(high, plus{})} << 16);
  }
  /// Piece k of a row.
  static LANEWISE_FUNCTION piece cut(const piece& row, Offset k) {
    const auto skip = static_cast<Offset>(k * most_piece_edges);
    const auto left = static_cast<Offset>(row.length - skip);
    return {static_cast<Offset>(row.begin + skip),
            left < most_piece_edges ? left : Offset{most_piece_edges}, row.from};
  }
  /// The active lanes' rows in pieces. Returns how many.
  template <class Mask>
  static LANEWISE_FUNCTION std::uint64_t push(const warp_type& warp, const queue_part& part,
                                              const Mask& mask, const lanes<piece>& rows) {
    const auto pieces = warp.map(
        mask,
        [](const piece& p) -> Offset {
          return p.length / most_piece_edges + (p.length % most_piece_edges != 0);
        },
        Offset{0}, rows);
    const auto places = reserve(warp, *part.counter, pieces);
    const auto first = places.offset - lanes<Offset>(part.base);
    // A few pieces by lanes side by side, and those of long rows by the warp.
    constexpr Offset few = 4;
    for (Offset k = 0; k < few && warp.any(pieces > k); ++k)
      warp.scatter(pieces > k, part.items, first + lanes<Offset>(k),
                   warp.map([k](const piece& p) { return cut(p, k); }, rows));
    for (auto todo = warp.ballot(pieces > few); todo != 0; todo &= todo - 1) {
      const int l = warp_type::lowest(todo);
      const piece row = warp.broadcast(rows, l);
      const Offset count = warp.broadcast(pieces, l), at = warp.broadcast(first, l);
      for (Offset k = few; k < count; k = static_cast<Offset>(k + width))
        warp.store(
            warp.first(static_cast<int>(count - k < width ? count - k : Offset{width})),
            part.items + at + k,
            warp.map([row, k](std::uint32_t i) { return cut(row, static_cast<Offset>(k + i)); },
                     warp.lane()));
    }
    return places.total;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
