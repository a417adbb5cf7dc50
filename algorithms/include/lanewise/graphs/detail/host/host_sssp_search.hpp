// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/host/near_far_lists.hpp>
#include <lanewise/graphs/detail/sssp_task.hpp>
#include <lanewise/league/league_sums.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What such a search has in memory. The meetings are 0 before the launch.
template <class Vertex, class Bits>
struct host_sssp_memory {
  std::uint64_t* meetings;  // league_sums::words
  near_far_memory<Vertex, Bits> lists;
};

/// The search of sssp_search for threads of a host. Few threads have much to do each, and what they
/// wait for is memory. A thread goes through vertices, edges and ends of edges a batch at a time.
/// It prefetches all that a batch needs before it uses the first of it.
///
/// Threads go on with near vertices as long as there are any. So a range of
/// distances has two barriers, however many steps it takes.
template <class Team, class Vertex, class Offset, class Weight>
class host_sssp_search {
  using warp_type = typename Team::warp_type;
  using distance = distances<Weight>;
  using bits = typename distance::bits;
  using memory = host_sssp_memory<Vertex, bits>;
  using lists_type = near_far_lists<Team, Vertex, Weight>;
  static constexpr int ends_room = 256;
  static constexpr int most_deltas = 4;
  static constexpr int patience = 32;
  static constexpr std::uint64_t small_range_of_thread = 2048;  // vertices

  struct end_type {
    Vertex vertex;
    bits sum;
  };

 public:
  using task = sssp_task<Vertex, Offset, Weight, memory>;
  struct scratch {
    league_sums::scratch<Team> sums;
    typename lists_type::scratch lists;
    end_type ends[ends_room];
  };

  LANEWISE_FUNCTION host_sssp_search(const Team& team, scratch& shared, const task& t)
      : team_(team),
        shared_(shared),
        task_(t),
        rows_(t.rows),
        lists_(team, shared.lists, t.memory.lists) {
    league_sums::init(team, shared.sums);
  }

  LANEWISE_FUNCTION void run() {
    init();
    all_reduce();
    begin();
    all_reduce();
    for (;;) {
      relax_all();
      all_reduce();
      if (!lists_.has_far()) return;
      split();
      all_reduce();
    }
  }

