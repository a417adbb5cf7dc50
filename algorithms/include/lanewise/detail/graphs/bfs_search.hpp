// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/graphs/frontier.hpp>
#include <lanewise/detail/graphs/neighbours.hpp>
#include <lanewise/detail/graphs/relaxation.hpp>
#include <lanewise/detail/graphs/windows_of_items.hpp>
#include <lanewise/status.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What a search has in memory. bits[0] is zero before the launch.
template <class Vertex, class Offset>
struct bfs_memory {
  frontier_memory<Vertex, Offset> frontier;
  std::uint32_t* bits[2];  // a bit for each vertex that is reached; by turns
  std::uint32_t* depths;   // null: levels are asked for
};

template <class Vertex, class Offset>
struct bfs_task {
  graph_rows<Vertex, Offset> out;
  graph_rows<Vertex, Offset> into;  // without begins: not known
  const Vertex* sources;            // null: one_source
  std::int64_t source_count;
  Vertex one_source;
  std::int32_t* levels;  // null, or for results
  Vertex* parents;
  std::int32_t most_depth;
  bfs_memory<Vertex, Offset> memory;
  status* errors;
};

/// Breadth-first search from one vertex or several, by teams that are all resident and meet after
/// each step. The steps:
///
/// begin      the sources are the first frontier
/// top_down   each edge of the frontier leads to a vertex, whose bit is set by an atomic operation;
///            who sets it first lists the vertex's row for the next level
/// bottom_up  each vertex that is not reached looks for a neighbour that is. As all levels so far
///            are done, such a neighbour is in the frontier. So the bits of reached vertices are
///            all that is needed; new ones are written to other words, which become the next bits
/// list       what was reached bottom up becomes a frontier of rows
/// others     vertices without a bit are not reached, the end, but for
/// deep       many levels of few edges: what is left is searched by relaxation, as shortest paths
///            are. Warps need not meet after each level then
/// parents    of what was reached deep: a neighbour whose level is one less
///
/// Whoever reaches a vertex writes its level and parent.
template <class Team, class Vertex, class Offset>
class bfs_search {
  using warp_type = typename Team::warp_type;
  static constexpr int width = warp_type::width;
  template <class T>
  using lanes = typename warp_type::template lanes<T>;
  using words = lanes<std::uint32_t>;
  using mask_type = typename warp_type::template mask_for<std::uint32_t>;
  using rows = graph_rows<Vertex, Offset>;
  using frontier_type = frontier<Team, Vertex, Offset, Vertex>;
  using piece = typename frontier_type::piece;
  using relaxation_type = relaxation<Team, Vertex, Offset, unit_edges, Vertex>;
  static constexpr int at_once = frontier_type::at_once;
  static constexpr Vertex nobody = static_cast<Vertex>(~Vertex{0});

 public:
  using task = bfs_task<Vertex, Offset>;
  struct scratch {
    typename frontier_type::scratch frontier;
  };

  LANEWISE_FUNCTION bfs_search(const Team& team, scratch& shared, const task& t)
      : team_(team),
        task_(t),
        edges_left_(t.out.edges),
        frontier_(team, shared.frontier, t.memory.frontier, t.out),
        relaxation_(team, t.out, {}, depths(), t.errors) {}

  LANEWISE_FUNCTION void run() {
    for (step s = step::begin; s != step::end; s = next(s)) {
      switch (s) {
        case step::begin:
          begin();
          break;
        case step::top_down:
        case step::deep:
          relaxation_.begin_round(frontier_.edges());
          frontier_.visit_edges(is_deep_ ? relaxation_.steps() : 1, *this);
          break;
        case step::bottom_up:
          go_bottom_up();
          break;
        case step::list:
          list_frontier();
          break;
        case step::others:
          write_others();
          break;
        default:
          find_parents();
      }
      meet(s);
    }
  }

