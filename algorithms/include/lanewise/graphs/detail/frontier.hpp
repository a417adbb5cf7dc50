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

/// A vertex that an edge leads to, and the edge's value: a distance, or the vertex it comes from.
template <class Vertex, class Value>
struct edge_end {
  Vertex vertex;
  Value value;
};

/// The frontier of a search in a resident kernel: rows whose edges the next round visits. Rows go
/// to an array that all teams share, long ones in pieces. Warps have even shares of the edges.
///
/// In small rounds a warp keeps a few rows of one piece in scratch instead. These need no way
/// through memory, so a warp can visit them for several rounds before the league's next barrier.
///
/// A search is a Visit with two functions, or three:
///
///   filter_edges(there, from, edge, open, to, value)
///            takes edges of the frontier, in arrays of at_once masks and lanes. The edges of a
///            lane are from one vertex. `open` says whether the vertex that an edge leads to may be
///            in the next frontier, `to` and `value` which it is and its value. Most edges fail.
///   try_visit(active, vertex, value)
///            takes such vertices, side by side now. Returns which are in the next frontier. A
///            vertex may come there several times, but each time for one of the lanes that try.
///   stays_near(active, value)
///            is asked before try_visit. Returns which may be in the next frontier. Rows of others
///            are not read. Without it all may be.
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
    if (next_ > pieces_type::row_room - width) flush(Team::is_single_thread ? own_rows : 0, false);
    next_ += static_cast<int>(warp.compress_store(mine() + next_, active,
                                                  warp.map(
                                                      [](Offset b, Offset l, Vertex v) {
                                                        return piece{b, l, v};
                                                      },
                                                      row.begin, row.length, vertex)));
    has_long_ = has_long_ || warp.any(active & (row.length > Offset{most_piece_edges}));
  }
  /// Adds vertices that edges lead to. They are visited when there are enough for a warp.
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
    if (ends_ >= width) visit_ends(width, visit);
  }
  /// Visits all that were added.
  template <class Visit>
  LANEWISE_KERNEL_FUNCTION void visit_all_ends(Visit& visit) {
    visit_ends(1, visit);
  }
  /// Room for 2 * width pieces of this warp, while nothing is pushed or kept.
  LANEWISE_KERNEL_FUNCTION piece* spare() const { return mine(); }
  /// What was not pushed, but is to be counted as edges of the next round.
  LANEWISE_KERNEL_FUNCTION void count(std::uint64_t edges) const {
    league_sums::add(team_, shared_.found.sums, {{edges, 0}});
  }

  /// Visits the edges of this round's rows: of the rows that this warp has kept, and of its share
  /// of the others. Then visits those of rows that this warp has pushed and may keep, for `steps`
  /// rounds in all.
  template <class Visit>
  LANEWISE_KERNEL_FUNCTION void visit_edges(int steps, Visit& visit) {
    const auto number = static_cast<Offset>(queue_end_ - queue_begin_);
    const Offset most = capacity();
    expand_round(number < most ? number : most, visit);
    while (--steps > 0 && next_ != 0) {
      flush(own_rows, false);
      swap_lists();
      expand_round(Offset{0}, visit);
    }
  }
  /// Calls look for the edges of a row in each lane. No vertex is visited.
  template <class Look>
  LANEWISE_KERNEL_FUNCTION void for_each_edge_of(const lanes<piece>& rows, const Look& look) const {
    edges_type::for_each(team_.warp(), rows, look);
  }

  /// Waits for the league; what was pushed is the next round. A warp may keep `most_kept` rows.
  LANEWISE_KERNEL_FUNCTION void end_round(int most_kept) {
    flush(most_kept, true);
    const auto x = all_reduce();
    edges_ = static_cast<Offset>(x[0]);
    queue_begin_ = queue_end_;
    queue_end_ += static_cast<Offset>(x[1]);
    swap_lists();
    ++round_;
  }
  /// Waits for the league within a round. Returns the sums of what teams have counted.
  LANEWISE_KERNEL_FUNCTION league_sums::numbers all_reduce() {
    league_sums of(memory_.meetings, meetings_);
    const auto x = of.all_reduce(team_, shared_.found.sums);
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
  LANEWISE_KERNEL_FUNCTION void swap_lists() {
    here_ = next_;
    next_ = 0;
    side_ = 1 - side_;
  }
  LANEWISE_KERNEL_FUNCTION end_type* ends() const {
    return shared_.ends.data() + team_.warp_index() * room;
  }

  /// While there are `least` ends or more, visits up to one for each lane.
  template <class Visit>
  LANEWISE_KERNEL_FUNCTION void visit_ends(int least, Visit& visit) {
    const auto warp = team_.warp();
    warp.fence();
    while (ends_ >= least) {
      const int taken = ends_ < width ? ends_ : width;
      ends_ -= taken;
      const mask_type active = warp.first(taken);
      const lanes<end_type> end = warp.load(active, ends() + ends_, end_type{});
      const auto vertex = warp.map([](const end_type& e) { return e.vertex; }, end);
      const auto value = warp.map([](const end_type& e) { return e.value; }, end);
      // Rows are read without waiting for try_visit.
      mask_type next = active;
      if constexpr (requires { visit.stays_near(active, value); })
        next = visit.stays_near(active, value);
      const auto row = rows_.of(warp, next, vertex);
      push(visit.try_visit(active, vertex, value), vertex, row);
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
  LANEWISE_KERNEL_FUNCTION void flush(int most_kept, bool is_end) {
    if (next_ == 0) return;
    if (!is_end && next_ <= most_kept && !has_long_) return;
    next_ = pieces_type::flush(team_, shared_.found, pieces_type::lists > 1 ? side_ : 0, next_,
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
        prefetch_columns(kept() + (here_ - next), next);
      } else {
        const Offset left = number - at < each ? static_cast<Offset>(number - at) : each;
        batch = warp.load(warp.first(static_cast<int>(left)), items + at, piece{});
        at = number - at > warps * each ? static_cast<Offset>(at + warps * each) : number;
        prefetch_columns(items + at, static_cast<int>(number - at < each ? number - at : each));
      }
      edges_type::for_each(warp, batch, edge_filter<Visit>{*this, visit});
    }
    visit_all_ends(visit);
  }
  // Hosts ask for what they will read soon; warps of devices have others to wait for. (One core,
  // 2^20 vertices: bfs urand 46 to 41 ms, of a lattice 47 to 42.)

  /// The first columns of the next few rows.
  LANEWISE_KERNEL_FUNCTION void prefetch_columns(const piece* next, int count) const {
    if constexpr (Team::is_single_thread) {
      const auto warp = team_.warp();
      const auto there = warp.first(count);
      warp.prefetch(
          there, rows_.columns,
          warp.map(
              there, [=](std::uint32_t l) { return next[l].begin; }, Offset{0}, warp.lane()));
    }
  }
  /// Prefetches the row begins of vertices that are to be visited.
  template <int k>
  LANEWISE_KERNEL_FUNCTION void prefetch_rows(const mask_type (&open)[k],
                                              const lanes<Vertex> (&vertex)[k]) const {
    if constexpr (Team::is_single_thread)
      for (int i = 0; i < k; ++i) team_.warp().prefetch(open[i], rows_.begins, vertex[i]);
  }
  template <class Visit>
  struct edge_filter {
    frontier& all;
    Visit& visit;
    LANEWISE_KERNEL_FUNCTION void operator()(const mask_type (&there)[at_once],
                                             const lanes<Vertex>& from,
                                             const lanes<Offset> (&edge)[at_once]) const {
      mask_type open[at_once];
      lanes<Vertex> to[at_once];
      lanes<Value> value[at_once];
      visit.filter_edges(there, from, edge, open, to, value);
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
  int ends_ = 0;                            // ends of edges that are not visited yet
  int here_ = 0;                            // rows that this warp has kept of this round
  int next_ = 0;                            // and of the next one
  int side_ = 0;                            // which list is the next round's
  bool has_long_ = false;                   // one of these is more than a piece
};

}  // namespace detail
LANEWISE_END_NAMESPACE
