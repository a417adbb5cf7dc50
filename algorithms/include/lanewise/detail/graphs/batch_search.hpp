// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/graphs/frontier.hpp>
#include <lanewise/detail/graphs/windows_of_items.hpp>
#include <lanewise/queue.hpp>
#include <lanewise/status.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a batch of searches has in memory. Up to lists, all is zero before the launch.
template <class Vertex, class Offset>
struct batch_memory {
  frontier_memory<Vertex, Offset> frontier;
  Offset* list_counts;   // 4, by turns
  std::uint64_t* seen;   // a word for each vertex: a bit for each search that has reached it
  std::uint64_t* fresh;  // 3 by turns: those that reached it in one level
  Vertex* lists;         // 3 by turns: vertices that have fresh bits
};

template <class Vertex, class Offset>
struct batch_task {
  graph_rows<Vertex, Offset> rows;
  const Vertex* sources;
  int searches;
  std::int32_t* levels;  // searches for each vertex
  std::int32_t most_depth;
  batch_memory<Vertex, Offset> memory;
  status* errors;
};

/// Up to 64 breadth-first searches at once: a vertex has a bit for each, and an edge takes all bits
/// along that its vertex has got in the last level. Who sets a bit first brings it into the
/// vertex's word of fresh bits, and who brings the first of these lists the vertex. Fresh words and
/// lists are three by turns: those of the next level are written while those of this level are read
/// and those of the level before become 0 again. So teams meet once for each level.
template <class Team, class Vertex, class Offset>
class batch_search {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = typename warp_type::template lanes<T>;
  using words = lanes<std::uint64_t>;
  using mask_type = typename warp_type::template mask_for<std::uint32_t>;
  using frontier_type = frontier<Team, Vertex, Offset, std::uint64_t>;
  static constexpr int at_once = frontier_type::at_once;
  static constexpr Vertex nobody = static_cast<Vertex>(~Vertex{0});

 public:
  using task = batch_task<Vertex, Offset>;
  struct scratch {
    typename frontier_type::scratch frontier;
  };

  LANEWISE_FUNCTION batch_search(const Team& team, scratch& shared, const task& t)
      : team_(team), task_(t), frontier_(team, shared.frontier, t.memory.frontier, t.rows) {}

  LANEWISE_FUNCTION void run() {
    init();
    begin();
    frontier_.meet(0);
    for (;;) {
      ++depth_;
      write_levels();
      if (frontier_.edges() == 0 || depth_ >= task_.most_depth) return;
      if (depth_ > 0) clear();
      frontier_.visit_edges(1, *this);
      frontier_.meet(0);
    }
  }