  // What a frontier asks of a search. What an edge brings is where it comes from, or deep how many
  // edges from a source.
  LANEWISE_FUNCTION void look(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                              const lanes<Offset> (&edge)[at_once], mask_type (&open)[at_once],
                              lanes<Vertex> (&to)[at_once], lanes<Vertex> (&value)[at_once]) const {
    if (is_deep_) return relaxation_.look(there, from, edge, open, to, value);
    const auto warp = team_.warp();
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k) {
      to[k] = warp.gather(there[k], task_.out.columns, edge[k], nobody);
      value[k] = from;
    }
    only_vertices(there, to, open);
    // Where frontiers are wide, most bits are set, and a read is cheaper.
    LANEWISE_UNROLL
    for (int k = 0; k < at_once; ++k)
      open[k] = open[k] & !is_reached<true>(warp, bits(), open[k], to[k]);
  }
  LANEWISE_FUNCTION mask_type claim(const mask_type& active, const lanes<Vertex>& vertex,
                                    const lanes<Vertex>& value) const {
    const auto warp = team_.warp();
    if (is_deep_) {
      const auto depth = warp.template cast<std::uint32_t>(value);
      return relaxation_.lower(active, vertex, depth) &
             (depth < static_cast<std::uint32_t>(task_.most_depth));
    }
    const auto bit =
        warp.map([](Vertex v) -> std::uint32_t { return std::uint32_t{1} << (v % 32); }, vertex);
    const auto before =
        warp.fetch_or(active, bits(),
                      warp.map([](Vertex v) { return static_cast<Vertex>(v / 32); }, vertex), bit);
    const mask_type fresh = active & ((before & bit) == 0u);
    record(fresh, vertex, value, depth_ + 1);
    return fresh;
  }

 private:
  enum class step { begin, top_down, bottom_up, list, others, deep, parents, end };

  static constexpr std::uint32_t alpha = 14;
  static constexpr std::int64_t word_batch = 8;  // words of bits that a warp takes
  static constexpr std::uint32_t thin_edges_of_warp = 4;
  static constexpr int patience = 64;  // thin levels before a search goes deep

  LANEWISE_FUNCTION bool is_thin() const {
    return frontier_.edges() <= thin_edges_of_warp * team_.league() * Team::warps;
  }
  LANEWISE_FUNCTION bool pays_bottom_up() const {
    return task_.into.begins != nullptr && frontier_.edges() > edges_left_ / alpha && !is_thin();
  }
  LANEWISE_FUNCTION bool is_done() const {
    return frontier_.edges() == 0 || depth_ >= task_.most_depth;
  }
  LANEWISE_FUNCTION std::uint32_t* bits() const { return bits_of(side_); }
  LANEWISE_FUNCTION std::uint32_t* bits_of(int side) const {
    return side != 0 ? task_.memory.bits[1] : task_.memory.bits[0];
  }
  /// Levels are numbers without sign here, the greatest of which are not reached.
  LANEWISE_FUNCTION std::uint32_t* depths() const {
    return task_.levels != nullptr ? reinterpret_cast<std::uint32_t*>(task_.levels)
                                   : task_.memory.depths;
  }

  /// What comes behind a step. All teams know the same.
  LANEWISE_FUNCTION step next(step s) const {
    if (s == step::parents) return step::end;
    if (s == step::others) return is_done() ? step::end : step::deep;
    if (s == step::deep) {
      if (frontier_.edges() != 0) return step::deep;
      return task_.parents != nullptr ? step::parents : step::end;
    }
    if (is_done()) return step::others;
    if (pays_bottom_up()) return step::bottom_up;
    if (s == step::bottom_up) return step::list;
    return thin_levels_ >= patience ? step::others : step::top_down;
  }

  LANEWISE_FUNCTION void meet(step s) {
    if (s == step::others) {
      if (is_done()) return;
      is_deep_ = true;
      frontier_.list_once();
      frontier_.wait();
      return;
    }
    frontier_.meet(s == step::deep ? relaxation_.kept() : 0);
    if (s == step::list || s == step::deep) return;
    const Offset edges = frontier_.edges();
    edges_left_ -= edges < edges_left_ ? edges : edges_left_;
    ++depth_;
    thin_levels_ = is_thin() ? thin_levels_ + 1 : 0;
  }

  LANEWISE_FUNCTION void begin() {
    const auto warp = team_.warp();
    for_each_window_of(
        team_, task_.source_count,
        [&](std::int64_t at, const mask_type& window) LANEWISE_INLINE_LAMBDA {
          const mask_type there[1] = {window};
          const lanes<Vertex> vertex[1] = {task_.sources == nullptr
                                               ? lanes<Vertex>(task_.one_source)
                                               : warp.load(window, task_.sources + at, nobody)};
          mask_type open[1];
          only_vertices(there, vertex, open);
          frontier_.add(open, vertex, vertex, *this);
        });
    frontier_.claim_all(*this);
  }
  LANEWISE_FUNCTION std::int64_t warp_rank() const {
    return std::int64_t{team_.index()} * Team::warps + team_.warp_index();
  }

  /// The active lanes with a vertex that there is. Others are counted.
  template <int k>
  LANEWISE_FUNCTION void only_vertices(const mask_type (&there)[k],
                                       const lanes<Vertex> (&vertex)[k],
                                       mask_type (&valid)[k]) const {
    const auto warp = team_.warp();
    mask_type bad = warp.first(0);
    LANEWISE_UNROLL
    for (int i = 0; i < k; ++i) {
      valid[i] = there[i] & (vertex[i] < task_.out.vertices);
      bad = bad | (there[i] & !valid[i]);
    }
    if (!warp.any(bad) || task_.errors == nullptr) return;
    int count = 0;
    for (int i = 0; i < k; ++i) count += warp.count(there[i] & !valid[i]);
    warp.fetch_add(task_.errors->bad_items, static_cast<std::uint64_t>(count));
  }
  template <class Mask>
  LANEWISE_FUNCTION void record(const Mask& mask, const lanes<Vertex>& vertex,
                                const lanes<Vertex>& parent, std::int32_t depth) const {
    const auto warp = team_.warp();
    if (task_.levels != nullptr)
      warp.scatter(mask, task_.levels, vertex, lanes<std::int32_t>(depth));
    if (task_.parents != nullptr) warp.scatter(mask, task_.parents, vertex, parent);
  }

  LANEWISE_FUNCTION void go_bottom_up() {
    const std::uint32_t* before = bits();
    side_ = 1 - side_;
    auto edges = lanes<std::uint64_t>(std::uint64_t{0});
    for_each_word_batch([&](std::int64_t first, const mask_type& there) LANEWISE_INLINE_LAMBDA {
      const auto warp = team_.warp();
      const auto old = warp.load(there, before + first, ~0u);
      auto now = old;
      for (auto todo = warp.ballot(old != ~0u); todo != 0; todo &= todo - 1) {
        const int l = warp_type::lowest(todo);
        const std::uint32_t word =
            look_for_neighbours(before, first + l, warp.broadcast(old, l), edges);
        now = select(warp.lane() == static_cast<std::uint32_t>(l), words(word), now);
      }
      warp.store(there, bits() + first, now);
    });
    frontier_.count(team_.warp().reduce(edges, plus{}));
  }
  /// Calls f(first, mask) for a few words of bits at a time, those that are this warp's.
  template <class F>
  LANEWISE_FUNCTION void for_each_word_batch(const F& f) const {
    const std::int64_t count = divide_up(static_cast<std::int64_t>(task_.out.vertices), 32);
    const std::int64_t step = std::int64_t{team_.league()} * Team::warps * word_batch;
    for (std::int64_t first = warp_rank() * word_batch; first < count; first += step) {
      const std::int64_t left = count - first;
      f(first, team_.warp().first(static_cast<int>(left < word_batch ? left : word_batch)));
    }
  }
  LANEWISE_FUNCTION lanes<Vertex> vertices_of(std::int64_t word) const {
    return team_.warp().template cast<Vertex>(team_.warp().lane()) +
           lanes<Vertex>(static_cast<Vertex>(word * 32));
  }
  /// The vertices of a word that have a neighbour with a bit are reached. Returns the word's new
  /// bits. Vertices without edges have one then, too, so that nobody looks at them again.
  LANEWISE_FUNCTION std::uint32_t look_for_neighbours(const std::uint32_t* before, std::int64_t at,
                                                      std::uint32_t word,
                                                      lanes<std::uint64_t>& found) const {
    const auto warp = team_.warp();
    const auto vertex = vertices_of(at);
    const auto open = warp.template mask_of<std::uint32_t>(~word) & (vertex < task_.out.vertices);
    const auto row = task_.into.of(warp, open, vertex);
    const auto parent = find_reached(warp, task_.into, before, open, row, nobody);
    const auto reached = open & (parent != nobody);
    if (warp.any(reached)) {
      record(reached, vertex, parent, depth_ + 1);
      const auto edges = are_same() ? row.length : task_.out.of(warp, reached, vertex).length;
      found = found +
              warp.template cast<std::uint64_t>(select(reached, edges, lanes<Offset>(Offset{0})));
    }
    const auto none = open & (row.length == Offset{0});
    return word | warp.ballot(reached) | (warp.any(none) ? without_edges(none, vertex) : 0);
  }
  LANEWISE_FUNCTION bool are_same() const { return task_.out.begins == task_.into.begins; }
  /// Which of the active lanes' vertices, into which no edge leads, have none at all.
  LANEWISE_FUNCTION std::uint32_t without_edges(const mask_type& mask,
                                                const lanes<Vertex>& vertex) const {
    const auto warp = team_.warp();
    const auto none =
        are_same() ? mask : mask & (task_.out.of(warp, mask, vertex).length == Offset{0});
    record(none, vertex, lanes<Vertex>(nobody), -1);
    return warp.ballot(none);
  }

  /// What the last level has reached bottom up becomes a frontier of rows.
  LANEWISE_FUNCTION void list_frontier() {
    for_each_word_batch([&](std::int64_t first, const mask_type& there) LANEWISE_INLINE_LAMBDA {
      const auto warp = team_.warp();
      const auto fresh =
          warp.load(there, bits() + first, 0u) & ~warp.load(there, bits_of(1 - side_) + first, 0u);
      for (auto todo = warp.ballot(fresh != 0u); todo != 0; todo &= todo - 1) {
        const int l = warp_type::lowest(todo);
        const auto vertex = vertices_of(first + l);
        const mask_type mask = warp.template mask_of<std::uint32_t>(warp.broadcast(fresh, l)) &
                               (vertex < task_.out.vertices);
        frontier_.push(mask, vertex, task_.out.of(warp, mask, vertex));
      }
    });
  }

  /// Vertices that nobody has reached. Where the search goes on, all get a depth, and are not in
  /// any list.
  LANEWISE_FUNCTION void write_others() const {
    const bool goes_on = !is_done();
    for_each_word_batch([&](std::int64_t first, const mask_type& there) LANEWISE_INLINE_LAMBDA {
      const auto warp = team_.warp();
      const auto open = ~warp.load_relaxed(there, bits() + first, warp.lane(), ~0u);
      for (auto todo = warp.ballot(goes_on ? there : there & (open != 0u)); todo != 0;
           todo &= todo - 1) {
        const int l = warp_type::lowest(todo);
        const auto vertex = vertices_of(first + l);
        const mask_type valid = vertex < task_.out.vertices;
        const mask_type others = warp.template mask_of<std::uint32_t>(warp.broadcast(open, l));
        record(others & valid, vertex, lanes<Vertex>(nobody), -1);
        if (goes_on) prepare(valid, others, vertex);
      }
    });
  }
  LANEWISE_FUNCTION void prepare(const mask_type& valid, const mask_type& others,
                                 const lanes<Vertex>& vertex) const {
    const auto warp = team_.warp();
    warp.scatter(valid, task_.memory.frontier.listed, vertex, words(0u));
    // No depth of those that are reached is lowered any more.
    if (task_.levels == nullptr)
      warp.scatter(
          valid, depths(), vertex,
          select(others, words(unit_edges::none()), words(static_cast<std::uint32_t>(depth_))));
  }

  /// Rows of what was reached deep, and of the frontier before.
  LANEWISE_FUNCTION void find_parents() {
    for_each_word_batch([&](std::int64_t first, const mask_type& there) LANEWISE_INLINE_LAMBDA {
      const auto warp = team_.warp();
      for (auto todo = warp.ballot(there); todo != 0; todo &= todo - 1) {
        const auto vertex = vertices_of(first + warp_type::lowest(todo));
        const auto depth = warp.gather(vertex < task_.out.vertices, depths(), vertex, 0u);
        const mask_type open = (depth >= static_cast<std::uint32_t>(depth_)) & (depth != ~0u);
        if (!warp.any(open)) continue;
        const auto row = task_.out.of(warp, open, vertex);
        frontier_.for_each_edge_of(warp.map(
                                       [](Offset b, Offset l, Vertex v) {
                                         return piece{b, l, v};
                                       },
                                       row.begin, row.length, vertex),
                                   parent_of{*this});
      }
    });
  }
  struct parent_of {
    const bfs_search& search;
    LANEWISE_FUNCTION void operator()(const mask_type (&there)[at_once], const lanes<Vertex>& from,
                                      const lanes<Offset> (&edge)[at_once]) const {
      const auto warp = search.team_.warp();
      const auto& t = search.task_;
      const auto next = warp.gather(there[0], search.depths(), from, 0u) + words(1u);
      for (int k = 0; k < at_once; ++k) {
        const auto to = warp.gather(there[k], t.out.columns, edge[k], nobody);
        const mask_type valid = there[k] & (to < t.out.vertices);
        const auto depth = warp.gather(valid, search.depths(), to, 0u);
        warp.fetch_min(valid & (depth == next), t.parents, to, from);
      }
    }
  };

  const Team& team_;
  const task& task_;
  std::int32_t depth_ = -1;  // of the frontier
  bool is_deep_ = false;
  int thin_levels_ = 0;  // one after the other
  Offset edges_left_;    // from vertices that are not reached yet
  int side_ = 0;
  frontier_type frontier_;
  relaxation_type relaxation_;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
