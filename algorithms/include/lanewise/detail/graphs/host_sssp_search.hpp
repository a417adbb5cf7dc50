// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/detail/graphs/block_ring.hpp>
#include <lanewise/detail/graphs/distances.hpp>
#include <lanewise/detail/graphs/sssp_task.hpp>
#include <lanewise/detail/graphs/vertex_blocks.hpp>
#include <lanewise/league_sums.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// What such a search has in memory. The counter and meetings are 0 before the launch.
template <class Vertex, class Bits>
struct host_sssp_memory {
  std::uint64_t* meetings;  // league_sums::words
  block_ring_memory<Vertex> near;
  block_pool<Vertex> far[2];  // by turns, with one counter
  Bits* far_least;            // three: no distance in a far list is less; by turns
  std::uint8_t* marks;        // in which list a vertex is
};

/// The search of sssp_search for threads of a host. Few have much to do each, and what they wait
/// for is memory: a thread goes through vertices, edges and ends of edges a batch at a time, and
/// asks for all that a batch needs before it uses the first of it.
///
/// A thread goes on with the near vertices that it has found, oldest first. It keeps up to own_room
/// of them, and shares what is more, or what others wait for, in blocks. So threads meet twice for
/// each range of distances, however many steps that has.
template <class Team, class Vertex, class Offset, class Weight>
class host_sssp_search {
  using distance = distances<Weight>;
  using bits = typename distance::bits;
  using memory = host_sssp_memory<Vertex, bits>;
  using ring_type = block_ring<Team, Vertex>;
  static constexpr int batch_room = 64;
  static constexpr std::uint32_t own_room = 1024;
  static constexpr int ends_room = 256;
  static constexpr int most_deltas = 4;
  static constexpr int patience = 32;
  static constexpr std::uint64_t thin_range_of_thread = 2048;  // vertices
  // What is known of a vertex: which list it is in. From the far list it may come to be near.
  static constexpr std::uint8_t unlisted = 0, is_near = 1, is_far = 2;

  struct end_type {
    Vertex vertex;
    bits sum;
  };

 public:
  using task = sssp_task<Vertex, Offset, Weight, memory>;
  struct scratch {
    league_sums::scratch<Team> sums;
    Vertex own[own_room];
    end_type ends[ends_room];
  };

  LANEWISE_FUNCTION host_sssp_search(const Team& team, scratch& shared, const task& t)
      : team_(team),
        shared_(shared),
        task_(t),
        rows_(t.rows),
        memory_(t.memory),
        near_(team, t.memory.near) {
    league_sums::init(team, shared.sums);
  }

  LANEWISE_FUNCTION void run() {
    init();
    meet();
    begin();
    meet();
    for (;;) {
      relax_all();
      meet();
      if (far_blocks_ == 0) return;
      split();
      meet();
    }
  }

 private:
  LANEWISE_FUNCTION void init() {
    const index_range mine = team_.share(static_cast<std::int64_t>(rows_.vertices));
    for (std::int64_t v = mine.begin; v < mine.end; ++v) {
      task_.distance[v] = distance::most();
      memory_.marks[v] = unlisted;
    }
    if (team_.index() == 0)
      for (std::uint32_t turn = 0; turn < 3; ++turn) memory_.far_least[turn] = distance::most();
  }
  LANEWISE_FUNCTION void begin() {
    near_end_ = task_.end_of_near(0, deltas_);
    const index_range mine = team_.share(task_.sources.count);
    for (std::int64_t i = mine.begin; i < mine.end; ++i) {
      const Vertex v = task_.sources[i];
      if (v >= rows_.vertices) {
        ++bad_;
        continue;
      }
      shared_.ends[ends_++] = {v, bits{0}};
      if (ends_ == ends_room) settle();
    }
    settle();
  }
  /// A delta that was chosen is widened where ranges stay thin: all threads meet twice for each.
  LANEWISE_FUNCTION void choose_deltas() {
    thin_ranges_ = near_count_ < thin_range_of_thread * team_.league() ? thin_ranges_ + 1 : 0;
    if (task_.delta == nullptr || thin_ranges_ < patience || deltas_ == most_deltas) return;
    deltas_ *= 2;
    thin_ranges_ = 0;
  }

