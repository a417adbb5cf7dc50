// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/frontier_pieces.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/graphs/detail/row_edges.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a frontier has in memory. meetings and counter are 0 before the launch, and listed, if
/// vertices are to be listed once.
template <class Vertex, class Offset>
struct frontier_memory {
  std::uint64_t* meetings;                // league_sums::words
  edge_piece<Vertex, Offset>* pieces[2];  // of rounds by turns, each most_edge_pieces
  Offset* counter;                        // of the pieces of all rounds
  std::uint32_t* listed;  // for each vertex the last round whose pieces have its row
};

/// A vertex that an edge leads to, and what it brings: a distance, or where it comes from.
template <class Vertex, class Value>
struct edge_end {
  Vertex vertex;
  Value value;
};

/// The frontier of a search in a resident kernel, as rows whose edges are to be looked at in the
/// next round. Rows go to an array that all teams share, long ones in pieces. They are shared
/// evenly in the next round: no warp has much more to do than others.
///
/// Where rounds are thin, a warp keeps a few rows of one piece in scratch instead. These need no
/// way through memory, so that a warp can go on with them for several rounds before all meet.
///
/// A search is a Visit with two functions, or three:
///
///   look(there, from, edge, open, to, value)
///            edges of the frontier, in arrays of at_once masks and lanes. The edges of a lane are
///            from one vertex. Says which lead to vertices that may be in the next frontier, and
///            what they bring there. Most edges of most searches do not, so that lanes get few.
///   claim(active, vertex, value)
///            such vertices, side by side now. Returns which are in the next frontier. A vertex may
///            come there again and again, but each time for one of the lanes that claim it.
///   stays_near(active, value)
///            before these are claimed: which of them are in the next frontier if their claim says
///            so. The rows of others are not read. Without it all may be.
template <class Team, class Vertex, class Offset, class Value>
class frontier {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using pieces_type = frontier_pieces<Team, Vertex, Offset>;
  using edges_type = row_edges<Team, Vertex, Offset>;
  using queue_part = typename pieces_type::queue_part;
  using end_type = edge_end<Vertex, Value>;

 public:
  using piece = edge_piece<Vertex, Offset>;
  using memory = frontier_memory<Vertex, Offset>;
  static constexpr int at_once = edges_type::at_once;
  static constexpr int own_rows = pieces_type::own_rows;

 private:
  static constexpr int room = (1 + at_once) * width;  // ends of edges in scratch

 public:
  struct scratch {
    // First: then it has the address of all, and sssp_parents needs 94 registers, not 96.
    typename pieces_type::scratch found;
    raw_array<end_type, Team::warps * room> ends;
  };

  LANEWISE_KERNEL_FUNCTION frontier(const Team& team, scratch& shared, const memory& m,
                                    const graph_rows<Vertex, Offset>& rows)
      : team_(team), shared_(shared), memory_(m), rows_(rows) {
    league_sums::init(team, shared.found.sums);
  }

  /// The edges of all rows of this round.
  LANEWISE_KERNEL_FUNCTION Offset edges() const { return edges_; }
  /// Whether a vertex may be pushed several times in a round from now on. Its row goes to the queue
  /// the first time only. Rows that warps keep are not looked up: several may keep the same one.
  LANEWISE_KERNEL_FUNCTION void list_once(bool once) { lists_once_ = once; }

