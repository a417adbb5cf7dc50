// SPDX-FileCopyrightText: The Lanewise authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <lanewise/graphs/detail/distances.hpp>
#include <lanewise/graphs/detail/host/block_ring.hpp>
#include <lanewise/graphs/detail/host/vertex_blocks.hpp>

#include <cstdint>

LANEWISE_BEGIN_NAMESPACE
namespace detail {

/// Whether a vertex is in a near list, and whether it has come to a far one: this it does once, as
/// distances only fall. It may be in both until the far list is gone through.
struct vertex_marks {
  std::uint8_t near, far;
};

/// What near_far_lists have in memory. The ring's counters and the pools' are 0 before the launch.
template <class Vertex, class Bits>
struct near_far_memory {
  block_ring_memory<Vertex> near;
  block_pool<Vertex> far[2];  // by turns, with one counter
  Bits* far_least;            // three: no distance in a far list is less; by turns
  vertex_marks* marks;        // in which lists a vertex is
};

/// The lists of the vertices of a search by threads of a host: near ones, whose edges are to be
/// looked at now, and far ones, each once in either.
///
/// A thread goes on with the near vertices that it has found, oldest first. It keeps up to own_room
/// of them, and shares what is more, or what others wait for, in blocks. The far vertices that it
/// has found are its own.
template <class Team, class Vertex, class Weight>
class near_far_lists {
  using distance = distances<Weight>;
  using bits = typename distance::bits;
  using ring_type = block_ring<Team, Vertex>;
  static constexpr std::uint32_t own_room = 1024;
  static constexpr int block = ring_type::block;

 public:
  using memory = near_far_memory<Vertex, bits>;
  static constexpr int batch = 64;  ///< vertices that are taken together
  struct scratch {
    Vertex own[own_room];
  };

  LANEWISE_FUNCTION near_far_lists(const Team& team, scratch& shared, const memory& m)
      : team_(team), shared_(shared), memory_(m), near_(team, m.near) {}

  /// These vertices are in no list, and distances below `end` are near.
  LANEWISE_FUNCTION void init(const index_range& vertices, bits end) {
    near_end_ = end;
    for (std::int64_t v = vertices.begin; v < vertices.end; ++v) memory_.marks[v] = {0, 0};
    if (team_.index() == 0)
      for (std::uint32_t turn = 0; turn < 3; ++turn) memory_.far_least[turn] = distance::most();
  }

  /// The distance of a vertex was lowered.
  LANEWISE_FUNCTION void list(Vertex v, bits d) {
    const auto warp = team_.warp();
    const bool is_near = d < near_end_;
    std::uint8_t& mark = is_near ? memory_.marks[v].near : memory_.marks[v].far;
    if (!is_near && d < least_) least_ = d;
    if (warp.template load<order::relaxed, scope::device>(mark) != 0) return;
    if (warp.exchange(mark, std::uint8_t{1}) != 0) return;
    if (is_near)
      keep(v);
    else
      push_far(v);
  }
  /// A vertex that was taken is in no near list, if it comes again.
  LANEWISE_FUNCTION void unlist(Vertex v) const { set_near(v, 0); }
  /// It will be listed, or unlisted.
  LANEWISE_FUNCTION void ask_for(Vertex v) const {
    Team::warp_type::prefetch_to_write(memory_.marks + v);
  }

  LANEWISE_FUNCTION bool has_own() const { return own_begin_ != own_end_; }
  /// Takes up to `batch` near vertices: of this thread, or else of others. Returns how many, 0 if
  /// no thread has any.
  LANEWISE_FUNCTION int take(Vertex* to) {
    int count = 0;
    while (count < batch && has_own()) to[count++] = next_own();
    if (count != 0) {
      if (near_.someone_waits()) share_own(block);
      return count;
    }
    if (!near_.take(to) && !near_.wait(to)) return 0;
    count = block;
    while (count < batch && near_.take(to + count)) count += block;
    return count;
  }

  /// Returns how many far blocks this thread has added.
  LANEWISE_FUNCTION std::uint64_t before_meeting() {
    if (least_ < distance::most()) team_.warp().fetch_min(memory_.far_least[splits_ % 3], least_);
    least_ = distance::most();
    const std::uint64_t blocks = far_added_;
    far_added_ = 0;
    return blocks;
  }
  /// All threads have added `blocks` far blocks.
  LANEWISE_FUNCTION void after_meeting(std::uint64_t blocks) { far_blocks_ += blocks; }

  LANEWISE_FUNCTION bool has_far() const { return far_blocks_ != 0; }
  LANEWISE_FUNCTION bits near_end() const { return near_end_; }
  /// No distance in a far list is less.
  LANEWISE_FUNCTION bits far_least() const { return memory_.far_least[splits_ % 3]; }

  /// Distances below `end` are near now. The vertices of this thread's far list are near, are done
  /// already, or stay. So a thread stays in its part of a deep graph, which its caches have.
  LANEWISE_FUNCTION void split(const bits* distances, bits end) {
    const bits done = near_end_;
    near_end_ = end;
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
      for (int i = 0; i < count; ++i) Team::warp_type::prefetch(distances + vertex[i]);
      for (int i = 0; i < count; ++i) {
        const bits d = distances[vertex[i]];
        if (d >= near_end_) {
          if (d < least_) least_ = d;
          push_far(vertex[i]);
          continue;
        }
        if (d < done) continue;
        set_near(vertex[i], 1);
        keep(vertex[i]);
      }
    });
  }

 private:
  LANEWISE_FUNCTION void set_near(Vertex v, std::uint8_t x) const {
    team_.warp().template store<order::relaxed, scope::device>(memory_.marks[v].near, x);
  }
  LANEWISE_FUNCTION Vertex next_own() { return shared_.own[own_begin_++ % own_room]; }
  LANEWISE_FUNCTION void keep(Vertex v) {
    if (own_end_ - own_begin_ == own_room) share_own(own_room - batch);
    shared_.own[own_end_++ % own_room] = v;
  }
  /// Shares the oldest of the vertices of this thread with all, in whole blocks, except the last
  /// `kept`.
  LANEWISE_FUNCTION void share_own(std::uint32_t kept) {
    while (own_end_ - own_begin_ >= kept + block) near_.put([this] { return next_own(); });
  }
  LANEWISE_FUNCTION void push_far(Vertex v) {
    far_added_ += far_.push(team_, memory_.far[splits_ % 2], far_base_, v);
  }

  const Team& team_;
  scratch& shared_;
  memory memory_;
  ring_type near_;
  std::uint32_t own_begin_ = 0, own_end_ = 0;
  bits near_end_ = 0;  // distances before it are near
  block_list<Team, Vertex> far_;
  std::uint32_t splits_ = 0;                     // of the far list
  bits least_ = distance::most();                // of vertices that this thread has sent there
  std::uint64_t far_added_ = 0;                  // blocks since all met
  std::uint64_t far_base_ = 0, far_blocks_ = 0;  // of all far lists, by the pool's counter
};

}  // namespace detail
LANEWISE_END_NAMESPACE
