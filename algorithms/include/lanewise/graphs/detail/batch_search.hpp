// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/batch_memory.hpp>
#include <lanewise/graphs/detail/neighbour_words.hpp>
#include <lanewise/graphs/detail/windows_of_items.hpp>
#include <lanewise/league/queue.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Up to 64 breadth-first searches at once: a vertex has a bit for each. Fresh words have the bits
/// that vertices got in one level; these vertices are listed. Fresh words and lists are three by
/// turns: those of the next level are written, those of this level are read, and those of the level
/// before become 0 again. So top down a level has one barrier, bottom up three. A
/// level goes:
///
/// top down    an edge takes all fresh bits along that its vertex has. The lane that sets a bit
///             first brings it into the vertex's fresh word. The lane that brings the first bit of
///             this word lists the vertex.
/// bottom up   a vertex that not all searches have reached looks at its neighbours' fresh words,
///             until it has all. There are no atomic operations, and after some wide levels most
///             vertices stop soon. After that all warps look at what is left of long rows. They do
///             so as with edges top down, but for the vertex that edges come from.
template <class Team, class Vertex, class Offset>
class batch_search {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  static_assert(width == 32, "lanewise: bits of searches are taken by 32 lanes");
  template <class T>
  using lanes = lanes_t<warp_type, T>;
  using words = lanes<std::uint64_t>;
  using mask_type = mask_t<warp_type, std::uint32_t>;
  using frontier_type = frontier<Team, Vertex, Offset, std::uint64_t>;
  static constexpr int at_once = frontier_type::at_once;
  static constexpr Vertex no_vertex = static_cast<Vertex>(~Vertex{0});

 public:
  using task = batch_task<Vertex, Offset>;
  struct scratch {
    typename frontier_type::scratch frontier;
  };

  /// launch: 0, or 1 for what the first one and searches apart have left.
  LANEWISE_FUNCTION batch_search(const Team& team, scratch& shared, const task& t, int launch)
      : team_(team),
        task_(t),
        is_last_(launch != 0),
        counts_(is_last_ ? t.memory.counts[1] : t.memory.counts[0]),
        wanted_(is_last_ ? t.memory.to_do[1] : ~std::uint64_t{0} >> (64 - t.searches)),
        frontier_(
            team, shared.frontier,
            {counts_.meetings, {t.memory.pieces[0], t.memory.pieces[1]}, counts_.pieces, nullptr},
            t.out) {}

  LANEWISE_FUNCTION void run() {
    if (wanted_ == 0) return;
    if (is_last_) {
      fill(task_.memory.seen, vertices(), std::uint64_t{0});
      fill(task_.memory.fresh, 3 * vertices(), std::uint64_t{0});
      frontier_.all_reduce();
    } else {
      fill(task_.levels, vertices() * task_.searches, std::int32_t{-1});
    }
    begin();
    frontier_.end_round(0);
    for (;;) {
      ++depth_;
      const auto bits = write_levels();
      if (is_done()) return;
      if (!is_last_ && parts()) return;
      if (depth_ > 0) clear();
      if (pays_bottom_up())
        go_bottom_up(bits);
      else
        go_top_down();
    }
  }

