// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/call/status.hpp>
#include <lanewise/graphs/detail/graph_rows.hpp>
#include <lanewise/league/queue.hpp>
#include <lanewise/team/policy.hpp>
#include <lanewise/tile/expansion.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

// Rows of edges as ranges of expansion_t: item i of a range is an edge.

/// Whose an item is: edge item + shift leads from this vertex.
template <class Vertex>
struct edge_owner {
  std::int64_t shift;
  Vertex from;
};

/// How many edges lead from a vertex: -1 where it is none, 0 where its row is none.
template <class Vertex, class Offset>
struct row_length {
  graph_rows<Vertex, Offset> rows;

  LANEWISE_FUNCTION std::int64_t operator()(Vertex v) const {
    if (v >= rows.vertices) return -1;
    const Offset begin = rows.begins[v], end = rows.begins[v + 1];
    return end < begin || end > rows.edges ? 0 : static_cast<std::int64_t>(end - begin);
  }
};

/// The rows of vertices in a list. `ends` says where each row ends in all their edges.
template <class Frontier, class Vertex, class Offset>
struct rows_of_list {
  Frontier frontier;
  graph_rows<Vertex, Offset> rows;
  item_count n;
  const std::int64_t* ends;

  struct ranges {
    const rows_of_list& list;
    std::int64_t count;
    std::int64_t items;

    LANEWISE_FUNCTION std::int64_t end(std::int64_t r) const { return list.ends[r]; }
    /// The ends as they are in memory, and the number that is added to them there.
    LANEWISE_FUNCTION const std::int64_t* ends() const { return list.ends; }
    LANEWISE_FUNCTION std::int64_t origin() const { return 0; }
    LANEWISE_FUNCTION edge_owner<Vertex> owner(std::int64_t r) const {
      const auto v = static_cast<Vertex>(list.frontier(r));
      if (v >= list.rows.vertices) return {0, 0};
      return {static_cast<std::int64_t>(list.rows.begins[v]) - (r > 0 ? list.ends[r - 1] : 0), v};
    }
  };
  LANEWISE_FUNCTION ranges open() const {
    const std::int64_t count = n();
    return {*this, count, count > 0 ? ends[count - 1] : 0};
  }
};

/// The rows of the first vertices: where one begins, the one in front ends.
template <class Vertex, class Offset>
struct rows_in_order {
  graph_rows<Vertex, Offset> rows;
  item_count n;

  struct ranges {
    const graph_rows<Vertex, Offset>& rows;
    std::int64_t count;
    std::int64_t first;
    std::int64_t items;

    LANEWISE_FUNCTION std::int64_t end(std::int64_t r) const {
      const std::int64_t e = offset(rows, r + 1);
      return e < first ? 0 : e - first;
    }
    LANEWISE_FUNCTION const Offset* ends() const { return rows.begins + 1; }
    LANEWISE_FUNCTION std::int64_t origin() const { return first; }
    LANEWISE_FUNCTION edge_owner<Vertex> owner(std::int64_t r) const {
      return {first, static_cast<Vertex>(r)};
    }
  };
  LANEWISE_FUNCTION ranges open() const {
    ranges all{rows, n(), 0, 0};
    if (all.count == 0) return all;
    all.first = offset(rows, 0);
    all.items = all.end(all.count - 1);
    return all;
  }

 private:
  static LANEWISE_FUNCTION std::int64_t offset(const graph_rows<Vertex, Offset>& rows,
                                               std::int64_t r) {
    const Offset at = rows.begins[r];
    return static_cast<std::int64_t>(at < rows.edges ? at : rows.edges);
  }
};

/// Nobody joins another frontier.
struct no_frontier {};

/// The vertices that a warp sends to a queue wait here until there is one for each lane: an atomic
/// operation for every few edges would be one too many.
template <class Team, class Queue>
class vertices_to_queue {
  static constexpr int width = Team::warp_type::width;
  using Vertex = typename Queue::value_type;

 public:
  struct scratch {
    Vertex vertex[Team::warps * 2 * width];
  };
  LANEWISE_FUNCTION vertices_to_queue(const Team& team, scratch& shared, const Queue& queue)
      : team_(team), mine_(shared.vertex + team.warp_index() * 2 * width), queue_(queue) {}

  template <class Mask, class Lanes>
  LANEWISE_FUNCTION void push(const Mask& active, const Lanes& vertex) {
    const auto warp = team_.warp();
    count_ += static_cast<int>(warp.compress_store(mine_ + count_, active, vertex));
    if (count_ < width) return;
    warp.fence();
    queue_.push(warp, warp.first(width), warp.load(mine_));
    const auto rest = warp.first(count_ - width);
    const auto left = warp.load(rest, mine_ + width, Vertex{0});
    warp.fence();
    warp.store(rest, mine_, left);
    warp.fence();
    count_ -= width;
  }
  /// One vertex, where `joins`, of a warp that is a thread: without a branch, as no processor can
  /// predict which vertex joins.
  LANEWISE_FUNCTION void push_one(bool joins, Vertex vertex) {
    mine_[count_] = vertex;
    count_ += joins ? 1 : 0;
    if (count_ < width) return;
    flush();
    count_ = 0;
  }
  LANEWISE_FUNCTION void flush() const {
    const auto warp = team_.warp();
    if (count_ == 0) return;
    warp.fence();
    const auto there = warp.first(count_);
    queue_.push(warp, there, warp.load(there, mine_, Vertex{0}));
  }

 private:
  const Team& team_;
  Vertex* mine_;
  Queue queue_;
  int count_ = 0;
};
template <class Team>
class vertices_to_queue<Team, no_frontier> {
 public:
  struct scratch {};
  LANEWISE_FUNCTION vertices_to_queue(const Team&, scratch&, const no_frontier&) {}
  LANEWISE_FUNCTION void flush() const {}
};

/// Calls f. Returns whether the vertex joins another frontier.
template <class V, class F>
LANEWISE_FUNCTION bool joins_next(const F& f, V from, V to, std::int64_t edge) {
  if constexpr (std::is_void_v<decltype(f(from, to, edge))>) {
    f(from, to, edge);
    return false;
  } else {
    return f(from, to, edge);
  }
}

/// Calls f(from, to, edge) for windows of edges, with vertices as V.
template <class V, class Vertex, class Offset, class F, class Next>
struct call_for_edges {
  const F& f;
  const graph_rows<Vertex, Offset>& rows;
  status* errors;
  Next& next;

  template <class W, class Mask, class Owners, class Items>
  LANEWISE_FUNCTION void operator()(const W& warp, const Mask& mask, const Owners& owner,
                                    const Items& item, std::int64_t) const {
    using mask_type = mask_t<W, std::uint32_t>;
    const mask_type here = mask;
    const auto edge = warp.map(
        [](const edge_owner<Vertex>& o, std::int64_t i) { return i + o.shift; }, owner, item);
    const auto to = warp.gather(here, rows.columns, edge, Vertex{0});
    const auto there = rows.only_vertices(warp, here, to, errors);
    const auto joins = warp.map(
        there,
        [this](const edge_owner<Vertex>& o, Vertex t, std::int64_t e) -> std::uint32_t {
          return call(static_cast<V>(o.from), static_cast<V>(t), e);
        },
        0u, owner, to, edge);
    if constexpr (requires { next.push(there, to); }) next.push(joins != 0u, to);
  }

 private:
  LANEWISE_FUNCTION std::uint32_t call(V from, V to, std::int64_t edge) const {
    return detail::joins_next(f, from, to, edge) ? 1 : 0;
  }
};

}  // namespace detail
LANEWISE_END_NAMESPACE