  /// The edges of all that is near: first of what this thread has found.
  LANEWISE_FUNCTION void relax_all() {
    Vertex batch[batch_room];
    for (;;) {
      if (own_begin_ == own_end_) settle();
      if (own_begin_ != own_end_) {
        int count = 0;
        while (count < batch_room && own_begin_ != own_end_) batch[count++] = next_own();
        if (near_.someone_waits()) share_own(ring_type::block);
        relax(batch, count);
      } else if (near_.take(batch) || near_.wait(batch)) {
        relax(batch, ring_type::block);
      } else {
        return;
      }
    }
  }
  LANEWISE_FUNCTION Vertex next_own() { return shared_.own[own_begin_++ % own_room]; }
  /// The oldest of the vertices of this thread are for all, in whole blocks, but so many.
  LANEWISE_FUNCTION void share_own(std::uint32_t kept) {
    while (own_end_ - own_begin_ >= kept + ring_type::block)
      near_.put([this] { return next_own(); });
  }

  /// Adds the edges of these vertices to the ends.
  LANEWISE_FUNCTION void relax(const Vertex* vertex, int count) {
    near_added_ += static_cast<std::uint64_t>(count);
    Offset begin[batch_room], length[batch_room];
    for (int i = 0; i < count; ++i) {
      __builtin_prefetch(rows_.begins + vertex[i]);
      __builtin_prefetch(memory_.marks + vertex[i], 1);
      __builtin_prefetch(task_.distance + vertex[i]);
    }
    for (int i = 0; i < count; ++i) {
      const Offset b = rows_.begins[vertex[i]], e = rows_.begins[vertex[i] + 1];
      begin[i] = b;
      length[i] = e < b || e > rows_.edges ? Offset{0} : static_cast<Offset>(e - b);
      for (Offset k = 0; k < length[i] && k < 64; k += 16) {
        __builtin_prefetch(rows_.columns + b + k);
        __builtin_prefetch(task_.weights + b + k);
      }
    }
    // Who lowers a distance from here on finds the vertex in no list, or it is read here.
    for (int i = 0; i < count; ++i) set_mark(vertex[i], unlisted);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int i = 0; i < count; ++i) {
      const bits d = load_distance(vertex[i]);
      for (Offset e = begin[i], left = length[i]; left != 0;) {
        const auto room = static_cast<Offset>(ends_room - ends_);
        const Offset part = left < room ? left : room;
        add_edges(d, e, part);
        e += part;
        left -= part;
        if (ends_ == ends_room) settle();
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
      __builtin_prefetch(task_.distance + (good ? to : 0));
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
  LANEWISE_FUNCTION void settle() {
    int count = 0;
    for (int i = 0; i < ends_; ++i) {
      const end_type e = shared_.ends[i];
      shared_.ends[count] = e;
      count += e.sum < load_distance(e.vertex);
    }
    ends_ = 0;
    for (int i = 0; i < count; ++i) {
      __builtin_prefetch(task_.distance + shared_.ends[i].vertex, 1);
      __builtin_prefetch(memory_.marks + shared_.ends[i].vertex, 1);
    }
    int lowered = 0;
    for (int i = 0; i < count; ++i) {
      const end_type e = shared_.ends[i];
      shared_.ends[lowered] = e;
      lowered += team_.warp().fetch_min(task_.distance[e.vertex], e.sum) > e.sum;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (int i = 0; i < lowered; ++i) list(shared_.ends[i]);
  }
  LANEWISE_FUNCTION void list(const end_type& e) {
    const auto warp = team_.warp();
    std::uint8_t& mark = memory_.marks[e.vertex];
    const std::uint8_t seen = warp.template load<order::relaxed, scope::device>(mark);
    if (e.sum < near_end_) {
      if (seen != is_near && warp.exchange(mark, is_near) != is_near) keep(e.vertex);
    } else {
      if (e.sum < least_) least_ = e.sum;
      if (seen == unlisted && warp.compare_exchange(mark, unlisted, is_far) == unlisted)
        push_far(e.vertex);
    }
  }
  LANEWISE_FUNCTION void set_mark(Vertex v, std::uint8_t mark) const {
    team_.warp().template store<order::relaxed, scope::device>(memory_.marks[v], mark);
  }
  LANEWISE_FUNCTION void keep(Vertex v) {
    if (own_end_ - own_begin_ == own_room) share_own(own_room - ring_type::block);
    shared_.own[own_end_++ % own_room] = v;
  }
  LANEWISE_FUNCTION void push_far(Vertex v) {
    far_added_ += far_.push(team_, memory_.far[splits_ % 2], far_base_, v);
  }

  /// Distances that are near now. The vertices of this thread's far list are near, are done
  /// already, or stay. So a thread stays in its part of a deep graph, which its caches have.
  LANEWISE_FUNCTION void split() {
    const bits done = near_end_;
    choose_deltas();
    const bits least = memory_.far_least[splits_ % 3];
    near_end_ = task_.end_of_near(least < done ? done : least, deltas_);
    const block_pool<Vertex> pool = memory_.far[splits_ % 2];
    const block_list<Team, Vertex> list = far_;
    far_ = {};
    far_base_ += far_blocks_;
    far_blocks_ = 0;
    ++splits_;
    // Read by the split before this one, and added to by the next.
    if (team_.index() == 0) {
      memory_.far_least[(splits_ + 1) % 3] = distance::most();
      near_.restart();
    }
    list.for_each_block(pool, [&](const Vertex* vertex, int count) {
      for (int i = 0; i < count; ++i) __builtin_prefetch(task_.distance + vertex[i]);
      for (int i = 0; i < count; ++i) {
        const bits d = task_.distance[vertex[i]];
        if (d < done) continue;
        if (d < near_end_) {
          set_mark(vertex[i], is_near);
          keep(vertex[i]);
        } else {
          if (d < least_) least_ = d;
          push_far(vertex[i]);
        }
      }
    });
  }

  /// All threads meet, and know how many vertices were near, and how many far blocks there are.
  LANEWISE_FUNCTION void meet() {
    const auto warp = team_.warp();
    if (least_ < distance::most()) {
      warp.fetch_min(memory_.far_least[splits_ % 3], least_);
      least_ = distance::most();
    }
    if (bad_ != 0 && task_.errors != nullptr) warp.fetch_add(task_.errors->bad_items, bad_);
    bad_ = 0;
    league_sums::add(team_, shared_.sums, {{near_added_, far_added_}});
    near_added_ = far_added_ = 0;
    league_sums of(memory_.meetings, meetings_);
    const auto sums = of.meet(team_, shared_.sums);
    meetings_ = of.rounds();
    near_count_ = sums[0];
    far_blocks_ += sums[1];
  }

  const Team& team_;
  scratch& shared_;
  const task& task_;
  graph_rows<Vertex, Offset> rows_;
  memory memory_;
  bits near_end_ = 0;              // distances in front of it are near
  bits least_ = distance::most();  // of those that this thread has sent to the far list
  std::uint32_t splits_ = 0;       // of the far list
  std::uint32_t meetings_ = 0;
  std::uint32_t own_begin_ = 0, own_end_ = 0;
  int ends_ = 0;
  std::uint64_t bad_ = 0;
  ring_type near_;
  block_list<Team, Vertex> far_;
  std::uint64_t near_added_ = 0, far_added_ = 0;  // vertices and blocks since all met
  std::uint64_t near_count_ = 0;                  // vertices of this range
  std::uint64_t far_base_ = 0, far_blocks_ = 0;   // of all far lists, by the pool's counter
  int deltas_ = 1;                                // of which this range is
  int thin_ranges_ = 0;                           // one after the other
};

}  // namespace detail
LANEWISE_END_NAMESPACE