 private:
  LANEWISE_FUNCTION void init() {
    const index_range mine = team_.share(static_cast<std::int64_t>(rows_.vertices));
    for (std::int64_t v = mine.begin; v < mine.end; ++v) task_.distance[v] = distance::most();
    lists_.init(mine, task_.end_of_near(0, deltas_));
  }
  LANEWISE_FUNCTION void begin() {
    const index_range mine = team_.share(task_.sources.count);
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      const Vertex v = task_.sources[i];
      if (v >= rows_.vertices) {
        ++bad_;
        continue;
      }
      shared_.ends[ends_++] = {v, bits{0}};
      if (ends_ == ends_room) apply_ends();
    }
    apply_ends();
  }
  /// Widens a delta that was chosen while ranges stay small: each takes two barriers.
  LANEWISE_FUNCTION void choose_deltas() {
    small_ranges_ = near_count_ < small_range_of_thread * team_.league() ? small_ranges_ + 1 : 0;
    if (task_.delta == nullptr || small_ranges_ < patience || deltas_ == most_deltas) return;
    deltas_ *= 2;
    small_ranges_ = 0;
  }

  /// The edges of all that is near: first of what this thread has found.
  LANEWISE_FUNCTION void relax_all() {
    Vertex batch[lists_type::batch];
    for (;;) {
      if (!lists_.has_own()) apply_ends();
      const int count = lists_.take(batch);
      if (count == 0) return;
      relax(batch, count);
    }
  }

  /// Adds the edges of these vertices to the ends.
  LANEWISE_FUNCTION void relax(const Vertex* vertex, int count) {
    near_added_ += static_cast<std::uint64_t>(count);
    Offset begin[lists_type::batch], length[lists_type::batch];
    for (int i = 0; i < count; ++i) {
      warp_type::prefetch(rows_.begins + vertex[i]);
      lists_.ask_for(vertex[i]);
      warp_type::prefetch(task_.distance + vertex[i]);
    }
    for (int i = 0; i < count; ++i) {
      const Offset b = rows_.begins[vertex[i]], e = rows_.begins[vertex[i] + 1];
      begin[i] = b;
      length[i] = e < b || e > rows_.edges ? Offset{0} : static_cast<Offset>(e - b);
      for (Offset k = 0; k < length[i] && k < 64; k += 16) {
        warp_type::prefetch(rows_.columns + b + k);
        warp_type::prefetch(task_.weights + b + k);
      }
    }
    // A vertex leaves its list before its distance is read here. apply_ends lowers a distance
    // before it reads whether the vertex is listed. With both fences one of the two sees the other:
    // either the lowered distance is read here, or the vertex is found in no list and is listed
    // anew.
    for (int i = 0; i < count; ++i) lists_.unlist(vertex[i]);
    team_.warp().full_fence();
    for (int i = 0; i < count; ++i) {
      const bits d = load_distance(vertex[i]);
      for (Offset e = begin[i], left = length[i]; left != 0;) {
        const auto room = static_cast<Offset>(ends_room - ends_);
        const Offset part = left < room ? left : room;
        add_edges(d, e, part);
        e += part;
        left -= part;
        if (ends_ == ends_room) apply_ends();
      }
    }
  }
  LANEWISE_FUNCTION void add_edges(bits d, Offset first, Offset count) {
    int ends = ends_;
    for (Offset e = first; e < first + count; ++e) {
      const Vertex to = rows_.columns[e];
      const Weight w = task_.weights[e];
      const bits sum = distance::sum(d, w);
      const bool good = to < rows_.vertices && !distance::is_bad(w) && sum < distance::most();
      warp_type::prefetch(task_.distance + (good ? to : 0));
      shared_.ends[ends] = {to, sum};
      ends += good;
    }
    bad_ += static_cast<std::uint64_t>(count) - static_cast<std::uint64_t>(ends - ends_);
    ends_ = ends;
  }
  LANEWISE_FUNCTION bits load_distance(Vertex v) const {
    return team_.warp().template load<order::relaxed, scope::device>(task_.distance[v]);
  }

  /// All ends: most do not lower a distance, and the others' vertices are asked for to be written.
  LANEWISE_FUNCTION void apply_ends() {
    int count = 0;
    for (int i = 0; i < ends_; ++i) {
      const end_type e = shared_.ends[i];
      shared_.ends[count] = e;
      count += e.sum < load_distance(e.vertex);
    }
    ends_ = 0;
    for (int i = 0; i < count; ++i) {
      warp_type::prefetch_to_write(task_.distance + shared_.ends[i].vertex);
      lists_.ask_for(shared_.ends[i].vertex);
    }
    int lowered = 0;
    for (int i = 0; i < count; ++i) {
      const end_type e = shared_.ends[i];
      shared_.ends[lowered] = e;
      lowered += team_.warp().fetch_min(task_.distance[e.vertex], e.sum) > e.sum;
    }
    team_.warp().full_fence();
    for (int i = 0; i < lowered; ++i) lists_.list(shared_.ends[i].vertex, shared_.ends[i].sum);
  }

  /// The next range of distances is near.
  LANEWISE_FUNCTION void split() {
    choose_deltas();
    const bits done = lists_.near_end(), least = lists_.far_least();
    lists_.split(task_.distance, task_.end_of_near(least < done ? done : least, deltas_));
  }

  /// Waits for all threads. All know then how many vertices were near, and how many blocks are far.
  LANEWISE_FUNCTION void all_reduce() {
    const auto warp = team_.warp();
    if (bad_ != 0 && task_.errors != nullptr) warp.fetch_add(task_.errors->bad_items, bad_);
    bad_ = 0;
    league_sums::add(team_, shared_.sums, {{near_added_, lists_.before_meeting()}});
    near_added_ = 0;
    league_sums of(task_.memory.meetings, meetings_);
    const auto sums = of.all_reduce(team_, shared_.sums);
    meetings_ = of.rounds();
    near_count_ = sums[0];
    lists_.after_meeting(sums[1]);
  }

  const Team& team_;
  scratch& shared_;
  const task& task_;
  graph_rows<Vertex, Offset> rows_;
  lists_type lists_;
  std::uint32_t meetings_ = 0;
  int ends_ = 0;
  std::uint64_t bad_ = 0;
  std::uint64_t near_added_ = 0;  // vertices since all met
  std::uint64_t near_count_ = 0;  // of this range
  int deltas_ = 1;                // deltas in this range
  int small_ranges_ = 0;          // one after the other
};

}  // namespace detail
LANEWISE_END_NAMESPACE
