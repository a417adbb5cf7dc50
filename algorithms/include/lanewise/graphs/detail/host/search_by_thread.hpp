// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/batch_memory.hpp>
#include <lanewise/graphs/detail/level_tiles.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Searches of a batch that are done apart by threads of hosts, each from its source by one thread.
/// The thread has levels and a queue of its own, which stay in its cache. Nothing is atomic, and no
/// thread waits. At the end the levels go to their tiles.
template <class Team, class Vertex, class Offset>
class searches_by_threads {
  using warp_type = typename Team::warp_type;
  static constexpr std::int64_t rows_ahead = 16;  // of the queue, whose begins are asked for

 public:
  using task = batch_task<Vertex, Offset>;
  struct scratch {};

  static LANEWISE_FUNCTION void run(const Team& team, scratch&, const task& t) {
    const auto searches = static_cast<std::uint32_t>(t.searches);
    if (t.memory.to_do[0] == 0) return;
    const std::uint32_t threads = team.league() < searches ? team.league() : searches;
    if (team.index() >= threads) return;
    searches_by_threads mine(team, t);
    for (std::uint32_t s = team.index(); s < searches; s += threads)
      if ((t.memory.to_do[0] >> s & 1) != 0) mine.search(static_cast<int>(s));
    if (mine.bad_ != 0 && t.errors != nullptr)
      team.warp().fetch_add(t.errors->bad_items, mine.bad_);
  }

 private:
  LANEWISE_FUNCTION searches_by_threads(const Team& team, const task& t)
      : task_(t),
        rows_(t.out),
        n_(static_cast<std::int64_t>(t.out.vertices)),
        level_(t.memory.own_levels + team.index() * n_),
        queue_(t.memory.own_queues + team.index() * (n_ + 1)) {}

  LANEWISE_FUNCTION void search(int which) {
    for (std::int64_t v = 0; v < n_; ++v) level_[v] = -1;
    std::int64_t at = 0, end = reach_all(task_.sources + which, 1, 0, 0);
    for (std::int32_t depth = 0; at < end && depth < task_.most_depth; ++depth) {
      std::int64_t queued = end;
      for (; at < end; ++at) {
        prefetch_rows(at, end);
        const Offset first = rows_.begins[queue_[at]], last = rows_.begins[queue_[at] + 1];
        if (first < last && last <= rows_.edges)
          queued = reach_all(rows_.columns + first, last - first, depth + 1, queued);
      }
      end = queued;
    }
    for (std::int64_t v = 0; v < n_; ++v)
      task_.levels[level_tiles{n_, task_.searches}.place(v, which)] = level_[v];
  }
  LANEWISE_FUNCTION void prefetch_rows(std::int64_t at, std::int64_t end) const {
    if (at + rows_ahead < end) warp_type::prefetch(rows_.begins + queue_[at + rows_ahead]);
    if (at + rows_ahead / 2 < end)
      warp_type::prefetch(rows_.columns + rows_.begins[queue_[at + rows_ahead / 2]]);
  }
  /// Appends those of `count` vertices that are new to a queue of `queued` vertices. Returns the
  /// new size. There is no branch, as no processor can predict which vertices are new.
  LANEWISE_FUNCTION std::int64_t reach_all(const Vertex* vertices, Offset count, std::int32_t depth,
                                           std::int64_t queued) {
    for (Offset i = 0; i < count; ++i) {
      const Vertex vertex = vertices[i];
      if (vertex >= rows_.vertices) {
        ++bad_;
        continue;
      }
      const std::int32_t before = level_[vertex];
      level_[vertex] = before < 0 ? depth : before;
      queue_[queued] = vertex;
      queued += before < 0;
    }
    return queued;
  }

  const task& task_;
  graph_rows<Vertex, Offset> rows_;
  std::int64_t n_;
  std::int32_t* level_;
  Vertex* queue_;  // and room for one more, which is written in vain
  std::uint64_t bad_ = 0;
};

}  // namespace detail
LANEWISE_END_NAMESPACE