  // What a frontier asks of a search. An edge brings the bits of searches.
  LANEWISE_FUNCTION void filter_edges(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                                      const lanes<Offset> (&edge)[at_once],
                                      mask_type (&open)[at_once], lanes<Vertex> (&to)[at_once],
                                      words (&value)[at_once]) const {
    const auto warp = team_.warp();
    if (is_bottom_up_) return look_back(there, from, edge, open, to, value);
    const words mine = warp.gather(there[0], fresh_of(depth_), from, std::uint64_t{0});
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      to[k] = warp.gather(there[k], task_.out.columns, edge[k], no_vertex);
    task_.out.only_vertices(warp, there, to, task_.errors, open);
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      value[k] = mine & ~warp.load_relaxed(open[k], task_.memory.seen, to[k], ~std::uint64_t{0});
      open[k] = open[k] & detail::has_bits(warp, value[k]);
    }
  }
  LANEWISE_FUNCTION mask_type try_visit(const mask_type& active, const lanes<Vertex>& vertex,
                                        const words& bits) const {
    const auto warp = team_.warp();
    const words mine = bits & ~warp.fetch_or(active, task_.memory.seen, vertex, bits);
    const mask_type open = active & detail::has_bits(warp, mine);
    const words before = warp.fetch_or(open, fresh_of(depth_ + 1), vertex, mine);
    const mask_type first = open & !detail::has_bits(warp, before);
    list(depth_ + 1).push(warp, first, vertex);
    return is_bottom_up_ ? mask_type(warp.first(0)) : first;
  }

 private:
  static constexpr int patience = 16;          // levels that have little in common
  static constexpr int searches_that_pay = 8;  // for each vertex of a level

  LANEWISE_FUNCTION std::int64_t vertices() const {
    return static_cast<std::int64_t>(task_.out.vertices);
  }
  LANEWISE_FUNCTION std::uint64_t* fresh_of(std::int32_t depth) const {
    return task_.memory.fresh + static_cast<std::int64_t>(depth % 3) * vertices();
  }
  LANEWISE_FUNCTION queue<Vertex, Offset> list(std::int32_t depth) const {
    return {task_.memory.lists + static_cast<std::int64_t>(depth % 3) * vertices(),
            static_cast<Offset>(vertices()), counts_.listed + depth % 4};
  }
  LANEWISE_FUNCTION Offset listed(std::int32_t depth) const {
    return team_.warp().template load<order::relaxed, scope::device>(counts_.listed[depth % 4]);
  }
  template <class F>
  LANEWISE_FUNCTION void for_each_listed(std::int32_t depth, const F& f) const {
    const auto warp = team_.warp();
    const auto from = list(depth);
    detail::for_each_window_of(team_, static_cast<std::int64_t>(listed(depth)),
                               [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
                                 f(there, warp.load(there, from.items + at, Vertex{0}));
                               });
  }
  template <class T>
  LANEWISE_FUNCTION void fill(T* items, std::int64_t n, T x) const {
    detail::for_each_window_of(team_, n,
                               [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
                                 team_.warp().store(there, items + at, lanes<T>(x));
                               });
  }

  LANEWISE_FUNCTION bool is_done() const {
    if (depth_ >= task_.most_depth) return true;
    return is_bottom_up_ ? listed(depth_) == 0 : frontier_.edges() == 0;
  }
  /// Bottom up all edges are looked at, but cost less, and many vertices stop early.
  LANEWISE_FUNCTION bool pays_bottom_up() const {
    if (task_.into.begins == nullptr) return false;
    return is_bottom_up_ ? listed(depth_) > task_.out.vertices / 32
                         : frontier_.edges() > task_.out.edges / 16;
  }
  /// If searches have little in common in each of the first few levels, they begin anew, apart. A
  /// few vertices of a level decide that; all warps look at them.
  LANEWISE_FUNCTION bool parts() {
    if (!is_lonely_ || depth_ > patience) return false;
    const auto warp = team_.warp();
    const Offset number = listed(depth_);
    const auto there = warp.first(number);
    const auto fresh = warp.gather(
        there, fresh_of(depth_), warp.load(there, list(depth_).items, Vertex{0}), std::uint64_t{0});
    const auto searches =
        warp.reduce(warp.map(
                        [](std::uint64_t b) -> std::uint32_t {
                          return static_cast<std::uint32_t>(warp_type::popcount(b));
                        },
                        fresh),
                    plus{});
    is_lonely_ = searches < static_cast<std::uint32_t>(searches_that_pay * warp.count(there));
    if (!is_lonely_ || depth_ < patience) return false;
    if (team_.index() == 0 && team_.warp_index() == 0)
      warp.template store<order::relaxed, scope::device>(task_.memory.to_do[0], wanted_);
    return true;
  }

  LANEWISE_FUNCTION void begin() {
    detail::for_each_window_of(
        team_, task_.searches,
        [&](std::int64_t at, const mask_type& window) LANEWISE_INLINE_LAMBDA {
          const auto warp = team_.warp();
          const mask_type there[1] = {window & warp.template mask_of<std::uint32_t>(
                                                   static_cast<std::uint32_t>(wanted_ >> at))};
          const lanes<Vertex> vertex[1] = {warp.load(there[0], task_.sources + at, no_vertex)};
          mask_type open[1];
          task_.out.only_vertices(warp, there, vertex, task_.errors, open);
          const words bit[1] = {warp.map(
              [at](std::uint32_t l) -> std::uint64_t { return std::uint64_t{1} << (at + l); },
              warp.lane())};
          frontier_.add(open, vertex, bit, *this);
        });
    frontier_.visit_all_ends(*this);
  }
  /// A vertex at a time, by the warp: its levels lie side by side. Returns the bits of all of this
  /// level that this warp's lanes have met.
  LANEWISE_FUNCTION words write_levels() const {
    words met(std::uint64_t{0});
    for_each_listed(depth_, [&](const mask_type& there,
                                const lanes<Vertex>& vertex) LANEWISE_INLINE_LAMBDA {
      const auto warp = team_.warp();
      const words fresh = warp.gather(there, fresh_of(depth_), vertex, std::uint64_t{0});
      met = met | fresh;
      for (auto todo = warp.ballot(there); todo != 0; todo &= todo - 1) {
        const int l = warp_type::lowest(todo);
        const auto bits = warp.broadcast(fresh, l);
        std::int32_t* const levels =
            task_.levels + static_cast<std::int64_t>(warp.broadcast(vertex, l)) * task_.searches;
        for (int part = 0; part < task_.searches; part += width)
          warp.store(warp.template mask_of<std::uint32_t>(static_cast<std::uint32_t>(bits >> part)),
                     levels + part, lanes<std::int32_t>(depth_));
      }
    });
    return met;
  }
  /// What the level before has left. Nobody reads these words now. They are written in the next
  /// level.
  LANEWISE_FUNCTION void clear() const {
    const auto warp = team_.warp();
    for_each_listed(depth_ - 1, [&](const mask_type& there,
                                    const lanes<Vertex>& vertex) LANEWISE_INLINE_LAMBDA {
      warp.scatter(there, fresh_of(depth_ - 1), vertex, words(std::uint64_t{0}));
    });
    if (team_.index() != 0 || team_.warp_index() != 0) return;
    const int next = (depth_ + 2) % 4;
    warp.template store<order::relaxed, scope::device>(counts_.listed[next], Offset{0});
    warp.template store<order::relaxed, scope::device>(counts_.alive[next], std::uint64_t{0});
  }

  LANEWISE_FUNCTION void go_top_down() {
    if (is_bottom_up_) {
      is_bottom_up_ = false;
      for_each_listed(
          depth_, [&](const mask_type& there, const lanes<Vertex>& vertex) LANEWISE_INLINE_LAMBDA {
            frontier_.push(there, vertex, task_.out.of(team_.warp(), there, vertex));
          });
      frontier_.end_round(0);
    }
    frontier_.visit_edges(1, *this);
    frontier_.end_round(0);
  }

  /// met: what write_levels has returned. Searches that reach nothing any more would keep vertices
  /// looking.
  LANEWISE_FUNCTION void go_bottom_up(const words& met) {
    const auto warp = team_.warp();
    std::uint64_t& alive = counts_.alive[depth_ % 4];
    if (const std::uint64_t mine = detail::bits_of_all(warp, met); mine != 0)
      warp.fetch_or(alive, mine);
    frontier_.all_reduce();
    is_bottom_up_ = true;
    alive_ = warp.template load<order::relaxed, scope::device>(alive);
    detail::for_each_window_of(team_, vertices(),
                               [&](std::int64_t at, const mask_type& there)
                                   LANEWISE_INLINE_LAMBDA { look_for_bits(at, there); });
    frontier_.end_round(0);
    frontier_.visit_edges(1, *this);
    frontier_.end_round(0);
  }
  LANEWISE_FUNCTION void look_for_bits(std::int64_t at, const mask_type& there) {
    const auto warp = team_.warp();
    const words seen = warp.load(there, task_.memory.seen + at, ~std::uint64_t{0});
    const words missing = ~seen & words(alive_);
    const mask_type open = detail::has_bits(warp, missing);
    if (!warp.any(open)) return;
    const auto vertex =
        warp.template cast<Vertex>(warp.lane()) + lanes<Vertex>(static_cast<Vertex>(at));
    const auto row = task_.into.of(warp, open, vertex);
    const auto end = row.begin + row.length;
    const auto found =
        neighbour_words<warp_type, Vertex, Offset>(warp, task_.into, fresh_of(depth_))
            .find(missing, row.begin, end);
    const mask_type fresh = detail::has_bits(warp, found.bits);
    if (warp.any(fresh)) {
      warp.store(fresh, task_.memory.seen + at, seen | found.bits);
      warp.store(fresh, fresh_of(depth_ + 1) + at, found.bits);
      list(depth_ + 1).push(warp, fresh, vertex);
    }
    const mask_type left =
        open & (found.next < end) & detail::has_bits(warp, missing & ~found.bits);
    if (warp.any(left))
      frontier_.push(left, vertex,
                     typename graph_rows<Vertex, Offset>::template ranges<warp_type>{
                         found.next, end - found.next});
  }
  /// The rest of long rows.
  LANEWISE_FUNCTION void look_back(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                                   const lanes<Offset> (&edge)[at_once], mask_type (&open)[at_once],
                                   lanes<Vertex> (&to)[at_once], words (&value)[at_once]) const {
    const auto warp = team_.warp();
    const words missing =
        words(alive_) & ~warp.load_relaxed(there[0], task_.memory.seen, from, ~std::uint64_t{0});
    const mask_type looking = detail::has_bits(warp, missing);
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      const auto neighbour =
          warp.gather(there[k] & looking, task_.into.columns, edge[k], no_vertex);
      value[k] = missing & warp.gather(neighbour < task_.into.vertices, fresh_of(depth_), neighbour,
                                       std::uint64_t{0});
      to[k] = from;
      open[k] = detail::has_bits(warp, value[k]);
    }
  }

  const Team& team_;
  const task& task_;
  bool is_last_;
  shared_counts<Offset> counts_;
  std::uint64_t wanted_;     // searches of this launch
  std::uint64_t alive_ = 0;  // searches that reach anything still, in a level bottom up
  std::int32_t depth_ = -1;
  bool is_bottom_up_ = false;  // this level, and between levels the one before
  bool is_lonely_ = true;      // so far
  frontier_type frontier_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