  // What a frontier asks of a search. An edge brings the bits of searches.
  LANEWISE_FUNCTION void look(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                              const lanes<Offset> (&edge)[at_once], mask_type (&open)[at_once],
                              lanes<Vertex> (&to)[at_once], words (&value)[at_once]) const {
    const auto warp = team_.warp();
    const words mine = warp.gather(there[0], fresh_of(depth_), from, std::uint64_t{0});
    mask_type bad = warp.first(0);
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      to[k] = warp.gather(there[k], task_.rows.columns, edge[k], nobody);
      open[k] = there[k] & (to[k] < task_.rows.vertices);
      bad = bad | (there[k] & !open[k]);
    }
    if (warp.any(bad)) {
      int number = 0;
      for (int k = 0; k < at_once; ++k) number += warp.count(there[k] & !open[k]);
      count_bad(number);
    }
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      value[k] = mine & ~warp.load_relaxed(open[k], task_.memory.seen, to[k], ~std::uint64_t{0});
      open[k] = open[k] & has_bits(value[k]);
    }
  }
  LANEWISE_FUNCTION mask_type claim(const mask_type& active, const lanes<Vertex>& vertex,
                                    const words& bits) const {
    const auto warp = team_.warp();
    const words mine = bits & ~warp.fetch_or(active, task_.memory.seen, vertex, bits);
    const mask_type open = active & has_bits(mine);
    const words before = warp.fetch_or(open, fresh_of(depth_ + 1), vertex, mine);
    const mask_type first = open & !has_bits(before);
    list(depth_ + 1).push(warp, first, vertex);
    return first;
  }

 private:
  LANEWISE_FUNCTION mask_type has_bits(const words& x) const {
    return team_.warp().map([](std::uint64_t b) -> std::uint32_t { return b != 0; }, x) != 0u;
  }
  LANEWISE_FUNCTION void count_bad(int number) const {
    if (number != 0 && task_.errors != nullptr)
      team_.warp().fetch_add(task_.errors->bad_items, static_cast<std::uint64_t>(number));
  }
  LANEWISE_FUNCTION std::uint64_t* fresh_of(std::int32_t depth) const {
    return task_.memory.fresh + static_cast<std::int64_t>(depth % 3) * vertices();
  }
  LANEWISE_FUNCTION queue<Vertex, Offset> list(std::int32_t depth) const {
    return {task_.memory.lists + static_cast<std::int64_t>(depth % 3) * vertices(),
            static_cast<Offset>(vertices()), task_.memory.list_counts + depth % 4};
  }
  LANEWISE_FUNCTION std::int64_t vertices() const {
    return static_cast<std::int64_t>(task_.rows.vertices);
  }
  template <class F>
  LANEWISE_FUNCTION void for_each_listed(std::int32_t depth, const F& f) const {
    const auto warp = team_.warp();
    const auto from = list(depth);
    const auto count = warp.template load<order::relaxed, scope::device>(*from.counter);
    for_each_window_of(team_, static_cast<std::int64_t>(count),
                       [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
                         f(there, warp.load(there, from.items + at, Vertex{0}));
                       });
  }

  LANEWISE_FUNCTION void init() const {
    for_each_window_of(team_, vertices() * task_.searches,
                       [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
                         team_.warp().store(there, task_.levels + at, lanes<std::int32_t>(-1));
                       });
  }
  LANEWISE_FUNCTION void begin() {
    for_each_window_of(
        team_, task_.searches, [&](std::int64_t at, const mask_type& there) LANEWISE_INLINE_LAMBDA {
          const auto warp = team_.warp();
          const lanes<Vertex> vertex[1] = {warp.load(there, task_.sources + at, nobody)};
          const mask_type open[1] = {there & (vertex[0] < task_.rows.vertices)};
          count_bad(warp.count(there & !open[0]));
          const words bit[1] = {warp.map(
              [at](std::uint32_t l) -> std::uint64_t { return std::uint64_t{1} << (at + l); },
              warp.lane())};
          frontier_.add(open, vertex, bit, *this);
        });
    frontier_.claim_all(*this);
  }
  /// A vertex at a time, by the warp: its levels lie side by side.
  LANEWISE_FUNCTION void write_levels() const {
    for_each_listed(depth_, [&](const mask_type& there,
                                const lanes<Vertex>& vertex) LANEWISE_INLINE_LAMBDA {
      const auto warp = team_.warp();
      const words fresh = warp.gather(there, fresh_of(depth_), vertex, std::uint64_t{0});
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
  }
  /// What the level before has left.
  LANEWISE_FUNCTION void clear() const {
    for_each_listed(depth_ - 1, [&](const mask_type& there,
                                    const lanes<Vertex>& vertex) LANEWISE_INLINE_LAMBDA {
      team_.warp().scatter(there, fresh_of(depth_ - 1), vertex, words(std::uint64_t{0}));
    });
    // Nobody reads this one now. It is written in the next level.
    if (team_.index() == 0 && team_.warp_index() == 0)
      team_.warp().template store<order::relaxed, scope::device>(
          task_.memory.list_counts[(depth_ + 2) % 4], Offset{0});
  }

  const Team& team_;
  const task& task_;
  frontier_type frontier_;
  std::int32_t depth_ = -1;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
