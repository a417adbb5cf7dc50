// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/allocation.hpp>
#include <lanewise/detail/by_threads.hpp>
#include <lanewise/detail/graphs/rows.hpp>
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

/// What a frontier has in memory. meetings and counter are 0 before the launch.
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
/// next round. Rows go to an array that all teams share, long ones in pieces, and are shared evenly
/// in the next round: no warp has much more to do than others.
///
/// Where rounds are thin, a warp keeps a few rows of one piece in scratch instead. These need no
/// way through memory, so that a warp can go on with them for several rounds before all meet.
///
/// A search is a Visit with two functions:
///
///   look(there, from, edge, open, to, value)
///            edges of the frontier, in arrays of at_once masks and lanes; those of a lane are from
///            one vertex. Says which lead to vertices that may be in the next frontier, and what
///            they bring there. Most edges of most searches do not, so that lanes get few
///   claim(active, vertex, value)
///            such vertices, side by side now. Returns which are in the next frontier, for which a
///            vertex may come again and again, but each time for one of those who claim it
template <class Team, class Vertex, class Offset, class Value>
class frontier {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = typename warp_type::template lanes<T>;
  using mask_type = typename warp_type::template mask_for<std::uint32_t>;

 public:
  using piece = edge_piece<Vertex, Offset>;
  using memory = frontier_memory<Vertex, Offset>;
  static constexpr int at_once = 4;  ///< edges that a lane looks at together
  /// Rows that a warp goes on with by itself.
  static constexpr int own_rows = by_threads<Team> ? 2048 : warp_type::width;

 private:
  using end_type = edge_end<Vertex, Value>;
  static constexpr int room = (1 + at_once) * width;  // ends of edges in scratch
  // And rows. A thread of a host has more room, and lists for this round and for the next: a warp
  // of a device has those of this round in registers.
  static constexpr int lists = by_threads<Team> ? 2 : 1;
  static constexpr int row_room = 2 * own_rows;
  static constexpr std::uint32_t short_row = 16;  // edges that a lane looks at alone
  // Lanes that look at a longer row: 32 of its edges at once on devices, as long as others are
  // left. By the whole warp three of four lanes had nothing where rows have 32 edges.
  static constexpr int group = by_threads<Team> ? width : 8;

 public:
  struct scratch {
    raw_array<end_type, Team::warps * room> ends;
    raw_array<piece, Team::warps * lists * row_room> found;
    league_sums::scratch<Team> sums;
  };

  LANEWISE_FUNCTION frontier(const Team& team, scratch& shared, const memory& m,
                             const graph_rows<Vertex, Offset>& rows)
      : team_(team), shared_(shared), memory_(m), rows_(rows) {
    league_sums::init(team, shared.sums);
  }

  /// The edges of all rows of this round.
  LANEWISE_FUNCTION Offset edges() const { return edges_; }
  /// Vertices may come again and again from now on: each is in the pieces of a round once.
  LANEWISE_FUNCTION void list_once() { lists_once_ = true; }