  /// The active lanes' vertices with their rows are in the next round.
  template <class Row>
  LANEWISE_KERNEL_FUNCTION void push(const mask_type& active, const lanes<Vertex>& vertex,
                                     const Row& row) {
    const auto warp = team_.warp();
    if (next_ > pieces_type::row_room - width) settle(Team::is_single_thread ? own_rows : 0, false);
    next_ += static_cast<int>(warp.compress_store(mine() + next_, active,
                                                  warp.map(
                                                      [](Offset b, Offset l, Vertex v) {
                                                        return piece{b, l, v};
                                                      },
                                                      row.begin, row.length, vertex)));
    has_long_ = has_long_ || warp.any(active & (row.length > Offset{most_piece_edges}));
  }
  /// Vertices that edges lead to, to be claimed when a warp of them is there.
  template <int k, class Visit>
  LANEWISE_KERNEL_FUNCTION void add(const mask_type (&open)[k], const lanes<Vertex> (&vertex)[k],
                                    const lanes<Value> (&value)[k], Visit& visit) {
    static_assert(k <= at_once);
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int i = 0; i < k; ++i)
      ends_ += static_cast<int>(warp.compress_store(ends() + ends_, open[i],
                                                    warp.map(
                                                        [](Vertex v, Value x) {
                                                          return end_type{v, x};
                                                        },
                                                        vertex[i], value[i])));
    prefetch_rows(open, vertex);
    if (ends_ >= width) claim(width, visit);
  }
  /// All that were added.
  template <class Visit>
  LANEWISE_KERNEL_FUNCTION void claim_all(Visit& visit) {
    claim(1, visit);
  }
  /// Room for 2 * width pieces of this warp, while nothing is pushed or kept.
  LANEWISE_KERNEL_FUNCTION piece* spare() const { return mine(); }
  /// What was not pushed, but is to be counted as edges of the next round.
  LANEWISE_KERNEL_FUNCTION void count(std::uint64_t edges) const {
    league_sums::add(team_, shared_.found.sums, {{edges, 0}});
  }

  /// Looks at the edges of this round's rows: the rows that this warp has kept, and its share of
  /// the others. Then goes on with rows that this warp has pushed and may keep, for `steps` rounds
  /// in all.
  template <class Visit>
  LANEWISE_KERNEL_FUNCTION void visit_edges(int steps, Visit& visit) {
    const auto number = static_cast<Offset>(queue_end_ - queue_begin_);
    const Offset most = capacity();
    expand_round(number < most ? number : most, visit);
    while (--steps > 0 && next_ != 0) {
      settle(own_rows, false);
      turn();
      expand_round(Offset{0}, visit);
    }
  }
  /// Looks at the edges of a row in each lane. Nothing is claimed.
  template <class Look>
  LANEWISE_KERNEL_FUNCTION void for_each_edge_of(const lanes<piece>& rows, const Look& look) const {
    edges_type::for_each(team_.warp(), rows, look);
  }

  /// The league meets, and what was pushed is the next round. most_kept: how many rows a warp may
  /// keep.
  LANEWISE_KERNEL_FUNCTION void meet(int most_kept) {
    settle(most_kept, true);
    const auto x = wait();
    edges_ = static_cast<Offset>(x[0]);
    queue_begin_ = queue_end_;
    queue_end_ += static_cast<Offset>(x[1]);
    turn();
    ++round_;
  }
  /// The league meets within a round. Returns the sums of what teams have counted.
  LANEWISE_KERNEL_FUNCTION league_sums::numbers wait() {
    league_sums of(memory_.meetings, meetings_);
    const auto x = of.meet(team_, shared_.found.sums);
    meetings_ = of.rounds();
    return x;
  }

 private:
  /// This warp's rows of this round, and of the next.
  LANEWISE_KERNEL_FUNCTION piece* kept() const {
    return pieces_type::list_of(team_, shared_.found, 1 - side_);
  }
  LANEWISE_KERNEL_FUNCTION piece* mine() const {
    return pieces_type::list_of(team_, shared_.found, side_);
  }
  /// What was pushed becomes what is kept.
  LANEWISE_KERNEL_FUNCTION void turn() {
    here_ = next_;
    next_ = 0;
    side_ = 1 - side_;
  }
  LANEWISE_KERNEL_FUNCTION end_type* ends() const {
    return shared_.ends.data() + team_.warp_index() * room;
  }

  /// While there are `least` ends or more, claims up to one for each lane.
  template <class Visit>
  LANEWISE_KERNEL_FUNCTION void claim(int least, Visit& visit) {
    const auto warp = team_.warp();
    warp.fence();
    while (ends_ >= least) {
      const int taken = ends_ < width ? ends_ : width;
      ends_ -= taken;
      const mask_type active = warp.first(taken);
      const lanes<end_type> end = warp.load(active, ends() + ends_, end_type{});
      const auto vertex = warp.map([](const end_type& e) { return e.vertex; }, end);
      const auto value = warp.map([](const end_type& e) { return e.value; }, end);
      // Rows are read without waiting for the claims.
      mask_type next = active;
      if constexpr (requires { visit.stays_near(active, value); })
        next = visit.stays_near(active, value);
      const auto row = rows_.of(warp, next, vertex);
      push(visit.claim(active, vertex, value), vertex, row);
    }
    warp.fence();
  }

  // An index that is not known would keep all members in memory.
  LANEWISE_KERNEL_FUNCTION piece* pieces(std::uint32_t round) const {
    return (round & 1) != 0 ? memory_.pieces[1] : memory_.pieces[0];
  }
  LANEWISE_KERNEL_FUNCTION Offset capacity() const {
    const std::uint64_t most = std::uint64_t{rows_.vertices} + rows_.edges / most_piece_edges + 1;
    constexpr Offset all = static_cast<Offset>(~Offset{0});
    return most < all ? static_cast<Offset>(most) : all;
  }
  LANEWISE_KERNEL_FUNCTION queue_part next_part() const {
    return {pieces(round_),
            memory_.counter,
            queue_end_,
            capacity(),
            lists_once_ ? memory_.listed : nullptr,
            round_};
  }

  /// Room for more, or the end of a round: rows that this warp may not keep go to memory.
  LANEWISE_KERNEL_FUNCTION void settle(int most_kept, bool is_end) {
    if (next_ == 0) return;
    if (!is_end && next_ <= most_kept && !has_long_) return;
    next_ = pieces_type::settle(team_, shared_.found, pieces_type::lists > 1 ? side_ : 0, next_,
                                next_part(), most_kept, is_end);
    has_long_ = false;
  }

  /// The edges of what this warp has kept, and of its share of `number` pieces.
  template <class Visit>
  LANEWISE_KERNEL_FUNCTION void expand_round(Offset number, Visit& visit) {
    const auto warp = team_.warp();
    const std::uint32_t warps = team_.league() * Team::warps;
    const std::uint32_t rank =
        team_.index() * Team::warps + static_cast<std::uint32_t>(team_.warp_index());
    // No more for a warp than an even share, rounded up, in as few turns as 32 lanes allow.
    const Offset even = number / warps + (number % warps != 0);
    const Offset turns = even / width + (even % width != 0);
    const Offset each = turns > 1 ? even / turns + (even % turns != 0) : even;
    const piece* items = pieces(round_ + 1);
    for (Offset at = rank * each; here_ != 0 || at < number;) {
      lanes<piece> batch;
      if (here_ != 0) {
        const int taken = pieces_type::lists == 1 || here_ < width ? here_ : width;
        here_ -= taken;
        warp.fence();
        batch = warp.load(warp.first(taken), kept() + here_, piece{});
        warp.fence();
        const int next = here_ < width ? here_ : width;
        ask_for_columns(kept() + (here_ - next), next);
      } else {
        const Offset left = number - at < each ? static_cast<Offset>(number - at) : each;
        batch = warp.load(warp.first(static_cast<int>(left)), items + at, piece{});
        at = number - at > warps * each ? static_cast<Offset>(at + warps * each) : number;
        ask_for_columns(items + at, static_cast<int>(number - at < each ? number - at : each));
      }
      edges_type::for_each(warp, batch, looks<Visit>{*this, visit});
    }
    claim_all(visit);
  }
  // Hosts ask for what they will read soon; warps of devices have others to wait for. (One core,
  // 2^20 vertices: bfs urand 46 to 41 ms, of a lattice 47 to 42.)

  /// The first columns of the next few rows.
  LANEWISE_KERNEL_FUNCTION void ask_for_columns(const piece* next, int count) const {
    if constexpr (Team::is_single_thread) {
      const auto warp = team_.warp();
      const auto there = warp.first(count);
      warp.prefetch(
          there, rows_.columns,
          warp.map(
              there, [=](std::uint32_t l) { return next[l].begin; }, Offset{0}, warp.lane()));
    }
  }
  /// Prefetches the row begins of vertices that are to be claimed.
  template <int k>
  LANEWISE_KERNEL_FUNCTION void prefetch_rows(const mask_type (&open)[k],
                                              const lanes<Vertex> (&vertex)[k]) const {
    if constexpr (Team::is_single_thread)
      for (int i = 0; i < k; ++i) team_.warp().prefetch(open[i], rows_.begins, vertex[i]);
  }
  template <class Visit>
  struct looks {
    frontier& all;
    Visit& visit;
    LANEWISE_KERNEL_FUNCTION void operator()(const mask_type (&there)[at_once],
                                             const lanes<Vertex>& from,
                                             const lanes<Offset> (&edge)[at_once]) const {
      mask_type open[at_once];
      lanes<Vertex> to[at_once];
      lanes<Value> value[at_once];
      visit.look(there, from, edge, open, to, value);
      all.add(open, to, value, visit);
    }
  };

  const Team& team_;
  scratch& shared_;
  memory memory_;
  graph_rows<Vertex, Offset> rows_;
  bool lists_once_ = false;
  std::uint32_t round_ = 1;
  std::uint32_t meetings_ = 0;
  Offset edges_ = 0;
  Offset queue_begin_ = 0, queue_end_ = 0;  // this round's pieces by the counter
  int ends_ = 0;                            // ends of edges that are not claimed yet
  int here_ = 0;                            // rows that this warp has kept of this round
  int next_ = 0;                            // and of the next one
  int side_ = 0;                            // which list is the next round's
  bool has_long_ = false;                   // one of these is more than a piece
};

}  // namespace detail
LANEWISE_END_NAMESPACE
