// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/data/scratch_items.hpp>
#include <lanewise/league/league_sums.hpp>
#include <lanewise/league/warp_allocate.hpp>
#include <lanewise/team/team.hpp>

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

/// The most edges of a piece in the queue, which a warp looks at together.
inline constexpr std::uint32_t most_piece_edges = 128;
/// The most pieces of a graph.
constexpr std::int64_t most_edge_pieces(std::int64_t vertices, std::int64_t edges) {
  return vertices + edges / most_piece_edges + 1;
}

/// The rows of a frontier. Each warp lists the rows that it finds in scratch. It sends the rows
/// that it may not keep to a queue of all teams, long rows in pieces.
template <class Team, class Vertex, class Offset>
class frontier_pieces {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using mask_type = mask_t<warp_type, std::uint32_t>;

 public:
  using piece = edge_piece<Vertex, Offset>;
  /// The most rows that a warp goes on with by itself.
  static constexpr int own_rows = Team::is_single_thread ? 2048 : width;
  // A thread of a host has more room, and lists for this round and for the next: a warp of a device
  // has those of this round in registers.
  static constexpr int lists = Team::is_single_thread ? 2 : 1;
  static constexpr int row_room = 2 * own_rows;

 private:
  // All warps have one counter, which takes some 1 ns for each addition: a device's warp adds for
  // all that its list has (H200, sssp urand.22: 3.10 ms, else 3.18).
  static constexpr int windows = Team::is_single_thread ? 1 : row_room / width;

 public:
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
    Offset capacity;        // what finds no room is dropped: rows of a wrong graph may overlap
    std::uint32_t* listed;  // null: no vertex comes twice
    std::uint32_t round;
  };

  /// Keeps up to most_kept rows of a list, none longer than a piece. Returns how many. The others
  /// go to the queue, and their edges are counted; at the end of a round those of kept rows, too.
  static LANEWISE_SEPARATE_FUNCTION int flush(const Team team, scratch& shared, int side, int count,
                                              const queue_part part, int most_kept, bool is_end) {
    const auto warp = team.warp();
    piece* pieces = list_of(team, shared, side);
    league_sums::numbers added{};
    int kept = 0;
    warp.fence();
    for (int at = 0; at < count; at += windows * width) {
      lanes<piece> here[windows];
      mask_type stay[windows], leave[windows];
      LANEWISE_UNROLL
      for (int i = 0; i < windows; ++i) {
        const int left = count - at - i * width;
        const mask_type there = warp.first(left > 0 ? left : 0);
        here[i] = warp.load(there, pieces + at + i * width, piece{});
        stay[i] = there & (length_of(warp, here[i]) <= Offset{most_piece_edges});
        if (kept + warp.count(stay[i]) > most_kept) stay[i] = warp.first(0);
        leave[i] = there & !stay[i];
        if (most_kept != 0) {
          warp.fence();
          kept += static_cast<int>(warp.compress_store(pieces + kept, stay[i], here[i]));
        }
      }
      if (part.listed != nullptr) only_fresh(warp, part, here, leave);
      LANEWISE_UNROLL
      for (int i = 0; i < windows; ++i)
        added[0] += sum(warp, lanewise::select(is_end ? leave[i] | stay[i] : leave[i],
                                               length_of(warp, here[i]), lanes<Offset>(Offset{0})));
      added[1] += push(warp, part, leave, here);
    }
    warp.fence();
    league_sums::add(team, shared.sums, added);
    return kept;
  }

 private:
  static LANEWISE_FUNCTION lanes<Offset> length_of(const warp_type& warp,
                                                   const lanes<piece>& rows) {
    return warp.map([](const piece& p) { return p.length; }, rows);
  }
  /// Those of the active lanes' rows that are not among the pieces of this round.
  static LANEWISE_FUNCTION void only_fresh(const warp_type& warp, const queue_part& part,
                                           const lanes<piece> (&rows)[windows],
                                           mask_type (&active)[windows]) {
    const lanes<std::uint32_t> round(part.round);
    lanes<std::uint32_t> before[windows];
    LANEWISE_UNROLL
    for (int i = 0; i < windows; ++i)
      before[i] = warp.fetch_max(active[i], part.listed,
                                 warp.map([](const piece& p) { return p.from; }, rows[i]), round);
    LANEWISE_UNROLL
    for (int i = 0; i < windows; ++i) active[i] = active[i] & (before[i] < round);
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
  static LANEWISE_FUNCTION std::uint64_t push(const warp_type& warp, const queue_part& part,
                                              const mask_type (&active)[windows],
                                              const lanes<piece> (&rows)[windows]) {
    lanes<Offset> pieces[windows];
    lanes<Offset> all(Offset{0});
    LANEWISE_UNROLL
    for (int i = 0; i < windows; ++i) {
      pieces[i] = warp.map(
          active[i],
          [](const piece& p) -> Offset {
            return p.length / most_piece_edges + (p.length % most_piece_edges != 0);
          },
          Offset{0}, rows[i]);
      all = all + pieces[i];
    }
    if (!warp.any(all != Offset{0})) return 0;
    const auto places = lanewise::reserve(warp, *part.counter, all);
    auto first = places.offset - lanes<Offset>(part.base);
    LANEWISE_UNROLL
    for (int i = 0; i < windows; ++i) {
      write(warp, part, rows[i], pieces[i], first);
      first = first + pieces[i];
    }
    return places.total;
  }
  /// Writes `pieces` pieces of each row to places from `first` on.
  static LANEWISE_FUNCTION void write(const warp_type& warp, const queue_part& part,
                                      const lanes<piece>& rows, const lanes<Offset>& pieces,
                                      const lanes<Offset>& first) {
    // A few pieces by lanes side by side, and those of long rows by the warp.
    constexpr Offset few = 4;
    for (Offset k = 0; k < few && warp.any(pieces > k); ++k)
      warp.scatter((pieces > k) & (first + lanes<Offset>(k) < part.capacity), part.items,
                   first + lanes<Offset>(k),
                   warp.map([k](const piece& p) { return cut(p, k); }, rows));
    for (auto todo = warp.ballot(pieces > few); todo != 0; todo &= todo - 1) {
      const int l = warp_type::lowest(todo);
      const piece row = warp.broadcast(rows, l);
      const Offset all = warp.broadcast(pieces, l), at = warp.broadcast(first, l);
      const Offset room = at < part.capacity ? static_cast<Offset>(part.capacity - at) : Offset{0};
      const Offset count = all < room ? all : room;
      for (Offset k = few; k < count; k = static_cast<Offset>(k + width))
        warp.store(
            warp.first(count - k), part.items + at + k,
            warp.map([row, k](std::uint32_t i) { return cut(row, static_cast<Offset>(k + i)); },
                     warp.lane()));
    }
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