  /// The active lanes' vertices with their rows are in the next round.
  template <class Row>
  LANEWISE_FUNCTION void push(const mask_type& active, const lanes<Vertex>& vertex,
                              const Row& row) {
    const auto warp = team_.warp();
    if (next_ > row_room - width) settle(by_threads<Team> ? own_rows : 0, false);
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
  LANEWISE_FUNCTION void add(const mask_type (&open)[k], const lanes<Vertex> (&vertex)[k],
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
    ask_for_rows(open, vertex);
    if (ends_ >= width) claim(width, visit);
  }
  /// All that were added.
  template <class Visit>
  LANEWISE_FUNCTION void claim_all(Visit& visit) {
    claim(1, visit);
  }
  /// Room for 2 * width pieces of this warp, while nothing is pushed or kept.
  LANEWISE_FUNCTION piece* spare() const { return mine(); }
  /// What was not pushed, but is to be counted as edges of the next round.
  LANEWISE_FUNCTION void count(std::uint64_t edges) const {
    league_sums::add(team_, shared_.sums, {{edges, 0}});
  }

  /// Looks at the edges of this round's rows: those that this warp has kept, and its share of the
  /// others. Then goes on with rows that this warp has pushed and may keep, for `steps` rounds in
  /// all.
  template <class Visit>
  LANEWISE_FUNCTION void visit_edges(int steps, Visit& visit) {
    expand_round(queue_end_ - queue_begin_, visit);
    while (--steps > 0 && next_ != 0) {
      settle(own_rows, false);
      turn();
      expand_round(Offset{0}, visit);
    }
  }
  /// Looks at the edges of a row in each lane. Nothing is claimed.
  template <class Look>
  LANEWISE_FUNCTION void for_each_edge_of(const lanes<piece>& rows, const Look& look) const {
    expand(rows, look);
  }

  /// The league meets, and what was pushed is the next round. most_kept: how many rows a warp may
  /// keep.
  LANEWISE_FUNCTION void meet(int most_kept) {
    settle(most_kept, true);
    const auto x = wait();
    edges_ = static_cast<Offset>(x[0]);
    queue_begin_ = queue_end_;
    queue_end_ += static_cast<Offset>(x[1]);
    turn();
    ++round_;
  }
  /// The league meets within a round. Returns the sums of what teams have counted.
  LANEWISE_FUNCTION league_sums::numbers wait() {
    league_sums of(memory_.meetings, meetings_);
    const auto x = of.meet(team_, shared_.sums);
    meetings_ = of.rounds();
    return x;
  }

 private:
  static LANEWISE_FUNCTION piece* list_of(const Team& team, scratch& shared, int side) {
    return shared.found.data() + (team.warp_index() * lists + (lists > 1 ? side : 0)) * row_room;
  }
  /// This warp's rows of this round, and of the next.
  LANEWISE_FUNCTION piece* kept() const { return list_of(team_, shared_, 1 - side_); }
  LANEWISE_FUNCTION piece* mine() const { return list_of(team_, shared_, side_); }
  /// What was pushed becomes what is kept.
  LANEWISE_FUNCTION void turn() {
    here_ = next_;
    next_ = 0;
    side_ = 1 - side_;
  }
  LANEWISE_FUNCTION end_type* ends() const {
    return shared_.ends.data() + team_.warp_index() * room;
  }

  /// While there are so many ends, claims as many as there are lanes.
  template <class Visit>
  LANEWISE_FUNCTION void claim(int least, Visit& visit) {
    const auto warp = team_.warp();
    warp.fence();
    while (ends_ >= least) {
      const int taken = ends_ < width ? ends_ : width;
      ends_ -= taken;
      const mask_type active = warp.first(taken);
      const lanes<end_type> end = warp.load(active, ends() + ends_, end_type{});
      const auto vertex = warp.map([](const end_type& e) { return e.vertex; }, end);
      // Rows are read without waiting for the claims.
      const auto row = rows_.of(warp, active, vertex);
      push(visit.claim(active, vertex, warp.map([](const end_type& e) { return e.value; }, end)),
           vertex, row);
    }
    warp.fence();
  }

  // An index that is not known would keep all members in memory.
  LANEWISE_FUNCTION piece* pieces(std::uint32_t round) const {
    return (round & 1) != 0 ? memory_.pieces[1] : memory_.pieces[0];
  }
  /// Pieces of one round: that with the counter's value `base` comes first.
  struct queue_part {
    piece* items;
    Offset* counter;
    Offset base;
    std::uint32_t* listed;  // null: no vertex comes twice
    std::uint32_t round;
  };
  LANEWISE_FUNCTION queue_part next_part() const {
    return {pieces(round_), memory_.counter, queue_end_, lists_once_ ? memory_.listed : nullptr,
            round_};
  }

  /// Room for more, or the end of a round: rows that this warp may not keep go to memory.
  LANEWISE_FUNCTION void settle(int most_kept, bool is_end) {
    if (next_ == 0) return;
    if (!is_end && next_ <= most_kept && !has_long_) return;
    next_ =
        settle_list(team_, shared_, lists > 1 ? side_ : 0, next_, next_part(), most_kept, is_end);
    has_long_ = false;
  }
  /// Returns how many rows are kept. Those that are not are counted, at the end all.
  static LANEWISE_SEPARATE_FUNCTION int settle_list(const Team team, scratch& shared,
                                                    [[maybe_unused]] int side, int count,
                                                    const queue_part part, int most_kept,
                                                    bool is_end) {
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
      if (warp.any(leave)) added[1] += push_pieces(warp, part, leave, here);
      if (most_kept != 0) {
        warp.fence();
        kept += static_cast<int>(warp.compress_store(pieces + kept, stay, here));
      }
    }
    warp.fence();
    league_sums::add(team, shared.sums, added);
    return kept;
  }
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
  static LANEWISE_FUNCTION std::uint64_t push_pieces(const warp_type& warp, const queue_part& part,
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

  /// The edges of what this warp has kept, and of its share of so many pieces.
  template <class Visit>
  LANEWISE_FUNCTION void expand_round(Offset number, Visit& visit) {
    const auto warp = team_.warp();
    const std::uint32_t warps = team_.league() * Team::warps;
    const std::uint32_t rank =
        team_.index() * Team::warps + static_cast<std::uint32_t>(team_.warp_index());
    // As many for each warp as for others, in as few turns as 32 lanes allow.
    const Offset even = number / warps + (number % warps != 0);
    const Offset turns = even / width + (even % width != 0);
    const Offset each = turns > 1 ? even / turns + (even % turns != 0) : even;
    const piece* items = pieces(round_ + 1);
    for (Offset at = rank * each; here_ != 0 || at < number;) {
      lanes<piece> batch;
      if (here_ != 0) {
        const int taken = lists == 1 || here_ < width ? here_ : width;
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
      expand(batch, looks<Visit>{*this, visit});
    }
    claim_all(visit);
  }
  // Hosts ask for what they will read soon; warps of devices have others to wait for. (One core,
  // 2^20 vertices: bfs urand 46 to 41 ms, of a lattice 47 to 42.)

  /// The first columns of the next few rows.
  LANEWISE_FUNCTION void ask_for_columns(const piece* next, int count) const {
    if constexpr (by_threads<Team>) {
      const auto warp = team_.warp();
      const auto there = warp.first(count);
      warp.prefetch(
          there, rows_.columns,
          warp.map(
              there, [=](std::uint32_t l) { return next[l].begin; }, Offset{0}, warp.lane()));
    }
  }
  /// Where the rows of vertices begin that are to be claimed.
  template <int k>
  LANEWISE_FUNCTION void ask_for_rows(const mask_type (&open)[k],
                                      const lanes<Vertex> (&vertex)[k]) const {
    if constexpr (by_threads<Team>)
      for (int i = 0; i < k; ++i) team_.warp().prefetch(open[i], rows_.begins, vertex[i]);
  }
  template <class Visit>
  struct looks {
    frontier& all;
    Visit& visit;
    LANEWISE_FUNCTION void operator()(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                                      const lanes<Offset> (&edge)[at_once]) const {
      mask_type open[at_once];
      lanes<Vertex> to[at_once];
      lanes<Value> value[at_once];
      visit.look(there, from, edge, open, to, value);
      all.add(open, to, value, visit);
    }
  };

  /// The edges of 32 rows: short rows by their lanes, side by side, then longer ones by groups of
  /// lanes, and the last few by the whole warp. All are lanes that go through places in steps.
  template <class Body>
  LANEWISE_FUNCTION void expand(const lanes<piece>& batch, const Body& body) const {
    const auto warp = team_.warp();
    const auto length = warp.map([](const piece& p) { return p.length; }, batch);
    auto todo = warp.ballot(length > Offset{short_row});
    auto edge = warp.map([](const piece& p) { return p.begin; }, batch);
    auto from = warp.map([](const piece& p) { return p.from; }, batch);
    auto left = select(length <= Offset{short_row}, length, lanes<Offset>(Offset{0}));
    int step = 1;
    for (;;) {
      while (warp.any(left != Offset{0})) {
        take(body, from, edge, left, static_cast<Offset>(step));
        if (step == group) next_rows(batch, todo, group, from, edge, left);
      }
      if (todo == 0) break;
      step = warp_type::popcount(todo) >= width / group ? group : width;
      next_rows(batch, todo, step, from, edge, left);
    }
  }
  /// Groups of so many lanes that have nothing left get a row each, as long as there are any.
  template <class Bits>
  LANEWISE_FUNCTION void next_rows(const lanes<piece>& batch, Bits& todo, int lanes_of_group,
                                   lanes<Vertex>& from, lanes<Offset>& edge,
                                   lanes<Offset>& left) const {
    const auto warp = team_.warp();
    constexpr std::uint32_t none = width;
    const auto size = static_cast<std::uint32_t>(lanes_of_group);
    const auto first = warp.map([size](std::uint32_t l) { return l & ~(size - 1); }, warp.lane());
    auto idle = warp.ballot((left == Offset{0}) & (first == warp.lane()));
    if (idle == 0 || todo == 0) return;
    lanes<std::uint32_t> row(none);
    for (; idle != 0 && todo != 0; idle &= idle - 1, todo &= todo - 1) {
      const auto at = static_cast<std::uint32_t>(warp_type::lowest(idle));
      const auto next = static_cast<std::uint32_t>(warp_type::lowest(todo));
      row = select(first == at, lanes<std::uint32_t>(next), row);
    }
    const auto fresh = row < none;
    const auto source = row & lanes<std::uint32_t>(none - 1);
    const auto ahead = warp.template cast<Offset>(warp.lane() - first);
    from = select(
        fresh, warp.shuffle(warp.map([](const piece& p) { return p.from; }, batch), source), from);
    edge = select(
        fresh,
        warp.shuffle(warp.map([](const piece& p) { return p.begin; }, batch), source) + ahead,
        edge);
    const auto length =
        warp.shuffle(warp.map([](const piece& p) { return p.length; }, batch), source);
    left = select(
        fresh,
        warp.map([](Offset n, Offset l) -> Offset { return l < n ? n - l : 0; }, length, ahead),
        left);
  }
  template <class Body>
  LANEWISE_FUNCTION void take(const Body& body, const lanes<Vertex>& from, lanes<Offset>& edge,
                              lanes<Offset>& left, Offset step) const {
    mask_type there[at_once];
    lanes<Offset> edges[at_once];
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const auto ahead = static_cast<Offset>(k * step);
      there[k] = left > ahead;
      edges[k] = edge + lanes<Offset>(ahead);
    }
    const auto taken = static_cast<Offset>(at_once * step);
    edge = edge + lanes<Offset>(taken);
    left = team_.warp().map(
        [taken](Offset l) -> Offset { return l > taken ? static_cast<Offset>(l - taken) : 0; },
        left);
    body(there, from, edges);
  }

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
